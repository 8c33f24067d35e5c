"""Patterns as in `.gitignore`, and the folders that they are seen from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from gradlint.files.globs import compiled_globs

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of the settings, and the folder that it is seen from: the root of the settings when it is empty."""

    text: str
    folder: str = ""


def check_pattern(text: str) -> None:
    """Look at a pattern.

    Raises:
        ValueError: it is none; with the words of a message.
    """
    if not text.strip().strip("!"):
        raise ValueError("a pattern is empty")
    try:
        compiled_globs([text])
    except ValueError as error:
        raise ValueError(f'"{text}" is no pattern as in .gitignore') from error


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns, and the absolute folder that they are seen from."""

    folder: str
    spec: GitIgnoreSpec | None

    @classmethod
    def of_lines(cls, folder: str, lines: Sequence[str]) -> Patterns:
        """
        Raises:
            ValueError: one of the lines is no pattern.
        """
        if not lines:
            return cls(folder, None)
        return cls(folder, compiled_globs(lines))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True for matched, False for kept by `!`, None when no pattern speaks. The path is absolute."""
        if self.spec is None or not path.startswith(self.folder.rstrip(os.sep) + os.sep):
            return None
        relative = os.path.relpath(path, self.folder) + ("/" if is_folder else "")
        return self.spec.check_file(relative).include


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
