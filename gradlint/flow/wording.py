"""Wording: values and expressions as the messages quote them."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence

from gradlint.flow.values import Value

_LONGEST = 60
_BLANK = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})


def code_of_node(node: ast.AST | None) -> str:
    """An expression as it is written, cut when it is long; empty for a statement."""
    written = ast.unparse(node) if isinstance(node, ast.expr) else ""
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def code_of(value: Value) -> str:
    """The expression that made a value, or what the value is called where none did."""
    return code_of_node(value.node) or value.label


def operand_nodes(node: ast.AST) -> list[ast.expr]:
    """The operands of an operation as they are written: both sides of an operator, the arguments of a call."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            return [left, right]
        case ast.Call(args=args, keywords=keywords):
            return [*args, *(each.value for each in keywords)]
    return []


def function_called(node: ast.AST) -> str:
    """The function that a call names; empty for another node."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def on_one_line(rows: Sequence[str]) -> str:
    """The rows of an expression as one: without comments, and without the backslashes that joined them."""
    if any("#" in row or row.endswith("\\") for row in rows):
        rows = _without_ends(rows)
    joined = ""
    for row in filter(None, map(str.strip, rows)):
        gap = " " if joined and joined[-1] not in "([{" and row[0] not in ")]}" else ""
        joined += gap + row
    return joined


def _without_ends(rows: Sequence[str]) -> list[str]:
    """The rows up to their last token that is code."""
    ends: dict[int, int] = {}
    text = "\n".join(["(", *rows, ")"])  # within brackets, rows end anywhere
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _BLANK:
                first, last = token.start[0] - 2, token.end[0] - 2
                ends |= {row: len(rows[row]) for row in range(max(first, 0), min(last, len(rows)))}
                ends[last] = token.end[1]
    except (tokenize.TokenError, SyntaxError):
        return list(rows)
    return [row[: ends.get(number, 0)] for number, row in enumerate(rows)]
