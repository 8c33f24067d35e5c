"""The objects of the JSON report, one per line."""

from __future__ import annotations

import json

from gradlint.report.contents import Report
from gradlint.report.json import as_object


def render(report: Report) -> str:
    """A line per finding."""
    return "".join(f"{json.dumps(as_object(finding))}\n" for finding in report.findings)
