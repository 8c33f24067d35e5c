"""Where something happened: the lines of the user's own code on a stack.

TensorFlow, Keras, the standard library and gradlint are left out; installed packages count only when no file of the
user's own is on the stack.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any

from gradlint.probe.private_api import Frame, mapped_stack
from gradlint.rule import Place

_GRADLINT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_FRAMEWORKS = tuple(
    f"{installed}{name}{os.sep}"
    for installed in _INSTALLED
    for name in ("tensorflow", "keras", "tf_keras", "numpy", "_pytest", "pluggy", "xdist", "execnet", "optree", "absl")
)
_GENERATED = "__autograph_generated_file"
_CUSTOM = "custom_gradient.py"
_DEEPEST = 8
#: What `gradlint probe` starts a program from: nothing further out is the program's.
_STARTED_BY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the user's code that ran."""

    filename: str
    row: int
    function: str = ""
    column: int = 0
    """From 1 when known, else 0."""
    end_row: int = 0
    end_column: int = 0

    @property
    def place(self) -> Place:
        """The range of the line: exact where the frame told it, else from its first character to its last."""
        if self.column:
            return Place(self.row, self.column, self.end_row, self.end_column)
        text = linecache.getline(self.filename, self.row).rstrip()
        start = len(text) - len(text.lstrip()) + 1
        return Place(self.row, start, self.row, max(len(text) + 1, start + 1))

    @property
    def text(self) -> str:
        """The line as it stands in the file, stripped; empty when the file cannot be read."""
        return linecache.getline(self.filename, self.row).strip()


Stack = tuple[Line, ...]
"""Lines of the user's code, the innermost first."""


@lru_cache(maxsize=4096)
def _rank(filename: str) -> int:
    """0: the user's own file; 1: an installed package; 2: never shown."""
    if filename.startswith("<") or _GENERATED in filename:
        return 2
    full = os.path.realpath(filename)
    if full.startswith(_GRADLINT) or any(name in full for name in _FRAMEWORKS):
        return 2
    if any(name in full for name in _INSTALLED):
        return 1
    return 2 if full.startswith(_STANDARD) else 0


def is_users(filename: str) -> bool:
    """True for a file that is neither installed nor part of Python."""
    return _rank(filename) == 0


def _chosen(lines: Iterable[Line]) -> Stack:
    own: list[Line] = []
    installed: list[Line] = []
    for line in lines:
        rank = _rank(line.filename)
        if rank == 0:
            own.append(line)
        elif rank == 1:
            installed.append(line)
    return tuple((own or installed)[:_DEEPEST])


def here() -> Stack:
    """The user's lines that led to this call."""
    return here_and_custom()[0]


def here_and_custom() -> tuple[Stack, bool]:
    """The user's lines that led to this call, and whether they run inside a function of tf.custom_gradient."""
    frame: FrameType | None = sys._getframe(1)
    lines = []
    custom = False
    while frame is not None and frame.f_code.co_filename != _STARTED_BY:
        filename = frame.f_code.co_filename
        if _GENERATED in filename:
            mapped = mapped_stack()
            return _chosen(Line(*part) for part in mapped), any(_CUSTOM in part[0] for part in mapped)
        if _rank(filename) < 2:
            lines.append(_line(frame))
        elif filename.endswith(_CUSTOM):
            custom = True
            lines.clear()  # what runs inside is not recorded: the call is the op that the tape knows
        frame = frame.f_back
    if not lines and threading.current_thread() is not threading.main_thread():
        lines = _lines_of_main_thread()
    return _chosen(lines), custom


def _lines_of_main_thread() -> list[Line]:
    """A replica of a strategy runs in a thread of TensorFlow's: the main thread waits at the user's line."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    lines = []
    while frame is not None and frame.f_code.co_filename != _STARTED_BY:
        if _rank(frame.f_code.co_filename) < 2:
            lines.append(_line(frame))
        frame = frame.f_back
    return lines


def variables_given_to_op() -> list[Any]:
    """The tf.Variables among the arguments of the function of TensorFlow that runs an op right now."""
    frame: FrameType | None = sys._getframe(1)
    found: list[Any] = []
    for _ in range(12):
        if frame is None:
            break
        name = os.path.basename(frame.f_code.co_filename)
        if name.startswith("gen_") or name in ("math_ops.py", "array_ops.py", "nn_ops.py"):
            for value in frame.f_locals.values():
                for part in value if isinstance(value, list | tuple) else (value,):
                    if hasattr(part, "handle") and hasattr(part, "assign") and not any(part is each for each in found):
                        found.append(part)
            if found:
                break
        frame = frame.f_back
    return found


def frames_here() -> list[FrameType]:
    """The frames of the user's own code that led to this call, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    frames = []
    while frame is not None:
        if _rank(frame.f_code.co_filename) == 0 or _GENERATED in frame.f_code.co_filename:
            frames.append(frame)
        frame = frame.f_back
    return frames


def _line(frame: FrameType) -> Line:
    code = frame.f_code
    row = frame.f_lineno or 1
    span = _span(code, frame.f_lasti)
    if span is None:
        return Line(code.co_filename, row, code.co_name)
    return Line(code.co_filename, span[0], code.co_name, *span[1:])


@lru_cache(maxsize=8192)
def _span(code: Any, instruction: int) -> tuple[int, int, int, int] | None:
    """Row, column, end row and end column of the expression that runs; Python tells them from 3.11 on."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    for index, (row, end_row, column, end_column) in enumerate(positions()):
        if index == instruction // 2:
            if None in (row, end_row, column, end_column):
                return None
            return (
                row,
                _characters(code.co_filename, row, column),
                end_row,
                _characters(code.co_filename, end_row, end_column),
            )
    return None


def _characters(filename: str, row: int, offset: int) -> int:
    """The column, from 1, of a byte of a line: Python counts bytes, people count characters."""
    text = linecache.getline(filename, row).encode("utf-8")
    return len(text[:offset].decode("utf-8", "replace")) + 1


def of_graph_op(op: Any) -> tuple[Stack, bool]:
    """The user's lines that made an op of a graph, and whether tf.custom_gradient is on the way to it."""
    try:
        frames: list[Frame] = [(f.filename, f.lineno, f.name) for f in reversed(list(op.traceback))]
    except Exception:  # graphs that were loaded, not traced
        return (), False
    return _chosen(Line(*frame) for frame in frames), any(_CUSTOM in frame[0] for frame in frames)


#: Graphs of more ops are not read for lines: 0.2 ms each.
_MOST_OPS = 3000


def lines_of_graph(graph: Any) -> Iterator[Line]:
    """The user's lines that made the ops of a graph; nothing of a large one."""
    ops = graph.get_operations()
    if len(ops) <= _MOST_OPS:
        for op in ops:
            yield from of_graph_op(op)[0]
