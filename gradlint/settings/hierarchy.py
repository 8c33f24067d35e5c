"""The hierarchy: which settings hold for which file.

Those of the nearest configuration file in its folder or above; where there is none, those of the working folder; over
both what the command line says. `--config FILE` and `--isolated` take the place of the search.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradlint.errors import RunError
from gradlint.rule import Rule, all_rules
from gradlint.selection import Selection
from gradlint.settings.definition import Settings, all_settings
from gradlint.settings.kinds import Base, Mistake
from gradlint.settings.layers import (
    CONFIG_NAMES,
    PYPROJECT,
    check_words,
    has_settings,
    joined,
    layer_of_option,
    layer_of_values,
    layers_of_file,
)
from gradlint.settings.trust import Tell, Trust
from gradlint.text import path_names, printable

#: The environment variable that names a configuration file, where `--config` names none.
CONFIG_VARIABLE = "GRADLINT_CONFIG"


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says about settings."""

    config: tuple[str, ...] = ()
    """Values of `--config`: one file at most, else `key = value`."""
    isolated: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)
    """By option, without its dashes: values as TOML would hold them."""
    allow_rules: tuple[str, ...] = ()
    """Values of `--allow-rules`: rule files, settings files and folders of either."""


class Hierarchy:
    """Finds the settings of files, and remembers them per folder: thousands of files must not make it slow."""

    def __init__(self, choices: Choices | None = None, tell: Tell | None = None) -> None:
        """`tell` is handed a line about each file whose rules are not run; without it, that is a warning of Python.

        Raises:
            RunError: what the choices say makes no sense.
        """
        choices = choices or Choices()
        texts, files = _split(choices)
        self._options = [layer_of_option(text) for text in texts]
        self._flags = choices.flags
        self._by_file: dict[str | None, Settings] = {}
        self._by_folder: dict[str, Settings] = {}
        self._configs: dict[str, str | None] = {}
        self._trust = Trust.of(choices.allow_rules, tell)
        self._named = files[0] if files else None
        self._fixed: Settings | None = None
        if files or choices.isolated:
            self._fixed = self._settings_of(self._named, os.getcwd() if files else None)

    def for_file(self, path: str) -> Settings:
        """The settings for a file: one of `-` is seen from the working folder.

        Raises:
            RunError: a configuration file cannot be read, or makes no sense.
        """
        return self.for_folder(os.path.dirname(path))

    def for_folder(self, folder: str) -> Settings:
        """The settings for what a folder holds.

        Raises:
            RunError: a configuration file cannot be read, or makes no sense.
        """
        known = self._by_folder.get(folder)
        if known is None:
            known = self._fixed or self._nearest(os.path.abspath(folder)) or self._of_working_folder()
            self._by_folder[folder] = known
        return known

    def check_words(self) -> None:
        """Look at the rules that the choices name, once the settings of all files are read: any of them may know one.

        Raises:
            RunError: a word names no rule.
        """
        check_words(self._options)
        for key, value in self._flags.items():
            _read_flag(key, value, Base(os.getcwd(), os.getcwd()), all_rules())

    def for_run(self, paths: Sequence[str]) -> Settings:
        """The settings for what concerns a whole run: those of its first path."""
        first = next((path for path in paths if path != "-"), ".")
        return self.for_folder(first) if os.path.isdir(first) else self.for_file(first)

    def _nearest(self, folder: str) -> Settings | None:
        file = self._config_above(folder)
        return self._settings_of(file) if file is not None else None

    def _config_above(self, folder: str) -> str | None:
        passed: list[str] = []
        while folder not in self._configs:
            passed.append(folder)
            files = (os.path.join(folder, name) for name in CONFIG_NAMES)
            found = next((file for file in files if _is_there(file) and has_settings(file)), None)
            parent = os.path.dirname(folder)
            if found is not None or parent == folder:
                self._configs[folder] = found
                break
            folder = parent
        self._configs.update(dict.fromkeys(passed, self._configs[folder]))
        return self._configs[folder]

    def _of_working_folder(self) -> Settings:
        return self._nearest(os.getcwd()) or self._settings_of(None)

    def _settings_of(self, file: str | None, root: str | None = None) -> Settings:
        if file not in self._by_file:
            layers = layers_of_file(file, root) if file is not None else []
            layers = self._trust.applied(layers, is_named=file == self._named)
            root = root or (os.path.dirname(file) if file is not None else None)
            settings = joined(layers, root, self._options)
            self._by_file[file] = with_flags(settings, self._flags) if self._flags else settings
        return self._by_file[file]


def _is_there(file: str) -> bool:
    """Whether a configuration file is there. A link of ours that leads nowhere is, too, and a fault to be told."""
    return os.path.isfile(file) or (os.path.islink(file) and not file.endswith(PYPROJECT) and not os.path.exists(file))


def _split(choices: Choices) -> tuple[list[str], list[str]]:
    """The values of `--config` that are TOML, and the one that is a file."""
    texts: list[str] = []
    files: list[str] = []
    for value in choices.config:
        if os.path.isfile(value):
            files.append(os.path.abspath(value))
        elif os.path.isdir(value):
            raise RunError(f"--config: {printable(value)}: is a folder")
        elif "=" in value:
            texts.append(value)
        else:
            raise RunError(f'--config: {printable(value)}: no such file, and not of the form "key = value"')
    variable = os.environ.get(CONFIG_VARIABLE)
    if not files and variable and not choices.isolated:
        if not os.path.isfile(variable):
            reason = "is a folder" if os.path.isdir(variable) else "no such file"
            raise RunError(f"{CONFIG_VARIABLE}: {printable(variable)}: {reason}")
        files.append(os.path.abspath(variable))
    if len(files) > 1:
        raise RunError("--config: more than one file; let one of them extend the other")
    if files and choices.isolated:
        raise RunError("--isolated: no file is read, so that --config cannot name one")
    return texts, files


def with_flags(settings: Settings, flags: Mapping[str, object]) -> Settings:
    """The settings under options of the command line. `--select` stands for all four lists of the files.

    Raises:
        RunError: an option holds a value that makes no sense.
    """
    base = Base(os.getcwd(), os.getcwd())
    told = {key: _read_flag(key, value, base) for key, value in flags.items()}
    values: dict[str, Any] = {}
    if "select" in told:
        values |= {"extend_select": (), "ignore": (), "extend_ignore": ()}
    if "ignore" in told:  # the files' own list stays
        told["extend-ignore"] = (*told.pop("ignore"), *told.get("extend-ignore", ()))
    origins = dict(settings.origins) | dict.fromkeys(values, "--select")
    for key, value in told.items():
        name, setting = all_settings()[key]
        before = values.get(name, getattr(settings, name)) if setting.adds else ()
        values[name] = (*before, *value) if setting.adds else value
        option = "--ignore" if key == "extend-ignore" and "ignore" in flags else f"--{key}"
        origins[name] = f"{origins[name]}, {option}" if before and name in origins else option
    under = replace(settings, **values, origins=tuple(origins.items()))
    lists = {key.replace("-", "_"): told.get(key, ()) for key in ("select", "extend-select", "extend-ignore")}
    return under.over_files(Selection(**lists))


def _read_flag(key: str, value: object, base: Base, rules: tuple[Rule, ...] | None = None) -> Any:
    """The value of an option; with `rules`, words that name some of them are looked at."""
    kind = all_settings()[key][1].kind
    try:
        read = kind.read(value, base)
        if rules is not None:
            kind.check(read, rules)
    except Mistake as mistake:
        keys = "".join(f"{each}: " for each in mistake.at if isinstance(each, str))
        raise RunError(f"--{key}: {printable(f'{keys}{mistake.message}')}") from mistake
    return read


def load_settings(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    allow_rules: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
) -> Settings:
    """The settings for this path, for the first of several, or without any for the working folder.

    Rule files are run where settings of the working folder, or of a folder above it, name them. Others have to be in
    `allow_rules`, themselves, their settings file or a folder around; a warning tells of those that are not.

    Raises:
        RunError: a configuration file cannot be read, or holds a key or value that makes no sense.
    """
    return Hierarchy(Choices(allow_rules=tuple(path_names(allow_rules)))).for_run(path_names(paths))


def settings_from(values: Mapping[str, object], root: str | Path = ".") -> Settings:
    """The settings with these values, given as TOML would hold them: `{"select": ["GL1"], "keras": 2}`.

    Raises:
        RunError: a key or value makes no sense.
    """
    folder = os.path.abspath(root)
    return joined([layer_of_values(values, folder)], folder)
