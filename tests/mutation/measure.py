"""What gradlint says about the mutants, and about the code that they were made from."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gradlint_command import Reported, check, gradlint
from mutation.edits import Mutant
from mutation.source import Source

COUNTED = frozenset(["error", "warning"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """A mutant, and the findings that count as having caught it."""

    mutant: Mutant
    caught_by: tuple[Reported, ...]


@dataclass(slots=True)
class Measured:
    """The answers of one run."""

    outcomes: list[Outcome] = field(default_factory=list)
    untouched: list[Reported] = field(default_factory=list)
    errors: str = ""


def measure(sources: Sequence[Source], mutants: Sequence[Mutant]) -> Measured:
    """One run of `gradlint check` over the untouched files and all mutants, as files of a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="gradlint-mutants-") as name:
        folder = Path(name)
        texts = {f"untouched_{i:04}.py": source for i, source in enumerate(sources)}
        broken = {f"{mutant.operator.replace('-', '_')}_{i:05}.py": mutant for i, mutant in enumerate(mutants)}
        for file, source in texts.items():
            (folder / file).write_bytes(source.text.encode())
        for file, mutant in broken.items():
            (folder / file).write_bytes(mutant.text.encode())
        run = check(folder)
        found: dict[str, list[Reported]] = defaultdict(list)
        for finding in run.findings:
            found[finding.path.name].append(finding)
    known = {source.name: _signs(found[file], source.text) for file, source in texts.items()}
    measured = Measured(errors="" if not run.crashed else run.errors or "gradlint reports an internal error (GL009)")
    for file, mutant in broken.items():
        measured.outcomes.append(Outcome(mutant, tuple(_catching(found[file], mutant, known[mutant.name]))))
    for file, source in texts.items():
        measured.untouched += [_named(finding, source.name) for finding in found[file] if finding.severity in COUNTED]
    return measured


def _named(finding: Reported, name: str) -> Reported:
    return Reported(Path(name), finding.code, finding.severity, finding.row, finding.end_row, finding.message)


def _signs(findings: Iterable[Reported], text: str) -> frozenset[tuple[str, str]]:
    lines = text.split("\n")
    return frozenset((finding.code, lines[finding.row - 1].strip()) for finding in findings)


def _catching(findings: Iterable[Reported], mutant: Mutant, known: frozenset[tuple[str, str]]) -> Iterable[Reported]:
    lines = mutant.text.split("\n")
    for finding in findings:
        touches = not mutant.rows.isdisjoint(range(finding.row, finding.end_row + 1))
        is_new = (finding.code, lines[finding.row - 1].strip()) not in known
        if finding.severity in COUNTED and finding.code[:3] != "GL0" and touches and is_new:
            yield finding


@dataclass(slots=True)
class Decided:
    """How many sources of the gradient calls have a verdict, and why the others have none."""

    sources: int = 0
    decided: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)


def decided_share(files: Sequence[Path]) -> Decided:
    """What `gradlint flow` says about each file."""
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda file: gradlint("flow", str(file), "--output-format", "json"), files))
    total = Decided()
    for file, run in zip(files, runs, strict=True):
        if run.status != 0:
            total.failed.append(f"{file}: {run.errors.strip().splitlines()[-1:]}")
            continue
        told = json.loads(run.output)
        calls = told if isinstance(told, list) else told.get("gradient_calls", told.get("gradients", []))
        for source in (source for call in calls for source in call["sources"]):
            total.sources += 1
            total.decided += source["verdict"] is not None
            if source["verdict"] is None:
                total.reasons[source.get("because") or "no reason given"] += 1
    return total
