"""Timing: what depends on how many steps were taken, and tests that ask for it."""

from __future__ import annotations

import ast
from enum import Enum, auto

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.values import Fill, How, Kind, Value
from gradlint.knowledge.conventions import counts_steps

#: A schedule is a formula of so many operations, one in another: `a + b * (1 + cos(pi * step / steps))`.
_DEEPEST = 7


def is_timed(it: Interpreter, value: Value) -> bool:
    """Whether a value depends on how many steps were taken: on a loop's number, or on a count."""
    seen: set[int] = set()
    nearest = [value]
    for _ in range(_DEEPEST + 1):
        if any(_is_count(it, each) for each in nearest):
            return True
        seen.update(id(each) for each in nearest)
        behind = {id(part): part for each in nearest for part in (*each.operands, *each.inputs)}
        nearest = [part for name, part in behind.items() if name not in seen]
    return False


def _is_count(it: Interpreter, value: Value) -> bool:
    if value.fill is Fill.INDEX or value.serial in it.timed_values:
        return True
    if isinstance(value.ref, Variable) and value.ref.integer:
        return True  # a counter
    if value.how is How.PARAMETER and counts_steps(value.label):
        return True
    return value.how is How.JOIN and value.label == "loop" and value.kind in (Kind.LITERAL, Kind.PLAIN)


class Timing(Enum):
    """When a test that asks how many steps were taken is true."""

    LATE = auto()
    EARLY = auto()  # `step < 5`: what it guards does not begin late, it ends


def timing_of(it: Interpreter, test: ast.expr) -> Timing | None:
    """When a test is true that asks how many steps were taken; None for any other test."""
    for node in ast.walk(test):
        value = None
        if isinstance(node, ast.Name):
            value = it.store.get((it.frame.id, node.id)) or it.store.get((it.module.id, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = it.store.get((it.frame.id, node.value.id))
            if owner is not None and owner.kind is Kind.INSTANCE:
                value = it.store.get((owner.ref.id, node.attr))  # as it is: a property is not run again
        if value is not None and is_timed(it, value):
            early = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.LtE)
            return Timing.EARLY if early else Timing.LATE
    return None
