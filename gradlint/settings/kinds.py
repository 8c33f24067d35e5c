"""Kinds: what the value of a setting may be, how it is read from TOML, and how it is told to people and to a schema.

A kind knows no files: a value that makes no sense raises `Mistake`, and whoever reads the file adds the place.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from difflib import get_close_matches
from typing import Any

from gradlint.files.patterns import Pattern, check_pattern, pattern_as_seen_from, pattern_in
from gradlint.rule import Rule, Severity
from gradlint.selection import complaint_about_selector

Json = dict[str, Any]
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class Mistake(Exception):
    """A value that makes no sense. `at` leads to it from the value of the setting: keys of tables, places in lists."""

    def __init__(self, message: str, *at: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at

    def inside(self, at: str | int) -> Mistake:
        """The same, one level further in."""
        return Mistake(self.message, at, *self.at)


@dataclass(frozen=True, slots=True)
class Base:
    """The absolute folders that relative values are seen from."""

    root: str
    """For patterns, `src` and `cache-dir`."""
    folder: str
    """For what belongs to the file itself: `extend` and `rules`."""


class Kind(ABC):
    """What the value of a setting may be."""

    words: str
    """For people: "list of rules"."""

    @abstractmethod
    def read(self, value: object, base: Base) -> Any:
        """The value as `Settings` holds it, from one as TOML would hold it; one that was read already stays.

        Raises:
            Mistake: it makes no sense.
        """

    @abstractmethod
    def schema(self) -> Json:
        """The value as JSON Schema sees it."""

    def check(self, value: Any, rules: tuple[Rule, ...]) -> None:
        """Look at words that name some of the rules: done last, when a project's own ones are known.

        Raises:
            Mistake: a word names no rule.
        """
        return None  # most kinds name no rules

    def written(self, value: Any, root: str = "") -> object:
        """The value as TOML would hold it, in settings that are seen from the absolute folder `root`."""
        return list(value) if isinstance(value, tuple) else value


class Words(Kind):
    """A list of strings, each of which a subclass looks at."""

    words = "list of strings"

    def read(self, value: object, base: Base) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise Mistake(f"expected a list of strings, got {_told(value)}")
        found = []
        for place, item in enumerate(value):
            try:
                found.append(self.read_item(item, base))
            except Mistake as mistake:
                raise mistake.inside(place) from None
        return tuple(found)

    def read_item(self, item: object, base: Base) -> Any:
        if not isinstance(item, str):
            raise Mistake(f"expected a string, got {_told(item)}")
        return self.read_word(item, base)

    def read_word(self, word: str, base: Base) -> Any:
        return word

    def schema(self) -> Json:
        return {"type": "array", "items": self.schema_of_word()}

    def schema_of_word(self) -> Json:
        return {"type": "string"}


class Rules(Words):
    """Codes, prefixes of codes, names, ALL."""

    words = "list of rules"

    def check(self, value: Any, rules: tuple[Rule, ...]) -> None:
        for place, word in enumerate(value):
            if complaint := complaint_about_selector(word, rules):
                raise Mistake(complaint, place)

    def schema_of_word(self) -> Json:
        return RULE


class Patterns(Words):
    """Patterns as in `.gitignore`."""

    words = "list of patterns"

    def read_item(self, item: object, base: Base) -> Any:
        return item if isinstance(item, Pattern) else super().read_item(item, base)

    def read_word(self, word: str, base: Base) -> Pattern:
        return _pattern(word, base)

    def written(self, value: Any, root: str = "") -> object:
        return [pattern_as_seen_from(each, root) for each in value]

    def schema_of_word(self) -> Json:
        return PATTERN


class DottedNames(Words):
    """Names of functions, as `import` would spell them."""

    words = "list of dotted names"

    def read_word(self, word: str, base: Base) -> str:
        if not _DOTTED.fullmatch(word):
            raise Mistake(f'expected a dotted name such as "mylib.ops.lookup", got {_told(word)}')
        return word

    def schema_of_word(self) -> Json:
        return {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"}


@dataclass(frozen=True)
class Paths(Words):
    """Files or folders; `~` is the user's home."""

    words = "list of paths"
    of_file: bool = False
    """Seen from the folder of the file that holds the setting, even when that is given by `--config`."""

    def read_item(self, item: object, base: Base) -> Any:
        return super().read_item(os.fspath(item) if isinstance(item, os.PathLike) else item, base)

    def read_word(self, word: str, base: Base) -> str:
        return _path(word, base.folder if self.of_file else base.root)

    def schema_of_word(self) -> Json:
        return PATH


@dataclass(frozen=True)
class OnePath(Kind):
    """A file or folder; `~` is the user's home."""

    words = "path"
    of_file: bool = False

    def read(self, value: object, base: Base) -> str:
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        if not isinstance(value, str):
            raise Mistake(f"expected a path, got {_told(value)}")
        return _path(value, base.folder if self.of_file else base.root)

    def schema(self) -> Json:
        return PATH


class Flag(Kind):
    """true or false."""

    words = "true or false"

    def read(self, value: object, base: Base) -> bool:
        if not isinstance(value, bool):
            raise Mistake(f"expected true or false, got {_told(value)}")
        return value

    def schema(self) -> Json:
        return {"type": "boolean"}


class KerasVersion(Kind):
    """2 or 3."""

    words = "2 or 3"

    def read(self, value: object, base: Base) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in (2, 3):
            raise Mistake(f"expected 2 or 3, got {_told(value)}")
        return int(value)  # 3.0, which is no other number for a JSON schema

    def schema(self) -> Json:
        return {"enum": [2, 3]}


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few words. They are asked for late: some are known to modules that few runs need."""

    choices: Callable[[], Sequence[str]]

    @property
    def words(self) -> str:  # type: ignore[override]
        return _alternatives(self.choices())

    def read(self, value: object, base: Base) -> str:
        choices = self.choices()
        if not isinstance(value, str) or value not in choices:
            raise Mistake(_not_one_of(value, choices))
        return value

    def schema(self) -> Json:
        return {"enum": list(self.choices())}


@dataclass(frozen=True)
class FailLevel(OneOf):
    """A severity."""

    def read(self, value: object, base: Base) -> Severity:  # type: ignore[override]
        return Severity(super().read(value.value if isinstance(value, Severity) else value, base))

    def written(self, value: Any, root: str = "") -> object:
        return value.value


@dataclass(frozen=True, slots=True)
class PerFileIgnores:
    """Rules to leave out in the files that a pattern matches; with `!` before it, in all others."""

    pattern: Pattern
    rules: tuple[str, ...]


class PerFile(Kind):
    """A table: pattern -> list of rules."""

    words = "table: pattern -> list of rules"

    def read(self, value: object, base: Base) -> tuple[PerFileIgnores, ...]:
        found = []
        if isinstance(value, tuple) and all(isinstance(each, PerFileIgnores) for each in value):
            return value
        for pattern, rules in _table(value, "patterns and lists of rules").items():
            try:
                found.append(PerFileIgnores(_pattern(pattern, base), Rules().read(rules, base)))
            except Mistake as mistake:
                raise mistake.inside(pattern) from None
        return tuple(found)

    def check(self, value: Any, rules: tuple[Rule, ...]) -> None:
        for each in value:
            try:
                Rules().check(each.rules, rules)
            except Mistake as mistake:
                raise mistake.inside(each.pattern.text) from None

    def written(self, value: Any, root: str = "") -> object:
        together: dict[str, list[str]] = {}
        for each in value:
            together.setdefault(pattern_as_seen_from(each.pattern, root), []).extend(each.rules)
        return together

    def schema(self) -> Json:
        return {"type": "object", "propertyNames": PATTERN, "additionalProperties": Rules().schema()}


class Severities(Kind):
    """A table: rule -> severity."""

    words = 'table: rule -> "error", "warning" or "info"'

    def read(self, value: object, base: Base) -> tuple[tuple[str, Severity], ...]:
        found = []
        known = [each.value for each in Severity]
        for word, given in _table(value, "rules and severities").items():
            severity = given.value if isinstance(given, Severity) else given
            if severity == "off":
                raise Mistake('"off" is no severity; put the rule into `ignore`', word)
            if not isinstance(severity, str) or severity not in known:
                raise Mistake(_not_one_of(severity, known), word)
            found.append((word, Severity(severity)))
        return tuple(found)

    def check(self, value: Any, rules: tuple[Rule, ...]) -> None:
        for word, _ in value:
            if complaint := complaint_about_selector(word, rules):
                raise Mistake(complaint, word)

    def written(self, value: Any, root: str = "") -> object:
        return {word: severity.value for word, severity in value}

    def schema(self) -> Json:
        return {
            "type": "object",
            "propertyNames": RULE,
            "additionalProperties": {"enum": [each.value for each in Severity]},
        }


#: Rules in a schema: every place that names rules refers to one definition.
RULE: Json = {"$ref": "#/definitions/rule"}
PATTERN: Json = {"type": "string", "pattern": "[^!\\s]"}
PATH: Json = {"type": "string", "minLength": 1}


def _pattern(text: str, base: Base) -> Pattern:
    try:
        check_pattern(text)
    except ValueError as error:
        raise Mistake(str(error)) from error
    return pattern_in(text, base.root)


def _path(text: str, folder: str) -> str:
    if not text or "\0" in text:
        raise Mistake(f"expected a path, got {_told(text)}")
    return os.path.normpath(os.path.join(folder, os.path.expanduser(text)))


def _table(value: object, of: str) -> Mapping[str, object]:
    if isinstance(value, tuple) and all(isinstance(each, tuple) and len(each) == 2 for each in value):
        value = dict(value)
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise Mistake(f"expected a table of {of}, got {_told(value)}")
    return value


def _not_one_of(value: object, choices: Sequence[str]) -> str:
    near = get_close_matches(value, choices, 1) if isinstance(value, str) else ()
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f"expected {_alternatives(choices)}, got {_told(value)}{hint}"


def _alternatives(choices: Sequence[str]) -> str:
    words = [f'"{each}"' for each in choices]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


def _told(value: object) -> str:
    """A value of a TOML file in a message: as it would be written there, and short."""
    if isinstance(value, Mapping):
        return "a table"
    told = _as_written(value)
    return told if len(told) <= 60 else f"{told[:59]}…"


def _as_written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_as_written, value))}]"
    if isinstance(value, Mapping):
        return "{...}"
    if isinstance(value, date | time):
        return value.isoformat()
    try:
        return repr(value)
    except ValueError:  # Python writes no number of more than a few thousand digits
        return "a number of thousands of digits"
