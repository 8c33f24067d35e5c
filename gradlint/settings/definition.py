"""The definition of all settings: key, kind, default, words and example, once, in the class that holds their values.

Reading and checking (`layers.py`), `--show-settings` (`shown.py`), the JSON schema and the page of the docs
(`tools/`) all go through `SETTINGS`; a new setting is one more field here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gradlint.errors import RunError
from gradlint.files.patterns import Pattern, compiled, is_matched
from gradlint.own_rules import load_rule_files, rule_files, rules_under
from gradlint.rule import Finding, Severity, kept_while_rules_stay
from gradlint.selection import Selection, matching_codes, selected_codes, severity_of
from gradlint.settings.kinds import (
    Base,
    DottedNames,
    FailLevel,
    Flag,
    KerasVersion,
    Kind,
    Mistake,
    OneOf,
    OnePath,
    Paths,
    Patterns,
    PerFile,
    PerFileIgnores,
    Rules,
    Severities,
)
from gradlint.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of one setting beside its name, its type and its default."""

    kind: Kind
    text: str
    """Markdown, for the page of the docs and the schema."""
    example: str
    """TOML, as in a `gradlint.toml`."""
    adds: bool = False
    """Whether a value adds to those of the files that this one extends. Others replace them."""
    of_run: bool = False
    """Whether it is a matter of the whole run: that of the first path counts."""


def _is(default: object, kind: Kind, text: str, example: str, *, adds: bool = False, of_run: bool = False) -> Any:
    return field(default=default, metadata={"setting": Setting(kind, text, example, adds, of_run)})


def _output_formats() -> tuple[str, ...]:
    from gradlint.report import REPORTS

    return tuple(REPORTS)


def _severities() -> tuple[str, ...]:
    return tuple(each.value for each in Severity)


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for some files: the sum of configuration files and options, or the defaults.

    A program gives values as TOML would hold them, tuples for lists if it likes, and paths as `os.PathLike`.

    Raises:
        RunError: a value makes no sense, or a rule of one's own cannot be loaded.
    """

    if TYPE_CHECKING:  # what is given is wider than what is held

        def __init__(
            self,
            root: AnyPath = ...,
            *,
            select: Sequence[str] = ...,
            extend_select: Sequence[str] = ...,
            ignore: Sequence[str] = ...,
            extend_ignore: Sequence[str] = ...,
            per_file_ignores: Mapping[str, Sequence[str]] | tuple[PerFileIgnores, ...] = ...,
            severity: Mapping[str, str | Severity] | tuple[tuple[str, Severity], ...] = ...,
            exclude: Sequence[str | Pattern] = ...,
            extend_exclude: Sequence[str | Pattern] = ...,
            include_docs: bool = ...,
            src: Sequence[AnyPath] = ...,
            keras: int = ...,
            differentiable: Sequence[str] = ...,
            nondifferentiable: Sequence[str] = ...,
            rules: Sequence[AnyPath] = ...,
            output_format: str = ...,
            fail_level: str | Severity = ...,
            cache_dir: AnyPath | None = ...,
            origins: tuple[tuple[str, str], ...] = ...,
            files: tuple[str, ...] = ...,
            is_read: bool = ...,
        ) -> None: ...

    root: Path = field(default_factory=Path)
    """The folder of the configuration file: what is relative is seen from here."""

    extend: str | None = _is(
        None,
        OnePath(of_file=True),
        "Another configuration file, to which this one adds: a `gradlint.toml` or a `pyproject.toml`, seen from the "
        "folder of this file. What this file says replaces what the other says; `extend-*`, `per-file-ignores` and "
        "`severity` add to it.",
        'extend = "../gradlint.toml"',
    )
    select: tuple[str, ...] = _is(
        (),
        Rules(),
        "Rules to apply: codes (`GL101`), prefixes of codes (`GL1`), names (`forward-outside-tape`), `ALL`. Empty "
        "means all. Of two words for the same rule in `select` and `ignore` the more specific one wins, of equal "
        "ones `ignore`.",
        'select = ["GL1", "GL2", "layer-untracked"]',
    )
    extend_select: tuple[str, ...] = _is(
        (),
        Rules(),
        "Rules to apply beside those of `select`, which may come from the file that this one extends.",
        'extend-select = ["GL5"]',
        adds=True,
    )
    ignore: tuple[str, ...] = _is(
        (),
        Rules(),
        "Rules to leave out, named as in `select`. Ignoring `GL001`, `GL002` or `GL009` makes files that cannot be "
        "judged look clean.",
        'ignore = ["unused-suppression"]',
    )
    extend_ignore: tuple[str, ...] = _is(
        (), Rules(), "Rules to leave out beside those of `ignore`.", 'extend-ignore = ["GL611"]', adds=True
    )
    per_file_ignores: tuple[PerFileIgnores, ...] = _is(
        (),
        PerFile(),
        "Rules to leave out in some files: a table of patterns (as in `.gitignore`) and rules. A pattern that begins "
        "with `!` means all files that it does not match. The file that counts is the one that the finding stands in.",
        '[per-file-ignores]\n"tests/" = ["GL4", "part-not-trained"]\n"!src/" = ["GL6"]',
        adds=True,
    )
    severity: tuple[tuple[str, Severity], ...] = _is(
        (),
        Severities(),
        "Other severities than those of the rules: a table of rules (named as in `select`) and severities. The more "
        "specific word wins; GL001, GL002 and GL009, which say that a file could not be judged, have to be named in "
        'full. To switch a rule off, put it into `ignore`; "off" is not taken.',
        '[severity]\nterm-outside-tape = "error"\nGL6 = "info"',
        adds=True,
    )
    exclude: tuple[Pattern, ...] = _is(
        (),
        Patterns(),
        "Files and folders to pass over: patterns as in `.gitignore`, seen from the folder of the file, or paths, "
        "which begin with `./`, `../` or at the root of the file system. Hidden folders, `__pycache__`, `build`, "
        "`dist`, `node_modules`, `site-packages`, `venv` and what git ignores (by `.gitignore`, `.git/info/exclude` "
        "and `core.excludesFile`) are passed over anyway; `!build/` brings a folder back. A path that is named on the "
        "command line is judged all the same, unless `--force-exclude` is given; then names count from the root of "
        "the project on.",
        'exclude = ["legacy/", "*_pb2.py"]',
    )
    extend_exclude: tuple[Pattern, ...] = _is(
        (),
        Patterns(),
        "Files and folders to pass over beside those of `exclude`.",
        'extend-exclude = ["vendor/"]',
        adds=True,
    )
    include_docs: bool = _is(
        False,
        Flag(),
        "Whether code in Markdown, reStructuredText and docstrings is judged too.",
        "include-docs = true",
    )
    src: tuple[str, ...] = _is(
        (".",),
        Paths(),
        "Folders where the imports of the project start.",
        'src = [".", "src"]',
    )
    keras: int = _is(
        3,
        KerasVersion(),
        "What `tf.keras` is: Keras 3, or 2, the package `tf_keras` (`TF_USE_LEGACY_KERAS=1`).",
        "keras = 2",
    )
    differentiable: tuple[str, ...] = _is(
        (),
        DottedNames(),
        "Functions to trust: a gradient flows through them, whatever their code looks like. Named as an import "
        "would spell them, in the file that they stand in as well: `module.function`, `package.module.Class.method`.",
        'differentiable = ["mylib.ops.smooth_round"]',
    )
    nondifferentiable: tuple[str, ...] = _is(
        (),
        DottedNames(),
        "Functions that no gradient flows through, named likewise. None of them can be in `differentiable`, too.",
        'nondifferentiable = ["mylib.ops.lookup"]',
    )
    rules: tuple[str, ...] = _is(
        (),
        Paths(of_file=True),
        "Files with rules of the project's own, seen from the folder of the file. They are run, so only those count "
        "that are named by the settings of the working folder or of a folder above it, by a file that these extend or "
        "`--config` names, or that `--allow-rules` allows; about others a line is printed.",
        'rules = ["tools/our_rules.py"]',
    )
    output_format: str = _is(
        "full", OneOf(_output_formats), "How findings are printed.", 'output-format = "concise"', of_run=True
    )
    fail_level: Severity = _is(  # noqa: RUF009
        Severity.WARNING,
        FailLevel(_severities),
        "The lowest severity that makes the exit status 1. Of several paths that are named, the strictest counts.",
        'fail-level = "error"',
        of_run=True,
    )
    cache_dir: str | None = _is(
        None,
        OnePath(),
        "The folder for results that are kept between runs. Accepted already; there is no cache yet, so that it "
        "changes nothing.",
        'cache-dir = ".cache/gradlint"',
        of_run=True,
    )

    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Where values come from, by field: for `--show-settings`."""
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The configuration files, the nearest first."""
    is_read: bool = field(default=False, compare=False, repr=False)
    """Whether the values come from files and options, or from other settings, and were looked at there."""

    def __post_init__(self) -> None:
        """Read what a program gives, as TOML would hold it, just as files are read.

        Raises:
            RunError: a value makes no sense, or a rule of one's own cannot be loaded.
        """
        if not self.is_read:
            _read_given(self)

    def for_file(self, path: str) -> Settings:
        """These settings, whatever the file is."""
        return self

    def for_folder(self, folder: str) -> Settings:
        """These settings, whatever the folder is."""
        return self

    @property
    def selected(self) -> frozenset[str]:
        """The codes of the rules that are on; some of them may be off in single files."""
        selection = self.selection
        return selected_codes(selection.on, selection.off, rule_files(self))

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The functions that are said to have a gradient and to have none."""
        return tuple(name for name in self.nondifferentiable if name in self.differentiable)

    @property
    def selection(self) -> Selection:
        """The lists that say which rules are on."""
        return Selection(self.select, self.extend_select, self.ignore, self.extend_ignore)

    def over_files(self, said: Selection) -> Settings:
        """These settings, where what options `said` of rules, and is in them already, counts more than files do."""
        if said == Selection():
            return self
        return replace(self, **_lists_of(self.selection.over(said, rule_files(self))))

    def selected_in(self, path: str) -> frozenset[str]:
        """The codes of the rules that are on in a file."""
        if not self.per_file_ignores:
            return self.selected
        return self.selected - ignored_in(self.per_file_ignores, str(self.root), os.path.abspath(path))

    def with_codes(self, codes: frozenset[str]) -> Settings:
        """These settings with exactly these rules on."""
        others = selected_codes((), (), rule_files(self)) - codes
        found = Selection(select=tuple(sorted(codes)), ignore=tuple(sorted(others)))
        return replace(self, **_lists_of(found), is_read=True)

    def with_severity(self, finding: Finding) -> Finding:
        """The finding with the severity that the settings give to its rule."""
        severity = severity_of(finding.code, self.severity) if self.severity else None
        return finding if severity in (None, finding.severity) else replace(finding, severity=severity)


def _lists_of(selection: Selection) -> dict[str, Any]:
    return {each.name: getattr(selection, each.name) for each in fields(selection)}


def _read_given(settings: Settings) -> None:
    if not isinstance(settings.root, str | os.PathLike):
        raise RunError(f"settings: root: expected a path, got {type(settings.root).__name__}")
    object.__setattr__(settings, "root", Path(settings.root))
    folder = os.path.abspath(settings.root)
    given = [each for each in fields(settings) if "setting" in each.metadata]
    given = [each for each in given if getattr(settings, each.name) is not each.default]
    at = ""
    try:
        for each in given:
            at = each.name
            if at == "extend":
                raise Mistake("only a file can extend another one")
            kind: Kind = each.metadata["setting"].kind
            object.__setattr__(settings, at, kind.read(getattr(settings, at), Base(folder, folder)))
        if settings.contradictions:
            at = "nondifferentiable"
            raise Mistake(f'"{settings.contradictions[0]}" is in differentiable, too')
        load_rule_files(rule_files(settings))
        for each in given:
            at, kind = each.name, each.metadata["setting"].kind
            kind.check(getattr(settings, at), rules_under(rule_files(settings)))
    except Mistake as mistake:
        keys = ".".join([at, *(key for key in mistake.at if isinstance(key, str))])
        raise RunError(f"settings: {printable(f'{keys}: {mistake.message}')}") from mistake


class SettingsByFile(Protocol):
    """Which settings hold where: one `Settings` for all files, or a `Hierarchy`."""

    def for_file(self, path: str) -> Settings:
        """The settings for a file."""

    def for_folder(self, folder: str) -> Settings:
        """The settings for what a folder holds."""


@cache
def all_settings() -> dict[str, tuple[str, Setting]]:
    """By key, as TOML has it: the field of `Settings`, and what is known of it."""
    return {
        each.name.replace("_", "-"): (each.name, each.metadata["setting"])
        for each in fields(Settings)
        if "setting" in each.metadata
    }


@kept_while_rules_stay
def ignored_in(tables: tuple[PerFileIgnores, ...], root: str, path: str) -> frozenset[str]:
    """The codes that per-file-ignores switch off in a file."""
    return frozenset(
        code
        for patterns, is_negated, words in _per_file(tables, root)
        if is_matched(patterns, path, is_folder=False) is not is_negated
        for code in matching_codes(words)
    )


@lru_cache(maxsize=64)
def _per_file(tables: tuple[PerFileIgnores, ...], root: str) -> list[tuple[Any, bool, tuple[str, ...]]]:
    found = []
    for each in tables:
        is_negated = each.pattern.text.startswith("!")
        pattern = Pattern(each.pattern.text.removeprefix("!"), each.pattern.folder)
        found.append((compiled([pattern], root), is_negated, each.rules))
    return found
