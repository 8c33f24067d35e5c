"""Estimators: straight-through ones, `x + stop_gradient(quantise(x) - x)`, and what a wrong sign makes of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.singularities import matters
from gradlint.flow.values import Kind, Value
from gradlint.flow.wording import code_of
from gradlint.flow.written import is_written_in
from gradlint.flow.zero_events import Estimator, StraightThroughWrong
from gradlint.ops import table as ops
from gradlint.verdicts import Cause

_MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class _Term:
    """A summand with its sign; `stopped`: inside a `stop_gradient`."""

    value: Value
    sign: int
    stopped: bool


def judge_estimator(it: Interpreter, made: Value, node: ast.AST) -> None:
    """A sum or difference of which one side is stopped."""
    if not any(_is_stop(side) or _holds_stop(it, side, node) for side in made.operands) or not matters(it, made):
        return
    terms = _terms(it, made, node)
    stopped = [term for term in terms if term.stopped]
    quantised = next((term for term in stopped if _is_quantised(term.value, terms)), None)
    if quantised is None or len(stopped) > 2:
        return
    straight = next((term.value for term in stopped if term is not quantised), None)
    free = [term for term in terms if not term.stopped]
    if straight is None:  # x + stop(q) - x
        straight = next((a.value for a in free for b in free if a.value is b.value and a.sign == -b.sign), None)
    mine = [term.sign for term in free if term.value is straight]
    if straight is None or not mine:
        return
    kept = sum(term.sign for term in terms if term.value is straight)
    wrong = _wrong(sum(mine), kept, quantised.sign)
    if wrong is not None:
        it.note(StraightThroughWrong, node, wrong, code_of(straight), code_of(quantised.value), certain=True)


def _holds_stop(it: Interpreter, side: Value, node: ast.AST) -> bool:
    """Whether one side is a sum, written in the same expression, of which one side is stopped."""
    is_sum = side.op in (ops.ADD, ops.SUBTRACT) and any(map(_is_stop, side.operands))
    return is_sum and is_written_in(it, side.node, node)


def _wrong(gradient: int, kept: int, quantised: int) -> Estimator | None:
    if gradient < 0 and quantised > 0:
        return Estimator.NEGATED
    if gradient == 0:
        return Estimator.CANCELLED
    if gradient > 1:
        return Estimator.DOUBLED
    return Estimator.VALUE if kept != 0 or quantised < 0 else None


def _is_stop(value: Value) -> bool:
    return value.op is ops.STOP and bool(value.dead)


def _terms(it: Interpreter, value: Value, node: ast.AST) -> list[_Term]:
    """The summands, of sums that are written in one expression, or inside what is stopped."""
    found: list[_Term] = []
    stack = [_Term(value, 1, False)]
    while stack and len(found) < _MOST_TERMS:
        term = stack.pop()
        each = term.value
        apart = term.stopped or each is value or is_written_in(it, each.node, node)
        if apart and each.op is ops.ADD and len(each.operands) == 2:
            stack.extend(_Term(side, term.sign, term.stopped) for side in each.operands)
        elif apart and each.op is ops.SUBTRACT and len(each.operands) == 2:
            left, right = each.operands
            stack.append(_Term(left, term.sign, term.stopped))
            stack.append(_Term(right, -term.sign, term.stopped))
        elif each.op is ops.NEGATIVE and len(each.inputs) == 1:
            stack.append(_Term(each.inputs[0], -term.sign, term.stopped))
        elif _is_stop(each) and not term.stopped:
            stack.append(_Term(each.dead[0][0], term.sign, True))
        else:
            found.append(term)
    return found


def _is_quantised(value: Value, terms: list[_Term]) -> bool:
    """Whether this was computed from another of the terms by something that passes no gradient."""
    others = {id(term.value) for term in terms if term.value is not value and term.value.kind is not Kind.LITERAL}
    stack, seen = [(value, False)], set[tuple[int, bool]]()
    while stack and len(seen) < 60:
        each, cut = stack.pop()
        if (each.serial, cut) in seen:
            continue
        seen.add((each.serial, cut))
        if cut and id(each) in others:
            return True
        if each.kind is Kind.LITERAL:
            continue
        stack.extend((inner, cut) for inner in each.inputs)
        stack.extend((inner, True) for inner, cause in each.dead if cause is not Cause.STOPPED)
    return False
