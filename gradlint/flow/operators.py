"""Operators: arithmetic, comparison, boolean and unary."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gradlint.flow.arguments import Arguments
from gradlint.flow.constants import describe_operator
from gradlint.flow.dtypes import common_dtype, is_boolean_product
from gradlint.flow.events import BooleanProduct
from gradlint.flow.indexed_slices import note_arithmetic
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.judging import judge_operation
from gradlint.flow.masks import note_product
from gradlint.flow.members import symbolic_operation
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.own_containers import seen_as_container
from gradlint.flow.runs import runs_of
from gradlint.flow.values import DType, How, Kind, Value, alternatives
from gradlint.flow.weight_names import is_never_in_name
from gradlint.flow.zero_cuts import cut_of_operator
from gradlint.ops.lookup import op_of
from gradlint.verdicts import Cause

_TENSORS = (Kind.TENSOR, Kind.VARIABLE, Kind.SYMBOLIC)
_DUNDER = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.MatMult: "__matmul__",
    ast.Pow: "__pow__",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_SIGN = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.Mod: "%",
    ast.FloorDiv: "//",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}


def binary_spine(it: Interpreter, node: ast.BinOp) -> Value:
    # A left spine (a + b + c ...) is walked without recursion: sums of thousands of terms exist.
    spine: list[ast.BinOp] = []
    each: ast.expr = node
    while isinstance(each, ast.BinOp):
        spine.append(each)
        each = each.left
    value = it.evaluate(each)
    for operation in reversed(spine):
        it.burn()
        value = binary(it, operation.op, value, it.evaluate(operation.right), operation)
    return value


def binary(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """The result of a binary operator."""
    kinds = (left.kind, right.kind)
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL:
        return _fold(it, op, left, right, node)
    if Kind.INSTANCE in kinds:
        return _overloaded(it, op, left, right, node)
    if isinstance(op, ast.Add | ast.BitOr):
        parts = [_as_sequence(it, value) for value in (left, right)]
        if all(part is not None for part in parts) and (isinstance(op, ast.Add) or Kind.CONTAINER in kinds):
            left, right = (part for part in parts if part is not None)
            return _concatenate(it, left, right, node, merge=isinstance(op, ast.BitOr))
    if isinstance(op, ast.Add) and (_is_sequence(left) or _is_sequence(right)):
        if not any(kind in _TENSORS for kind in kinds):
            return _concatenate(it, left, right, node)
    if isinstance(op, ast.Mult) and Kind.CONTAINER in kinds:
        owner, count = (left, right) if left.kind is Kind.CONTAINER else (right, left)
        if owner.ref.type in ("list", "tuple") and (count.kind not in _TENSORS or _may_be_number(count)):
            repeated = _repeated(it, owner, count)
            if repeated is not None:
                return it.container(owner.ref.type, repeated, node)
            return it.container(owner.ref.type, Items(it.items(owner).elements, None, exact=False), node)
    sign = _SIGN.get(type(op), "?")
    if all(value.kind in (Kind.PLAIN, Kind.LITERAL, Kind.SYMBOL) or _is_some_number(value) for value in (left, right)):
        made = it.operation(node, (left, right), label=sign, kind=Kind.PLAIN)
        made.operands = (left, right)
        describe_operator(left, right, made.op, made)
        return made
    if isinstance(op, ast.FloorDiv):
        made = it.operation(
            node,
            (),
            label="//",
            dead=((left, Cause.NON_DIFFERENTIABLE), (right, Cause.NON_DIFFERENTIABLE)),
            kind=Kind.SYMBOLIC if Kind.SYMBOLIC in kinds else Kind.TENSOR,
        )
        made.operands = (left, right)
        return made
    if (left.of is not None or right.of is not None or How.JOIN in (left.how, right.how)) and isinstance(
        op, ast.Mult | ast.Add | ast.Sub | ast.Div
    ):
        if note_arithmetic(it, left, right, node):
            it.alive = False  # it raises
    if isinstance(op, ast.Add) and left.is_opaque and right.is_opaque and "call" not in (left.label, right.label):
        # Two unknowns may as well be lists of variables.
        value = it.operation(node, (left, right), label="+", kind=Kind.UNKNOWN)
        return value
    if isinstance(op, ast.Mult) and is_boolean_product(left, right) and not it.numpy_behaviour:
        assert isinstance(node, ast.BinOp | ast.AugAssign)
        it.note(BooleanProduct, node, _side(node, left.dtype is DType.BOOL))
        dead = ((left, Cause.INTEGER), (right, Cause.INTEGER))
        return it.operation(node, (), label="<boolean-product>", dead=dead, dtype=DType.BOOL)
    kind = Kind.SYMBOLIC if Kind.SYMBOLIC in kinds else Kind.TENSOR
    ref = None
    if kind is Kind.SYMBOLIC:
        ref = symbolic_operation(it, (left, right))
    cut = cut_of_operator(it, op_of(sign), left, right, node)
    live = () if cut else (left, right)
    made = it.operation(node, live, label=sign, dead=cut, kind=kind, ref=ref, dtype=common_dtype((left, right)))
    made.operands = (left, right)
    describe_operator(left, right, made.op, made)
    judge_operation(it, Arguments((left, right)), made, node)
    if isinstance(op, ast.Mult):
        note_product(it, left, right, node)
        if it.timed:
            it.timed_values.add(made.serial)
    return made


def _may_be_number(value: Value, depth: int = 0) -> bool:
    """Whether an operator made this of values of which none is known to be a tensor: `args.steps // 10`."""
    if value.kind is Kind.TENSOR and value.how is How.OPERATION:
        made = isinstance(value.node, ast.BinOp | ast.AugAssign) and bool(value.operands)
        return made and depth < _DEEPEST and all(_may_be_number(each, depth + 1) for each in value.operands)
    return value.kind in (Kind.LITERAL, Kind.PLAIN) or (value.is_opaque and not value.is_computed)


_DEEPEST = 8
_MOST_REPEATED = 32


def _repeated(it: Interpreter, owner: Value, count: Value) -> Items | None:
    """`[0.0] * 4`, where both are known and few."""
    items = it.items(owner)
    number = count.ref if count.kind is Kind.LITERAL and count.how is How.FRESH and type(count.ref) is int else 0
    if items.exact and 0 < number * len(items.elements) <= _MOST_REPEATED:
        return Items(items.elements * number)
    return None


def _side(node: ast.BinOp | ast.AugAssign, first: bool) -> ast.expr:
    if isinstance(node, ast.AugAssign):
        return node.target if first else node.value
    return node.left if first else node.right


def _is_some_number(value: Value) -> bool:
    """Whether a value is one of several numbers or arrays, depending on the way: a setting and its default."""
    if value.how is not How.JOIN:
        return False
    ways = alternatives(value) or []
    return bool(ways) and all(
        way.kind is Kind.PLAIN or (way.kind is Kind.LITERAL and isinstance(way.ref, int | float)) for way in ways
    )


def _is_sequence(value: Value) -> bool:
    return value.kind in (Kind.CONTAINER, Kind.VARIABLES)


def _fold(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    a, b = left.ref, right.ref
    if isinstance(a, int | float) and isinstance(b, int | float) and abs(a) < 1e9 and abs(b) < 1e9:
        match op:
            case ast.Add():
                return it.fresh(Kind.LITERAL, node, ref=a + b)
            case ast.Sub():
                return it.fresh(Kind.LITERAL, node, ref=a - b)
            case ast.Mult():
                return it.fresh(Kind.LITERAL, node, ref=a * b)
            case ast.Div() if b:
                return it.fresh(Kind.LITERAL, node, ref=a / b)
            case ast.FloorDiv() if b:
                return it.fresh(Kind.LITERAL, node, ref=a // b)
            case ast.Pow() if 0 <= b <= 8 and abs(a) < 1e3:
                return it.fresh(Kind.LITERAL, node, ref=a**b)
    if isinstance(op, ast.Add) and isinstance(a, str) and isinstance(b, str) and len(a) + len(b) < 200:
        return it.fresh(Kind.LITERAL, node, ref=a + b)
    return it.plain(node)


def _as_sequence(it: Interpreter, value: Value) -> Value | None:
    """A container or set of variables; of several possible ones, one that holds the elements of all."""
    if _is_sequence(value):
        return value
    if value.how is not How.JOIN or value.kind is not Kind.UNKNOWN:
        return None
    ways = alternatives(value, 8)
    if not ways or not all(_is_sequence(way) for way in ways):
        return None
    elements = [each for way in ways for each in (it.items(way).elements if way.kind is Kind.CONTAINER else (way,))]
    return it.list_of(elements, value.node, exact=False)


def _concatenate(it: Interpreter, left: Value, right: Value, node: ast.AST, *, merge: bool = False) -> Value:
    if merge and left.kind is Kind.CONTAINER and right.kind is Kind.CONTAINER:
        a, b = it.items(left), it.items(right)
        if a.exact and b.exact and a.keys is not None and b.keys is not None:
            merged = {**dict(zip(a.keys, a.elements, strict=True)), **dict(zip(b.keys, b.elements, strict=True))}
            return it.container("dict", Items(tuple(merged.values()), tuple(merged)), node)
        return it.container(left.ref.type, Items((*a.elements, *b.elements), None, exact=False), node)
    elements: list[Value] = []
    exact = True
    ordered = all(runs_of(it, value) is not None for value in (left, right))
    for value in (left, right):
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            elements.extend(items.elements)
            exact = exact and items.exact
        else:
            elements.append(value)
            exact = False
    return it.container("list", Items(tuple(elements), None, exact, ordered and not exact), node)


def _overloaded(it: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    name = _DUNDER.get(type(op))
    for receiver, other, dunder in ((left, right, name), (right, left, name and "__r" + name[2:])):
        if receiver.kind is Kind.INSTANCE and dunder is not None:
            method = class_attribute(it, receiver.ref.cls, dunder)
            if method is not None:
                bound = bind_method(it, method, receiver, node)
                return it.call(bound, Arguments((other,)), node)
    return it.opaque_call(node, (left, right), "an operator of a class that does not define it")


def unary(it: Interpreter, node: ast.UnaryOp) -> Value:
    depth: list[ast.UnaryOp] = []
    each: ast.expr = node
    while isinstance(each, ast.UnaryOp):
        depth.append(each)
        each = each.operand
    value = it.evaluate(each)
    for operation in reversed(depth):
        value = _unary_one(it, operation, value)
    return value


def _unary_one(it: Interpreter, node: ast.UnaryOp, value: Value) -> Value:
    if isinstance(node.op, ast.Not):
        if value.kind is Kind.LITERAL and value.how is How.FRESH:
            return it.fresh(Kind.LITERAL, node, ref=not value.ref)
        return it.plain(node)
    if value.kind is Kind.LITERAL:
        if isinstance(node.op, ast.USub) and isinstance(value.ref, int | float):
            return it.fresh(Kind.LITERAL, node, ref=-value.ref)
        return it.plain(node)
    if value.kind is Kind.PLAIN:
        made = it.operation(node, (value,), label="tf.negative", kind=Kind.PLAIN)
        made.operands, made.shape = (value,), value.shape
        return made
    if isinstance(node.op, ast.Invert):
        kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
        dead = ((value, Cause.NON_DIFFERENTIABLE),)
        return it.operation(node, (), label="~", dead=dead, dtype=DType.BOOL, kind=kind)
    kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
    ref = None
    if kind is Kind.SYMBOLIC:
        ref = symbolic_operation(it, (value,))
    return it.operation(node, (value,), label="tf.negative", kind=kind, ref=ref, dtype=value.dtype)


def compare(it: Interpreter, node: ast.Compare) -> Value:
    values = [it.evaluate(node.left), *(it.evaluate(each) for each in node.comparators)]
    if len(node.ops) == 1:
        op = node.ops[0]
        if isinstance(op, ast.In | ast.NotIn):
            if is_never_in_name(it, values[0], values[1], node):
                return it.fresh(Kind.LITERAL, node, ref=isinstance(op, ast.NotIn))
            inside = is_inside(it, values[0], values[1])
            if inside is not None:
                return it.fresh(Kind.LITERAL, node, ref=inside if isinstance(op, ast.In) else not inside)
        elif isinstance(op, ast.Eq | ast.NotEq) and all(
            value.kind is Kind.LITERAL and value.how is How.FRESH and isinstance(value.ref, str | bool | int)
            for value in values
        ):
            equal = bool(values[0].ref == values[1].ref)
            return it.fresh(Kind.LITERAL, node, ref=equal if isinstance(op, ast.Eq) else not equal)
        elif _asks_loop(it, node) and (told := compare_numbers(op, values[0], values[1])) is not None:
            return it.fresh(Kind.LITERAL, node, ref=told)
    own = _own_comparison(it, node, values)
    if own is not None:
        return own
    identity = all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
    if identity or all(value.kind in (Kind.LITERAL, Kind.PLAIN, Kind.SYMBOL) and not value.dead for value in values):
        made = it.plain(node)
        made.operands = tuple(values)
        made.label = _COMPARISONS.get(type(node.ops[0]), "")
        return made
    dead = tuple((value, Cause.NON_DIFFERENTIABLE) for value in values)
    kind = Kind.PLAIN if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values) else Kind.TENSOR
    if any(value.kind is Kind.SYMBOLIC for value in values):
        kind = Kind.SYMBOLIC
    # Of NumPy arrays it is an array, which multiplies as numbers do.
    dtype = DType.BOOL if any(value.kind in _TENSORS for value in values) else DType.UNKNOWN
    made = it.operation(
        node, (), label=_COMPARISONS.get(type(node.ops[0]), "comparison"), dead=dead, kind=kind, dtype=dtype
    )
    made.operands = tuple(values)
    if len(values) == 2:
        describe_operator(values[0], values[1], made.op, made)
    return made


_OWN_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("__lt__", "__gt__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
}


_ORDERINGS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def compare_numbers(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """What a comparison of two written numbers tells; None for anything else."""
    if not (_is_number(left) and _is_number(right)) or type(op) not in _ORDERINGS:
        return None
    return _ORDERINGS[type(op)](left.ref, right.ref)


def _asks_loop(it: Interpreter, node: ast.Compare) -> bool:
    """Whether the number of an unrolled loop is compared: other numbers may be settings."""
    named = [each.id for each in (node.left, *node.comparators) if isinstance(each, ast.Name)]
    return any(name in it.loop_names or (it.frame.id, name) in it.own_loop_names for name in named)


def _is_number(value: Value) -> bool:
    return value.kind is Kind.LITERAL and value.how is How.FRESH and type(value.ref) in (int, float)


def _own_comparison(it: Interpreter, node: ast.Compare, values: list[Value]) -> Value | None:
    """What objects of this file make of a comparison; None when it is none of theirs."""
    if len(node.ops) != 1 or type(node.ops[0]) not in _OWN_COMPARISONS:
        return None
    names = _OWN_COMPARISONS[type(node.ops[0])]
    for receiver, other, dunder in ((values[0], values[1], names[0]), (values[1], values[0], names[1])):
        if receiver.kind is Kind.INSTANCE:
            method = class_attribute(it, receiver.ref.cls, dunder)
            if method is not None:
                return it.call(bind_method(it, method, receiver, node), Arguments((other,)), node)
            if receiver.ref.cls.open_base:
                return it.opaque_call(node, values, "a comparison of a class that is not known")
    return None


def is_inside(it: Interpreter, left: Value, right: Value) -> bool | None:
    """Whether a constant is surely a key or element of a container whose contents are known."""
    right = seen_as_container(it, right, "__contains__")
    if left.kind is not Kind.LITERAL or left.how is not How.FRESH or right.kind is not Kind.CONTAINER:
        return None
    items = it.items(right)
    if not items.exact:
        return None
    if right.ref.type == "dict":
        if items.keys is None:
            return None if items.elements else False
        return left.ref in items.keys
    if all(each.kind is Kind.LITERAL for each in items.elements):
        return any(type(each.ref) is type(left.ref) and each.ref == left.ref for each in items.elements)
    return None
