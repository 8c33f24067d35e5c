"""Zero events: facts about gradients that exist and teach nothing, and about losses that do not fit their input.

All are noted while code runs (`State.note`) or when it has run; `notes.py` makes them. The fields after those of `Seen`
are the details of the note, in order. Zeros that are found by asking a gradient are no events of their own but
`SourcesStarved` with the causes `constant` and `saturated`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from gradlint.flow.update_events import Seen


@dataclass(frozen=True, slots=True)
class SoftmaxOfOne(Seen):
    """A softmax runs over one entry: a layer with one unit, or an axis of length 1."""

    function: str  # softmax or log_softmax
    of_layer: bool  # the activation of a layer, rather than a function that is called
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class OneFeatureNormalized(Seen):
    """What is normalised has one entry: it minus its mean is zero."""

    layer: str  # LayerNormalization, GroupNormalization ..., or an empty string where the mean is subtracted by hand
    done: ClassVar[str] = "normalised here"


@dataclass(frozen=True, slots=True)
class ZeroKernel(Seen):
    """A hidden layer starts with a kernel of zeros, and gradients cannot move it away from there."""

    activation: str  # relu; or of the layers of zeros where there are several: linear, tanh, ...
    several: bool  # two layers of zeros in a row
    done: ClassVar[str] = "initialised here"


@dataclass(frozen=True, slots=True)
class DeadRelu(Seen):
    """A relu is given what is never positive."""

    activation: str
    why: str  # "a bias of -10.0", "`-tf.exp(x)`, which is at most 0"
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class ReluOnOutput(Seen):
    """The last activation of a regression is relu. Certain: the targets are known to be negative in part."""

    activation: str
    loss: str
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class ClipSaturated(Seen):
    """A clip whose bounds leave out what it is given."""

    function: str
    given: str  # "about 127.5", "0 to 1"
    bounds: str  # "0.0 to 1.0"
    done: ClassVar[str] = "clipped here"


@dataclass(frozen=True, slots=True)
class PredictionIgnored(Seen):
    """A loss never reads what was predicted."""

    loss: str
    parameter: str  # y_pred
    compiled: bool  # given to `compile`, so that `fit` raises
    target: str = ""  # of which the loss is one term, beside others that read the prediction
    done: ClassVar[str] = "computed here"


@dataclass(frozen=True, slots=True)
class PredictionReadInPart(Seen):
    """A loss reads some columns of what was predicted, and no other."""

    read: str  # "column 0", "columns 0 and 1"
    width: int  # number of columns that the model predicts
    done: ClassVar[str] = "read here"


@dataclass(frozen=True, slots=True)
class LossArgumentsSwapped(Seen):
    """A loss of Keras is called with (prediction, target)."""

    function: str
    prediction: str
    target: str
    by_name: bool  # what they are is concluded from their names
    done: ClassVar[str] = "called here"


@dataclass(frozen=True, slots=True)
class RanksBroadcast(Seen):
    """(N,) meets (N, 1): every prediction is compared with every target."""

    left: str
    right: str
    shapes: str  # "(32,) and (32, 1)"
    done: ClassVar[str] = "compared here"


@dataclass(frozen=True, slots=True)
class MetricAsLoss(Seen):
    """A metric stands where `compile` takes a loss."""

    metric: str
    done: ClassVar[str] = "given here"


class Estimator(Enum):
    """What is wrong with a straight-through estimator."""

    NEGATED = auto()  # the gradient is -1 where it should be 1
    CANCELLED = auto()  # the gradients of both parts cancel: zero
    VALUE = auto()  # the value is not the quantised one
    DOUBLED = auto()  # the gradient passes twice


@dataclass(frozen=True, slots=True)
class StraightThroughWrong(Seen):
    """A straight-through estimator has a wrong sign, or stops the wrong part."""

    wrong: Estimator
    straight: str  # what is passed on: `x`
    quantised: str  # `tf.round(x)`
    done: ClassVar[str] = "written here"


@dataclass(frozen=True, slots=True)
class CurvatureAsked(Seen):
    """The second derivative of a network that is linear in pieces is asked for, with respect to its input."""

    source: str
    done: ClassVar[str] = "second derivative asked here"


@dataclass(frozen=True, slots=True)
class LossNotScaled(Seen):
    """Gradients of float16 are asked for a loss that is not scaled."""

    policy: str
    done: ClassVar[str] = "gradient asked here"


@dataclass(frozen=True, slots=True)
class ConstantInput(Seen):
    """A layer is fed with zeros alone."""

    layer: str
    done: ClassVar[str] = "fed here"


@dataclass(frozen=True, slots=True)
class OneTimeStep(Seen):
    """A recurrent layer runs over one time step."""

    layer: str  # LSTM, GRU, SimpleRNN
    done: ClassVar[str] = "run here"


@dataclass(frozen=True, slots=True)
class LogitsAsProbabilities(Seen):
    """A linear output meets a crossentropy that takes probabilities."""

    loss: str
    output: str  # the layer that computes it
    sparse: bool
    done: ClassVar[str] = "compared here"


@dataclass(frozen=True, slots=True)
class ProbabilitiesAsLogits(Seen):
    """A softmax or sigmoid meets a crossentropy that takes logits.

    `corrected`: Keras goes back to what the activation was given, with a warning.
    """

    loss: str
    activation: str
    corrected: bool
    done: ClassVar[str] = "compared here"


@dataclass(frozen=True, slots=True)
class SoftmaxTwice(Seen):
    """A softmax is applied to what a softmax computed."""

    first: str
    done: ClassVar[str] = "applied again here"


@dataclass(frozen=True, slots=True)
class OneClass(Seen):
    """A crossentropy over classes meets one output."""

    loss: str
    sparse: bool
    done: ClassVar[str] = "compared here"


@dataclass(frozen=True, slots=True)
class RangeMismatch(Seen):
    """The activation computes numbers that the loss or the targets do not go with."""

    loss: str
    activation: str
    why: str  # "tanh computes -1 to 1, the loss takes 0 to 1"
    done: ClassVar[str] = "compared here"


@dataclass(frozen=True, slots=True)
class UnsafeBranch(Seen):
    """`tf.where` picks between a safe value and a function whose derivative is infinite where it is not picked."""

    function: str
    argument: str
    compiled_only: bool  # NaN under XLA alone, zero elsewhere
    done: ClassVar[str] = "chosen here"


@dataclass(frozen=True, slots=True)
class RootAtZero(Seen):
    """A square root, norm or standard deviation of what is exactly zero."""

    function: str
    why: str  # "`delta` starts at zero", "every row is compared with itself"
    infinite: bool  # inf rather than NaN
    done: ClassVar[str] = "taken here"


@dataclass(frozen=True, slots=True)
class LogOfZero(Seen):
    """A logarithm of what reaches zero or less."""

    argument: str
    why: str  # "a softmax underflows to 0", "relu computes exact zeros"
    instead: str
    done: ClassVar[str] = "taken here"


@dataclass(frozen=True, slots=True)
class ExpOverflow(Seen):
    """An exponential inside what TensorFlow has a stable function for."""

    form: str  # softplus, logsumexp, softmax, sigmoid
    instead: str
    done: ClassVar[str] = "computed here"


@dataclass(frozen=True, slots=True)
class EmptySum(Seen):
    """A division by a sum or count that can be zero."""

    divisor: str
    why: str
    done: ClassVar[str] = "divided here"


@dataclass(frozen=True, slots=True)
class PowerOfNegative(Seen):
    """A fractional power of what is negative."""

    base: str
    exponent: str
    why: str
    done: ClassVar[str] = "raised here"


@dataclass(frozen=True, slots=True)
class ArcAtBorder(Seen):
    """`acos`, `asin`, `atanh` or `acosh` where its derivative is infinite."""

    function: str
    argument: str
    why: str
    done: ClassVar[str] = "taken here"


@dataclass(frozen=True, slots=True)
class FullyMasked(Seen):
    """A softmax over scores that are masked with -inf, all of them in some rows."""

    mask: str
    done: ClassVar[str] = "applied here"
