"""Calls: one way in for calling any value."""

from __future__ import annotations

import ast
import re

from gradlint.flow.arguments import Arguments, name_called
from gradlint.flow.arms import in_arms
from gradlint.flow.callbacks import run_with_args
from gradlint.flow.classes import instantiate
from gradlint.flow.functions import call_function
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layers import call_instance, call_layer
from gradlint.flow.library import call_symbol
from gradlint.flow.methods import call_library_method, call_object
from gradlint.flow.objects import (
    BoundMethod,
    Function,
    LibraryMethod,
    Partial,
    Super,
    Transformed,
)
from gradlint.flow.sequences import MOST_WAYS
from gradlint.flow.tensor_calls import plain_call
from gradlint.flow.transformed import call_transformed
from gradlint.flow.values import How, Kind, Value, alternatives

#: Names of calls that hand out variables or other objects rather than a freshly computed tensor.
_GETTER = re.compile(
    r"(vars?(?![a-z])|variables?|weights?|params?|parameters?)$|"
    r"^_*(build|make|create|get|load|init|from|new|construct|restore|setup|fetch|pop|next|find|read|list)(_|$|[A-Z])|"
    r"^[A-Z]",
)
#: Names of calls that compute a loss or a forward pass at that very moment.
_COMPUTES = re.compile(
    r"loss(?!es)|criterion|objective|cross_?entropy|(^|_)(mse|nll|elbo)($|_)|closure|"
    r"^_*(model|net|network|critic|actor|discriminator|generator|encoder|decoder|policy|forward|call|estimator)\d*_*$|"
    r"_(model|net|network|critic|actor)$",
    re.I,
)


def call(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What calling the value returns, its effects applied."""
    if function.how is How.JOIN and function.kind is Kind.UNKNOWN:
        return _call_alternatives(it, function, arguments, node)
    match function.kind:
        case Kind.FUNCTION:
            return _call_function_value(it, function, arguments, node)
        case Kind.SYMBOL:
            return call_symbol(it, function.ref, arguments, node)
        case Kind.METHOD:
            method: LibraryMethod = function.ref
            return call_library_method(it, method.receiver, method.name, arguments, node)
        case Kind.CLASS:
            return instantiate(it, function, arguments, node)
        case Kind.INSTANCE:
            return call_instance(it, function, arguments, node)
        case Kind.LAYER:
            return call_layer(it, function, arguments, node)
        case Kind.LIBRARY:
            return call_object(it, function, arguments, node)
        case Kind.PLAIN:
            return plain_call(it, (function, *arguments.every()), node)
    return _opaque(it, function, arguments, node)


def _call_alternatives(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    ways = alternatives(function, MOST_WAYS)
    if ways is None or not ways:
        return _opaque(it, function, arguments, node)
    if len(ways) == 1:
        return call(it, ways[0], arguments, node)

    it.doubt += 1  # only one of them is called
    try:
        return in_arms(it, [lambda way=way: call(it, way, arguments, node) for way in ways])  # type: ignore[misc]
    finally:
        it.doubt -= 1


def _opaque(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    name = name_called(node)
    if name in ("run", "experimental_run_v2") and arguments.positional:
        first = arguments.positional[0]
        if first.kind is Kind.FUNCTION:  # strategy.run(step, args=(...)) on an unknown strategy
            return run_with_args(it, first, arguments, node)
    getter = not arguments.positional or bool(_GETTER.search(name))
    because = function.because or (f"`{name}` cannot be seen" if name else "a call that cannot be seen")
    computes = bool(_COMPUTES.search(name)) and not _GETTER.search(name)
    return it.opaque_call(node, (function, *arguments.every()), because, getter=getter, computes=computes)


def _call_function_value(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    target = function.ref
    match target:
        case Function():
            return call_function(it, target, arguments, node, None)
        case BoundMethod():
            inner = target.function
            with_self = Arguments(
                (target.receiver, *arguments.positional), arguments.keywords, arguments.more, arguments.more_keywords
            )
            return call(it, inner, with_self, node)
        case Partial():
            merged = Arguments(
                (*target.arguments, *arguments.positional),
                {**dict(target.keywords), **arguments.keywords},
                arguments.more,
                arguments.more_keywords,
            )
            return call(it, target.function, merged, node)
        case Transformed():
            return call_transformed(it, target, arguments, node)
        case Super():
            return it.plain(node)
    return _opaque(it, function, arguments, node)
