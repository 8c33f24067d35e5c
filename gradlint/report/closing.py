"""The closing lines of a report for people: how much was found, and how much of what was asked could be judged.

Silence is no approval: "All checks passed" stands there only where all was judged that has to do with gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradlint.flow_report import GradientDecision, commonest_reasons, decided_share, once, percent
from gradlint.merging import FileResult
from gradlint.rule import Finding, Severity

#: Files that could not be judged are named up to here.
_MOST_NAMED = 3


def findings_of(results: Iterable[FileResult]) -> list[Finding]:
    """All findings of a run, in order."""
    return [finding for result in results for finding in result.findings]


def summary(results: Sequence[FileResult], accepted: int = 0) -> str:
    """The closing lines of the text formats; `accepted` findings stand in the baseline."""
    findings = findings_of(results)
    decisions = decisions_of(results)
    hidden = f" {not_shown(accepted)}" if accepted else ""
    if findings:
        first = f"{_found(findings)}{hidden}"
    else:
        first = f"{_nothing_found(results, decisions, accepted)}{hidden} {_files(results)}"
    unjudged = [result.filename for result in results if result.in_part and not _is_told(result)]
    lines = [first, _unjudged(unjudged) if unjudged else "", share(decisions)]
    return "".join(f"{line}\n" for line in lines if line)


def decisions_of(results: Iterable[FileResult]) -> list[GradientDecision]:
    """What was decided of each gradient call of a run."""
    return [each for _, each in once((result.filename, each) for result in results for each in result.decisions)]


def share(decisions: Sequence[GradientDecision]) -> str:
    """Which share of the sources was decided, and why the rest was not; empty without a gradient call."""
    if not decisions:
        return ""
    decided, total = decided_share(decisions)
    of_all = f"{decided} of {_count(total, 'source')} ({percent(decided, total)}%)"
    line = f"Decided {of_all} in {_count(len(decisions), 'gradient call')}"
    reasons = [f"{reason} ({count})" for reason, count in commonest_reasons(decisions)]
    return f"{line}; undecided: {', '.join(reasons)}." if reasons else f"{line}."


def not_shown(accepted: int) -> str:
    """One sentence about the findings that stand in the baseline."""
    return f"{_count(accepted, 'finding')} in the baseline {'is' if accepted == 1 else 'are'} not shown."


def _found(findings: Sequence[Finding]) -> str:
    numbers = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    parts = [_count(numbers[Severity.ERROR], "error"), _count(numbers[Severity.WARNING], "warning")]
    if numbers[Severity.INFO]:
        parts.append(_count(numbers[Severity.INFO], "hint"))
    return f"Found {_count(len(findings), 'finding')} ({', '.join(parts)})."


def _nothing_found(results: Sequence[FileResult], decisions: Sequence[GradientDecision], accepted: int) -> str:
    decided, total = decided_share(decisions)
    none = "No new findings" if accepted else "No findings"
    if any(result.in_part for result in results):
        return f"{none} in what could be judged."
    if decided < total:
        return f"{none} in what was decided."
    if accepted:
        return f"{none}."
    return "All checks passed." if any(result.followed for result in results) else "Nothing to judge."


def _files(results: Sequence[FileResult]) -> str:
    parsed = sum(result.parsed for result in results)
    return f"({_count(len(results), 'file')}, {parsed} of them with TensorFlow or Keras)"


def _is_told(result: FileResult) -> bool:
    """Whether findings say that the file could not be judged as a whole."""
    from gradlint.run_rules import ALWAYS_SELECTED

    return any(finding.code in ALWAYS_SELECTED for finding in result.findings)


def _unjudged(names: Sequence[str]) -> str:
    from gradlint.text import printable

    named = ", ".join(map(printable, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")
    return f"{_count(len(names), 'file')} could not be judged, or not as a whole: {named}."


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
