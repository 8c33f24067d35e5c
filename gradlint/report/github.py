"""Workflow commands of GitHub Actions, which become annotations of the changed lines."""

from __future__ import annotations

from functools import partial

from gradlint.report.contents import Report
from gradlint.report.paths import from_checkout
from gradlint.report.wording import details_of, in_cell, message_of, severity_of, title_of
from gradlint.rule import Finding
from gradlint.text import printable

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report) -> str:
    """A command per finding, in the order of the run, after those about what could not be judged."""
    failures = (command("error", {"title": "gradlint"}, printable(str(failure))) for failure in report.failures)
    findings = (_command(finding, report.checkout) for finding in report.findings)
    return "".join(f"{line}\n" for line in (*failures, *findings))


def command(kind: str, properties: dict[str, str], message: str) -> str:
    """A workflow command; what would end a property or the command is escaped."""
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{kind} {told}::{_data(message)}"


def _command(finding: Finding, checkout: str) -> str:
    place = finding.place
    name_of = partial(from_checkout, checkout=checkout)
    filename = printable(name_of(finding.filename))
    at = {"line": place.row, "endLine": place.end_row}
    if place.row == place.end_row:  # GitHub refuses columns of a range over several lines
        at |= {"col": place.column, "endColumn": place.end_column}
    properties = {"title": title_of(finding), "file": filename, **{name: str(number) for name, number in at.items()}}
    # The log shows the message alone, so the place stands in it, too.
    first = f"{filename}:{place.row}:{place.column}: {in_cell(place, message_of(finding))}"
    return command(_COMMANDS[severity_of(finding)], properties, "\n".join([first, *details_of(finding, name_of)]))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
