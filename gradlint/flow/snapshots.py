"""Snapshots: tensors that a Keras layer computes from weights once, when it is built, and uses in every call."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_keras_family
from gradlint.flow.model_events import WeightSnapshot
from gradlint.flow.objects import Class, Variable
from gradlint.flow.scopes import Frame
from gradlint.flow.values import DType, How, Kind, Value, lineage
from gradlint.ops import table as ops

_ONCE = ("__init__", "build")
#: What makes a copy says that a copy is meant: the weights as they were, to stay near to them.
_COPIES = frozenset({ops.IDENTITY, ops.CONVERT, ops.STOP, ops.CONSTANT, ops.ZEROS_LIKE, ops.ONES_LIKE})


def note_snapshot(it: Interpreter, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    """`self.name = value` in the constructor or `build` of a layer."""
    function = it.frame.function
    if it.expected or function is None or function.name not in _ONCE or owner.kind is not Kind.INSTANCE:
        return
    cls: Class = owner.ref.cls
    if not is_keras_family(cls) or function.owner not in cls.lineage() or not isinstance(node, ast.Attribute):
        return
    if value.kind is not Kind.TENSOR or value.how is not How.OPERATION or value.dtype in (DType.INTEGER, DType.BOOL):
        return
    if any(_is_run_again(frame) for frame in it.frame.callers()):
        return  # the layer itself is made anew in each call
    if value.op in _COPIES or name in it.relevance.assigned_outside_init:
        return
    weight = next((each for each in lineage([value], 40, lambda each: each.inputs) if _is_trained(each)), None)
    if weight is not None and _is_used_by_calls(cls, name):
        source = ast.unparse(weight.node) if isinstance(weight.node, ast.Attribute) else weight.ref.name
        it.note(WeightSnapshot, node, f"self.{name}", source or "a weight", certain=False)


def _is_run_again(frame: Frame) -> bool:
    """Whether this is a method of a layer or model that is run for each batch."""
    function = frame.function
    if function is None or function.owner is None or function.name in _ONCE:
        return False
    return is_keras_family(function.owner)


def _is_trained(value: Value) -> bool:
    ref = value.ref
    return value.kind is Kind.VARIABLE and isinstance(ref, Variable) and ref.trainable is not False and not ref.integer


def _is_used_by_calls(cls: Class, name: str) -> bool:
    """Whether a method that is run again and again reads the attribute."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == name
        and isinstance(each.ctx, ast.Load)
        and isinstance(each.value, ast.Name)
        and each.value.id == "self"
        for base in cls.lineage()
        for method in base.node.body
        if isinstance(method, ast.FunctionDef) and method.name not in (*_ONCE, "get_config")
        for each in ast.walk(method)
    )
