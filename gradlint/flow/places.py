"""Places of syntax nodes: rows, columns in characters, and the code that stands there. Made on demand."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gradlint.flow.sources import ROWS, Source
from gradlint.flow.wording import on_one_line
from gradlint.rule import Place


def _start(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def statements_in(node: ast.AST) -> list[ast.stmt]:
    """The statements right below a statement, in the order of the text."""
    found: list[ast.stmt] = []
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            found.append(each)
        elif isinstance(each, ast.ExceptHandler | ast.match_case):
            found += each.body
    return found


class Places:
    """Resolves the nodes of the files that were run."""

    def __init__(self, sources: Mapping[int, Source]) -> None:
        self._sources = sources
        self._lines: dict[int, list[str]] = {}

    def _line(self, row: int) -> str:
        """The text of a row, by its number among the rows of all files."""
        number, row = divmod(row, ROWS)
        lines = self._lines.get(number)
        if lines is None:
            source = self._sources.get(number)
            lines = self._lines[number] = source.file.text.split("\n") if source is not None else []
        return lines[row - 1] if 0 < row <= len(lines) else ""

    def _column(self, row: int, offset: int) -> int:
        line = self._line(row)
        if line.isascii():
            return offset + 1
        return len(line.encode()[:offset].decode(errors="replace")) + 1

    def _moved(self, row: int) -> int:
        """How many columns further to the right the row stands in a page or docstring."""
        source = self._sources.get(row // ROWS)
        return dict(source.file.indents).get(row % ROWS, 0) if source is not None and source.file.indents else 0

    def place(self, node: ast.AST) -> Place:
        """The range of a node; of a definition, its first line alone."""
        row = getattr(node, "lineno", 1)
        end = getattr(node, "end_lineno", None) or row
        start_offset, end_offset = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0) or 0
        number = row // ROWS
        source = self._sources.get(number)
        cell, shown = source.file.located(row % ROWS) if source is not None else (0, row % ROWS)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With):
            line = self._line(row)
            more = self._moved(row)
            return Place(
                shown, self._column(row, start_offset) + more, shown, len(line.rstrip()) + 1 + more, cell, number
            )
        start = self._column(row, start_offset) + self._moved(row)
        stop = self._column(end, end_offset) + self._moved(end)
        return Place(shown, start, shown + end - row, stop, cell, number)

    def statement(self, place: Place) -> tuple[int, int]:
        """Where the innermost statement begins that a place is in, by the rows of all files."""
        source = self._sources.get(place.file)
        if source is None:
            return place.row, place.column
        row = source.file.row_of(place) + place.file * ROWS
        line = self._line(row)
        offset = len(line[: place.column - 1 - self._moved(row)].encode())
        found, body = (row, 0), source.tree.body
        while body:
            around = [each for each in body if _start(each) <= (row, offset)]
            if not around or (row, offset) >= (around[-1].end_lineno, around[-1].end_col_offset):
                break
            found = _start(around[-1])
            body = statements_in(around[-1])
        return found

    def code(self, node: ast.AST) -> str:
        """The code of a node on one line."""
        row, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        if not row:
            return ""
        start_offset, end_offset = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0) or 0
        first = self._line(row).encode()
        if row == end:
            return first[start_offset:end_offset].decode(errors="replace")
        parts = [first[start_offset:].decode(errors="replace")]
        parts += [self._line(each) for each in range(row + 1, end)]
        parts.append(self._line(end).encode()[:end_offset].decode(errors="replace"))
        return on_one_line(parts)
