"""Carried numbers: those at which a gradient passes on.

What `tf.where`, `tf.maximum` and a clip replace by a number hands no gradient back, not even NaN: they select. Only an
entry that lies exactly on the bound is handed on, by a clip and by a maximum whose first argument it is (measured).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from gradlint.flow.conditions import stripped
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.numbers import clip_bounds, numbers_of, parts_chosen
from gradlint.flow.values import Value, carries_gradient
from gradlint.knowledge.activations import Numbers, Zero
from gradlint.ops import table as ops

_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value held between bounds, each a number that is known; None for a bound of which nothing is known."""

    inside: Value
    low: float | None
    high: float | None
    #: Whether an entry that lies on a bound is handed on.
    hands_on_borders: bool

    @property
    def lets_zero_through(self) -> bool:
        """Whether a gradient comes to where the value is zero; False where that is not known."""
        if self.low is None or self.high is None or not self.low <= 0 <= self.high:
            return False
        return self.hands_on_borders or self.low < 0 < self.high


def bounded(it: Interpreter, value: Value) -> Bounded | None:
    """What a `tf.maximum(x, 0.0)`, `tf.minimum(x, 1.0)` or `tf.clip_by_value(x, 0.0, 1.0)` holds; None for the rest."""
    if value.op is ops.CLIP and value.given is not None:
        given = value.given.every()
        low, high = (_number(it, each, end) for each, end in zip(clip_bounds(value), (-inf, inf), strict=True))
        return Bounded(given[0], low, high, True) if given else None
    if value.op not in (ops.MAXIMUM, ops.MINIMUM) or len(value.operands) != 2:
        return None
    first, second = value.operands
    if carries_gradient(first) == carries_gradient(second):
        return None
    inside, bound = (first, second) if carries_gradient(first) else (second, first)
    limit = _number(it, bound, None)
    low, high = (limit, inf) if value.op is ops.MAXIMUM else (-inf, limit)
    return Bounded(inside, low, high, inside is first)


def _number(it: Interpreter, bound: Value | None, default: float | None) -> float | None:
    """The number that a bound is, also where it fills an array."""
    if bound is None:
        return default
    numbers = numbers_of(it, bound)
    return numbers.low if numbers is not None and numbers.is_constant else None


def carried(it: Interpreter, value: Value, depth: int = 0) -> Numbers | None:
    """The numbers of a value at which it hands a gradient on; None when they are not known."""
    value = stripped(value)
    held = bounded(it, value) if depth < _DEEPEST else None
    if held is not None:
        inside = carried(it, held.inside, depth + 1)
        if inside is None or held.low is None or held.high is None:
            return None
        low, high = max(inside.low, held.low), min(inside.high, held.high)
        return replace(inside, low=low, high=high, zero=inside.zero if held.lets_zero_through else Zero.NEVER)
    sides = [numbers for side, numbers in parts_chosen(it, value) if carries_gradient(side)]
    return sides[0] if len(sides) == 1 else numbers_of(it, value)


def is_replaced_by_number(it: Interpreter, value: Value) -> bool:
    """Whether this is a choice or a bound of which one side is a number alone."""
    return bounded(it, value) is not None or sum(carries_gradient(side) for side, _ in parts_chosen(it, value)) == 1
