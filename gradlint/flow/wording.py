"""Wording: values and expressions as the messages quote them."""

from __future__ import annotations

import ast

from gradlint.flow.values import Value

_LONGEST = 60


def code_of_node(node: ast.AST | None) -> str:
    """An expression as it is written, cut when it is long; empty for a statement."""
    written = ast.unparse(node) if isinstance(node, ast.expr) else ""
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def code_of(value: Value) -> str:
    """The expression that made a value, or what the value is called where none did."""
    return code_of_node(value.node) or value.label


def function_called(node: ast.AST) -> str:
    """The function that a call names; empty for another node."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""
