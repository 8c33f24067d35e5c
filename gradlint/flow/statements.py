"""Statements: one handler per node type, chosen by a table."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradlint.flow.arguments import name_called
from gradlint.flow.assignments import assign, it_none, run_annotated, run_assign, run_augmented, run_delete
from gradlint.flow.assumptions import assume, narrow
from gradlint.flow.branches import run_if, run_suppressed, run_try
from gradlint.flow.classes import define_class
from gradlint.flow.contexts import enter_context
from gradlint.flow.definitions import run_def, run_import, run_import_from
from gradlint.flow.dropped import note_dropped
from gradlint.flow.expressions import arguments_of
from gradlint.flow.interpreter import Interpreter, expecting_errors
from gradlint.flow.loops import run_break, run_continue, run_for, run_while
from gradlint.flow.matching import run_match
from gradlint.flow.names import bind_name
from gradlint.flow.slices import note_call_on_copy
from gradlint.flow.truth import note_test
from gradlint.flow.unused_changes import note_dropped_change
from gradlint.flow.unused_layers import note_output_dropped
from gradlint.flow.values import Kind, Value
from gradlint.flow.written import written_as_method

# Any: the table pairs each kind of node with a function for just that kind.
Statement = Callable[[Interpreter, Any], None]


def run_body(it: Interpreter, body: Sequence[ast.stmt]) -> None:
    """Run statements until the way ends."""
    for statement in body:
        if not it.alive:
            return
        handler = TABLE.get(type(statement))
        if handler is not None:
            it.burn()
            handler(it, statement)


def run_return(it: Interpreter, node: ast.Return) -> None:
    value = it_none(it, node) if node.value is None else it.evaluate(node.value)
    if it.calls and it.alive:  # not where evaluating the value raises
        exits = it.calls[-1]
        exits.returns.append((value, it.capture(exits, exits.level)))
    it.alive = False


def run_raise(it: Interpreter, node: ast.Raise) -> None:
    if node.exc is not None:
        it.evaluate(node.exc)
    it.alive = False


_EXPECTING = ("raises", "assertRaises", "assertRaisesRegex", "suppress", "assert_raises", "assert_raises_regex")


def run_with(it: Interpreter, node: ast.With | ast.AsyncWith) -> None:
    _run_with_items(it, list(node.items), node)


def _run_expecting(it: Interpreter, rest: list[ast.withitem], node: ast.With | ast.AsyncWith, *, tells: bool) -> None:
    with expecting_errors(it, tells=tells):
        _run_with_items(it, rest, node)


def _run_with_items(it: Interpreter, items: list[ast.withitem], node: ast.With | ast.AsyncWith) -> None:
    if not items:
        run_body(it, node.body)
        return
    item, rest = items[0], items[1:]
    manager = it.evaluate(item.context_expr)

    def bind_target(entered: Value) -> None:
        if item.optional_vars is not None:
            assign(it, item.optional_vars, entered)

    tells = name_called(item.context_expr) in _EXPECTING

    def run() -> None:
        _run_expecting(it, rest, node, tells=tells)

    enter_context(
        it,
        manager,
        item.context_expr,
        bind_target,
        partial(run_suppressed, it, run) if tells else run,
        _tape_name(item),
    )


def _tape_name(item: ast.withitem) -> str:
    target = item.optional_vars if item.optional_vars is not None else item.context_expr
    return ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else "the tape"


def run_expression(it: Interpreter, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Call):
        value = it.evaluate(node.value)
        if isinstance(node.value, ast.ListComp):
            note_dropped_change(it, value, node.value)
        return
    note_call_on_copy(it, node.value)
    function = it.evaluate(node.value.func)
    result = it.call(function, arguments_of(it, node.value), node.value)
    called = written_as_method(function, node.value)
    assert isinstance(called, ast.Call)
    note_dropped(it, function, result, called)
    note_output_dropped(it, result, node.value)
    if it.is_waiting(result) and function.kind is Kind.FUNCTION:
        return
    if function.kind is Kind.FUNCTION or (function.kind is Kind.SYMBOL and function.ref == "builtins.map"):
        note_dropped_change(it, result, node.value)


def run_assert(it: Interpreter, node: ast.Assert) -> None:
    note_test(it, it.evaluate(node.test))
    if assume(it, node.test, True):
        narrow(it)


def run_class(it: Interpreter, node: ast.ClassDef) -> None:
    bind_name(it, node.name, define_class(it, node))


TABLE: dict[type[ast.AST], Statement] = {
    ast.If: run_if,
    ast.Match: run_match,
    ast.For: run_for,
    ast.AsyncFor: run_for,
    ast.While: run_while,
    ast.Break: run_break,
    ast.Continue: run_continue,
    ast.Return: run_return,
    ast.Raise: run_raise,
    ast.Try: run_try,
    ast.With: run_with,
    ast.AsyncWith: run_with,
    ast.Assign: run_assign,
    ast.AnnAssign: run_annotated,
    ast.AugAssign: run_augmented,
    ast.Delete: run_delete,
    ast.Expr: run_expression,
    ast.Assert: run_assert,
    ast.FunctionDef: run_def,
    ast.AsyncFunctionDef: run_def,
    ast.ClassDef: run_class,
    ast.Import: run_import,
    ast.ImportFrom: run_import_from,
}
if hasattr(ast, "TryStar"):
    TABLE[ast.TryStar] = run_try
