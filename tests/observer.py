"""Observations: what the probe saw of one run of a program.

`observe` asks a server process, which imports TensorFlow once, runs no op, forks one child per program, and reads the
child's account through a pipe: a fork of a process that has run an op can hang, and tests beside these may run some.
What a fixture states about itself, and whether the two agree, lives in `fixtures_under_tensorflow.py`.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradlint.probe.joined import ProbeOutcome

SECONDS_PER_PROGRAM = 60.0


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


def _run(program: Path, tensorflow: Any, run_only: bool) -> str:
    """In the child: the program under the probe, its account as JSON."""
    from gradlint.probe.joined import probe_program

    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    return _account_as_json(
        probe_program(str(program), [], is_module=False, run_only=run_only, locate_in_graphs=run_only)
    )


@dataclass(frozen=True, slots=True)
class _Child:
    pid: int
    pipe: int
    program: Path
    started: float
    parts: list[bytes] = field(default_factory=list)


def _start(program: Path, tensorflow: Any, run_only: bool) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, reading, program, time.monotonic())
    status = 1
    try:
        os.close(reading)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        text = _run(program, tensorflow, run_only)
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            pipe.write(text)
        status = 0
    finally:
        os._exit(status)


def _finish(child: _Child, *, out_of_time: bool) -> Observation:
    if out_of_time:
        os.kill(child.pid, signal.SIGKILL)
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    seconds = time.monotonic() - child.started
    if out_of_time:
        return Observation(raises="OutOfTime", message=f"more than {SECONDS_PER_PROGRAM:.0f} s", seconds=seconds)
    if status:
        return Observation(raises="Died", message=f"wait status {status}", seconds=seconds)
    return Observation.from_dict({**json.loads(b"".join(child.parts)), "seconds": seconds})


def observe(programs: Iterable[Path], *, run_only: bool = False) -> Iterator[tuple[Path, Observation]]:
    """Run each program in a process of its own, one per core at a time; pairs come in the order of finishing.

    With `run_only` the static findings are left out, and what they say too is told by the run.
    """
    asked = [str(program) for program in programs]
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps([run_only, asked]) + "\n")
    server.stdin.flush()
    for _ in asked:
        answer = server.stdout.readline()
        if not answer:
            raise RuntimeError(f"the observer's server ended with status {server.wait()}")
        program, account = json.loads(answer)
        yield Path(program), Observation.from_dict(account)


@cache
def _server() -> "subprocess.Popen[str]":
    """Ends by itself when this process does: its standard input closes."""
    return subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
    )


def _serve() -> None:
    tensorflow = importlib.import_module("tensorflow")
    importlib.import_module("keras")
    importlib.import_module("gradlint.probe.joined")
    # What a child would read for itself, rules and measured tables, is read once.
    importlib.import_module("gradlint.merging").check_bytes(
        b"import tensorflow as tf\nw = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n    y = tf.round(w)\n",
        "program.py",
        importlib.import_module("gradlint.config").Settings(),
    )
    for line in sys.stdin:
        run_only, asked = json.loads(line)
        for program, seen in _observe_here([Path(name) for name in asked], tensorflow, run_only):
            print(json.dumps([str(program), seen.as_dict()]), flush=True)


def _observe_here(programs: Sequence[Path], tensorflow: Any, run_only: bool) -> Iterator[tuple[Path, Observation]]:
    waiting = list(programs)[::-1]
    running: list[_Child] = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(_start(waiting.pop(), tensorflow, run_only))
        for child, out_of_time in _done(running):
            running.remove(child)
            yield child.program, _finish(child, out_of_time=out_of_time)


def _done(running: Sequence[_Child]) -> Iterator[tuple[_Child, bool]]:
    ready, _, _ = select.select([child.pipe for child in running], [], [], 0.5)
    for child in list(running):
        if child.pipe in ready:
            part = os.read(child.pipe, 65536)
            child.parts.append(part)
            if not part:
                yield child, False
                continue
        if time.monotonic() - child.started > SECONDS_PER_PROGRAM:
            yield child, True


if __name__ == "__main__":
    _serve()
