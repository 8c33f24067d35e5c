"""Displays and comprehensions."""

from __future__ import annotations

import ast

from gradlint.flow.assignments import assign
from gradlint.flow.enumerations import Member
from gradlint.flow.interpreter import Interpreter, in_turn
from gradlint.flow.lazy import lazy_value
from gradlint.flow.none_filters import note_none_filter
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.runs import note_many, one_of_run, runs_of
from gradlint.flow.scopes import Frame, comprehension_names
from gradlint.flow.sequences import consume, element_of, known_elements
from gradlint.flow.truth import truth_of
from gradlint.flow.values import Kind, Value

MOST_COMPREHENDED = 8


def display(it: Interpreter, node: ast.List | ast.Tuple | ast.Set) -> Value:
    type_ = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}[type(node)]
    if len(node.elts) > 64 and all(isinstance(each, ast.Constant) for each in node.elts):
        return it.plain(node)
    elements: list[Value] = []
    exact = ordered = True
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = it.evaluate(each.value)
            known = known_elements(it, value)
            if known is None:
                exact = False
                ordered = ordered and runs_of(it, value) is not None
                elements.extend(it.items(value).elements if value.kind is Kind.CONTAINER else (value,))
            else:
                elements.extend(known)
        else:
            elements.append(it.evaluate(each))
    return it.container(type_, Items(tuple(elements), None, exact, ordered and not exact), node)


def dict_display(it: Interpreter, node: ast.Dict) -> Value:
    elements: list[Value] = []
    keys: list[object] = []
    exact = True
    if len(node.keys) > 64 and all(isinstance(each, ast.Constant) for each in node.values):
        return it.plain(node)
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = it.evaluate(value_node)
        if key_node is None:
            items = it.items(value) if value.kind is Kind.CONTAINER else None
            if items is not None and items.exact and items.keys is not None:
                keys.extend(items.keys)
                elements.extend(items.elements)
            else:
                exact = False
                elements.extend(items.elements if items is not None else (value,))
            continue
        key = it.evaluate(key_node)
        elements.append(value)
        if _is_key(key):
            keys.append(key.ref)
        else:
            exact = False
    return it.container("dict", Items(tuple(elements), tuple(keys) if exact else None, exact), node)


def _is_key(value: Value) -> bool:
    """Whether this is a key that can be told from others."""
    return value.kind is Kind.LITERAL and isinstance(value.ref, str | int | float | Member)


def _comprehend(
    it: Interpreter,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    elements: list[ast.expr],
    first: Value,
) -> tuple[list[list[Value]], bool, bool]:
    """The evaluated element expressions, once per known element, and whether that is exact, or at least in order."""
    generators = node.generators
    frame = Frame(
        it.new_id(),
        it.frame,
        it.frame.caller,
        it.frame.call_node,
        it.frame.function,
        comprehension_names([each.target for each in generators]),
        is_comprehension=True,
        cls=it.frame.cls,
        depth=it.frame.depth,
        name=it.frame.name,
        graph=it.frame.graph,
    )
    consume(it, first, generators[0].iter)
    outer = it.frame
    it.frame = frame
    try:
        known = known_elements(it, first)
        exact = known is not None and len(generators) == 1 and not generators[0].ifs and len(known) <= MOST_COMPREHENDED
        runs = runs_of(it, first) if not exact and len(generators) == 1 else None
        if runs is not None and not 0 < len(runs) <= MOST_COMPREHENDED:
            runs = None
        ordered = runs is not None and not generators[0].ifs
        rows: list[list[Value]] = []
        flat = _flat_runs(it, node, known) if known is not None else None
        if flat is not None:
            if _hands_on(elements, generators[1].target):
                return [[run] for run in flat], False, True
            for run in flat:
                assign(it, generators[1].target, one_of_run(it, run, node))
                rows.append([it.evaluate(each) for each in elements])
                note_many(it, run, rows[-1])
            return rows, False, True
        known_ones = known if exact and known is not None else None
        if known_ones is None and runs is not None:
            known_ones = [one_of_run(it, each, node) for each in runs]
        for place, element in enumerate(known_ones if known_ones is not None else [None]):
            assign(it, generators[0].target, element if element is not None else element_of(it, first, node))
            note_none_filter(it, generators[0].ifs, node)
            if any([truth_of(it, test) is False for test in generators[0].ifs]):
                continue
            for generator in generators[1:]:
                inner = it.evaluate(generator.iter)
                assign(it, generator.target, element_of(it, inner, node))
                for test in generator.ifs:
                    it.evaluate(test)
            with in_turn(it):
                rows.append([it.evaluate(each) for each in elements])
            if runs is not None:
                note_many(it, runs[place], rows[-1])
    finally:
        it.frame = outer
    return rows, exact, ordered


def _hands_on(elements: list[ast.expr], target: ast.expr) -> bool:
    """Whether the elements are what the loop runs over: `[v for net in nets for v in net.trainable_variables]`."""
    only = elements[0] if len(elements) == 1 else None
    return isinstance(only, ast.Name) and isinstance(target, ast.Name) and only.id == target.id


def _flat_runs(
    it: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, known: list[Value]
) -> list[Value] | None:
    """What `for layer in layers for v in layer.trainable_variables` yields, in order."""
    if len(node.generators) != 2 or any(each.ifs for each in node.generators) or len(known) > MOST_COMPREHENDED:
        return None
    found: list[Value] = []
    for element in known:
        assign(it, node.generators[0].target, element)
        runs = runs_of(it, it.evaluate(node.generators[1].iter))
        if runs is None:
            return None
        found.extend(runs)
    return found if any(each.kind is Kind.VARIABLES for each in found) else None


def list_comprehension(it: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    """A comprehension; of a generator expression only the first iterable is evaluated before it is consumed."""
    first = it.evaluate(node.generators[0].iter)

    def run() -> Value:
        rows, exact, ordered = _comprehend(it, node, [node.elt], first)
        type_ = "set" if isinstance(node, ast.SetComp) else "list"
        return it.container(type_, Items(tuple(row[0] for row in rows), None, exact, ordered), node)

    if not isinstance(node, ast.GeneratorExp):
        return run()
    return lazy_value(it, node, (first, *_names_read(it, node)), run)


def _names_read(it: Interpreter, node: ast.GeneratorExp) -> list[Value]:
    """What a generator expression closes over."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    found: list[Value] = []
    for name in sorted(names):
        frame: Frame | None = it.frame
        while frame is not None and (value := it.store.get((frame.id, name))) is None:
            frame = frame.parent
        if frame is not None and value is not None:
            found.append(value)
    return found


def dict_comprehension(it: Interpreter, node: ast.DictComp) -> Value:
    first = it.evaluate(node.generators[0].iter)
    rows, exact, _ = _comprehend(it, node, [node.key, node.value], first)
    keys = tuple(
        row[0].ref for row in rows if row[0].kind is Kind.LITERAL and isinstance(row[0].ref, str | int | Member)
    )
    exact = exact and len(keys) == len(rows)
    return it.container("dict", Items(tuple(row[1] for row in rows), keys if exact else None, exact), node)
