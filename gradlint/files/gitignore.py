"""What git passes over: `.gitignore` files, `.git/info/exclude`, and the file that the user's git names for all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gradlint.files.globs import read_glob
from gradlint.files.patterns import Patterns


def is_repository(folder: str) -> bool:
    """Whether a folder is the root of a git repository."""
    return os.path.exists(os.path.join(folder, ".git"))


def of_folder(folder: str) -> Patterns:
    """The patterns of the `.gitignore` in a folder, an absolute one."""
    return _read(os.path.join(folder, ".gitignore"), folder)


def of_repository(root: str) -> tuple[Patterns, ...]:
    """The patterns that git has for a whole repository beside its `.gitignore` files, the weaker ones first."""
    folder = _git_folder(root)
    return tuple(_read(file, root) for file in (_file_of_user(folder), os.path.join(folder, "info", "exclude")))


def _read(file: str, folder: str) -> Patterns:
    lines = [line.removesuffix("\r") for line in _text(file).split("\n")]
    return Patterns.of_lines(folder, [line for line in lines if _is_pattern(line)])  # git passes over others


def _is_pattern(line: str) -> bool:
    try:
        return read_glob(line) is not None
    except ValueError:
        return False


def _text(file: str) -> str:
    """What is in a file; nothing where it cannot be read."""
    try:
        return Path(file).read_bytes().decode("utf-8-sig", "surrogateescape")  # as names of files are read
    except (OSError, ValueError):
        return ""


def _git_folder(root: str) -> str:
    """Where git keeps what it knows of a repository; for a worktree, of the one that it belongs to."""
    folder = os.path.join(root, ".git")
    if os.path.isfile(folder):
        folder = os.path.join(root, _text(folder).removeprefix("gitdir:").strip())
    common = _text(os.path.join(folder, "commondir")).strip()
    return os.path.join(folder, common) if common else folder


def _file_of_user(git_folder: str) -> str:
    """The file of patterns for all repositories of the user: as git is configured, or the usual one."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join("~", ".config")
    usual = os.path.expanduser(os.path.join(home, "git"))
    for config in (
        os.path.join(git_folder, "config"),
        os.path.expanduser("~/.gitconfig"),
        os.path.join(usual, "config"),
    ):
        named = [*_values(_text(config), "core", "excludesfile")]
        if named:
            return os.path.expanduser(named[-1])
    return os.path.join(usual, "ignore")


def _values(config: str, section: str, key: str) -> Iterator[str]:
    """The values of a key in the configuration of git."""
    within = ""
    for line in config.split("\n"):
        text = line.strip()
        if text.startswith("["):
            within, _, text = text[1:].partition("]")
        name, sign, value = text.partition("=")
        if sign and within.strip().lower() == section and name.strip().lower() == key:
            yield value.strip().strip('"')
