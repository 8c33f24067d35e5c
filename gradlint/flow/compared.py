"""Compared: what a loss is given, against what it takes: logits, probabilities, ranges, ranks, and which comes first.

The same questions are asked of the loss of `compile`, of a loss object and of a loss function that is called by hand.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.numbers import numbers_of
from gradlint.flow.objects import LibraryObject
from gradlint.flow.outputs import Output, output_of, width_of
from gradlint.flow.singularities import matters
from gradlint.flow.values import How, Kind, Value, is_literal, lineage, recorded_or_dead
from gradlint.flow.wording import code_of, code_of_node, function_called, operand_nodes
from gradlint.flow.zero_events import (
    LogitsAsProbabilities,
    LossArgumentsSwapped,
    MetricAsLoss,
    OneClass,
    ProbabilitiesAsLogits,
    RangeMismatch,
    RanksBroadcast,
    ReluOnOutput,
)
from gradlint.knowledge.activations import ACTIVATIONS, RECTIFIERS, Numbers
from gradlint.knowledge.conventions import is_prediction, is_target
from gradlint.knowledge.losses import (
    CROSSENTROPIES,
    LOPSIDED,
    METRIC_NAMES,
    OF_BINARY,
    OF_CLASSES,
    OF_LOGITS,
    OF_POSITIVE,
    OF_SPARSE_CLASSES,
    REGRESSIONS,
    loss_name,
)
from gradlint.ops import table as ops
from gradlint.ops.op import Role

#: A loss that is used in both directions on purpose, where the other one is used as well.
_EITHER_WAY = "kl_divergence"
#: Layers whose linear output is what a head computes, rather than something on its way.
_HEADS = frozenset("Dense Conv1D Conv2D Conv3D Convolution2D Conv2DTranspose SeparableConv2D EinsumDense".split())
_SOFTMAX_OF_LOGITS = frozenset({"softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits"})


@dataclass(frozen=True, slots=True)
class LossKind:
    """Which loss it is, and whether it takes logits. `from_logits` is None where that cannot be told."""

    name: str
    written: str
    from_logits: bool | None = False
    of_keras: bool = True
    axis: Value | None = None


def kind_of_loss(it: Interpreter, loss: Value) -> LossKind | None:
    """What `compile` is given: a name, a function or an object of Keras."""
    if loss.kind is Kind.LITERAL and isinstance(loss.ref, str):
        return LossKind(loss_name(loss.ref), f'"{loss.ref}"')
    if (
        loss.kind is Kind.SYMBOL
        and isinstance(loss.ref, str)
        and loss.ref.startswith(("keras.losses.", "keras.metrics"))
    ):
        return LossKind(loss_name(loss.ref), loss.ref.rpartition(".")[2])
    if isinstance(loss.ref, LibraryObject) and loss.ref.symbol.startswith("keras.losses."):
        given = loss.ref.keyword("from_logits")
        if given is None and loss.ref.arguments:
            given = loss.ref.arguments[0] if loss_name(loss.ref.symbol) in CROSSENTROPIES else None
        return LossKind(
            loss_name(loss.ref.symbol), loss.ref.symbol.rpartition(".")[2], _told(given), axis=loss.ref.keyword("axis")
        )
    return None


def _told(given: Value | None) -> bool | None:
    if given is None:
        return False
    return bool(given.ref) if given.kind is Kind.LITERAL and given.how is How.FRESH else None


def judge_metric(it: Interpreter, loss: Value, node: ast.AST) -> None:
    """A metric stands where `compile` takes a loss."""
    name = loss.ref if loss.kind is Kind.LITERAL and isinstance(loss.ref, str) else ""
    is_object = isinstance(loss.ref, LibraryObject) and loss.ref.symbol.startswith("keras.metrics.")
    if (name.lower() in METRIC_NAMES or is_object) and not it.expected:
        it.note(MetricAsLoss, node, code_of_node(node))


def judge_loss_call(it: Interpreter, symbol: str, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """A loss function is called by hand."""
    name = loss_name(symbol)
    if it.choosing or (not matters(it, made) and not it.frame.graph):
        return
    if name in OF_LOGITS:
        kind = LossKind(name, function_called(node), True, False, arguments.get(None, "axis"))
        labels, logits = arguments.get(0, "labels"), arguments.get(1, "logits")
        if labels is not None and logits is not None and _is_swapped(it, labels, logits, node, kind):
            return
        if logits is not None and not _judge_width(it, kind, logits, node):
            _judge_probabilities(it, kind, logits, node)
        return
    given = arguments.get(2, "from_logits") if name in CROSSENTROPIES else None
    target = arguments.get(0, "y_true" if "y_true" in arguments.keywords else "target")
    predicted = arguments.get(1, "y_pred" if "y_pred" in arguments.keywords else "output")
    if target is not None and predicted is not None:
        kind = LossKind(name, function_called(node), _told(given), axis=arguments.get(None, "axis"))
        judge_loss(it, kind, target, predicted, node)


def judge_loss(it: Interpreter, kind: LossKind, target: Value, predicted: Value, node: ast.AST) -> None:
    """A loss meets what was predicted."""
    if it.expected or it.choosing:
        return  # one of several losses: which one goes with this prediction is not known
    if kind.name in LOPSIDED and _is_swapped(it, target, predicted, node, kind):
        return
    output = output_of(it, predicted)
    if output is None:
        return
    if kind.name in CROSSENTROPIES:
        if _judge_width(it, kind, predicted, node):
            return
        if kind.from_logits is True:
            _judge_probabilities(it, kind, predicted, node)
        elif kind.from_logits is False:
            _judge_logits(it, kind, output, target, node)
    elif kind.name in REGRESSIONS:
        _judge_regression(it, kind, output, target, node)
    elif kind.name in OF_POSITIVE and output.activation in ("linear", "tanh") and _is_head(output):
        why = f"{_article(output.activation)} computes negative numbers too, the loss takes the logarithm"
        it.note(RangeMismatch, node, kind.written, output.activation, why, certain=False)


def _is_swapped(it: Interpreter, target: Value, predicted: Value, node: ast.AST, kind: LossKind) -> bool:
    """A prediction stands where the target belongs, and the target where the prediction does."""
    if not (_is_target(it, predicted) and _is_prediction(it, target)):
        if kind.name == _EITHER_WAY and _is_target(it, target):
            it.divergences = True
        return False
    if kind.name == _EITHER_WAY and any(_is_filled(each) for each in lineage([predicted], 20, recorded_or_dead)):
        return False  # a prior
    first, second = _arguments_written(node)
    by_name = not (_is_computed(target) and _is_data(predicted))
    it.note(
        LossArgumentsSwapped, node, kind.written, first, second, by_name, certain=not by_name,
        holds=lambda: kind.name != _EITHER_WAY or not it.divergences,
    )  # fmt: skip
    return True


def _is_filled(value: Value) -> bool:
    return value.op in _FILLED


_FILLED = frozenset({ops.FULL, ops.ONES, ops.ZEROS, ops.ONES_LIKE, ops.ZEROS_LIKE, ops.FULL_LIKE})


def _arguments_written(node: ast.AST) -> tuple[str, str]:
    written = [code_of_node(each) for each in operand_nodes(node)[:2]]
    return (written[0], written[1]) if len(written) == 2 else ("the prediction", "the target")


def _judge_width(it: Interpreter, kind: LossKind, predicted: Value, node: ast.AST) -> bool:
    """A crossentropy over classes with one class."""
    if kind.name not in OF_CLASSES | OF_SPARSE_CLASSES | _SOFTMAX_OF_LOGITS or width_of(it, predicted) != 1:
        return False
    if kind.axis is not None and not is_literal(kind.axis, -1):
        return False
    it.note(OneClass, node, kind.written, kind.name.startswith("sparse"))
    return True


def _judge_probabilities(it: Interpreter, kind: LossKind, predicted: Value, node: ast.AST) -> None:
    output = output_of(it, predicted)
    if output is None or output.activation not in ("softmax", "sigmoid"):
        return
    corrected = kind.of_keras and (output.of_keras or it.frame.graph)
    it.note(ProbabilitiesAsLogits, node, kind.written, output.activation, corrected, certain=False)


def _judge_logits(it: Interpreter, kind: LossKind, output: Output, target: Value, node: ast.AST) -> None:
    """Linear outputs, or such as leave the interval of probabilities, meet a loss that takes its logarithm."""
    if output.activation == "linear" and _is_head(output):
        assert output.layer is not None
        sparse = kind.name in OF_SPARSE_CLASSES
        it.note(LogitsAsProbabilities, node, kind.written, code_of(output.layer), sparse)
    elif output.activation in ("tanh", "relu", "leaky_relu", "elu", "selu", "log_softmax") and _is_head(output):
        numbers = ACTIVATIONS[output.activation]
        ends = f"{_number(numbers.low)} to {_number(numbers.high)}"
        why = f"{_article(output.activation)} computes {ends}, the loss takes 0 to 1"
        it.note(RangeMismatch, node, kind.written, output.activation, why, certain=False)
    elif kind.name in OF_BINARY and output.activation == "sigmoid":
        told = numbers_of(it, target)
        if told is not None and _leaves(told, ACTIVATIONS["sigmoid"]):
            ends = f"{_number(told.low)} to {_number(told.high)}"
            why = f"the targets go from {ends}, the loss takes 0 to 1"
            it.note(RangeMismatch, node, kind.written, output.activation, why, certain=False)


def _is_head(output: Output) -> bool:
    if output.layer is None:
        return output.activation != "linear"
    name = output.layer.ref.symbol.rpartition(".")[2]
    return name in _HEADS or name in ("Activation", "ReLU", "LeakyReLU", "Softmax", "ELU")


def _judge_regression(it: Interpreter, kind: LossKind, output: Output, target: Value, node: ast.AST) -> None:
    numbers = numbers_of(it, target)
    if output.activation in RECTIFIERS and output.layer is not None and _is_head(output):
        at = output.layer.node or node
        negative = numbers is not None and numbers.low < 0
        if numbers is None or negative:
            it.note(ReluOnOutput, at, output.activation, kind.written, certain=negative)
        return
    own = ACTIVATIONS[output.activation]
    if numbers is None or output.activation not in ("sigmoid", "tanh", "softmax") or not _is_head(output):
        return
    if _leaves(numbers, own):
        ends = f"{_number(numbers.low)} to {_number(numbers.high)}"
        why = f"{_article(output.activation)} computes {own.low:g} to {own.high:g}, the targets go from {ends}"
        it.note(RangeMismatch, node, kind.written, output.activation, why, certain=False)


def _article(activation: str) -> str:
    return "a linear layer" if activation == "linear" else activation


def _number(number: float) -> str:
    return f"{number:g}"


def _is_prediction(it: Interpreter, value: Value) -> bool:
    """Whether this is what a model computed, or called so."""
    return is_prediction(value.label) or _is_computed(value)


def _is_computed(value: Value) -> bool:
    return value.kind is Kind.TENSOR and bool(value.inputs) and _depends_on_weights(value)


def _depends_on_weights(value: Value) -> bool:
    weights = (Kind.VARIABLE, Kind.VARIABLES)
    return any(each.kind in weights or each.callee is not None for each in lineage([value], 60, lambda one: one.inputs))


def _is_target(it: Interpreter, value: Value) -> bool:
    """Whether this is data that a model is to predict, or called so."""
    return is_target(value.label) or _is_data(value)


def _is_data(value: Value) -> bool:
    if value.label in ("dataset element", "batch"):
        return True
    if value.kind is Kind.PLAIN:
        return not value.dead and not value.inputs
    if value.kind is not Kind.TENSOR or value.callee is not None:
        return False
    weights = (Kind.VARIABLE, Kind.VARIABLES)
    return not any(
        each.callee is not None or each.kind in weights or each.is_opaque for each in lineage([value], 40, _content_of)
    )


def _content_of(value: Value) -> tuple[Value, ...]:
    """What the numbers of a value were computed from: of `ones_like(x)` and `fill(shape)` nothing."""
    return () if value.op in _FILLED or value.op.tells_shape else recorded_or_dead(value)


# --- ranks ---------------------------------------------------------------------------------------------------------


def judge_difference(it: Interpreter, left: Value, right: Value, made: Value, node: ast.AST) -> None:
    """(N,) minus (N, 1), where the column is what a model computes."""
    if not matters(it, made):
        return
    _judge_ranges(it, left, right, node)
    if left.shape is None or right.shape is None:
        return
    flat, column = (left, right) if len(left.shape) == 1 else (right, left)
    assert flat.shape is not None and column.shape is not None
    if len(flat.shape) != 1 or len(column.shape) != 2 or flat.shape[0] == 1:
        return
    if column.shape[1] != 1 or column.shape[0] == 1 or _is_put_up(column) or _is_put_up(flat):
        return
    if any(output_of(it, each) is not None for each in (flat, column)) or _is_product(column):
        shapes = f"{_shape(left)} and {_shape(right)}"
        written = [code_of_node(each) for each in operand_nodes(node)[:2]]
        sides = written if len(written) == 2 else [code_of(left), code_of(right)]
        it.broadcast[made.serial] = not made.op.linear
        # The mean of all differences is the difference of the means, whatever meets what: a Wasserstein loss.
        it.note(
            RanksBroadcast, node, *sides, shapes, holds=lambda: it.broadcast[made.serial]
        )  # fmt: skip


def _judge_ranges(it: Interpreter, left: Value, right: Value, node: ast.AST) -> None:
    """An error by hand, of an output whose activation never reaches some targets."""
    for predicted, target in ((left, right), (right, left)):
        output = output_of(it, predicted)
        if output is None or not _is_target(it, target) or output.value.kind is not Kind.TENSOR:
            continue
        numbers = numbers_of(it, target)
        if numbers is None:
            continue
        own = ACTIVATIONS[output.activation]
        if output.activation in RECTIFIERS and numbers.high <= 0:
            it.note(ReluOnOutput, node, output.activation, "the error", certain=True)
        elif output.activation in ("sigmoid", "tanh", "softmax") and _leaves(numbers, own):
            ends = f"{_number(numbers.low)} to {_number(numbers.high)}"
            why = f"{output.activation} computes {own.low:g} to {own.high:g}, the targets go from {ends}"
            it.note(RangeMismatch, node, "the error", output.activation, why, certain=False)


def _leaves(numbers: Numbers, own: Numbers) -> bool:
    """Whether numbers go well beyond what an activation computes."""
    slack = 0.1 * (own.high - own.low)  # noise on the labels
    return numbers.low < own.low - slack or numbers.high > own.high + slack


def _is_put_up(value: Value) -> bool:
    """Whether the shape was made by hand: for a comparison of all with all."""
    return value.op is ops.ITEM or value.op.role is Role.RESHAPE


def _is_product(value: Value) -> bool:
    """Whether this is a linear model written by hand."""
    if value.op is ops.ADD and value.operands:
        return any(_is_product(each) for each in value.operands)
    return value.op is ops.MATMUL and any(each.kind is Kind.VARIABLE for each in value.inputs)


def _shape(value: Value) -> str:
    assert value.shape is not None
    inner = ", ".join("N" if each is None else str(each) for each in value.shape)
    return f"({inner},)" if len(value.shape) == 1 else f"({inner})"
