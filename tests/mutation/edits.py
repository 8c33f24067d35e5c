"""Edits that change one thing of a file and keep every other character.

A `Mutant` knows the rows (of its own text) where a finding counts as catching the fault.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mutation.source import Ask, Source


@dataclass(frozen=True, slots=True)
class Mutant:
    """A whole file with one certain fault."""

    operator: str
    name: str
    function: str
    fault: str
    rows: frozenset[int]
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the mutated text, and the row that it had, None for a new one."""

    text: str
    row: int | None


def made(operator: str, ask: Ask, fault: str, lines: Sequence[Line], touched: Collection[int] = ()) -> Mutant | None:
    """The mutant, or None when its text does not parse. New lines, `touched` rows and those of the call count."""
    text = "\n".join(line.text for line in lines)
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    counting = ask.rows | set(touched)
    rows = frozenset(i for i, line in enumerate(lines, 1) if line.row is None or line.row in counting)
    return Mutant(operator, ask.source.name, ask.qualified_name, fault, rows, text)


def untouched(source: Source, first: int = 1, last: int | None = None) -> list[Line]:
    """The lines of the rows from `first` to `last`, both included."""
    last = len(source.lines) if last is None else last
    return [Line(source.lines[row - 1], row) for row in range(first, last + 1)]


def rows_of(statement: ast.stmt | ast.expr) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def chunks(source: Source, block: ast.With) -> list[range] | None:
    """Per statement of the block its rows, comments above it included; None when two share a row."""
    before = source.end_of_logical_line(block.lineno)
    if not source.begins_line(block):
        return None
    found = []
    for statement in block.body:
        end = statement.end_lineno or statement.lineno
        end = max(end, source.end_of_logical_line(end)) if not hasattr(statement, "body") else end
        if statement.lineno <= before or not source.begins_line(statement):
            return None
        found.append(range(before + 1, end + 1))
        before = end
    return found


def move_out(ask: Ask, *, before: Collection[int] = (), after: Collection[int] = ()) -> list[Line] | None:
    """The file with these statements of the block taken out of it; `pass` where nothing stays."""
    source, block = ask.source, ask.block
    parts = chunks(source, block)
    if parts is None:
        return None
    inner, outer = source.indent(block.body[0].lineno), source.indent(block.lineno)
    head_end = source.end_of_logical_line(block.lineno)
    moved_up = [line for i in sorted(before) for line in _dedented(source, parts[i], inner, outer)]
    moved_down = [line for i in sorted(after) for line in _dedented(source, parts[i], inner, outer)]
    kept = [i for i in range(len(parts)) if i not in before and i not in after]
    stays = [line for i in kept for line in untouched(source, parts[i].start, parts[i].stop - 1)]
    return [
        *untouched(source, 1, block.lineno - 1),
        *moved_up,
        *untouched(source, block.lineno, head_end),
        *(stays or [Line(f"{inner}pass", None)]),
        *moved_down,
        *untouched(source, parts[-1].stop),
    ]


def _dedented(source: Source, rows: range, inner: str, outer: str) -> list[Line]:
    return [Line(_shifted(source, row, inner, outer), row) for row in rows]


def _shifted(source: Source, row: int, inner: str, outer: str) -> str:
    line = source.lines[row - 1]
    if row in source.rows_in_strings or not line.startswith(inner):
        return line
    return outer + line[len(inner) :]


def insert_after(source: Source, row: int, new: Sequence[str]) -> list[Line]:
    return [*untouched(source, 1, row), *(Line(text, None) for text in new), *untouched(source, row + 1)]


def replace(source: Source, changes: Sequence[tuple[ast.expr, str]]) -> list[Line] | None:
    """The file with each node's text replaced; None when that changes the number of lines."""
    text = source.text
    for node, new in sorted(changes, key=lambda change: (change[0].lineno, change[0].col_offset), reverse=True):
        if node.end_lineno is None or node.end_col_offset is None:
            return None
        start, end = source.offset(node.lineno, node.col_offset), source.offset(node.end_lineno, node.end_col_offset)
        text = text[:start] + new + text[end:]
    lines = text.split("\n")
    return [Line(line, row) for row, line in enumerate(lines, 1)] if len(lines) == len(source.lines) else None


def extract(ask: Ask, expression: ast.expr, name: str) -> list[Line]:
    """The file with the expression computed above the block, under a new name, and that name in its place."""
    source = ask.source
    first, last = expression.lineno, expression.end_lineno or expression.lineno
    before = source.lines[first - 1].encode()[: expression.col_offset].decode()
    after = source.lines[last - 1].encode()[expression.end_col_offset :].decode()
    return [
        *untouched(source, 1, ask.block.lineno - 1),
        Line(f"{source.indent(ask.block.lineno)}{name} = {ast.unparse(expression)}", None),
        *untouched(source, ask.block.lineno, first - 1),
        Line(f"{before}{name}{after}", first),
        *untouched(source, last + 1),
    ]
