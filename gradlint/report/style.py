"""How the text reports look on a terminal: colours, links, width. Plain ANSI sequences, or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from gradlint.rule import Severity

_RED, _YELLOW, _BLUE, _CYAN, _BOLD, _DIM, _RESET = (f"\x1b[{code}m" for code in ("31", "33", "34", "36", "1", "2", "0"))
_OF_SEVERITY = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW, Severity.INFO: _BLUE}
#: Values of TERM_PROGRAM, of terminals that open links.
_LINKING_PROGRAMS = frozenset({"Hyper", "WezTerm", "ghostty", "iTerm.app", "rio", "vscode", "zed"})
_LINKING_TERMS = ("alacritty", "foot", "xterm-ghostty", "xterm-kitty")
_VTE_WITH_LINKS = 5000  # 0.50


def wants_color(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """NO_COLOR, then FORCE_COLOR, then whether the stream is a terminal that knows colours."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return _is_terminal(stream) and environ.get("TERM") != "dumb"


def wants_links(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether the stream is a terminal that opens hyperlinks (OSC 8): others would show the sequence, or hide it."""
    if not _is_terminal(stream) or environ.get("TERM") == "dumb" or environ.get("CI"):
        return False
    vte = environ.get("VTE_VERSION", "")
    return (
        environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or environ.get("TERM", "").startswith(_LINKING_TERMS)
        or (vte.isdecimal() and int(vte) >= _VTE_WITH_LINKS)
        or any(environ.get(name) for name in ("DOMTERM", "KONSOLE_VERSION", "WT_SESSION"))
    )


def style_for(stream: TextIO | None) -> Style:
    """How a report is to look on this stream."""
    width = shutil.get_terminal_size().columns if _is_terminal(stream) else None
    return Style(wants_color(stream, os.environ), width, wants_links(stream, os.environ))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


@dataclass(frozen=True, slots=True)
class Style:
    """How parts of a report are set off."""

    color: bool = False
    width: int | None = None
    """Columns that source lines may take; None for all that they want."""
    links: bool = False

    def severity(self, text: str, severity: Severity | None) -> str:
        return self._wrapped(text, _BOLD + _OF_SEVERITY.get(severity or Severity.ERROR, ""))

    def path(self, text: str) -> str:
        return self._wrapped(text, _BOLD)

    def help(self, text: str) -> str:
        return self._wrapped(text, _CYAN)

    def margin(self, text: str) -> str:
        return self._wrapped(text, _DIM)

    def link(self, text: str, url: str | None) -> str:
        """The text, leading to the address where there is one."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and url else text

    def _wrapped(self, text: str, start: str) -> str:
        return f"{start}{text}{_RESET}" if self.color and text else text


#: As text for files and programs is written.
PLAIN = Style()
