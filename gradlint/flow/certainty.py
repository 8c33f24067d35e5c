"""Certainty: whether a value is surely a tensor, rather than a list, an array or some object of Python's."""

from __future__ import annotations

import ast

from gradlint.flow.members import LAYER_VARIABLES
from gradlint.flow.objects import Layer
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.knowledge.effects import AS_MANY_AS_ASKED, effect_of
from gradlint.ops import table as ops
from gradlint.ops.lookup import op_of
from gradlint.ops.op import Role

#: Of these a call returns one tensor, whatever it is given.
_ONE_OUTPUT = frozenset(
    "Dense Conv1D Conv2D Conv3D Embedding Sequential Flatten Dropout BatchNormalization LayerNormalization Activation "
    "ReLU MaxPooling2D AveragePooling2D GlobalAveragePooling2D Reshape EinsumDense".split()
)
_DEEPEST = 12


def is_surely_tensor(value: Value, depth: int = 0) -> bool:
    """Whether TensorFlow made this: a list, a NumPy array or an unknown is none."""
    if depth > _DEEPEST:
        return False
    if value.how is How.JOIN:
        ways = alternatives(value, 8)
        return bool(ways) and all(way is not value and is_surely_tensor(way, depth + 1) for way in ways or ())
    if value.kind is not Kind.TENSOR:
        return False
    if value.how is How.GRADIENT:
        return value.of is not None and value.of.kind in (Kind.VARIABLE, Kind.VARIABLES)
    label = value.label
    if value.how is How.FRESH:
        return _computes(label)
    if _is_operator(value):
        sides = value.operands or value.inputs
        return any(is_variable(each) or is_surely_tensor(each, depth + 1) for each in sides)
    if value.op in (ops.ITEM, ops.READ):
        return any(is_variable(each) or is_surely_tensor(each, depth + 1) for each in value.inputs)
    if label == "call":
        return any(
            each.kind is Kind.VARIABLES
            and isinstance(each.ref.owner, Layer)
            and each.ref.owner.symbol.rpartition(".")[2] in _ONE_OUTPUT
            for each in value.inputs
        )
    return _computes(label)


def _is_operator(value: Value) -> bool:
    """Whether this is written as an operator, or was returned by a graph: it is a tensor if what it takes is one."""
    if value.op in (ops.TRACED, ops.NEGATIVE, ops.NOT) or value.op.role is Role.COMPARISON:
        return True
    return isinstance(value.node, ast.BinOp | ast.AugAssign)


def _computes(label: str) -> bool:
    """Whether a library function surely returns a tensor: it was measured, or makes one from numbers."""
    if not label.startswith(("tf.", "keras.ops.", "keras.losses.", "keras.activations.", "keras.random.")):
        return False
    op = op_of(label)
    if op in _MAKERS or op.role in (Role.MAKE, Role.DRAW):
        return True
    if label.rpartition(".")[2] in AS_MANY_AS_ASKED:
        return False  # a list of tensors
    effect = effect_of(label)
    return effect is not None and bool(effect.parameters)


_MAKERS = frozenset({ops.CAST, ops.CONVERT, ops.CLIP_BY_GLOBAL_NORM, ops.GLOBAL_NORM, ops.TOP_K})


def is_variable(value: Value) -> bool:
    """Whether this surely is a tf.Variable or keras.Variable, made in sight or by a layer in sight."""
    return value.kind is Kind.VARIABLE and value.ref is not None


def is_slice_of_weight(value: Value) -> bool:
    """Whether this was cut out of `layer.kernel` and the like, of a layer that cannot be seen."""
    node = value.node
    if value.how is not How.PART or not isinstance(node, ast.Subscript):
        return False
    base = value.inputs[0].node if value.inputs else None
    return any(isinstance(each, ast.Attribute) and each.attr in LAYER_VARIABLES for each in (node.value, base))


def variable_behind(value: Value) -> Value | None:
    """The variable that a slice was cut out of."""
    while value.how is How.OPERATION and value.op in (ops.ITEM, ops.READ, ops.GATHER, ops.GATHER_ND) and value.inputs:
        value = value.inputs[0]
        if is_variable(value):
            return value
    return None
