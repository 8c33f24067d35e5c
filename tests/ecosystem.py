"""gradlint over public packages: no crash, no slow file, stable output, and true errors.

    python tests/ecosystem.py [--update] [--show] [--cache DIR] [--only PACKAGE,...]

The packages are pinned in `ecosystem_packages.py` and downloaded once. Every error and warning is judged by a person in
`ecosystem_judgements.json`; `--update` adds the new ones there, unjudged, and drops those that are gone. Ends with
status 1 on a crash, a file over the limit, unstable output, an unjudged finding, or too few true errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import judgements
from ecosystem_packages import ROOT, Package, cache_folder, packages
from gradlint_command import Reported, check
from judgements import Entry, Judgement, Sign

SLOWEST_ALLOWED = 10.0
LEAST_TRUE_ERRORS = 0.9
_JUDGED = ("error", "warning")


@dataclass(frozen=True, slots=True)
class PackageResult:
    """What the runs over one package showed."""

    package: Package
    lines: int
    files: int
    tape_files: int
    findings: tuple[Reported, ...]
    crash: str
    is_stable: bool
    slowest: tuple[float, str]

    @property
    def problems(self) -> list[str]:
        found = [self.crash] if self.crash else []
        if not self.is_stable:
            found.append("the output differs between --jobs 1 and --jobs 2")
        if self.slowest[0] > SLOWEST_ALLOWED:
            found.append(f"{self.slowest[1]} takes {self.slowest[0]:.1f} s")
        return [f"{self.package.name}: {problem}" for problem in found]


def main() -> int:
    options = _options()
    sys.path.insert(0, str(ROOT))  # for the processes of `_slowest`, where gradlint is not installed
    chosen = list(packages(cache_folder(options.cache), options.only))
    results = []
    for package in chosen:
        results.append(_judge(package))
        _print_package(results[-1])
    found = {entry.sign: (entry, severity) for result in results for entry, severity in _entries(result)}
    known = judgements.read()
    if options.update:
        names = {package.name for package in chosen}
        others = {sign: entry for sign, entry in known.items() if sign.package not in names}
        known = others | judgements.updated(known, (entry for entry, _ in found.values()))
        judgements.write(known)
    if options.show:
        _print_findings(results, known)
    problems = [problem for result in results for problem in result.problems]
    problems += _print_judgements(results, found, known)
    for problem in problems:
        print(f"FAILED {problem}")
    return 1 if problems else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--update", action="store_true", help="add new findings to the file of judgements")
    parser.add_argument("--show", action="store_true", help="print every error and warning with its judgement")
    parser.add_argument("--cache", help="the folder of the packages")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="these packages alone")
    return parser.parse_args()


def _judge(package: Package) -> PackageResult:
    files = package.files()
    first, second = check(package.folder, jobs=1), check(package.folder, jobs=2)
    crash = next((run.errors or f"exit status {run.status}" for run in (first, second) if run.crashed), "")
    return PackageResult(
        package,
        lines=sum(path.read_bytes().count(b"\n") for path in files),
        files=len(files),
        tape_files=len(package.tape_files()),
        findings=tuple(first.findings) if first.status in {0, 1} else (),
        crash=crash.strip(),
        is_stable=first.output == second.output,
        slowest=_slowest(package, files),
    )


def _slowest(package: Package, files: Sequence[Path]) -> tuple[float, str]:
    """The file that takes longest, each judged on its own, and its seconds."""
    with ProcessPoolExecutor(2) as pool:
        seconds = list(pool.map(_seconds, files, chunksize=16))
    longest, path = max(zip(seconds, files, strict=True))
    return longest, path.relative_to(package.folder).as_posix()


def _seconds(path: Path) -> float:
    from gradlint.config import Settings
    from gradlint.merging import check_file

    start = time.process_time()
    check_file(path, Settings())
    return time.process_time() - start


def _entries(result: PackageResult) -> list[tuple[Entry, str]]:
    return [
        (Entry(_sign(result.package, finding), message=finding.message), finding.severity)
        for finding in result.findings
        if finding.severity in _JUDGED
    ]


def _sign(package: Package, finding: Reported) -> Sign:
    rows = finding.path.read_bytes().decode("utf-8", "replace").split("\n")
    line = rows[finding.row - 1].strip() if finding.row <= len(rows) else ""
    return Sign(package.name, finding.path.relative_to(package.folder).as_posix(), finding.code, line)


def _print_package(result: PackageResult) -> None:
    by_severity = Counter(finding.severity for finding in result.findings)
    by_code = Counter(finding.code for finding in result.findings)
    severities = ", ".join(f"{number} {severity}" for severity, number in sorted(by_severity.items())) or "none"
    codes = ", ".join(f"{code} {number}" for code, number in sorted(by_code.items()))
    seconds, path = result.slowest
    print(f"{result.package.name}: {result.files} files ({result.tape_files} with tapes), {result.lines} lines")
    print(f"    findings: {severities}" + (f" ({codes})" if codes else ""))
    print(f"    slowest: {seconds:.2f} s {path}", flush=True)


def _print_findings(results: Sequence[PackageResult], known: dict[Sign, Entry]) -> None:
    for result in results:
        for finding in result.findings:
            if finding.severity in _JUDGED:
                sign = _sign(result.package, finding)
                entry = known.get(sign, Entry(sign))
                print(f"{finding.path}:{finding.row}: {finding.severity} {finding.code} {finding.message}")
                print(f"    {sign.line}")
                print(f"    {entry.judgement.value or 'unjudged'}  {entry.why}".rstrip())


def _print_judgements(
    results: Sequence[PackageResult], found: dict[Sign, tuple[Entry, str]], known: dict[Sign, Entry]
) -> list[str]:
    """The counts per severity, and what fails because of them."""
    signs = [_sign(r.package, f) for r in results for f in r.findings if f.severity in _JUDGED]
    counts = {severity: Counter[Judgement]() for severity in _JUDGED}
    for sign in signs:
        counts[found[sign][1]][known[sign].judgement if sign in known else Judgement.NONE] += 1
    for severity, count in counts.items():
        told = ", ".join(f"{count[each]} {each.value or 'unjudged'}" for each in Judgement)
        print(f"{severity}: {told}")
    lines = sum(result.lines for result in results)
    for kind in (Judgement.FALSE, Judgement.ARGUABLE):
        number = sum(count[kind] for count in counts.values())
        print(f"{kind.value}: {number} in {lines} lines, {1e5 * number / max(lines, 1):.2f} per 100,000")
    return list(_failures(counts))


def _failures(counts: dict[str, Counter[Judgement]]) -> list[str]:
    problems = []
    unjudged = sum(count[Judgement.NONE] for count in counts.values())
    if unjudged:
        problems.append(f"{unjudged} findings are not judged: run with --update, then fill in {judgements.FILE.name}")
    errors = counts["error"]
    judged = sum(errors[each] for each in Judgement if each is not Judgement.NONE)
    if judged and errors[Judgement.TRUE] / judged < LEAST_TRUE_ERRORS:
        problems.append(
            f"{errors[Judgement.TRUE]} of {judged} judged errors are true, fewer than {LEAST_TRUE_ERRORS:.0%}"
        )
    return problems


if __name__ == "__main__":
    sys.exit(main())
