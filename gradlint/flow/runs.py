"""Runs: ordered lists in which one element may stand for a whole set of variables, or for its gradients.

How many variables a model has is not known, so its set is one run. Where the code reads, writes or cuts such a list at
a place, or goes through two of them in step, the run is split there: `grads[0]` is of the first variable alone.
"""

from __future__ import annotations

import ast

from gradlint.flow.descent import gradient_of, key_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import sliced_set, some_variable
from gradlint.flow.objects import Items
from gradlint.flow.values import Kind, Value

_MOST_ROWS = 12


def runs_of(it: Interpreter, value: Value) -> list[Value] | None:
    """The elements of a list in order, a symbolic set standing for all of its own; None where that is not known."""
    if value.kind is Kind.VARIABLES:
        return [value]
    if value.kind is not Kind.CONTAINER or value.ref.type in ("dict", "set"):
        return None
    items = it.items(value)
    if items.exact:
        return None if any(each.kind is Kind.VARIABLES for each in items.elements) else list(items.elements)
    return list(items.elements) if items.ordered else None


def one_of_run(it: Interpreter, run: Value, node: ast.AST) -> Value:
    """Any one element of what a run stands for."""
    return some_variable(it, run, node) if run.kind is Kind.VARIABLES else run


def note_many(it: Interpreter, run: Value, made: list[Value]) -> None:
    """What was made of one run stands for as many elements."""
    if _length(it, run) is None:
        it.many.update(each.serial for each in made)


def list_of_runs(it: Interpreter, runs: list[Value], node: ast.AST, type_: str = "list") -> Value:
    """The list that consists of some runs; of one whole set it is that set."""
    if len(runs) == 1 and runs[0].kind is Kind.VARIABLES:
        return runs[0]
    exact = all(_length(it, run) == 1 and run.kind is not Kind.VARIABLES for run in runs)
    return it.container(type_, Items(tuple(runs), None, exact, not exact), node)


def item_of_runs(it: Interpreter, runs: list[Value], place: int, node: ast.AST) -> Value | None:
    """The element at a place; None where that cannot be told."""
    split = _split_around(it, runs, place, node)
    return None if split is None else one_of_run(it, split[1], node)


def with_item(it: Interpreter, runs: list[Value], place: int, value: Value, node: ast.AST) -> list[Value] | None:
    """The runs with another element at a place."""
    split = _split_around(it, runs, place, node)
    return None if split is None else [*split[0], value, *split[2]]


def part_of_runs(
    it: Interpreter, runs: list[Value], bounds: tuple[Value | None, ...], node: ast.AST
) -> list[Value] | None:
    """The runs between two bounds of a slice: written numbers, or the length of a list that is the beginning."""
    start, stop, step = bounds
    if step is not None:
        return None
    if stop is not None:
        before = _split_at_bound(it, runs, stop, node)
        if before is None:
            return None
        runs = before[0]
    if start is not None:
        after = _split_at_bound(it, runs, start, node)
        return None if after is None else after[1]
    return runs


def _split_at_bound(
    it: Interpreter, runs: list[Value], bound: Value, node: ast.AST
) -> tuple[list[Value], list[Value]] | None:
    if bound.kind is Kind.LITERAL:
        if bound.ref is None or type(bound.ref) is not int:
            return None
        return split_at(it, runs, bound.ref, node)
    if bound.label != "len" or not bound.operands:
        return None
    listed = runs_of(it, bound.operands[0])
    if listed is None or len(listed) > len(runs):
        return None
    keys = [[key_of(gradient_of(each) or each) for each in row[: len(listed)]] for row in (listed, runs)]
    return (runs[: len(listed)], runs[len(listed) :]) if keys[0] == keys[1] else None


def in_step(it: Interpreter, lists: list[list[Value]], node: ast.AST) -> list[list[Value]] | None:
    """The rows that `zip` makes of some lists, each row of runs that stand for as many elements."""
    if len({len(each) for each in lists}) == 1 and not any(_differ(it, row) for row in zip(*lists, strict=True)):
        return [list(row) for row in zip(*lists, strict=True)]
    rest = [list(each) for each in lists]
    rows: list[list[Value]] = []
    while all(rest) and len(rows) < _MOST_ROWS:
        heads = [each[0] for each in rest]
        known = [length for head in heads if (length := _length(it, head)) is not None]
        ends = {stop for head in heads if (stop := _end(head)) is not None}
        # The last of each: as long as each other, as far as can be seen.
        if (known or len(ends) == 1) and any(len(each) > 1 for each in rest):
            count = min(known) if known else ends.pop()
            for each in rest:
                if _length(it, each[0]) != count and _end(each[0]) != count:
                    parts = _split(it, each[0], count, node)
                    if parts is None:
                        return None
                    each[:1] = parts
        rows.append([each.pop(0) for each in rest])
    return rows if not all(rest) else None


def merged_keys(keys: list[object]) -> list[object]:
    """Keys of runs, with parts of one set that follow each other made one again."""
    merged: list[object] = []
    for key in keys:
        last = merged[-1] if merged else None
        if isinstance(key, tuple) and isinstance(last, tuple) and key[0] == last[0] == "set" and key[:3] == last[:3]:
            before, after = last[3], key[3]
            if before is not None and after is not None and before[1] == after[0] and before[1] is not None:
                bounds = (before[0], after[1], None)
                merged[-1] = (*key[:3], None if bounds[:2] in ((None, None), (0, None)) else bounds)
                continue
        merged.append(key)
    return merged


def _differ(it: Interpreter, row: tuple[Value, ...]) -> bool:
    """Whether some stand for one element, and others for a set, or for up to another place of a set."""
    return len({(_length(it, each), _end(each)) for each in row}) > 1


def _whole(run: Value) -> Value | None:
    """The set that a run stands for, or whose gradients it stands for."""
    if run.kind is Kind.VARIABLES:
        return run
    source = gradient_of(run)
    return source if source is not None and source.kind is Kind.VARIABLES else None


def _length(it: Interpreter, run: Value) -> int | None:
    """How many elements a run stands for; None where that is not known."""
    whole = _whole(run)
    if whole is None:
        return None if run.serial in it.many else 1
    if whole.ref.bounds is None:
        return None
    start, stop, step = whole.ref.bounds
    if step is not None:
        return None
    if isinstance(stop, int) and (isinstance(start, int) or start is None) and (start or 0) >= 0 and stop >= 0:
        return stop - (start or 0)
    return -start if isinstance(start, int) and start < 0 and stop is None else None


def _end(run: Value) -> int | None:
    """How many elements of a set are left out at its end, as a negative number."""
    whole = _whole(run)
    if whole is None or whole.ref.bounds is None:
        return None
    stop = whole.ref.bounds[1]
    return stop if isinstance(stop, int) and stop < 0 else None


def _split(it: Interpreter, run: Value, count: int, node: ast.AST) -> list[Value] | None:
    """A run in two: its first `count` elements and the others, or all but the last ones and those."""
    whole = _whole(run)
    if whole is None and run.serial in it.many:
        return [run, run]
    if whole is None or (whole.ref.bounds is not None and whole.ref.bounds[2] is not None):
        return None
    if count < 0 and whole.ref.bounds is not None and whole.ref.bounds[1] is not None:
        return None
    parts = []
    for bounds in (slice(None, count), slice(count, None)):
        source = sliced_set(it, whole, bounds, node)
        if run.kind is Kind.VARIABLES:
            parts.append(source)
            continue
        part = it.operation(node, (run,), label="[]")
        part.of, part.fill = source, run.fill
        parts.append(part)
    return parts


def split_at(it: Interpreter, runs: list[Value], place: int, node: ast.AST) -> tuple[list[Value], list[Value]] | None:
    """The runs before a place and those from there on."""
    before, after = (list(runs), []) if place < 0 else ([], list(runs))
    if place < 0:
        while before and place < 0:
            length = _length(it, before[-1])
            if length is None or length > -place:
                parts = _split(it, before[-1], place if length is None else length + place, node)
                return None if parts is None else ([*before[:-1], parts[0]], [parts[1], *after])
            after.insert(0, before.pop())
            place += length
        return before, after
    while after and place > 0:
        length = _length(it, after[0])
        if length is None or length > place:
            parts = _split(it, after[0], place, node)
            return None if parts is None else ([*before, parts[0]], [parts[1], *after[1:]])
        before.append(after.pop(0))
        place -= length
    return before, after


def _split_around(
    it: Interpreter, runs: list[Value], place: int, node: ast.AST
) -> tuple[list[Value], Value, list[Value]] | None:
    halves = split_at(it, runs, place, node)
    if halves is None or not halves[1]:
        return None
    around = split_at(it, halves[1], 1, node)
    if around is None or len(around[0]) != 1:
        return None
    return halves[0], around[0][0], around[1]
