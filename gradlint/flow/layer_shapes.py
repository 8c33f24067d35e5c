"""Layer shapes: the shape of what a layer or model of the library returns, where its arguments are written out."""

from __future__ import annotations

import ast

from gradlint.flow.objects import Layer
from gradlint.flow.own_code import is_input
from gradlint.flow.shapes import Shape
from gradlint.flow.values import Kind, Value

_KEEP_SHAPE = frozenset(
    {"Activation", "ReLU", "LeakyReLU", "ELU", "Softmax", "Dropout", "GaussianNoise", "GaussianDropout", "Identity",
     "BatchNormalization", "LayerNormalization", "UnitNormalization"}
)  # fmt: skip


def output_shape(layer: Value, given: Shape | None) -> Shape | None:
    """The shape of `layer(x)` for an `x` of the given shape; None where it is not known."""
    owner = layer.ref
    if given is None or layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or owner.part_of is not None:
        return None
    if owner.sequence is not None:
        shape: Shape | None = given
        for each in owner.sequence:
            shape = shape if is_input(each) else output_shape(each, shape)
        return shape
    name = owner.symbol.rpartition(".")[2]
    if name == "Dense" and len(given) > 1:
        return (*given[:-1], _units(layer))
    return given if name in _KEEP_SHAPE else None


def _units(layer: Value) -> int | None:
    node = layer.node
    if not isinstance(node, ast.Call):
        return None
    written = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg == "units"), None)
    return written.value if isinstance(written, ast.Constant) and isinstance(written.value, int) else None
