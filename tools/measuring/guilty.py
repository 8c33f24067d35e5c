"""The guilty op: where on the way from an input to the outputs the gradient ends.

The function is traced, and the graph is walked forwards from the input up to the ops at which the way is first cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops as framework_ops

from measuring.observe import differentiable, weights

#: They look at the shape of a tensor alone, so that they are named only where nothing else cuts.
SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank"})
MOST = 3


def guilty_op(function: Callable[..., Any], values: list[Any], number: int, outputs: Callable[[Any], Any]) -> str:
    """The types of the ops that cut every way from the `number`-th input, or "" when the graph tells nothing."""
    tensors = [tf.constant(value) for value in values]
    # Where the shape is known in advance some ops are replaced by constants: ZerosLike, Shape.
    unknown = [tf.TensorSpec([None] * tensor.shape.rank, tensor.dtype) for tensor in tensors]
    for signature in (tensors, unknown):
        try:
            traced = tf.function(lambda *inputs: list(outputs(function(*inputs))), autograph=False)
            graph = traced.get_concrete_function(*signature).graph
            found = _first_cuts(graph, graph.inputs[number]) or _first_cuts(graph, graph.inputs[number], state=True)
        except Exception:
            return ""
        if found:
            return " ".join(found)
    return ""


def op_that_zeroes(function: Callable[..., Any], values: list[Any], number: int, outputs: Callable[[Any], Any]) -> str:
    """The type of the op nearest to the outputs whose gradient function makes the zeros, or "" where none is found."""
    ways: list[tuple[str, list[int], list[int]]] = []

    def step(*inputs: Any) -> Any:
        made = [each for each in outputs(function(*inputs)) if differentiable(each)]
        graph = tf.compat.v1.get_default_graph()
        tensors: list[Any] = []
        numbers: dict[Any, int] = {}
        for op in graph.get_operations():
            for tensor in (*op.inputs, *op.outputs):
                if tensor.dtype.is_floating and tensor.ref() not in numbers:
                    numbers[tensor.ref()] = len(tensors)
                    tensors.append(tensor)
        reached = {inputs[number].ref()}
        for op in graph.get_operations():
            taken = [tensor.ref() for tensor in op.inputs if tensor.ref() in reached and tensor.ref() in numbers]
            given = [tensor.ref() for tensor in op.outputs if tensor.ref() in numbers]
            if taken and given:
                reached.update(given)
                ways.append((op.type, [numbers[each] for each in taken], [numbers[each] for each in given]))
        found = tf.gradients(made, tensors, grad_ys=[weights(each) for each in made])
        return [tf.zeros([0]) if each is None else tf.convert_to_tensor(each) for each in found]

    try:
        gradients = tf.function(step, autograph=False)(*(tf.constant(value) for value in values))
    except Exception:
        return ""
    zeros = [_share_of_zeros(each.numpy()) for each in gradients]
    for kind, taken, given in reversed(ways):
        before, after = min(zeros[each] for each in given), min(zeros[each] for each in taken)
        if before < after:
            return kind
    return ""


def _share_of_zeros(gradient: Any) -> float:
    """1 where nothing arrives."""
    return float((gradient == 0).mean()) if gradient.size else 1.0


def op_that_raises(message: str) -> str:
    """The op that a message of the gradient registry names."""
    _, found, name = message.partition("gradient registry has no entry for: ")
    return name.strip() if found else ""


def _first_cuts(graph: Any, source: Any, *, state: bool = False) -> list[str]:
    """Types of the ops reached from the source over flowing ops only, which lead to an output and do not let flow.

    `state`: what is assigned to a variable counts as an output too, for results that are read from variables.
    """
    assigned = [op for op in graph.get_operations() if state and op.type.startswith("Assign")]
    leading = _leading_to([*graph.outputs, *(tensor for op in assigned for tensor in op.inputs)])
    reached, cuts = {source.ref()}, []
    for op in graph.get_operations():
        taken = [place for place, tensor in enumerate(op.inputs) if tensor.ref() in reached]
        if not taken or (op not in assigned and not any(output.ref() in leading for output in op.outputs)):
            continue
        if _lets_flow(graph, op, taken):
            floating = {output.ref() for output in op.outputs if output.dtype.is_floating or output.dtype.is_complex}
            reached |= floating
            if all(output.ref() in floating for output in op.outputs if output.ref() in leading):
                continue
        if op.type not in cuts:
            cuts.append(op.type)
    return ([each for each in cuts if each not in SHAPES] or cuts)[:MOST]


def _leading_to(waiting: list[Any]) -> set[Any]:
    """The tensors from which one of these is computed."""
    found: set[Any] = set()
    while waiting:
        tensor = waiting.pop()
        if tensor.ref() not in found:
            found.add(tensor.ref())
            waiting += tensor.op.inputs
    return found


def _lets_flow(graph: Any, op: Any, taken: list[int]) -> bool:
    """Whether the gradient function of an op returns something for one of these inputs."""
    if not any(output.dtype.is_floating or output.dtype.is_complex for output in op.outputs):
        return False
    if op.type in ("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf"):
        return True
    try:
        gradient = framework_ops.get_gradient_function(op)
    except LookupError:
        return False
    if gradient is None:
        return False
    with graph.as_default():
        try:
            found = gradient(op, *(tf.ones_like(output) for output in op.outputs))
        except Exception:
            return True
    found = list(found) if isinstance(found, list | tuple) else [found]
    return any(found[place] is not None for place in taken if place < len(found))
