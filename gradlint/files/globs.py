"""Globs: patterns as in `.gitignore`, each asked about one file or folder alone, never about the folders above it.

Whoever walks decides on the folders first. So does git, and only so `*` and `!*/` leave folders to look into. No path
takes long to match, whoever wrote the pattern: what stands between two stars of one name has one length, so that its
nearest match is as good as any; the same goes for what stands between two `**`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, groupby

#: In a pattern: stars, or what names one character. In brackets `]` may be the first.
_PIECE = re.compile(
    r"(?P<stars>\*+)|(?P<any>\?)|\\(?P<escaped>.)|(?P<plain>[^\\\[])"
    r"|\[(?:(?P<not>[!^])|(?![!^]))(?P<set>(?:\\.|\[:\w+:\]|[^\\])(?:\\.|\[:\w+:\]|[^\]\\])*)\]",
    re.S,
)
_IN_SET = re.compile(r"\[:(?P<kind>\w+):\]|(?P<first>\\.|.)(?:-(?P<last>\\.|[^\]]))?", re.S)
_KINDS = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": r"\ -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class Glob:
    """One pattern: what it matches, and whether it keeps (`!`) what others leave out."""

    regex: re.Pattern[str]
    keeps: bool = False
    folders_alone: bool = False

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether it matches the path, which is seen from the folder of the pattern and begins with a slash."""
        return (is_folder or not self.folders_alone) and self.regex.fullmatch(path) is not None


def read_glob(line: str) -> Glob | None:
    """The pattern of a line; None for an empty one, or a comment.

    Raises:
        ValueError: it is no pattern.
    """
    text = _without_spaces_at_its_end(line)
    if text.startswith("#"):
        return None
    pattern = text.removeprefix("!")
    path = pattern.removesuffix("/")
    if not path:
        return None
    names = path.removeprefix("/").split("/") if "/" in path else ["**", path]
    try:
        regex = re.compile(_regex_of(names), re.S)
    except (re.error, KeyError) as error:  # a range that goes backwards, a kind of characters that is none
        raise ValueError(str(error)) from error
    return Glob(regex, text.startswith("!"), pattern.endswith("/"))


def _without_spaces_at_its_end(line: str) -> str:
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    return f"{text} " if backslashes % 2 and text != line else text


def _regex_of(names: list[str]) -> str:
    """A regular expression for the path of these names; `**` among them stands for folders, at the end for all."""
    numbers = count()

    def nearest(found: str) -> str:
        name = f"n{next(numbers)}"
        return f"(?=(?P<{name}>{found}))(?P={name})"  # what looks ahead is not tried a second time

    parts = [(is_folders, list(part)) for is_folders, part in groupby(names, _is_folders)]
    found = ""
    for place, (is_folders, part) in enumerate(parts):
        here = "".join(f"/{_regex_of_name(name, nearest)}" for name in part)
        is_last = place == len(parts) - 1
        if is_folders:
            found += "/.+" if is_last else ""
        elif place == 0:
            found += here
        else:
            found += f"(?:/.+)?{here}" if is_last else nearest(f"(?:/.+?)??{here}(?=/)")
    return found


def _is_folders(name: str) -> bool:
    return len(name) > 1 and not name.strip("*")


def _regex_of_name(name: str, nearest: Callable[[str], str]) -> str:
    between_stars, at = [""], 0
    while at < len(name):
        piece = _PIECE.match(name, at)
        if piece is None:
            raise ValueError(f"{name[at:]} does not end")
        if piece["stars"]:
            between_stars.append("")
        else:
            between_stars[-1] += _one_character(piece)
        at = piece.end()
    first, *others = between_stars
    if not others:
        return first
    return f"{first}{''.join(nearest(f'[^/]*?{each}') for each in others[:-1])}[^/]*{others[-1]}"


def _one_character(piece: re.Match[str]) -> str:
    if piece["any"]:
        return "[^/]"
    if piece["set"] is None:
        return re.escape(piece["escaped"] or piece["plain"])
    within = "".join(_in_set(each) for each in _IN_SET.finditer(piece["set"]))
    return f"[^/{within}]" if piece["not"] else f"(?!/)[{within}]"


def _in_set(each: re.Match[str]) -> str:
    if each["kind"]:
        return _KINDS[each["kind"]]
    first, last = (re.escape(end[-1]) for end in (each["first"], each["last"] or each["first"]))
    return f"{first}-{last}"
