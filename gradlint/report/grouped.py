"""The findings under the name of their file: `row:column severity CODE name: message`."""

from __future__ import annotations

from collections.abc import Iterator

from gradlint.merging import FileResult
from gradlint.report.contents import Report
from gradlint.report.pages import page_of_rule
from gradlint.report.paths import shown
from gradlint.report.style import Style
from gradlint.report.wording import located, message_of
from gradlint.text import printable


def render(report: Report) -> str:
    """A block per file that has findings, a blank line after each, and the closing line."""
    lines = (line for result in report.results if result.findings for line in _block(result, report.style))
    return "".join(f"{line}\n" for line in lines) + report.closing


def _block(result: FileResult, style: Style) -> Iterator[str]:
    yield f"{style.path(printable(shown(result.filename)))}:"
    places = [f"{located(finding.place)}:{finding.place.column}" for finding in result.findings]
    width = max(map(len, places))
    for place, finding in zip(places, result.findings, strict=True):
        severity = finding.severity.value if finding.severity else ""
        code = style.link(finding.code, page_of_rule(finding.code))
        told = style.severity(f"{severity:7} {code}", finding.severity)
        yield f"  {place:>{width}}  {told} {finding.name}: {message_of(finding)}"
    yield ""
