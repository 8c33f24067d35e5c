"""Loops: two exact passes, then one on the join of all that an iteration hands to the next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from gradlint.flow.assignments import assign
from gradlint.flow.interpreter import RECORDING, Exits, Interpreter
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.operators import compare_numbers
from gradlint.flow.sequences import consume, element_of, known_elements
from gradlint.flow.store import Delta
from gradlint.flow.truth import truth_of
from gradlint.flow.values import ANY_TAPE, How, Kind, Value
from gradlint.verdicts import Cause

MOST_UNROLLED = 4
MOST_PEELED_DEPTH = 2


def run_for(it: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    iterable = it.evaluate(node.iter)
    consume(it, iterable, node.iter)
    _note_names(it, {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)})
    known = known_elements(it, iterable)
    if known is not None and len(known) <= MOST_UNROLLED and it.loop_depth < MOST_UNROLLED:
        run_unrolled(it, node, known)
        return

    def bind() -> None:
        assign(it, node.target, element_of(it, iterable, node.iter))

    start = it.tick()
    run_loop(it, node.body, node.orelse, bind, endless=False, repeats=True)
    if it.frame.graph and iterable.kind is Kind.LIBRARY and iterable.ref.symbol == "tf.data.Dataset":
        _leave_dataset_loop(it, node, start)


def _leave_dataset_loop(it: Interpreter, node: ast.For | ast.AsyncFor, start: int) -> None:
    """In graph code such a loop is one operation without a gradient: what it carried out has no history."""
    assigned = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for name in sorted(assigned):
        value = it.store.get((it.frame.id, name))
        if it.alive and value is not None and value.serial > start and value.kind in (Kind.TENSOR, Kind.UNKNOWN):
            left = it.operation(node.iter, (), label="dataset loop", dead=((value, Cause.STATE),))
            it.store.set((it.frame.id, name), left)


def run_while(it: Interpreter, node: ast.While) -> None:
    tested = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}
    _note_names(it, tested & {each.id for each in _stores(node)})
    if _changes_nothing(node.test) and it.loop_depth < MOST_UNROLLED and _truth_now(it, node.test):
        _run_known_turns(it, node)
    else:
        _run_open_while(it, node)


def _note_names(it: Interpreter, names: set[str]) -> None:
    """Names that loops bind are no settings."""
    if it.frame.is_module:
        it.loop_names |= names
    else:
        it.own_loop_names |= {(it.frame.id, name) for name in names}


def _run_open_while(it: Interpreter, node: ast.While) -> None:
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    run_loop(it, node.body, node.orelse, lambda: _ignore(it.evaluate(node.test)), endless=endless, repeats=False)


def _stores(node: ast.AST) -> list[ast.Name]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def _truth_now(it: Interpreter, test: ast.expr) -> bool | None:
    """Whether a test is true before this turn: of lists that are taken apart as well."""
    value = it.evaluate(test) if isinstance(test, ast.Name) else None
    if value is not None and value.kind is Kind.CONTAINER and value.how is not How.JOIN:
        known = known_elements(it, value) if value.ref.escaped_at is None else None
        return None if known is None else bool(known)
    match test:
        case ast.Compare(left=ast.Call() as length, ops=[op], comparators=[ast.Constant() as end]):
            asked = it.evaluate(length)  # of `len`, and a number where it is known
            if type(asked.ref) is int:
                number = it.fresh(Kind.LITERAL, length, ref=asked.ref)
                return compare_numbers(op, number, it.evaluate(end))
    return truth_of(it, test)


def _changes_nothing(test: ast.expr) -> bool:
    """Whether a test can be asked again and again, and may have another answer: names are compared, lengths too."""
    calls = [each for each in ast.walk(test) if isinstance(each, ast.Call | ast.NamedExpr | ast.Await)]
    only_lengths = all(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "len" for each in calls
    )
    return only_lengths and not isinstance(test, ast.Constant)


def _run_known_turns(it: Interpreter, node: ast.While) -> None:
    """Exact passes for as long as the test is known to be true, and few of them."""
    store = it.store
    level = store.level
    store.begin()
    exits = Exits(level, level + 1, len(it.open_withs))
    it.loops.append(exits)
    it.loop_depth += 1
    doubtful = it.doubt
    it.peeled += 1
    truth: bool | None = True
    turns = 0
    while it.alive and truth and turns < MOST_UNROLLED:
        _one_pass(it, node.body, _nothing, exits)
        if exits.breaks:
            it.doubt = doubtful + 1
        truth, turns = it.alive and _truth_now(it, node.test), turns + 1
    it.peeled -= 1
    it.doubt = doubtful
    it.loop_depth -= 1
    it.loops.pop()
    if it.alive and truth is not False:
        _run_open_while(it, node)
        _leave_loop(it, (), [store.end()] if it.alive else _dropped(it), exits)
    else:
        _leave_loop(it, node.orelse, [store.end()] if it.alive else _dropped(it), exits)


def _nothing() -> None:
    return


def _ignore(_: Value) -> None:
    return


def run_unrolled(it: Interpreter, node: ast.For | ast.AsyncFor, elements: Sequence[Value]) -> None:
    """A loop over few known elements: one exact pass each."""
    store = it.store
    level = store.level
    store.begin()
    exits = Exits(level, level + 1, len(it.open_withs))
    it.loops.append(exits)
    it.loop_depth += 1
    doubtful = it.doubt
    it.peeled += 1
    for element in elements:
        _one_pass(it, node.body, partial(assign, it, node.target, element), exits)
        if not it.alive:
            break
        if exits.breaks:
            it.doubt = doubtful + 1
    it.peeled -= 1
    it.doubt = doubtful
    it.loop_depth -= 1
    it.loops.pop()
    _leave_loop(it, node.orelse, [store.end()] if it.alive else _dropped(it), exits)


def _dropped(it: Interpreter) -> list[Delta]:
    it.store.end()
    return []


def _one_pass(it: Interpreter, body: Sequence[ast.stmt], bind: Callable[[], None], exits: Exits) -> None:
    store = it.store
    exits.continues = []
    exits.pass_level = store.level
    turn, clock = it.turn, it.turn_clock
    it.turn, it.turn_clock = it.new_id(), it.tick()
    store.begin()
    it.alive = True
    bind()
    if it.alive:
        it.run_body(body)
    falls = [*exits.continues]
    if it.alive:
        falls.append(store.capture(exits.pass_level))
    exits.continues = []
    store.end()
    it.turn, it.turn_clock = turn, clock
    it.merge(falls)


def run_loop(
    it: Interpreter,
    body: Sequence[ast.stmt],
    orelse: Sequence[ast.stmt],
    bind: Callable[[], None],
    *,
    endless: bool,
    repeats: bool,
) -> None:
    """Two exact passes, then one on the joined head. `repeats`: a second iteration can be taken for granted."""
    store = it.store
    level = store.level
    store.begin()
    exits = Exits(level, level + 1, len(it.open_withs))
    it.loops.append(exits)
    it.loop_depth += 1
    doubtful = it.doubt
    snapshots: list[Delta] = []
    returned = len(it.calls[-1].returns) if it.calls else 0
    it.peeled += 1
    for _ in range(2 if it.loop_depth <= MOST_PEELED_DEPTH else 1):
        _one_pass(it, body, bind, exits)
        it.doubt = doubtful
        if not it.alive:
            break
        snapshots.append(store.capture(level))
        if not repeats or exits.breaks or (it.calls and len(it.calls[-1].returns) > returned):
            it.doubt = doubtful + 1  # the first iteration may have been the last
    it.peeled -= 1
    it.doubt = doubtful
    if it.alive and snapshots:
        joins = _join_head(it, snapshots, level)
        it.joined += 1
        _one_pass(it, body, bind, exits)
        it.joined -= 1
        _close_joins(it, joins)
        if it.alive:
            snapshots.append(store.capture(level))
    it.loop_depth -= 1
    it.loops.pop()
    store.end()
    if endless and exits.breaks:
        snapshots = []
    _leave_loop(it, orelse, snapshots, exits)


def _leave_loop(it: Interpreter, orelse: Sequence[ast.stmt], falls: list[Delta], exits: Exits) -> None:
    if orelse and falls:
        it.store.begin()
        it.merge(falls)
        it.run_body(orelse)
        alive = it.alive
        delta = it.store.end()
        falls = [delta] if alive else []
    it.merge([*falls, *exits.breaks])


def _join_head(it: Interpreter, snapshots: list[Delta], level: int) -> list[tuple[tuple[int, object], Value]]:
    """Replace every cell that an iteration changes by a join that the next pass can be added to."""
    store = it.store
    joins: list[tuple[tuple[int, object], Value]] = []
    log = store.changed_since(level)
    for key in list(log):
        if key == RECORDING:
            continue
        found: list[Value] = []
        for value in (log[key], *(snapshot.get(key) for snapshot in snapshots)):
            if value is not None and not any(value is other for other in found):
                found.append(value)
        if len(found) < 2:
            continue
        joined = it.join(found)
        if joined.how is not How.JOIN and not isinstance(joined.ref, Items):
            continue
        if isinstance(joined.ref, Items):
            # Contents: keep the positions, make each element a loop join.
            elements = tuple(_loop_join(it, [element]) for element in joined.ref.elements)
            items = Items(elements, joined.ref.keys, joined.ref.exact)
            head = Value(Kind.LITERAL, How.FRESH, 0, ref=items)
        else:
            head = _loop_join(it, list(joined.inputs), like=joined)
        store.set(key, head)
        joins.append((key, head))
    return joins


def _loop_join(it: Interpreter, inputs: list[Value], like: Value | None = None) -> Value:
    model = like if like is not None else inputs[0]
    return Value(
        model.kind,
        How.JOIN,
        it.tick(),
        ref=model.ref,
        inputs=tuple(inputs),
        possible=ANY_TAPE,  # the way back from the end of the body is not known yet
        node=model.node,
        frame=it.frame,
        label="loop",
        dtype=model.dtype,
    )


def _close_joins(it: Interpreter, joins: list[tuple[tuple[int, object], Value]]) -> None:
    for key, head in joins:
        back = it.store.get(key)
        if back is None or back is head:
            continue
        if isinstance(head.ref, Items):
            if isinstance(back.ref, Items):
                for element in head.ref.elements:
                    element.inputs = (*element.inputs, *(each for each in back.ref.elements if each is not element))
        else:
            head.inputs = (*head.inputs, back)
            if back.kind is not head.kind:
                head.kind, head.ref = Kind.UNKNOWN, None


def run_break(it: Interpreter, node: ast.Break) -> None:
    if it.loops:
        exits = it.loops[-1]
        exits.breaks.append(it.capture(exits, exits.level))
    it.alive = False


def run_continue(it: Interpreter, node: ast.Continue) -> None:
    if it.loops:
        exits = it.loops[-1]
        exits.continues.append(it.capture(exits, exits.pass_level))
    it.alive = False
