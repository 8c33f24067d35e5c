"""Copies: networks that are given the weights of another one, and are no other network."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import may_be_part, members_of
from gradlint.flow.model_events import CopyShared
from gradlint.flow.objects import HeapObject, Layer, VariableSet
from gradlint.flow.values import How, Value


def note_weights_copied(it: Interpreter, target: Value, arguments: Arguments, node: ast.AST) -> None:
    """`target.set_weights(online.get_weights())`, where both have the very same layers."""
    given = arguments.get(0, "weights")
    call = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if it.expected or given is None or given.label != "get_weights" or target.how is How.JOIN:
        return
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(node, ast.Call):
        return
    owners = [value.ref.owner for value, _ in given.dead if isinstance(value.ref, VariableSet)]
    online = owners[0] if len(owners) == 1 else None
    if not isinstance(online, HeapObject) or not isinstance(target.ref, HeapObject):
        return
    names = [ast.unparse(each.value) for each in (node.func, call.func) if isinstance(each, ast.Attribute)]
    layers = _layers_of(it, target.ref)
    pair = target.ref.id, online.id
    if len(set(names)) == 2 and layers and layers == _layers_of(it, online) and pair not in it.copies_told:
        it.copies_told.add(pair)
        steps = (("made here", target.node),) if target.node is not None else ()
        it.note(CopyShared, node, *names, online is target.ref, certain=it.doubt == 0, steps=steps)


def _layers_of(it: Interpreter, model: HeapObject) -> frozenset[int] | None:
    """The layers with weights inside a model; None when they are not all known."""
    members, is_open = members_of(it, model)
    held = [each for member in members if isinstance(each := it.objects.get(member), Layer)]
    if is_open or any(each.open_parts for each in held):
        return None
    return frozenset(each.id for each in held if may_be_part(each, None))
