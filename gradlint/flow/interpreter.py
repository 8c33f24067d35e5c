"""The interpreter's state and its primitives: making values, joining them, escape, fuel, frames.

Statements, expressions, calls and library models are in their own modules and are given the
interpreter; they change the world only through the methods here. Nothing here knows a rule.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

from gradlint.flow.facts import FACTS, Known, Subject, known_of
from gradlint.flow.heap import Heap
from gradlint.flow.objects import (
    HeapObject,
    Variable,
    VariableSet,
)
from gradlint.flow.scopes import Frame
from gradlint.flow.state import RECORDING, Exits, OutOfFuel
from gradlint.flow.store import Delta, Key
from gradlint.flow.values import DType, How, Kind, Value, is_bare
from gradlint.ops.lookup import op_of
from gradlint.verdicts import Cause

MOST_DEPTH = 14
_MOST_WAYS = 8


class Interpreter(Heap):
    """Runs one module abstractly: makes the values that statements, expressions and library models ask for."""

    def operation(
        self,
        node: ast.AST | None,
        inputs: Iterable[Value],
        *,
        label: str,
        dead: Iterable[tuple[Value, Cause]] = (),
        kind: Kind = Kind.TENSOR,
        how: How = How.OPERATION,
        ref: Any = None,
        dtype: DType = DType.UNKNOWN,
        shape: tuple[int | None, ...] | None = None,
    ) -> Value:
        """The result of a known operation. Gradients pass to `inputs`, and not to `dead`."""
        flat: list[Value] = []
        followed = surely = 0
        for value in inputs:
            for leaf in self.leaves(value):
                if is_bare(leaf):
                    continue
                taken = leaf
                if leaf.kind in (Kind.VARIABLE, Kind.VARIABLES):
                    self.weights_read |= self._weights_in(leaf)
                    taken = self._read_now(leaf, node)
                flat.append(taken)
                followed |= self.tracked(taken)
                surely |= self.surely_tracked(taken)
        cuts = tuple((leaf, cause) for value, cause in dead for leaf in self.leaves(value))
        for leaf, cause in cuts:
            if leaf.kind is Kind.VARIABLE and cause is not Cause.STATE and not op_of(label).tells_shape:
                self.weights_read |= self._weights_in(leaf)
            if cause is Cause.UNREGISTERED_OP:  # recorded like any other; asking for the gradient raises
                followed |= self.tracked(leaf)
                surely |= self.surely_tracked(leaf)
        sure, possible = self.recording()
        made = Value(
            kind,
            how,
            self.tick(),
            ref=ref,
            inputs=tuple(flat),
            dead=cuts,
            possible=possible & followed,
            sure=sure & surely,
            node=node,
            frame=self.frame,
            label=label,
            dtype=dtype,
            shape=shape,
        )
        if possible & ~followed:
            # Not recorded, because what a call returned is taken for a tensor: nearly always, not surely.
            made.assumed = any(
                leaf.how is How.OPAQUE_CALL and leaf.label == "call" and not leaf.assumed for leaf in flat
            )
        made.assumed = made.assumed or any(leaf.assumed and leaf.how is How.OPERATION for leaf in flat)
        return made

    def _weights_in(self, value: Value) -> frozenset[int]:
        """The variables that an operation reads with this value."""
        owner = value.ref
        if isinstance(owner, Variable):
            within = owner.within.members if owner.within is not None else frozenset()
            behind = {owner.owner.id} if owner.owner is not None else frozenset[int]()
            return within | behind | {owner.id}
        return owner.members if isinstance(owner, VariableSet) else frozenset()

    def _read_now(self, variable: Value, node: ast.AST | None) -> Value:
        """The value read out of a variable, where not every recording tape follows it: a later watch does not help."""
        sure, possible = self.recording()
        followed, surely = self.tracked(variable), self.surely_tracked(variable)
        if possible & followed == possible and sure & surely == sure:
            return variable
        return Value(
            Kind.TENSOR, How.OPERATION, self.tick(), inputs=(variable,), possible=possible & followed,
            sure=sure & surely, node=node, frame=self.frame, label="read",
        )  # fmt: skip

    def plain(
        self,
        node: ast.AST | None = None,
        inputs: Iterable[Value] = (),
        cause: Cause | None = None,
        label: str = "",
    ) -> Value:
        """A Python or NumPy object; `inputs` are the tensors whose numbers it holds, cut off by `cause`."""
        value = self.fresh(Kind.PLAIN, node, label=label)
        if cause is not None:
            leaves = [leaf for each in inputs for leaf in self.leaves(each)]
            if not self.frame.is_module:  # there it is looked at, when all is over
                for leaf in leaves:
                    if leaf.kind in (Kind.VARIABLE, Kind.VARIABLES):
                        self.weights_read |= self._weights_in(leaf)
            value.dead = tuple((leaf, cause) for leaf in leaves if not is_bare(leaf))
        return value

    def opaque_call(
        self,
        node: ast.AST | None,
        inputs: Iterable[Value],
        because: str,
        *,
        getter: bool = False,
        computes: bool = False,
    ) -> Value:
        """The result of code that cannot be seen: everything handed to it escapes, any open tape may record it."""
        held = tuple(inputs)
        for value in held:
            self.escape(value)
            if self.is_waiting(value):
                self.items(value)  # most of what is given a generator goes through it at once
        self.havoc = self.tick()
        self.havocs.append(self.havoc)
        if self.recording()[1]:
            self.escaped_recordings.append((self.havoc, self.recording()[1]))
        value = Value(
            Kind.UNKNOWN, How.OPAQUE_CALL, self.tick(), inputs=held, possible=self.all_tapes(),
            node=node, frame=self.frame, label="getter" if getter else "call", because=because,
        )  # fmt: skip
        if computes:
            # Named like a loss or a model: it computes now, and does not hand out what was kept.
            value.possible = self.recording()[1]
            value.label, value.assumed = "call", True
        return value

    def write_state(self, owner: Value, written: Iterable[Value], node: ast.AST) -> None:
        """A variable, or all those of a layer, take over numbers: remember from what they were computed."""
        values = [leaf for value in written for leaf in self.leaves(value) if leaf.kind is not Kind.LITERAL]
        traced = any(
            value.kind is Kind.SYMBOLIC for value in values
        )  # nothing is computed while a model is put together
        if values and not traced and isinstance(owner.ref, HeapObject):
            stored = self.operation(node, (), label="state", dead=tuple((value, Cause.STATE) for value in values))
            behind = owner.ref.owner if isinstance(owner.ref, Variable) else None
            for each in (owner.ref, behind):
                if each is not None:
                    self.written_state.setdefault(each.id, []).append(stored)

    def unknown(self, node: ast.AST | None, because: str, inputs: Iterable[Value] = ()) -> Value:
        """A value that the analysis gave up on: it may be anything that has escaped, variables included."""
        return self.opaque_call(node, inputs, because, getter=True)

    def merge(self, arms: list[Delta]) -> None:
        """Write the join of the arms of a branch; the current cells are those from before it."""
        if not arms:
            self.alive = False
            return
        self.alive = True
        if len(arms) == 1:
            self.store.apply(arms[0])
            return
        facts = [_facts_of(arm) for arm in arms]
        keys: dict[Key, None] = {}
        for arm in arms:
            for key in arm:
                keys[key] = None
        for key in keys:
            before = self.store.get(key)
            found = [arm.get(key, before) for arm in arms]
            bound = [value for value in found if value is not None]
            if not bound:
                self.store.set(key, None)
            elif key[0] == FACTS:
                known = reduce(Known.either, map(known_of, found))
                self.store.set(key, None)
                if not known.is_anything:
                    self.set_fact(key[1], known)
            elif key == RECORDING:
                sure, possible = -1, 0
                for value in bound:
                    sure, possible = sure & value.ref[0], possible | value.ref[1]
                self.set_recording(max(sure, 0), possible)
            else:
                if len(bound) < len(found) and key[0] in self.attribute_names:
                    # An attribute that one way does not set: what it holds may not belong to the object.
                    self.doubtful.update(value.ref.id for value in bound if isinstance(value.ref, HeapObject))
                if len(bound) < len(found) and isinstance(key[1], str) and key[1].startswith("<cached"):
                    # Cached on some ways only: the next call may compute it, or fetch this.
                    self.perhaps_cached[key] = self.join(bound)
                    self.store.set(key, None)
                else:
                    joined = self.join(bound)
                    self._remember_ways(joined, facts, found)
                    if key in self.timed_keys and joined.how is How.JOIN:
                        self.timed_values.add(joined.serial)
                    self.store.set(key, joined)

    def set_fact(self, subject: Subject, known: Known) -> None:
        """Write down what is known of something that was tested."""
        self.store.set((FACTS, subject), Value(Kind.LITERAL, How.FRESH, 0, ref=known))

    def join_ways(self, values: list[Value], arms: list[Delta]) -> Value:
        """One value for several ways, of which the cells that each has changed are known."""
        joined = self.join(values)
        self._remember_ways(joined, [_facts_of(arm) for arm in arms], values)
        return joined

    def _remember_ways(self, joined: Value, facts: list[dict[Subject, Known]], found: Sequence[Value | None]) -> None:
        if joined.how is How.JOIN and any(facts) and len(facts) <= _MOST_WAYS:
            ways = ((facts[i], value) for i, value in enumerate(found) if value is not None)
            self.ways.setdefault(joined.serial, tuple(ways))

    def abandon(self) -> None:
        """Out of fuel: drop what the entry was doing, keep what it had asked."""
        while self.store.level:
            self.store.end()
        self.store.forget_watchers()
        self.frame, self.loops, self.calls, self.open_withs, self.stack = self.base, [], [], [], []
        self.turn, self.tracing, self.timed = 0, None, 0
        self.training_mode, self.abroad_since, self.traced_calls = None, -1, ()
        self.expected = self.arms = self.choosing = self.doubt = self.peeled = self.loop_depth = self.joined = 0
        self.alive = True
        self.set_recording(0, 0)

    def capture(self, exits: Exits, level: int) -> Delta:
        """The cells to leave at an exit: every `with` passed on the way closes its tape."""
        delta = self.store.capture(level)
        if len(self.open_withs) > exits.tapes_open:
            sure, possible = self.recording()
            for clear, set_sure, set_possible in reversed(self.open_withs[exits.tapes_open :]):
                sure, possible = (sure & ~clear) | set_sure, (possible & ~clear) | set_possible
            delta[RECORDING] = Value(Kind.LITERAL, How.FRESH, 0, ref=(sure, possible))
        return delta

    def branch_exits(self) -> int:
        """How many exits the running loops and call have seen: grows when an arm leaves."""
        total = sum(len(loop.breaks) + len(loop.continues) for loop in self.loops)
        return total + (len(self.calls[-1].returns) if self.calls else 0)


def _facts_of(arm: Delta) -> dict[Subject, Known]:
    """What an arm takes for granted."""
    told = ((key[1], known_of(cell)) for key, cell in arm.items() if key[0] == FACTS)
    return {subject: known for subject, known in told if not known.is_anything}


#: What belongs to the code that is being run, as opposed to what was seen in the whole run.
_OF_RUNNING_CODE = (
    "frame", "base", "loops", "calls", "open_withs", "stack", "turn", "turn_clock", "tracing", "timed", "timed_keys",
    "training_mode", "expected", "arms", "choosing", "doubt", "peeled", "loop_depth", "joined", "alive", "open_code",
    "fuel", "abroad_since", "clock", "augmenting", "traced_calls",
)  # fmt: skip


@contextmanager
def in_module(it: Interpreter, frame: Frame, clock: int) -> Iterator[None]:
    """Run code of another module as if it had been run before anything of the running code: at its import."""
    kept = {name: getattr(it, name) for name in _OF_RUNNING_CODE}
    havoc, recording = it.havoc, it.store.get(RECORDING)
    with it.store.aside():
        it.frame = it.base = frame
        it.loops, it.calls, it.open_withs, it.stack, it.timed_keys = [], [], [], [], set()
        it.turn = it.turn_clock = it.timed = 0
        it.tracing = it.training_mode = it.augmenting = None
        it.expected = it.arms = it.choosing = it.doubt = it.peeled = it.loop_depth = it.joined = 0
        it.alive, it.open_code, it.clock = True, False, clock
        it.abroad_since, it.traced_calls = -1, ()
        it.set_recording(0, 0)
        try:
            yield
        finally:
            it.store.set(RECORDING, recording)
    for name, value in kept.items():
        setattr(it, name, value)
    it.havoc = max(havoc, it.havoc)


@contextmanager
def in_turn(it: Interpreter) -> Iterator[None]:
    """One turn of a loop: a `for`, a comprehension, a body that a library function repeats."""
    turn, clock = it.turn, it.turn_clock
    it.turn, it.turn_clock = it.new_id(), it.tick()
    yield
    it.turn, it.turn_clock = turn, clock


@contextmanager
def in_training_mode(it: Interpreter, told: Value | None) -> Iterator[None]:
    """A layer is called with `training=...`, which Keras hands down to the layers that it calls."""
    before = it.training_mode
    it.training_mode = told if told is not None else before
    yield
    it.training_mode = before


@contextmanager
def traced_by_keras(it: Interpreter, given: Iterable[Value]) -> Iterator[None]:
    """`call` of a layer that is called on Keras tensors: Keras traces it with real ones."""
    before = it.traced_calls
    it.traced_calls = (*before, (it.tick(), frozenset(leaf.serial for value in given for leaf in it.leaves(value))))
    yield
    it.traced_calls = before


def is_keras_tensor(it: Interpreter, value: Value) -> bool:
    """Whether this is a Keras tensor where it is used now, and not what stands for one while Keras traces a layer."""
    if value.kind is not Kind.SYMBOLIC:
        return False
    made_here = value.label != "keras.Input"
    return not any(value.serial in given or (made_here and value.serial > since) for since, given in it.traced_calls)


@contextmanager
def expecting_errors(it: Interpreter, *, tells: bool) -> Iterator[None]:
    """Run a block; with `tells`, what it raises is no news to its author."""
    it.expected += tells
    yield
    it.expected -= tells


__all__ = [
    "MOST_DEPTH", "RECORDING", "Exits", "Interpreter", "OutOfFuel", "expecting_errors", "in_module",
    "in_training_mode", "in_turn", "is_keras_tensor", "traced_by_keras",
]  # fmt: skip
