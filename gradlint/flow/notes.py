"""Notes: what was seen while code ran and needs no gradient call to be a fact; here they become events.

A note holds nodes and values; places, code and traces are made only now, when the run is over.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradlint.flow import events
from gradlint.flow.arguments import name_called
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Tape
from gradlint.flow.places import Places
from gradlint.flow.rebinding import assigning_call
from gradlint.flow.scopes import Frame
from gradlint.flow.state import Note
from gradlint.flow.update_events import Seen
from gradlint.flow.values import Kind
from gradlint.rule import Step, Trace


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one run, and the text that they are about."""

    it: Interpreter
    places: Places

    def as_events(self) -> Iterator[object]:
        """One event per note that is certain enough for its kind."""
        for note in self.it.notes:
            make = _MAKERS.get(note.event)
            made = make(self, note) if make is not None else None
            if made is not None:
                yield made
        yield from self._seen()
        yield from self._consumed_tapes()

    def _seen(self) -> Iterator[Seen]:
        """Once per place: what surely is so before what nearly always is."""
        first: dict[tuple[type[Seen], ast.AST], Note] = {}
        for note in self.it.notes:
            if issubclass(note.event, Seen) and (note.holds is None or note.holds()):
                known = first.setdefault((note.event, note.node), note)
                if note.certain and not known.certain:
                    first[note.event, note.node] = note
        for (event, _), note in sorted(first.items(), key=lambda each: order(each[1].node)):
            before = tuple(Step(message, self.places.place(node)) for message, node in note.steps)
            after = tuple(Step(message, self.places.place(node)) for message, node in note.after)
            done = event.begun if note.after else event.done
            trace = (*before, *self.calls(note.frame, note.node, done), *after)
            place, code = self.places.place(note.node), self.places.code(note.node)
            yield event(place, code, trace, note.certain, *note.detail)

    def calls(self, frame: Frame, node: ast.AST, last: str) -> Trace:
        """The calls that lead to a place, and the place."""
        steps = [
            Step(f"`{each.name}` {_how_called(each)} here", self.places.place(each.call_node))
            for each in reversed(frame.callers())
            if each.call_node is not None
        ]
        return (*steps, Step(last, self.places.place(node)))

    def rebound(
        self,
        name: str,
        rebinding: events.Rebinding,
        node: ast.AST,
        trace: Trace,
        *,
        certain: bool = True,
        of_tensors: bool = False,
    ) -> events.VariableRebound:
        """The event of a name that is bound anew at this node."""
        several = "` and `" in name
        assigning = "" if of_tensors or several else assigning_call(name, node)
        code, place = self.places.code(node), self.places.place(node)
        return events.VariableRebound(name, rebinding, code, place, assigning, certain, of_tensors, trace)

    def _consumed_tapes(self) -> Iterator[events.TapeConsumed]:
        consumed: dict[ast.AST, list[Note]] = {}
        for note in self.it.notes:
            if note.event is events.TapeConsumed:
                consumed.setdefault(note.node, []).append(note)
        for node, found in sorted(consumed.items(), key=lambda item: order(item[0])):
            note = next((each for each in found if each.certain), found[0])
            asked = [each for each in self.it.asked if each.node is node]
            if not note.certain and len(found) < len(asked):
                continue
            tape, first = note.detail
            yield self._consumed(tape, node, first)

    def _consumed(self, tape: Tape, node: ast.AST, first: ast.AST | None) -> events.TapeConsumed:
        first_place = self.places.place(first) if first is not None else self.places.place(node)
        name = events.TapeName(tape.name, self.places.place(tape.node), tape.implicit)
        trace = (
            Step(f"`{name.name}` opened here", name.place),
            Step("asked for the first time here", first_place),
            Step("asked again here", self.places.place(node)),
        )
        return events.TapeConsumed(name, self.places.place(node), first_place, trace)


def _how_called(frame: Frame) -> str:
    """Called by its name; or run by a library that was given it, as `fit` runs the methods of a callback."""
    by_name = frame.call_node is not None and name_called(frame.call_node) == frame.name
    return "called" if by_name or not frame.name.startswith("on_") else "run"


def order(node: ast.AST) -> tuple[int, int]:
    """Where a node stands in its file: row, then column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _watched(notes: Notes, note: Note) -> object | None:
    if not note.certain:
        return None
    (name,) = note.detail
    return events.KerasVariableWatched(name, notes.places.code(note.node), notes.places.place(note.node))


def _symbolic_watched(notes: Notes, note: Note) -> object | None:
    if not note.certain:
        return None
    (name,) = note.detail
    trace = notes.calls(note.frame, note.node, "watched here")
    return events.SymbolicSourceAsked(name, notes.places.place(note.node), "ValueError", trace)


def _asked_in_eager(notes: Notes, note: Note) -> object | None:
    if not note.certain:
        return None
    trace = notes.calls(note.frame, note.node, "gradients asked here")
    return events.GradientsAskedInEager(notes.places.place(note.node), trace)


def _rebound(notes: Notes, note: Note) -> object:
    name, rebinding, held = note.detail
    trace = notes.calls(note.frame, note.node, f"`{name}` bound anew here")
    certain = rebinding is not events.Rebinding.KEPT
    return notes.rebound(name, rebinding, note.node, trace, certain=certain, of_tensors=held is Kind.TENSOR)


def _augmented(notes: Notes, note: Note) -> object:
    assert isinstance(note.node, ast.AugAssign)
    name = ast.unparse(note.node.target)
    code, place = notes.places.code(note.node), notes.places.place(note.node)
    trace = notes.calls(note.frame, note.node, "changed here")
    return events.VariableAugmented(name, code, place, assigning_call(name, note.node), note.certain, trace)


def _misused(notes: Notes, note: Note) -> object:
    misuse, detail = note.detail
    trace = notes.calls(note.frame, note.node, "written here")
    return events.CustomGradientMisused(
        misuse, notes.places.place(note.node), notes.places.code(note.node), detail, trace
    )


def _multiplied(notes: Notes, note: Note) -> object:
    (mask,) = note.detail
    code, place = notes.places.code(note.node), notes.places.place(note.node)
    trace = notes.calls(note.frame, note.node, "multiplied here")
    return events.BooleanProduct(code, place, notes.places.code(mask), trace)


_MAKERS: dict[type, Callable[[Notes, Any], object | None]] = {
    events.KerasVariableWatched: _watched,
    events.SymbolicSourceAsked: _symbolic_watched,
    events.GradientsAskedInEager: _asked_in_eager,
    events.VariableRebound: _rebound,
    events.VariableAugmented: _augmented,
    events.CustomGradientMisused: _misused,
    events.BooleanProduct: _multiplied,
}
