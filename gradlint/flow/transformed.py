"""Transformed functions: calling what tf.function, custom_gradient, functools.cache ... made."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.custom_gradients import call_custom_gradient
from gradlint.flow.decorators import as_graph, decorate
from gradlint.flow.dispatch import call_dispatched
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    HeapObject,
    LibraryObject,
    Partial,
    Transformed,
)
from gradlint.flow.tracing import forget_graphs
from gradlint.flow.values import Kind, Value, alternatives, is_literal


def function_wrapper(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.function(f)` and, without a function, the decorator that it then returns."""
    function = arguments.get(0, "func")
    if function is not None and not is_literal(function, None):
        forget_graphs(it, function)
        return as_graph(function) if function.kind is Kind.FUNCTION else function
    symbol = it.fresh(Kind.SYMBOL, node, ref="tf.function")
    return it.fresh(Kind.FUNCTION, node, ref=Partial(it.new_id(), symbol, (), ()))


def transformer(name: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional:
            return it.fresh(Kind.SYMBOL, node, ref=name)
        made = decorate(it, it.fresh(Kind.SYMBOL, node, ref=name), arguments.positional[0], node)
        setter = arguments.get(1, "fset") if name == "builtins.property" else None
        if setter is not None and setter.kind is Kind.FUNCTION and isinstance(made.ref, Transformed):
            made.ref.setter = setter
        return made

    return run


def identity_decorator(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "identity", it.plain(node)))


def caching_decorator(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`functools.lru_cache(maxsize=...)`, and `functools.cache(f)` as a call."""
    if arguments.positional and arguments.positional[0].kind is Kind.FUNCTION:
        return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "cache", arguments.positional[0]))
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "caching", it.plain(node)))


def call_transformed(it: Interpreter, target: Transformed, arguments: Arguments, node: ast.AST) -> Value:
    """Call what a library decorator made of a function."""
    match target.transformer:
        case "contextmanager":
            made = LibraryObject(
                it.new_id(),
                "contextmanager",
                (target.function, *arguments.positional),
                tuple(arguments.keywords.items()),
            )
            return it.fresh(Kind.LIBRARY, node, ref=made)
        case "tf.custom_gradient" | "tf.grad_pass_through":
            if target.transformer == "tf.grad_pass_through":
                it.call(target.function, arguments, node)
                return it.operation(node, arguments.every(), label=target.transformer)
            return call_custom_gradient(it, target.function, arguments, node)
        case "namedtuple":
            return _make_named_tuple(it, target.function, arguments, node)
        case "cache":
            return _call_cached(it, target, arguments, node)
        case "singledispatch":
            return call_dispatched(it, target, arguments, node)
        case "identity":
            return arguments.positional[0] if arguments.positional else it.plain(node)
    return it.call(target.function, arguments, node)


def _call_cached(it: Interpreter, target: Transformed, arguments: Arguments, node: ast.AST) -> Value:
    """`functools.cache`: the same arguments give the very value of the first call."""
    owner = arguments.positional[0].ref if arguments.positional else None
    key = (owner.id if isinstance(owner, HeapObject) else target.id, f"<cached {target.id}>")
    given = it.tuple_of(arguments.every())
    kept = it.store.get(key)
    if kept is not None and kept.kind is Kind.CONTAINER:
        pair = it.items(kept).elements
        before, value = pair if len(pair) == 2 else (it.plain(node), it.unknown(node, "a cache that others fill"))
        if before.kind is Kind.CONTAINER and it.alike(it.items(before).elements, it.items(given).elements):
            return value
    value = it.call(target.function, arguments, node)
    perhaps = it.perhaps_cached.get(key)
    if kept is None and perhaps is not None:
        ways = [it.items(way).elements[1] for way in alternatives(perhaps, 8) or () if _is_pair(it, way)]
        value = it.join([value, *ways])
    it.keep(value)
    it.store.set(key, it.tuple_of((given, value)))
    return value


def _is_pair(it: Interpreter, value: Value) -> bool:
    return value.kind is Kind.CONTAINER and len(it.items(value).elements) == 2


def _make_named_tuple(it: Interpreter, labels: Value, arguments: Arguments, node: ast.AST) -> Value:
    names = [each.ref for each in it.items(labels).elements]
    if arguments.more is not None or arguments.more_keywords is not None or len(arguments.positional) > len(names):
        return it.unknown(node, "a named tuple of unknown arguments", arguments.every())
    values = [
        arguments.positional[i] if i < len(arguments.positional) else arguments.keywords.get(name) or it.plain(node)
        for i, name in enumerate(names)
    ]
    made = it.tuple_of(values, node)
    made.ref.fields = tuple(names)
    return made
