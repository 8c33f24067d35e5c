"""Layers: what one configuration file, or one `--config "key = value"`, says; several of them make `Settings`.

Every complaint names the place: `pyproject.toml:12: select: no rule "GL12"`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from gradlint.errors import RunError
from gradlint.own_rules import load_rule_files, rule_files, rules_under
from gradlint.rule import Rule, all_rules
from gradlint.settings.definition import Settings, all_settings
from gradlint.settings.kinds import Base, Mistake
from gradlint.settings.positions import positions_of
from gradlint.text import printable

PYPROJECT = "pyproject.toml"
PYPROJECT_TABLE = ("tool", "gradlint")
#: In the order in which they count when a folder holds several.
CONFIG_NAMES = (".gradlint.toml", "gradlint.toml", PYPROJECT)


@dataclass(frozen=True)
class Text:
    """A piece of TOML and where it comes from: a file, or an option."""

    shown: str
    """For messages: the file as seen from the working folder, or `--config`."""
    text: str
    table: tuple[str, ...] = ()
    """The keys that lead to the settings."""
    is_option: bool = False

    @cached_property
    def _positions(self) -> dict[tuple[str | int, ...], int]:
        try:
            return positions_of(self.text)
        except RecursionError:  # nested nearly as deeply as TOML is read: a complaint without its row
            return {}

    def place(self, *path: str | int) -> str:
        """The file and the row of a key or an item, of the nearest thing around it that has a row."""
        if self.is_option:
            return self.shown
        whole = (*self.table, *path)
        rows = (self._positions.get(whole[:length]) for length in range(len(whole), 0, -1))
        return f"{self.shown}:{next((row for row in rows if row is not None), 1)}"

    def error(self, message: str, *path: str | int) -> RunError:
        """A complaint about a key or an item."""
        keys = ".".join(_as_key(each) for each in path if isinstance(each, str))
        return RunError(f"{self.place(*path)}: {printable(f'{keys}: {message}' if keys else message)}")


@dataclass(frozen=True)
class Layer:
    """The settings of one place, read and not yet joined with others."""

    source: Text
    values: dict[str, Any] = field(default_factory=dict)
    """By key."""
    file: str = ""
    """The configuration file; empty for options and values of a program."""
    has_foreign_rules: bool = False
    """Whether it names rule files that are not run."""

    def load_rules(self) -> None:
        """Make the rules in the files that `rules` names known.

        Raises:
            RunError: a file is not there, or a rule in it cannot be loaded.
        """
        files: tuple[str, ...] = self.values.get("rules", ())
        for position, file in enumerate(files):
            if not os.path.exists(file):
                raise self.source.error(f"{shown(file)}: no such file", "rules", position)
        load_rule_files(files)

    def check(self, rules: tuple[Rule, ...]) -> None:
        """Look at the words that name some of the rules, once all are known.

        Raises:
            RunError: a word names no rule.
        """
        for key, value in self.values.items():
            if self.has_foreign_rules and key != "select":  # with nothing known selected, silence would mean nothing
                continue
            try:
                all_settings()[key][1].kind.check(value, rules)
            except Mistake as mistake:
                raise self.source.error(mistake.message, key, *mistake.at) from mistake


def layers_of_file(file: str, root: str | None = None) -> list[Layer]:
    """The layers of a configuration file and of those that it extends, the file itself last.

    `root` is the folder that its patterns are seen from; its own when not given.

    Raises:
        RunError: one of the files cannot be read, or holds a key or value that makes no sense.
    """
    layers: list[Layer] = []
    seen: list[str] = []
    while True:
        layer = _layer_of_file(file, root or os.path.dirname(file), layers[-1].source if layers else None)
        layers.append(layer)
        seen.append(os.path.realpath(file))
        base = layer.values.get("extend")
        if base is None:
            return layers[::-1]
        if os.path.realpath(base) in seen:
            circle = [*seen[seen.index(os.path.realpath(base)) :], os.path.realpath(base)]
            told = " -> ".join(shown(each) for each in circle)
            raise layer.source.error(f"the files extend each other in a circle: {told}", "extend")
        if not os.path.isfile(base):
            reason = "is a folder" if os.path.isdir(base) else "no such file"
            raise layer.source.error(f"{shown(base)}: {reason}", "extend")
        file, root = base, None


def layer_of_option(text: str) -> Layer:
    """The layer of `--config "key = value"`.

    Raises:
        RunError: it is no TOML, or makes no sense.
    """
    source = Text("--config", text, is_option=True)
    table = _parse(source)
    if "extend" in table:
        raise source.error("only a file can extend another one", "extend")
    return Layer(source, _values(table, source, Base(os.getcwd(), os.getcwd())))


def layer_of_values(values: Mapping[str, object], root: str) -> Layer:
    """The layer of values that a program gives, as TOML would hold them.

    Raises:
        RunError: a key or value makes no sense.
    """
    source = Text("settings", "", is_option=True)
    return Layer(source, _values(values, source, Base(root, root)))


def has_settings(file: str) -> bool:
    """Whether a configuration file that was found holds settings: a pyproject.toml need not.

    Raises:
        RunError: it cannot be read, or names gradlint and is no TOML.
    """
    if os.path.basename(file) != PYPROJECT:
        return True
    # Most projects have no such table; then the rest of the file is not our business, broken or not.
    data = _read(file)
    return b"gradlint" in data and _tool_table(_parse(_text_of(file, data))) is not None


def joined(layers: Sequence[Layer], root: str | None, options: Sequence[Layer] = ()) -> Settings:
    """The settings that the layers make, later ones over earlier ones, and over all of them the options.

    Options hold for other files, too: `check_words` looks at theirs, when the rules of all files are known.

    Raises:
        RunError: a word names no rule, or a rule of the project's own cannot be loaded.
    """
    for layer in (*layers, *options):
        layer.load_rules()  # before words that name rules are looked at: they may name these
    settings = _together((*layers, *options), root)
    _check_gradients(settings, (*layers, *options))
    for layer in layers:
        layer.check(rules_under(rule_files(settings)))
    return settings.over_files(_together(options, root).selection) if options else settings


def _check_gradients(settings: Settings, layers: Sequence[Layer]) -> None:
    """Look whether a function is said to be both, with a gradient and without; the nearest place that says so is told.

    Raises:
        RunError: one is.
    """
    if settings.contradictions:
        for layer in reversed(layers):
            for key, other in (("nondifferentiable", "differentiable"), ("differentiable", "nondifferentiable")):
                for position, name in enumerate(layer.values.get(key, ())):
                    if name in settings.contradictions:
                        raise layer.source.error(f'"{name}" is in {other}, too', key, position)


def check_words(options: Sequence[Layer]) -> None:
    """Look at the words of options that name rules, once the rules of all files are known.

    Raises:
        RunError: a word names no rule.
    """
    for layer in options:
        layer.check(all_rules())


def _together(layers: Sequence[Layer], root: str | None) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            name, setting = all_settings()[key]
            place = layer.source.place(key)
            if setting.adds and name in values:
                values[name] = (*values[name], *value)
                origins[name] = f"{origins[name]}, {place}"
            else:
                values[name], origins[name] = value, place
    files = tuple(layer.source.shown for layer in reversed(layers) if not layer.source.is_option)
    return Settings(Path(root or ""), **values, origins=tuple(origins.items()), files=files, is_read=True)


def shown(file: str) -> str:
    """A file as messages name it: seen from the working folder when it lies in it."""
    relative = os.path.relpath(file)
    return printable(file if relative.startswith("..") else relative)


def _layer_of_file(file: str, root: str, extended_by: Text | None) -> Layer:
    source = _text_of(file, _read(file))
    table = _parse(source)
    if source.table:
        told = _tool_table(table)
        if told is None:
            complaint = f"{source.shown}: no table [tool.gradlint]"
            raise extended_by.error(complaint, "extend") if extended_by is not None else RunError(complaint)
        if not isinstance(told, Mapping):
            raise source.error("`tool.gradlint` must be a table")
        table = dict(told)
    return Layer(source, _values(table, source, Base(root, os.path.dirname(file))), file)


def _text_of(file: str, data: bytes) -> Text:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RunError(f"{shown(file)}:{data.count(10, 0, error.start) + 1}: not UTF-8") from error
    return Text(shown(file), text, PYPROJECT_TABLE if os.path.basename(file) == PYPROJECT else ())


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        if isinstance(error, IsADirectoryError):
            reason = "is a folder"
        elif isinstance(error, FileNotFoundError) and os.path.islink(file):
            reason = "broken symbolic link"
        raise RunError(f"{shown(file)}: {reason.lower()}") from error


def _tool_table(parsed: Mapping[str, Any]) -> object:
    tool = parsed.get("tool")
    return tool.get("gradlint") if isinstance(tool, Mapping) else None


def _parse(source: Text) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        parsed: dict[str, Any] = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        words = re.sub(r" \(at .*\)$", "", str(error))
        last = len(source.text.removesuffix("\n").split("\n"))
        row = f":{at[1] if at else last}" if not source.is_option else ""
        raise RunError(f"{source.shown}{row}: {printable(words[:1].lower() + words[1:])}") from error
    except (RecursionError, ValueError) as error:  # a number of more digits than Python reads
        raise RunError(
            f"{source.shown}: {'nested too deeply' if isinstance(error, RecursionError) else error}"
        ) from error
    return parsed


def _values(table: Mapping[str, object], source: Text, base: Base) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == PYPROJECT_TABLE[0] and not source.table and _tool_table(table) is not None:
            message = f"belongs into a {PYPROJECT}; here settings stand at the top level"
            raise source.error(message, *PYPROJECT_TABLE)
        if key not in all_settings():
            raise source.error(_no_such_setting(key), key)
        try:
            values[key] = all_settings()[key][1].kind.read(value, base)
        except Mistake as mistake:
            raise source.error(mistake.message, key, *mistake.at) from mistake
    return values


def _no_such_setting(key: str) -> str:
    near = get_close_matches(key.replace("_", "-").lower(), all_settings(), 1)
    return "no such setting" + (f'; did you mean "{near[0]}"?' if near else "")


def _as_key(word: str) -> str:
    return word if re.fullmatch(r"[\w-]+", word) else f'"{word}"'
