"""Operators for updates: gradients are paired with the wrong variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.edits import Mutant, made, replace, rows_of
from mutation.names import dotted, own_nodes
from mutation.source import Ask, asks


def other_list_zipped(ask: Ask) -> Iterator[Mutant]:
    """The gradients are zipped with the variables of another gradient call of the function."""
    for pair in _zips(ask):
        for other in asks(ask.source):
            mine, its = _owner(ask.sources), _owner(other.sources)
            if other.function is ask.function and mine and its and mine != its and _owner(pair.args[1]) == mine:
                yield from _replaced("other-list-zipped", ask, pair, pair.args[1], ask.source.code(other.sources))
                break


def reversed_zip(ask: Ask) -> Iterator[Mutant]:
    """Gradients and variables change places in the `zip`."""
    for pair in _zips(ask):
        first, second = (ask.source.code(one) for one in pair.args)
        lines = replace(ask.source, [(pair.args[0], second), (pair.args[1], first)])
        mutant = made("reversed-zip", ask, "`zip` pairs (variable, gradient)", lines, rows_of(pair)) if lines else None
        if mutant is not None:
            yield mutant


def _zips(ask: Ask) -> Iterator[ast.Call]:
    """`zip(gradients, variables)` of this gradient call, handed to an optimizer."""
    bound = (
        ask.statement.targets[0] if isinstance(ask.statement, ast.Assign) and ask.statement.value is ask.call else None
    )
    for node in own_nodes(ask.function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="apply_gradients"),
                args=[ast.Call(func=ast.Name(id="zip"), args=[first, _]) as pair, *_],
            ):
                if first is ask.call or (
                    bound is not None and dotted(first) is not None and dotted(first) == dotted(bound)
                ):
                    yield pair


def _owner(sources: ast.expr) -> str | None:
    match sources:
        case ast.Attribute(value=owner, attr="trainable_variables" | "trainable_weights"):
            return dotted(owner)
    return None


def _replaced(operator: str, ask: Ask, pair: ast.Call, old: ast.expr, new: str) -> Iterator[Mutant]:
    lines = replace(ask.source, [(old, new)])
    mutant = made(operator, ask, f"gradients are zipped with `{new}`", lines, rows_of(pair)) if lines else None
    if mutant is not None:
        yield mutant
