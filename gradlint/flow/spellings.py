"""Spellings: statements that Python runs alike are made alike, so that nothing that reads the tree can forget one.

`x: T = v` and `(x := v)` as a statement become `x = v`. In the body of a class the annotation stays: there it makes
fields of dataclasses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def made_alike(tree: ast.Module) -> ast.Module:
    """The tree, changed in place."""
    stack: list[ast.AST] = [tree]
    while stack:
        owner = stack.pop()
        for block in _blocks(owner):
            if not isinstance(owner, ast.ClassDef):
                block[:] = [_plain(each) for each in block]
            stack.extend(block)
    return tree


def _blocks(owner: ast.AST) -> Iterator[list[ast.AST]]:
    """The lists of statements, handlers and cases that a statement holds."""
    for name in _BLOCKS:
        block = getattr(owner, name, None)
        if isinstance(block, list):
            yield block


def _plain(node: ast.AST) -> ast.AST:
    match node:
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            return ast.copy_location(ast.Assign([target], value), node)
        case ast.Expr(value=ast.NamedExpr(target=target, value=value)):
            return ast.copy_location(ast.Assign([target], value), node)
    return node
