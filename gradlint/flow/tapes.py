"""Tapes: opening, watching, pausing, resetting, and asking for gradients."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradlint.flow import keras_objects
from gradlint.flow.events import KerasVariableWatched, TapeConsumed
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Function, Instance, Tape, Variable, VariableSet
from gradlint.flow.scopes import Frame
from gradlint.flow.values import How, Kind, Value, alternatives, constants

if TYPE_CHECKING:
    from gradlint.flow.calls import Arguments


@dataclass(frozen=True, slots=True)
class SourceAsked:
    """One source as it was when the gradient was asked."""

    text: str
    value: Value
    tracked: int
    members: frozenset[int]
    open_members: bool
    within: str = ""  # the text of the set that it is one part of


@dataclass(frozen=True, slots=True)
class Asked:
    """One gradient call on one way: what `gradients.py` decides when the run is over.

    `certain`: this way is surely taken when the call's surroundings are reached.
    """

    node: ast.AST
    frame: Frame
    asked: str
    tapes: tuple[tuple[Tape, int], ...]
    targets: tuple[Value, ...]
    sources: tuple[SourceAsked, ...]
    certain: bool
    zero_for_unconnected: bool
    serial: int
    because: str = ""
    sources_node: ast.AST | None = None
    target_node: ast.AST | None = None


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
    value = it.fresh(Kind.TAPE, node, ref=made)
    it.store.set((made.id, "bit"), it.fresh(Kind.LITERAL, ref=made.bit))
    it.store.set((made.id, "asked"), it.fresh(Kind.LITERAL, ref=False))
    if forward:
        primals = arguments.get(0, "primals")
        if primals is not None:
            _watch(it, [made], primals, node)
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


def call_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a tape."""
    tape: Tape = receiver.ref
    match name:
        case "watch":
            watched = arguments.get(0, "tensor")
            if watched is not None:
                _watch(it, [tape], watched, node)
            return it.plain(node)
        case "gradient" | "jacobian" | "batch_jacobian":
            target, sources = (
                arguments.get(0, "target"),
                arguments.get(1, "source" if name == "batch_jacobian" else "sources"),
            )
            if target is None or sources is None:
                return it.unknown(node, "the arguments of the gradient call are not known", arguments.every())
            return ask(it, name, [tape], target, sources, node, arguments)
        case "jvp":
            primals = it.store.get((tape.id, "primals"))
            target = arguments.get(0, "primals")
            if target is None or primals is None:
                return it.unknown(node, "the primals are not known", arguments.every())
            return ask(it, name, [tape], target, primals, node, arguments)
        case "stop_recording":
            from gradlint.flow.objects import LibraryObject

            return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tape.stop_recording", (receiver,)))
        case "reset":
            _reset(it, tape)
            return it.plain(node)
        case "__enter__":
            before = it.recording()
            mask = 1 << bit_of(it, tape)
            it.set_recording(before[0] | mask, before[1] | mask)
            tape.frame = it.frame
            tape.entered_at = it.tick()
            return receiver
        case "__exit__":
            now = it.recording()
            mask = 1 << bit_of(it, tape)
            it.set_recording(now[0] & ~mask, now[1] & ~mask)
            tape.spans.append((tape.entered_at, it.tick()))
            return it.plain(node)
    return it.plain(node)


def _reset(it: Interpreter, tape: Tape) -> None:
    old = 1 << bit_of(it, tape)
    bit = len(it.tapes)
    it.tapes.append(tape)
    it.store.set((tape.id, "bit"), it.fresh(Kind.LITERAL, ref=bit))
    it.store.set((tape.id, "asked"), it.fresh(Kind.LITERAL, ref=False))
    if tape.watches_accessed is not False:
        it.auto_watch |= 1 << bit
    sure, possible = it.recording()
    new = 1 << bit
    it.set_recording((sure & ~old) | (new if sure & old else 0), (possible & ~old) | (new if possible & old else 0))


def _watch(it: Interpreter, watching: list[Tape], watched: Value, node: ast.AST) -> None:
    mask = 0
    for tape in watching:
        mask |= 1 << bit_of(it, tape)
    stack = [watched]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if value.serial in seen and value.serial:
            continue
        seen.add(value.serial)
        it.watched[value.serial] = it.watched.get(value.serial, 0) | mask
        it.watch_nodes.setdefault((value.serial, watching[0].id), node)
        _watch_ids(it, value, mask)
        if value.kind is Kind.VARIABLES and keras_objects.is_keras_owned(value) and it.keras_3:
            name = ast.unparse(value.node) if isinstance(value.node, ast.Attribute) else "variables"
            it.events.append((KerasVariableWatched, node, it.frame, Variable(0, name, True, None, None), it.doubt == 0))
        if value.how is How.JOIN:
            stack.extend(value.inputs)
        elif value.kind is Kind.CONTAINER:
            stack.extend(it.items(value).elements)
        elif value.kind is Kind.VARIABLE and isinstance(value.ref, Variable) and value.ref.keras:
            variable: Variable = value.ref
            if it.keras_3 and (variable.escaped_at != 0 or variable.owner is not None):
                certain = it.doubt == 0
                it.events.append((KerasVariableWatched, node, it.frame, variable, certain))


def _watch_ids(it: Interpreter, value: Value, mask: int) -> None:
    """Watching one variable of a layer is watching some of the layer's, watching a set all of them."""
    if value.kind is Kind.VARIABLES:
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
                for member in keras_objects.members_of(it, owner)[0] if not each.exact else ():
                    it.watched_ids[member] = it.watched_ids.get(member, 0) | mask
            each = owner if isinstance(owner, Variable) else None


def ask(
    it: Interpreter,
    name: str,
    asked_of: list[Tape],
    target: Value,
    sources: Value,
    node: ast.AST,
    arguments: Arguments,
) -> Value:
    """A gradient is asked: remember the question, and return what TensorFlow hands back."""
    call_arguments = node.args if isinstance(node, ast.Call) else []
    keywords = {each.arg: each.value for each in node.keywords} if isinstance(node, ast.Call) else {}
    if name in ("fit", "minimize", "jvp"):
        call_arguments, keywords = call_arguments[:1] if name != "fit" else [], {}
    sources_node = call_arguments[1] if len(call_arguments) > 1 else keywords.get("sources", keywords.get("source"))
    target_node = call_arguments[0] if call_arguments else keywords.get("target")
    listed = _listed(it, sources, sources_node, _owner_text(name, node))
    unconnected = arguments.get(3, "unconnected_gradients")
    zero = unconnected is not None and unconnected.kind is Kind.SYMBOL and unconnected.ref.endswith(".ZERO")
    if not it.alive:
        return result(it, target, sources, node)  # something before it raises
    it.asked.append(
        Asked(
            node,
            it.frame,
            name,
            tuple((tape, bit_of(it, tape)) for tape in asked_of),
            it.leaves(target),
            tuple(listed),
            it.doubt == 0,
            zero,
            it.tick(),
            sources_node=sources_node,
            target_node=target_node,
        )
    )
    for tape in asked_of:
        _consume(it, tape, node)
    weights = arguments.get(2, "output_gradients")
    return result(it, target, sources, node, weights)


def _consume(it: Interpreter, tape: Tape, node: ast.AST) -> None:
    if tape.forward or tape.implicit:
        return
    key = (tape.id, "asked")
    before = it.store.get(key)
    if before is not None and tape.persistent is False and constants(before) == {True}:
        first = before.node
        it.events.append((TapeConsumed, node, it.frame, tape, it.doubt == 0 and it.joined == 0, first))
    it.store.set(key, it.fresh(Kind.LITERAL, node, ref=True))
    if tape.persistent is False:
        # Asking a tape that is still open ends its recording (tf.GradientTape._pop_tape).
        mask = 1 << bit_of(it, tape)
        sure, possible = it.recording()
        if possible & mask:
            it.set_recording(sure & ~mask, possible & ~mask)


_SOURCE_KINDS = frozenset({Kind.UNKNOWN, Kind.TENSOR, Kind.VARIABLE, Kind.VARIABLES, Kind.SYMBOLIC})


def ask_unknown(
    it: Interpreter, name: str, target: Value | None, sources: Value | None, node: ast.AST, because: str
) -> None:
    """A gradient call whose tape cannot be told: counted as undecided."""
    listed = _listed(it, sources, None) if sources is not None else []
    if not listed:
        nothing = it.plain(node)
        listed = [SourceAsked("the sources", nothing, 0, frozenset(), True)]
    it.asked.append(
        Asked(
            node,
            it.frame,
            name,
            (),
            (target,) if target is not None else (),
            tuple(listed),
            False,
            False,
            it.tick(),
            because,
        )
    )


def _owner_text(name: str, node: ast.AST) -> str:
    """What `fit` trains, in the user's words."""
    if name == "fit" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f"{ast.unparse(node.func.value)}.trainable_variables"
    return "the sources"


def _listed(it: Interpreter, sources: Value, node: ast.AST | None, fallback: str = "the sources") -> list[SourceAsked]:
    found: list[SourceAsked] = []

    def add(value: Value, text: str) -> None:
        if value.kind in (Kind.LITERAL, Kind.PLAIN) and not value.dead:
            return
        if value.kind not in _SOURCE_KINDS:
            value = it.part(value, value.node)  # an attribute that is not known here
        members, open_members = keras_objects.members(it, value)
        if (
            value.kind is Kind.VARIABLES
            and isinstance(value.ref.owner, Instance)
            and not open_members
            and members <= {value.ref.owner.id}
        ):
            return  # nothing is known to be in it
        found.append(SourceAsked(text, value, _tracked_source(it, value), members, open_members))
        for part in keras_objects.parts_of_set(it, value):
            part_members, part_open = keras_objects.members(it, part)
            name = label_of(part, part.label or "a part")
            found.append(SourceAsked(name, part, _tracked_source(it, part), part_members, part_open, within=text))

    def walk(value: Value, node: ast.AST | None, text: str) -> None:
        if len(found) > 64:
            return
        if value.how is How.JOIN and value.kind is Kind.UNKNOWN:
            ways = alternatives(value, 8) or []
            if ways and all(way.kind is Kind.CONTAINER for way in ways):
                # One of several lists: place by place where they are alike, else as one thing that may be any.
                columns = [it.items(way).elements for way in ways]
                if len({len(column) for column in columns}) == 1:
                    merged = [it.join(list(row)) for row in zip(*columns, strict=True)]
                else:
                    merged = [it.join([each for column in columns for each in column])] if any(columns) else []
                value = it.list_of(merged, node)
        if value.kind is Kind.INSTANCE and value.ref.cls.is_dataclass:
            cells = [(key[1], it.store.get(key)) for key in it.cells_of(value.ref.id)]
            for name, cell in cells:
                if cell is not None:
                    walk(cell, None, f"{text}.{name}")
            return
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            nodes = (
                node.elts if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == len(items.elements) else None
            )
            for position, element in enumerate(items.elements):
                inner = nodes[position] if nodes else None
                place = repr(items.keys[position]) if items.keys is not None else str(position)
                walk(
                    element,
                    inner,
                    ast.unparse(inner) if inner is not None else label_of(element, f"{text}[{place}]"),
                )
        else:
            add(value, text)

    walk(sources, node, ast.unparse(node) if node is not None else label_of(sources, fallback))
    return found


def _tracked_source(it: Interpreter, value: Value) -> int:
    """Tapes that may have this source on record: what it was computed under, or was watched by."""
    if value.how is How.JOIN:
        mask = it.watched.get(value.serial, 0) | (value.possible if value.label != "loop" else 0)
        for way in alternatives(value, 16) or ():
            mask |= _tracked_source(it, way) if way is not value else 0
        return mask | (-1 if alternatives(value, 16) is None else 0)
    return it.tracked(value)


def label_of(value: Value, fallback: str) -> str:
    """A name for a source that has no text of its own."""
    ref = value.ref
    if isinstance(ref, Variable) and ref.name:
        return ref.name
    if isinstance(ref, VariableSet) and isinstance(value.node, ast.Attribute):
        return ast.unparse(value.node)
    return value.label if value.how is How.PARAMETER and not value.label.startswith("<") else fallback


def result(it: Interpreter, target: Value, sources: Value, node: ast.AST, weights: Value | None = None) -> Value:
    """Gradients in the structure of the sources; they also depend on `output_gradients`, linearly."""
    over = (target,) if weights is None else (target, weights)

    def one(source: Value) -> Value:
        kind = Kind.UNKNOWN if source.kind is Kind.UNKNOWN else Kind.TENSOR
        return it.operation(node, over, label="gradient", how=How.GRADIENT, kind=kind)

    if sources.kind is Kind.CONTAINER:
        items = it.items(sources)
        gradients = [one(each) for each in items.elements]
        if sources.ref.type == "dict":
            from gradlint.flow.objects import Items

            return it.container("dict", Items(tuple(gradients), items.keys, items.exact), node)
        return it.list_of(
            gradients, node, exact=items.exact and not any(e.kind is Kind.VARIABLES for e in items.elements)
        )
    if sources.kind is Kind.VARIABLES:
        gradient = one(sources)
        gradient.kind = Kind.TENSOR
        return it.list_of([gradient], node, exact=False)
    return one(sources)


def implicit_tape(it: Interpreter, node: ast.AST, name: str) -> Tape:
    """The tape that `fit` or `minimize` opens out of sight."""
    made = Tape(it.new_id(), len(it.tapes), node, it.frame, name, True, True, serial=it.tick(), implicit=True)
    it.tapes.append(made)
    it.auto_watch |= 1 << made.bit
    it.store.set((made.id, "bit"), it.fresh(Kind.LITERAL, ref=made.bit))
    return made


__all__ = ["Asked", "Function", "SourceAsked", "ask", "call_method", "make_tape"]
