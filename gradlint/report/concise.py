"""One line per finding: `path:row:column: severity CODE name: message`."""

from __future__ import annotations

from gradlint.report.contents import Report
from gradlint.report.pages import page_of_rule
from gradlint.report.paths import shown
from gradlint.report.style import Style
from gradlint.report.wording import located, message_of
from gradlint.rule import Finding
from gradlint.text import printable


def render(report: Report) -> str:
    """The lines of all findings, and the closing line."""
    return "".join(f"{header(finding, report.style)}\n" for finding in report.findings) + report.closing


def header(finding: Finding, style: Style) -> str:
    """The line that the full report starts a finding with, too."""
    place = finding.place
    severity = finding.severity.value if finding.severity else ""
    code = style.link(finding.code, page_of_rule(finding.code))
    return (
        f"{style.path(printable(shown(finding.filename)))}:{located(place)}:{place.column}: "
        f"{style.severity(f'{severity} {code}', finding.severity)} {finding.name}: {message_of(finding)}"
    )
