"""A finding with its source line underlined, the trace that led there, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from gradlint.engine import shown_rows
from gradlint.merging import FileResult
from gradlint.report.concise import header, located
from gradlint.report.style import Style
from gradlint.rule import Finding, Place
from gradlint.text import printable

_TAB = "    "
_WIDEST = 140  # of a source line; a longer one is shown around the place
_BEFORE = 40


def render(results: Sequence[FileResult], style: Style) -> str:
    """All findings, a blank line after each."""
    return "".join(
        f"{line}\n" for result in results for finding in result.findings for line in _lines(finding, result, style)
    )


def _lines(finding: Finding, result: FileResult, style: Style) -> Iterator[str]:
    yield header(finding, style)
    for row in shown_rows(finding.place):
        if row is None:
            yield style.margin("      | ...")
        elif (text := result.excerpts.get((finding.place.cell, row))) is not None:
            yield from _excerpt(text, row, finding, style)
    for number, step in enumerate(finding.trace):
        label = "trace" if number == 0 else ""
        where = f" {printable(step.filename)}:{located(step.place)}" if step.filename else f" {located(step.place):>4}"
        yield f"   {style.help(f'{label:5}')}{where}  {printable(step.message)}"
    if finding.instead:
        yield f"   {style.help('instead')}  {printable(finding.instead)}"
    yield ""


def _excerpt(text: str, row: int, finding: Finding, style: Style) -> Iterator[str]:
    start, end = _columns(finding.place, row, text)
    shown = [_shown(char) for char in text]
    first = max(start - _BEFORE, 0) if sum(map(_width, shown)) > _WIDEST else 0
    last = first + _WIDEST if first or len(text) > _WIDEST else len(text)
    before = "…" if first else ""
    after = "…" if last < len(text) else ""
    line = before + "".join(shown[first:last]) + after
    yield f"{style.margin(f'{row:>5} |')} {line}".rstrip()
    indent = len(before) + sum(map(_width, shown[first:start]))
    carets = sum(map(_width, shown[start : min(end, last)]))
    marks = style.severity("^" * max(carets, 1), finding.severity)
    yield f"{style.margin('      |')} {' ' * indent}{marks}"


def _columns(place: Place, row: int, text: str) -> tuple[int, int]:
    """The part of this row that lies in the range, as indexes into its text; indentation is left out."""
    start = place.column - 1 if row == place.row else len(text) - len(text.lstrip())
    end = place.end_column - 1 if row == place.end_row else len(text.rstrip())
    start = min(start, len(text))
    return start, max(end, start)


def _shown(char: str) -> str:
    return _TAB if char == "\t" else printable(char)


def _width(shown: str) -> int:
    """How many columns of a terminal a shown character takes."""
    if len(shown) != 1 or shown.isascii():
        return len(shown)
    if unicodedata.combining(shown) or unicodedata.category(shown) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(shown) in ("W", "F") else 1
