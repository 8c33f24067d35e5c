"""Work that needs TensorFlow, each piece in a process of its own that need not import it.

A server process imports TensorFlow once, runs no op, and forks one child per piece of work: a fork of a process that
has run an op can hang, and tests beside these may run some. The child's answer is a text that comes back by a pipe.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

SECONDS_PER_CHILD = 60.0
OUT_OF_TIME, DIED = "out of time", "died"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one piece of work: `text` is its answer, unless `problem` says why there is none."""

    work: Any
    text: str
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Child:
    pid: int
    pipe: int
    work: Any
    started: float
    parts: list[bytes] = field(default_factory=list)


def answers(module: str, work: Sequence[Any]) -> Iterator[Answer]:
    """Have `module.answer(piece)` called for each piece of work, one child per core at a time.

    Answers come in the order of finishing. Pieces are plain data. Before the first the server calls `module.prepare()`.
    """
    server = _server(module)
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(list(work)) + "\n")
    server.stdin.flush()
    for _ in work:
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(f"the server that forks for {module} ended with status {server.wait()}")
        yield Answer(*json.loads(line))


@cache
def _server(module: str) -> "subprocess.Popen[str]":
    """Ends by itself when this process does: its standard input closes."""
    return subprocess.Popen(
        [sys.executable, __file__, module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
    )


def _serve(name: str) -> None:
    tensorflow = importlib.import_module("tensorflow")
    importlib.import_module("keras")
    module = importlib.import_module(name)
    module.prepare()
    for line in sys.stdin:
        for answer in _answers_here(json.loads(line), module, tensorflow):
            print(json.dumps([answer.work, answer.text, answer.problem, answer.seconds]), flush=True)


def _answers_here(work: Sequence[Any], module: Any, tensorflow: Any) -> Iterator[Answer]:
    waiting = list(work)[::-1]
    running: list[_Child] = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(_start(waiting.pop(), module, tensorflow))
        for child, out_of_time in _done(running):
            running.remove(child)
            yield _finish(child, out_of_time=out_of_time)


def _start(work: Any, module: Any, tensorflow: Any) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, reading, work, time.monotonic())
    status = 1
    try:
        os.close(reading)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        text = module.answer(work)
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            pipe.write(text)
        status = 0
    finally:
        os._exit(status)


def _finish(child: _Child, *, out_of_time: bool) -> Answer:
    if out_of_time:
        os.kill(child.pid, signal.SIGKILL)
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    seconds = time.monotonic() - child.started
    problem = OUT_OF_TIME if out_of_time else f"{DIED}: wait status {status}" if status else ""
    return Answer(child.work, "" if problem else b"".join(child.parts).decode(), problem, seconds)


def _done(running: Sequence[_Child]) -> Iterator[tuple[_Child, bool]]:
    ready, _, _ = select.select([child.pipe for child in running], [], [], 0.5)
    for child in list(running):
        if child.pipe in ready:
            part = os.read(child.pipe, 65536)
            child.parts.append(part)
            if not part:
                yield child, False
                continue
        if time.monotonic() - child.started > SECONDS_PER_CHILD:
            yield child, True


if __name__ == "__main__":
    _serve(sys.argv[1])
