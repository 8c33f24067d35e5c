"""Symbols: what imports of library code bind."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import Kind, Value
from gradlint.knowledge.symbols import KNOWN_ROOTS, canonical


def symbol(it: Interpreter, name: str, node: ast.AST | None) -> Value:
    """The value of a library symbol."""
    return it.fresh(Kind.SYMBOL, node, ref=canonical(name))


def symbol_of_import(it: Interpreter, name: str, node: ast.AST) -> Value:
    """What an import binds: a symbol of a known library, else an unknown (the same one each time)."""
    full = canonical(name)
    if full.split(".")[0] in KNOWN_ROOTS:
        return it.fresh(Kind.SYMBOL, node, ref=full)
    return it.unknown_global(full, f"`{name.lstrip('.')}` is imported from code that is not followed")
