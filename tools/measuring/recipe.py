"""Recipes: how a public function is called, its floats marked as `inputs.Floats`.

Most functions need none: a ladder of shapes is climbed until the call works. What is written by hand are arguments,
never a verdict.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from measuring.inputs import Floats, Leaf, Through, floats_of, leaves, material, square, wrapped

#: What required arguments that are no float tensors are given, by name.
FIXED: dict[str, Any] = {
    "axis": 0,
    "axes": [0],
    "num_segments": 3,
    "segment_ids": [0, 0, 1, 2],
    "seed": [1, 2],
    "k": 2,
    "num": 4,
    "num_samples": 3,
    "indices_or_sections": 2,
    "shift": 1,
    "repeats": 2,
    "name": None,
}


@dataclass(frozen=True)
class Recipe:
    """One way to call a function. `variant` goes in brackets behind the name of each argument.

    `also`: the arguments are known by their place too (`arg0`), with these words in brackets.
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    variant: str = ""
    call: Callable[..., Any] | None = None
    also: str | None = None

    def watched(self) -> list[tuple[str, Leaf]]:
        """Label and description of each watched input."""
        return [found for name, tree in self.arguments.items() for found in leaves(tree, name)]

    def bound(self, function: Callable[..., Any], *, stepped: bool = False) -> Callable[..., Any]:
        """A function of the watched tensors alone; `stepped`: of what comes out of the steps before the function."""

        def given(leaf: Leaf, tensor: Any) -> Any:
            return tensor if stepped and isinstance(leaf, Through) else wrapped(leaf, tensor)

        def run(*watched: Any) -> Any:
            left = iter(watched)
            arguments = {
                name: material(tree, lambda leaf: given(leaf, next(left))) for name, tree in self.arguments.items()
            }
            return self.call(function, **arguments) if self.call else call(function, arguments)

        return run

    def stepped(self, values: list[Any]) -> list[Any]:
        """The values after the steps that lie before the function."""
        return [
            leaf.step(tf.constant(value)).numpy() if isinstance(leaf, Through) else value
            for (_, leaf), value in zip(self.watched(), values, strict=True)
        ]

    def values(self, domain: str) -> list[Any]:
        """The numbers of each watched input."""
        return [floats_of(leaf).array(domain, order) for order, (_, leaf) in enumerate(self.watched())]


def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """The function with these arguments by name; what it takes as `*args` is spread."""
    positional: list[Any] = []
    named = dict(arguments)
    parameters = parameters_of(function)
    spread = next((each.name for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL), None)
    if spread in named:
        for each in parameters:
            if each.name == spread:
                break
            positional.append(named.pop(each.name))
        positional += named.pop(spread)
    return function(*positional, **named)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters as far as Python can tell them."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def ladder(function: Callable[..., Any]) -> Iterator[Recipe]:
    """Recipes to try in turn for a function of which nothing but the signature is known."""
    required = [
        each.name
        for each in parameters_of(function)
        if each.default is inspect.Parameter.empty
        and each.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    ]
    if not required:
        yield Recipe()
        return
    for tensor in _RUNGS:
        yield Recipe({name: FIXED.get(name, tensor) for name in required})


_IMAGE = Floats((1, 6, 6, 3))
_RUNGS: tuple[Any, ...] = (
    Floats(),
    Floats((3, 4)),
    square(),
    Floats((4, 4)),
    _IMAGE,
    Floats((4,), dtype="complex64"),
    Floats((4, 4), dtype="complex64"),
    Floats((2, 4, 4), dtype="complex64"),
    (Floats(), Floats()),
    [Floats(), Floats()],
    [Floats((3, 4)), Floats((3, 4))],
)


def with_floats_of_defaults(recipe: Recipe, function: Callable[..., Any]) -> Iterator[Recipe]:
    """The recipe with one more argument watched: each that has a float for a default, in turn."""
    for each in parameters_of(function):
        if type(each.default) is float and each.name not in recipe.arguments:
            default = each.default if abs(each.default) < 1e30 else -1.0
            yield Recipe({**recipe.arguments, each.name: Floats((), values=(default,), turn=lambda drawn: drawn[0])})
