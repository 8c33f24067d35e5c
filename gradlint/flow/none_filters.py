"""None filters: `[(g, v) for g, v in pairs if g is not None]`, which keeps silent about what gets no gradient."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import How, alternatives


def note_none_filter(it: Interpreter, tests: list[ast.expr], node: ast.AST) -> None:
    """Remember of which gradient calls the None are filtered away here."""
    for test in tests:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.IsNot):
            continue
        if not isinstance(test.left, ast.Name) or ast.unparse(test.comparators[0]) != "None":
            continue
        for way in alternatives(it.evaluate(test.left), 4) or ():
            if way.how is How.GRADIENT and way.node is not None:
                it.none_filtered.setdefault(way.node, node)
