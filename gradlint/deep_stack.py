"""A thread whose stack is large enough for the deepest trees, so that deep input ends in an exception, never a signal.

The engine runs parse and flow on it. A run starts one such thread and stays on it for all its files; nested calls
run where they are. Recursion limit and default stack size are put back before the call returns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

from gradlint.process_wide import recursion_limit

P = ParamSpec("P")
T = TypeVar("T")

# Reserved address space, of which only what is used becomes memory. The smaller ones are for tight `ulimit -v`.
_SIZES = (256 << 20, 64 << 20, 16 << 20)

# CPython spends at most about 2 KB of C stack per level (measured on 3.11, through `sorted` and `map` keys).
_BYTES_PER_LEVEL = 4096

_here = threading.local()
_starting = threading.Lock()


class _Call(Generic[T]):
    """One call to make on the thread, and afterwards what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.result: list[T] = []
        self.error: BaseException | None = None

    def run(self, levels: int) -> None:
        _here.deep = True
        try:
            with recursion_limit(levels):
                self.result.append(self.function())
        except BaseException as error:  # handed to the caller below, whatever it is
            self.error = error


def on_deep_stack(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function on a thread with a large stack and return (or raise) what it returns (or raises)."""
    if getattr(_here, "deep", False):
        return function(*args, **kwargs)
    call = _Call(lambda: function(*args, **kwargs))
    _start(call).join()
    if call.error is not None:
        raise call.error
    return call.result[0]


def _start(call: _Call[T]) -> threading.Thread:
    """The started thread, with the largest stack that the system grants."""
    for size in _SIZES:
        # A daemon, so that Ctrl-C ends the program without waiting for the file at hand.
        thread = threading.Thread(
            target=call.run, args=(size // _BYTES_PER_LEVEL,), name="gradlint deep stack", daemon=True
        )
        try:
            with _starting:  # one at a time: the size is that of all threads that are started
                before = threading.stack_size(size)
                try:
                    thread.start()
                finally:
                    threading.stack_size(before)
        except (RuntimeError, ValueError):
            continue
        return thread
    raise MemoryError("no thread can be started, not even with a stack of 16 MB")
