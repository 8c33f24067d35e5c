"""A finding with its source line underlined, the trace that led there, and what to write instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from gradlint.engine import shown_rows
from gradlint.merging import FileResult
from gradlint.report.concise import header
from gradlint.report.contents import Report
from gradlint.report.paths import shown
from gradlint.report.style import Style
from gradlint.report.wording import located
from gradlint.rule import Finding, Place
from gradlint.text import printable

_TAB = "    "
_MARGIN = 8  # columns, of the number of a row and the bar behind it
_NARROWEST = 20  # columns that are left for a source line, however narrow the terminal is


def render(report: Report) -> str:
    """All findings, a blank line after each, and the closing line."""
    lines = (
        line
        for result in report.results
        for finding in result.findings
        for line in _lines(finding, result, report.style)
    )
    return "".join(f"{line}\n" for line in lines) + report.closing


def _lines(finding: Finding, result: FileResult, style: Style) -> Iterator[str]:
    yield header(finding, style)
    for row in shown_rows(finding.place):
        if row is None:
            yield style.margin("      | ...")
        elif (text := result.excerpts.get((finding.place.cell, row))) is not None:
            yield from _excerpt(text, row, finding, style)
    for number, step in enumerate(finding.trace):
        label = "trace" if number == 0 else ""
        place = located(step.place)
        where = f" {printable(shown(step.filename))}:{place}" if step.filename else f" {place:>4}"
        yield f"   {style.help(f'{label:5}')}{where}  {printable(step.message)}"
    if finding.instead:
        yield f"   {style.help('instead')}  {printable(finding.instead)}"
    yield ""


def _excerpt(text: str, row: int, finding: Finding, style: Style) -> Iterator[str]:
    start, end = _columns(finding.place, row, text)
    parts = [_shown(char) for char in text]
    widths = list(map(_width, parts))
    first, last = _window(widths, start, None if style.width is None else max(style.width - _MARGIN, _NARROWEST))
    before = "…" if first else ""
    after = "…" if last < len(text) else ""
    line = before + "".join(parts[first:last]) + after
    yield f"{style.margin(f'{row:>5} |')} {line}".rstrip()
    indent = len(before) + sum(widths[first:start])
    carets = sum(widths[start : min(end, last)])
    marks = style.severity("^" * max(carets, 1), finding.severity)
    yield f"{style.margin('      |')} {' ' * indent}{marks}"


def _window(widths: Sequence[int], start: int, room: int | None) -> tuple[int, int]:
    """The part of a line, as indexes, that is shown in this many columns: from a little before the start."""
    if room is None or sum(widths) <= room:
        return 0, len(widths)
    room -= 2  # for the marks of what is left out
    first, before = start, 0
    while first > 0 and before + widths[first - 1] <= room // 3:
        first -= 1
        before += widths[first]
    last, taken = first, 0
    while last < len(widths) and taken + widths[last] <= room:
        taken += widths[last]
        last += 1
    while first > 0 and taken + widths[first - 1] <= room:  # at the end of the line there is room again
        first -= 1
        taken += widths[first]
    return first, last


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
