"""The verbs in which tests tell what gradlint does: run, check, codes, moved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from gradlint.cli.main import main
from gradlint.config import Settings
from gradlint.merging import check_bytes
from gradlint.rule import Finding, Place, Step

ROOT = Path(__file__).resolve().parent.parent

#: The loss is computed on line 3, before the tape opens: GL101.
FAULTY = """\
import tensorflow as tf
w = tf.Variable(1.0)
loss = w * w
with tf.GradientTape() as tape: pass
g = tape.gradient(loss, w)
"""
CLEAN = """\
import tensorflow as tf
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = w * w
g = tape.gradient(loss, w)
"""
#: GL001 on line 2, whatever the rules are.
BROKEN = "import tensorflow as tf\nx = (\n"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Of a run with `--output-format json`."""
        found = json.loads(self.stdout)
        assert isinstance(found, list)
        return found


@dataclass(frozen=True)
class Run:
    """The command line, in this process, as seen from a folder: `run("check", "a.py")`."""

    folder: Path

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> Outcome:
        done = CliRunner().invoke(main, list(arguments), input=stdin, prog_name="gradlint", catch_exceptions=False)
        return Outcome(done.exit_code, done.stdout, done.stderr)

    def write(self, name: str, content: str | bytes = "") -> Path:
        """A file of the folder, with the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def run_process(*arguments: str, folder: Path, **environment: str) -> Outcome:
    """The command line in a process of its own: for signals, pipes, terminals and imports."""
    done = subprocess.run(
        [sys.executable, "-m", "gradlint", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def check(text: str, settings: Settings | None = None) -> list[Finding]:
    """The findings of a program."""
    return list(check_bytes(text.encode(), "program.py", settings or Settings()).findings)


def codes(output: str | list[Finding]) -> list[str]:
    """The codes of findings, or of a JSON report."""
    if isinstance(output, str):
        return [finding["code"] for finding in json.loads(output)]
    return [finding.code for finding in output]


def told(run: Run, program: str) -> list[tuple[str, str]]:
    """Code of each finding, and the code at its place, of a program given on standard input."""
    lines = program.split("\n")
    findings = run("check", "-", "--output-format", "json", stdin=program.encode()).findings
    return [(each["code"], _between(lines, each["location"], each["end_location"])) for each in findings]


def _between(lines: list[str], start: dict[str, int], end: dict[str, int]) -> str:
    if start["row"] == end["row"]:
        return lines[start["row"] - 1][start["column"] - 1 : end["column"] - 1]
    return "\n".join([lines[start["row"] - 1][start["column"] - 1 :], *lines[start["row"] : end["row"]]])


def places(outcome: Outcome) -> list[tuple[str, int, str]]:
    """File, row and code of each finding of a JSON report."""
    return [(each["filename"], each["location"]["row"], each["code"]) for each in outcome.findings]


def moved(finding: Finding, rows: int) -> Finding:
    """The same finding as many rows further down."""
    return replace(
        finding,
        place=_moved(finding.place, rows),
        trace=tuple(Step(step.message, _moved(step.place, rows)) for step in finding.trace),
    )


def _moved(place: Place, rows: int) -> Place:
    return replace(place, row=place.row + rows, end_row=place.end_row + rows)
