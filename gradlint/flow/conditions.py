"""Conditions: what `tf.where(x > 0, x, 1.0)` and `x[x > 0]` tell of the numbers that are picked.

A condition that asks about what it picks leaves out what does not satisfy it. One that only hangs together with it
(`tf.where(logits > 0, relu(logits), 1.0)`) leaves out something that is not known, so that no claim can rest on zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf

from gradlint.flow.constants import is_comparison
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import How, Kind, Value, alternatives, everything_behind, lineage
from gradlint.flow.zero_cuts import is_same
from gradlint.knowledge.activations import Numbers, Zero
from gradlint.ops import table as ops
from gradlint.ops.op import Op

#: What a comparison says once it is denied, and when its sides change places.
_DENIED: dict[Op, Op] = {
    ops.GREATER: ops.LESS_EQUAL, ops.LESS_EQUAL: ops.GREATER, ops.LESS: ops.GREATER_EQUAL,
    ops.GREATER_EQUAL: ops.LESS, ops.EQUAL: ops.NOT_EQUAL, ops.NOT_EQUAL: ops.EQUAL,
}  # fmt: skip
_MIRRORED: dict[Op, Op] = {
    ops.GREATER: ops.LESS, ops.LESS: ops.GREATER, ops.GREATER_EQUAL: ops.LESS_EQUAL, ops.LESS_EQUAL: ops.GREATER_EQUAL,
}  # fmt: skip
_MOST_BEHIND = 60
_TENSORS = (Kind.TENSOR, Kind.SYMBOLIC, Kind.UNKNOWN, Kind.PLAIN)

Bounds = Callable[[Value], Numbers | None]


def compared(value: Value) -> tuple[Value, ...]:
    """The sides of a comparison; none of anything else."""
    return value.operands if is_comparison(value) else ()


def stripped(value: Value) -> Value:
    """Behind casts and the like."""
    while True:
        if value.how is How.JOIN:
            ways = alternatives(value, 4) or []
            bases = {id(stripped(way)): stripped(way) for way in ways if way is not value}
            if len(bases) != 1:
                return value
            return next(iter(bases.values()))
        if not value.op.hands_on or not value.inputs:
            return value
        value = value.inputs[0]


def is_size_of(side: Value, wanted: Value) -> bool:
    """Whether this is `abs(wanted)`."""
    return side.op is ops.ABS and bool(side.inputs) and stripped(side.inputs[0]) is wanted


def narrowed(
    it: Interpreter, numbers: Numbers | None, value: Value, condition: Value, holds: bool, bounds: Bounds
) -> Numbers | None:
    """What is left of the numbers of a value where the condition holds, or where it does not."""
    if numbers is None:
        return None
    wanted, asked = stripped(value), False
    for relation, side, other in _relations(condition, holds):
        base = stripped(side)
        if base is wanted or is_same(it, base, wanted):
            numbers, asked = _within(numbers, relation, bounds(other)), True
        elif is_size_of(base, wanted):
            numbers, asked = _away_from_zero(numbers, relation, bounds(other)), True
    if not asked and hang_together(condition, value):
        return replace(numbers, zero=min(numbers.zero, Zero.BY_CHANCE))
    return numbers


def _relations(condition: Value, holds: bool) -> Iterator[tuple[Op, Value, Value]]:
    """What is known to be so where a condition holds, or does not: relation and both sides, either way round."""
    stack, seen = [(condition, holds)], set[int]()
    while stack and len(seen) < _MOST_BEHIND:
        each, truth = stack.pop()
        each = stripped(each)
        if each.serial in seen:
            continue
        seen.add(each.serial)
        op = each.op
        behind = compared(each) or tuple(inner for inner, _ in each.dead)
        if op is ops.NOT:
            stack.extend((inner, not truth) for inner in behind[:1])
        elif op is (ops.AND if truth else ops.OR):
            stack.extend((inner, truth) for inner in behind)
        elif op in _DENIED and len(behind) == 2:
            relation = op if truth else _DENIED[op]
            yield relation, behind[0], behind[1]
            yield _MIRRORED.get(relation, relation), behind[1], behind[0]
        elif op in (ops.CAST, ops.CONVERT) and behind:
            stack.append((behind[0], truth))  # a cast of a comparison is dead, and says the same


def _within(numbers: Numbers, relation: Op, other: Numbers | None) -> Numbers:
    if other is None:
        return replace(numbers, zero=min(numbers.zero, Zero.BY_CHANCE))
    low, high = numbers.low, numbers.high
    if relation in (ops.GREATER, ops.GREATER_EQUAL):
        low = max(low, other.low)
        leaves_out_zero = other.low > 0 or (other.low == 0 and relation is ops.GREATER)
    elif relation in (ops.LESS, ops.LESS_EQUAL):
        high = min(high, other.high)
        leaves_out_zero = other.high < 0 or (other.high == 0 and relation is ops.LESS)
    elif relation is ops.EQUAL:
        low, high = max(low, other.low), min(high, other.high)
        leaves_out_zero = low > 0 or high < 0
    else:
        leaves_out_zero = other.is_constant and other.low == 0
    if low > high:
        return Numbers(zero=Zero.NEVER, loose=True)  # nothing is picked
    return Numbers(low, high, Zero.NEVER if leaves_out_zero else numbers.zero, numbers.loose)


def _away_from_zero(numbers: Numbers, relation: Op, other: Numbers | None) -> Numbers:
    least = other.low if other is not None else -inf
    apart = {
        ops.GREATER: least >= 0,
        ops.GREATER_EQUAL: least > 0,
        ops.NOT_EQUAL: other is not None and other.is_constant and least == 0,
    }.get(relation, False)
    return replace(numbers, zero=Zero.NEVER) if apart else numbers


def is_surely_met(it: Interpreter, comparison: Value, bounds: Bounds) -> bool:
    """Whether some entry satisfies a comparison, whatever the data: or whether that cannot be told."""
    sides = compared(comparison)
    if len(sides) != 2:
        return False
    if hang_together(*sides, (*_TENSORS, Kind.VARIABLE)):
        return True  # the greatest is at least the greatest, the first of a sorted row belongs to its support
    for relation, side, other in _relations(comparison, True):
        numbers, limit = bounds(side), bounds(other)
        if is_position(side):
            return True  # those before the end of a sequence, which has an entry
        if numbers is None or limit is None:
            continue
        if relation in (ops.GREATER, ops.GREATER_EQUAL) and _is_above(numbers, relation, limit.high):
            return True
        if (
            numbers.high < limit.low
            if relation is ops.LESS
            else relation is ops.LESS_EQUAL and numbers.high <= limit.low
        ):
            return True
    return False


def _is_above(numbers: Numbers, relation: Op, limit: float) -> bool:
    """Whether ordinary numbers lie above a limit: those of a softmax above zero, not those of a relu."""
    if numbers.low == limit == 0 and relation is ops.GREATER:
        return numbers.zero < Zero.ORDINARY
    return numbers.low >= limit


def is_position(value: Value) -> bool:
    """Whether a value counts positions."""
    return any(each.op is ops.RANGE for each in lineage([value], 30, everything_behind))


def hang_together(condition: Value, value: Value, kinds: tuple[Kind, ...] = _TENSORS) -> bool:
    """Whether some tensor is behind both."""
    behind = {each.serial for each in _behind(condition, kinds)}
    return any(each.serial in behind for each in _behind(value, kinds))


def _behind(value: Value, kinds: tuple[Kind, ...]) -> Iterator[Value]:
    return (each for each in lineage([value], _MOST_BEHIND, everything_behind) if each.kind in kinds)
