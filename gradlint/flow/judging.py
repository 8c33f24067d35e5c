"""Judging: shows each operation, as it is run, to the modules that know what is wrong with some.

What is shown is the operation, however it was spelled: an operator and a function of any library come here with the
same row and the same operands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.carried import bounded
from gradlint.flow.compared import judge_difference, judge_loss_call
from gradlint.flow.conditions import stripped
from gradlint.flow.estimators import judge_estimator
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_faults import judge_activation_call, judge_centred, judge_clip, judge_product
from gradlint.flow.singularities import judge_function, judge_power
from gradlint.flow.unsafe_math import judge_log_of_exp, judge_masked_softmax, judge_quotient, judge_where
from gradlint.flow.values import Kind, Value, lineage
from gradlint.ops import table as ops
from gradlint.ops.op import Op

#: So far back a difference is looked for.
_MOST_BEHIND = 30
_Judge = Callable[[Interpreter, Arguments, Value, ast.AST], None]


def judge_operation(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """An operation over tensors was run on these arguments, and made this."""
    if it.expected or made.kind not in (Kind.TENSOR, Kind.SYMBOLIC):
        return
    if it.broadcast and not made.op.linear:
        for each in lineage(made.inputs, _MOST_BEHIND, lambda value: value.inputs if value.op.linear else ()):
            if each.serial in it.broadcast:
                it.broadcast[each.serial] = True
    for judge in _JUDGES.get(made.op, ()):
        judge(it, arguments, made, node)


_JudgePair = Callable[[Interpreter, Value, Value, Value, ast.AST], None]


def _pair(judge: _JudgePair) -> _Judge:
    def run(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
        if len(made.operands) == 2:
            judge(it, *made.operands, made, node)

    return run


def _note_masked(it: Interpreter, left: Value, right: Value, made: Value, node: ast.AST) -> None:
    """A product with a mask, or with itself: the gradient of a root is zero where it is given zero (SqrtGrad)."""
    for side, other in ((left, right), (right, left)):
        if other.fill is not None or other is side:
            it.masked.add(side.serial)


def _given(judge: Callable[[Interpreter, Value, Value, ast.AST], None]) -> _Judge:
    def run(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
        first = arguments.first()
        if first is not None:
            judge(it, first, made, node)

    return run


def _made(judge: Callable[[Interpreter, Value, ast.AST], None]) -> _Judge:
    return lambda it, arguments, made, node: judge(it, made, node)


def _note_picked(it: Interpreter, given: Value, made: Value, node: ast.AST) -> None:
    it.masked.add(given.serial)


def _loss(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
    judge_loss_call(it, made.label, arguments, made, node)


def _note_held_between_bounds(it: Interpreter, made: Value, node: ast.AST) -> None:
    """`tf.maximum(tf.sqrt(x), 1e-6)`: the root is given a gradient of zero where it is zero."""
    held = bounded(it, made)
    if held is not None and not held.lets_zero_through:
        it.masked.add(stripped(held.inside).serial)


_JUDGES: dict[Op, tuple[_Judge, ...]] = {
    ops.ADD: (_made(judge_estimator),),
    ops.SUBTRACT: (_pair(judge_difference), _pair(judge_centred), _made(judge_estimator)),
    ops.SQUARED_DIFFERENCE: (_pair(judge_difference),),
    ops.MULTIPLY: (_pair(_note_masked), _made(judge_product)),
    ops.MATMUL: (_made(judge_product),),
    ops.DIVIDE: (_pair(judge_quotient),),
    ops.POWER: (_pair(judge_power),),
    ops.LOG: (judge_function, _given(judge_log_of_exp)),
    ops.LOG1P: (_given(judge_log_of_exp),),
    **dict.fromkeys(
        [ops.LOG2, ops.LOG10, ops.SQRT, ops.RSQRT, ops.NORM, ops.STD, ops.ACOS, ops.ASIN, ops.ATANH, ops.ACOSH],
        (judge_function,),
    ),
    ops.WHERE: (_made(judge_where),),
    ops.SOFTMAX: (judge_activation_call, _given(judge_masked_softmax)),
    **dict.fromkeys([ops.LOG_SOFTMAX, ops.RELU, ops.RELU6], (judge_activation_call,)),
    **dict.fromkeys([ops.CLIP, ops.MAXIMUM, ops.MINIMUM], (judge_clip, _made(_note_held_between_bounds))),
    **dict.fromkeys([ops.BOOLEAN_MASK, ops.GATHER_ND, ops.SQUARE], (_given(_note_picked),)),
    **dict.fromkeys([ops.SIGMOID_CROSS_ENTROPY, ops.CROSS_ENTROPY, ops.MEAN_LOSS, ops.LOSS], (_loss,)),
}  # fmt: skip
