"""Outputs: what computed a value last: which activation, of which layer, how many entries wide.

Looks through what changes neither the numbers nor their order of rows: reshaping, casts, dropout, a traced function.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_shapes import has_channels_last, is_input, units_of
from gradlint.flow.matrix_products import width_of_product
from gradlint.flow.objects import Layer, LibraryObject
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.flow.wording import code_of
from gradlint.knowledge.activations import ACTIVATIONS, LAYERS_OF_ACTIVATION
from gradlint.ops import table as ops

_DEEPEST = 24
#: Layers that hand on the numbers that they are given.
_LAYERS_HANDING_ON = frozenset(
    "Flatten Reshape Dropout Identity Permute SpatialDropout1D SpatialDropout2D GaussianDropout RepeatVector "
    "ActivityRegularization Cropping1D Cropping2D".split()
)
_LINEAR_LAYERS = frozenset(
    "Dense Conv1D Conv2D Conv3D Convolution2D Conv2DTranspose Conv1DTranspose SeparableConv2D DepthwiseConv2D "
    "EinsumDense LocallyConnected1D".split()
)
WITH_KERNEL = frozenset("Dense Conv1D Conv2D Conv3D Convolution2D Conv2DTranspose SeparableConv2D".split())
#: Activations f with f(0) = 0: a layer of zeros hands on zeros.
ZERO_AT_ZERO = frozenset("linear tanh relu gelu elu selu silu swish leaky_relu softsign relu6 mish".split())
_ACTIVATION_PLACES = {"Dense": 1, "Activation": 0}


@dataclass(frozen=True, slots=True)
class Output:
    """The last computation behind a value."""

    activation: str  # a name of `ACTIVATIONS`
    layer: Value | None  # the layer of Keras that applies it, or None for a function
    value: Value  # what it computed
    before: Value | None  # what an activation was given, where that is a value of its own
    symbol: str = ""  # of a function

    @property
    def of_keras(self) -> bool:
        """Whether Keras remembers the logits: its own layers and functions do, those of tf.nn do not."""
        return self.layer is not None or self.symbol.startswith("keras.")


def activation_name(given: Value | None) -> str | None:
    """The name of an activation given to a layer: "linear" for none, None for what is not known."""
    if given is None or (given.kind is Kind.LITERAL and given.ref is None):
        return "linear"
    if given.kind in (Kind.LITERAL, Kind.SYMBOL) and isinstance(given.ref, str):
        name = given.ref.rpartition(".")[2]
        return name if name in ACTIVATIONS else None
    if given.kind is Kind.LAYER and isinstance(given.ref, Layer):
        return LAYERS_OF_ACTIVATION.get(given.ref.symbol.rpartition(".")[2])
    return None


def activation_of_layer(layer: Value) -> str | None:
    """The activation that a layer of the library ends in; None where it hands on, or is not known."""
    owner = layer.ref
    if layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or owner.open_parts:
        return None  # where something was set on it, it may be the activation
    name = owner.symbol.rpartition(".")[2]
    if owner.activation is not None:  # a function of the file: what the layer hands to it
        return "linear" if name in _LINEAR_LAYERS else None
    if name in LAYERS_OF_ACTIVATION:
        return LAYERS_OF_ACTIVATION[name]
    if name == "Activation" or name in _LINEAR_LAYERS:
        return activation_name(owner.argument(_ACTIVATION_PLACES.get(name), "activation"))
    if name in ("BatchNormalization", "LayerNormalization", "Embedding"):
        return "linear"
    return "tanh" if name in ("LSTM", "GRU", "SimpleRNN") and owner.argument(1, "activation") is None else None


def output_of(it: Interpreter, value: Value, depth: int = 0) -> Output | None:
    """What computed the value last; None when that is not known."""
    while depth < _DEEPEST:
        depth += 1
        if value.how is How.JOIN:
            return _of_ways(it, value, depth)
        if value.kind not in (Kind.TENSOR, Kind.SYMBOLIC):
            return None
        if value.callee is not None and value.callee.kind is Kind.LAYER:
            made = _of_layer(it, value, value.callee, depth)
            if not isinstance(made, Value):
                return made
            value = made
            continue
        op = value.op
        if op.name in ACTIVATIONS and value.label.startswith(("tf.", "keras.")):
            before = value.given.get(0, "logits" if "logits" in value.given.keywords else "x") if value.given else None
            return Output(op.name, None, value, before, value.label)
        if op.hands_on and value.inputs:
            value = value.inputs[0]
            continue
        if op is ops.STOP and value.dead:
            value = value.dead[0][0]
            continue
        return None
    return None


def _of_ways(it: Interpreter, value: Value, depth: int) -> Output | None:
    found = [output_of(it, way, depth) for way in alternatives(value, 6) or ()]
    first = found[0] if found else None
    if first is None or any(each is None or each.activation != first.activation for each in found):
        return None
    return first


def _of_layer(it: Interpreter, value: Value, layer: Value, depth: int) -> Output | Value | None:
    """What a call of a layer computed; a value where the layer hands on what it was given."""
    owner = layer.ref
    if not isinstance(owner, Layer):
        return None
    if owner.sequence is not None:
        return _of_sequence(it, value, owner.sequence)
    if owner.outputs is not None:
        made = output_of(it, owner.outputs, depth) if owner.outputs.kind is Kind.SYMBOLIC else None
        return None if made is None else Output(made.activation, made.layer, value, made.before, made.symbol)
    given: Value | None = value.given.positional[0] if value.given is not None and value.given.positional else None
    name = owner.symbol.rpartition(".")[2]
    if name in _LAYERS_HANDING_ON and given is not None:
        return given
    activation = activation_of_layer(layer)
    if activation == "linear" and name == "Activation" and given is not None:
        return given  # a cast, at most
    return None if activation is None else Output(activation, layer, value, given)


def _of_sequence(it: Interpreter, value: Value, sequence: tuple[Value, ...]) -> Output | None:
    last = last_layer(it, sequence)
    activation = activation_of_layer(last) if last is not None else None
    return None if last is None or activation is None else Output(activation, last, value, None)


def last_layer(it: Interpreter, sequence: tuple[Value, ...]) -> Value | None:
    """The last layer of a sequence that computes something."""
    for layer in reversed(sequence):
        owner = layer.ref
        if is_input(layer) or layer.kind is not Kind.LAYER or not isinstance(owner, Layer):
            return None
        if owner.sequence is not None:
            return last_layer(it, owner.sequence)
        if owner.outputs is not None:
            made = output_of(it, owner.outputs) if owner.outputs.kind is Kind.SYMBOLIC else None
            return made.layer if made is not None else None
        name = owner.symbol.rpartition(".")[2]
        if name not in _LAYERS_HANDING_ON and not (name == "Activation" and activation_of_layer(layer) == "linear"):
            return layer
    return None


def width_of(it: Interpreter, value: Value, depth: int = 0) -> int | None:
    """The length of the last axis of what a layer or function computed; None when it is not known."""
    if value.shape:
        return value.shape[-1]
    if depth > _DEEPEST or value.how is How.JOIN:
        return None
    layer = value.callee
    if layer is not None and layer.kind is Kind.LAYER and isinstance(layer.ref, Layer):
        return _width_after(it, layer, value.given.positional[0] if value.given and value.given.positional else None)
    if value.op is ops.MATMUL:
        return width_of_product(value)
    if value.op is ops.ADD and len(value.operands) == 2:  # both known: a bias may be wider than the product
        widths = [width_of(it, each, depth + 1) for each in value.operands]
        return max(each or 0 for each in widths) if None not in widths else None
    keeps = value.op.keeps_shape
    first = value.inputs or tuple(each for each, _ in value.dead)
    return width_of(it, first[0], depth + 1) if keeps and first else None


def _width_after(it: Interpreter, layer: Value, given: Value | None) -> int | None:
    owner = layer.ref
    name = owner.symbol.rpartition(".")[2]
    if owner.sequence is not None:
        for each in reversed(owner.sequence):
            if each.kind is not Kind.LAYER or is_input(each):
                return None
            if not _keeps_width(each):
                return _width_after(it, each, None)
        return None
    if owner.outputs is not None:
        return width_of(it, owner.outputs) if owner.outputs.kind is Kind.SYMBOLIC else None
    if name in _LINEAR_LAYERS and name not in ("DepthwiseConv2D", "EinsumDense"):
        return units_of(owner) if has_channels_last(owner) else None
    return width_of(it, given, 1) if given is not None and _keeps_width(layer) else None


def _keeps_width(layer: Value) -> bool:
    name = layer.ref.symbol.rpartition(".")[2]
    return name in ("Activation", "Dropout", "BatchNormalization", "LayerNormalization") or name in LAYERS_OF_ACTIVATION


def initial_number(value: Value | None) -> float | None:
    """The one number that an initializer fills a weight with; None for any other."""
    if value is None:
        return None
    name, arguments = "", None
    if value.kind in (Kind.LITERAL, Kind.SYMBOL) and isinstance(value.ref, str):
        name = value.ref.rpartition(".")[2]
    elif isinstance(value.ref, LibraryObject):
        name, arguments = value.ref.symbol.rpartition(".")[2], value.ref
    if name.lower() in ("zeros", "zeros_initializer", "zero"):
        return 0.0
    if name.lower() in ("ones", "ones_initializer", "one"):
        return 1.0
    if name.lower() in ("constant", "constant_initializer") and arguments is not None:
        given = arguments.keyword("value") or (arguments.arguments[0] if arguments.arguments else None)
        if given is None:
            return 0.0
        return float(given.ref) if given.kind is Kind.LITERAL and type(given.ref) in (int, float) else None
    return None


def is_made_of_zeros(layer: Value) -> bool:
    """Whether a layer of the library starts with a kernel and a bias of zeros."""
    owner = layer.ref
    if not isinstance(owner, Layer) or owner.symbol.rpartition(".")[2] not in WITH_KERNEL:
        return False
    if initial_number(owner.argument(None, "kernel_initializer")) != 0:
        return False
    bias = owner.argument(None, "bias_initializer")
    return bias is None or initial_number(bias) == 0


def starts_at_zero(it: Interpreter, value: Value) -> str | None:
    """The layer whose untrained output is zero everywhere: a kernel and bias of zeros, and f(0) = 0."""
    output = output_of(it, value)
    if output is None or output.layer is None or output.activation not in ZERO_AT_ZERO:
        return None
    layer = output.layer
    if layer.ref.symbol.endswith(("Activation", "ReLU")) and output.before is not None:
        return starts_at_zero(it, output.before)
    return code_of(layer) if is_made_of_zeros(layer) else None
