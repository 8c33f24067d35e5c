"""Loss functions: what a loss of this file does with what was predicted, read off its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from gradlint.flow.instances import class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import BoundMethod, Function, Partial
from gradlint.flow.outputs import width_of
from gradlint.flow.values import Kind, Value, everything_behind, lineage
from gradlint.flow.zero_events import PredictionIgnored, PredictionReadInPart
from gradlint.ops import table as ops

_MOST_BEHIND = 800


def function_of_loss(it: Interpreter, loss: Value) -> Function | None:
    """The function that computes a loss given to `compile`: the loss itself, or `call` of a class of this file."""
    if loss.kind is Kind.INSTANCE:
        method = class_attribute(it, loss.ref.cls, "call") or class_attribute(it, loss.ref.cls, "__call__")
        return method.ref if method is not None and isinstance(method.ref, Function) else None
    if isinstance(loss.ref, Partial) and not loss.ref.arguments:  # its keywords are settings
        return function_of_loss(it, loss.ref.function)
    if isinstance(loss.ref, BoundMethod):
        return loss.ref.function.ref if isinstance(loss.ref.function.ref, Function) else None
    if isinstance(loss.ref, Partial):
        return function_of_loss(it, loss.ref.function)
    return loss.ref if isinstance(loss.ref, Function) else None


def _bound_by_partial(loss: Value) -> tuple[int, frozenset[str]]:
    """How many arguments `functools.partial` gives before the targets, and which by name."""
    count, names = 0, frozenset[str]()
    while isinstance(loss.ref, Partial):
        count += len(loss.ref.arguments)
        names |= {name for name, _ in loss.ref.keywords}
        loss = loss.ref.function
    return count, names


def judge_loss_function(it: Interpreter, loss: Value, alone: bool) -> None:
    """A loss of this file is trained with, alone or beside others: what it reads of the prediction."""
    function = function_of_loss(it, loss)
    if function is None or it.expected or it.eager is None:
        return  # in a graph of TensorFlow 1, a loss may read the outputs of the model itself
    if not alone:
        it.loss_functions.add(function.node)  # another output may be all that is trained
        return
    it.loss_functions.add(function.node)
    names = _names_given(function, *_bound_by_partial(loss))
    if len(names) < 2:
        return
    target, name = names[:2]
    reads = reads_of(function.node, name)
    if reads is None:
        return
    if not reads and reads_of(function.node, target):  # else it is no loss, and none is meant
        it.note(PredictionIgnored, computed_by(function), function.name, name, True)


@contextmanager
def handing_on(it: Interpreter, predicted: Value) -> Iterator[None]:
    """Compute a loss, and remember which functions of the file are handed what was predicted."""
    before = it.handed, it.handed_to
    it.handed, it.handed_to = predicted, []
    yield
    it.handed, it.handed_to = before


def judge_handed_on(it: Interpreter, loss: Value, computed: Value, predicted: Value) -> None:
    """A loss hands the prediction to a function that never reads it, and is computed from nothing else of it."""
    outer = function_of_loss(it, loss)
    unread = [(function, name) for function, name in it.handed_to if reads_of(function.node, name) == []]
    if it.expected or it.eager is None or not unread or unread[-1][0] is outer:
        return
    behind = list(lineage([computed], _MOST_BEHIND, everything_behind))
    if len(behind) >= _MOST_BEHIND or any(each is predicted or each.is_opaque for each in behind):
        return
    if any(each.kind in (Kind.VARIABLE, Kind.VARIABLES, Kind.LAYER) for each in behind):
        return  # a penalty of weights
    function, name = unread[-1]
    it.note(PredictionIgnored, computed_by(function), function.name, name, True)


def judge_open_losses(it: Interpreter) -> None:
    """Loss classes of this file that nothing in it trains with."""
    for cls in it.classes:
        of_loss = any(family.startswith("keras.losses.") for family in cls.families)
        if cls.frame.top is not it.entry.frame or not of_loss:
            continue
        method = class_attribute(it, cls, "call")
        if method is None or not isinstance(method.ref, Function) or method.ref.node in it.loss_functions:
            continue
        if method.ref.owner is not cls or _is_left_open(method.ref.node):
            continue
        name = next(iter(_names_given(method.ref)[1:]), None)
        if name is not None and reads_of(method.ref.node, name) == []:
            it.note(
                PredictionIgnored,
                computed_by(method.ref),
                f"{cls.name}.call",
                name,
                False,
                certain=False,
                frame=it.module,
            )


def _is_left_open(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Raise) for each in ast.walk(node)) or not any(
        isinstance(each, ast.Return) and each.value is not None for each in ast.walk(node)
    )


def _names_given(function: Function, bound: int = 0, by_name: frozenset[str] = frozenset()) -> list[str]:
    """The parameters that are given the targets, what was predicted, and so on, without `self` and what is bound."""
    spec = function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    if function.owner is not None and names and names[0] in ("self", "cls"):
        names = names[1:]
    return [name for name in names[bound:] if name not in by_name]


def parameter_of(function: Function, name: str) -> ast.arg | None:
    """The parameter of this name, where it is defined."""
    spec = function.node.args
    return next((each for each in (*spec.posonlyargs, *spec.args) if each.arg == name), None)


def computed_by(function: Function) -> ast.AST:
    """The expression that a function returns, which is what has to change; the function where there are several."""
    if isinstance(function.node, ast.Lambda):
        return function.node.body
    returns = [
        each.value for each in ast.walk(function.node) if isinstance(each, ast.Return) and each.value is not None
    ]
    return returns[0] if len(returns) == 1 else function.node


def reads_of(node: ast.AST, name: str) -> list[ast.Name] | None:
    """Where a parameter is read; None where something may read it without naming it."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    if any(each.id in ("locals", "vars", "eval", "exec") for each in found):
        return None
    return [each for each in found if each.id == name]


def judge_columns(it: Interpreter, predicted: Value, loss: Value) -> None:
    """Columns of the prediction that the loss reads nowhere: their gradient is zero."""
    width = width_of(it, predicted)
    if width is None or width < 2 or predicted.kind is not Kind.TENSOR or it.expected:
        return
    if not any(each is predicted for each in lineage([loss], _MOST_BEHIND, lambda each: each.inputs)):
        return  # no gradient comes back at all, which is another fault
    columns: set[int] = set()
    first: Value | None = None
    for each in lineage([loss], _MOST_BEHIND, everything_behind):
        if each is predicted or not any(given is predicted for given in everything_behind(each)):
            continue
        if _asks_shape(each):
            continue
        found = _columns(it, each, width, predicted)
        if found is None:
            return
        first = each if first is None or each.serial < first.serial else first
        columns |= found
    if first is None or first.node is None or len(columns) == width:
        return
    listed = sorted(columns)
    words = f"column {listed[0]}" if len(listed) == 1 else "columns " + ", ".join(map(str, listed))
    it.note(PredictionReadInPart, first.node, words, width, frame=first.frame)


def _asks_shape(value: Value) -> bool:
    return value.op.tells_shape or value.kind is Kind.PLAIN


def _columns(it: Interpreter, taken: Value, width: int, predicted: Value) -> set[int] | None:
    """The columns of the last axis that `y_pred[:, 0]` or `y_pred[..., :2]` takes; None for anything else."""
    if taken.op is not ops.ITEM or taken.given is None or len(taken.given.positional) != 2:
        return None
    index = taken.given.positional[1]
    if index.kind is not Kind.CONTAINER or not it.items(index).exact:
        return None
    parts = [each.ref if each.kind is Kind.LITERAL else None for each in it.items(index).elements]
    rank = len(predicted.shape) if predicted.shape else 2
    if len(parts) < 2 or any(part not in (..., slice(None, None, None)) for part in parts[:-1]):
        return None
    if ... not in parts[:-1] and len(parts) != rank:
        return None
    last = parts[-1]
    if isinstance(last, slice):
        return set(range(width)[last])
    return {last % width} if type(last) is int and -width <= last < width else None
