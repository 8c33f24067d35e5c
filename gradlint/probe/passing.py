"""Which inputs of an op get a gradient from which of its outputs: asked once for each kind of op.

To ask for a whole backward pass takes as long as the program's own. Whether an op of a kind passes a gradient does not
depend on where it stands, so it is asked for one op of the kind alone, and the answers are put together along the way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradlint.probe.cuts import READS
from gradlint.probe.dataflow import Slice, is_float

Passed = tuple[frozenset[int], ...]
"""Per output the places of the inputs that get a gradient from it."""

#: Attributes by which one op differs from others of its kind in what it passes: functions, and gradients of its own.
_OWN = ("_gradient_op_type", "body", "then_branch", "else_branch", "f", "branches")
_KNOWN: dict[Any, Passed] = {}


def having_gradients(found: Slice, targets: Iterable[int]) -> set[int] | None:
    """The numbers of the tensors between that get a gradient from the targets; None where parts do not tell.

    That is so for lists of tensors, which hide what is in them, and for ops that ran outside the graph.
    """
    having = set(targets)
    for op in reversed(found.between):
        live = [place for place, number in enumerate(op.outputs) if number in having]
        if not live:
            continue
        if op.kind in READS:
            having.update(op.inputs)
            continue
        if op.graph_op is None or not _is_plain(op.graph_op):
            return None
        passed = _passed_by(op.graph_op)
        having.update(op.inputs[place] for output in live for place in passed[output])
    return having


def _is_plain(op: Any) -> bool:
    tensors = (*op.inputs, *op.outputs)
    return not any(tensor.dtype.name == "variant" for tensor in tensors) and not any(_has(op, name) for name in _OWN)


def _has(op: Any, attribute: str) -> bool:
    try:
        op.get_attr(attribute)
    except ValueError:
        return False
    return True


def _passed_by(op: Any) -> Passed:
    key = (op.type, tuple(tensor.dtype for tensor in op.inputs), tuple(tensor.dtype for tensor in op.outputs))
    if key not in _KNOWN:
        _KNOWN[key] = tuple(_ask(op, output) for output in op.outputs)
    return _KNOWN[key]


def _ask(op: Any, output: Any) -> frozenset[int]:
    import tensorflow as tf

    places = [place for place, tensor in enumerate(op.inputs) if is_float(tensor.dtype)]
    if not places or not is_float(output.dtype):
        return frozenset()
    try:
        with op.graph.as_default():
            gradients = tf.gradients([output], [op.inputs[place] for place in places])
    except Exception:  # an op that has no gradient passes none
        return frozenset()
    return frozenset(place for place, gradient in zip(places, gradients, strict=True) if gradient is not None)
