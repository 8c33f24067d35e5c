"""Positions: on which row of a TOML file each key and each item of a list stands.

The TOML reader of the standard library keeps none. Only files that it has read without complaint come here, so that
this need not check anything; and only when there is something to complain about.
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"""+|\'\'\'.*?\'\'\'+|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.S)
_BARE_KEY = re.compile(r"[\w-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")


def positions_of(text: str) -> dict[Path, int]:
    """The row, from 1, of each key (`("tool", "gradlint")`) and of each item of a list (`(..., "select", 0)`)."""
    return _Scan(text.replace("\r\n", "\n")).rows


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.rows: dict[Path, int] = {}
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(text):
            if self._next() == "[":
                marks = 2 if text.startswith("[[", self._at) else 1
                row = self._row()
                self._at += marks
                table = self._key(())
                self.rows.setdefault(table, row)
                self._at += marks
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _row(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _skip(self, what: re.Pattern[str]) -> str:
        match = what.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at + 1
        return match[0] if match is not None else ""

    def _pair(self, table: Path) -> None:
        row = self._row()
        path = self._key(table)
        for length in range(len(table) + 1, len(path) + 1):
            self.rows.setdefault(path[:length], row)
        self._at += 1  # the sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self, table: Path) -> Path:
        path = table
        while True:
            self._skip(_SPACE)
            quoted = self._next() in ('"', "'")
            path = (*path, _unquoted(self._skip(_STRING)) if quoted else self._skip(_BARE_KEY))
            self._skip(_SPACE)
            if self._next() != ".":
                return path
            self._at += 1

    def _value(self, path: Path) -> None:
        start = self._next()
        if start in ('"', "'"):
            self._skip(_STRING)
        elif start in ("[", "{"):
            self._at += 1
            self._items(path, "]" if start == "[" else "}")
        else:
            self._skip(_SCALAR)

    def _items(self, path: Path, end: str) -> None:
        place = 0
        self._skip(_BLANK)
        while self._next() not in (end, ""):
            if self._next() == ",":
                self._at += 1
            elif end == "}":
                self._pair(path)
            else:
                item: Path = (*path, place)
                self.rows[item] = self._row()
                self._value(item)
                place += 1
            self._skip(_BLANK)
        self._at += 1


def _unquoted(text: str) -> str:
    if text.startswith("'"):
        return text[1:-1]
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])
