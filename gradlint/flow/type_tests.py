"""Type tests: what `isinstance`, `tf.is_tensor`, `tf.nest.is_nested` answer for a value of which enough is known."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.certainty import is_surely_tensor, is_variable
from gradlint.flow.indexed_slices import is_indexed
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Container, Instance, Variable
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow.weight_names import is_never_tf_variable

#: Classes that no tensor or variable is an object of.
_NEVER_TENSORS = frozenset(
    {"np.ndarray", "np.generic", "builtins.tuple", "builtins.list", "builtins.dict", "builtins.set", "builtins.int",
     "builtins.float", "builtins.complex", "builtins.str", "builtins.bytes", "builtins.bool"}
)  # fmt: skip
_SEQUENCES = ("builtins.tuple", "builtins.list", "builtins.dict", "builtins.set")
_LITERALS: dict[str, type] = {
    "builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.bool": bool, "builtins.bytes": bytes,
    "builtins.complex": complex,
}  # fmt: skip
#: What TensorFlow and Keras make of their own accord, handed over under these labels.
_HANDED_OVER = ("dataset element", "batch")
_OTHER_THINGS = (Kind.LITERAL, Kind.CONTAINER, Kind.FUNCTION, Kind.CLASS, Kind.LAYER, Kind.MODULE, Kind.VARIABLES)
_MOST_WAYS = 8

#: What a test answers for one value; None where that is not known.
Answer = Callable[[Value], bool | None]


def answered(it: Interpreter, value: Value, answer: Answer) -> bool | None:
    """What a test answers, the same for each value that this one can be."""
    if value.how is not How.JOIN:
        return answer(value)
    ways = alternatives(value, _MOST_WAYS)  # leaves out the constant None
    holds_none = any(way.kind is Kind.LITERAL and way.ref is None for way in value.inputs)
    answers = {answer(way) if way.how is not How.JOIN else None for way in ways or ()}
    return answers.pop() if len(answers) == 1 and not holds_none else None


def is_tensor(value: Value) -> bool | None:
    """`tf.is_tensor(value)`."""
    if is_variable(value) or value.label in _HANDED_OVER or is_surely_tensor(value):
        return True
    return False if value.kind in (*_OTHER_THINGS, Kind.SYMBOLIC) or _is_plain_number(value) else None


def is_nested(value: Value) -> bool | None:
    """`tf.nest.is_nested(value)`."""
    if value.kind is Kind.CONTAINER and isinstance(value.ref, Container):
        return True if value.ref.type in ("list", "tuple", "dict") else None
    if is_tensor(value) or value.kind in (Kind.LITERAL, Kind.FUNCTION, Kind.CLASS, Kind.LAYER, Kind.SYMBOLIC):
        return False
    return False if _is_plain_number(value) else None


def _is_plain_number(value: Value) -> bool:
    return value.kind is Kind.PLAIN and (bool(value.dead) or value.label.startswith("np."))


def test_of(answer: Answer) -> Handler:
    """The model of a function that tests its first argument."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.every()
        told = answered(it, given[0], answer) if len(given) == 1 else None
        return it.plain(node) if told is None else it.fresh(Kind.LITERAL, node, ref=told)

    return run


def isinstance_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`isinstance(value, classes)`."""
    told = None
    if len(arguments.positional) == 2:
        value, cls = arguments.positional
        told = answered(it, value, lambda way: is_instance(it, way, cls, node))
    return it.plain(node) if told is None else it.fresh(Kind.LITERAL, node, ref=told)


def is_instance(it: Interpreter, value: Value, cls: Value, node: ast.AST) -> bool | None:
    """Whether a value is an object of a class, or of one of several."""
    classes = it.leaves(cls)
    names = [each.ref for each in classes if each.kind is Kind.SYMBOL]
    if names == ["builtins.type"] and value.kind in (Kind.CLASS, Kind.FUNCTION, Kind.INSTANCE, Kind.LAYER):
        return value.kind is Kind.CLASS
    if cls.kind is Kind.CLASS and isinstance(value.ref, Instance):
        is_one = cls.ref in value.ref.cls.lineage()
        return True if is_one else None if value.ref.cls.open_base or value.ref.open_self else False
    if names == ["tf.IndexedSlices"] and is_indexed(it, value):
        return True
    if names == ["tf.Variable"] and isinstance(node, ast.Call) and is_never_tf_variable(it, value, node):
        return False
    if not names or len(names) != len(classes):
        return None
    if value.kind in (Kind.TENSOR, Kind.VARIABLE):
        return _is_tensor_of(value, names)
    if value.kind is Kind.LITERAL and all(name in _LITERALS or name in _SEQUENCES for name in names):
        kinds = tuple(_LITERALS[name] for name in names if name in _LITERALS)
        return isinstance(value.ref, kinds) if isinstance(value.ref, int | float | str | bytes | None) else None
    if not all(name in _SEQUENCES for name in names):
        return None
    if value.kind is Kind.CONTAINER and isinstance(value.ref, Container):
        return f"builtins.{value.ref.type}" in names
    return False if value.kind in (Kind.LAYER, Kind.INSTANCE, Kind.FUNCTION) and not _may_be_one(value) else None


def _may_be_one(value: Value) -> bool:
    """Whether an object of the file's classes may be a list or dict by a base."""
    return isinstance(value.ref, Instance) and bool(value.ref.cls.families or value.ref.cls.open_base)


def _is_tensor_of(value: Value, names: list[str]) -> bool | None:
    if all(name in _NEVER_TENSORS for name in names):
        return False
    if "tf.Tensor" in names and value.kind is Kind.TENSOR and is_tensor(value):
        return True
    if isinstance(value.ref, Variable) and ("keras.Variable" if value.ref.keras else "tf.Variable") in names:
        return True
    return None
