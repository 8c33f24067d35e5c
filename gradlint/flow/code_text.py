"""Code text: what a file says in code, for questions to files that are not parsed.

Patterns are looked for in the whole text first, which is fast, and then in what is left of it without comments and
strings. They take blanks wherever Python does.
"""

from __future__ import annotations

import re

_QUOTED = r"(?:\\.|(?!(?P=quote)).)*(?P=quote)"
_SILENT = re.compile(rf"#[^\n]*|(?P<quote>\"\"\"|'''|\"|'){_QUOTED}", re.S)


def says(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern stands in the code of a text."""
    return pattern.search(text) is not None and pattern.search(code_of(text)) is not None


def code_of(text: str) -> str:
    """The text without comments, and with nothing in its strings; the one that makes a script stays."""
    return _SILENT.sub(_emptied, text)


def _emptied(match: re.Match[str]) -> str:
    if match["quote"] is None:
        return ""
    return match[0] if match[0][1:-1] == "__main__" else '""'
