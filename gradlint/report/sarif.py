"""SARIF 2.1.0, which code scanning on GitHub and many viewers read: rules with their pages, traces as code flows.

Rows and columns of a notebook are those of the cell, which the message and the properties of a result name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from gradlint import __version__
from gradlint.report.contents import Report
from gradlint.report.pages import page_of_rule
from gradlint.report.paths import as_uri, from_checkout
from gradlint.report.wording import in_cell, message_of, severity_of
from gradlint.rule import Finding, Place
from gradlint.selection import find_rule
from gradlint.text import printable, without_surrogates

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
#: What GitHub sorts alerts by.
_KINDS = {"error": "error", "warning": "warning", "info": "recommendation"}
_PRECISIONS = {"error": "very-high", "warning": "high", "info": "medium"}
_FINGERPRINT = "gradlint/v1"
#: `[text](target)`, which viewers would show as a link.
_LINK = re.compile(r"\[(?=[^\]]*\]\()")


def render(report: Report) -> str:
    """One log with one run."""
    codes = sorted({finding.code for finding in report.findings})
    names = {finding.code: finding.name for finding in report.findings}
    run = {
        "tool": {
            "driver": {
                "name": "gradlint",
                "version": __version__,
                "rules": [_descriptor(code, names[code]) for code in codes],
            }
        },
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes, report.checkout) for finding in report.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": not report.failures, "exitCode": report.exit_code}
    if report.failures:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": _text(str(failure))}} for failure in report.failures
        ]
    return invocation


def _descriptor(code: str, name: str) -> dict[str, Any]:
    rule = find_rule(code)
    if rule is None:
        return {"id": code, "name": name}
    page = rule.page.strip()
    severity = rule.severity.value
    descriptor: dict[str, Any] = {
        "id": code,
        "name": name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _section(page, "What it does") or rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {
            "tags": ["correctness", "gradients"],
            "precision": _PRECISIONS[severity],
            "problem.severity": _KINDS[severity],
        },
    }
    if url := page_of_rule(code):
        descriptor["helpUri"] = url
    return descriptor


def _section(page: str, heading: str) -> str:
    """The text under a heading of a page, on one line."""
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    return " ".join(match[1].split()) if match else ""


def _result(finding: Finding, codes: Sequence[str], checkout: str) -> dict[str, Any]:
    message = in_cell(finding.place, message_of(finding))
    if finding.instead:
        message += f"\nInstead: {printable(finding.instead)}"
    location = _location(finding.filename, finding.place, checkout)
    if finding.fingerprint and finding.fingerprint.scope:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.fingerprint.scope}]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[severity_of(finding)],
        "message": {"text": _unlinked(message)},
        "locations": [location],
    }
    if finding.fingerprint:
        result["partialFingerprints"] = {_FINGERPRINT: str(finding.fingerprint)}
    if finding.trace:
        result["codeFlows"] = [{"threadFlows": [{"locations": list(_steps(finding, checkout))}]}]
    result["properties"] = _properties(finding)
    return result


def _steps(finding: Finding, checkout: str) -> list[dict[str, Any]]:
    return [
        {
            "location": {
                **_location(step.filename or finding.filename, step.place, checkout),
                "message": {"text": _text(in_cell(step.place, step.message))},
            }
        }
        for step in finding.trace
    ]


def _location(filename: str, place: Place, checkout: str) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": as_uri(from_checkout(filename, checkout))},
            "region": {
                "startLine": place.row,
                "startColumn": place.column,
                "endLine": place.end_row,
                "endColumn": place.end_column,
            },
        }
    }
    if place.cell:
        location["properties"] = {"cell": place.cell}
    return location


def _properties(finding: Finding) -> dict[str, Any]:
    told = {
        "name": finding.name,
        "origin": finding.origin.value,
        "verdict": finding.verdict.value if finding.verdict else None,
        "cause": finding.cause.value if finding.cause else None,
        "variables": [without_surrogates(each) for each in finding.variables] or None,
        "confirmation": finding.confirmation.value if finding.confirmation else None,
        "cell": finding.place.cell or None,
    }
    return {key: value for key, value in told.items() if value is not None}


def _text(text: str) -> str:
    return _unlinked(printable(text))


def _unlinked(text: str) -> str:
    return _LINK.sub(r"\\[", text)
