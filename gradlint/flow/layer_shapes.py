"""Layer shapes: the shape of what a layer or model of the library returns, where its arguments are written out."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Layer
from gradlint.flow.shapes import Shape, asked_shape, broadcast, filled_in, joined, length_of
from gradlint.flow.values import Kind, Value, is_literal

#: Layers that compute each entry, or each row, from itself.
KEEP_SHAPE = frozenset(
    "Activation ReLU LeakyReLU PReLU ELU Softmax Dropout SpatialDropout1D SpatialDropout2D GaussianNoise "
    "GaussianDropout AlphaDropout Identity BatchNormalization LayerNormalization GroupNormalization "
    "UnitNormalization RMSNormalization Normalization Rescaling ActivityRegularization Masking".split()
)
_RECURRENT = frozenset("LSTM GRU SimpleRNN".split())
_MERGING = frozenset("Add Subtract Multiply Average Maximum Minimum".split())


def is_input(value: Value) -> bool:
    """Whether this stands for the input of a model."""
    if value.kind is Kind.SYMBOLIC:
        return True
    return value.kind is Kind.LAYER and isinstance(value.ref, Layer) and value.ref.symbol.endswith("InputLayer")


def output_shape(it: Interpreter, layer: Value, arguments: Arguments) -> Shape | None:
    """The shape of `layer(...)`; None where it is not known."""
    owner = layer.ref
    if layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or owner.part_of is not None:
        return None
    given = arguments.positional[0] if arguments.positional else None
    name = owner.symbol.rpartition(".")[2]
    if given is not None and given.kind is Kind.CONTAINER:
        return _merged(it, owner, name, tuple(each.shape for each in it.items(given).elements))
    return shape_after(it, layer, given.shape if given is not None else None)


def shape_after(it: Interpreter, layer: Value, given: Shape | None) -> Shape | None:
    """The shape of what the layer makes of one tensor of this shape."""
    owner = layer.ref
    if layer.kind is not Kind.LAYER or not isinstance(owner, Layer) or owner.part_of is not None:
        return None
    if owner.sequence is not None:
        shape = given
        for each in owner.sequence:
            shape = (shape or each.shape) if is_input(each) else shape_after(it, each, shape)
        return shape
    if owner.outputs is not None:
        return owner.outputs.shape
    name = owner.symbol.rpartition(".")[2]
    if name in KEEP_SHAPE:
        return given
    shaper = _SHAPERS.get(name)
    if shaper is None and given is None:
        given = given_at_construction(it, owner)
    return shaper(it, owner, given or given_at_construction(it, owner)) if shaper is not None else None


def given_at_construction(it: Interpreter, owner: Layer) -> Shape | None:
    """The shape that `input_shape=` or `input_dim=` of a layer tells."""
    asked = owner.argument(None, "input_shape")
    if asked is not None:
        shape = asked_shape(it, asked)
        return None if shape is None else (None, *shape)
    width = owner.argument(None, "input_dim")
    return (None, length_of(width)) if width is not None and owner.symbol.endswith(".Dense") else None


def _dense(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    if given is None or len(given) < 2:
        return None
    return (*given[:-1], units_of(owner))


def units_of(owner: Layer) -> int | None:
    """How many entries a Dense layer, or channels a convolution, computes."""
    written = owner.argument(0, "units") or owner.argument(None, "filters")
    return length_of(written) if written is not None else None


def has_channels_last(owner: Layer) -> bool:
    """Whether the last axis of images is that of the channels, as it is unless the layer is told otherwise."""
    told = owner.argument(None, "data_format")
    return told is None or is_literal(told, None) or is_literal(told, "channels_last")


def _convolution(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    padding, strides = owner.argument(3, "padding"), owner.argument(2, "strides")
    if given is None or len(given) < 3 or not has_channels_last(owner):
        return None
    same = padding is not None and is_literal(padding, "same") and (strides is None or is_literal(strides, 1))
    return (given[0], *(given[1:-1] if same else (None,) * (len(given) - 2)), units_of(owner))


def _recurrent(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    sequences = owner.argument(None, "return_sequences")
    if given is None or len(given) != 3 or is_literal(owner.argument(None, "return_state"), True):
        return None
    if sequences is None or is_literal(sequences, False):
        return (given[0], units_of(owner))
    return (*given[:2], units_of(owner)) if is_literal(sequences, True) else None


def _flat(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    if given is None or not given:
        return None
    rest = [each for each in given[1:] if each is not None]
    return (given[0], prod(rest) if len(rest) == len(given) - 1 else None)


def _reshaped(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    asked = asked_shape(it, owner.argument(0, "target_shape"))
    if asked is None:
        return None
    return (given[0] if given else None, *(filled_in(asked, given[1:] if given else None) or ()))


def _pooled_globally(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    keeps = owner.argument(None, "keepdims")
    if given is None or len(given) < 3 or keeps is not None or not has_channels_last(owner):
        return None
    return (given[0], given[-1])


def _pooled(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    if given is None or len(given) < 3 or not has_channels_last(owner):
        return None
    return (given[0], *(None,) * (len(given) - 2), given[-1])


def _looked_up(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    width = owner.argument(1, "output_dim")
    return None if given is None or width is None else (*given, length_of(width))


def _repeated(it: Interpreter, owner: Layer, given: Shape | None) -> Shape | None:
    count = owner.argument(0, "n")
    return None if given is None or len(given) != 2 or count is None else (given[0], length_of(count), given[1])


def _merged(it: Interpreter, owner: Layer, name: str, shapes: tuple[Shape | None, ...]) -> Shape | None:
    if name == "Concatenate":
        axis = owner.argument(0, "axis")
        return joined(shapes, axis.ref if axis is not None and type(axis.ref) is int else -1)
    if name in _MERGING and shapes:
        shape = shapes[0]
        for each in shapes[1:]:
            shape = broadcast(shape, each)
        return shape
    return None


_SHAPERS: dict[str, Callable[[Interpreter, Layer, Shape | None], Shape | None]] = {
    "Dense": _dense, "Flatten": _flat, "Reshape": _reshaped, "Embedding": _looked_up, "RepeatVector": _repeated,
    **dict.fromkeys(["Conv1D", "Conv2D", "Conv3D", "Convolution2D", "Conv2DTranspose", "Conv1DTranspose",
                     "SeparableConv2D"], _convolution),
    **dict.fromkeys(_RECURRENT, _recurrent),
    **dict.fromkeys(["MaxPooling1D", "MaxPooling2D", "MaxPool2D", "AveragePooling1D", "AveragePooling2D",
                     "UpSampling2D", "ZeroPadding2D"], _pooled),
    **dict.fromkeys(["GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D"],
                    _pooled_globally),
}  # fmt: skip
