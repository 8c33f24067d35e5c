"""GitLab's Code Quality report: a list of issues, each with a fingerprint of its own."""

from __future__ import annotations

import json
from typing import Any

from gradlint.report.contents import Report
from gradlint.report.paths import from_checkout
from gradlint.report.wording import details_of, in_cell, message_of, severity_of
from gradlint.rule import Finding
from gradlint.text import without_surrogates

_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render(report: Report) -> str:
    """The list of all issues."""
    seen: set[str] = set()
    return json.dumps([_issue(finding, report.checkout, seen) for finding in report.findings], indent=2) + "\n"


def _issue(finding: Finding, checkout: str, seen: set[str]) -> dict[str, Any]:
    place = finding.place
    issue: dict[str, Any] = {
        "type": "issue",
        "check_name": finding.name,
        "description": f"{finding.code}: {in_cell(place, message_of(finding))}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[severity_of(finding)],
        "fingerprint": _unique(finding, seen),
        "location": {
            "path": without_surrogates(from_checkout(finding.filename, checkout)),
            "lines": {"begin": place.row, "end": place.end_row},
            "positions": {
                "begin": {"line": place.row, "column": place.column},
                "end": {"line": place.end_row, "column": place.end_column},
            },
        },
    }
    if details := list(details_of(finding)):
        issue["content"] = {"body": "".join(f"- {line}\n" for line in details)}
    return issue


def _unique(finding: Finding, seen: set[str]) -> str:
    """The fingerprint; GitLab shows one of those that are equal, so a second one is told from the first."""
    first = str(finding.fingerprint) if finding.fingerprint else f"{finding.filename}:{finding.code}"
    wanted, number = first, 1
    while wanted in seen:
        number += 1
        wanted = f"{first}-{number}"
    seen.add(wanted)
    return without_surrogates(wanted)
