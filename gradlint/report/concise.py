"""One line per finding: `path:row:column: severity CODE name: message`."""

from __future__ import annotations

from collections.abc import Sequence

from gradlint.merging import FileResult
from gradlint.report.style import Style
from gradlint.rule import Finding, Place
from gradlint.text import printable
from gradlint.verdicts import Confirmation

_OF_RUN = {
    Confirmation.CONFIRMED: " (confirmed by the run)",
    Confirmation.REFUTED: " (REFUTED by the run: a fault of gradlint, please report it)",
    Confirmation.NOT_REACHED: " (not reached by the run)",
}


def render(results: Sequence[FileResult], style: Style) -> str:
    """The lines of all findings."""
    return "".join(f"{header(finding, style)}\n" for result in results for finding in result.findings)


def located(place: Place) -> str:
    """The row, after the cell of a notebook."""
    return f"cell {place.cell}:{place.row}" if place.cell else str(place.row)


def header(finding: Finding, style: Style) -> str:
    """The line that every text report starts a finding with."""
    place = finding.place
    severity = finding.severity.value if finding.severity else ""
    return (
        f"{style.path(printable(finding.filename))}:{located(place)}:{place.column}: "
        f"{style.severity(f'{severity} {finding.code}', finding.severity)} {finding.name}: {printable(finding.message)}"
        f"{_OF_RUN[finding.confirmation] if finding.confirmation else ''}"
    )
