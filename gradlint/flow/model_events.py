"""Model events: facts about layers and weights that a model holds, makes or forgets, each named thing + participle.

All are noted while code runs or when it has run; `notes.py` makes them. The fields after those of `Seen` are the
details of the note, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gradlint.flow.update_events import Seen


@dataclass(frozen=True, slots=True)
class LayerNeverCalled(Seen):
    """A layer is made in a constructor, kept, and never called."""

    layer: str  # `self.conv2`
    owner: str  # the class
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class LayerOutputDropped(Seen):
    """A layer is called, and nothing is computed from what it returns."""

    layer: str
    name: str  # what the result is bound to, or an empty string
    done: ClassVar[str] = "called here"


@dataclass(frozen=True, slots=True)
class HeadWithoutLoss(Seen):
    """An output of a model has no loss."""

    head: str
    weighted_zero: bool  # it has one, weighted with zero
    done: ClassVar[str] = "compiled here"


@dataclass(frozen=True, slots=True)
class WeightNeverUsed(Seen):
    """A weight is made and never read."""

    weight: str
    owner: str
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class LayerMadeInCall(Seen):
    """A layer is made where it is called, anew each time."""

    layer: str
    function: str  # call, train_step, the loss ...
    raises: str  # the exception under `fit`, or an empty string
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class VariableMadeInCall(Seen):
    """A variable is made where it is used, anew each time."""

    variable: str
    function: str
    raises: str
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class VariableUntracked(Seen):
    """A layer or model of Keras 3 holds a tf.Variable or tf.Module, which it does not track."""

    attribute: str
    holder: str  # "a tf.Variable", "a list of tf.Variable", "a tf.Module"
    done: ClassVar[str] = "kept here"


@dataclass(frozen=True, slots=True)
class LayerUntracked(Seen):
    """A model of Keras, or a tf.Module, holds a layer where it does not look for layers."""

    layer: str
    holder: str  # "a plain object", "a deque", "a local list that Keras copied"
    model: str = "Keras"  # or "tf.Module"
    done: ClassVar[str] = "kept here"


@dataclass(frozen=True, slots=True)
class LambdaCaptured(Seen):
    """A Lambda layer uses a layer or variable from around it, which is not tracked."""

    captured: str
    done: ClassVar[str] = "captured here"


@dataclass(frozen=True, slots=True)
class WeightNotTrainable(Seen):
    """A weight that computes the output is made with `trainable=False`, and nothing else ever changes it."""

    weight: str
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class WeightSnapshot(Seen):
    """A layer keeps a tensor that it computed from a weight when it was built, and uses it in every call."""

    tensor: str
    weight: str
    done: ClassVar[str] = "computed here"


@dataclass(frozen=True, slots=True)
class CopyShared(Seen):
    """A network is given the weights of another one that has the very same layers."""

    target: str
    online: str
    is_same: bool
    """Whether both are one and the same object."""
    done: ClassVar[str] = "weights copied here"
    begun: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class PartNotTrained(Seen):
    """A training step leaves a part of the model out, which it uses to compute the loss."""

    part: str
    trained: str
    are_variables: bool
    """Whether the part are variables that no layer holds."""
    done: ClassVar[str] = "trained here"


@dataclass(frozen=True, slots=True)
class NearestResized(Seen):
    """An image that is optimised is resized by picking single pixels."""

    image: str
    done: ClassVar[str] = "resized here"
