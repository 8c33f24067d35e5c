"""Places of syntax nodes: rows, columns in characters, and the code that stands there. Made on demand."""

from __future__ import annotations

import ast

from gradlint.rule import Place


class Places:
    """Resolves the nodes of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[str] | None = None

    def _line(self, row: int) -> str:
        if self._lines is None:
            self._lines = self._text.split("\n")
        return self._lines[row - 1] if 0 < row <= len(self._lines) else ""

    def _column(self, row: int, offset: int) -> int:
        line = self._line(row)
        if line.isascii():
            return offset + 1
        return len(line.encode()[:offset].decode(errors="replace")) + 1

    def place(self, node: ast.AST) -> Place:
        """The range of a node; of a definition, its first line alone."""
        row = getattr(node, "lineno", 1)
        end = getattr(node, "end_lineno", None) or row
        start_offset, end_offset = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0) or 0
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.With):
            line = self._line(row)
            return Place(row, self._column(row, start_offset), row, len(line.rstrip()) + 1)
        return Place(row, self._column(row, start_offset), end, self._column(end, end_offset))

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
        return " ".join(part.strip() for part in parts)
