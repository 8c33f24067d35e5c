"""Initial numbers: what a value holds in the first step, where that follows from numbers that are written out."""

from __future__ import annotations

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.values import How, Kind, Value
from gradlint.ops import table as ops

#: One number, or rows of them.
Rows = float | tuple["Rows", ...]
_DEEPEST, _MOST = 12, 64


def initial_numbers(it: Interpreter, value: Value, depth: int = 0) -> Rows | None:
    """The numbers of a constant, of a variable before anything is assigned to it, or of a part of one."""
    if depth > _DEEPEST or value.how is How.JOIN:
        return None
    if value.kind is Kind.LITERAL:
        return float(value.ref) if value.how is How.FRESH and type(value.ref) in (int, float) else None
    if value.kind is Kind.CONTAINER:
        items = it.items(value)
        if not items.exact or not 0 < len(items.elements) <= _MOST:
            return None
        rows = [initial_numbers(it, each, depth + 1) for each in items.elements]
        return None if None in rows else tuple(row for row in rows if row is not None)
    if value.kind is Kind.VARIABLE:
        variable = value.ref
        if not isinstance(variable, Variable) or variable.initial is None or variable.id in it.assigned:
            return None
        return initial_numbers(it, variable.initial, depth + 1)
    if value.op is ops.ITEM and value.given is not None:
        base, index = value.given.positional
        return _part(it, base, index, depth)
    if value.op.role is ops.IDENTITY.role or value.op in (ops.CONSTANT, ops.ARRAY, ops.AS_ARRAY):
        behind = (value.given.first(),) if value.given is not None else value.inputs
        return initial_numbers(it, behind[0], depth + 1) if behind and behind[0] is not None else None
    return None


def _part(it: Interpreter, base: Value, index: Value, depth: int) -> Rows | None:
    rows = initial_numbers(it, base, depth + 1)
    if not isinstance(rows, tuple) or index.kind is not Kind.LITERAL or type(index.ref) is not int:
        return None
    return rows[index.ref] if -len(rows) <= index.ref < len(rows) else None
