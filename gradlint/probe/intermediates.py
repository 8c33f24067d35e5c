"""Where a zero or NaN begins in a compiled graph: the tensors in between, looked at in the steps that need it.

The gradients of the tensors between sources and targets come out of the same backward pass. A conditional in the graph
looks at them only in a step in which a source got zero or NaN; in a healthy run that branch is never taken. Large
graphs are left alone: there it would cost memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.dataflow import Op, is_float
from gradlint.probe.magnitudes import largest_of
from gradlint.probe.own_variables import OwnVariables
from gradlint.probe.private_api import tensor_id

MOST_OPS = 1500
MOST_TENSORS = 300
#: The distance of float32 numbers at 1: a gradient that never exceeds it is zero but for rounding
#: (a softmax over one entry gives 2e-8, since TensorFlow computes it with exp and a division).
ROUNDING = 1.2e-7


@dataclass(slots=True)
class Intermediates:
    """The tensors in between, their gradients, and (once a graph has them) the variable that holds what was seen."""

    ops: list[Op]
    tensors: list[Any]
    gradients: list[Any] = field(default_factory=list)
    numbers: Any = None
    """tf.Variable of shape (tensors, 3): is the value finite, is the gradient not zero, is it finite; -1: unknown."""

    def by_number(self) -> dict[int, Any]:
        """The gradients by the number of the tensor."""
        return {tensor_id(tensor): gradient for tensor, gradient in zip(self.tensors, self.gradients, strict=False)}

    def seen(self) -> dict[int, tuple[bool, bool, bool]]:
        """By the number of the tensor; empty when no step needed it."""
        try:
            rows = self.numbers.numpy()
        except Exception:  # the graph never ran
            return {}
        return {
            tensor_id(tensor): (bool(row[0]), bool(row[1]), bool(row[2]))
            for tensor, row in zip(self.tensors, rows, strict=True)
            if row[0] >= 0
        }


def between(sources: Sequence[int], targets: Sequence[int], ops: list[Op], *, most: int | None) -> Intermediates | None:
    """The float tensors that lie between, when there are not too many."""
    ahead = set(sources)
    reached = []
    for op in ops:
        if not ahead.isdisjoint(op.inputs):
            reached.append(op)
            ahead.update(op.outputs)
    wanted = set(targets)
    found = []
    for op in reversed(reached):
        if wanted.isdisjoint(op.outputs):
            continue
        wanted.update(number for number in op.inputs if number in ahead)
        for number, tensor in zip(op.outputs, op.tensors, strict=False):
            if number in wanted and is_float(tensor.dtype) and tensor.dtype.name not in ("resource", "variant"):
                found.append(tensor)
    if not found or (most is not None and len(found) > most):
        return None
    return Intermediates(ops, found[::-1])


def look_when(own: OwnVariables, needed: Any, intermediates: Intermediates, key: Any) -> None:
    """Have the graph look at the tensors in steps in which `needed` (a bool tensor) is true."""
    import tensorflow as tf

    count = len(intermediates.tensors)
    variable = own.get((*key, "between", count), "intermediates", lambda: tf.fill([count, 3], -1.0))
    intermediates.numbers = variable

    def look() -> Any:
        values = largest_of(tf, [_real(tf, tensor) for tensor in intermediates.tensors])
        gradients = largest_of(tf, [_entries(tf, gradient) for gradient in intermediates.gradients])
        finite = tf.math.is_finite(gradients)
        alive = tf.logical_or(~finite, gradients > ROUNDING)
        rows = tf.cast(tf.stack([tf.math.is_finite(values), alive, finite], axis=1), tf.float32)
        variable.assign(rows)
        return tf.constant(True)

    tf.cond(needed, look, lambda: tf.constant(False))


def _entries(tf: Any, gradient: Any) -> Any:
    return tf.zeros([1]) if gradient is None else _real(tf, tf.convert_to_tensor(getattr(gradient, "values", gradient)))


def _real(tf: Any, tensor: Any) -> Any:
    return tf.abs(tensor) if tensor.dtype.is_complex else tensor
