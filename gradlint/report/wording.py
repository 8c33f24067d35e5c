"""What all reports say of a finding in the same words: its place, its message, the steps of its trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gradlint.report.paths import shown
from gradlint.rule import Finding, Place
from gradlint.text import printable
from gradlint.verdicts import Confirmation

_OF_RUN = {
    Confirmation.CONFIRMED: " (confirmed by the run)",
    Confirmation.REFUTED: " (REFUTED by the run: a fault of gradlint, please report it)",
    Confirmation.NOT_REACHED: " (not reached by the run)",
}
#: Characters that XML has no way to write, beside those that `printable` escapes.
_NOT_XML = re.compile("[\ufffe\uffff]")


def located(place: Place) -> str:
    """The row, after the cell of a notebook."""
    return f"cell {place.cell}:{place.row}" if place.cell else str(place.row)


def message_of(finding: Finding) -> str:
    """The message, on one line, with what a run said of it."""
    return printable(finding.message) + (_OF_RUN[finding.confirmation] if finding.confirmation else "")


def title_of(finding: Finding) -> str:
    """Code and name of the rule."""
    return f"{finding.code} {finding.name}"


def severity_of(finding: Finding) -> str:
    """The severity as a word; of a finding without, that of an error."""
    return finding.severity.value if finding.severity else "error"


def in_cell(place: Place, message: str) -> str:
    """The message for a report that has no field for the cell of a notebook."""
    return f"cell {place.cell}: {message}" if place.cell else message


def details_of(finding: Finding, name_of: Callable[[str], str] = shown) -> Iterator[str]:
    """The steps of the trace, each with its file as `name_of` names it, and what to write instead: a line each."""
    for step in finding.trace:
        where = printable(name_of(step.filename or finding.filename))
        yield f"{where}:{located(step.place)}: {printable(step.message)}"
    if finding.instead:
        yield f"instead: {printable(finding.instead)}"


def xml_text(text: str) -> str:
    """The text without characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", printable(text))
