"""Text that is safe to print: names and lines of foreign files must not drive the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

# C0 and C1 controls, line separators, direction overrides and lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_QUOTED = re.compile(r"`([^`]*)`")
#: Of quoted code so many characters are told, the last of them from its end.
_LONGEST, _LONGEST_END = 80, 25


def printable(text: str) -> str:
    """The text with control characters written as escapes (`\\x1b`), on one line."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def with_short_code(text: str) -> str:
    """The text with long code in backticks cut in its middle: its ends tell which it is, a report shows the rest."""
    return _QUOTED.sub(lambda match: f"`{_cut(match[1])}`", text)


def _cut(code: str) -> str:
    if len(code) <= _LONGEST:
        return code
    return f"{code[: _LONGEST - _LONGEST_END].rstrip()} … {code[-_LONGEST_END:].lstrip()}"


def without_surrogates(text: str) -> str:
    """The text as UTF-8 can hold it: bytes of file names that are no UTF-8 are written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def path_names(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """One path or several, as a caller gives them, as text.

    Raises:
        TypeError: one of them is none.
    """
    each_path = [paths] if isinstance(paths, str | os.PathLike) else paths
    return [path_name(each) for each in each_path]


def path_name(path: str | os.PathLike[str]) -> str:
    """A path as text.

    Raises:
        TypeError: it is none.
    """
    name: object = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"expected str or os.PathLike of str, not {type(path).__name__}")
    return name


def shown_path(path: str) -> str:
    """A path in a message, even an empty one."""
    return printable(path) or '""'
