"""What following imports costs: time against the same files with imports switched off, and memory by number of files.

    python benchmarks/imports.py [--files N] [--cache DIR] [--only PACKAGE,...]

Judges the packages of `tests/ecosystem.py`, or the first N files of the larger ones, whole trees at a time. CPU seconds
of one process; both sides judge the same files in turns. Peak memory is that of a process of its own for each number of
files. Ends with status 1 when the budget is exceeded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from ecosystem_packages import Package, cache_folder, packages  # noqa: E402
from gradlint.config import Settings  # noqa: E402
from gradlint.deep_stack import on_deep_stack  # noqa: E402
from gradlint.engine import judge_file, project_for  # noqa: E402
from gradlint.files.modules import ModuleFinder  # noqa: E402
from gradlint.flow.project import Project  # noqa: E402
from gradlint.rule import rules_of_gradlint  # noqa: E402

BUDGET = 1.25
_CHUNK = 25
_SIZES = (100, 300, 1000)


class NoModules(ModuleFinder):
    """Finds nothing: imports are switched off."""

    def absolute(self, name: str, importer: str) -> str | None:
        return None

    def relative(self, name: str, level: int, importer: str) -> str | None:
        return None


def main() -> int:
    options = _options()
    if options.memory:
        return _print_peak(options.memory)
    rules_of_gradlint()
    total = [0.0, 0.0]
    chosen = list(packages(cache_folder(options.cache), options.only))
    for package in chosen:
        seconds = on_deep_stack(_alternating, package, package.files()[: options.files])
        total = [before + now for before, now in zip(total, seconds, strict=True)]
        print(f"{package.name:32} {_ratio(seconds)}", flush=True)
    ratio = total[1] / total[0]
    print(f"{'all':32} {_ratio(total)}  budget {BUDGET}  {'ok' if ratio <= BUDGET else 'OVER'}")
    for count, peak in _peaks(chosen):
        print(f"peak memory of {count:5} files: {peak:5.0f} MB")
    return 0 if ratio <= BUDGET else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, help="the first N files of each package alone")
    parser.add_argument("--cache", help="the folder of the packages")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="these packages alone")
    parser.add_argument("--memory", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


def _ratio(seconds: Sequence[float]) -> str:
    return f"{seconds[1] / seconds[0]:5.2f} x   off {seconds[0]:6.2f} s, on {seconds[1]:6.2f} s"


def _alternating(package: Package, files: Sequence[Path]) -> list[float]:
    """Seconds without and with imports."""
    settings = Settings(root=package.folder)
    projects = [Project.found_by(NoModules()), project_for(settings)]
    seconds = [0.0, 0.0]
    for start in range(0, len(files), _CHUNK):
        for side, project in enumerate(projects):
            begin = time.process_time()
            for file in files[start : start + _CHUNK]:
                judge_file(file, settings, project)
            seconds[side] += time.process_time() - begin
    return seconds


def _peaks(chosen: Sequence[Package]) -> list[tuple[int, float]]:
    """Megabytes that a process takes for so many files, spread evenly over the packages."""
    every = [str(file) for package in chosen for file in package.files()]
    found = []
    for count in _SIZES:
        if count <= len(every):
            step = len(every) // count
            start = 0 if step < 2 else len(every) // 2 - count // 2
            files = every[start : start + count]
            command = [sys.executable, __file__, "--memory", os.devnull, *files]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append((count, float(done.stdout)))
    return found


def _print_peak(files: Sequence[str]) -> int:
    from gradlint.run import check_files

    check_files(files[1:], Settings(), 1, lambda _: None)
    # Not `ru_maxrss`, which begins with what the process that started this one took.
    status = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    print(int(status) / 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
