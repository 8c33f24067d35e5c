"""Lines in the shape of pylint's parseable output, `path:row: [CODE] message`, which many editors and CIs read."""

from __future__ import annotations

from gradlint.report.contents import Report
from gradlint.report.paths import shown
from gradlint.report.wording import located, message_of
from gradlint.text import printable


def render(report: Report) -> str:
    """A line per finding."""
    return "".join(
        f"{printable(shown(finding.filename))}:{located(finding.place)}: [{finding.code}] {message_of(finding)}\n"
        for finding in report.findings
    )
