"""Dispatch: `functools.singledispatch`, functions that are chosen by the type of their first argument."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments, symbol_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Container, Function, Instance, Layer, Transformed
from gradlint.flow.values import How, Kind, Value, alternatives

_REGISTERED = "<registered>"
_BUILTINS = {"builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.bool": bool}


def register(it: Interpreter, dispatcher: Transformed, cls: Value | None, function: Value, node: ast.AST) -> Value:
    """`@f.register(cls)`, or `@f.register` with an annotated first parameter; what it is bound to is the function."""
    if cls is None and isinstance(function.ref, Function):
        first = next(iter(function.ref.node.args.args), None)
        cls = it.evaluate(first.annotation) if first is not None and first.annotation is not None else None
    row = it.tuple_of((cls if cls is not None else it.plain(node), function))
    rows = list(dict.fromkeys(each for table in _tables(it, dispatcher) for each in table))
    it.store.set((dispatcher.id, _REGISTERED), it.tuple_of((*rows, row)))
    return function


def _tables(it: Interpreter, dispatcher: Transformed) -> list[tuple[Value, ...]]:
    """The rows of class and function that were registered, once for each way that was taken."""
    kept = it.store.get((dispatcher.id, _REGISTERED))
    ways = alternatives(kept, 8) if kept is not None else ()
    return [it.items(way).elements for way in ways or () if way.kind is Kind.CONTAINER] or [()]


def call_dispatched(it: Interpreter, dispatcher: Transformed, arguments: Arguments, node: ast.AST) -> Value:
    """Call the function for the type of the first argument; any of them where that is not known."""
    tables = [[_pair(it, each) for each in table] for table in _tables(it, dispatcher)]
    first = arguments.positional[0] if arguments.positional else None
    chosen = [_chosen(it, first, rows, dispatcher.function) if first is not None else None for rows in tables]
    if any(function is None for function in chosen):
        return it.call(it.join([dispatcher.function, *(row[1] for rows in tables for row in rows)]), arguments, node)
    return it.call(it.join([function for function in chosen if function is not None]), arguments, node)


def _pair(it: Interpreter, row: Value) -> tuple[Value, Value]:
    cls, function = it.items(row).elements
    return cls, function


def _chosen(it: Interpreter, first: Value, rows: list[tuple[Value, Value]], base: Value) -> Value | None:
    if first.how is How.JOIN or first.kind in (Kind.UNKNOWN, Kind.PLAIN):
        return None
    fitting = [(cls, function) for cls, function in rows if _is_of(first, cls)]
    if any(fits is None for fits in (_is_of(first, cls) for cls, _ in rows)):
        return None
    if isinstance(first.ref, Instance):
        order = first.ref.cls.lineage()
        fitting.sort(key=lambda row: order.index(row[0].ref) if row[0].ref in order else len(order))
    if not fitting:
        return base
    # Registered twice, or on one of two ways: any of them.
    best = fitting[0][0]
    return it.join([function for cls, function in fitting if cls.kind is best.kind and cls.ref == best.ref])


def _is_of(value: Value, cls: Value) -> bool | None:
    """Whether a value is an object of a class; None where that cannot be told."""
    if cls.kind is Kind.CLASS:
        if isinstance(value.ref, Instance):
            return cls.ref in value.ref.cls.lineage() or (None if value.ref.cls.open_base else False)
        return False if value.kind in (Kind.LITERAL, Kind.TENSOR, Kind.VARIABLE, Kind.CONTAINER, Kind.LAYER) else None
    name = symbol_of(cls)
    if isinstance(value.ref, Container):
        return name == f"builtins.{value.ref.type}" if name.startswith("builtins.") else None
    if value.kind is Kind.LITERAL:
        return type(value.ref) is _BUILTINS[name] if name in _BUILTINS else False if name else None
    if value.kind in (Kind.TENSOR, Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE) and name.startswith("builtins."):
        return False
    if isinstance(value.ref, Layer) and name == value.ref.symbol:
        return True
    return None
