"""gradlint against the parse alone: the ratios of the budget table, all in one run.

    python benchmarks/parse_ratio.py [--sample N] [--repeat N] [--cache DIR]

Needs libcst (the yardstick; gradlint itself parses with `ast`) and the packages of `tests/ecosystem.py`. CPU seconds of
one process; each side is measured over the same files, alternating chunk by chunk, the garbage collector as it is.
Prints a table and ends with status 1 when a budget is exceeded.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from ecosystem_packages import cache_folder, packages  # noqa: E402
from gradlint.config import Settings  # noqa: E402
from gradlint.deep_stack import on_deep_stack  # noqa: E402
from gradlint.engine import judge_bytes, judge_file, project_for  # noqa: E402
from gradlint.gate import passes_gate  # noqa: E402
from gradlint.rule import rules_of_gradlint  # noqa: E402

ALL_FILES_BUDGET = 1.6
TAPE_FILES_BUDGET = 3.0
GATE_BUDGET = 1.5
START_BUDGET = 0.1
_CHUNK = 25
_TEN_TIMES = 10


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: float
    budget: float
    unit: str
    note: str

    @property
    def holds(self) -> bool:
        return self.measured <= self.budget


def main() -> int:
    options = _options()
    paths = [path for package in packages(cache_folder(options.cache)) for path in package.files()][:: options.sample]
    contents = {path: path.read_bytes() for path in paths}
    parsed = [path for path, data in contents.items() if passes_gate(data) and _libcst_can_parse(data)]
    with_tapes = [path for path in parsed if b"GradientTape(" in contents[path]]
    rules_of_gradlint()
    stopped = [path for path, data in contents.items() if not passes_gate(data) and not _is_judged(path)]
    print(f"{len(paths)} files; garbage collector {'on' if gc.isenabled() else 'off'}; Python {sys.version.split()[0]}")
    rows = [
        _against_libcst("files that pass the gate", parsed, contents, ALL_FILES_BUDGET, options.repeat),
        _against_libcst("files with tapes", with_tapes, contents, TAPE_FILES_BUDGET, options.repeat),
        _against_reading(stopped, options.repeat),
        _start("--version", options.repeat),
        _start("--help", options.repeat),
    ]
    for row in rows:
        verdict = "ok" if row.holds else "OVER"
        ratio = f"{row.measured:7.2f} {row.unit}  budget {row.budget:4.1f} {row.unit}"
        print(f"{row.what:28} {ratio}  {verdict:4}  {row.note}")
    return 0 if all(row.holds for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=1, help="every Nth file only")
    parser.add_argument("--repeat", type=int, default=1, help="measure N times, the smallest counts")
    parser.add_argument("--cache", help="the folder of the packages")
    return parser.parse_args()


def _is_judged(path: Path) -> bool:
    """Whether a script that names no TensorFlow is judged all the same, for the modules that it leads to."""
    settings = Settings()
    return on_deep_stack(judge_file, path, settings, project_for(settings)).parsed


def _libcst_can_parse(data: bytes) -> bool:
    try:
        libcst.parse_module(data)
    except (libcst.ParserSyntaxError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _against_libcst(what: str, paths: Sequence[Path], contents: dict[Path, bytes], budget: float, repeat: int) -> Row:
    settings = Settings()
    project = project_for(settings)

    def check(chunk: Sequence[Path]) -> None:
        for path in chunk:
            judge_bytes(contents[path], str(path), settings, project)

    def judge(chunk: Sequence[Path]) -> None:
        on_deep_stack(check, chunk)

    def parse(chunk: Sequence[Path]) -> None:
        for path in chunk:
            libcst.parse_module(contents[path])

    own, theirs = _alternating(paths, judge, parse, repeat)
    return Row(what, own / theirs, budget, "x", f"{own:.2f} s, libcst.parse_module {theirs:.2f} s, {len(paths)} files")


def _against_reading(paths: Sequence[Path], repeat: int) -> Row:
    settings = Settings()
    project = project_for(settings)

    def judge(chunk: Sequence[Path]) -> None:
        for path in chunk:
            judge_file(path, settings, project)

    def read(chunk: Sequence[Path]) -> None:
        for path in chunk:
            path.read_bytes()

    own, theirs = _alternating(paths, judge, read, max(repeat, 5))
    return Row("files stopped by the gate", own / theirs, GATE_BUDGET, "x", f"{own:.3f} s, reading {theirs:.3f} s")


def _alternating(
    paths: Sequence[Path], one: Callable[[Sequence[Path]], None], other: Callable[[Sequence[Path]], None], repeat: int
) -> tuple[float, float]:
    """CPU seconds of both over all chunks, the smallest of the repetitions of each chunk."""
    totals = [0.0, 0.0]
    for start in range(0, len(paths), _CHUNK):
        chunk = paths[start : start + _CHUNK]
        for i, run in enumerate((one, other)):
            totals[i] += min(_seconds(run, chunk) for _ in range(repeat))
    return totals[0], totals[1]


def _seconds(run: Callable[[Sequence[Path]], None], chunk: Sequence[Path]) -> float:
    gc.collect()
    start = time.process_time()
    run(chunk)
    return time.process_time() - start


def _start(option: str, repeat: int) -> Row:
    times = max(repeat, _TEN_TIMES)
    own = min(_child_seconds("-m", "gradlint", option) for _ in range(times))
    bare = min(_child_seconds("-c", "pass") for _ in range(times))
    return Row(f"gradlint {option}", own - bare, START_BUDGET, "s", f"{own:.3f} s, python -c pass {bare:.3f} s")


def _child_seconds(*arguments: str) -> float:
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
