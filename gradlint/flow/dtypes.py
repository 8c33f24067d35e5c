"""DTypes: what can be told of a tensor's element type: float, integer or boolean."""

from __future__ import annotations

from collections.abc import Sequence

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import DType, How, Kind, Value
from gradlint.ops.lookup import op_of

_INTEGERS = frozenset("int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
_FLOATS = frozenset("float16 float32 float64 bfloat16 half double".split())
_TENSORS = (Kind.TENSOR, Kind.VARIABLE)


def named_dtype(value: Value | None) -> DType:
    """The type that `tf.int32`, `np.float32`, `"bool"` or `bool` names."""
    if value is None:
        return DType.UNKNOWN
    name = value.ref if value.kind in (Kind.SYMBOL, Kind.LITERAL) else None
    if not isinstance(name, str):
        return DType.UNKNOWN
    name = name.rpartition(".")[2]
    if name in _INTEGERS or name == "int":
        return DType.INTEGER
    if name in _FLOATS or name == "float":
        return DType.FLOAT
    return DType.BOOL if name in ("bool", "bool_") else DType.UNKNOWN


def literal_dtype(it: Interpreter, value: Value | None) -> DType:
    """The type that TensorFlow gives to a Python number or a list of them; one float makes floats of all."""
    if value is None:
        return DType.UNKNOWN
    if value.kind is Kind.CONTAINER:
        found = {literal_dtype(it, each) for each in it.items(value).elements}
        if found == {DType.INTEGER, DType.FLOAT}:
            return DType.FLOAT
        return found.pop() if len(found) == 1 else DType.UNKNOWN
    if value.kind is Kind.LITERAL and value.how is How.FRESH:
        for type_, dtype in ((bool, DType.BOOL), (int, DType.INTEGER), (float, DType.FLOAT)):
            if isinstance(value.ref, type_):
                return dtype
    return value.dtype


def common_dtype(values: Sequence[Value]) -> DType:
    """The type of an operator over these: float when one is known to be, else that of all when all are tensors."""
    found = {value.dtype for value in values}
    if any(value.kind in _TENSORS and value.dtype is DType.FLOAT for value in values):
        return DType.FLOAT  # TensorFlow mixes no types
    if len(found) == 1 and all(value.kind in _TENSORS for value in values):
        return found.pop()
    return DType.UNKNOWN


def kept_dtype(symbol: str, values: Sequence[Value]) -> DType:
    """The type of a function's result by its arguments: of integers and booleans only where it surely keeps them."""
    if op_of(symbol).keeps_dtype and values and values[0].kind in _TENSORS:
        return values[0].dtype
    return DType.FLOAT if common_dtype(values) is DType.FLOAT else DType.UNKNOWN


def is_boolean_product(left: Value, right: Value) -> bool:
    """Whether `left * right` is silently boolean: a boolean tensor meets numbers (TensorFlow 2.21: fixtures/GL210).

    A keras.Variable on the left, and a tf.Variable of booleans, have a `*` of their own.
    """
    if left.kind is Kind.VARIABLE and left.ref is not None and left.ref.keras:
        return False
    for mask, other in ((left, right), (right, left)):
        if mask.kind is Kind.TENSOR and mask.dtype is DType.BOOL:
            return other.kind in _TENSORS and other.dtype in (DType.FLOAT, DType.INTEGER)
    return False
