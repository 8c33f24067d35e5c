"""Entries: what is run of a module, in which order, and how far.

The module body runs first, statement by statement. Then every function from which a gradient can
be asked and that nothing in the file has called: with symbolic parameters and an open `self`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from gradlint.flow.classes import open_instance
from gradlint.flow.dropped_outputs import judge_graphs
from gradlint.flow.functions import call_function, open_arguments
from gradlint.flow.instances import class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.lazy import draw_uncalled
from gradlint.flow.left_out import judge_parts, judge_teachers
from gradlint.flow.loss_functions import judge_open_losses
from gradlint.flow.members import is_keras_family
from gradlint.flow.modules import attempt, hand_out
from gradlint.flow.objects import Function, Transformed
from gradlint.flow.precision import judge_precision
from gradlint.flow.sources import ROWS
from gradlint.flow.state import FUEL_ABROAD_OPEN, FUEL_ABROAD_PER_OPEN, FUEL_PER_ENTRY
from gradlint.flow.training import batch_of_data, judge_compiled
from gradlint.flow.triggers import RUN_BY_KERAS
from gradlint.flow.unused_layers import judge_classes
from gradlint.flow.values import Kind, Value


def run_module(it: Interpreter) -> None:
    """Run the module body, then the functions that nobody called."""
    cell = 0
    for statement in it.tree.body:
        before, cell = cell, it.source.file.located(statement.lineno % ROWS)[0]
        if not it.alive and before == cell:
            continue  # cannot be reached: sys.exit at top level, or a raise; in a notebook, in the same cell
        it.alive = True
        _entry(it, statement, partial(it.run_body, [statement]))
    it.alive = True
    for value in it.lazy_values:
        _entry(it, it.tree, draw_uncalled(it, value))
    it.alive = True
    it.entered_closed = frozenset(it.entered)
    it.open_code = True
    for module in it.modules.values():
        if module.frame is not None:
            hand_out(it, module.frame)
    _run_uncalled(it)
    _entry(it, it.tree, partial(judge_compiled, it))
    _entry(it, it.tree, partial(judge_classes, it))
    judge_open_losses(it)
    judge_graphs(it)
    judge_parts(it)
    judge_teachers(it)
    judge_precision(it)


def _run_uncalled(it: Interpreter) -> None:
    tried: set[ast.AST] = set()
    left = FUEL_ABROAD_OPEN
    while True:
        waiting = [
            function
            for function in it.functions
            if function.frame.top is it.entry.frame
            and function.node not in it.entered
            and function.node not in tried
            and (function.node in it.relevance.relevant or _is_run_by_keras(function))
        ]
        if not waiting:
            return
        for function in sorted(waiting, key=lambda each: (each.node.lineno, each.node.col_offset)):
            if function.node in it.entered or function.node in tried:
                continue
            tried.add(function.node)
            it.abroad_fuel = allowed = min(FUEL_ABROAD_PER_OPEN, left)
            _entry(it, function.node, partial(_run_open, it, function))
            left -= allowed - max(it.abroad_fuel, 0)


def _is_run_by_keras(function: Function) -> bool:
    """Whether Keras calls this: a method of a layer, model or loss, or a function that is a loss by its parameters."""
    if function.owner is not None:
        of_keras = is_keras_family(function.owner) or any("losses." in each for each in function.owner.families)
        return of_keras and function.name in RUN_BY_KERAS
    spec = function.node.args
    return [each.arg for each in (*spec.posonlyargs, *spec.args)][:2] == ["y_true", "y_pred"]


def _run_open(it: Interpreter, function: Function) -> None:
    receiver: Value | None = None
    if function.owner is not None:
        found = class_attribute(it, function.owner, function.name)
        wrapper = found.ref.transformer if found is not None and isinstance(found.ref, Transformed) else ""
        if wrapper == "classmethod":
            receiver = it.fresh(Kind.CLASS, function.node, ref=function.owner)
        elif wrapper != "staticmethod":
            receiver = open_instance(it, function.owner)
    if function.name == "__init__" and function.node in it.entered:
        return
    arguments = open_arguments(it, function, receiver)
    if function.name in ("train_step", "test_step") and function.owner is not None:
        if is_keras_family(function.owner):
            # What `fit` hands over are batches: tensors, and never variables.
            for name in list(arguments.keywords)[1:]:
                arguments.keywords[name] = batch_of_data(it, name, function.node)
    call_function(it, function, arguments, function.node, None)


def _entry(it: Interpreter, node: ast.AST, run: Callable[[], None]) -> None:
    allowed = it.fuel = min(FUEL_PER_ENTRY, it.fuel_left)
    attempt(it, node, run)
    it.fuel_left -= allowed - max(it.fuel, 0)
    if it.open_code:
        it.alive = True
        it.set_recording(0, 0)  # a tape that was entered by hand and is left to somebody else
