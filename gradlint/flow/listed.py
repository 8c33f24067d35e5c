"""Listed: what the text of a program puts into lists of variables by its name: a class lists its own for its optimizer.

Asked where Keras does not look: an author who lists a variable knows that.
"""

from __future__ import annotations

import ast

from gradlint.flow.arguments import name_called
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import VARIABLE_SETS

#: What is put into a list, paired with gradients, or handed to an optimizer.
_LISTING = frozenset({"append", "extend", "insert", "zip", "apply", "build"})


def is_listed(it: Interpreter, name: str) -> bool:
    """Whether an attribute of this name is put into a list of variables: `x.variables + [self.scale]`."""
    return any(_lists(node, name) for node in it.nodes(name))


def is_asked_for_variables(it: Interpreter, name: str) -> bool:
    """Whether the variables of what an attribute of this name holds are read: `self.head.trainable_variables`."""
    for node in it.nodes(name):
        if isinstance(node, ast.Attribute) and node.attr in VARIABLE_SETS and _is_named(node.value, name):
            return True
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and any(
            _is_named(each.iter, name) for each in node.generators
        ):
            if any(isinstance(each, ast.Attribute) and each.attr in VARIABLE_SETS for each in ast.walk(node)):
                return True
    return False


def _lists(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Return(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
            return not isinstance(value, ast.Tuple) and _is_in_list(value, name)
        case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value):
            return _is_in_list(value, name)
        case ast.AugAssign(op=ast.Add(), value=value) | ast.For(iter=value):
            return _is_in_list(value, name)
        case ast.Call(args=[*_, last]) if name_called(node) in _LISTING:
            return _is_named(last, name) or _is_in_list(last, name)
    return False


def _is_in_list(written: ast.expr, name: str) -> bool:
    match written:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(_is_named(each, name) or _is_in_list(each, name) for each in elements)
        case ast.Starred(value=value):
            return _is_in_list(value, name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_in_list(left, name) or _is_in_list(right, name)
        case ast.IfExp(body=left, orelse=right):
            return _is_in_list(left, name) or _is_in_list(right, name)
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            return _is_in_list(inner, name)
    return False


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name
