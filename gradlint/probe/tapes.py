"""What is known of each tf.GradientTape: where it opened and closed, when it recorded, what it was told to watch."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.places import Line
from gradlint.probe.private_api import func_graph_class

_NUMBERS = itertools.count(1)
_ATTRIBUTE = "_gradlint_seen"


@dataclass(eq=False)  # no slots: the hub holds it weakly
class TapeSeen:
    """One tape. Its graph intervals say between which ops of which graph it was recording."""

    number: int
    opened: Line | None = None
    closed: Line | None = None
    asked: Line | None = None
    watched: dict[int, tuple[int | None, int]] = field(default_factory=dict)
    """What `watch` was told: each with the number of a graph, None eagerly, and how many ops there were by then."""
    watch_lines: dict[int, Line] = field(default_factory=dict)
    watches_variables: bool = True
    intervals: list[tuple[int, int, int | None]] = field(default_factory=list)
    """(number of the graph, first op, end) while it recorded; the end is None until it stops."""


class _Stack(threading.local):
    """The tapes that record in this thread."""

    def __init__(self) -> None:
        self.recording: list[TapeSeen] = []
        self.numbers: frozenset[int] = frozenset()

    def changed(self) -> None:
        self.numbers = frozenset(tape.number for tape in self.recording)


_STACK = _Stack()


def seen(tape: Any) -> TapeSeen:
    """What is known of this tape; the notes are kept on the tape itself and end with it."""
    notes = getattr(tape, _ATTRIBUTE, None)
    if notes is None:
        notes = TapeSeen(next(_NUMBERS), watches_variables=bool(getattr(tape, "_watch_accessed_variables", True)))
        setattr(tape, _ATTRIBUTE, notes)
    return notes


def recording() -> frozenset[int]:
    """The numbers of the tapes that record in this thread."""
    return _STACK.numbers


def open_tapes() -> list[TapeSeen]:
    """The tapes that record in this thread, the outermost first."""
    return list(_STACK.recording)


def opened(tape: Any, line: Line | None) -> None:
    """The tape starts, or starts again, to record."""
    notes = seen(tape)
    notes.opened = notes.opened or line
    if notes not in _STACK.recording:
        _STACK.recording.append(notes)
    _STACK.changed()
    graph = _current_graph()
    if graph is not None:
        notes.intervals.append((id(graph), graph_size(graph), None))


def closed(tape: Any, line: Line | None) -> None:
    """The tape stops recording, for a while or for good."""
    notes = seen(tape)
    if line is not None:
        notes.closed = line
    if notes in _STACK.recording:
        _STACK.recording.remove(notes)
    _STACK.changed()
    graph = _current_graph()
    if graph is not None:
        size = graph_size(graph)
        notes.intervals = [
            (g, start, size if end is None and g == id(graph) else end) for g, start, end in notes.intervals
        ]


def watched(tape: Any, numbers: Iterable[int], ops: int, line: Line | None) -> None:
    """`tape.watch` was called when this many eager ops had run."""
    notes = seen(tape)
    graph = _current_graph()
    when = (None, ops) if graph is None else (id(graph), graph_size(graph))
    for number in numbers:
        notes.watched.setdefault(number, when)
        if line is not None:
            notes.watch_lines.setdefault(number, line)


def recording_in(known: Iterable[TapeSeen], graph: int) -> Callable[[int], frozenset[int]]:
    """Which of these tapes were recording when an op of this graph was made: a function of the op's place in it."""
    intervals = [(tape.number, start, end) for tape in known for which, start, end in tape.intervals if which == graph]
    known_sets: dict[tuple[int, ...], frozenset[int]] = {(): frozenset()}

    def at(place: int) -> frozenset[int]:
        numbers = tuple(number for number, start, end in intervals if start <= place and (end is None or place < end))
        if numbers not in known_sets:
            known_sets[numbers] = frozenset(numbers)
        return known_sets[numbers]

    return at


def graph_size(graph: Any) -> int:
    """How many ops the graph has by now."""
    return len(graph.get_operations())


def _current_graph() -> Any:
    import tensorflow as tf

    if tf.executing_eagerly():
        return None
    graph = tf.compat.v1.get_default_graph()
    return graph if isinstance(graph, func_graph_class()) else None
