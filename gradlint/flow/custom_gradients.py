"""Custom gradients: what `@tf.custom_gradient` functions give back, and what TensorFlow refuses about them.

The gradient function is run on unknown upstream gradients: what it returns says which arguments get a gradient.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradlint.flow.arguments import Arguments
from gradlint.flow.events import CustomGradientMisused, Misuse
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Function, Items, Variable
from gradlint.flow.values import How, Kind, Value, alternatives, is_literal, walk_since
from gradlint.verdicts import Cause

_COUNTED = (Kind.TENSOR, Kind.VARIABLE, Kind.LITERAL, Kind.PLAIN, Kind.SYMBOLIC)


@dataclass(frozen=True, slots=True)
class _Returned:
    """What the gradient function returned: one entry per gradient, None where that cannot be told."""

    gradients: tuple[Value, ...] | None
    node: ast.AST


def call_custom_gradient(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """The result of calling a `@tf.custom_gradient` function."""
    start = it.tick()
    returned = it.call(function, arguments, node)
    given = arguments.every()
    if returned.kind is not Kind.CONTAINER or not it.items(returned).exact or len(it.items(returned).elements) != 2:
        return it.operation(node, (returned, *given), label="custom gradient")
    value, gradient = it.items(returned).elements
    read = _variables_read(it, value, given, start)
    told = _gradients(it, gradient, len(it.leaves(value)), bool(read), node)
    _note_misuse(it, gradient, told, arguments, read, node)
    cut, live = _cut_arguments(told, arguments)
    known = told is not None and told.gradients is not None and not _meets_unknown(it, value, start)
    natural = () if known else (value,)
    inner: tuple[Value, ...] = ()
    if cut and told is not None:
        dead = tuple((each, Cause.CUSTOM_GRADIENT) for each in cut)
        inner = (it.operation(told.node, (), label="custom gradient", dead=dead),)
    inputs = (*inner, *natural, *live, *read)

    def wrapped(each: Value) -> Value:
        if each.kind is Kind.CONTAINER:
            items = it.items(each)
            elements = tuple(wrapped(one) for one in items.elements)
            return it.container(each.ref.type, Items(elements, items.keys, items.exact), node)
        return it.operation(node, (*inputs, *((each,) if natural else ())), label="custom gradient")

    return wrapped(value)


def _gradients(it: Interpreter, gradient: Value, outputs: int, reads: bool, node: ast.AST) -> _Returned | None:
    """Run the gradient function once; None when it is not a function of the file."""
    if gradient.kind is not Kind.FUNCTION or not isinstance(gradient.ref, Function):
        return None
    upstream = tuple(it.fresh(Kind.TENSOR, node, label="upstream gradient") for _ in range(max(outputs, 1)))
    accepts = _accepts_variables(gradient.ref)
    keywords = {}
    if reads and accepts:
        keywords["variables"] = it.list_of([it.parameter("variables", node)], node, exact=False)
    where = _end_of(gradient.ref)
    alive = it.alive
    it.expected += 1
    it.doubt += 1
    result = it.call(gradient, Arguments(upstream, keywords), node)
    it.doubt -= 1
    it.expected -= 1
    it.alive = alive
    if accepts:
        # It returns (gradients, gradients of the variables) where variables are read, which may be out of sight.
        pair = it.items(result).elements if result.kind is Kind.CONTAINER else ()
        if not reads or len(pair) != 2:
            return _Returned(None, where)
        result = pair[0]
    if _is_sometimes_none(result) and not it.expected:
        it.note(CustomGradientMisused, where, Misuse.SOMETIMES_NONE, "")
    if is_literal(result, None) or result.kind is Kind.TENSOR:
        return _Returned((result,), where)
    if result.kind is Kind.CONTAINER and it.items(result).exact and result.ref.type in ("list", "tuple"):
        return _Returned(it.items(result).elements, where)
    return _Returned(None, where)


def _is_sometimes_none(value: Value) -> bool:
    """Whether a value is None on some ways and something else on others."""
    nothing = [is_literal(each, None) for each in value.inputs]
    return value.how is How.JOIN and any(nothing) and not all(nothing)


def _end_of(function: Function) -> ast.AST:
    """Where a function that returns nothing lacks its `return`: its last statement."""
    return function.node.body if isinstance(function.node, ast.Lambda) else function.node.body[-1]


def _cut_arguments(told: _Returned | None, arguments: Arguments) -> tuple[list[Value], list[Value]]:
    """The arguments that surely get None, and those that may get a gradient."""
    given = arguments.every()
    if told is None or told.gradients is None or arguments.more is not None or arguments.keywords:
        return [], given
    gradients = told.gradients
    if len(gradients) == 1 and is_literal(gradients[0], None):
        return given, []
    if len(gradients) != len(given):
        return [], given
    pairs = list(zip(given, gradients, strict=True))
    return [v for v, g in pairs if is_literal(g, None)], [v for v, g in pairs if not is_literal(g, None)]


def _variables_read(it: Interpreter, value: Value, given: list[Value], start: int) -> tuple[Value, ...]:
    """Trainable variables that the forward pass reads and that are no arguments."""
    leaves = [leaf for each in given for leaf in it.leaves(each)]
    passed = {way.serial for leaf in leaves for way in (leaf, *(alternatives(leaf, 16) or ()))}
    met = walk_since(it.leaves(value), start)
    return tuple(each for each in met if each.serial not in passed and _is_trained(each))


def _meets_unknown(it: Interpreter, value: Value, start: int) -> bool:
    """Whether code that cannot be seen, which may read variables, took part in the forward pass."""
    met = walk_since(it.leaves(value), start)
    return any(each.how is How.OPAQUE_CALL and each.serial > start for each in met)


def _is_trained(value: Value) -> bool:
    if value.kind is Kind.VARIABLES:
        return bool(value.ref.members)
    return value.kind is Kind.VARIABLE and isinstance(value.ref, Variable) and bool(value.ref.trainable)


def _accepts_variables(function: Function) -> bool:
    spec = function.node.args
    names = {each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return spec.kwarg is not None or "variables" in names


def _is_followed(it: Interpreter, value: Value, recording: int) -> bool:
    return value.kind in (Kind.TENSOR, Kind.VARIABLE) and bool(it.surely_tracked(value) & recording)


def _note_misuse(
    it: Interpreter,
    gradient: Value,
    told: _Returned | None,
    arguments: Arguments,
    read: tuple[Value, ...],
    node: ast.AST,
) -> None:
    if it.expected:
        return
    recording = it.recording()[0]
    if any(_is_followed(it, each, recording) for each in arguments.keywords.values()):
        misuse = Misuse.KEYWORDS_IN_GRAPH if it.frame.graph else Misuse.KEYWORDS
        it.note(CustomGradientMisused, node, misuse, "")
        return
    if told is None:
        return
    exact = [each for each in read if each.kind is Kind.VARIABLE and each.ref.exact]
    if exact and isinstance(gradient.ref, Function) and not _accepts_variables(gradient.ref):
        it.note(CustomGradientMisused, gradient.ref.node, Misuse.VARIABLES, exact[0].ref.name)
        return
    countable = (
        arguments.more is None and not arguments.keywords and all(v.kind in _COUNTED for v in arguments.positional)
    )
    if told.gradients is None or not countable:
        return
    only_none = len(told.gradients) == 1 and is_literal(told.gradients[0], None)
    if len(told.gradients) != len(arguments.positional) and not only_none:
        counts = f"{len(told.gradients)} for {len(arguments.positional)}"
        misuse = Misuse.COUNT_IN_GRAPH if it.frame.graph else Misuse.COUNT
        place = told.gradients[0].node if told.gradients and told.gradients[0].node is not None else told.node
        it.note(CustomGradientMisused, place, misuse, counts)
