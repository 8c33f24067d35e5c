"""Which files a run judges: the paths as given, folders walked, excludes and `.gitignore` applied.

A path that is named is judged, whatever the patterns say. In folders, `*.py` and `*.ipynb` files count, in an order
that does not depend on the file system. Links to folders are not followed in a walk, so that no loop and no file twice
is met.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Files that are looked for in folders.
SUFFIXES = (".py", ".ipynb")
#: Folders that hold other people's or generated code, beside all hidden ones.
DEFAULT_EXCLUDES = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Unusable:
    """A path that no file could be had from, and why, in the words of a message."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files to judge, sorted; paths that were asked for in vain; folders that could not be read."""

    files: tuple[str, ...]
    missing: tuple[Unusable, ...]
    unreadable: tuple[Unusable, ...]


def discover(
    paths: Sequence[str], exclude: Sequence[str] = (), root: Path | None = None, suffixes: tuple[str, ...] = SUFFIXES
) -> Discovered:
    """The files that the paths stand for. `exclude` are patterns as in `.gitignore`, seen from `root`; of folders,
    files with these suffixes are taken."""
    files: dict[str, str] = {}
    missing: list[Unusable] = []
    unreadable: list[Unusable] = []
    excluded = _Patterns.of_lines(os.path.abspath(root or "."), exclude)
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            missing.append(Unusable(path, _why_missing(path, error)))
            continue
        if not stat.S_ISDIR(mode):
            files.setdefault(os.path.abspath(path), os.path.normpath(path))
            continue
        for found in _Walk(excluded, unreadable, suffixes).files_under(os.path.normpath(path)):
            files.setdefault(os.path.abspath(found), found)
    return Discovered(tuple(sorted(files.values())), tuple(missing), tuple(unreadable))


def _why_missing(path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "broken symbolic link" if os.path.islink(path) else "no such file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return "not a path"


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Patterns as in `.gitignore`, and the absolute folder that they are seen from."""

    folder: str
    spec: GitIgnoreSpec | None

    @classmethod
    def of_lines(cls, folder: str, lines: Sequence[str]) -> _Patterns:
        if not lines:
            return cls(folder, None)
        from pathspec import GitIgnoreSpec

        return cls(folder, GitIgnoreSpec.from_lines(lines))

    @classmethod
    def of_gitignore(cls, folder: str) -> _Patterns:
        try:
            text = Path(folder, ".gitignore").read_text("utf-8", "replace")
        except OSError:
            return cls(folder, None)
        try:
            return cls.of_lines(folder, text.splitlines())
        except ValueError:  # a pattern that git itself ignores; better judge a file too many
            return cls(folder, None)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True for ignored, False for kept by `!`, None when no pattern speaks."""
        if self.spec is None or not path.startswith(self.folder.rstrip(os.sep) + os.sep):
            return None
        relative = os.path.relpath(path, self.folder) + ("/" if is_folder else "")
        return self.spec.check_file(relative).include


@dataclass(frozen=True, slots=True)
class _Walk:
    excluded: _Patterns
    unreadable: list[Unusable]
    suffixes: tuple[str, ...]

    def files_under(self, top: str) -> Iterator[str]:
        outer = _gitignores_above(os.path.abspath(top))
        pending: list[tuple[str, tuple[_Patterns, ...]]] = [(top, outer)]
        while pending:
            folder, ignores = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.unreadable.append(Unusable(folder, _why_missing(folder, error)))
                continue
            if any(entry.name == ".gitignore" for entry in listed):
                ignores = (*ignores, _Patterns.of_gitignore(os.path.abspath(folder)))
            for entry in listed:
                path = entry.name if folder == "." else os.path.join(folder, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if self._enters(entry.name, path, ignores):
                        pending.append((path, ignores))
                elif _is_script(entry, self.suffixes) and not self._ignored(path, ignores, is_folder=False):
                    yield path

    def _enters(self, name: str, path: str, ignores: tuple[_Patterns, ...]) -> bool:
        if name.startswith(".") or name in DEFAULT_EXCLUDES:
            return False
        return not self._ignored(path, ignores, is_folder=True)

    def _ignored(self, path: str, ignores: tuple[_Patterns, ...], *, is_folder: bool) -> bool:
        if self.excluded.spec is None and not ignores:
            return False
        absolute = os.path.abspath(path)
        if self.excluded.verdict(absolute, is_folder=is_folder):
            return True
        return _git_ignores(absolute, ignores, is_folder=is_folder)


def _is_script(entry: os.DirEntry[str], suffixes: tuple[str, ...]) -> bool:
    """A `.py` or `.ipynb` file, or a link that leads to none: that one is reported, not passed over."""
    if not entry.name.endswith(suffixes) or entry.name.startswith(".#"):  # `.#x.py` are locks of Emacs
        return False
    # os.path answers False for a loop of links, where the entry itself raises.
    return os.path.isfile(entry.path) or (entry.is_symlink() and not os.path.exists(entry.path))


def _git_ignores(path: str, ignores: tuple[_Patterns, ...], *, is_folder: bool) -> bool:
    """As git does: the `.gitignore` nearest to the path that says anything decides."""
    for patterns in reversed(ignores):
        verdict = patterns.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _gitignores_above(top: str) -> tuple[_Patterns, ...]:
    """The `.gitignore` files from the root of the repository down to the folder above `top`.

    None when they ignore `top` itself: who names an ignored folder wants it judged.
    """
    above: list[str] = []
    folder = top
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()  # no repository around: only the files inside `top` speak
        above.append(parent)
        folder = parent
    ignores = tuple(
        _Patterns.of_gitignore(each) for each in reversed(above) if os.path.isfile(os.path.join(each, ".gitignore"))
    )
    return () if _git_ignores(top, ignores, is_folder=True) else ignores
