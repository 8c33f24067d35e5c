"""`Report`: what one run has to tell, the same for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradlint.merging import FileResult
from gradlint.report.style import PLAIN, Style
from gradlint.rule import Finding


@dataclass(frozen=True, slots=True)
class Failure:
    """A path that was asked for in vain, and why."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run, in its order, and what formats say beside them."""

    results: Sequence[FileResult]
    style: Style = PLAIN
    closing: str = ""
    """The last line, with its line end, of the formats that people read."""
    exit_code: int = 0
    failures: tuple[Failure, ...] = ()
    """Why the run is not whole: paths that were asked for in vain."""
    checkout: str = ""
    """The folder that forges name files from, absolute; empty where that is the working folder."""

    @property
    def findings(self) -> list[Finding]:
        """All findings of the run, in order."""
        return [finding for result in self.results for finding in result.findings]
