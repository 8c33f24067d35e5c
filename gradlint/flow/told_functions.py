"""Told functions: those of which the settings say whether gradients pass, and the names that they have there."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Function
from gradlint.flow.values import How, Value
from gradlint.knowledge.symbols import canonical
from gradlint.verdicts import Cause

#: By which of them a layer is called makes no difference.
_CALLS = ("call", "__call__")


def told_by_settings(it: Interpreter, names: Iterable[str], arguments: Arguments, node: ast.AST) -> Value | None:
    """The result of a function that `differentiable` or `nondifferentiable` of the settings names."""
    if not (it.differentiable or it.nondifferentiable):
        return None
    asked = set(names)
    if asked & it.differentiable:
        return it.operation(node, arguments.every(), label=min(asked & it.differentiable))
    if asked & it.nondifferentiable:
        dead = tuple((value, Cause.NON_DIFFERENTIABLE) for value in arguments.every())
        return it.operation(node, (), label=min(asked & it.nondifferentiable), dead=dead)
    return None


def names_of(it: Interpreter, function: Function) -> list[str]:
    """`module.function` or `module.Class.method`, as an import may spell it.

    None for what stands in another function, and where no settings ask for names.
    """
    frame = function.frame.parent if function.frame.is_class else function.frame
    module = frame.module if frame is not None else None
    if module is None or not (it.differentiable or it.nondifferentiable):
        return []
    of = f"{function.owner.name}." if function.owner is not None else ""
    modules = it.sources.finder.names_of(module.path)
    return [canonical(f"{each}.{of}{name}") for each in modules for name in _also_called(function.name)]


def names_as_called(function: Value, node: ast.AST) -> list[str]:
    """The names of an imported function as it is called here, or of a method of an object of an imported class."""
    imported = _dotted_name(function, node)
    if imported:
        return [imported]
    made = function.inputs[0] if function.how is How.PART and function.inputs else function
    if made.how is not How.OPAQUE_CALL or not made.inputs or made.node is None:
        return []
    cls = _dotted_name(made.inputs[0], made.node)
    if not cls:
        return []
    if made is function:
        return [f"{cls}.{name}" for name in _CALLS]
    called = node.func if isinstance(node, ast.Call) else None
    return [f"{cls}.{called.attr}"] if isinstance(called, ast.Attribute) else []


def _also_called(name: str) -> tuple[str, ...]:
    return _CALLS if name in _CALLS else (name,)


def _dotted_name(function: Value, node: ast.AST) -> str:
    """The full name of an imported function as it is called here, or an empty string."""
    if function.root is None and function.how is How.PARAMETER and not function.serial:
        return function.label
    root = function.root if function.root is not None else function
    if root.how is not How.PARAMETER or root.serial:
        return ""
    attributes: list[str] = []
    each = node.func if isinstance(node, ast.Call) else None
    while isinstance(each, ast.Attribute):
        attributes.append(each.attr)
        each = each.value
    return ".".join([root.label, *reversed(attributes)])
