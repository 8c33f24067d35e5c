"""The findings as JSON, in the shape of ruff's, with what gradlint knows beside: verdict, cause, variables, trace."""

from __future__ import annotations

import json
from typing import Any

from gradlint.report.contents import Report
from gradlint.report.pages import page_of_rule
from gradlint.rule import Finding, Place, Step


def render(report: Report) -> str:
    """A list with one object per finding."""
    return json.dumps([as_object(finding) for finding in report.findings], indent=2) + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """What is told of one finding. Files are named as the run was told them."""
    return {
        "code": finding.code,
        "message": finding.message,
        "filename": finding.filename,
        **_range(finding.place),
        "fix": None,
        "url": page_of_rule(finding.code),
        "name": finding.name,
        "severity": finding.severity.value if finding.severity else None,
        "cell": finding.place.cell or None,
        "verdict": finding.verdict.value if finding.verdict else None,
        "cause": finding.cause.value if finding.cause else None,
        "variables": list(finding.variables),
        "origin": finding.origin.value,
        "confirmation": finding.confirmation.value if finding.confirmation else None,
        "fingerprint": str(finding.fingerprint) if finding.fingerprint else None,
        "instead": finding.instead,
        "trace": [_step(step, finding.filename) for step in finding.trace],
    }


def _step(step: Step, filename: str) -> dict[str, Any]:
    return {
        "message": step.message,
        "filename": step.filename or filename,
        **_range(step.place),
        "cell": step.place.cell or None,
    }


def _range(place: Place) -> dict[str, Any]:
    return {
        "location": {"row": place.row, "column": place.column},
        "end_location": {"row": place.end_row, "column": place.end_column},
    }
