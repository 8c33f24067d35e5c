"""Markdown for the comment of a pull request, or for $GITHUB_STEP_SUMMARY: a table, and the traces folded below it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from gradlint.report.contents import Report
from gradlint.report.paths import shown
from gradlint.report.wording import details_of, located, message_of, severity_of, title_of
from gradlint.rule import Finding
from gradlint.text import printable

#: What Markdown, its tables or HTML would read; at the start of a line, marks of lists and headings as well.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&$]|^[+=-])")
_CODE = re.compile(r"`([^`]+)`")


def render(report: Report) -> str:
    """The whole text."""
    return "".join(f"{line}\n" for line in _lines(report))


def table(heads: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A table of cells that are Markdown already."""
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def code(text: str) -> str:
    """The text as code, also in a table; a backtick in it does not end it, nor does a bar end the cell."""
    text = printable(text)
    if "|" in text:
        return f"<code>{_html(text)}</code>"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    inner = f" {text} " if longest or not text.strip() else text
    return f"{fence}{inner}{fence}"


def plain(text: str) -> str:
    """The text with nothing in it that Markdown or HTML would read; pairs of backticks stay code."""
    text = printable(text)
    written, at = "", 0
    for match in _CODE.finditer(text):
        written += _SPECIAL.sub(r"\\\1", text[at : match.start()]) + code(match[1])
        at = match.end()
    return written + _SPECIAL.sub(r"\\\1", text[at:])


def _lines(report: Report) -> Iterator[str]:
    yield "### gradlint"
    yield ""
    if report.closing:
        yield report.closing.rstrip("\n")
        yield ""
    if report.failures:
        yield from (f"- not judged: {plain(str(failure))}" for failure in report.failures)
        yield ""
    findings = report.findings
    if not findings:
        return
    yield from table(["severity", "place", "rule", "message"], [_row(finding) for finding in findings])
    yield ""
    for finding in findings:
        details = list(details_of(finding))
        if details:
            yield f"<details><summary>{html.escape(f'{_place(finding)}: {title_of(finding)}')}</summary>"
            yield ""
            yield from (f"- {plain(line)}" for line in details)
            yield ""
            yield "</details>"
            yield ""


def _row(finding: Finding) -> list[str]:
    rule = f"{finding.code} {plain(finding.name)}"
    return [severity_of(finding), code(_place(finding)), rule, plain(message_of(finding))]


def _place(finding: Finding) -> str:
    return f"{printable(shown(finding.filename))}:{located(finding.place)}:{finding.place.column}"


def _html(text: str) -> str:
    """Text in an HTML element inside Markdown: neither language reads anything in it."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
