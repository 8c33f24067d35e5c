"""GitLab's Code Quality report: a list of issues, each with a fingerprint of its own."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import Any

from gradlint.report.contents import Failure, Report
from gradlint.report.paths import from_checkout
from gradlint.report.wording import details_of, in_cell, message_of, severity_of
from gradlint.rule import Finding, Place
from gradlint.run_rules import START
from gradlint.text import printable, without_surrogates

_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render(report: Report) -> str:
    """The list of all issues, those about what could not be judged first: without them, all would seem to be fixed."""
    seen: set[str] = set()
    issues = [_failure(failure, report.checkout) for failure in report.failures]
    issues += [_issue(finding, report.checkout, seen) for finding in report.findings]
    return json.dumps(issues, indent=2) + "\n"


def _failure(failure: Failure, checkout: str) -> dict[str, Any]:
    path = without_surrogates(from_checkout(failure.path, checkout))
    return {
        "type": "issue",
        "check_name": "gradlint",
        "description": printable(f"{failure.reason}: not judged"),
        "categories": ["Bug Risk"],
        "severity": "blocker",
        "fingerprint": hashlib.sha256(f"not judged: {path}".encode()).hexdigest(),
        "location": _location(path, START),
    }


def _issue(finding: Finding, checkout: str, seen: set[str]) -> dict[str, Any]:
    name_of = partial(from_checkout, checkout=checkout)
    issue: dict[str, Any] = {
        "type": "issue",
        "check_name": finding.name,
        "description": f"{finding.code}: {in_cell(finding.place, message_of(finding))}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[severity_of(finding)],
        "fingerprint": _unique(finding, seen),
        "location": _location(without_surrogates(name_of(finding.filename)), finding.place),
    }
    if details := list(details_of(finding, name_of)):
        issue["content"] = {"body": "".join(f"- {line}\n" for line in details)}
    return issue


def _location(path: str, place: Place) -> dict[str, Any]:
    return {
        "path": path,
        "lines": {"begin": place.row, "end": place.end_row},
        "positions": {
            "begin": {"line": place.row, "column": place.column},
            "end": {"line": place.end_row, "column": place.end_column},
        },
    }


def _unique(finding: Finding, seen: set[str]) -> str:
    """The fingerprint; GitLab shows one of those that are equal, so a second one is told from the first."""
    first = str(finding.fingerprint) if finding.fingerprint else f"{finding.filename}:{finding.code}"
    wanted, number = first, 1
    while wanted in seen:
        number += 1
        wanted = f"{first}-{number}"
    seen.add(wanted)
    return without_surrogates(wanted)
