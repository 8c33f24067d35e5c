"""The rule contract: what a rule is, and what it returns.

A rule is one file under `rules/`: its docstring is its page, its one function decides and words.
The type of the function's only parameter is the event that it subscribes to; `engine.py` hands
each event of `flow/` to the rules that take its type. No list of rules is kept by hand anywhere.
Rules of one's own are written the same way; `own_rules.py` finds them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import typing
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, lru_cache
from types import ModuleType

from gradlint.fingerprints import Fingerprint
from gradlint.verdicts import Cause, Confirmation, Origin, Verdict

_ANSWERS_LATE = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

P = typing.ParamSpec("P")
T = typing.TypeVar("T")


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
    module: str = field(default="", repr=False)
    """The module that it was written in."""
    file: str = field(default="", repr=False)
    """Of a rule that the settings name by its file: that file. Such a rule holds for these settings alone."""

    @property
    def is_own(self) -> bool:
        """Whether it is not one of gradlint's."""
        return not self.module.startswith("gradlint.")

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.strip().partition("\n")[0]


#: By module, in the order written. A rule counts when its module is one of gradlint's, or was loaded by `own_rules.py`.
_written: dict[str, list[Rule]] = {}


def rule(
    code: str, name: str, severity: Severity, since: str
) -> Callable[[Callable[[typing.Any], Finding | None]], Callable[[typing.Any], Finding | None]]:
    """Make the decorated function the rule `code`; its module's docstring is the page.

    Raises:
        ValueError: the code or the name is taken in this module, or what is decorated is no function that takes
            exactly one annotated parameter and returns its answer.
    """

    def register(decide: Callable[[typing.Any], Finding | None]) -> Callable[[typing.Any], Finding | None]:
        event = _event_of(decide, code)
        page = _page_of(inspect.getmodule(decide))
        _add(Rule(code, name, severity, since, page, event, decide, decide.__module__))
        return decide

    return register


def _event_of(decide: Callable[[typing.Any], Finding | None], code: str) -> type:
    """What a rule subscribes to: the type of its parameter."""
    if not inspect.isfunction(decide):
        raise ValueError(f"{code}: a rule is a function, as `def` makes it")
    if decide.__code__.co_flags & _ANSWERS_LATE:
        raise ValueError(f"{code}: a rule returns a Finding or None; it is no `async def`, and does not `yield`")
    parameters = list(inspect.signature(decide, follow_wrapped=False).parameters.values())
    hints = typing.get_type_hints(decide)
    if len(parameters) != 1 or parameters[0].kind not in _BY_PLACE or parameters[0].name not in hints:
        told = ", ".join(str(each).partition(":")[0].partition("=")[0].strip() for each in parameters)
        raise ValueError(f"{code}: a rule takes one annotated event, by its place; its parameters are ({told})")
    event: type = hints[parameters[0].name]
    return event


def _page_of(module: ModuleType | None) -> str:
    """The docstring of a module, from its file where Python has dropped it (`-OO`)."""
    page = inspect.getdoc(module)
    if page is None and module is not None and sys.flags.optimize > 1:
        with suppress(OSError, TypeError, SyntaxError):
            page = ast.get_docstring(ast.parse(inspect.getsource(module)))
    return page or ""


def register_run_rule(code: str, name: str, severity: Severity, since: str, page: str) -> Rule:
    """Register a rule about the run itself (GL0xx): it has no event, the engine applies it."""
    made = Rule(code, name, severity, since, inspect.cleandoc(page), None, None, __name__)
    _add(made)
    return made


def _add(new: Rule) -> None:
    written = _written.setdefault(new.module, [])
    check_distinct([*written, new])
    written.append(new)


def check_distinct(rules: Iterable[Rule]) -> None:
    """Raise a ValueError, which names the later one, when two rules share their code or their name."""
    known: dict[str, Rule] = {}
    for each in rules:
        for word in (each.code, each.name):
            old = known.setdefault(word, each)
            if old is not each:
                raise ValueError(f"{each.code} ({each.name}): already registered as {old.code} ({old.name})")


def written_in(module: str) -> tuple[Rule, ...]:
    """The rules of a module, and those of the modules in it when it is a package."""
    return tuple(
        each for name, rules in _written.items() if name == module or name.startswith(f"{module}.") for each in rules
    )


def forget_module(module: str) -> None:
    """Let the rules of a module that is read anew, or was given up, be no more."""
    _written.pop(module, None)


def import_all(package: str) -> None:
    """Import a module, and all modules in it when it is a package."""
    found = importlib.import_module(package)
    for module in pkgutil.walk_packages(getattr(found, "__path__", ()), f"{package}."):
        importlib.import_module(module.name)


@cache
def rules_of_gradlint() -> tuple[Rule, ...]:
    """Every rule found under `gradlint.rules`, and those about the run itself (GL0xx) and of the probe, by code."""
    import gradlint.observed_rules  # registers the GL7xx rules
    import gradlint.run_rules  # noqa: F401  registers the GL0xx rules

    import_all("gradlint.rules")
    rules = written_in("gradlint")
    check_distinct(rules)
    return tuple(sorted(rules, key=lambda known: known.code))


def all_rules() -> tuple[Rule, ...]:
    """Every rule that is known: gradlint's, those of installed packages, those of rule files that were loaded; by code.

    Raises:
        RunError: the rules of an installed package cannot be loaded.
    """
    from gradlint.own_rules import rules_known

    return rules_known()


_kept: list[Callable[[], None]] = []


def kept_while_rules_stay(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the results of a function, until further rules are loaded."""
    kept = lru_cache(maxsize=4096)(function)
    _kept.append(kept.cache_clear)
    return typing.cast("Callable[P, T]", kept)


def tell_that_rules_changed() -> None:
    """What was kept while rules stayed is no longer true."""
    for clear in _kept:
        clear()
