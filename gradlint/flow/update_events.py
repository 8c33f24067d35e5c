"""Update events: facts about assignments, masks, optimizers and freezing, each named thing + participle.

All are noted while code runs (`State.note`) or when it has run (`notes.py`); `notes.py` makes them. The fields after
those of `Seen` are the details of the note, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from gradlint.rule import Place, Trace


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at a place, nearly always a fault where not `certain`. `done` ends the trace."""

    place: Place
    code: str
    trace: Trace
    certain: bool
    done: ClassVar[str] = "written here"
    begun: ClassVar[str] = "set here"  # in place of `done` where the trace goes on


class Holder(Enum):
    """What kind of thing an item is assigned to, or a method is called on."""

    TENSOR = "a tensor"
    GRADIENT = "a gradient, which is a tensor"
    VARIABLE = "a variable"
    SLICE = "a slice of a variable, which is a tensor"
    READ_ONLY = "a view of a tensor by `np.asarray`, which is read-only"


@dataclass(frozen=True, slots=True)
class ItemAssigned(Seen):
    """`x[i] = value` on something that TensorFlow does not let be written so."""

    name: str
    holder: Holder
    augmented: bool
    done: ClassVar[str] = "assigned here"


@dataclass(frozen=True, slots=True)
class SliceMethodCalled(Seen):
    """`v[i].assign_sub(x)`, `tf.gather(v, i).assign(x)`: a method that a tensor does not have."""

    owner: str
    method: str
    variable: str  # the variable behind it, or an empty string
    is_slice: bool
    done: ClassVar[str] = "called here"


@dataclass(frozen=True, slots=True)
class ScatterMethodCalled(Seen):
    """`scatter_nd_sub` and its likes on a keras.Variable, which has none of them."""

    owner: str
    method: str
    done: ClassVar[str] = "called here"


@dataclass(frozen=True, slots=True)
class TensorGivenToOptimizer(Seen):
    """A tensor stands where an optimizer takes a variable."""

    name: str
    holder: Holder
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class IncrementAssigned(Seen):
    """A step of descent (`-lr * gradient`) overwrites the entries that it should have changed."""

    method: str
    variable: str
    done: ClassVar[str] = "overwritten here"


@dataclass(frozen=True, slots=True)
class IndicesMisfit(Seen):
    """A flat list of indices where a scatter takes rows of them."""

    method: str
    why: str
    instead: str
    raises: str  # the exception, or an empty string where one element is written in silence
    done: ClassVar[str] = "scattered here"


@dataclass(frozen=True, slots=True)
class ResultDropped(Seen):
    """A function that changes nothing is called as a statement."""

    function: str
    first: str  # what is meant to change
    is_array: bool
    is_step: bool = False  # of gradient descent, computed by a function of the project
    done: ClassVar[str] = "dropped here"


@dataclass(frozen=True, slots=True)
class CopyWritten(Seen):
    """A NumPy copy of a variable's numbers is written into, and not read again."""

    copied: str
    done: ClassVar[str] = "written into here"


@dataclass(frozen=True, slots=True)
class WholeAssigned(Seen):
    """`v.assign(tf.tensor_scatter_nd_update(v, ...))`."""

    variable: str
    method: str
    done: ClassVar[str] = "assigned here"


class Mispairing(Enum):
    """How gradients and variables miss each other."""

    REVERSED = auto()  # (variable, gradient)
    REORDERED = auto()  # the same variables in another order
    OTHER = auto()  # variables of something else
    TRUNCATED = auto()  # fewer gradients than variables
    UNAPPLIED = auto()  # fewer variables than gradients


@dataclass(frozen=True, slots=True)
class PairsMismatched(Seen):
    """Gradients meet variables that they are not the gradients of."""

    mispairing: Mispairing
    gradients: str
    variables: str
    done: ClassVar[str] = "paired here"


@dataclass(frozen=True, slots=True)
class ChangeUnused(Seen):
    """A gradient is masked or clipped, and the unchanged one is applied."""

    name: str
    change: str  # masked, clipped or scaled
    done: ClassVar[str] = "the unchanged gradient applied here"


@dataclass(frozen=True, slots=True)
class GradientUnused(Seen):
    """A gradient is asked for in a step of training, and nothing is done with it."""

    name: str
    variables: str
    done: ClassVar[str] = "asked here"


@dataclass(frozen=True, slots=True)
class MaskBypassed(Seen):
    """A term without the mask is added to a masked gradient."""

    mask: str
    variable: str
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class MaskMisplaced(Seen):
    """A mask made for one variable meets the gradient of another."""

    mask: str
    meant: str
    met: str
    done: ClassVar[str] = "multiplied here"


@dataclass(frozen=True, slots=True)
class MaskBroadcast(Seen):
    """A product of a column and a row: every pair of entries."""

    left: str
    right: str
    left_shape: str
    right_shape: str
    result: str
    done: ClassVar[str] = "multiplied here"


@dataclass(frozen=True, slots=True)
class GradientBroadcast(Seen):
    """A gradient of a smaller shape is applied."""

    variable: str
    shape: str
    gradient_shape: str
    optimizer: str
    raises: bool
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class MaskedMoved(Seen):
    """An optimizer moves entries whose gradient is masked in every step."""

    variable: str
    optimizer: str
    features: tuple[str, ...]
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class LateMaskMoved(Seen):
    """An optimizer goes on moving entries that are masked from some step on."""

    variable: str
    optimizer: str
    features: tuple[str, ...]
    changes: bool  # the mask is computed anew in each step
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class SlicesCalculated(Seen):
    """Arithmetic that tf.IndexedSlices do not know."""

    name: str
    variable: str
    raises: str
    done: ClassVar[str] = "calculated here"


@dataclass(frozen=True, slots=True)
class ClipMisused(Seen):
    """The pair that `clip_by_global_norm` returns is used as the gradients, or it is given one tensor."""

    function: str
    problem: str
    raises: str
    done: ClassVar[str] = "used here"


class Freezing(Enum):
    """When and how `trainable` was set, so that it has no effect."""

    TRACED = auto()  # after a tf.function was traced
    FITTED = auto()  # after fit, without compile
    CALLBACK = auto()  # in a callback, while fit runs
    CAPTURED = auto()  # the list of variables was read before
    WATCHED = auto()  # the list is what the tape watched
    EVERY = auto()  # the list holds every variable, trainable or not


@dataclass(frozen=True, slots=True)
class FreezingIgnored(Seen):
    """`trainable` was set, and what is trained stays the same."""

    freezing: Freezing
    layer: str
    frozen: bool  # set to False, else to True
    detail: str  # the function, the list or the model
    done: ClassVar[str] = "trained here"


@dataclass(frozen=True, slots=True)
class StatisticsMoved(Seen):
    """BatchNormalization statistics move although the call says `training=False`, or the weights are frozen."""

    layer: str
    by_weights: bool
    done: ClassVar[str] = "trained here"


@dataclass(frozen=True, slots=True)
class OptimizerRemade(Seen):
    """An optimizer is made in the step that it applies."""

    optimizer: str
    in_graph: bool
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class OptimizerShared(Seen):
    """An optimizer is given variables that it was not built with."""

    optimizer: str
    first: str
    then: str
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class VariablesMissing(Seen):
    """A list of variables is empty, because the model is not built yet or a filter passes none."""

    variables: str
    left_out: str
    """The layers whose variables are missing, when the list has others; else it is empty."""
    done: ClassVar[str] = "used here"


@dataclass(frozen=True, slots=True)
class TestNeverTrue(Seen):
    """A test of a weight that no weight of Keras 3 passes."""

    reason: str
    instead: str
    done: ClassVar[str] = "tested here"


@dataclass(frozen=True, slots=True)
class RateIsVariable(Seen):
    """An optimizer of Keras 3 is given a tf.Variable as its learning rate."""

    optimizer: str
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class PairsConsumed(Seen):
    """A `zip` is applied after something else has gone through it."""

    pairs: str
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class FrozenModelTrained(Seen):
    """A model that is frozen as a whole is trained."""

    model: str
    method: str
    compiled: bool  # frozen when it was compiled, which is what counts in Keras 2
    done: ClassVar[str] = "trained here"


@dataclass(frozen=True, slots=True)
class MinimizeCalled(Seen):
    """`minimize` on an optimizer of Keras 3."""

    optimizer: str
    done: ClassVar[str] = "called here"


@dataclass(frozen=True, slots=True)
class RateRenamed(Seen):
    """`optimizer.lr` with an optimizer of Keras 3: set, read, or given to the constructor."""

    optimizer: str
    raises: str
    value: str
    done: ClassVar[str] = "written here"


@dataclass(frozen=True, slots=True)
class NumberTraced(Seen):
    """A Python value that a traced tf.function read is changed, and the function goes on with the old one."""

    name: str
    function: str
    counts: bool  # the function itself changes it: once, when it is traced
    done: ClassVar[str] = "changed here"


@dataclass(frozen=True, slots=True)
class TeacherTrained(Seen):
    """A network that says what another one is to compute is trained by the same step."""

    teacher: str
    trained: str
    done: ClassVar[str] = "trained here"


@dataclass(frozen=True, slots=True)
class ObjectTraced(Seen):
    """A layer, variable or optimizer that a traced tf.function uses is replaced, and the function goes on with it."""

    name: str
    function: str
    done: ClassVar[str] = "made here"


@dataclass(frozen=True, slots=True)
class NoneFiltered(Seen):
    """A variable of a model gets None, and a comprehension keeps that from the optimizer."""

    variable: str
    done: ClassVar[str] = "filtered here"


@dataclass(frozen=True, slots=True)
class NeverReset(Seen):
    """Gradients are accumulated, applied, and never set back to zero."""

    accumulator: str
    is_variable: bool
    done: ClassVar[str] = "applied here"


@dataclass(frozen=True, slots=True)
class RegularizationIgnored(Seen):
    """Layers have regularizers, and the loop that trains them does not add `model.losses`."""

    model: str
    done: ClassVar[str] = "gradient asked here"
