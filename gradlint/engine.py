"""One file from bytes to findings: gate -> parse -> flow -> rules -> suppressions.

`check_file` is pure and picklable: no state outlives a call, nothing is printed, and whatever a file holds, the
answer is a `FileResult`. Runs over many files are `run.py`'s business.
"""

from __future__ import annotations

import ast
import gc
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from gradlint.config import Settings
from gradlint.deep_stack import on_deep_stack
from gradlint.files.input_file import InputFile, UnreadableText, decode
from gradlint.flow import FlowResult, analyse
from gradlint.flow.events import SourcesStarved, TermStarved
from gradlint.flow_report import GradientDecision
from gradlint.gate import passes_gate
from gradlint.rule import Finding, Place, Rule, all_rules
from gradlint.run_rules import internal_error, stamped, syntax_error, too_deep, unreadable
from gradlint.selection import selected_codes
from gradlint.suppress import apply_suppressions, may_hold_suppressions, read_suppressions

#: A range of more rows than this is shown by its first and last ones.
EXCERPT_ROWS = 5


@dataclass(frozen=True, slots=True)
class FileResult:
    """What `check_file` found in one file; findings in the order row, column, code."""

    filename: str
    findings: tuple[Finding, ...] = ()
    decisions: tuple[GradientDecision, ...] = ()
    excerpts: dict[int, str] = field(default_factory=dict, hash=False)
    """The rows of the file that the findings stand on, for reports: the file may change or be standard input."""
    parsed: bool = False
    """False when the file stopped at the gate or could not be read."""


def check_file(path: str | Path, settings: Settings) -> FileResult:
    """Judge the file at this path."""
    filename = str(path)
    try:
        # Unbuffered, and no Path: for the many files that stop at the gate this is most of the cost.
        with open(path, "rb", buffering=0) as file:
            data = file.readall()
    except FileNotFoundError:
        is_link = Path(path).is_symlink()
        return FileResult(filename, (unreadable("broken symbolic link" if is_link else "no such file", filename),))
    except (OSError, ValueError) as error:
        words = (getattr(error, "strerror", None) or str(error)).lower()
        return FileResult(filename, (unreadable(words, filename),))
    return check_bytes(data, filename, settings)


def check_bytes(data: bytes, filename: str, settings: Settings) -> FileResult:
    """Judge the bytes of a file."""
    if not passes_gate(data):
        return FileResult(filename)
    try:
        file = decode(data, filename)
    except UnreadableText as error:
        finding = unreadable(error.message, filename, error.place, error.instead)
        selected = selected_codes(settings.select, settings.ignore)
        return FileResult(filename, (finding,) if finding.code in selected else ())
    return on_deep_stack(_judge, file, settings)


def _judge(file: InputFile, settings: Settings) -> FileResult:
    selected = selected_codes(settings.select, settings.ignore)
    findings, decisions, parsed = _findings(file, settings, selected)
    findings = [finding for finding in _distinct(findings) if finding.code in selected]
    if may_hold_suppressions(file.text):
        findings = apply_suppressions(findings, read_suppressions(file.text, file.filename), selected)
    findings.sort(key=lambda finding: (finding.place.row, finding.place.column, finding.code, finding.place))
    return FileResult(file.filename, tuple(findings), decisions, excerpts_of(file.text, findings), parsed)


def _findings(
    file: InputFile, settings: Settings, selected: frozenset[str]
) -> tuple[list[Finding], tuple[GradientDecision, ...], bool]:
    """What rules say about the file, or the one finding that says why they could not."""
    with _without_garbage_collection():
        try:
            tree = _parse(file.text)
        except SyntaxError as error:
            return [syntax_error(error, file.filename)], (), False
        except (RecursionError, MemoryError):
            return [too_deep(file.filename)], (), False
        except ValueError as error:  # what older Pythons raise where newer ones raise SyntaxError
            return [syntax_error(SyntaxError(str(error)), file.filename)], (), False
        try:
            flow = analyse(tree, file.text, settings)
        except (RecursionError, MemoryError):
            return [too_deep(file.filename)], (), True
        except Exception as error:
            return [internal_error("the flow analysis", error, file.filename)], (), True
        return list(_apply_rules(flow, file.filename, selected)), tuple(flow.decisions), True


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():  # about the judged code (invalid escapes): not for our standard error
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _apply_rules(flow: FlowResult, filename: str, selected: frozenset[str]) -> Iterator[Finding]:
    takers = _rules_by_event(selected)
    for event in flow.events:
        for rule in takers.get(type(event), ()):
            assert rule.decide is not None
            try:
                finding = rule.decide(event)
            except Exception as error:
                yield internal_error(f"the rule {rule.code} ({rule.name})", error, filename)
                continue
            if finding is not None:
                yield stamped(rule, _explained(finding, event), filename)


def _explained(finding: Finding, event: object) -> Finding:
    """The finding with the verdict, the cause and the sources of its event, where the rule left them to it."""
    if not isinstance(event, SourcesStarved | TermStarved):
        return finding
    return replace(
        finding,
        verdict=finding.verdict or event.verdict,
        cause=finding.cause or event.cut.cause,
        variables=finding.variables or tuple(source.name for source in event.sources),
    )


@lru_cache(maxsize=8)
def _rules_by_event(selected: frozenset[str]) -> dict[type, list[Rule]]:
    takers: dict[type, list[Rule]] = {}
    for rule in all_rules():
        if rule.event is not None and rule.code in selected:
            takers.setdefault(rule.event, []).append(rule)
    return takers


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    """The first finding per rule and place."""
    first: dict[tuple[str, Place], Finding] = {}
    for finding in findings:
        first.setdefault((finding.code, finding.place), finding)
    return list(first.values())


def excerpts_of(text: str, findings: Sequence[Finding]) -> dict[int, str]:
    """The rows that reports of these findings show, by number."""
    if not findings:
        return {}
    lines = text.split("\n")
    return {
        row: lines[row - 1]
        for finding in findings
        for row in shown_rows(finding.place)
        if row is not None and row <= len(lines)
    }


def shown_rows(place: Place) -> list[int | None]:
    """The rows of a range that a report shows, None where it leaves some out."""
    rows = range(place.row, place.end_row + 1)
    if len(rows) <= EXCERPT_ROWS:
        return list(rows)
    return [*rows[:2], None, rows[-1]]


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Trees and values are many and live until the file is done: looking for garbage among them is wasted."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
