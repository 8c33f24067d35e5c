"""Dropped outputs: layers of a functional graph that lead to no output of any model of the file."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import may_be_part
from gradlint.flow.model_events import LayerOutputDropped
from gradlint.flow.objects import Layer, SymbolicCall
from gradlint.flow.values import Kind, Value, lineage, recorded_or_dead


def judge_graphs(it: Interpreter) -> None:
    """Calls of layers on the inputs of a model that was made without them."""
    models = [owner for owner in it.objects.values() if isinstance(owner, Layer) and owner.outputs is not None]
    if not models or it.gave_up or any(model.open_parts for model in models):
        return
    reached: set[int] = set()
    nodes: set[ast.AST | None] = set()  # a call in a loop is met several times, and one of its values may lead on
    called: set[int] = set()
    unseen = 0  # the last thing behind an output of which it cannot be told what it was made of
    for model in models:
        assert model.outputs is not None
        for each in lineage(it.leaves(model.outputs), 5000, recorded_or_dead):
            reached.add(each.serial)
            unseen = max(unseen, each.serial if each.is_opaque else 0)
            nodes.add(each.node)
            if isinstance(each.ref, SymbolicCall) and each.ref.callee is not None and each.ref.callee.ref is not None:
                called.add(each.ref.callee.ref.id)
    inputs = {each.serial for model in models for each in model.inputs}
    waiting = [
        value
        for value in it.symbolic_calls
        if value.serial not in reached and value.node not in nodes and value.serial > unseen
    ]
    lost = [value for value in waiting if _is_lost(it, value, called)]
    for value in lost:
        behind = {each.serial for each in lineage([value], 500, recorded_or_dead)}
        if not behind & inputs or any(value.serial in _behind(other) for other in lost if other is not value):
            continue  # of another graph, or told at the layer that it leads to
        kept = any(value.serial in _behind(each) for each in it.symbolic_calls if each.serial in it.stored)
        if not kept and value.node is not None:
            written = ast.unparse(value.node.func) if isinstance(value.node, ast.Call) else "the layer"
            it.note(LayerOutputDropped, value.node, _short(written), "", certain=False, frame=value.frame)


def _behind(value: Value) -> set[int]:
    return {each.serial for each in lineage([value], 300, recorded_or_dead)}


def _is_lost(it: Interpreter, value: Value, called: set[int]) -> bool:
    layer = value.callee
    if layer is None or layer.kind is not Kind.LAYER or not isinstance(layer.ref, Layer):
        return False
    if not may_be_part(layer.ref, None) or layer.ref.argument(None, "activity_regularizer") is not None:
        return False
    if value.serial in it.stored or value.serial in it.escaped_values:
        return False
    return layer.ref.id not in called and not layer.ref.escaped_at


def _short(written: str) -> str:
    return written if len(written) <= 60 else written[:57] + "..."
