"""Expressions: one handler per node type, chosen by a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from gradlint.flow.arguments import Arguments
from gradlint.flow.arms import in_arms
from gradlint.flow.assumptions import in_arm
from gradlint.flow.constants import mask_states
from gradlint.flow.definitions import plain_function
from gradlint.flow.displays import dict_comprehension, dict_display, display, list_comprehension
from gradlint.flow.interpreter import Interpreter, expecting_errors
from gradlint.flow.names import bind_name, read_name
from gradlint.flow.operators import binary_spine, compare, unary
from gradlint.flow.own_containers import seen_as_container
from gradlint.flow.sequences import element_of, get_item, known_elements
from gradlint.flow.timing import Timing, timing_of
from gradlint.flow.truth import asks_version, boolean, truth_of
from gradlint.flow.values import NONE, Fill, How, Kind, Value, is_literal
from gradlint.verdicts import Cause

# Any: the table pairs each kind of node with a function for just that kind.
Handler = Callable[[Interpreter, Any], Value]


def evaluate(it: Interpreter, node: ast.AST) -> Value:
    """The value of an expression now.

    Raises:
        OutOfFuel: the entry has used its evaluations.
    """
    it.burn()
    handler = TABLE.get(type(node))
    if handler is None:
        return it.plain(node)
    return handler(it, node)


def _name(it: Interpreter, node: ast.Name) -> Value:
    return read_name(it, node.id, node)


def _constant(it: Interpreter, node: ast.Constant) -> Value:
    value = it.fresh(Kind.LITERAL, node, ref=node.value)
    if it.timed:
        it.timed_values.add(value.serial)
    return value


def _conditional(it: Interpreter, node: ast.IfExp) -> Value:
    known = truth_of(it, node.test)
    if known is not None:
        return evaluate(it, node.body if known else node.orelse)
    with expecting_errors(it, tells=asks_version(node.test)):
        made = in_arms(it, [partial(_arm, it, node, outcome) for outcome in (True, False)])
    timing = timing_of(it, node.test)
    late = made.inputs[-1 if timing is Timing.EARLY else 0] if timing is not None and made.how is How.JOIN else None
    if late is not None and (not mask_states(it, made) or mask_states(it, late) & {Fill.MASK, Fill.ZEROS}):
        it.timed_values.add(made.serial)
    return made


def _arm(it: Interpreter, node: ast.IfExp, outcome: bool) -> Value:
    """What one arm of a conditional expression makes."""
    made: list[Value] = []
    in_arm(it, node.test, outcome, lambda: made.append(evaluate(it, node.body if outcome else node.orelse)))
    return made[0]


def arguments_of(it: Interpreter, node: ast.Call) -> Arguments:
    """The evaluated arguments of a call."""
    positional: list[Value] = []
    more: Value | None = None
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(it, argument.value)
            known = known_elements(it, value)
            if known is not None and more is None:
                positional.extend(known)
            elif more is None and value.kind is Kind.CONTAINER and value.ref.leading and value.how is not How.JOIN:
                elements = it.items(value).elements
                positional.extend(elements[: value.ref.leading])
                more = it.join(list(elements[value.ref.leading :]))
            else:
                more = value if more is None else it.join([more, value])
        else:
            value = evaluate(it, argument)
            if more is None:
                positional.append(value)
            else:
                more = it.join([more, value])
    keywords: dict[str, Value] = {}
    more_keywords: Value | None = None
    for keyword in node.keywords:
        value = evaluate(it, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            continue
        value = seen_as_container(it, value, "keys")
        items = it.items(value) if value.kind is Kind.CONTAINER else None
        if items is not None and items.exact and items.keys is not None:
            keywords.update({str(key): each for key, each in zip(items.keys, items.elements, strict=True)})
        elif not is_literal(value, None):
            more_keywords = value
    return Arguments(tuple(positional), keywords, more, more_keywords)


def _call(it: Interpreter, node: ast.Call) -> Value:
    function = evaluate(it, node.func)
    return it.call(function, arguments_of(it, node), node)


def _attribute(it: Interpreter, node: ast.Attribute) -> Value:
    names: list[ast.Attribute] = []
    each: ast.expr = node
    while isinstance(each, ast.Attribute):
        names.append(each)
        each = each.value
    value = evaluate(it, each)
    for access in reversed(names):
        value = it.get_attribute(value, access.attr, access)
    return value


def _subscript(it: Interpreter, node: ast.Subscript) -> Value:
    return get_item(it, evaluate(it, node.value), evaluate(it, node.slice), node)


def _slice(it: Interpreter, node: ast.Slice) -> Value:
    parts = [None if each is None else evaluate(it, each) for each in (node.lower, node.upper, node.step)]
    if all(each is None or each.kind is Kind.LITERAL for each in parts):
        bounds = [None if each is None else each.ref for each in parts]
        if all(bound is None or type(bound) is int for bound in bounds):
            made = it.fresh(Kind.LITERAL, node, ref=slice(*bounds))
            made.operands = tuple(NONE if each is None else each for each in parts)
            return made
    made = it.plain(node)
    made.operands = tuple(NONE if each is None else each for each in parts)
    return made


def _lambda(it: Interpreter, node: ast.Lambda) -> Value:

    return plain_function(it, node)


#: Longer texts are no names of anything.
_LONGEST_WORD = 200


def _string(it: Interpreter, node: ast.JoinedStr) -> Value:
    held = [evaluate(it, each.value) for each in node.values if isinstance(each, ast.FormattedValue)]
    text = _text_of(node, held)
    if text is not None:
        return it.fresh(Kind.LITERAL, node, ref=text)
    return it.plain(node, held, Cause.LEFT_TENSORFLOW, "a string") if held else it.plain(node)


def _text_of(node: ast.JoinedStr, held: list[Value]) -> str | None:
    """What a formatted string says, where it is put together from known words alone."""
    words: list[str] = []
    values = iter(held)
    for each in node.values:
        if isinstance(each, ast.Constant):
            words.append(str(each.value))
            continue
        value = next(values)
        is_word = value.kind is Kind.LITERAL and value.how is How.FRESH and isinstance(value.ref, str)
        if not is_word or not isinstance(each, ast.FormattedValue) or each.conversion != -1 or each.format_spec:
            return None
        words.append(value.ref)
    text = "".join(words)
    return text if len(text) < _LONGEST_WORD else None


def _starred(it: Interpreter, node: ast.Starred) -> Value:
    return evaluate(it, node.value)


def _await(it: Interpreter, node: ast.Await) -> Value:
    return evaluate(it, node.value)


def _walrus(it: Interpreter, node: ast.NamedExpr) -> Value:

    value = evaluate(it, node.value)
    bind_name(it, node.target.id, value)
    return value


def _yield(it: Interpreter, node: ast.Yield | ast.YieldFrom) -> Value:
    value = it.fresh(Kind.LITERAL, node, ref=None) if node.value is None else evaluate(it, node.value)
    if isinstance(node, ast.YieldFrom):
        value = element_of(it, value, node)
    frame = it.frame.callers()[0]
    if it.calls:
        exits = it.calls[-1]
        exits.yields.append(value)
        if exits.on_yield is not None:
            exits.on_yield(value)
            return it.fresh(Kind.LITERAL, node, ref=None)
        if frame.function is not None and frame.call_node is frame.function.node:
            # Strangers run between this and what follows, and may fill what they were handed.
            return it.opaque_call(node, (value,), "what happens where this is yielded cannot be seen", getter=True)
    if frame.function is not None and node not in _bare_yields(it, frame.function.node):
        for each in list(it.store.cells.values()):
            if each is not None:
                it.escape(each)  # whoever goes through the generator may hand in anything
        return it.unknown(node, "what a generator is sent cannot be seen")
    return it.parameter("<sent>", node)


def _bare_yields(it: Interpreter, function: ast.AST) -> frozenset[ast.AST]:
    """The `yield` of a generator whose values nobody uses."""
    known = it.bare_yields.get(function)
    if known is None:
        bare = (each.value for each in ast.walk(function) if isinstance(each, ast.Expr))
        known = it.bare_yields[function] = frozenset(
            each for each in bare if isinstance(each, ast.Yield | ast.YieldFrom)
        )
    return known


TABLE: dict[type[ast.AST], Handler] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: binary_spine,
    ast.UnaryOp: unary,
    ast.BoolOp: boolean,
    ast.Compare: compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.List: display,
    ast.Tuple: display,
    ast.Set: display,
    ast.Dict: dict_display,
    ast.ListComp: list_comprehension,
    ast.SetComp: list_comprehension,
    ast.GeneratorExp: list_comprehension,
    ast.DictComp: dict_comprehension,
    ast.Lambda: _lambda,
    ast.JoinedStr: _string,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
