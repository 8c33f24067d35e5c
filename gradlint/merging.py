"""Merging: what was found while judging each file becomes one result per file, whatever the order of the files.

A finding stands where the change is to be made, which may be in another file than the one that was judged. When that
file is judged too, the finding is told there, once, however many files lead to it. When it is not, the finding stands
at the step of its trace in the judged file; unless that other file shows the same on its own: then it is its business.
The settings of the file that a finding stands in say whether its rule is on there, and how severe it is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradlint.config import Settings, SettingsByFile
from gradlint.engine import Judged, judge_bytes, judge_file, project_for
from gradlint.fingerprints import folder_of_paths, with_fingerprints
from gradlint.flow.project import Project
from gradlint.flow_report import GradientDecision
from gradlint.own_rules import rule_files, rules_under
from gradlint.rule import Finding, Severity, Step
from gradlint.run_rules import ABOUT_COMMENTS, INTERNAL_ERROR, UNUSED_SUPPRESSION
from gradlint.suppress import Suppressions, apply_suppressions, is_silenced

#: Of the files that lead to one cause, beside the first: so many are named in its trace.
_MOST_OTHERS = 3
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class FileResult:
    """What was found in one file; findings in the order row, column, code."""

    filename: str
    findings: tuple[Finding, ...] = ()
    decisions: tuple[GradientDecision, ...] = ()
    excerpts: dict[tuple[int, int], str] = field(default_factory=dict, hash=False)
    """The rows that the findings stand on, by cell (0 without) and row: the file may change or be standard input."""
    parsed: bool = False
    """False when the file stopped at the gate or could not be read."""
    withheld: frozenset[str] = frozenset()
    """Rules that would have had findings, had it been known that no file outside of the run shows otherwise."""
    in_part: bool = False
    """Whether it, or a part of it, could not be judged; with or without a finding that says so."""
    followed: bool = False
    """Whether it holds code that has to do with training, and was followed."""
    died: bool = False
    """Whether the process that judged it ended before it was done."""


def check_file(path: str | Path, settings: Settings) -> FileResult:
    """Judge one file: modules that it imports are read, and not judged."""
    project = project_for(settings)
    return merged([judge_file(path, settings, project)], settings)[0]


def check_bytes(data: bytes, filename: str, settings: Settings) -> FileResult:
    """Judge the bytes of one file."""
    return merged([judge_bytes(data, filename, settings, project_for(settings))], settings)[0]


def merged(judged: Sequence[Judged], settings: SettingsByFile, others: Sequence[Judged] = ()) -> list[FileResult]:
    """One result per judged file, in the same order. `others` get none: what they show of the judged files counts."""
    return _Merging(judged, settings, others).results()


class _Merging:
    def __init__(self, judged: Sequence[Judged], settings: SettingsByFile, others: Sequence[Judged]) -> None:
        self._judged = judged
        self._others = others
        self._settings = settings
        self._names = {os.path.abspath(each.filename): each.filename for each in judged}
        self._in_part = frozenset(each.filename for each in judged if each.in_part)
        self._excerpts: dict[str, dict[tuple[int, int], str]] = {}
        self._scopes: dict[str, dict[tuple[int, int], str]] = {}
        self._comments: dict[str, Suppressions] = {}
        self._alone: dict[str, Judged] = {}
        self._elsewhere: dict[str, list[Finding]] = {}
        self._projects: dict[Settings, Project] = {}
        for each in (*judged, *others):
            for (name, *at), text in each.excerpts.items():
                self._excerpts.setdefault(self._name(name), {})[at[0], at[1]] = text
            for (name, *at), scope in each.scopes.items():
                self._scopes.setdefault(self._name(name), {})[at[0], at[1]] = scope
            for name, comments in each.suppressions.items():
                self._comments.setdefault(self._name(name), comments)

    def results(self) -> list[FileResult]:
        by_file: dict[str, dict[tuple[object, ...], Finding]] = {each.filename: {} for each in self._judged}
        for each in sorted((*self._judged, *self._others), key=lambda each: each.filename):
            for finding in each.findings:
                renamed = self._renamed(finding)
                self._remember_steps(renamed)
                placed = self._placed(renamed)
                if placed is not None:
                    # Of the file that the cause stands in, wherever it is told.
                    placed = self._settings.for_file(renamed.filename).with_severity(placed)
                    found = by_file[placed.filename]
                    failure = placed.message if placed.code == INTERNAL_ERROR.code else ""  # all stand at the start
                    key = (placed.code, placed.place, renamed.filename, renamed.place, failure)
                    found[key] = _joined(found[key], placed) if key in found else placed
        return [self._result(each, list(by_file[each.filename].values())) for each in self._judged]

    def _result(self, judged: Judged, findings: list[Finding]) -> FileResult:
        settings = self._settings.for_file(judged.filename)
        known = set(findings)
        comments = self._comments.get(judged.filename)
        withheld: frozenset[str] = frozenset()

        def others_need() -> bool:
            nonlocal withheld
            if self._are_findings_missing(judged.filename):
                withheld = frozenset({UNUSED_SUPPRESSION.code})
            return bool(withheld)

        if comments is not None:
            findings = apply_suppressions(
                findings,
                replace(comments, filename=judged.filename).under(rules_under(rule_files(settings))),
                settings.selected_in(judged.filename),
                self._elsewhere.get(judged.filename, ()),
                others_need,
            )
        findings = [each if each in known else settings.with_severity(each) for each in findings]
        findings.sort(key=lambda finding: (*finding.place.order[:3], finding.code, finding.place.order))
        rows = self._excerpts.get(judged.filename, {})
        told = tuple(map(_with_short_names, self._stamped(findings, judged.filename)))
        return FileResult(
            judged.filename,
            told,
            judged.decisions,
            rows,
            judged.parsed,
            withheld,
            judged.in_part,
            judged.followed,
            judged.died,
        )

    def _stamped(self, findings: Sequence[Finding], filename: str) -> tuple[Finding, ...]:
        """Findings of one file, with their fingerprints."""
        rows, scopes = self._excerpts.get(filename, {}), self._scopes.get(filename, {})
        folder = folder_of_paths(filename, self._settings.for_file(filename))
        return with_fingerprints(findings, filename, folder, rows, scopes, ABOUT_COMMENTS)

    def _remember_steps(self, finding: Finding) -> None:
        """Note the finding as if it stood at each of its steps in other files."""
        for step in finding.trace:
            if step.filename != finding.filename:
                there = replace(finding, place=step.place, filename=step.filename)
                self._elsewhere.setdefault(step.filename, []).append(there)

    def _are_findings_missing(self, filename: str) -> bool:
        """Whether this file, or one of the project that imports it, was not judged as a whole."""
        if filename in self._in_part:
            return True
        project = self._project_of(self._settings.for_file(filename))
        importers = (self._names.get(path) for path in project.sources.importers(os.path.abspath(filename)))
        return any(name is None or name in self._in_part for name in importers)

    def _project_of(self, settings: Settings) -> Project:
        if settings not in self._projects:
            self._projects[settings] = project_for(settings)
        return self._projects[settings]

    def _is_on(self, code: str, filename: str) -> bool:
        """Whether a rule is on in a file."""
        return code in self._settings.for_file(filename).selected_in(filename)

    def _name(self, filename: str) -> str:
        """The file as the run names it."""
        return self._names.get(os.path.abspath(filename), filename)

    def _renamed(self, finding: Finding) -> Finding:
        trace = tuple(replace(step, filename=self._name(step.filename)) for step in finding.trace)
        return replace(finding, filename=self._name(finding.filename), trace=trace)

    def _is_named(self, filename: str) -> bool:
        return os.path.abspath(filename) in self._names

    def _placed(self, finding: Finding) -> Finding | None:
        """The finding in a file of the run; None where it is told elsewhere, or silenced or switched off."""
        if not self._is_on(finding.code, finding.filename):
            return None
        if self._is_named(finding.filename):
            return finding
        comments = self._comments.get(finding.filename)
        if comments is not None and is_silenced(finding, comments):
            return None
        alone = self._alone.get(finding.filename)
        if alone is None:
            settings = self._settings.for_file(finding.filename)
            alone = judge_file(finding.filename, settings, self._project_of(settings))
            self._alone[finding.filename] = alone
        if any(each.code == finding.code and each.place == finding.place for each in alone.findings):
            return None
        step = self._effect(finding)
        if step is None or not self._is_on(finding.code, step.filename):
            return None
        cause = Step("the cause stands here", finding.place, finding.filename)
        known = any(each.place == finding.place and each.filename == finding.filename for each in finding.trace)
        trace = finding.trace if known else (cause, *finding.trace)
        stamped = self._stamped([finding], finding.filename)[0]
        return replace(stamped, place=step.place, filename=step.filename, trace=trace)

    def _effect(self, finding: Finding) -> Step | None:
        """The step nearest to the cause in a file of the run: the call that leads there, or what comes of it."""
        at = next(
            (
                index
                for index, step in enumerate(finding.trace)
                if step.place == finding.place and step.filename == finding.filename
            ),
            0,
        )
        for step in reversed(finding.trace[:at]):
            if not step.message.endswith("called here"):
                break
            if self._is_named(step.filename):
                return step
        last = finding.trace[-1] if finding.trace else None
        return last if last is not None and self._is_named(last.filename) else None


def _joined(first: Finding, other: Finding) -> Finding:
    """One finding for two files that lead to the same cause: the more certain one, and where the other one ends."""
    if _ORDER[other.severity or Severity.ERROR] < _ORDER[first.severity or Severity.ERROR]:
        first, other = other, first
    ends = {(step.filename, step.place) for step in first.trace}
    last = other.trace[-1] if other.trace else None
    added = sum(step.message.startswith("also ") for step in first.trace)
    if last is None or (last.filename, last.place) in ends or added >= _MOST_OTHERS:
        return first
    if last.filename == first.filename and last.place == first.place:
        return first
    return replace(first, trace=(*first.trace, replace(last, message=f"also {last.message}")))


def _with_short_names(finding: Finding) -> Finding:
    """Steps name their file only where it is another one."""
    trace = tuple(replace(each, filename="") if each.filename == finding.filename else each for each in finding.trace)
    return replace(finding, trace=trace)
