"""Heads: outputs of a functional model for which `compile` has no loss, or one of weight zero."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import may_be_part, written_name
from gradlint.flow.model_events import HeadWithoutLoss
from gradlint.flow.objects import Layer, SymbolicCall
from gradlint.flow.values import Kind, Value, is_literal
from gradlint.flow.wording import code_of

_WITHOUT_WEIGHTS = (".Lambda", ".Activation", ".Identity")


def judge_heads(it: Interpreter, model: Value, arguments: Arguments, node: ast.AST) -> None:
    """`model.compile(loss=..., loss_weights=...)` of a functional model with several outputs."""
    owner, loss = model.ref, arguments.get(1, "loss")
    if not isinstance(owner, Layer) or owner.outputs is None or owner.outputs.kind is not Kind.CONTAINER:
        return
    outputs = it.items(owner.outputs)
    if not outputs.exact or len(outputs.elements) < 2 or it.expected or loss is None:
        return
    keys = outputs.keys
    names = [str(key) for key in keys] if keys is not None else [_name(each) for each in outputs.elements]
    weights = arguments.get(3, "loss_weights")
    if weights is not None and weights.kind is not Kind.CONTAINER:
        weights = None
    forgotten: list[Value] = []
    weightless: list[Value] = []
    for place, (name, output) in enumerate(zip(names, outputs.elements, strict=True)):
        others = [each for other, each in enumerate(outputs.elements) if other != place]
        if _has_own_weights(it, output, others):
            if _lacks(it, loss, place, name, len(names)):
                forgotten.append(output)
            elif weights is not None and _is_zero(it, weights, place, name):
                weightless.append(output)
    for heads, at, zero in ((forgotten, loss, False), (weightless, weights, True)):
        if heads:
            written = "` and `".join(_code(head.ref.callee) for head in heads)
            steps = tuple((f"`{_code(head.ref.callee)}` computed here", head.node) for head in heads if head.node)
            place_ = at.node if at is not None and at.node is not None else node
            once = lambda: sum(each is model for each, _, _ in it.compiled) < 2  # noqa: E731 - no change of phase
            it.note(HeadWithoutLoss, place_, written, zero, certain=False, steps=steps, holds=once)


def _name(output: Value) -> str:
    call = output.ref
    return (written_name(call.callee) or "") if isinstance(call, SymbolicCall) and call.callee is not None else ""


def _lacks(it: Interpreter, loss: Value, place: int, name: str, count: int) -> bool:
    """Whether the losses leave the output out."""
    if loss.kind is not Kind.CONTAINER:
        return False
    asked = it.items(loss)
    if not asked.exact:
        return False
    if asked.keys is not None:
        if not name or any(not isinstance(key, str) for key in asked.keys):
            return False
        found = dict(zip(asked.keys, asked.elements, strict=True)).get(name)
        return found is None or is_literal(found, None)
    if len(asked.elements) > count:
        return False
    return place >= len(asked.elements) or is_literal(asked.elements[place], None)


def _is_zero(it: Interpreter, weights: Value, place: int, name: str) -> bool:
    asked = it.items(weights)
    if not asked.exact:
        return False
    if asked.keys is not None:
        found = dict(zip(asked.keys, asked.elements, strict=True)).get(name)
    else:
        found = asked.elements[place] if place < len(asked.elements) else None
    return is_literal(found, 0) or is_literal(found, 0.0)


def _has_own_weights(it: Interpreter, output: Value, others: list[Value]) -> bool:
    """Whether the layer that computes the output has weights that no other output is computed with."""
    call = output.ref
    if not isinstance(call, SymbolicCall) or call.callee is None or not isinstance(call.callee.ref, Layer):
        return False
    layer = call.callee.ref
    if not (may_be_part(layer, None) or layer.parts) or layer.symbol.endswith(_WITHOUT_WEIGHTS):
        return False
    stack, seen = list(others), set[int]()
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if isinstance(each.ref, SymbolicCall) and each.ref.callee is not None and each.ref.callee.ref is layer:
            return False
        stack.extend(each.inputs)
    return True


def _code(layer: Value) -> str:
    return written_name(layer) or code_of(layer)
