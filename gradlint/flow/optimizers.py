"""Optimizers: which class an optimizer is of and with which settings, and what it is given to apply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import LibraryObject
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.knowledge.optimizers import MeasuredOptimizer, optimizer_named, optimizer_of

SPACE = "keras.optimizers."
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Pair:
    """A gradient and what it is applied to."""

    gradient: Value
    variable: Value


def is_optimizer(value: Value | None) -> bool:
    """Whether this is an optimizer of Keras, made in sight."""
    return value is not None and value.kind is Kind.LIBRARY and is_optimizer_symbol(value.ref.symbol)


def is_optimizer_symbol(symbol: str) -> bool:
    """Whether calling the symbol makes an optimizer of Keras."""
    space, _, name = symbol.rpartition(".")
    return (space + ".").startswith(SPACE) and name[:1].isupper() and ".schedules" not in space


def unwrapped(value: Value) -> Value:
    """The optimizer inside a LossScaleOptimizer, or the value itself."""
    while is_optimizer(value) and value.ref.symbol.endswith("LossScaleOptimizer"):
        inner = value.ref.keyword("inner_optimizer") or next(iter(value.ref.arguments), None)
        if inner is None or not is_optimizer(inner):
            break
        value = inner
    return value


def measured_optimizer(it: Interpreter, value: Value | None) -> MeasuredOptimizer | None:
    """The table's row of an optimizer that was made in sight."""
    if value is None or not is_optimizer(value):
        return None
    owner: LibraryObject = unwrapped(value).ref
    if ".legacy." in owner.symbol:
        return optimizer_of(owner.symbol.replace("keras.", "tf_keras.", 1))
    return optimizer_of(owner.symbol if it.keras_3 else owner.symbol.replace("keras.", "tf_keras.", 1))


def settings_of(it: Interpreter, value: Value, row: MeasuredOptimizer) -> dict[str, object]:
    """The constructor's arguments and what was set as attributes since; what is no constant is an object of its own."""
    owner: LibraryObject = unwrapped(value).ref
    given = dict(zip(row.parameters, owner.arguments, strict=False)) | dict(owner.keywords)
    for name in row.parameters:
        written = it.store.get((owner.id, name))
        if written is not None:
            given[name] = written
    return {
        name: each.ref if each.kind is Kind.LITERAL and each.how is How.FRESH else _UNKNOWN
        for name, each in given.items()
    }


def optimizer_by_name(it: Interpreter, name: Value | None) -> str:
    """The symbol of the class that a string means, or an empty string."""
    if name is None or name.kind is not Kind.LITERAL or not isinstance(name.ref, str):
        return ""
    row = optimizer_named(name.ref)
    return f"{SPACE}{row.name}" if row is not None else ""


def shown(value: Value | None) -> str:
    """What an optimizer is called in messages: its class."""
    return unwrapped(value).ref.symbol.rpartition(".")[2] if value is not None and is_optimizer(value) else ""


def pairs_of(it: Interpreter, value: Value) -> Iterator[Pair]:
    """The pairs that `apply_gradients` is given."""
    for way in alternatives(value, 4) or ():
        if way.kind is not Kind.CONTAINER:
            continue
        for row in it.items(way).elements:
            for each in alternatives(row, 4) or ():
                if each.kind is Kind.CONTAINER and len(it.items(each).elements) == 2:
                    gradient, variable = it.items(each).elements
                    yield Pair(gradient, variable)


def applied_lists(arguments: Arguments) -> tuple[Value | None, Value | None]:
    """`optimizer.apply(grads, trainable_variables)`."""
    return arguments.get(0, "grads"), arguments.get(1, "trainable_variables")
