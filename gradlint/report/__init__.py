"""Reports: findings as text or data, one module per format. They know findings and nothing of how they were made.

Every `render` takes a `Report` and returns the whole text, ending in a line end, or "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gradlint.merging import FileResult
from gradlint.report import (
    concise,
    full,
    github,
    gitlab,
    grouped,
    json,
    json_lines,
    junit,
    markdown,
    pylint,
    sarif,
)
from gradlint.report.contents import Report
from gradlint.rule import Finding, Severity

Render = Callable[[Report], str]

REPORTS: dict[str, Render] = {
    "full": full.render,
    "concise": concise.render,
    "grouped": grouped.render,
    "json": json.render,
    "json-lines": json_lines.render,
    "sarif": sarif.render,
    "github": github.render,
    "gitlab": gitlab.render,
    "junit": junit.render,
    "pylint": pylint.render,
    "markdown": markdown.render,
}
#: The formats that end, or begin, with the closing line.
SUMMARISED = frozenset({"full", "concise", "grouped", "markdown"})


def findings_of(results: Iterable[FileResult]) -> list[Finding]:
    """All findings of a run, in order."""
    return [finding for result in results for finding in result.findings]


def summary(results: Sequence[FileResult], accepted: int = 0) -> str:
    """The closing line of the text formats; `accepted` findings stand in the baseline."""
    findings = findings_of(results)
    hidden = f" {not_shown(accepted)}" if accepted else ""
    if not findings:
        parsed = sum(result.parsed for result in results)
        passed = "No new findings." if accepted else "All checks passed."
        return f"{passed}{hidden} ({_count(len(results), 'file')}, {parsed} of them with TensorFlow or Keras)\n"
    numbers = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    parts = [_count(numbers[Severity.ERROR], "error"), _count(numbers[Severity.WARNING], "warning")]
    if numbers[Severity.INFO]:
        parts.append(_count(numbers[Severity.INFO], "hint"))
    return f"Found {_count(len(findings), 'finding')} ({', '.join(parts)}).{hidden}\n"


def not_shown(accepted: int) -> str:
    """One sentence about the findings that stand in the baseline."""
    return f"{_count(accepted, 'finding')} in the baseline {'is' if accepted == 1 else 'are'} not shown."


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
