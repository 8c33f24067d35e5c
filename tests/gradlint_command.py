"""The `gradlint` command as scripts and measurements see it: exit status, JSON, standard error."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CRASH_CODES = frozenset(["GL009"])


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding as the JSON output tells it."""

    path: Path
    code: str
    severity: str
    row: int
    end_row: int
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command."""

    status: int
    output: bytes
    errors: str

    @property
    def crashed(self) -> bool:
        """Whether the run itself failed: death by signal, a traceback, an internal error."""
        crash = any(finding.code in CRASH_CODES for finding in self.findings) if self.status in {0, 1} else True
        return crash or "Traceback (most recent call last)" in self.errors

    @property
    def findings(self) -> list[Reported]:
        return [_reported(entry) for entry in json.loads(self.output or b"[]")]


def gradlint(*arguments: str) -> Run:
    """Run `python -m gradlint` from the project's folder, where no module of a judged package can get in the way."""
    done = subprocess.run([sys.executable, "-m", "gradlint", *arguments], cwd=ROOT, capture_output=True, check=False)
    return Run(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def check(folder: Path, *, jobs: int = 2) -> Run:
    return gradlint("check", "--no-cache", "--output-format", "json", "--jobs", str(jobs), str(folder))


def _reported(entry: dict[str, Any]) -> Reported:
    start, end = entry["location"], entry.get("end_location") or entry["location"]
    return Reported(
        Path(entry["filename"]), entry["code"], entry["severity"], start["row"], end["row"], entry["message"]
    )
