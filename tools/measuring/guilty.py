"""The guilty op: where on the way from an input to the outputs the gradient ends.

The function is traced, and the graph is walked forwards from the input up to the ops at which the way is first cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops as framework_ops
from tensorflow.python.ops import cond_v2

#: They look at the shape of a tensor alone, so that they are named only where nothing else cuts.
SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank"})
MOST = 3
_CONDITIONS = ("If", "StatelessIf")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_BODIES = (*_CONDITIONS, *_CALLS, "While", "StatelessWhile")


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


def op_that_raises(message: str, function: Callable[..., Any], values: list[Any]) -> str:
    """The op without a gradient that a message names, else the first op whose gradient function raises."""
    _, found, name = message.partition("gradient registry has no entry for: ")
    if found:
        return name.strip()
    try:
        traced = tf.function(function, autograph=False)
        graph = traced.get_concrete_function(*(tf.constant(value) for value in values)).graph
    except Exception:
        return ""
    return next((op.type for op in graph.get_operations() if op.inputs and _gradient_fails(graph, op)), "")


def _gradient_fails(graph: Any, op: Any) -> bool:
    try:
        gradient = framework_ops.get_gradient_function(op)
    except LookupError:
        return False
    try:
        _called(graph, op, gradient)
    except Exception:
        return True
    return False


def _first_cuts(graph: Any, source: Any, *, state: bool = False) -> list[str]:
    """Types of the ops reached from the source over flowing ops only, which lead to an output and do not let flow.

    `state`: what is assigned to a variable counts as an output too, for results that are read from variables.
    """
    assigned = [op for op in graph.get_operations() if state and op.type.startswith("Assign")]
    leading = _leading_to([*graph.outputs, *(tensor for op in assigned for tensor in op.inputs)])
    reached: set[Any] = {source.ref()}
    cuts: list[str] = []
    for op in graph.get_operations():
        taken = [place for place, tensor in enumerate(op.inputs) if tensor.ref() in reached]
        if not taken or (op not in assigned and not any(output.ref() in leading for output in op.outputs)):
            continue
        if _lets_flow(graph, op, taken):
            floating = {output.ref() for output in op.outputs if output.dtype.is_floating or output.dtype.is_complex}
            reached |= floating
            if all(output.ref() in floating for output in op.outputs if output.ref() in leading):
                continue
        cuts += _cuts_inside(graph, op, taken) or [op.type]
    cuts = list(dict.fromkeys(cuts))
    return ([each for each in cuts if each not in SHAPES] or cuts)[:MOST]


def _cuts_inside(graph: Any, op: Any, taken: list[int]) -> list[str]:
    """The same for the graphs that an op runs: the branches of a condition, the body of a call."""
    if op.type in _CONDITIONS:
        inner, before = cond_v2.get_func_graphs(op), 1  # the first input is the condition itself
    elif op.type in _CALLS:
        inner, before = (graph._get_function(op.get_attr("f").name).graph,), 0
    else:
        return []
    places = [place - before for place in taken if place >= before]
    return [cut for each in inner for place in places for cut in _first_cuts(each, each.inputs[place])]


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
    if op.type in _BODIES:
        return True
    try:
        gradient = framework_ops.get_gradient_function(op)
    except LookupError:
        return False
    if gradient is None:
        return False
    try:
        found = _called(graph, op, gradient)
    except Exception:
        return True
    return any(found[place] is not None for place in taken if place < len(found))


def _called(graph: Any, op: Any, gradient: Callable[..., Any]) -> list[Any]:
    """What the gradient function of an op returns for its inputs."""
    with graph.as_default():
        found = gradient(op, *(tf.ones_like(output) for output in op.outputs))
    return list(found) if isinstance(found, list | tuple) else [found]
