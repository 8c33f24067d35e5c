"""Unsafe math: formulas whose gradient is NaN for inputs that the author meant to take care of.

`tf.where` around a function that is singular where it is not chosen; exponentials that overflow before a logarithm or
quotient takes them back; quotients by a count of nothing; softmax over a row of -inf.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradlint.flow.carried import carried, is_replaced_by_number
from gradlint.flow.conditions import compared, is_position, is_size_of, is_surely_met, stripped
from gradlint.flow.constants import is_comparison
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.numbers import numbers_of
from gradlint.flow.singularities import matters
from gradlint.flow.values import (
    How,
    Kind,
    Value,
    alternatives,
    carries_gradient,
    everything_behind,
    is_literal,
    lineage,
    recorded_or_dead,
)
from gradlint.flow.wording import code_of
from gradlint.flow.zero_events import EmptySum, ExpOverflow, FullyMasked, UnsafeBranch
from gradlint.knowledge.activations import Zero
from gradlint.ops import table as ops
from gradlint.ops.op import Role

_DEEPEST = 10
_MOST_TESTED = 2000
_OVERFLOWS_AT = 80.0  # exp(88.7) is infinite in float32
_TOTALS = frozenset({ops.SUM, ops.SUM_OF})
#: What counts the entries of a mask.
_COUNTED = frozenset({ops.SUM, ops.SUM_OF, ops.COUNT_NONZERO})
_SINGULAR = frozenset({ops.LOG, ops.SQRT, ops.EXP, ops.RECIPROCAL, ops.ASIN, ops.ACOS})


# --- where ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Singular:
    """A function inside a branch, what it is singular in, and the value that it makes."""

    function: str
    argument: Value
    made: Value


def judge_where(it: Interpreter, made: Value, node: ast.AST) -> None:
    """`tf.where(condition, a, b)`."""
    if len(made.operands) != 3 or not matters(it, made):
        return
    condition, a, b = made.operands
    for branch in (a, b):
        for found in _singular_within(branch):
            asked = _asked_in(condition, found.argument)
            if asked is None:
                continue
            it.chosen.add(found.made.serial)
            verdict = _verdict(it, found, asked)
            if verdict is not None:
                certain, compiled_only = verdict
                it.note(
                    UnsafeBranch, node, found.function, code_of(found.argument), compiled_only,
                    certain=certain,
                )  # fmt: skip
                return


def _singular_within(branch: Value) -> Iterator[_Singular]:
    """Functions in the entrywise part of an expression that are singular somewhere."""
    stack, seen = [(branch, 0)], set[int]()
    while stack:
        value, depth = stack.pop()
        if value.serial in seen or depth > _DEEPEST or value.kind not in (Kind.TENSOR, Kind.SYMBOLIC):
            continue
        seen.add(value.serial)
        if value.how is How.JOIN:
            stack.extend((each, depth + 1) for each in alternatives(value, 4) or () if each is not value)
            continue
        op = value.op
        if not op.entrywise or op.role in (Role.COMPARISON, Role.LOGIC):
            continue
        given = _operands(value)
        if op is ops.DIVIDE and len(given) == 2 and given[1].kind is not Kind.LITERAL:
            yield _Singular("/", given[1], value)
        elif op in _SINGULAR and given:
            yield _Singular(op.name, given[0], value)
        elif op is ops.POWER and len(given) == 2 and _is_fraction(given[1]):
            yield _Singular("**", given[0], value)
        stack.extend((each, depth + 1) for each in given)


def _operands(value: Value) -> tuple[Value, ...]:
    if value.operands:
        return value.operands
    return value.given.positional if value.given is not None and value.given.positional else value.inputs


def _is_fraction(exponent: Value) -> bool:
    return exponent.kind is Kind.LITERAL and isinstance(exponent.ref, float) and exponent.ref < 1


def _asked_in(condition: Value, argument: Value) -> Value | None:
    """The comparison inside a condition that asks about the argument itself; None when none does."""
    wanted = stripped(argument)
    if wanted.kind is Kind.LITERAL:
        return None
    stack, seen = [condition], set[int]()
    while stack and len(seen) < 30:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        sides = compared(each)
        if sides and any(stripped(side) is wanted or is_size_of(side, wanted) for side in sides):
            return each
        if is_comparison(each) or each.op.hands_on or each.how is How.JOIN:
            stack.extend((*each.inputs, *(inner for inner, _ in each.dead)))
    return None


def _verdict(it: Interpreter, found: _Singular, asked: Value) -> tuple[bool, bool] | None:
    """Whether it is surely NaN, and whether under XLA alone; None when ordinary inputs do not come there."""
    numbers = numbers_of(it, found.argument)
    if found.function == "exp":
        bound = max((each.ref for each in compared(asked) if _is_number(each)), default=0.0)
        unbounded = numbers is None or numbers.high > _OVERFLOWS_AT
        return (False, False) if unbounded and bound >= 5 else None
    if found.function in ("asin", "acos"):
        return (False, False)
    if found.function == "**" and numbers is not None and numbers.is_signed:
        return (True, False)
    if not _compares_with_zero(asked):
        return None
    if found.function == "sqrt":
        return (False, True) if it.compiles_xla else None  # zero elsewhere: SqrtGrad of a zero gradient is zero
    if is_replaced_by_number(it, found.argument):
        numbers = carried(it, found.argument)
        if numbers is not None and numbers.zero < Zero.FAR_OUT:
            return None
    if numbers is not None and (numbers.low > 0 or (numbers.low < 0 and numbers.zero < Zero.FAR_OUT)):
        return None  # of what is never negative, only zero is left out: there it matters
    if numbers is None and not carries_gradient(found.argument) and found.function != "/":
        return None
    return (numbers is not None and numbers.zero is Zero.ORDINARY, False)


def _compares_with_zero(asked: Value) -> bool:
    return any(_is_number(each) and abs(each.ref) < 1e-3 for each in compared(asked)) or any(
        each.op is ops.ZEROS_LIKE for each in compared(asked)
    )


def _is_number(value: Value) -> bool:
    return value.kind is Kind.LITERAL and type(value.ref) in (int, float)


# --- exponentials --------------------------------------------------------------------------------------------------


def judge_log_of_exp(it: Interpreter, given: Value, made: Value, node: ast.AST) -> None:
    """`log(1 + exp(x))`, `log1p(exp(x))`, `log(sum(exp(x)))`."""
    if not matters(it, made):
        return
    if made.op is ops.LOG1P:
        exponential = given if _is_exp(given) else None
    elif given.op is ops.ADD and len(given.operands) == 2:
        exponential = next(
            (b for a, b in (given.operands, given.operands[::-1]) if is_literal(a, 1.0) or is_literal(a, 1)), None
        )
        exponential = exponential if exponential is not None and _is_exp(exponential) else None
    else:
        _judge_logsumexp(it, given, node)
        return
    if exponential is not None and _overflows(it, exponential):
        holds = lambda: made.serial not in it.chosen and exponential.serial not in it.chosen  # noqa: E731
        it.note(ExpOverflow, node, "softplus", "`tf.math.softplus(x)`", certain=False, holds=holds)


def _judge_logsumexp(it: Interpreter, given: Value, node: ast.AST) -> None:
    if given.op in _TOTALS and given.inputs and _is_exp(given.inputs[0]):
        if _overflows(it, given.inputs[0]):
            it.note(ExpOverflow, node, "logsumexp", "`tf.reduce_logsumexp(x, axis)`", certain=False)


def judge_quotient(it: Interpreter, left: Value, right: Value, made: Value, node: ast.AST) -> None:
    """`exp(x) / sum(exp(x))`, and a division by a count that can be zero."""
    if not matters(it, made):
        return
    total = right.op in _TOTALS and bool(right.inputs)
    if _is_exp(left) and total and _base_of_exp(right.inputs[0]) is _base_of_exp(left):
        if _overflows(it, left):
            it.note(ExpOverflow, node, "softmax", "`tf.nn.softmax(x, axis)`", certain=False)
        return
    _judge_sigmoid(it, left, right, node)
    why = _why_empty(it, right)
    if why is not None and left.kind in (Kind.TENSOR, Kind.SYMBOLIC) and _is_computed(left):
        holds = lambda: made.serial not in it.chosen and not _is_asked_about(it, right, made)  # noqa: E731
        it.note(EmptySum, node, code_of(right), why, certain=False, holds=holds)


def _is_asked_about(it: Interpreter, divisor: Value, quotient: Value) -> bool:
    """Whether some branch asks for the divisor, or for what it counts, by other ways than the quotient itself."""
    counted = set[int]()
    each: Value | None = divisor
    while each is not None and each.serial not in counted and len(counted) < _DEEPEST:
        counted.add(each.serial)
        behind = recorded_or_dead(each)
        each = behind[0] if behind and not is_comparison(each) else None

    def behind_test(value: Value) -> tuple[Value, ...]:
        return () if value is quotient else recorded_or_dead(value)

    tested = lineage(it.tested, _MOST_TESTED, behind_test)
    return any(value.serial in counted for value in tested)


def _is_computed(value: Value) -> bool:
    return bool(value.inputs) or value.is_opaque


def _is_exp(value: Value) -> bool:
    return value.op is ops.EXP and value.kind in (Kind.TENSOR, Kind.SYMBOLIC)


def _base_of_exp(value: Value) -> object:
    given = _operands(value)
    return given[0] if _is_exp(value) and given else None


def _overflows(it: Interpreter, exponential: Value) -> bool:
    """Whether what the exponential is given is known to have no bound."""
    given = _operands(exponential)
    numbers = numbers_of(it, given[0]) if given else None
    return numbers is not None and numbers.high > _OVERFLOWS_AT and not numbers.loose


def _judge_sigmoid(it: Interpreter, left: Value, right: Value, node: ast.AST) -> None:
    """`1 / (1 + exp(-x))`."""
    if not _is_one(left) or right.op is not ops.ADD or len(right.operands) != 2:
        return
    a, b = right.operands
    exponential = b if _is_one(a) else a
    if (_is_one(a) or _is_one(b)) and _is_exp(exponential) and _overflows(it, exponential):
        it.note(ExpOverflow, node, "sigmoid", "`tf.sigmoid(x)`", certain=False)


def _is_one(value: Value) -> bool:
    return is_literal(value, 1.0) or is_literal(value, 1)


# --- counts --------------------------------------------------------------------------------------------------------


def _why_empty(it: Interpreter, divisor: Value) -> str | None:
    """Why a divisor can be zero: it sums or counts a mask that a comparison makes."""
    op = divisor.op
    if (op.hands_on or op is ops.ITEM) and divisor.inputs + tuple(each for each, _ in divisor.dead):
        return _why_empty(it, (divisor.inputs or tuple(each for each, _ in divisor.dead))[0])
    if divisor.how is How.JOIN:
        ways = [way for way in alternatives(divisor, 4) or () if way is not divisor]
        found = [_why_empty(it, way) for way in ways]
        return found[0] if found and all(found) else None
    if op not in _COUNTED:
        return None
    given = _operands(divisor) or tuple(each for each, _ in divisor.dead)
    if given and given[0].op is ops.ONE_HOT and is_literal(divisor.given.get(1, "axis"), 0):
        return f"a class of `{code_of(given[0])}` may have no member"
    comparison = _comparison_behind(given[0]) if given else None
    if comparison is None or _is_padding(comparison):
        return None
    if is_surely_met(it, comparison, lambda side: numbers_of(it, side)):
        return None
    return f"nothing may satisfy `{code_of(comparison)}`"


def _is_padding(comparison: Value) -> bool:
    """Whether a mask leaves out padding: `tokens != 0` holds somewhere in every batch."""
    if comparison.op not in (ops.NOT_EQUAL, ops.NOT):
        return False
    return not any(_is_number(each) and each.ref != 0 for each in compared(comparison))


def _comparison_behind(value: Value, depth: int = 0) -> Value | None:
    """The comparison that a mask was made by."""
    if depth > 6:
        return None
    if value.how is How.JOIN:
        found = [_comparison_behind(way, depth + 1) for way in alternatives(value, 4) or () if way is not value]
        return found[0] if found and all(each is found[0] for each in found) else None
    if is_comparison(value):
        return value
    if value.op.hands_on:
        behind = (*value.inputs, *(each for each, _ in value.dead))
        return _comparison_behind(behind[0], depth + 1) if behind else None
    return None


# --- masked softmax ------------------------------------------------------------------------------------------------

#: Masks that are made of these leave something in every row.
_OF_POSITIONS = frozenset({ops.TRIANGLE, ops.EYE, ops.SEQUENCE_MASK, ops.OR})


def judge_masked_softmax(it: Interpreter, given: Value, made: Value, node: ast.AST) -> None:
    """A softmax over scores that hold -inf where a mask says so."""
    if not matters(it, made):
        return
    mask = _infinite_mask(given)
    if mask is not None and not _is_causal(it, mask):
        it.note(FullyMasked, node, code_of(mask), certain=False)


def _infinite_mask(value: Value) -> Value | None:
    """The mask by which -inf comes into a value."""
    for _ in range(6):
        op = value.op
        if op is ops.WHERE and len(value.operands) == 3:
            condition, *branches = value.operands
            if any(is_minus_infinity(each) for each in branches):
                return condition
            return None
        if op is ops.ADD:
            for side in _operands(value):
                if side.op is ops.MULTIPLY and any(is_minus_infinity(each) for each in _operands(side)):
                    return next((each for each in _operands(side) if not is_minus_infinity(each)), None)
                whole = _before_slices(side)
                if whole.op is ops.WHERE:
                    found = _infinite_mask(whole)
                    if found is not None:
                        return found
            return None
        if not op.hands_on or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _before_slices(value: Value) -> Value:
    while value.op is ops.ITEM and value.given is not None:
        value = value.given.positional[0]
    return value


def is_minus_infinity(value: Value) -> bool:
    """Whether a value is written as -inf, or made of it."""
    if value.kind is Kind.LITERAL and isinstance(value.ref, float):
        return value.ref == float("-inf")
    op = value.op
    if op in (ops.FULL, ops.FULL_LIKE, ops.CONSTANT, ops.CONVERT, ops.CAST) and value.given is not None:
        return any(is_minus_infinity(each) for each in value.given.every())
    if op is ops.MULTIPLY and value.operands:
        return any(is_minus_infinity(each) for each in value.operands) and all(
            each.op in (ops.ONES_LIKE, ops.ONES) or is_minus_infinity(each) for each in value.operands
        )
    node = value.node
    return isinstance(node, ast.expr) and ast.unparse(node) in _MINUS_INFINITY


_MINUS_INFINITY = frozenset(
    ["-np.inf", "-numpy.inf", "-math.inf", "float('-inf')", "-float('inf')", "-np.Inf", "np.NINF", "-tf.math.inf"]
)


def _is_causal(it: Interpreter, mask: Value) -> bool:
    """Whether a mask is made of positions alone, so that each position may look at itself; or never covers a row."""
    behind = list(lineage([mask], 60, everything_behind))
    if any(each.op in _OF_POSITIONS for each in behind):
        return True
    sides = [compared(each) for each in behind if is_comparison(each) and len(compared(each)) == 2]
    return bool(sides) and all(all(map(is_position, each)) for each in sides)
