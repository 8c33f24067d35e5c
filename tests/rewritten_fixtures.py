"""All fixtures, rewritten and checked in one run: of which a verdict changed. For rewritings that keep the rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Set
from pathlib import Path

from fixtures_under_tensorflow import FIXTURES, expectations

Marks = set[tuple[int, str]]  # (row, code)


def differing(
    rewrite: Callable[[str], str], folder: Path, *, least: int = 1000, without: Set[str] = frozenset()
) -> dict[str, tuple[Marks, Marks]]:
    """What is lost and added, by program.

    Programs that expect one of the codes `without` are left out; a rewriting that changes fewer than `least` programs
    tests nothing.
    """
    wanted: dict[str, Marks] = {}
    for program in sorted(FIXTURES.rglob("*.py")):
        text = program.read_text(encoding="utf-8")
        made, marks = rewrite(text), expectations(text)
        if made == text or {code for _, code in marks} & without:
            continue
        name = program.relative_to(FIXTURES).as_posix()
        wanted[name] = marks
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(made, encoding="utf-8")
    assert len(wanted) >= least

    run = subprocess.run(
        [sys.executable, "-m", "gradlint", "check", "--isolated", "--output-format", "json", "."],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, Marks] = defaultdict(set)
    for finding in json.loads(run.stdout):
        found[Path(finding["filename"]).as_posix()].add((finding["location"]["row"], finding["code"]))
    return {name: (marks - found[name], found[name] - marks) for name, marks in wanted.items() if found[name] != marks}
