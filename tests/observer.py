"""Observations: what the probe saw of one run of a program.

Each program runs in a child of its own (`tensorflow_children.py`). What a fixture states about itself,
and whether the two agree, lives in `fixtures_under_tensorflow.py`.
"""

import importlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorflow_children import OUT_OF_TIME, SECONDS_PER_CHILD, Answer, answers

if TYPE_CHECKING:
    from gradlint.probe.joined import ProbeOutcome


@dataclass(frozen=True, slots=True)
class Observation:
    """What one program did. A source is named by its variable, or `#i` for place i of the sources asked for."""

    none: frozenset[str] = frozenset()
    zero: frozenset[str] = frozenset()
    nan: frozenset[str] = frozenset()
    flows: frozenset[str] = frozenset()
    raises: str | None = None
    moved: frozenset[str] = frozenset()
    stayed: frozenset[str] = frozenset()  # known when an optimizer was first applied, and unchanged at the end
    message: str = ""
    seconds: float = 0.0
    findings: tuple[dict[str, Any], ...] = ()  # what `gradlint probe` reports, as its JSON has it
    notes: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, account: dict[str, Any]) -> "Observation":
        in_order = ("findings", "notes")
        values: dict[str, Any] = {
            key: (tuple(value) if key in in_order else frozenset(value)) if isinstance(value, list) else value
            for key, value in account.items()
        }
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in asdict(self).items()}


def _account_as_json(outcome: "ProbeOutcome") -> str:
    """What the probe saw, as an observation."""
    from gradlint.probe.observations import GradientCall
    from gradlint.report import REPORTS
    from gradlint.report.contents import Report

    account = outcome.account
    seen: dict[str, set[str]] = {name: set() for name in ("none", "zero", "nan", "flows", "moved", "stayed")}
    calls: list[GradientCall] = list(account.gradients.calls.values())
    for call in calls:
        for place, source in enumerate(call.sources):
            name = source.own_name or f"#{place}"
            if source.none:
                seen["none"].add(name)
            if source.zero:
                seen["zero"].add(name)
            if source.nan:
                seen["nan"].add(name)
            faults = source.none + source.zero + source.nan
            if source.steps > faults or not (source.steps or faults):  # a graph that never ran, but has a gradient
                seen["flows"].add(name)
    for variable in account.variables.seen.values():
        if variable.moved is not None:
            seen["moved" if variable.moved else "stayed"].add(variable.name or "#0")
    error = outcome.error
    ended = error is None or (isinstance(error, SystemExit) and not error.code)
    return json.dumps(
        {
            **{key: sorted(names) for key, names in seen.items()},
            "raises": None if ended else type(error).__name__,
            "message": "" if ended else str(error)[:300],
            "findings": json.loads(REPORTS["json"](Report(outcome.results))),
            "notes": outcome.notes,
        }
    )


def prepare() -> None:
    """In the server: what a child would read for itself, rules and measured tables, is read once."""
    importlib.import_module("gradlint.probe.joined")
    importlib.import_module("gradlint.merging").check_bytes(
        b"import tensorflow as tf\nw = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = tf.round(w)\n",
        "program.py",
        importlib.import_module("gradlint.config").Settings(),
    )


def answer(work: tuple[str, bool]) -> str:
    """In the child: the program under the probe, its account as JSON."""
    from gradlint.probe.joined import probe_program

    program, run_only = work
    return _account_as_json(probe_program(program, [], is_module=False, run_only=run_only, locate_in_graphs=run_only))


def observe(programs: Iterable[Path], *, run_only: bool = False) -> Iterator[tuple[Path, Observation]]:
    """Run each program in a process of its own; pairs come in the order of finishing.

    With `run_only` the static findings are left out, and what they say too is told by the run.
    """
    for each in answers(__name__, [(str(program), run_only) for program in programs]):
        yield Path(each.work[0]), _observation(each)


def _observation(told: Answer) -> Observation:
    if told.problem == OUT_OF_TIME:
        return Observation(raises="OutOfTime", message=f"more than {SECONDS_PER_CHILD:.0f} s", seconds=told.seconds)
    if told.problem:
        return Observation(raises="Died", message=told.problem, seconds=told.seconds)
    return Observation.from_dict({**json.loads(told.text), "seconds": told.seconds})
