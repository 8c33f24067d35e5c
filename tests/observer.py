"""Observations: what one run of a program did to every source of every gradient that it asked for.

`observe` asks a server process, which imports TensorFlow once, runs no op, forks one child per program, and reads the
child's account through a pipe: a fork of a process that has run an op can hang, and tests beside these may run some.
What a fixture states about itself, and whether the two agree, lives in `fixtures_under_tensorflow.py`.
"""

import importlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SECONDS_PER_PROGRAM = 60.0
MONITORS = 4096
NOT_RUN = -1.0  # a graph's monitor that no run has reached
TENSORFLOW_ITSELF = (os.sep.join(("tensorflow", "python", "eager")), os.sep.join(("tensorflow", "python", "ops")))


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

    @classmethod
    def from_dict(cls, account: dict[str, Any]) -> "Observation":
        values: dict[str, Any] = {k: frozenset(v) if isinstance(v, list) else v for k, v in account.items()}
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in asdict(self).items()}


@dataclass(slots=True)
class _Account:
    """The child's notes while the program runs; `as_json` closes them."""

    tensorflow: Any
    verdicts: dict[str, set[str]] = field(default_factory=lambda: {"none": set(), "zero": set(), "nan": set()})
    flows: set[str] = field(default_factory=set)
    func_graph: Any = None  # the class of tf.function's graphs
    monitor: Any = None  # one variable for all graphs: tf.function refuses variables made while it traces
    monitored: list[str] = field(default_factory=list)
    variables: dict[int, Any] = field(default_factory=dict)
    at_first_update: dict[int, Any] | None = None
    depth: int = 0

    def gradients_asked(self, sources: Any, gradients: Any) -> None:
        flat_sources = _flat(sources)
        for place, (source, gradient) in enumerate(zip(flat_sources, _flat(gradients), strict=False)):
            self._note(_name(source, place), gradient)

    def _note(self, name: str, gradient: Any) -> None:
        if gradient is None:
            self.verdicts["none"].add(name)
            return
        values = getattr(gradient, "values", gradient)  # of IndexedSlices
        if hasattr(values, "numpy"):
            self._judge(name, values)
        else:
            self._monitor(name, values)

    def _judge(self, name: str, values: Any) -> None:
        numbers = values.numpy()
        if numbers.dtype.kind in "fc" and importlib.import_module("numpy").isnan(numbers).any():
            self.verdicts["nan"].add(name)
        elif numbers.size and not numbers.any():
            self.verdicts["zero"].add(name)
        else:
            self.flows.add(name)

    def _monitor(self, name: str, values: Any) -> None:
        """In a graph the value is known only when it runs: keep the smallest of the runs' largest entries."""
        tf = self.tensorflow
        if not isinstance(values.graph, self.func_graph):  # a graph of tf.compat.v1 cannot reach the monitor
            self.flows.add(name)
            return
        place = len(self.monitored)
        self.monitored.append(name)
        largest = tf.reduce_max(tf.abs(tf.cast(values, tf.float64)))
        before = self.monitor[place]
        self.monitor[place].assign(tf.where(before < 0, largest, tf.minimum(before, largest)))

    def variable_made(self, variable: Any) -> None:
        self.variables[id(variable)] = variable

    def update_asked(self) -> None:
        if self.at_first_update is None:
            with self.tensorflow.init_scope():
                self.at_first_update = {key: _numbers(variable) for key, variable in self.variables.items()}

    def as_json(self, raises: BaseException | None) -> str:
        for name, largest in zip(self.monitored, self.monitor.numpy().tolist(), strict=False):
            self._close(name, largest)
        moved, stayed = self._moved_and_stayed()
        return json.dumps(
            {
                **{verdict: sorted(names) for verdict, names in self.verdicts.items()},
                "flows": sorted(self.flows),
                "moved": sorted(moved),
                "stayed": sorted(stayed),
                "raises": type(raises).__name__ if raises is not None else None,
                "message": str(raises)[:300] if raises is not None else "",
            }
        )

    def _close(self, name: str, largest: float) -> None:
        if math.isnan(largest):
            self.verdicts["nan"].add(name)
        elif largest == 0:
            self.verdicts["zero"].add(name)
        else:
            self.flows.add(name)

    def _moved_and_stayed(self) -> tuple[set[str], set[str]]:
        moved: set[str] = set()
        stayed: set[str] = set()
        for key, before in (self.at_first_update or {}).items():
            variable = self.variables[key]
            after = _numbers(variable)
            if before is None or after is None or before.shape != after.shape:  # not built at the first update
                continue
            (stayed if (before == after).all() else moved).add(_name(variable, 0))
        return moved, stayed


def _flat(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in _flat(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in _flat(item)]
    return [structure]


def _name(source: Any, place: int) -> str:
    path = getattr(source, "path", None)  # keras.Variable
    if isinstance(path, str):
        return path
    if hasattr(source, "trainable"):  # tf.Variable; a slice of one has `assign` too
        name = str(source.name).split(":")[0]
        if name != "Variable":
            return name
    return f"#{place}"


def _numbers(variable: Any) -> Any:
    try:
        return variable.numpy()
    except Exception:  # made in a graph, or not built yet: nothing to compare
        return None


def _asked_by_tensorflow() -> bool:
    """jacobian, jvp and custom gradients open tapes of their own, which the program did not write."""
    caller = sys._getframe(2).f_code.co_filename
    return any(part in caller for part in TENSORFLOW_ITSELF)


def _replace(owner: Any, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    wrapper = wrap(getattr(owner, name))
    wrapper.autograph_info__ = {}  # type: ignore[attr-defined]  # autograph must not convert the observer
    setattr(owner, name, wrapper)


def _install(account: _Account) -> None:
    tf = account.tensorflow
    keras = importlib.import_module("keras")
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)

    account.func_graph = importlib.import_module("tensorflow.python.framework.func_graph").FuncGraph
    account.monitor = tf.Variable(tf.fill([MONITORS], tf.constant(NOT_RUN, tf.float64)), trainable=False)

    def note_gradient(original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            if account.depth or _asked_by_tensorflow():
                return original(self, target, sources, *args, **kwargs)
            account.depth += 1
            try:
                result = original(self, target, sources, *args, **kwargs)
            finally:
                account.depth -= 1
            account.gradients_asked(sources, result)
            return result

        return gradient

    def note_jvp(original: Callable[..., Any]) -> Callable[..., Any]:
        def jvp(self: Any, primals: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, primals, *args, **kwargs)
            account.gradients_asked(primals, result)
            return result

        return jvp

    def note_tf_gradients(original: Callable[..., Any]) -> Callable[..., Any]:
        def gradients(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(ys, xs, *args, **kwargs)
            account.gradients_asked(xs, result)
            return result

        return gradients

    def note_update(original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
            account.update_asked()
            return original(self, *args, **kwargs)

        return apply

    def note_variable(original: Callable[..., Any]) -> Callable[..., Any]:
        def make(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            account.variable_made(self)

        return make

    for method in ("gradient", "jacobian", "batch_jacobian"):
        _replace(tf.GradientTape, method, note_gradient)
    _replace(tf.autodiff.ForwardAccumulator, "jvp", note_jvp)
    _replace(tf, "gradients", note_tf_gradients)
    for method in ("apply", "apply_gradients"):
        _replace(keras.optimizers.Optimizer, method, note_update)
    _replace(keras.Variable, "__init__", note_variable)
    resource_variables = importlib.import_module("tensorflow.python.ops.resource_variable_ops")
    _replace(resource_variables.ResourceVariable, "__init__", note_variable)


def _run(program: Path, tensorflow: Any) -> str:
    """In the child: the program under the observer, its account as JSON."""
    account = _Account(tensorflow)
    _install(account)
    raises: BaseException | None = None
    sys.argv = [str(program)]
    sys.path.insert(0, str(program.parent))
    try:
        code = compile(program.read_text(encoding="utf-8"), str(program), "exec")
        exec(code, {"__name__": "__main__", "__file__": str(program)})
    except SystemExit as stop:
        raises = stop if stop.code else None
    except BaseException as error:
        raises = error
    return account.as_json(raises)


@dataclass(frozen=True, slots=True)
class _Child:
    pid: int
    pipe: int
    program: Path
    started: float
    parts: list[bytes] = field(default_factory=list)


def _start(program: Path, tensorflow: Any) -> _Child:
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
        text = _run(program, tensorflow)
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


def observe(programs: Iterable[Path]) -> Iterator[tuple[Path, Observation]]:
    """Run each program in a process of its own, one per core at a time; pairs come in the order of finishing."""
    asked = [str(program) for program in programs]
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
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
    for line in sys.stdin:
        for program, seen in _observe_here([Path(name) for name in json.loads(line)], tensorflow):
            print(json.dumps([str(program), seen.as_dict()]), flush=True)


def _observe_here(programs: Sequence[Path], tensorflow: Any) -> Iterator[tuple[Path, Observation]]:
    waiting = list(programs)[::-1]
    running: list[_Child] = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(_start(waiting.pop(), tensorflow))
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
