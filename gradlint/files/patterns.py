"""Patterns as in `.gitignore`, and the folders that they are seen from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gradlint.files.globs import Glob, read_glob


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of the settings, and the folder that it is seen from: the root of the settings when it is empty."""

    text: str
    folder: str = ""


_WILD = re.compile(r"[*?\[\\]")


def pattern_in(text: str, root: str) -> Pattern:
    """A pattern of settings that are seen from the absolute folder `root`.

    Beyond what `.gitignore` knows, `./`, `../` and absolute paths that lead into a folder are seen from there.
    """
    sign, rest, folder = "!" * text.startswith("!"), text.removeprefix("!"), root
    leads = False
    while rest in (".", "..") or rest.startswith(("./", "../")):
        first, _, rest = rest.partition("/")
        rest, leads = rest.lstrip("/"), True
        folder = os.path.dirname(folder) if first == ".." else folder
    if leads:
        return Pattern(f"{sign}/{rest or '**'}", folder)
    inside = os.path.join(root, "")
    if os.path.join(rest, "").startswith(inside):
        return Pattern(f"{sign}/{rest[len(inside) :] or '**'}", root)
    if os.path.isabs(rest) and (elsewhere := _elsewhere(rest, root)):
        return Pattern(f"{sign}{elsewhere}", os.sep)
    return Pattern(text, root)


def _elsewhere(text: str, root: str) -> str:
    """A pattern that begins as a path outside of the root does, and as nothing in the root; else an empty string."""
    parts = text.split("/")[1:]
    plain = next((place for place, part in enumerate(parts) if _WILD.search(part)), len(parts))
    there, inside = os.path.join(os.sep, *parts[:plain]), os.path.join(root, *parts[:plain])
    if there == os.sep or os.path.lexists(inside) or not os.path.lexists(there):
        return ""
    return "/".join([os.path.realpath(there), *parts[plain:]])


def pattern_as_seen_from(pattern: Pattern, root: str) -> str:
    """What settings in the absolute folder `root` would hold, to mean the same."""
    if pattern.folder in ("", root):
        return pattern.text
    sign, rest = "!" * pattern.text.startswith("!"), pattern.text.removeprefix("!")
    gap = "/" if "/" in rest.rstrip("/") else "/**/"
    return f"{sign}{os.path.relpath(pattern.folder, root)}{gap}{rest.removeprefix('/')}"


def check_pattern(text: str) -> None:
    """Look at a pattern.

    Raises:
        ValueError: it is none; with the words of a message.
    """
    if not text.strip().strip("!"):
        raise ValueError("a pattern is empty")
    try:
        read_glob(text)
    except ValueError as error:
        raise ValueError(f'"{text}" is no pattern as in .gitignore') from error


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns, and the absolute folder that they are seen from."""

    folder: str
    globs: tuple[Glob, ...]

    @classmethod
    def of_lines(cls, folder: str, lines: Iterable[str]) -> Patterns:
        """
        Raises:
            ValueError: one of the lines is no pattern.
        """
        return cls(folder, tuple(glob for line in lines if (glob := read_glob(line)) is not None))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True for matched, False for kept by `!`, None when no pattern speaks. The path is absolute.

        The path alone is looked at: a pattern that matches a folder says nothing of what the folder holds.
        """
        folder = self.folder.rstrip(os.sep)
        if not self.globs or not path.startswith(folder + os.sep):
            return None
        seen = path[len(folder) :].replace(os.sep, "/")
        for glob in reversed(self.globs):
            if glob.matches(seen, is_folder=is_folder):
                return not glob.keeps
        return None


def compiled(patterns: Sequence[Pattern], root: str | Path) -> tuple[Patterns, ...]:
    """Patterns of settings, ready to be asked: in their order, neighbours of one folder together."""
    return tuple(
        Patterns.of_lines(os.path.abspath(os.path.join(root, folder)), [each.text for each in group])
        for folder, group in groupby(patterns, key=lambda each: each.folder)
    )


def verdict_of(patterns: Sequence[Patterns], path: str, *, is_folder: bool) -> bool | None:
    """The verdict of the last of them that speaks."""
    for each in reversed(patterns):
        verdict = each.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return None


def is_matched(patterns: Sequence[Patterns], path: str, *, is_folder: bool) -> bool:
    """Whether an absolute path is matched, or a folder above it: then nothing brings back what the folder holds."""
    if verdict_of(patterns, path, is_folder=is_folder):
        return True
    return any(verdict_of(patterns, str(folder), is_folder=True) for folder in Path(path).parents)


def leaves_nothing_of(patterns: Sequence[Patterns], folder: str) -> bool:
    """Whether an absolute folder is matched, or all that it holds, as by `folder/**`."""
    around = [each for each in patterns if each.folder != folder]
    verdict = verdict_of(around, folder, is_folder=True)
    if verdict is None:
        verdict = verdict_of(around, os.path.join(folder, "\0", "\0"), is_folder=False)
    return bool(verdict)
