"""A program's run and the static findings of its files, as one list of results: what `gradlint probe` reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradlint.config import Hierarchy, SettingsByFile
from gradlint.engine import excerpts_of
from gradlint.files.input_file import InputFile
from gradlint.fingerprints import folder_of_paths, scopes_of, with_fingerprints
from gradlint.flow.sources import ROWS, parse
from gradlint.merging import FileResult, check_file
from gradlint.probe.account import Account
from gradlint.probe.confirmation import rows_of
from gradlint.probe.findings import run_findings
from gradlint.probe.program import run_program
from gradlint.probe.sightings import Sightings
from gradlint.probe.statics import files_of, joined, judged_files
from gradlint.rule import Finding, Severity
from gradlint.run_rules import ABOUT_COMMENTS
from gradlint.suppress import apply_suppressions, may_hold_suppressions, read_suppressions
from gradlint.verdicts import Confirmation, Origin


@dataclass(slots=True)
class ProbeOutcome:
    """What the run and the code show together."""

    results: list[FileResult]
    account: Account
    status: int
    error: BaseException | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def has_findings(self) -> bool:
        """Any error or warning that the run made or confirmed?"""
        return any(
            finding.severity is not Severity.INFO and finding.confirmation is not Confirmation.NOT_REACHED
            for result in self.results
            for finding in result.findings
        )


def probe_program(
    target: str,
    arguments: Sequence[str],
    *,
    is_module: bool,
    run_only: bool = False,
    locate_in_graphs: bool = True,
    settings: SettingsByFile | None = None,
) -> ProbeOutcome:
    """Run the program, judge its files, join both."""
    folder = os.getcwd()
    files = [target] if os.path.isfile(target) else []
    settings = settings or Hierarchy()
    static = {name: check_file(name, settings.for_file(name)) for name in files}
    sightings = Sightings({name: _wanted_rows(result.findings) for name, result in static.items() if result.findings})
    run = run_program(target, arguments, is_module=is_module, sightings=sightings, locate_in_graphs=locate_in_graphs)
    found = run_findings(run.account)
    with suppress(OSError):
        os.chdir(folder)  # names are told as seen from where the run began
    known = {os.path.realpath(name) for name in static}
    others = [name for name in files_of(run.account) if os.path.realpath(name) not in known]
    static.update(judged_files(others, settings))
    findings = found if run_only else joined(found, static.values(), run.account, sightings)
    shown = {os.path.realpath(name): name for name in files}
    findings = [_renamed(finding, shown) for finding in findings]
    static = {_shown(name, shown): result for name, result in static.items()}
    return ProbeOutcome(
        list(_by_file(findings, settings, static)), run.account, run.status, run.error, list(run.account.notes)
    )


def _shown(name: str, known: dict[str, str]) -> str:
    """The file as the user named it, else as seen from the working folder when it lies in it."""
    real = os.path.realpath(name)
    if real in known:
        return known[real]
    relative = os.path.relpath(real)
    return name if relative.startswith("..") else relative


def _renamed(finding: Finding, known: dict[str, str]) -> Finding:
    steps = tuple(
        replace(step, filename=_shown(step.filename, known)) if step.filename else step for step in finding.trace
    )
    return replace(finding, filename=_shown(finding.filename, known), trace=steps)


def _wanted_rows(findings: Sequence[Finding]) -> set[int]:
    return {row for finding in findings for rows in rows_of(finding).values() for row in rows}


def _by_file(findings: Sequence[Finding], settings: SettingsByFile, static: dict[str, FileResult]) -> list[FileResult]:
    names = sorted({*static, *(finding.filename for finding in findings)})
    results = []
    for name in names:
        of_file = settings.for_file(name)
        selected = of_file.selected_in(name)
        here = [finding for finding in findings if finding.filename == name and finding.code in selected]
        text = _text(name)
        if may_hold_suppressions(text):
            of_run = [finding for finding in here if finding.origin is Origin.RUN]  # `check_file` did the others
            here = [finding for finding in here if finding.origin is not Origin.RUN]
            kept = apply_suppressions(of_run, read_suppressions(text, name), selected)
            here += [finding for finding in kept if finding.origin is Origin.RUN]
        here.sort(key=lambda finding: (finding.place.row, finding.place.column, finding.code))
        rows = excerpts_of(InputFile(name, text), [finding.place for finding in here])
        here = [replace(of_file.with_severity(finding), fingerprint=None) for finding in here]
        scopes = _scopes(text, [finding.place.row for finding in here])
        told = with_fingerprints(here, name, folder_of_paths(name, of_file), rows, scopes, ABOUT_COMMENTS)
        results.append(FileResult(name, told, (), rows, True))
    return results


def _scopes(text: str, rows: Sequence[int]) -> dict[tuple[int, int], str]:
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {(0, row): scope for row, scope in scopes_of(tree, rows, ROWS).items()}


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
