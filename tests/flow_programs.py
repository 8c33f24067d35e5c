"""The programs of `tests/semantics/*.py`: one per cell, each with what `gradlint flow` and TensorFlow must say of it.

A file is a preamble and cells that open with `# %% title`; a program is the preamble and one cell. What a gradient
call asks for flows, unless a line says otherwise:

    # cut: CAUSE          this line starves a source
    # undecided: flows    TensorFlow lets the gradient asked here flow; the analysis may leave it open
    # undecided: none     TensorFlow gives None here; the analysis may leave it open
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support import Run

FOLDER = Path(__file__).with_name("semantics")
_CELL = re.compile(r"^# %% (.+)$", re.M)
_CUT = re.compile(r"# cut: ([a-z-]+)")
_UNDECIDED = re.compile(r"# undecided: (flows|none)")


@dataclass(frozen=True, slots=True)
class Program:
    """One cell with its preamble."""

    topic: str
    title: str
    preamble: str
    cell: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.title}"

    @property
    def text(self) -> str:
        return f"{self.preamble}\n\n{self.cell}\n"

    @property
    def cuts(self) -> set[tuple[int, str]]:
        """Rows and causes of what starves a source."""
        return set(_marks(_CUT, self.text))

    @property
    def undecided(self) -> set[int]:
        """Rows of gradient calls of which the analysis may say that it does not know."""
        return {row for row, _ in _marks(_UNDECIDED, self.text)}

    @property
    def starves(self) -> bool:
        return bool(self.cuts) or any(word == "none" for _, word in _marks(_UNDECIDED, self.text))


def _marks(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for row, line in enumerate(text.splitlines(), start=1):
        for match in pattern.finditer(line):
            yield row, match[1]


def all_programs() -> list[Program]:
    """Every program, by topic, in the order of the file."""
    return [program for path in sorted(FOLDER.glob("*.py")) for program in _programs(path)]


def _programs(path: Path) -> Iterator[Program]:
    preamble, *parts = _CELL.split(path.read_text(encoding="utf-8"))
    for title, cell in zip(parts[::2], parts[1::2], strict=True):
        yield Program(path.stem, title, preamble.strip(), cell.strip())


@dataclass(frozen=True, slots=True)
class Said:
    """What `gradlint flow` says of one source of one gradient call; `row` is that of the call, `cut` of the cut."""

    row: int
    source: str
    verdict: str
    cause: str = ""
    cut: int = 0


def flow(run: Run, text: str) -> list[Said]:
    """`gradlint flow` on a program."""
    run.write("program.py", text)
    outcome = run("flow", "program.py", "--output-format", "json")
    assert outcome.exit_code == 0, outcome.stderr
    return [_said(call, source) for call in json.loads(outcome.stdout)["gradient_calls"] for source in call["sources"]]


def _said(call: dict[str, dict[str, int]], source: dict[str, object]) -> Said:
    row, name = call["location"]["row"], str(source["source"])
    match source:
        case {"verdict": None}:
            return Said(row, name, "unknown")
        case {"verdict": str(verdict), "cause": str(cause), "location": {"row": int(cut)}}:
            return Said(row, name, verdict, cause, cut)
    return Said(row, name, str(source["verdict"]))
