"""Eager functions: whether what tf.function decorates is traced, or run line by line as `run_functions_eagerly` asks.

What it is told now is a cell of the store, so that branches and loops join it like anything else.
"""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.state import EAGER_FUNCTIONS
from gradlint.flow.values import Value, constants


def run_functions_eagerly(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.config.run_functions_eagerly(told)`."""
    told = arguments.get(0, "run_eagerly")
    if told is None:
        told = next(iter(arguments.keywords.values()), None)
    it.store.set(EAGER_FUNCTIONS, told if told is not None else it.plain(node))
    return it.plain(node)


def functions_run_eagerly(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.config.functions_run_eagerly()`."""
    told = it.store.get(EAGER_FUNCTIONS)
    return told if told is not None else it.plain(node)


def are_traced(it: Interpreter) -> bool | None:
    """Whether functions are traced now; None where the program decides that while it runs."""
    told = it.store.get(EAGER_FUNCTIONS)
    known = constants(told) if told is not None else None
    if known == {True}:
        return False
    if known != {False} or (it.open_code and it.sets_eager_functions):
        return None
    return True
