"""A thread whose stack is large enough for the deepest trees, so that deep input ends in an exception, never a signal.

The engine runs parse and flow on it. A run starts one such thread and stays on it for all its files; nested calls
run where they are. Recursion limit and default stack size are put back before the call returns.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Reserved address space, of which only what is used becomes memory. The smaller ones are for tight `ulimit -v`.
_SIZES = (256 << 20, 64 << 20, 16 << 20)

# CPython spends at most about 2 KB of C stack per level (measured on 3.11, through `sorted` and `map` keys).
_BYTES_PER_LEVEL = 4096

_here = threading.local()


class _Call(Generic[T]):
    """One call to make on the thread, and afterwards what came of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.result: list[T] = []
        self.error: BaseException | None = None

    def run(self, recursion_limit: int) -> None:
        _here.deep = True
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, recursion_limit))
        try:
            self.result.append(self.function())
        except BaseException as error:  # handed to the caller below, whatever it is
            self.error = error
        finally:
            sys.setrecursionlimit(before)


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
    before = threading.stack_size()
    for size in _SIZES:
        # A daemon, so that Ctrl-C ends the program without waiting for the file at hand.
        thread = threading.Thread(
            target=call.run, args=(size // _BYTES_PER_LEVEL,), name="gradlint deep stack", daemon=True
        )
        try:
            threading.stack_size(size)
            thread.start()
        except (RuntimeError, ValueError):
            continue
        finally:
            threading.stack_size(before)
        return thread
    raise MemoryError("no thread can be started, not even with a stack of 16 MB")
