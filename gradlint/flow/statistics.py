"""Statistics: BatchNormalization layers that go on learning statistics in a part that is meant to be frozen."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import members_within
from gradlint.flow.objects import FUNCTIONAL, Instance, Layer, SymbolicCall, Variable
from gradlint.flow.tracing import trainable_state
from gradlint.flow.update_events import StatisticsMoved
from gradlint.flow.values import Kind, Value, is_literal

#: Ready-made models without BatchNormalization.
_WITHOUT = ("VGG", "ConvNeXt")


def note_statistics(it: Interpreter, model: Value, node: ast.AST) -> None:
    """`fit` of a functional model that calls a trainable part with `training=False`: Keras 3 lets `fit` win."""
    if isinstance(model.ref, Instance):
        model = it.store.get((model.ref.id, FUNCTIONAL)) or model
    if not it.keras_3 or it.expected or not isinstance(model.ref, Layer) or model.ref.outputs is None:
        return
    for call in _calls(it, model.ref.outputs):
        inner = call.callee
        if inner is None or not is_literal(dict(call.keywords).get("training"), False):
            continue
        if not isinstance(inner.ref, Layer) or not _normalizes(it, inner):
            continue
        if trainable_state(it, inner.ref.id) is True and trainable_state(it, model.ref.id) is True:
            name = ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else "the layer"
            steps = (("called with `training=False` here", call.node),) if call.node is not None else ()
            it.note(StatisticsMoved, node, name, False, certain=False, steps=steps)
            return


def note_weight_frozen(it: Interpreter, weight: Value, value: Value, node: ast.AST) -> None:
    """`w.trainable = False` for the weights of a layer with BatchNormalization: its statistics go on."""
    ref = weight.ref
    if not is_literal(value, False) or it.expected or not isinstance(ref, Variable) or ref.within is None:
        return
    layers = [it.objects.get(member) for member in ref.within.members]
    if any(isinstance(each, Layer) and each.symbol.endswith(".BatchNormalization") for each in layers):
        owner = ref.within.owner
        name = ast.unparse(node.value) if isinstance(node, ast.Attribute) else "w"
        fitted = owner.id if isinstance(owner, Layer | Instance) else 0
        it.note(
            StatisticsMoved, node, name, True, certain=False,
            holds=lambda: any(fitted == each or fitted in it.fit_members.get(each, {}) for each in it.fitted),
        )  # fmt: skip


def _calls(it: Interpreter, outputs: Value) -> list[SymbolicCall]:
    found: list[SymbolicCall] = []
    seen: set[int] = set()
    stack = list(it.leaves(outputs))
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if isinstance(each.ref, SymbolicCall):
            found.append(each.ref)
            stack.extend(each.ref.arguments)
        stack.extend(each.inputs)
    return found


def _normalizes(it: Interpreter, value: Value) -> bool:
    """Whether a BatchNormalization that is trainable is inside."""
    for member in members_within(it, value)[0]:
        each = it.objects.get(member)
        if not isinstance(each, Layer):
            continue
        name = each.symbol.rpartition(".")[2]
        ready_made = each.symbol.startswith("keras.applications.") and not name.startswith(_WITHOUT)
        if (name == "BatchNormalization" or ready_made) and trainable_state(it, member) is True:
            return value.kind is Kind.LAYER
    return False
