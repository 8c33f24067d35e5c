"""Patterns as in `.gitignore`, compiled so that no path takes long to match, whoever wrote them.

pathspec makes a regular expression of each. Where it holds several stars, a path that nearly matches is tried in every
way to deal it out among them: minutes for a dozen. What stands between two stars of one name has one length, so that
its nearest match is as good as any; the same goes for what stands between two `**`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: What pathspec makes of `*`, and of `/**/`.
_STAR, _FOLDERS = "[^/]*", "(?:/.+)?/"
#: Characters, `?` and ranges: each matches one character.
_FIXED = re.compile(r"(?:\\.|\[(?:\\.|[^\]\\])+\]|[^\\\[\]()/|*+?])*", re.S)


def compiled_globs(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns, ready to be asked.

    Raises:
        ValueError: one of them is no pattern.
    """
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import RegexPattern

    try:
        read: Sequence[Any] = GitIgnoreSpec.from_lines(lines).patterns
    except (ValueError, TypeError, re.error) as error:
        raise ValueError(str(error)) from error
    patterns: list[Any] = []
    for each in read:
        quick = _without_backtracking(each.regex.pattern) if each.regex is not None else ""
        is_quick = each.regex is None or quick == each.regex.pattern
        patterns.append(each if is_quick else RegexPattern(re.compile(quick), each.include))
    try:
        return GitIgnoreSpec(patterns, backend="simple")  # others do not look ahead
    except TypeError:  # before pathspec 1.0 there are no others
        return GitIgnoreSpec(patterns)


def _without_backtracking(regex: str) -> str:
    """A regular expression that matches the same."""
    numbers = count()

    def nearest(found: str) -> str:
        name = f"n{next(numbers)}"
        return f"(?=(?P<{name}>{found}))(?P={name})"  # what looks ahead is not tried a second time

    first, *others = (_with_nearest_names(part, nearest) for part in regex.split(_FOLDERS))
    if not others:
        return first
    between = "".join(nearest(f"(?:/.+?)??/{part}(?=/)") for part in others[:-1])
    return f"{first}{between}{_FOLDERS}{others[-1]}"


def _with_nearest_names(part: str, nearest: Callable[[str], str]) -> str:
    first, *others = part.split(_STAR)
    if not others:
        return first
    between = (nearest(f"[^/]*?{each}") if _FIXED.fullmatch(each) else f"{_STAR}{each}" for each in others[:-1])
    return f"{first}{''.join(between)}{_STAR}{others[-1]}"
