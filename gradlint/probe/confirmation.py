"""What a run says of static findings: confirmed, refuted, or not reached.

Per verdict, what counts: of a gradient, what TensorFlow gave at the gradient calls that the finding's trace names; of
an exception, that it passed through the finding's lines; of updates, whether the variables moved. A finding is refuted
only by an observation that cannot be reconciled with it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from gradlint.probe.account import Account
from gradlint.probe.observations import GradientCall, SourceSeen, VariableSeen
from gradlint.probe.places import Line, Stack, lines_of_graph
from gradlint.probe.sightings import Sightings
from gradlint.rule import Finding
from gradlint.run_rules import ABOUT_FILES
from gradlint.verdicts import Confirmation, Verdict

_OF_GRADIENTS = {
    Verdict.NONE: (Verdict.NONE,),
    Verdict.ZERO: (Verdict.ZERO,),
    Verdict.NAN: (Verdict.NAN,),
}


def judged(findings: Sequence[Finding], account: Account, sightings: Sightings) -> list[Finding]:
    """The static findings, each with what the run says of it."""
    if not findings:
        return []
    run = _Run(account, sightings)
    return [replace(finding, confirmation=_judge(finding, run)) for finding in findings]


class _Run:
    """What there is to judge by."""

    def __init__(self, account: Account, sightings: Sightings) -> None:
        self.account = account
        self.sightings = sightings
        self._ran = {(os.path.realpath(line.filename), line.row) for line in _lines_of(account)}
        self._compiled: set[tuple[str, int]] = set()
        self._graphs_read = False

    def reached(self, finding: Finding) -> bool:
        """Did a line of the finding's place run?"""
        rows = range(finding.place.row, finding.place.end_row + 1)
        if self.sightings.ran(finding.filename, rows):
            return True
        name = os.path.realpath(finding.filename)
        if any((name, row) in self._ran for row in rows):
            return True
        if not self._graphs_read:  # where an op of a graph was made is known, and costs more
            self._graphs_read = True
            self._compiled.update(
                (os.path.realpath(line.filename), line.row)
                for graph in self.account.gradients.graphs.values()
                for line in lines_of_graph(graph)
            )
        if any((name, row) in self._compiled for row in rows):
            return True
        # Lines without an op leave no sign in a function that AutoGraph made; the function itself does.
        around = _function_around(name, finding.place.row)
        return any((name, row) in self._compiled for row in around)


@lru_cache(maxsize=512)
def _function_around(filename: str, row: int) -> range:
    """The rows of the innermost function that a row stands in; an empty range for none."""
    try:
        tree = ast.parse(Path(filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return range(0)
    functions = [
        range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return min((each for each in functions if row in each), key=len, default=range(0))


def _lines_of(account: Account) -> Iterator[Line]:
    for call in account.gradients.calls.values():
        yield from call.asked
        yield from _ends(call)
    for seen in account.variables.seen.values():
        yield from seen.made
        yield from seen.applied_at
        yield from seen.frozen_at
    for layer in account.layers.seen:
        yield from layer.made
        yield from layer.called_at
    for stack in account.ran:
        yield from stack


def _ends(call: GradientCall) -> Iterator[Line]:
    if call.tape_opened is not None:
        yield call.tape_opened
    for source in call.sources:
        if source.cut is not None:
            yield from source.cut.stack
            yield from source.cut.far_stack


def _judge(finding: Finding, run: _Run) -> Confirmation | None:
    if finding.code in ABOUT_FILES:
        return None
    match finding.verdict:
        case Verdict.NONE | Verdict.ZERO | Verdict.NAN:
            return _about_gradient(finding, run)
        case Verdict.RAISES:
            return _about_exception(finding, run)
        case Verdict.EMPTY_SOURCES:
            return _about_empty(finding, run)
        case Verdict.NEVER_UPDATED:
            return _about_kept(finding, run)
        case Verdict.FROZEN_MOVED:
            return _about_moved(finding, run)
        case _:
            return Confirmation.CONFIRMED if run.reached(finding) else Confirmation.NOT_REACHED


def rows_of(finding: Finding) -> dict[str, set[int]]:
    """Every line that the finding or its trace names, by file."""
    rows: dict[str, set[int]] = {}
    own = rows.setdefault(os.path.realpath(finding.filename), set())
    own.update(range(finding.place.row, finding.place.end_row + 1))
    for step in finding.trace:
        name = os.path.realpath(step.filename or finding.filename)
        rows.setdefault(name, set()).update(range(step.place.row, step.place.end_row + 1))
    return rows


def _touches(stack: Stack, rows: dict[str, set[int]]) -> bool:
    return any(line.row in rows.get(os.path.realpath(line.filename), ()) for line in stack)


def _about_gradient(finding: Finding, run: _Run) -> Confirmation:
    """What TensorFlow gave where the trace says that the gradient is asked."""
    assert finding.verdict is not None
    wanted = _OF_GRADIENTS[finding.verdict]
    rows = rows_of(finding)
    calls = [call for call in run.account.gradients.calls.values() if _touches(call.asked, rows)]
    if any(source.verdict() in wanted for source in _sources(calls)):
        return Confirmation.CONFIRMED
    if finding.verdict is Verdict.ZERO and any(source.is_rounding for source in _sources(calls)):
        return Confirmation.CONFIRMED  # terms that cancel leave what their rounding makes of it on this machine
    if finding.verdict is Verdict.NONE and any(
        source.verdict() is Verdict.ZERO
        for call in calls
        if call.mode == "graph" or call.fills_unconnected
        for source in call.sources
    ):
        return Confirmation.CONFIRMED  # a compiled graph makes None a zero
    asked_here = [call for call in calls if _touches(call.asked[:1], rows)]
    if not asked_here and run.reached(
        finding
    ):  # the trace does not name where it is asked, but the code was on the way
        if any(source.verdict() in wanted for source in _sources(run.account.gradients.calls.values())):
            return Confirmation.CONFIRMED
    if not asked_here or any(source.verdict() is Verdict.NOT_OBSERVABLE for source in _sources(asked_here)):
        return Confirmation.NOT_REACHED
    return Confirmation.REFUTED


def _sources(calls: Iterable[GradientCall]) -> Iterator[SourceSeen]:
    for call in calls:
        yield from call.sources


def _about_empty(finding: Finding, run: _Run) -> Confirmation:
    """A list that is empty: where it is asked for gradients, else where the code ran that makes it so."""
    rows = rows_of(finding)
    if any(call.is_empty and _touches(call.asked, rows) for call in run.account.gradients.calls.values()):
        return Confirmation.CONFIRMED
    return Confirmation.CONFIRMED if run.reached(finding) else Confirmation.NOT_REACHED


def _about_exception(finding: Finding, run: _Run) -> Confirmation:
    """An exception came through the finding's lines; refuted when they ran and the program ended well all the same."""
    rows = {os.path.realpath(finding.filename): set(range(finding.place.row, finding.place.end_row + 1))}
    raised = run.sightings.exceptions
    for lines in (rows, rows_of(finding)):
        if any(_touches(each.stack, lines) for each in raised):
            return Confirmation.CONFIRMED
    if not run.sightings.ran(finding.filename, rows[os.path.realpath(finding.filename)]):
        return Confirmation.NOT_REACHED
    # What is written wrongly here may raise elsewhere: a loss given to `compile` raises in `fit`.
    return Confirmation.CONFIRMED if raised else Confirmation.REFUTED


def _about_kept(finding: Finding, run: _Run) -> Confirmation:
    """Variables that keep their values: named ones, or those made at the lines of the finding."""
    if any(seen.moved is False for seen in _concerned(finding, run)):
        return Confirmation.CONFIRMED
    rows = rows_of(finding)
    if any(not layer.called for layer in run.account.layers.seen if _touches(layer.made, rows)):
        return Confirmation.CONFIRMED
    return Confirmation.CONFIRMED if run.reached(finding) else Confirmation.NOT_REACHED


def _about_moved(finding: Finding, run: _Run) -> Confirmation:
    """Frozen entries that move: the variables moved, and the code that freezes or trains them ran."""
    if not run.reached(finding):
        return Confirmation.NOT_REACHED
    concerned = _concerned(finding, run) or list(run.account.variables.seen.values())
    known = [seen for seen in concerned if seen.moved is not None]
    return Confirmation.CONFIRMED if any(seen.moved for seen in known) or not known else Confirmation.NOT_REACHED


def _concerned(finding: Finding, run: _Run) -> list[VariableSeen]:
    """The variables made at the lines of the finding; those of its names, when its code ran."""
    rows = rows_of(finding)
    by_line = [seen for seen in run.account.variables.seen.values() if _touches(seen.made, rows)]
    if not run.reached(finding):
        return by_line
    names = {part for name in finding.variables for part in re.findall(r"\w+", name)}
    by_name = [
        seen for seen in run.account.variables.seen.values() if names.intersection(re.findall(r"\w+", seen.name))
    ]
    return [*by_line, *(seen for seen in by_name if seen not in by_line)]
