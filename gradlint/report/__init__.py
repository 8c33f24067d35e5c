"""Reports: findings as text or data, one module per format. They know findings and nothing of how they were made.

Every `render` takes the results in the order of the run and returns the whole report, ending in a line end, or "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gradlint.merging import FileResult
from gradlint.report import concise, full, json
from gradlint.report.style import Style
from gradlint.rule import Finding, Severity

Render = Callable[[Sequence[FileResult], Style], str]

REPORTS: dict[str, Render] = {
    "full": full.render,
    "concise": concise.render,
    "json": json.render,
}


def findings_of(results: Iterable[FileResult]) -> list[Finding]:
    """All findings of a run, in order."""
    return [finding for result in results for finding in result.findings]


def summary(results: Sequence[FileResult]) -> str:
    """The closing line of the text formats."""
    findings = findings_of(results)
    if not findings:
        parsed = sum(result.parsed for result in results)
        files = _count(len(results), "file")
        return f"All checks passed. ({files}, {parsed} of them with TensorFlow or Keras)\n"
    numbers = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    parts = [_count(numbers[Severity.ERROR], "error"), _count(numbers[Severity.WARNING], "warning")]
    if numbers[Severity.INFO]:
        parts.append(_count(numbers[Severity.INFO], "hint"))
    return f"Found {_count(len(findings), 'finding')} ({', '.join(parts)}).\n"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
