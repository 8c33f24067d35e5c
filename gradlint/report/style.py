"""Colours of the text reports, as plain ANSI sequences, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from gradlint.rule import Severity

_RED, _YELLOW, _BLUE, _CYAN, _BOLD, _DIM, _RESET = (f"\x1b[{code}m" for code in ("31", "33", "34", "36", "1", "2", "0"))
_OF_SEVERITY = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW, Severity.INFO: _BLUE}


def wants_color(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """NO_COLOR, then FORCE_COLOR, then whether the stream is a terminal that knows colours."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream is not None and stream.isatty() and environ.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class Style:
    """How parts of a report are set off."""

    color: bool = False

    def severity(self, text: str, severity: Severity | None) -> str:
        return self._wrapped(text, _BOLD + _OF_SEVERITY.get(severity or Severity.ERROR, ""))

    def path(self, text: str) -> str:
        return self._wrapped(text, _BOLD)

    def help(self, text: str) -> str:
        return self._wrapped(text, _CYAN)

    def margin(self, text: str) -> str:
        return self._wrapped(text, _DIM)

    def _wrapped(self, text: str, start: str) -> str:
        return f"{start}{text}{_RESET}" if self.color and text else text
