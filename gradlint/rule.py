"""The rule contract: what a rule is, and what it returns.

A rule is one file under `rules/`: its docstring is its page, its one function decides and words.
The type of the function's only parameter is the event that it subscribes to; `engine.py` hands
each event of `flow/` to the rules that take its type. No list of rules is kept by hand anywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from gradlint.fingerprints import Fingerprint
from gradlint.verdicts import Cause, Confirmation, Origin, Verdict


class Severity(Enum):
    """How certain a finding is: `error` must be so, `warning` nearly always, `info` is a hint."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def is_at_least(self, level: Severity) -> bool:
        """Whether it is as certain as this level, or more."""
        order = list(Severity)
        return order.index(self) <= order.index(level)


@dataclass(frozen=True, slots=True)
class Place:
    """A range of the file: rows and columns from 1, columns in characters, the end exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int
    cell: int = 0
    """In a notebook, the number of the cell, from 1 over all cells; rows are those of the cell."""
    file: int = 0
    """Of several files that were judged together, which one: a number of that run, and 0 once the file is named."""

    @property
    def order(self) -> tuple[int, ...]:
        """For sorting the places of one file as they are read."""
        return self.cell, self.row, self.column, self.end_row, self.end_column


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace: *thing + participle + here*."""

    message: str
    place: Place
    filename: str = ""
    """Where it stands, when that is another file than the finding's."""


Trace = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule applied at a place. Rules fill the first group; `engine.py` stamps the second."""

    place: Place
    message: str
    instead: str | None = None
    trace: Trace = ()
    verdict: Verdict | None = None
    cause: Cause | None = None
    variables: tuple[str, ...] = ()
    severity: Severity | None = None

    code: str = ""
    name: str = ""
    filename: str = ""
    origin: Origin = Origin.STATIC
    confirmation: Confirmation | None = None
    """What a run under the probe said of it; None when there was no run."""
    fingerprint: Fingerprint | None = field(default=None, compare=False)
    """What it is known by while the code around it moves; None until all findings of its file are known."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A registered rule. `page` is the docstring of its module, Markdown with fixed headings."""

    code: str
    name: str
    severity: Severity
    since: str
    page: str = field(repr=False)
    event: type | None
    decide: Callable[[typing.Any], Finding | None] | None = field(repr=False)

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.strip().splitlines()[0]


_REGISTERED: dict[str, Rule] = {}


def rule(
    code: str, name: str, severity: Severity, since: str
) -> Callable[[Callable[[typing.Any], Finding | None]], Callable[[typing.Any], Finding | None]]:
    """Register the decorated function as the rule `code`.

    Raises:
        ValueError: the code or the name is taken, or the function does not take exactly one
            annotated parameter.
    """

    def register(decide: Callable[[typing.Any], Finding | None]) -> Callable[[typing.Any], Finding | None]:
        hints = typing.get_type_hints(decide)
        hints.pop("return", None)
        if len(hints) != 1:
            raise ValueError(f"{code}: a rule takes one annotated event, got {sorted(hints)}")
        page = inspect.getdoc(inspect.getmodule(decide)) or ""
        _add(Rule(code, name, severity, since, page, next(iter(hints.values())), decide))
        return decide

    return register


def _add(new: Rule) -> None:
    for old in _REGISTERED.values():
        if new.code == old.code or new.name == old.name:
            raise ValueError(f"{new.code} ({new.name}): already registered as {old.code} ({old.name})")
    _REGISTERED[new.code] = new


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule found under `gradlint.rules`, and the GL0xx rules of the run itself, by code."""
    import gradlint.observed_rules  # registers the GL7xx rules
    import gradlint.rules
    import gradlint.run_rules  # registers the GL0xx rules

    for module in pkgutil.walk_packages(gradlint.rules.__path__, "gradlint.rules."):
        importlib.import_module(module.name)
    return tuple(sorted(_REGISTERED.values(), key=lambda known: known.code))


def register_run_rule(code: str, name: str, severity: Severity, since: str, page: str) -> Rule:
    """Register a rule about the run itself (GL0xx): it has no event, the engine applies it."""
    made = Rule(code, name, severity, since, inspect.cleandoc(page), None, None)
    _add(made)
    return made
