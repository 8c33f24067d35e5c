"""Judging: shows each operation, as it is run, to the modules that know what is wrong with some."""

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
from gradlint.flow.values import Kind, Value

_Judge = Callable[[Interpreter, str, Arguments, Value, ast.AST], None]


def judge_call(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """A function of TensorFlow or Keras was called, and made this."""
    if it.expected:
        return
    for judge in _JUDGES.get(symbol.rpartition(".")[2], ()):
        judge(it, symbol, arguments, made, node)


def judge_operator(it: Interpreter, sign: str, left: Value, right: Value, made: Value, node: ast.AST) -> None:
    """A binary operator was applied to tensors, and made this."""
    if it.expected or made.kind not in (Kind.TENSOR, Kind.SYMBOLIC):
        return
    if sign == "-":
        judge_difference(it, left, right, made, node)
        judge_centred(it, left, right, made, node)
        judge_estimator(it, made, node)
    elif sign == "+":
        judge_estimator(it, made, node)
    elif sign == "/":
        judge_quotient(it, left, right, made, node)
    elif sign == "**":
        judge_power(it, left, right, made, node)
    elif sign == "*":
        _note_masked(it, left, right)
        judge_product(it, made, node)
    elif sign == "@":
        judge_product(it, made, node)


def _note_masked(it: Interpreter, left: Value, right: Value) -> None:
    """A product with a mask, or with itself: the gradient of a root is zero where it is given zero (SqrtGrad)."""
    for side, other in ((left, right), (right, left)):
        if other.fill is not None or other is side:
            it.masked.add(side.serial)


def _by_operator(sign: str) -> _Judge:
    def judge(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
        if len(arguments.positional) == 2:
            judge_operator(it, sign, *arguments.positional, made, node)

    return judge


def _squared_difference(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    if len(arguments.positional) == 2:
        left, right = arguments.positional
        judge_difference(it, left, right, made, node)


def _where(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    judge_where(it, arguments, made, node)


def _log_of_exp(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    if arguments.positional:
        judge_log_of_exp(it, symbol.rpartition(".")[2], arguments.positional[0], made, node)


def _masked_softmax(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    if arguments.positional:
        judge_masked_softmax(it, arguments.positional[0], made, node)


def _product(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    judge_product(it, made, node)


def _picked(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    if arguments.positional:
        it.masked.add(arguments.positional[0].serial)


def _held_between_bounds(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """`tf.maximum(tf.sqrt(x), 1e-6)`: the root is given a gradient of zero where it is zero."""
    held = bounded(it, made)
    if held is not None and not held.lets_zero_through:
        it.masked.add(stripped(held.inside).serial)


_JUDGES: dict[str, tuple[_Judge, ...]] = {
    **dict.fromkeys("log10 log2 sqrt rsqrt norm reduce_euclidean_norm euclidean_norm reduce_std std acos asin arccos "
                    "arcsin atanh arctanh acosh arccosh pow power".split(), (judge_function,)),
    "log": (judge_function, _log_of_exp),
    "log1p": (_log_of_exp,),
    "where": (_where,),
    "softmax": (judge_activation_call, _masked_softmax),
    **dict.fromkeys(["log_softmax", "relu", "relu6"], (judge_activation_call,)),
    **dict.fromkeys(["clip_by_value", "clip", "maximum", "minimum"], (judge_clip, _held_between_bounds)),
    **dict.fromkeys(["boolean_mask", "gather_nd", "square"], (_picked,)),
    "matmul": (_product,),
    "subtract": (_by_operator("-"),), "add": (_by_operator("+"),), "multiply": (_by_operator("*"),),
    **dict.fromkeys(["divide", "truediv"], (_by_operator("/"),)),
    "squared_difference": (_squared_difference,),
    **dict.fromkeys(
        "binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy kl_divergence kld KLD poisson "
        "kullback_leibler_divergence binary_focal_crossentropy categorical_focal_crossentropy mean_squared_error mse "
        "mean_absolute_error mae mean_squared_logarithmic_error msle sigmoid_cross_entropy_with_logits "
        "softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits hinge squared_hinge huber "
        "categorical_hinge log_cosh".split(),
        (judge_loss_call,),
    ),
}  # fmt: skip
