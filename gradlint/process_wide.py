"""Settings of the whole process that judging changes for a while: recursion limit, garbage collection, warnings, and
where to print.

A program that calls gradlint may judge on several threads, beside code of its own. So each change is made by the first
who needs it, put back by the last who is done, and the process is left as it was found.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import NoReturn


class WhileNeeded:
    """A change that holds while anybody needs it. `change` makes it and returns what puts it back."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_in_child)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._put_back: Callable[[], None] | None = None

    def _begin_in_child(self) -> None:
        """The threads that needed it stayed in the other process."""
        if self._users and self._put_back is not None:
            self._put_back()
        self._begin()

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._put_back = self._change()
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self._put_back is not None:
                self._put_back()


def _stop_collecting() -> Callable[[], None]:
    if not gc.isenabled():
        return lambda: None
    gc.disable()
    return gc.enable


#: Trees and values are many and live until their file is done: looking for garbage among them is wasted.
without_garbage_collection = WhileNeeded(_stop_collecting)


@cache
def recursion_limit(limit: int) -> WhileNeeded:
    """At least this many levels of calls."""

    def change() -> Callable[[], None]:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, limit))
        return lambda: sys.setrecursionlimit(before)

    return WhileNeeded(change)


def _ignore_warnings() -> Callable[[], None]:
    caught = warnings.catch_warnings()
    caught.__enter__()
    warnings.simplefilter("ignore")
    return lambda: caught.__exit__(None, None, None)


#: Warnings of the parser are about the judged code (invalid escapes), and not for our standard error.
without_warnings = WhileNeeded(_ignore_warnings)


def _hold_others() -> Callable[[], None]:
    is_over = False

    def held(name: str) -> Callable[..., NoReturn]:
        def refuse(*_: object, **__: object) -> NoReturn:
            if is_over:  # kept to be called at the end, such as by `atexit`
                leave(2)
            raise SystemExit(f"os.{name}: a rule must not end the run")

        return refuse

    leave = os._exit
    before: list[tuple[ModuleType, str, object]] = [(sys, "stdout", sys.stdout)]
    for module in filter(None, (os, sys.modules.get("posix"), sys.modules.get("nt"))):
        before += [(module, name, getattr(module, name)) for name in _LEAVING if hasattr(module, name)]
    for module, name, _ in before:
        setattr(module, name, held(name) if name in _LEAVING else sys.stderr)

    def put_back() -> None:
        nonlocal is_over
        is_over = True
        for module, name, value in before:
            setattr(module, name, value)

    return put_back


#: What ends a process on the spot, with whatever status.
_LEAVING = ("_exit", "execv", "execve")

#: While code of others runs: what it prints does not get into reports, which are written to standard output, and it
#: cannot end the process before they are.
while_others_run = WhileNeeded(_hold_others)
