"""The op that makes zeros: where the gradients of a graph, taken at every tensor on the way, turn to zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from measuring.observe import ZERO, differentiable, weights


@dataclass
class _Way:
    """The float tensors of a graph, and the ops on the way from one: type, places of what they take and give."""

    tensors: list[Any] = field(default_factory=list)
    ops: list[tuple[str, list[int], list[int]]] = field(default_factory=list)


def op_that_zeroes(
    verdict: str, function: Callable[..., Any], values: list[Any], number: int, outputs: Callable[[Any], Any]
) -> str:
    """The type of the op nearest to the outputs whose gradient function makes the zeros, or "" where none is found."""
    way = _Way()

    def step(*inputs: Any) -> Any:
        made = [each for each in outputs(function(*inputs)) if differentiable(each)]
        found = _way_from(inputs[number], tf.compat.v1.get_default_graph())
        way.tensors, way.ops = found.tensors, found.ops
        gradients = tf.gradients(made, way.tensors, grad_ys=[weights(each) for each in made])
        return [tf.zeros([0]) if each is None else tf.convert_to_tensor(each) for each in gradients]

    try:
        gradients = tf.function(step, autograph=False)(*(tf.constant(value) for value in values))
    except Exception:
        return ""
    zeros = [_share_of_zeros(each.numpy()) for each in gradients]
    making = []
    for kind, taken, given in reversed(way.ops):
        before, after = min(zeros[each] for each in given), min(zeros[each] for each in taken)
        if before < after:
            making.append((kind, after))
    of_all = next((kind for kind, after in making if after == 1), "") if verdict == ZERO else ""
    return of_all or (making[0][0] if making else "")


def _way_from(source: Any, graph: Any) -> _Way:
    way = _Way()
    numbers: dict[Any, int] = {}
    for op in graph.get_operations():
        for tensor in (*op.inputs, *op.outputs):
            if tensor.dtype.is_floating and tensor.ref() not in numbers:
                numbers[tensor.ref()] = len(way.tensors)
                way.tensors.append(tensor)
    reached = {source.ref()}
    for op in graph.get_operations():
        taken = [tensor.ref() for tensor in op.inputs if tensor.ref() in reached and tensor.ref() in numbers]
        given = [tensor.ref() for tensor in op.outputs if tensor.ref() in numbers]
        if taken and given:
            reached.update(given)
            way.ops.append((op.type, [numbers[each] for each in taken], [numbers[each] for each in given]))
    return way


def _share_of_zeros(gradient: Any) -> float:
    """1 where nothing arrives."""
    return float((gradient == 0).mean()) if gradient.size else 1.0
