"""From the bytes of a file to its text: encoding (PEP 263), byte order mark, line ends.

What cannot be read becomes an `UnreadableText` with the place and the words; nothing here knows rules.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from bisect import bisect_right
from dataclasses import dataclass

from gradlint.rule import Place


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell of a notebook: its number among all cells, from 1, and the row of the text that it begins at.

    `source` is as its author wrote it, `text` the Python of it, row by row.
    """

    number: int
    first_row: int
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to judge. Line ends in `text` are `\\n`, so rows are those of `text.split("\\n")`.

    Of a notebook, `text` is that of its code cells; of a page or docstring, its code: `written` is all of it then, and
    `indents` says which rows stand how many columns further to the right.
    """

    filename: str
    text: str
    cells: tuple[Cell, ...] = ()
    written: str = ""
    indents: tuple[tuple[int, int], ...] = ()

    def located(self, row: int) -> tuple[int, int]:
        """The cell (0 where there are none) and the row in it of a row of the text."""
        if not self.cells:
            return 0, row
        cell = self.cells[max(bisect_right(self.cells, row, key=lambda each: each.first_row) - 1, 0)]
        return cell.number, row - cell.first_row + 1

    def row_of(self, place: Place) -> int:
        """The row of the text that a place begins in."""
        first = next((cell.first_row for cell in self.cells if cell.number == place.cell), 1)
        return first + place.row - 1

    def rows(self, cell: int) -> list[str]:
        """The rows of a cell, or of the whole file, as they are written."""
        if not cell:
            return (self.written or self.text).split("\n")
        return next((each.source.split("\n") for each in self.cells if each.number == cell), [])


class UnreadableText(Exception):
    """The bytes are no text in the encoding of the file."""

    def __init__(self, message: str, place: Place, instead: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.instead = instead


def decode(data: bytes, filename: str) -> InputFile:
    """The input file with these bytes.

    Raises:
        UnreadableText: null bytes, an unknown encoding, or bytes that the encoding does not have.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
        raise UnreadableText(
            "UTF-16 or UTF-32, which Python does not read", Place(1, 1, 1, 2), "save the file as UTF-8"
        )
    if (null := data.find(b"\0")) >= 0:
        raise UnreadableText("null byte: this is not a text file", _place_of(data, null))
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(data, error.start, encoding) from error
    except (LookupError, UnicodeError, ValueError) as error:
        raise UnreadableText(f"unknown encoding: {encoding}", Place(1, 1, 1, 1)) from error
    return InputFile(filename, _with_plain_line_ends(text))


def _with_plain_line_ends(text: str) -> str:
    """The text as CPython's tokenizer sees it: `\\r\\n` and a lone `\\r` end a line just as `\\n` does."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def encoding_of(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        # Also raised for bytes in the first two lines that are not UTF-8: then say which byte.
        if "unknown encoding" not in str(error):
            return "utf-8"
        raise UnreadableText(f"{error}", Place(1, 1, 1, 1), "name a text encoding that Python knows") from error


def _undecodable(data: bytes, start: int, encoding: str) -> UnreadableText:
    is_utf8 = encoding.startswith("utf-8")
    return UnreadableText(
        f"byte 0x{data[start]:02x} is not {'UTF-8' if is_utf8 else encoding}",
        _place_of(data, start),
        "save the file as UTF-8, or name its encoding in the first line (`# coding: latin-1`)" if is_utf8 else None,
    )


def _place_of(data: bytes, at: int) -> Place:
    row = data.count(b"\n", 0, at) + 1
    line = data[data.rfind(b"\n", 0, at) + 1 : at]
    column = len(line.decode("utf-8", "replace")) + 1
    return Place(row, column, row, column + 1)
