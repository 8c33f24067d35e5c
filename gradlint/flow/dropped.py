"""Dropped: calls as statements of functions that change nothing."""

from __future__ import annotations

import ast

from gradlint.flow.applied import is_given_to_optimizer
from gradlint.flow.arguments import name_called
from gradlint.flow.descent import gradient_of, is_same_source
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import members_of
from gradlint.flow.update_events import ResultDropped
from gradlint.flow.values import How, Kind, Value
from gradlint.knowledge.effects import effect_of
from gradlint.knowledge.pure_functions import ARITHMETIC, CHANGING, SHAPING
from gradlint.ops import table as ops

_SPACES = ("tf.", "keras.ops.", "keras.backend.")
_ARRAY_METHODS = frozenset({"write", "scatter", "unstack", "split"})


def note_dropped(it: Interpreter, function: Value, result: Value, node: ast.Call) -> None:
    """A call as a statement: note it where the function only computes."""
    if it.expected or not _is_in_code(it, node):
        return
    if function.kind is Kind.SYMBOL:
        symbol = function.ref
        name = symbol.rpartition(".")[2]
        if name in ARITHMETIC and not _changes_training(result):
            return
        if name in SHAPING and not _is_read_again(it, node):
            return
        if name not in CHANGING | SHAPING | ARITHMETIC or not symbol.startswith(_SPACES):
            return
        if effect_of(symbol) is None and not symbol.endswith("clip_by_global_norm"):
            return
        if symbol.startswith(("tf.summary.", "tf.io.", "tf.debugging.")) or result.kind is Kind.SYMBOLIC:
            return
        first = ast.unparse(node.args[0]) if node.args else ""
        it.note(ResultDropped, node, ast.unparse(node.func), first, False)
    elif function.kind is Kind.FUNCTION:
        _note_step(it, result, node)
    elif function.kind is Kind.METHOD and it.frame.graph:
        owner = function.ref.receiver
        if owner.kind is Kind.LIBRARY and owner.ref.symbol == "tf.TensorArray" and function.ref.name in _ARRAY_METHODS:
            array = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else "the array"
            it.note(ResultDropped, node, ast.unparse(node.func), array, True)


def _note_step(it: Interpreter, result: Value, node: ast.Call) -> None:
    """`descend(variables, gradients)`, where the function returns the moved values and writes them nowhere."""
    returned = it.items(result).elements if result.kind is Kind.CONTAINER else (result,)
    variables = [_moved_by(each) for each in returned]
    moved = [each for each in variables if each is not None]
    if not moved or len(moved) < len(variables) or not node.args:
        return
    it.note(
        ResultDropped, node, ast.unparse(node.func), _shown(moved, node), False, True,
        holds=lambda: not any(_is_written(it, each) for each in moved),
    )  # fmt: skip


def _moved_by(value: Value) -> Value | None:
    """The variable that a value is, less a multiple of its gradient."""
    if value.how is not How.OPERATION or value.op is not ops.SUBTRACT or len(value.operands) != 2:
        return None
    variable, step = value.operands
    if variable.kind not in (Kind.VARIABLE, Kind.VARIABLES):
        return None
    source = gradient_of(step)
    return variable if source is not None and is_same_source(source, variable) else None


def _is_written(it: Interpreter, variable: Value) -> bool:
    members = members_of(it, variable)[0]
    if any(each in it.assigned or each in it.written_state for each in members):
        return True
    return is_given_to_optimizer(it, variable, members)


def _shown(moved: list[Value], node: ast.Call) -> str:
    """The argument that is, or holds, the variables."""
    names = [ast.unparse(each) for each in node.args]
    labels = [each.label for each in moved]
    return next((name for name in names if any(name.endswith(label) for label in labels if label)), names[0])


def _changes_training(result: Value) -> bool:
    """Whether arithmetic is done on a variable or a gradient."""
    first = result.operands[0] if result.operands else None
    return first is not None and (first.kind is Kind.VARIABLE or gradient_of(first) is not None)


def _is_read_again(it: Interpreter, node: ast.Call) -> bool:
    """Whether the name that the function is given is read below the call."""
    name = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
    scope: ast.AST = it.frame.function.node if it.frame.function is not None else it.tree
    end = (node.end_lineno or 0, node.end_col_offset or 0)
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Load)
        and (each.lineno, each.col_offset) >= end
        for each in ast.walk(scope)
    )


def _is_in_code(it: Interpreter, node: ast.Call) -> bool:
    """Not at the left margin, where it shows a value in a notebook that became a script, and not in a benchmark."""
    if it.frame.is_module and node.col_offset == 0:
        return False
    if it.relevance.reads_watched and it.recording()[1]:
        return False  # a variable may be read so that the tape watches it
    scope: ast.AST = it.frame.function.node if it.frame.function is not None else it.tree
    timed = it.reads_clock.get(scope)
    if timed is None:
        timed = any(isinstance(each, ast.Call) and name_called(each) in _CLOCKS for each in ast.walk(scope))
        it.reads_clock[scope] = timed
    return not timed


#: Where a clock is read, functions are called for the time that they take.
_CLOCKS = frozenset({"time", "perf_counter", "process_time", "monotonic", "timeit", "timestamp"})
