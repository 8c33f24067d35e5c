"""Which lines of the user's files ran, and which exceptions passed through them.

Only the functions in which a static finding stands are followed, line by line; a program without findings pays nothing.
A debugger or coverage tool that is there already keeps its place, and less is known.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from types import FrameType, TracebackType
from typing import Any

from gradlint.probe.observations import Raised
from gradlint.probe.places import Line

_IN_USER_CODE = re.compile(r'File "([^"]+)", line (\d+)')


class Sightings:
    """A context manager; `rows` of a file are the lines that ran, of those that somebody wanted to know about."""

    def __init__(self, wanted: Mapping[str, Iterable[int]]) -> None:
        self._wanted = {os.path.realpath(name): frozenset(rows) for name, rows in wanted.items()}
        self._files: dict[str, bool] = {}
        self._lines: set[tuple[str, int]] = set()
        self.exceptions: list[Raised] = []
        self._last: BaseException | None = None
        self._installed = False

    def __enter__(self) -> Sightings:
        if self._wanted and sys.gettrace() is None:
            self._installed = True
            threading.settrace(self._call)
            sys.settrace(self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            self._last = None
            sys.settrace(None)
            threading.settrace(None)

    def ran(self, filename: str, rows: Iterable[int]) -> bool:
        """Did any of these lines run?"""
        name = os.path.realpath(filename)
        return any((name, row) in self._lines for row in rows)

    def raised(self, error: BaseException) -> None:
        """This exception came out of the user's code, or is on its way."""
        if isinstance(error, SystemExit | GeneratorExit | StopIteration):
            return
        if error is self._last:
            self.exceptions.pop()  # the same one, seen from a frame further out: its traceback has grown
        self._last = error
        stack = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            stack.append(Line(code.co_filename, trace.tb_lineno or 1, code.co_name))
            trace = trace.tb_next
        message = str(error)
        # AutoGraph and tf.function tell the user's lines in the message, as the frames are those of made code.
        stack.extend(Line(name, int(row)) for name, row in _IN_USER_CODE.findall(message))
        self.exceptions.append(Raised(type(error).__name__, message, tuple(stack)))

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        # Called for every function of the program: by file name, since the hash of a code object takes long.
        filename = frame.f_code.co_filename
        try:
            wanted = self._files[filename]
        except KeyError:
            wanted = self._files[filename] = os.path.realpath(filename) in self._wanted
        return self._line if wanted else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._lines.add((os.path.realpath(frame.f_code.co_filename), frame.f_lineno))
        elif event == "exception":
            error = argument[1]
            if isinstance(error, BaseException):
                self.raised(error)
        return self._line
