"""Settings: `[tool.gradlint]` of the nearest pyproject.toml, as one frozen value.

Every complaint names the file and the line. Options of the command line are laid over the settings in `cli/`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gradlint.errors import RunError
from gradlint.own_rules import load_rule_files
from gradlint.selection import check_selector

_LISTS = ("select", "ignore", "exclude", "src", "differentiable", "nondifferentiable", "rules")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was told."""

    root: Path = field(default_factory=Path)
    """The folder of the pyproject.toml; `exclude` and `src` are seen from here."""
    select: tuple[str, ...] = ()
    """Rules to apply: codes, prefixes, names, ALL. Empty means all."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out."""
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore, beside the default excludes."""
    src: tuple[str, ...] = (".",)
    """Folders where the imports of the project start."""
    keras: int = 3
    """What `tf.keras` is: Keras 3, or 2 (the package tf_keras, TF_USE_LEGACY_KERAS=1)."""
    differentiable: tuple[str, ...] = ()
    """Dotted names of functions to trust: a gradient flows through them."""
    nondifferentiable: tuple[str, ...] = ()
    """Dotted names of functions that no gradient flows through."""
    rules: tuple[str, ...] = ()
    """Files with rules of the project's own, seen from `root`."""
    include_docs: bool = False
    """Whether code in Markdown, reStructuredText and docstrings is judged too: `--include-docs`."""

    def with_rules(self, select: Sequence[str], ignore: Sequence[str]) -> Settings:
        """These settings under rules named on the command line: a `select` there replaces both lists of the file."""
        chosen = (tuple(select), tuple(ignore)) if select else (self.select, (*self.ignore, *ignore))
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return Settings(**values | {"select": chosen[0], "ignore": chosen[1]})


def load_settings(paths: Sequence[str] = ()) -> Settings:
    """The settings for a run over these paths: of the project of the first path, else of the working folder.

    Raises:
        RunError: the file cannot be read, or holds a key or value that makes no sense.
    """
    starts = [os.path.abspath(path) for path in paths[:1] if path != "-"] + [os.getcwd()]
    for start in starts:
        for file in _pyprojects_above(start):
            data = _read(file)
            # Most projects have no such table; then the rest of the file is not our business, broken or not.
            if b"gradlint" in data and (settings := _settings_of(file, data)) is not None:
                return settings
    return Settings()


def _pyprojects_above(start: str) -> Iterator[str]:
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    while True:
        file = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(file):
            yield file
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise RunError(f"{_shown(file)}: {(error.strerror or str(error)).lower()}") from error


def _shown(file: str) -> str:
    """The file as seen from the working folder, when it lies in it."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def _settings_of(file: str, data: bytes) -> Settings | None:
    table = _parse(file, data).get("tool", {}).get("gradlint")
    if table is None:
        return None
    complaints = _Complaints(_shown(file), data.decode("utf-8", "replace").splitlines())
    if not isinstance(table, Mapping):
        raise complaints.about("gradlint", "`tool.gradlint` must be a table")
    known = [*_LISTS, "keras"]
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1)
            raise complaints.about(key, "no such setting" + (f'; did you mean "{near[0]}"?' if near else ""), key=key)
    values: dict[str, Any] = {key: _strings(key, table[key], complaints) for key in _LISTS if key in table}
    _load_rules(Path(file).parent, values.get("rules", ()), complaints)
    for key in ("select", "ignore"):
        for word in values.get(key, ()):
            _check_rule(key, word, complaints)
    if "keras" in table:
        values["keras"] = _keras_version(table["keras"], complaints)
    return Settings(root=Path(file).parent, **values)


def _parse(file: str, data: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        parsed: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RunError(f"{_shown(file)}:{data.count(10, 0, error.start) + 1}: not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        words = re.sub(r" \(at .*\)$", "", str(error))
        row = at[1] if at else str(len(data.splitlines()))
        raise RunError(f"{_shown(file)}:{row}: {words[:1].lower()}{words[1:]}") from error
    return parsed


def _strings(key: str, value: object, complaints: _Complaints) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise complaints.about(key, f"expected a list of strings, got {value!r}", key=key)
    for item in value:
        if not isinstance(item, str):
            raise complaints.about(str(item), f"expected a string, got {item!r}", key=key)
    return tuple(value)


def _load_rules(root: Path, paths: Sequence[str], complaints: _Complaints) -> None:
    """Before words that name rules are looked at: they may name these."""
    for path in paths:
        if not (root / path).exists():
            raise complaints.about(path, f"{path}: no such file", key="rules")
    load_rule_files(str(root / path) for path in paths)


def _check_rule(key: str, word: str, complaints: _Complaints) -> None:
    try:
        check_selector(word)
    except RunError as error:
        raise complaints.about(word, str(error), key=key) from error


def _keras_version(value: object, complaints: _Complaints) -> int:
    if value not in (2, 3, "2", "3") or isinstance(value, bool):
        raise complaints.about("keras", f"expected 2 or 3, got {value!r}", key="keras")
    return int(str(value))


@dataclass(frozen=True, slots=True)
class _Complaints:
    """Finds the line of a complaint: the TOML reader of the standard library keeps no positions."""

    shown: str
    lines: list[str]

    def about(self, value: str, message: str, *, key: str = "") -> RunError:
        row = self._row_of_key(key) if key else self._row_of_table()
        if value != key:
            quoted = (f'"{value}"', f"'{value}'", value)
            row = next((n for n in range(row, len(self.lines) + 1) if _mentions(self.lines[n - 1], quoted)), row)
        return RunError(f"{self.shown}:{row}: {key}: {message}" if key else f"{self.shown}:{row}: {message}")

    def _row_of_table(self) -> int:
        return next((n for n, line in enumerate(self.lines, 1) if re.match(r"\s*\[\s*tool\.gradlint", line)), 1)

    def _row_of_key(self, key: str) -> int:
        table = self._row_of_table()
        sets = re.compile(rf"""\s*(?:(?:tool\.)?gradlint\.)?["']?{re.escape(key)}["']?\s*=""")
        return next((n for n in range(table, len(self.lines) + 1) if sets.match(self.lines[n - 1])), table)


def _mentions(line: str, words: Sequence[str]) -> bool:
    return any(word in line.split("#", 1)[0] for word in words)
