"""Callbacks: library functions that call what they are given: cond, map_fn, strategy.run ..."""

from __future__ import annotations

import ast
from functools import partial

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.arms import in_arms
from gradlint.flow.interpreter import Interpreter, in_turn
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.sequences import element_of, known_elements, unpack
from gradlint.flow.tensor_calls import CALLABLE
from gradlint.flow.timing import is_timed
from gradlint.flow.truth import note_test
from gradlint.flow.values import Kind, Value
from gradlint.verdicts import Cause


def run_with_args(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`strategy.run(fn, args=(...), kwargs={...})`."""
    given = arguments.get(1, "args")
    known = known_elements(it, given) if given is not None else []
    more = given if known is None else None
    keywords = arguments.keywords.get("kwargs")
    named: dict[str, Value] = {}
    if keywords is not None and keywords.kind is Kind.CONTAINER and it.items(keywords).keys is not None:
        items = it.items(keywords)
        named = {str(key): value for key, value in zip(items.keys or (), items.elements, strict=False)}
    return it.call(function, Arguments(tuple(known or ()), named, more), node)


def cond_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    branches = [arguments.get(1, "true_fn"), arguments.get(2, "false_fn")]
    known = [each for each in branches if each is not None]
    if len(known) < 2:
        return it.unknown(node, "branches that cannot be seen", arguments.every())
    made = in_arms(it, [partial(it.call, each, Arguments(()), node) for each in known])
    predicate = arguments.get(0, "pred")
    if predicate is not None:
        note_test(it, predicate)
    if predicate is not None and is_timed(it, predicate):
        it.timed_values.add(made.serial)
    return made


def switch_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    functions = [
        leaf for value in arguments.every() for leaf in it.leaves(value) if leaf.kind in (*CALLABLE, Kind.UNKNOWN)
    ]
    if not functions:
        return it.unknown(node, "branches that cannot be seen", arguments.every())
    return in_arms(it, [partial(it.call, each, Arguments(()), node) for each in functions[:8]])


def while_loop(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    test, body, start = arguments.get(0, "cond"), arguments.get(1, "body"), arguments.get(2, "loop_vars")
    if body is None or start is None or body.kind is not Kind.FUNCTION:
        return it.unknown(node, "a loop that cannot be seen", arguments.every())
    state = list(it.items(start).elements) if start.kind is Kind.CONTAINER else [start]
    for _ in range(3):
        if test is not None:
            it.call(test, Arguments(tuple(state)), node)
        with in_turn(it):
            after = it.call(body, Arguments(tuple(state)), node)
        parts = unpack(it, after, len(state), node) if len(state) > 1 or after.kind is Kind.CONTAINER else [after]
        state = [it.join([old, new]) for old, new in zip(state, parts, strict=False)]
    return it.list_of(state, node)


def map_call(label: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        function, elements = arguments.get(0, "fn"), arguments.get(1, "elems")
        if function is None or elements is None:
            return it.unknown(node, f"{label} over what cannot be seen", arguments.every())
        return _stacked(it, it.call(function, Arguments((_row(it, elements, node),)), node), label, node)

    return run


def _row(it: Interpreter, elements: Value, node: ast.AST) -> Value:
    if elements.kind is Kind.CONTAINER:
        items = it.items(elements)
        return it.container(
            elements.ref.type, Items(tuple(_row(it, each, node) for each in items.elements), items.keys, items.exact)
        )
    return element_of(it, elements, node)


def _stacked(it: Interpreter, value: Value, label: str, node: ast.AST) -> Value:
    if value.kind is Kind.CONTAINER:
        items = it.items(value)
        made = tuple(_stacked(it, each, label, node) for each in items.elements)
        return it.container(value.ref.type, Items(made, items.keys, items.exact), node)
    return it.operation(node, (value,), label=label)


def scan_call(label: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        function, elements = arguments.get(0, "fn"), arguments.get(1, "elems")
        start = arguments.get(2, "initializer")
        if function is None or elements is None:
            return it.unknown(node, f"{label} over what cannot be seen", arguments.every())
        state = start if start is not None else _row(it, elements, node)
        for _ in range(3):
            after = it.call(function, Arguments((state, _row(it, elements, node))), node)
            state = _join_structure(it, state, after, node)
        return _stacked(it, state, label, node)

    return run


def _join_structure(it: Interpreter, left: Value, right: Value, node: ast.AST) -> Value:
    if left.kind is Kind.CONTAINER and right.kind is Kind.CONTAINER:
        a, b = it.items(left), it.items(right)
        if len(a.elements) == len(b.elements):
            pairs = zip(a.elements, b.elements, strict=True)
            return it.container(left.ref.type, Items(tuple(it.join([x, y]) for x, y in pairs), a.keys, a.exact), node)
    return it.join([left, right])


def py_function(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    function, inputs = arguments.get(0, "func"), arguments.get(1, "inp")
    if function is None:
        return it.fresh(Kind.SYMBOL, node, ref="tf.py_function")
    if inputs is None:
        return it.unknown(node, "a Python function that cannot be seen", arguments.every())
    known = known_elements(it, inputs)
    given = Arguments(tuple(known)) if known is not None else Arguments((), {}, inputs)
    returned = it.call(function, given, node)
    return it.operation(node, (returned,), label="tf.py_function")


def numpy_function(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.get(0, "func") is None:
        return it.fresh(Kind.SYMBOL, node, ref="tf.numpy_function")  # a decorator
    inputs = arguments.get(1, "inp")
    dead = ((inputs, Cause.LEFT_TENSORFLOW),) if inputs is not None else ()
    made = it.operation(node, (), label="tf.numpy_function", dead=dead)
    made.given = arguments
    return made


def map_structure(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    function, structures = arguments.get(0, "func"), arguments.positional[1:]
    if function is None or not structures:
        return it.unknown(node, "a structure that cannot be seen", arguments.every())
    if all(each.kind is Kind.CONTAINER for each in structures):
        contents = [it.items(each) for each in structures]
        if len({len(each.elements) for each in contents}) == 1:
            rows = zip(*(each.elements for each in contents), strict=True)
            made = tuple(map_structure(it, Arguments((function, *row)), node) for row in rows)
            return it.container(
                structures[0].ref.type, Items(made, contents[0].keys, all(each.exact for each in contents)), node
            )
    listed = next((each for each in structures if each.kind in (Kind.VARIABLES, Kind.CONTAINER)), None)
    if listed is not None:
        type_ = listed.ref.type if listed.kind is Kind.CONTAINER else "list"
        rows_ = tuple(element_of(it, each, node) for each in structures)
        return it.container(type_, Items((it.call(function, Arguments(rows_), node),), None, exact=False), node)
    one = it.call(function, Arguments(structures), node)
    if any(each.kind is Kind.UNKNOWN for each in structures):
        # Of what cannot be seen: one tensor, or a list of them.
        return it.operation(node, (one,), label="tf.nest.map_structure", kind=Kind.UNKNOWN)
    return one


def flatten_structure(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[0] if arguments.positional else it.plain(node)
    if value.kind is Kind.CONTAINER:
        return it.list_of(it.leaves(value), node, exact=it.items(value).exact)
    return value if value.kind in (Kind.UNKNOWN, Kind.VARIABLES) else it.list_of([value], node)
