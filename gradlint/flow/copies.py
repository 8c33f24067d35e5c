"""Copies: networks that are given the weights of another one, and are no other network."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import layers_within
from gradlint.flow.model_events import CopyShared
from gradlint.flow.objects import HeapObject, VariableSet
from gradlint.flow.values import How, Value
from gradlint.flow.written import is_done_with


def note_weights_copied(it: Interpreter, target: Value, arguments: Arguments, node: ast.AST) -> None:
    """`target.set_weights(online.get_weights())`, where both have the very same layers."""
    given = arguments.get(0, "weights")
    call = given.node if given is not None else None
    if it.expected or given is None or given.label != "get_weights" or target.how is How.JOIN:
        return
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(node, ast.Call):
        return
    if not is_done_with(it, call, node):
        return  # weights of some time ago, put back
    owners = [value.ref.owner for value, _ in given.dead if isinstance(value.ref, VariableSet)]
    online = owners[0] if len(owners) == 1 else None
    if not isinstance(online, HeapObject) or not isinstance(target.ref, HeapObject):
        return
    names = [ast.unparse(each.value) for each in (node.func, call.func) if isinstance(each, ast.Attribute)]
    layers = layers_within(it, target.ref)
    pair = target.ref.id, online.id
    if len(set(names)) == 2 and layers and layers == layers_within(it, online) and pair not in it.copies_told:
        it.copies_told.add(pair)
        same = online is target.ref
        certain = it.doubt == 0
        if same or target.node is None:
            steps = (("made here", target.node),) if target.node is not None else ()
            it.note(CopyShared, node, *names, same, certain=certain, steps=steps)
        else:
            copied = (("weights copied here", node),)
            it.note(CopyShared, target.node, *names, same, certain=certain, after=copied, frame=target.frame)
