"""Which entries of a variable an optimizer ever got a gradient for, and which moved without one.

Decay, momentum, a moving average or a constraint move entries whose gradient is zero. Where the program itself made it
zero, those entries were meant to stay.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gradlint.probe.monitors import MOST_ENTRIES
from gradlint.probe.own_variables import OwnVariables
from gradlint.probe.places import Stack, of_graph_op
from gradlint.probe.private_api import tensor_id
from gradlint.probe.value_cuts import numbers_of

#: Ops by which a program leaves out entries of a gradient.
MASKING = ("Mul", "Select", "SelectV2", "TensorScatterUpdate")
_MOST_OPS_BEHIND = 30
_MOST_VARIABLES = 60


class AppliedEntries:
    """Per variable, by its number, the entries for which an optimizer got anything but zero."""

    def __init__(self, own: OwnVariables) -> None:
        self._own = own
        self.masked_at: dict[int, Stack] = {}
        """Where a compiled step masks the gradient of a variable."""
        self._eager: dict[int, Any] = {}
        self._compiled: dict[int, Any] = {}
        self._as_given: set[int] = set()
        self._unknown: set[int] = set()

    def note(self, number: int, gradient: Any, given: Collection[int]) -> None:
        """An optimizer is about to get this gradient; `given`: the numbers of those that a tape returned."""
        import numpy as np

        if gradient is None or number in self._unknown:
            return
        if hasattr(gradient, "indices") or not hasattr(gradient, "dtype"):
            self._unknown.add(number)
        elif isinstance(gradient, np.ndarray):
            self._note_numbers(number, gradient)
        elif hasattr(gradient, "numpy"):
            self._note_numbers(number, numbers_of(gradient))
        elif tensor_id(gradient) in given:
            self._as_given.add(number)
        else:
            self._note_in_graph(number, gradient, given)

    def _note_numbers(self, number: int, numbers: Any) -> None:
        before = self._eager.get(number)
        if numbers is None or numbers.size > MOST_ENTRIES or (before is not None and before.shape != numbers.shape):
            self._unknown.add(number)
        else:
            self._eager[number] = numbers != 0 if before is None else before | (numbers != 0)

    def _note_in_graph(self, number: int, gradient: Any, given: Collection[int]) -> None:
        import tensorflow as tf

        shape = gradient.shape
        if tf.distribute.has_strategy() or not shape.is_fully_defined() or shape.num_elements() > MOST_ENTRIES:
            self._unknown.add(number)
            return
        if number not in self._compiled:
            if len(self._compiled) >= _MOST_VARIABLES:
                self._unknown.add(number)
                return
            self._compiled[number] = self._own.get(("applied", number), "applied", lambda: tf.zeros(shape, tf.bool))
        ever = self._compiled[number]
        ever.assign(tf.logical_or(ever, gradient != tf.zeros([], gradient.dtype)))
        mask = _mask_behind(gradient, given)
        if mask is not None:
            self.masked_at[number] = of_graph_op(mask)[0]

    def ever(self, number: int, of_tape: Any) -> Any:
        """The entries (NumPy, bool) that ever got anything but zero; None where that is not known.

        `of_tape`: those that ever got something from a tape.
        """
        if number in self._unknown:
            return None
        parts = [self._eager.get(number), numbers_of(self._compiled.get(number))]
        if number in self._as_given:
            if of_tape is None:
                return None
            parts.append(of_tape)
        known = [part for part in parts if part is not None]
        if not known or any(part.shape != known[0].shape for part in known):
            return None
        ever = known[0]
        for part in known[1:]:
            ever = ever | part
        return ever


def _mask_behind(gradient: Any, given: Collection[int]) -> Any:
    """The op that leaves out entries between what a tape returned and what the optimizer gets."""
    ring: list[Any] = [gradient.op]
    met: set[int] = set()
    while ring and len(met) < _MOST_OPS_BEHIND:
        op = ring.pop(0)
        if id(op) in met:
            continue
        met.add(id(op))
        if op.type in MASKING and not {tensor_id(tensor) for tensor in op.inputs}.isdisjoint(given):
            return op
        ring.extend(tensor.op for tensor in op.inputs if tensor_id(tensor) not in given)
    return None
