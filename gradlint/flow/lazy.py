"""Lazy values: generators, generator expressions, `map`, `zip` of them. Nothing of one runs before it is consumed.

Each is a container whose contents are not there yet; `Heap.items` makes them when they are first asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Container, Items, Pending
from gradlint.flow.sequences import element_of
from gradlint.flow.values import Kind, Value


def lazy_value(it: Interpreter, node: ast.AST, held: Iterable[Value], run: Callable[[], Value]) -> Value:
    """A value whose elements `run` makes, in the frame of here, when it is consumed; it holds on to `held`."""
    frame = it.frame

    def draw() -> Items:
        outer, augmenting = it.frame, it.augmenting
        it.frame, it.augmenting = frame, None
        try:
            made = run()
            if made.kind is Kind.CONTAINER:
                return it.items(made)
            return Items((element_of(it, made, node),), None, exact=False)
        finally:
            it.frame, it.augmenting = outer, augmenting

    made = Container(it.new_id(), "generator", pending=Pending(draw, tuple(held)))
    value = it.fresh(Kind.CONTAINER, node, ref=made)
    it.lazy_values.append(value)
    return value


def as_lazy_as(it: Interpreter, given: Iterable[Value], node: ast.AST, run: Callable[[], Value]) -> Value:
    """What `run` makes of some values: at once, or, where one of them waits to be consumed, when this is consumed."""
    held = tuple(given)
    return lazy_value(it, node, held, run) if any(it.is_waiting(each) for each in held) else run()


def draw_uncalled(it: Interpreter, value: Value) -> Callable[[], None]:
    """Consume what nothing in sight consumes, so that the functions of the file that it calls are judged."""

    def run() -> None:
        if it.is_waiting(value):
            it.items(value)

    return run
