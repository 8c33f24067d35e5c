"""Which files a run judges: the paths as given, folders walked, excludes and `.gitignore` applied.

A path that is named is judged, whatever the patterns say, unless excludes are forced. In folders, `*.py` and `*.ipynb`
files count, in an order that does not depend on the file system. What a folder holds is looked at under the settings
of that folder. Links to folders are not followed in a walk, so that no loop and no file twice is met.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gradlint.files.documents import SUFFIXES as DOCUMENT_SUFFIXES
from gradlint.files.gitignore import is_repository, of_folder, of_repository
from gradlint.files.patterns import Pattern, Patterns, compiled, is_matched, leaves_nothing_of, verdict_of

if TYPE_CHECKING:
    from gradlint.config import Settings, SettingsByFile

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
    excluded: bool = False
    """Whether anything was passed over because the settings say so."""


def discover(paths: Sequence[str], settings: SettingsByFile, *, force_exclude: bool = False) -> Discovered:
    """The files that the paths stand for. With `force_exclude`, paths that are named are passed over as well when
    the settings exclude them."""
    files: dict[str, str] = {}
    missing: list[Unusable] = []
    unreadable: list[Unusable] = []
    excludes = Excludes(settings)
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            missing.append(Unusable(path, _why_missing(path, error)))
            continue
        is_folder = stat.S_ISDIR(mode)
        if force_exclude and excludes.has(path, is_folder=is_folder):
            excludes.met = True
            continue
        if not is_folder:
            files.setdefault(os.path.abspath(path), os.path.normpath(path))
            continue
        for found in _Walk(excludes, unreadable, force_exclude).files_under(os.path.normpath(path)):
            files.setdefault(os.path.abspath(found), found)
    return Discovered(tuple(sorted(files.values())), tuple(missing), tuple(unreadable), excludes.met)


@dataclass(frozen=True, slots=True)
class _OfFolder:
    """How what a folder holds is looked at."""

    patterns: tuple[Patterns, ...]
    suffixes: tuple[str, ...]
    given: tuple[Pattern, ...]
    root: Path

    @classmethod
    def under(cls, settings: Settings) -> _OfFolder:
        given, root = (*settings.exclude, *settings.extend_exclude), settings.root
        suffixes = (*SUFFIXES, *DOCUMENT_SUFFIXES) if settings.include_docs else SUFFIXES
        return cls(compiled(given, root), suffixes, given, root)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """What the patterns say of a file or folder: True for excluded, None for nothing."""
        return verdict_of(self.patterns, os.path.abspath(path), is_folder=is_folder) if self.patterns else None

    def leaves_out(self, name: str, path: str, *, is_folder: bool) -> bool:
        """Whether a file or folder is excluded, by the patterns or by its name; `!` brings a name back."""
        verdict = self.verdict(path, is_folder=is_folder)
        return _is_left_out_by_name(name, is_folder=is_folder) if verdict is None else verdict

    def within(self, top: str) -> _OfFolder:
        """How what a folder holds that was named itself is looked at: patterns that exclude all of it do not count."""
        path = os.path.abspath(top)
        if not leaves_nothing_of(self.patterns, path):
            return self
        kept = [each for each in self.given if not leaves_nothing_of(compiled([each], self.root), path)]
        return replace(self, patterns=compiled(kept, self.root), given=tuple(kept))


def _is_left_out_by_name(name: str, *, is_folder: bool) -> bool:
    return is_folder and (name.startswith(".") or name in DEFAULT_EXCLUDES)


class Excludes:
    """What the settings exclude, folder by folder."""

    def __init__(self, settings: SettingsByFile) -> None:
        self._settings = settings
        self._made: dict[int, tuple[Settings, _OfFolder]] = {}
        self.met = False
        """Whether anything was passed over because the settings say so."""

    def of_folder(self, folder: str) -> _OfFolder:
        """How what the folder holds is looked at."""
        settings = self._settings.for_folder(folder)
        if id(settings) not in self._made:  # kept together, so that no other settings get the number
            self._made[id(settings)] = settings, _OfFolder.under(settings)
        return self._made[id(settings)][1]

    def has(self, path: str, *, is_folder: bool) -> bool:
        """Whether a walk over the whole project would pass the path over, wherever the run was started."""
        absolute = os.path.abspath(path)
        top = self.top_above(absolute)
        parts = os.path.relpath(absolute, top).split(os.sep)
        for length, name in enumerate(parts, 1):
            folder = os.path.join(top, *parts[: length - 1])
            is_last = length == len(parts)
            within = self.of_folder(folder)
            if within.leaves_out(name, os.path.join(folder, name), is_folder=is_folder or not is_last):
                return True
        return is_matched(_gitignores_above(absolute, top), absolute, is_folder=is_folder)

    def top_above(self, path: str) -> str:
        """The root of the settings around a path: the outermost, for those further out say what is passed over, too.

        Settings around a repository are those of somebody else, and its own folder may have any name.
        """
        top, folder = "", os.path.dirname(path)
        while True:
            settings = self._settings.for_folder(folder)
            root = os.path.abspath(settings.root)
            # Without a file above, settings are those of the working folder, whichever that is.
            if not f"{folder}{os.sep}".startswith(os.path.join(root, "")) or (top and not settings.files):
                return top or os.path.dirname(path)
            top, folder = root, os.path.dirname(root)
            if folder == root or is_repository(root):
                return top


def _why_missing(path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "broken symbolic link" if os.path.islink(path) else "no such file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return "not a path"


@dataclass(frozen=True, slots=True)
class _Walk:
    excludes: Excludes
    unreadable: list[Unusable]
    is_forced: bool
    """Whether what was named is passed over, too: else nothing that passes all of it over counts."""

    def files_under(self, top: str) -> Iterator[str]:
        path = os.path.abspath(top)
        outer = _gitignores_above(path, self.excludes.top_above(path) if self.is_forced else "")
        if not self.is_forced and (is_matched(outer, path, is_folder=True) or leaves_nothing_of(outer, path)):
            outer = ()
        inside: dict[int, _OfFolder] = {}  # by those of the settings
        pending: list[tuple[str, tuple[Patterns, ...]]] = [(top, outer)]
        while pending:
            folder, ignores = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.unreadable.append(Unusable(folder, _why_missing(folder, error)))
                continue
            within = self._of_folder(folder, top, inside)
            if any(entry.name == ".git" for entry in listed):
                ignores = (*ignores, *of_repository(os.path.abspath(folder)))
            if any(entry.name == ".gitignore" for entry in listed):
                ignores = (*ignores, of_folder(os.path.abspath(folder)))
            for entry in listed:
                path = entry.name if folder == "." else os.path.join(folder, entry.name)
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not _is_script(entry, within.suffixes):
                    continue
                verdict = within.verdict(path, is_folder=is_folder)
                self.excludes.met = self.excludes.met or bool(verdict)
                if verdict or (verdict is None and _is_left_out_by_name(entry.name, is_folder=is_folder)):
                    continue
                if ignores and verdict_of(ignores, os.path.abspath(path), is_folder=is_folder):
                    continue  # as git does: the nearest `.gitignore` that says anything decides
                if is_folder:
                    pending.append((path, ignores))
                else:
                    yield path

    def _of_folder(self, folder: str, top: str, made: dict[int, _OfFolder]) -> _OfFolder:
        """How what the folder holds is looked at when `top` was named."""
        found = self.excludes.of_folder(folder)
        if not found.patterns or self.is_forced:
            return found
        if id(found) not in made:
            made[id(found)] = found.within(top)
        return made[id(found)]


def _is_script(entry: os.DirEntry[str], suffixes: tuple[str, ...]) -> bool:
    """A `.py` or `.ipynb` file, or a link that leads to none: that one is reported, not passed over."""
    if not entry.name.endswith(suffixes) or entry.name.startswith(".#"):  # `.#x.py` are locks of Emacs
        return False
    # os.path answers False for a loop of links, where the entry itself raises.
    return os.path.isfile(entry.path) or (entry.is_symlink() and not os.path.exists(entry.path))


def _gitignores_above(path: str, root: str = "") -> tuple[Patterns, ...]:
    """What git passes over by the repository around a path, and the `.gitignore` files down to the folder above it.

    Without a repository, by those files from the folder `root` on, if it is given: so a walk over all of it reads them.
    """
    folders = [path, *map(str, Path(path).parents)]
    repository = next(filter(is_repository, folders), "")
    top = repository or root
    if top in ("", path):
        return ()  # only the files inside of what is walked speak
    above = folders[1 : folders.index(top) + 1]
    files = (of_folder(each) for each in reversed(above) if os.path.isfile(os.path.join(each, ".gitignore")))
    return (*(of_repository(repository) if repository else ()), *files)
