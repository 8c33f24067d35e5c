"""Layer faults: layers that teach nothing by what they are made with and given.

A softmax over one unit, a normalisation of one feature, a recurrence of one step, kernels of zeros, a relu that is
given nothing positive, a clip that leaves out what it is given. Asked where a layer or function meets its input.
"""

from __future__ import annotations

import ast
from math import inf

from gradlint.flow.arguments import Arguments
from gradlint.flow.constants import fill_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_shapes import given_at_construction, is_input, shape_after
from gradlint.flow.numbers import numbers_of
from gradlint.flow.objects import Layer, SymbolicCall
from gradlint.flow.outputs import (
    WITH_KERNEL,
    ZERO_AT_ZERO,
    activation_of_layer,
    initial_number,
    is_made_of_zeros,
    output_of,
    starts_at_zero,
    width_of,
)
from gradlint.flow.shapes import Shape
from gradlint.flow.singularities import describe, matters
from gradlint.flow.values import Fill, Kind, Value, is_literal
from gradlint.flow.wording import code_of, function_called
from gradlint.flow.zero_events import (
    ClipSaturated,
    ConstantInput,
    DeadRelu,
    OneFeatureNormalized,
    OneTimeStep,
    SoftmaxOfOne,
    SoftmaxTwice,
    ZeroKernel,
)
from gradlint.knowledge.activations import RECTIFIERS
from gradlint.ops import table as ops
from gradlint.verdicts import Cause

_NORMALIZING = frozenset({"LayerNormalization", "RMSNormalization", "UnitNormalization"})
_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN"})
_BETWEEN = frozenset("Dropout Flatten Reshape Identity MaxPooling2D AveragePooling2D Activation ReLU LeakyReLU".split())
#: A relu whose bias starts below this is given nothing positive by inputs of ordinary size.
_DEAD_BIAS = -3.0
_FAR_OFF = 3.0
#: An untrained layer without a bias of its own computes numbers around zero, of a size that depends on its input.
_VERY_FAR_OFF = 50.0


def judge_sequence(it: Interpreter, sequence: tuple[Value, ...], node: ast.AST) -> None:
    """The layers of a Sequential, each with what the one before hands it."""
    shape: Shape | None = None
    before: list[Value] = []
    for layer in sequence:
        if is_input(layer):
            shape = layer.shape
            continue
        owner = layer.ref
        if layer.kind is not Kind.LAYER or not isinstance(owner, Layer):
            shape, before = None, []
            continue
        shape = shape if shape is not None else given_at_construction(it, owner)
        _judge(it, layer, shape, _width(it, shape, before), before)
        shape = shape_after(it, layer, shape)
        before.append(layer)


def _width(it: Interpreter, shape: Shape | None, before: list[Value]) -> int | None:
    if shape:
        return shape[-1]
    for layer in reversed(before):
        name = layer.ref.symbol.rpartition(".")[2]
        if name == "Dense":
            after = shape_after(it, layer, (None, None))
            return after[-1] if after else None
        if name not in _NORMALIZING and name not in ("Activation", "Dropout", "ReLU", "LeakyReLU"):
            return None
    return None


def judge_layer_call(it: Interpreter, layer: Value, arguments: Arguments, made: Value) -> None:
    """A layer of the library is called on one tensor."""
    owner = layer.ref
    if layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or not arguments.positional or it.expected:
        return
    given = arguments.positional[0]
    if owner.sequence is not None or owner.outputs is not None or given.kind is Kind.CONTAINER:
        return
    if owner.symbol.rpartition(".")[2] in _RECURRENT and (len(arguments.positional) > 1 or arguments.keywords):
        return  # with an initial state
    before: list[Value] = []
    value = given
    while value.callee is not None and value.callee.kind is Kind.LAYER and isinstance(value.callee.ref, Layer):
        inner = value.callee.ref
        if inner.sequence is not None or inner.outputs is not None:
            break
        before.insert(0, value.callee)
        if value.given is None or not value.given.positional or len(before) > 4:
            break
        value = value.given.positional[0]
    _judge(it, layer, given.shape, width_of(it, given), before)
    name = activation_of_layer(layer)
    if not before and name == "softmax" and owner.symbol.endswith(("Softmax", "Activation")):
        _judge_twice(it, given, layer.node)
    if name in RECTIFIERS and owner.symbol.endswith(("ReLU", "Activation")):
        _judge_rectified(it, name or "relu", given, layer.node)


def _judge(it: Interpreter, layer: Value, shape: Shape | None, width: int | None, before: list[Value]) -> None:
    owner: Layer = layer.ref
    node = layer.node
    name = owner.symbol.rpartition(".")[2]
    if node is None or it.expected:
        return
    if name in _NORMALIZING:
        if width == 1 and owner.argument(0, "axis") is None:
            it.note(OneFeatureNormalized, node, name)
        return
    if name in _RECURRENT:
        if shape is not None and len(shape) == 3 and shape[1] == 1 and not _is_stateful(owner):
            it.note(OneTimeStep, node, name, certain=False)
        return
    activation = activation_of_layer(layer)
    if activation == "softmax":
        own_width = width if name in ("Activation", "Softmax") else _units(it, layer)
        axis = owner.argument(0 if name == "Softmax" else None, "axis")
        if own_width == 1 and (axis is None or is_literal(axis, -1)):
            it.note(SoftmaxOfOne, node, "softmax", True)
        elif before and activation_of_layer(before[-1]) == "softmax" and name in ("Activation", "Softmax"):
            it.note(SoftmaxTwice, node, code_of(before[-1]), certain=False)
    _judge_kernel(it, layer, before)
    _judge_bias(it, layer, before)


def _units(it: Interpreter, layer: Value) -> int | None:
    after = shape_after(it, layer, (None, None)) if layer.ref.symbol.endswith(".Dense") else None
    return after[-1] if after else None


def _is_stateful(owner: Layer) -> bool:
    return owner.argument(None, "stateful") is not None or owner.argument(None, "return_state") is not None


# --- inputs of zeros ------------------------------------------------------------------------------------------------


def judge_inputs(it: Interpreter, model: Value, given: Value) -> None:
    """A layer, or an input of a functional model, is fed with an array of zeros."""
    owner = model.ref
    if model.kind is not Kind.LAYER or not isinstance(owner, Layer) or it.expected or it.open_code:
        return  # what nobody in the file calls is rather a test of shapes
    if owner.outputs is None:
        if owner.symbol.rpartition(".")[2] in WITH_KERNEL and _is_zeros(it, given) and given.node is not None:
            once = lambda: len(it.called_layers[owner.id]) == 1  # noqa: E731 - not one of several inputs
            it.note(ConstantInput, given.node, code_of(model), holds=once)
        return
    if given.kind is not Kind.CONTAINER or not it.items(given).exact or len(owner.inputs) < 2:
        return
    fed = it.items(given).elements
    for symbolic, value in zip(owner.inputs, fed, strict=False) if len(fed) == len(owner.inputs) else ():
        layers = _fed_by(it, owner.outputs, symbolic) if _is_zeros(it, value) else []
        if layers and value.node is not None:
            alone = lambda: len(it.called_layers[owner.id]) == 1  # noqa: E731 - else it is one of several conditions
            it.note(ConstantInput, value.node, "` and `".join(map(code_of, layers)), holds=alone)


def _is_zeros(it: Interpreter, value: Value) -> bool:
    if value.op is ops.MATMUL and value.dead and not value.inputs:
        return all(cause is Cause.CONSTANT for _, cause in value.dead)  # a product with zeros
    if value.kind not in (Kind.TENSOR, Kind.PLAIN) or value.dead or value.inputs:
        return False
    return fill_of(it, value) == {Fill.ZEROS}


def _fed_by(it: Interpreter, outputs: Value, symbolic: Value) -> list[Value]:
    """The layers with a kernel that a functional model feeds with this input; none where another thing reads it too."""
    found: list[Value] = []
    stack, seen = list(it.leaves(outputs)), set[int]()
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if symbolic in each.inputs and isinstance(each.ref, SymbolicCall):
            layer = each.ref.callee
            if layer is None or not isinstance(layer.ref, Layer) or len(it.called_layers.get(layer.ref.id, ())) > 1:
                return []
            if layer.ref.symbol.rpartition(".")[2] in WITH_KERNEL:
                found.append(layer)
        stack.extend(each.inputs)
    return found


# --- initial weights -----------------------------------------------------------------------------------------------


def _judge_kernel(it: Interpreter, layer: Value, before: list[Value]) -> None:
    """A kernel of zeros behind relu stays for ever; so do two in a row behind what hands on zeros."""
    owner: Layer = layer.ref
    name = owner.symbol.rpartition(".")[2]
    if it.relevance.sets_weights:
        return  # the initializers may count for nothing
    if name in ("ReLU", "Activation"):
        if activation_of_layer(layer) in RECTIFIERS and before and is_made_of_zeros(before[-1]):
            if activation_of_layer(before[-1]) == "linear" and before[-1].node is not None:
                it.note(ZeroKernel, before[-1].node, "relu", False)
        return
    if name not in WITH_KERNEL or not is_made_of_zeros(layer) or layer.node is None:
        return
    activation = activation_of_layer(layer)
    if activation in RECTIFIERS:
        it.note(ZeroKernel, layer.node, activation, False)
        return
    for earlier in reversed(before):
        earlier_name = earlier.ref.symbol.rpartition(".")[2]
        if earlier_name in WITH_KERNEL:
            hands_on = activation_of_layer(earlier)
            if is_made_of_zeros(earlier) and hands_on in ZERO_AT_ZERO and earlier.node is not None:
                it.note(ZeroKernel, earlier.node, hands_on, True)
            return
        if earlier_name not in _BETWEEN:
            return


def _judge_bias(it: Interpreter, layer: Value, before: list[Value]) -> None:
    """A relu behind a bias so low that ordinary inputs never lift it above zero."""
    owner: Layer = layer.ref
    activation = activation_of_layer(layer)
    source = layer
    if owner.symbol.endswith(("ReLU", "Activation")) and before and activation_of_layer(before[-1]) == "linear":
        source = before[-1]
    if (
        it.relevance.sets_weights
        or activation not in RECTIFIERS
        or source.ref.symbol.rpartition(".")[2] not in WITH_KERNEL
    ):
        return
    bias = initial_number(source.ref.argument(None, "bias_initializer"))
    if bias is None or bias > _DEAD_BIAS or source.node is None:
        return
    flat = initial_number(source.ref.argument(None, "kernel_initializer")) == 0
    it.note(DeadRelu, source.node, activation, f"a bias of {bias:g}", certain=flat)


# --- functions -----------------------------------------------------------------------------------------------------


def judge_activation_call(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """`tf.nn.softmax(x)`, `tf.nn.relu(x)` and their likes."""
    name = made.op.name
    given = arguments.first()
    if given is None or not matters(it, made):
        return
    if name in ("softmax", "log_softmax"):
        axis = arguments.get(1, "axis")
        at = axis.ref if axis is not None and axis.kind is Kind.LITERAL else -1 if axis is None else None
        length = _length(given.shape, at) if given.shape else (width_of(it, given) if at == -1 else None)
        if length == 1 and given.kind in (Kind.TENSOR, Kind.SYMBOLIC, Kind.UNKNOWN):
            it.note(SoftmaxOfOne, node, name, False)
        elif name == "softmax":
            _judge_twice(it, given, node)
    elif name in RECTIFIERS:
        _judge_rectified(it, name, given, node)
        _judge_given(it, name, given, node)


def _length(shape: Shape, at: object) -> int | None:
    return shape[at] if isinstance(at, int) and -len(shape) <= at < len(shape) else None


def _judge_twice(it: Interpreter, given: Value, node: ast.AST | None) -> None:
    output = output_of(it, given)
    if output is not None and output.activation == "softmax" and node is not None:
        first = output.layer if output.layer is not None else output.value
        it.note(SoftmaxTwice, node, code_of(first), certain=False)


def _judge_rectified(it: Interpreter, name: str, given: Value, node: ast.AST | None) -> None:
    numbers = numbers_of(it, given)
    if numbers is not None and numbers.high <= 0 and not numbers.is_constant and node is not None:
        it.note(DeadRelu, node, name, f"`{code_of(given)}`, which is never positive")


def _judge_given(it: Interpreter, name: str, given: Value, node: ast.AST) -> None:
    """`relu(x @ w)` of weights that start at zero, `relu(layer(x))` behind a very low bias."""
    if _is_affine_of_zeros(given):
        it.note(ZeroKernel, node, name, False)
        return
    output = output_of(it, given)
    if output is None or output.layer is None or output.activation != "linear" or it.relevance.sets_weights:
        return
    if is_made_of_zeros(output.layer):
        it.note(ZeroKernel, output.layer.node or node, name, False)
    bias = initial_number(output.layer.ref.argument(None, "bias_initializer"))
    if bias is not None and bias <= _DEAD_BIAS:
        it.note(DeadRelu, node, name, f"a bias of {bias:g}", certain=False)


def _is_affine_of_zeros(value: Value) -> bool:
    """Whether this is a product with a weight of zeros, plus a bias of zeros."""
    if value.op is ops.ADD and len(value.operands) == 2:
        left, right = value.operands
        return any(
            _is_affine_of_zeros(a) and b.kind is Kind.VARIABLE and b.fill is Fill.ZEROS
            for a, b in ((left, right), (right, left))
        )
    if value.op is not ops.MATMUL:
        return False
    return any(_is_zero_weight(each) for each in value.inputs)


def _is_zero_weight(value: Value) -> bool:
    if value.op is ops.READ and value.inputs:
        value = value.inputs[0]
    return value.kind is Kind.VARIABLE and value.fill is Fill.ZEROS and value.ref.trainable is True


def judge_clip(it: Interpreter, arguments: Arguments, made: Value, node: ast.AST) -> None:
    """`tf.clip_by_value(x, low, high)`, `tf.maximum(x, low)`, `tf.minimum(x, high)`."""
    given = arguments.first()
    if given is None or not matters(it, made):
        return
    low, high = -inf, inf
    if made.op is ops.CLIP:
        low = _number(arguments.get(1, "clip_value_min" if "clip_value_min" in arguments.keywords else "x_min"), -inf)
        high = _number(arguments.get(2, "clip_value_max" if "clip_value_max" in arguments.keywords else "x_max"), inf)
    elif len(made.operands) == 2:
        a, b = made.operands
        given, bound = (a, b) if b.kind is Kind.LITERAL else (b, a)
        low, high = (_number(bound, -inf), inf) if made.op is ops.MAXIMUM else (-inf, _number(bound, inf))
    if (low, high) == (-inf, inf) or given.kind is Kind.LITERAL:
        return
    bounds = describe_bounds(low, high)
    numbers = numbers_of(it, given)
    if numbers is not None and not numbers.is_constant and (numbers.high <= low or numbers.low >= high):
        it.note(ClipSaturated, node, function_called(node), describe(numbers), bounds)
        return
    output = output_of(it, given)
    if output is None or output.layer is None or output.activation != "linear":
        return
    asked = output.layer.ref.argument(None, "bias_initializer")
    bias = initial_number(asked) if asked is not None else 0.0
    margin = _FAR_OFF if asked is not None else _VERY_FAR_OFF
    if bias is not None and (bias > high + margin or bias < low - margin):
        it.note(ClipSaturated, node, function_called(node), f"about {bias:g}", bounds, certain=False)


def describe_bounds(low: float, high: float) -> str:
    """Bounds in words."""
    if low == -inf:
        return f"at most {high:g}"
    return f"at least {low:g}" if high == inf else f"{low:g} to {high:g}"


def _number(given: Value | None, default: float) -> float:
    if given is None or given.kind is not Kind.LITERAL or type(given.ref) not in (int, float):
        return default
    return float(given.ref)


def judge_centred(it: Interpreter, left: Value, right: Value, made: Value, node: ast.AST) -> None:
    """`x - mean(x)` along an axis of length 1."""
    if right.op is not ops.MEAN or right.given is None or not matters(it, made):
        return
    axis, keeps = right.given.get(1, "axis"), right.given.get(2, "keepdims")
    if right.given.get(0, "input_tensor") is not left and right.given.get(0, "x") is not left:
        return
    if axis is None or axis.kind is not Kind.LITERAL or not is_literal(keeps, True):
        return
    length = _length(left.shape, axis.ref) if left.shape else width_of(it, left) if axis.ref == -1 else None
    if length == 1:
        it.note(OneFeatureNormalized, node, "")


def judge_product(it: Interpreter, made: Value, node: ast.AST) -> None:
    """A product of two things that both start at zero: neither moves the other."""
    sides = made.operands or made.inputs
    if len(sides) == 2 and matters(it, made) and all(_is_zero_at_start(it, each) for each in sides):
        it.note(ZeroKernel, node, "linear", True)


def _is_zero_at_start(it: Interpreter, value: Value, depth: int = 0) -> bool:
    if _is_zero_weight(value):
        return True
    if depth < 3 and value.op in (ops.MATMUL, ops.MULTIPLY):
        return any(_is_zero_at_start(it, each, depth + 1) for each in value.operands or value.inputs)
    return value.callee is not None and starts_at_zero(it, value) is not None
