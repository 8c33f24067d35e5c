"""Definitions: def, lambda and imports."""

from __future__ import annotations

import ast

from gradlint.flow.decorators import decorate
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.modules import imported_name, module_of, module_value, run_registering
from gradlint.flow.names import bind_name
from gradlint.flow.objects import Function, Module
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
        full = alias.name if alias.asname else alias.name.split(".")[0]
        path = _own_module(it, alias.name, 0)
        if path is None:
            bind_name(it, alias.asname or full, symbol_of_import(it, full, node))
            continue
        run_registering(it, path)
        bound = path if alias.asname else _own_module(it, full, 0)
        if bound is not None:
            bind_name(it, alias.asname or full, module_value(it, bound, node))


def run_import_from(it: Interpreter, node: ast.ImportFrom) -> None:
    path = _own_module(it, node.module or "", node.level)
    if path is not None:
        _import_from_own(it, node, path)
        return
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            _star(it, module)
        else:
            name = f"{module}.{alias.name}" if not module.endswith(".") else module + alias.name
            bind_name(it, alias.asname or alias.name, symbol_of_import(it, name, node))


def _import_from_own(it: Interpreter, node: ast.ImportFrom, path: str) -> None:
    run_registering(it, path)
    for alias in node.names:
        if alias.name == "*":
            _star(it, module_of(it, path))
            continue
        inner = it.sources.finder.submodule(path, alias.name)
        if inner is not None:
            run_registering(it, inner)
        itself = it.module.module
        if inner is not None and itself is not None and itself.path == path:
            bind_name(it, alias.asname or alias.name, module_value(it, inner, node))
        else:
            bind_name(it, alias.asname or alias.name, imported_name(it, path, alias.name))


def _star(it: Interpreter, other: Module | str) -> None:
    module = it.module.module
    assert module is not None
    module.stars.append(other)


def _own_module(it: Interpreter, name: str, level: int) -> str | None:
    """The module of the project that an import names, or None: a library's, or one that is not there."""
    module = it.module.module
    assert module is not None
    return it.sources.finder.module(name, level, module.path) if it.follows_imports else None
