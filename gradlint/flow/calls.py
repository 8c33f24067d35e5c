"""Calls: one way in for calling any value."""

from __future__ import annotations

import ast
from functools import partial

from gradlint.flow.applying import apply_gradients
from gradlint.flow.arguments import Arguments, name_called
from gradlint.flow.arms import in_arms
from gradlint.flow.callbacks import run_with_args
from gradlint.flow.certainty import is_slice_of_weight
from gradlint.flow.classes import instantiate
from gradlint.flow.enumerations import call_member, is_enumeration, is_member, members_for
from gradlint.flow.functions import call_function
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layers import call_instance, call_layer
from gradlint.flow.lazy import lazy_value
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
from gradlint.flow.slices import note_method, note_unseen_method
from gradlint.flow.tensor_calls import TO_NUMBERS, plain_call, plain_method
from gradlint.flow.told_functions import names_as_called, names_of, told_by_settings
from gradlint.flow.training import run_compile
from gradlint.flow.transformed import call_transformed
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow.weight_names import never_matches
from gradlint.flow.written import written_as_method
from gradlint.knowledge.conventions import PREDICTS, computes_now, hands_out_objects
from gradlint.knowledge.variable_methods import ASSIGNING, SCATTERING
from gradlint.verdicts import Cause


def call(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What calling the value returns, its effects applied."""
    if function.how is How.JOIN and function.kind is Kind.UNKNOWN:
        return _call_alternatives(it, function, arguments, node)
    asked, node = node, written_as_method(function, node)
    match function.kind:
        case Kind.FUNCTION:
            return _call_function_value(it, function, arguments, node)
        case Kind.SYMBOL:
            told = told_by_settings(it, (function.ref,), arguments, node)
            if told is not None:
                return told
            return call_symbol(it, function.ref, arguments, node)
        case Kind.METHOD:
            method: LibraryMethod = function.ref
            if _raises_where_read(it, method, function.node, asked):
                it.alive = False
                return it.plain(node)
            return call_library_method(it, method.receiver, method.name, arguments, node)
        case Kind.CLASS if is_enumeration(function.ref) and len(arguments.every()) == 1:
            return members_for(it, function.ref, arguments.every()[0], node, by_value=True)
        case Kind.LITERAL if is_member(function):
            return call_member(it, function, arguments, node)
        case Kind.CLASS:
            return instantiate(it, function, arguments, node)
        case Kind.INSTANCE:
            return call_instance(it, function, arguments, node)
        case Kind.LAYER:
            return call_layer(it, function, arguments, node)
        case Kind.LIBRARY:
            return call_object(it, function, arguments, node)
        case Kind.PLAIN:
            told = function.operands[0] if function.operands else function
            if never_matches(it, name_called(node), told, arguments.every(), node):
                return it.fresh(Kind.LITERAL, node, ref=False)
            return plain_method(it, function, name_called(node), arguments, node)
    return _opaque(it, function, arguments, node)


def _raises_where_read(it: Interpreter, method: LibraryMethod, read: ast.AST | None, node: ast.AST) -> bool:
    """Whether `move = rows[0].assign_sub`, called by that name now, asked a tensor for a method of variables."""
    if method.name not in ASSIGNING | SCATTERING or (isinstance(node, ast.Call) and node.func is read):
        return False
    return method.receiver.kind is Kind.TENSOR and note_method(it, method.receiver, method.name, read)


def _call_alternatives(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    ways = alternatives(function, MOST_WAYS)
    if ways is None or not ways:
        return _opaque(it, function, arguments, node)
    if len(ways) == 1:
        return call(it, ways[0], arguments, node)

    it.doubt += 1  # only one of them is called
    it.choosing += 1
    try:
        return in_arms(it, [partial(call, it, way, arguments, node) for way in ways])
    finally:
        it.doubt -= 1
        it.choosing -= 1


def _opaque(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    name = name_called(node)
    if function.how is How.PART:
        it.called_on[function.inputs[0].serial] = it.clock  # it may be another one behind that
    if name in ("run", "experimental_run_v2") and arguments.positional:
        first = arguments.positional[0]
        if first.kind is Kind.FUNCTION:  # strategy.run(step, args=(...)) on an unknown strategy
            return run_with_args(it, first, arguments, node)
    if name in (*TO_NUMBERS, "get_weights") and function.how is How.PART and not arguments.every():
        return plain_call(
            it, name if name == "get_weights" else f".{name}", function.inputs, node
        )  # of whatever: only numbers come out
    if name in PREDICTS and function.how is How.PART and arguments.positional:
        return _predicted(it, name, function.inputs[0], arguments, node)
    if name == "compile" and function.how is How.PART:
        run_compile(it, function.inputs[0], arguments, node)
    if name in ("assign_add", "assign_sub") and function.how is How.PART and is_slice_of_weight(function.inputs[0]):
        note_unseen_method(it, name, node)
    if name in ("assign", "set_value"):
        it.assigns_unknown = True
    if name == "apply_gradients" and function.how is How.PART:
        apply_gradients(it, function.inputs[0], name, arguments, node)
    told = told_by_settings(it, names_as_called(function, node), arguments, node)
    if told is not None:
        return told
    because = function.because or (f"`{name}` cannot be seen" if name else "a call that cannot be seen")
    return it.opaque_call(
        node,
        (function, *arguments.every()),
        because,
        getter=not arguments.positional or hands_out_objects(name),
        computes=computes_now(name),
    )


def _predicted(it: Interpreter, name: str, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`model.predict(x)` of something that is not known: NumPy arrays, if it is what its name says."""
    held = (receiver, *arguments.every())
    it.opaque_call(node, held, f"`{name}` cannot be seen", getter=True)
    made = it.operation(
        node, (), label=name, kind=Kind.PLAIN, dead=tuple((value, Cause.LEFT_TENSORFLOW) for value in held)
    )
    made.assumed = True
    return made


def _call_function_value(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    target = function.ref
    match target:
        case Function():
            told = told_by_settings(it, names_of(it, target), arguments, node)
            if told is not None:
                return told
            run = partial(call_function, it, target, arguments, node, None)
            if it.names_of(target.node).yields:
                return lazy_value(it, node, (function, *arguments.every()), run)
            return run()
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
