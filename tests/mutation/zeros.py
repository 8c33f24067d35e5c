"""Operators for zeros and starved layers: a loss is multiplied away, an output becomes a sign, a layer is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.cuts import rebound, wrapped
from mutation.edits import Mutant, made, rows_of, untouched
from mutation.source import Ask


def zeroed(ask: Ask) -> Iterator[Mutant]:
    """The target is multiplied by zero under the tape."""
    yield from rebound("zeroed", ask, "0.0 * {target}")


def subtracted(ask: Ask) -> Iterator[Mutant]:
    """The target becomes itself minus itself."""
    yield from rebound("subtracted", ask, "{target} - {target}")


def forward_sign(ask: Ask) -> Iterator[Mutant]:
    """`tf.sign(model(x))`, where `model.trainable_variables` are the sources."""
    yield from wrapped("forward-sign", ask, "{tf}.sign({call})")


def layer_uncalled(ask: Ask) -> Iterator[Mutant]:
    """`x = self.layer(x)` is left out of the `call` of a Keras class, where nothing else names the layer."""
    source = ask.source
    for cls in ast.walk(source.tree):
        if not isinstance(cls, ast.ClassDef) or not any("keras" in ast.unparse(base) for base in cls.bases):
            continue
        made_at = {name: node for name, node in _layers_made(cls)}
        for method in cls.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "call":
                continue
            for statement in method.body:
                name = _passed_through(statement)
                if name not in made_at or _mentions(source.tree, name) != 2 or not source.begins_line(statement):
                    continue
                first, last = statement.lineno, source.end_of_logical_line(statement.lineno)
                lines = [*untouched(source, 1, first - 1), *untouched(source, last + 1)]
                touched = {*rows_of(made_at[name]), first - 1, last + 1}
                mutant = made("layer-uncalled", ask, f"`self.{name}` is never called", lines, touched)
                if mutant is not None:
                    yield mutant


def _layers_made(cls: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    """The attributes that a constructor sets to a layer of Keras with weights."""
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            for statement in method.body:
                match statement:
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                        value=ast.Call(func=ast.Attribute(attr="Dense" | "Conv2D" | "Conv1D" | "LayerNormalization")),
                    ):
                        yield name, statement


def _passed_through(statement: ast.stmt) -> str:
    """The layer of `x = self.layer(x)`, or an empty string."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=left)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[ast.Name(id=right), *_]),
        ) if left == right:
            return name
    return ""


def _mentions(tree: ast.Module, name: str) -> int:
    attributes = sum(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(tree))
    return attributes + sum(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree)) * 10
