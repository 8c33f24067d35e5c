"""Edits: text put into files that were judged, everything else in them left as it is, byte by byte.

Of a notebook, the strings of the cells' sources change and nothing else of its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradlint.files.input_file import encoding_of

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"[ \t\r\n]*")
_READ = json.JSONDecoder(strict=False).raw_decode
_ESCAPED = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.S)


class CannotEdit(Exception):
    """A file cannot be changed: the words of a message."""


@dataclass(frozen=True, slots=True, order=True)
class Insertion:
    """Text to put into a file. A `\\n` in it becomes the line end of the file."""

    cell: int
    row: int
    column: int
    """From 0, in characters."""
    text: str


def edited_script(data: bytes, insertions: Sequence[Insertion]) -> bytes:
    """The bytes of a script with the text put in.

    Raises:
        CannotEdit: the encoding of the file does not have the text, or does not give back what was read.
    """
    encoding = encoding_of(data)
    text = data.decode(encoding)
    if text.encode(encoding) != data:
        raise CannotEdit(f"its encoding {encoding} does not write what it reads")
    edited = _with_insertions(text, insertions)
    try:
        return edited.encode(encoding)
    except UnicodeEncodeError as error:
        raise CannotEdit(f"its encoding {encoding} has no {error.object[error.start]!r}") from error


def edited_notebook(data: bytes, insertions: Sequence[Insertion]) -> bytes:
    """The bytes of a notebook with the text put into the sources of its cells.

    Raises:
        CannotEdit: the sources are not found in the JSON.
    """
    text = data.decode("utf-8")
    start = 1 if text.startswith("\ufeff") else 0
    by_cell: dict[int, list[Insertion]] = {}
    for each in insertions:
        by_cell.setdefault(each.cell, []).append(each)
    changes: list[tuple[int, str]] = []
    try:
        for number, source in enumerate(_sources(text, start), 1):
            changes += [source.change(each) for each in by_cell.pop(number, ())]
    except (ValueError, LookupError, AssertionError) as error:
        raise CannotEdit("its cells are not where they are expected") from error
    if by_cell:
        raise CannotEdit("its cells are not where they are expected")
    edited = text
    for at, put in sorted(changes, key=lambda change: change[0], reverse=True):
        edited = edited[:at] + put + edited[at:]
    return edited.encode("utf-8")


def _with_insertions(text: str, insertions: Sequence[Insertion]) -> str:
    """The text of a script or a cell with the text put in; those of one place in their order."""
    ends = list(_LINE_END.finditer(text))
    starts = [0, *(end.end() for end in ends)]
    edited = text
    for each in sorted(insertions, reverse=True):
        row = each.row - 1
        line_end = ends[min(row, len(ends) - 1)][0] if ends else "\n"
        at = starts[row] + each.column
        edited = edited[:at] + each.text.replace("\n", line_end) + edited[at:]
    return edited


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of a cell in the JSON of its notebook: the spans of its strings, quotes left out."""

    json: str
    strings: tuple[tuple[int, int], ...]

    def change(self, insertion: Insertion) -> tuple[int, str]:
        """Where in the JSON to put what."""
        text = insertion.text
        row, column = 1, 0
        for place, (start, end) in enumerate(self.strings):
            for at, char in self._chars(start, end):
                if (row, column) == (insertion.row, insertion.column):
                    if text.endswith("\n") and at == start and self._follows_string(place):
                        return start - 1, f"{json.dumps(text, ensure_ascii=False)},{self._gap(place)}"
                    return at, json.dumps(text, ensure_ascii=False)[1:-1]
                row, column = (row + 1, 0) if char == "\n" else (row, column + len(char))
        if (row, column) == (insertion.row, insertion.column) and self.strings:
            return self.strings[-1][1], json.dumps(text, ensure_ascii=False)[1:-1]
        raise CannotEdit("its cells are not where they are expected")

    def _chars(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Each character of a string, and where it begins in the JSON; line ends as `InputFile` has them."""
        found = list(_ESCAPED.finditer(self.json, start, end))
        chars = [each[0] if len(each[0]) == 1 else json.loads(f'"{each[0]}"') for each in found]
        for match, char, following in zip(found, chars, [*chars[1:], ""], strict=True):
            line_end = "" if following == "\n" else "\n"
            yield match.start(), line_end if char == "\r" else char

    def _follows_string(self, place: int) -> bool:
        """Whether the source is a list of strings, a line each, as Jupyter writes it."""
        return len(self.strings) > 1 or self.json[: self.strings[place][0] - 1].rstrip().endswith("[")

    def _gap(self, place: int) -> str:
        """What stands between the strings of the list."""
        if place + 1 < len(self.strings):
            between = self.json[self.strings[place][1] + 1 : self.strings[place + 1][0] - 1]
        elif place > 0:
            between = self.json[self.strings[place - 1][1] + 1 : self.strings[place][0] - 1]
        else:
            opened = self.json.rindex("[", 0, self.strings[0][0])
            return self.json[opened + 1 : self.strings[0][0] - 1]
        return between.partition(",")[2]


def _sources(text: str, start: int) -> Iterator[_Source]:
    """The sources of all cells, in order: those that are no code hold a place in the numbers too."""
    content = dict(_members(text, _BLANK.match(text, start).end()))  # type: ignore[union-attr]
    if "cells" in content:
        arrays = [content["cells"]]
    else:
        sheets = [dict(_members(text, at)) for at in _elements(text, content["worksheets"])]
        arrays = [sheet["cells"] for sheet in sheets if "cells" in sheet]
    for array in arrays:
        for cell in _elements(text, array):
            members = dict(_members(text, cell)) if text[cell] == "{" else {}
            at = members.get("source", members.get("input"))
            yield _Source(text, tuple(_strings(text, at)) if at is not None else ())


def _strings(text: str, at: int) -> Iterator[tuple[int, int]]:
    for start in _elements(text, at) if text[at] == "[" else [at]:
        if text[start] == '"':
            yield start + 1, _READ(text, start)[1] - 1


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The keys of an object, and where their values begin."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _READ(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _after(text, at)


def _elements(text: str, at: int) -> Iterator[int]:
    """Where the elements of an array begin."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        at = _after(text, at)


def _after(text: str, at: int) -> int:
    """Behind the value that begins here, and the comma after it."""
    at = _skip(text, _READ(text, at)[1])
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None
    return match.end()
