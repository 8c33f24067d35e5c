"""Definitions: def, lambda and imports."""

from __future__ import annotations

import ast

from gradlint.flow.decorators import decorate
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.names import bind_name
from gradlint.flow.objects import (
    Function,
)
from gradlint.flow.symbols import symbol_of_import
from gradlint.flow.values import Kind, Value


def run_def(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    bind_name(it, node.name, make_function(it, node, None))


def make_function(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: object) -> Value:
    """The value of a `def`, decorators applied."""
    value = plain_function(it, node)
    for decorator in reversed(node.decorator_list):
        value = decorate(it, it.evaluate(decorator), value, decorator)
    return value


def plain_function(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    """The function object of a `def` or lambda before its decorators."""
    defaults = tuple(it.evaluate(each) for each in node.args.defaults)
    keyword_defaults = tuple(None if each is None else it.evaluate(each) for each in node.args.kw_defaults)
    made = Function(it.new_id(), node, it.frame, defaults, keyword_defaults)
    it.functions.append(made)
    return it.fresh(Kind.FUNCTION, node, ref=made)


def run_import(it: Interpreter, node: ast.Import) -> None:
    for alias in node.names:
        if alias.asname:
            bind_name(it, alias.asname, symbol_of_import(it, alias.name, node))
        else:
            bind_name(it, alias.name.split(".")[0], symbol_of_import(it, alias.name.split(".")[0], node))


def run_import_from(it: Interpreter, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            it.star_imports.append(module)
        else:
            name = f"{module}.{alias.name}" if not module.endswith(".") else module + alias.name
            bind_name(it, alias.asname or alias.name, symbol_of_import(it, name, node))
