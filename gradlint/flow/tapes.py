"""Tapes: opening, watching, pausing, resetting."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.events import KerasVariableWatched, SymbolicSourceAsked
from gradlint.flow.interpreter import Interpreter, is_keras_tensor
from gradlint.flow.members import is_keras_owned, members_of
from gradlint.flow.objects import (
    Tape,
    Variable,
)
from gradlint.flow.values import How, Kind, Value, alternatives, constants


def make_tape(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """A tape, not recording yet."""
    forward = symbol.endswith("ForwardAccumulator")
    persistent = arguments.get(0, "persistent")
    watches = arguments.get(1, "watch_accessed_variables")
    made = Tape(
        it.new_id(),
        len(it.tapes),
        node,
        it.frame,
        "the accumulator" if forward else "the tape",
        True if forward else _known_bool(persistent, default=False),
        False if forward else _known_bool(watches, default=True),
        forward=forward,
        serial=it.tick(),
    )
    it.tapes.append(made)
    if made.watches_accessed is not False:
        it.auto_watch |= 1 << made.bit
    if made.watches_accessed:
        it.auto_watch_surely |= 1 << made.bit
    value = it.fresh(Kind.TAPE, node, ref=made)
    it.store.set((made.id, "bit"), it.fresh(Kind.LITERAL, ref=made.bit))
    it.store.set((made.id, "asked"), it.fresh(Kind.LITERAL, ref=False))
    if forward:
        primals = arguments.get(0, "primals")
        if primals is not None:
            watch(it, [made], primals, node)
            it.store.set((made.id, "primals"), primals)
    return value


def _known_bool(value: Value | None, *, default: bool) -> bool | None:
    if value is None:
        return default
    return bool(value.ref) if value.kind is Kind.LITERAL and value.how is How.FRESH else None


def bit_of(it: Interpreter, tape: Tape) -> int:
    """The bit under which the tape records now (`reset` gives it a new one)."""
    cell = it.store.get((tape.id, "bit"))
    found = constants(cell) if cell is not None else None
    if found is None:
        return tape.bit
    numbers = [each for each in found if isinstance(each, int)]
    return max(numbers) if numbers else tape.bit


def run_under(
    it: Interpreter, opened: list[Tape], run: Callable[[], None], node: ast.AST, name: str, *, sure: bool
) -> None:
    """Run the body of `with tape:`."""
    before = it.recording()
    masks = 0
    for tape in opened:
        masks |= 1 << bit_of(it, tape)
        if tape.frame is not it.frame:
            tape.frame = it.frame
        if name != "the tape":
            tape.name = name
    it.open_withs.append((masks, 0, 0))
    it.set_recording(before[0] | (masks if sure else 0), before[1] | masks)
    start = it.tick()
    try:
        run()
    finally:
        if it.open_withs:
            it.open_withs.pop()
        for tape in opened:
            tape.spans.append((start, it.tick()))
    if it.alive:
        closing = 0
        for tape in opened:
            closing |= 1 << bit_of(it, tape)
        now = it.recording()
        it.set_recording(now[0] & ~closing & ~masks, now[1] & ~closing & ~masks)


def run_paused(it: Interpreter, tape_value: Value, run: Callable[[], None], node: ast.AST) -> None:
    """Run the body of `with tape.stop_recording():`."""
    masks = 0
    for way in alternatives(tape_value, 8) or ():
        if way.kind is Kind.TAPE:
            masks |= 1 << bit_of(it, way.ref)
            way.ref.paused.append(it.tick())
    before = it.recording()
    it.set_recording(before[0] & ~masks, before[1] & ~masks)
    it.open_withs.append((0, before[0] & masks, before[1] & masks))
    run()
    it.open_withs.pop()
    if it.alive:
        now = it.recording()
        it.set_recording(now[0] | (before[0] & masks), now[1] | (before[1] & masks))
    for way in alternatives(tape_value, 8) or ():
        if way.kind is Kind.TAPE:
            way.ref.paused.append(it.tick())


def reset(it: Interpreter, tape: Tape) -> None:
    old = 1 << bit_of(it, tape)
    bit = len(it.tapes)
    it.tapes.append(tape)
    tape.resets.append(it.tick())
    it.store.set((tape.id, "bit"), it.fresh(Kind.LITERAL, ref=bit))
    it.store.set((tape.id, "asked"), it.fresh(Kind.LITERAL, ref=False))
    if tape.watches_accessed is not False:
        it.auto_watch |= 1 << bit
        it.auto_watch_surely |= (1 << bit) if tape.watches_accessed else 0
    sure, possible = it.recording()
    new = 1 << bit
    it.set_recording((sure & ~old) | (new if sure & old else 0), (possible & ~old) | (new if possible & old else 0))


def watch(it: Interpreter, watching: list[Tape], watched: Value, node: ast.AST) -> None:
    mask = 0
    for tape in watching:
        mask |= 1 << bit_of(it, tape)
    stack = [(watched, it.doubt == 0)]
    seen: set[int] = set()
    while stack:
        value, sure = stack.pop()
        if value.serial in seen and value.serial:
            continue
        seen.add(value.serial)
        it.watched[value.serial] = it.watched.get(value.serial, 0) | mask
        if sure:
            it.surely_watched[value.serial] = it.surely_watched.get(value.serial, 0) | mask
        it.watch_nodes.setdefault((value.serial, watching[0].id), node)
        _watch_ids(it, value, mask)
        if value.kind is Kind.VARIABLES and is_keras_owned(value) and it.keras_3 and not it.expected:
            name = ast.unparse(value.node) if isinstance(value.node, ast.Attribute) else "variables"
            it.note(KerasVariableWatched, node, name)
        if sure and is_keras_tensor(it, value):
            name = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "what is watched"
            it.note(SymbolicSourceAsked, node, name)
            it.alive = False
            return
        if value.how is How.JOIN:
            stack.extend((each, False) for each in value.inputs)
        elif value.kind is Kind.CONTAINER:
            stack.extend((each, sure) for each in it.items(value).elements)
        elif value.kind is Kind.VARIABLE and isinstance(value.ref, Variable) and value.ref.keras:
            variable: Variable = value.ref
            if it.keras_3 and not it.expected and (variable.escaped_at != 0 or variable.owner is not None):
                it.note(KerasVariableWatched, node, variable.name)


def _watch_ids(it: Interpreter, value: Value, mask: int) -> None:
    """Watching one variable of a layer is watching some of the layer's, watching a set all of them."""
    within = value.ref.within if isinstance(value.ref, Variable) else None
    if value.is_opaque or (within is not None and isinstance(within.owner, Value)):
        it.watched_open |= mask  # one of the variables of a model that is not known: a loop goes through all of them
    if value.kind is Kind.VARIABLES:
        if value.ref.open_members or isinstance(value.ref.owner, Value):
            it.watched_open |= mask
        for member in value.ref.members:
            it.watched_ids[member] = it.watched_ids.get(member, 0) | mask
    elif value.kind is Kind.VARIABLE and isinstance(value.ref, Variable):
        each: Variable | None = value.ref
        while each is not None:
            if each.exact:
                it.watched_ids[each.id] = it.watched_ids.get(each.id, 0) | mask
            owner = each.owner
            if owner is not None and not isinstance(owner, Variable):
                table = it.watched_some if each.exact else it.watched_ids
                table[owner.id] = table.get(owner.id, 0) | mask
                for member in members_of(it, owner)[0] if not each.exact else ():
                    it.watched_ids[member] = it.watched_ids.get(member, 0) | mask
            each = owner if isinstance(owner, Variable) else None


def implicit_tape(it: Interpreter, node: ast.AST, name: str) -> Tape:
    """The tape that `fit` or `minimize` opens out of sight."""
    made = Tape(it.new_id(), len(it.tapes), node, it.frame, name, True, True, serial=it.tick(), implicit=True)
    it.tapes.append(made)
    it.auto_watch |= 1 << made.bit
    it.auto_watch_surely |= 1 << made.bit
    it.store.set((made.id, "bit"), it.fresh(Kind.LITERAL, ref=made.bit))
    return made
