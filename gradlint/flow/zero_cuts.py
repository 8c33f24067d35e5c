"""Zero cuts: operations whose result hangs on an input in name only, so that its gradient is exactly zero.

A product with zero, a value minus itself, the sum of a softmax: `operators.py` and `library.py` ask here before they
link a result to what it was computed from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.outputs import output_of, width_of
from gradlint.flow.settings import stays_zero
from gradlint.flow.values import Fill, How, Kind, Value, is_literal
from gradlint.flow.wording import operand_nodes
from gradlint.ops import table as ops
from gradlint.ops.op import Op
from gradlint.verdicts import Cause

_SAME_DEPTH = 8


def cut_of_operator(
    it: Interpreter, op: Op, left: Value, right: Value, node: ast.AST
) -> tuple[tuple[Value, Cause], ...]:
    """The inputs that a binary operation cuts off, with the cause; none where gradients pass."""
    if op in (ops.MULTIPLY, ops.MATMUL):
        for zero, other in ((left, right), (right, left)):
            if is_zero(it, zero) and not is_zero(it, other) and _stays_zero(it, zero, zero is left, node):
                return ((other, Cause.CONSTANT),)
    elif op in (ops.SUBTRACT, ops.DIVIDE, ops.SQUARED_DIFFERENCE):
        if (left is right and _is_written_twice(node)) or (left is not right and is_same(it, left, right)):
            return ((left, Cause.CONSTANT), (right, Cause.CONSTANT))
        if op is ops.DIVIDE and _is_total_of_one(it, left, right):
            return ((left, Cause.CONSTANT), (right, Cause.CONSTANT))
    return ()


def _stays_zero(it: Interpreter, zero: Value, left: bool, node: ast.AST) -> bool:
    """Whether a number that is zero now is so whenever this runs."""
    sides = operand_nodes(node)
    return (
        zero.kind is not Kind.LITERAL or len(sides) < 2 or stays_zero(it.sources_run.values(), sides[0 if left else 1])
    )


def _is_written_twice(node: ast.AST) -> bool:
    """`x - x`, in any form."""
    sides = operand_nodes(node)
    return len(sides) == 2 and ast.unparse(sides[0]) == ast.unparse(sides[1])


def is_same(it: Interpreter, left: Value, right: Value, depth: int = 0) -> bool:
    """Whether two values were computed from the same in the same way, without anything random on it."""
    if left is right:
        return depth > 0 and left.serial not in it.stand_for_many and not _is_written(it, left)
    if depth > _SAME_DEPTH or left.op is not right.op or left.kind is not right.kind:
        return False
    if left.kind is Kind.LITERAL:
        return type(left.ref) is type(right.ref) and bool(left.ref == right.ref)
    if left.kind is not Kind.TENSOR or left.how is not How.OPERATION or left.callee is not None or not left.inputs:
        return False
    given = _given(left), _given(right)
    if not left.op.is_deterministic or len(given[0]) != len(given[1]):
        return False
    return all(is_same(it, a, b, depth + 1) for a, b in zip(*given, strict=True))


def _is_written(it: Interpreter, variable: Value) -> bool:
    return variable.kind is Kind.VARIABLE and variable.ref.id in it.assigned


def _given(value: Value) -> tuple[Value, ...]:
    return tuple(value.given.every()) if value.given is not None else value.operands or value.inputs


def _is_total_of_one(it: Interpreter, part: Value, total: Value) -> bool:
    """Whether something is divided by its own sum, over an axis of length 1."""
    if total.op is not ops.SUM or total.given is None:
        return False
    if total.given.get(0, "input_tensor") is not part and total.given.get(0, "x") is not part:
        return False
    axis = total.given.get(1, "axis")
    if axis is None or axis.kind is not Kind.LITERAL or type(axis.ref) is not int:
        return False
    if part.shape:
        return -len(part.shape) <= axis.ref < len(part.shape) and part.shape[axis.ref] == 1
    return axis.ref == -1 and width_of(it, part) == 1


def is_zero(it: Interpreter, value: Value) -> bool:
    """Whether a value surely is zero, or an array of zeros that is no variable and no state that a loop begins with."""
    if value.kind is Kind.LITERAL:
        return value.how is How.FRESH and type(value.ref) in (int, float) and value.ref == 0
    if value.kind is not Kind.TENSOR or value.inputs or value.dead or value.fill is not Fill.ZEROS:
        return False
    if not value.shape:
        return False  # a number: as like as not where a sum begins
    return it.loop_depth == 0 or value.frame is not it.frame


def cut_of_function(
    it: Interpreter, op: Op, operands: Sequence[Value], arguments: Arguments, node: ast.AST
) -> tuple[tuple[Value, Cause], ...]:
    """The same for a function of the library."""
    if op in (ops.SUM, ops.MEAN):
        return _total_of_softmax(it, arguments)
    if len(operands) == 2 and len(arguments.every()) == 2:
        return cut_of_operator(it, op, operands[0], operands[1], node)
    return ()


def _total_of_softmax(it: Interpreter, arguments: Arguments) -> tuple[tuple[Value, Cause], ...]:
    """The sum or mean of a softmax over its own axis is 1, or 1 / classes, whatever the weights."""
    given, axis = arguments.get(0, "input_tensor"), arguments.get(1, "axis")
    if given is None:
        given = arguments.get(0, "x")
    if given is None or given.kind not in (Kind.TENSOR, Kind.SYMBOLIC):
        return ()
    output = output_of(it, given)
    if output is None or output.activation != "softmax" or output.value is not given:
        return ()
    asked = given.given.get(1, "axis") if output.layer is None and given.given is not None else None
    along_last = asked is None or is_literal(asked, -1)
    over_all = axis is None or is_literal(axis, None)
    last = is_literal(axis, -1) or (given.shape is not None and is_literal(axis, len(given.shape) - 1))
    return ((given, Cause.CONSTANT),) if along_last and (over_all or last) else ()
