"""Events: the facts that rules subscribe to, each named thing + participle.

`gradients.py` makes them when the run is over, `engine.py` hands each to the rules that take its
type. A rule that needs a new fact adds a class here, never a visitor of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from gradlint.rule import Place, Trace
from gradlint.verdicts import Cause, Verdict


class Moment(Enum):
    """When a value was computed, seen from the tape that should have recorded it."""

    BEFORE = auto()  # before the tape opened
    AFTER = auto()  # after it closed
    RESET = auto()  # before the tape was reset
    PAUSED = auto()  # under `stop_recording`
    UNDER = auto()  # while it recorded, from nothing that it follows
    GRADIENT = auto()  # a gradient asked outside an outer tape


class Making(Enum):
    """What sort of code computed the value at a cut."""

    FORWARD = auto()  # a model, a layer or code that cannot be seen was called
    OPERATION = auto()
    GRADIENT = auto()


class Rebinding(Enum):
    """What became of a name that held a variable."""

    STARVED = auto()  # it is asked for again, and is a tensor then
    LOST = auto()  # a loop name or parameter that nothing reads afterwards
    SLICED = auto()  # it held a slice of a variable, which is a copy
    KEPT = auto()  # an attribute or global name: the next step meets a tensor


class Misuse(Enum):
    """What is wrong with a `tf.custom_gradient`."""

    NONE = auto()  # its gradient function returns None
    SOMETIMES_NONE = auto()  # it falls off its end on some ways
    COUNT = auto()  # it returns another number of gradients than there are arguments
    COUNT_IN_GRAPH = auto()  # the same in graph code
    VARIABLES = auto()  # it reads a variable, and its gradient function does not accept `variables`
    KEYWORDS = auto()  # tensors are passed by keyword: the gradient function is not used for them
    KEYWORDS_IN_GRAPH = auto()  # the same in graph code, which refuses keywords


class SourceSort(Enum):
    """What sort of thing a source is."""

    VARIABLE = auto()
    FROZEN_VARIABLE = auto()  # trainable=False, not watched
    UNWATCHED_VARIABLE = auto()  # watch_accessed_variables=False, not watched
    VARIABLES = auto()
    TENSOR = auto()
    DERIVED = auto()  # computed from something that the target uses, itself not used
    SYMBOLIC = auto()  # a Keras tensor


@dataclass(frozen=True, slots=True)
class Cut:
    """Where flow ends: the first place in the order of running."""

    cause: Cause
    place: Place
    code: str
    is_target: bool
    moment: Moment
    making: Making
    other_tape: str | None = None
    assumed: bool = False  # a call is taken for what its name says: nearly always, not surely
    kept: bool = False  # the value is kept on an object, and read again later
    symbol: str = ""  # of the operation that cuts: a canonical name, a method (`.numpy`) or an operator
    verdict: Verdict = Verdict.NONE
    raises: str = ""  # the exception, where the gradient is not None but an error
    in_graph: bool = False  # it is raised where a graph is traced, before any gradient is asked
    feeds_trained_layers: bool = False  # what comes after the cut meets further variables
    straight_through: bool = False  # an estimator that is stopped as a whole


@dataclass(frozen=True, slots=True)
class TapeName:
    """How a tape is called in messages, and where it was opened."""

    name: str
    place: Place
    implicit: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a gradient call, as written."""

    name: str
    sort: SourceSort
    made_at: Place | None
    made_code: str
    watched_at: Place | None = None
    freshly_written: bool = False


_PLURALS = ("trainable_variables", "trainable_weights")


@dataclass(frozen=True, slots=True)
class SourcesStarved:
    """A gradient was asked, and one cut leaves these sources without flow.

    Certain: every way from each of them to the target is cut. A way that may flow makes no event.
    """

    cut: Cut
    sources: tuple[Source, ...]  # in the order asked, never empty
    tape: TapeName
    target: str
    asked_at: Place
    asked: str
    trace: Trace
    zero_for_unconnected: bool = False

    @property
    def names(self) -> str:
        """The sources in backticks, at most three of them by name."""
        names = [f"`{source.name}`" for source in self.sources]
        if len(names) > 3:
            return f"{', '.join(names[:2])} and {len(names) - 2} more"
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    @property
    def verdict(self) -> Verdict:
        """What TensorFlow gives the sources."""
        if self.cut.raises:
            return Verdict.RAISES
        # batch_jacobian fills in zeros for what is not connected (seen under TensorFlow 2.21: fixtures/GL115).
        zeros = self.zero_for_unconnected or self.asked == "batch_jacobian"
        return Verdict.ZERO if zeros else self.cut.verdict

    @property
    def consequence(self) -> str:
        """The verdict in words."""
        if self.verdict is Verdict.RAISES:
            who = "graph code" if self.cut.in_graph else f"the {self.asked} of `{self.target}`"
            return f"{who} raises {self.cut.raises}"
        first = self.sources[0]
        many = len(self.sources) > 1 or first.sort is SourceSort.VARIABLES or first.name.endswith(_PLURALS)
        return f"{self.names} {'get' if many else 'gets'} {'zero' if self.verdict is Verdict.ZERO else 'None'}"


@dataclass(frozen=True, slots=True)
class TermStarved:
    """A summand of the target depends on sources that it gives no gradient: no tape recorded it."""

    cut: Cut
    sources: tuple[Source, ...]
    tape: TapeName
    target: str
    asked_at: Place
    trace: Trace
    drawn: bool = False  # the term moves others; what reaches these sources was drawn by NumPy

    @property
    def verdict(self) -> Verdict:
        """The gradients of the sources lack this term."""
        return Verdict.WRONG_UPDATE


@dataclass(frozen=True, slots=True)
class TapeConsumed:
    """A tape that is not persistent is asked a second time."""

    tape: TapeName
    asked_at: Place
    first_asked_at: Place
    trace: Trace


@dataclass(frozen=True, slots=True)
class KerasVariableWatched:
    """`tape.watch` is given a keras.Variable."""

    variable: str
    code: str
    place: Place


@dataclass(frozen=True, slots=True)
class GradientsAskedInEager:
    """`tf.gradients` is called where no graph is being built."""

    place: Place
    trace: Trace


@dataclass(frozen=True, slots=True)
class SymbolicSourceAsked:
    """A Keras tensor is given to a tape: as a source, or to be watched."""

    source: str
    place: Place
    raises: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class VariableRebound:
    """A name that held a variable (or an element of a list of tensors) is bound to a newly computed tensor."""

    name: str
    rebinding: Rebinding
    code: str
    place: Place
    assigning: str  # the call that would change the variable, or an empty string
    certain: bool  # not when every loop may end after its first step
    of_tensors: bool  # the name stands for an element of a list of tensors
    trace: Trace


@dataclass(frozen=True, slots=True)
class VariableAugmented:
    """`variable -= value` on a tf.Variable, which raises RuntimeError. Not `certain`: an attribute may have changed."""

    name: str
    code: str
    place: Place
    assigning: str
    certain: bool
    trace: Trace


@dataclass(frozen=True, slots=True)
class CustomGradientMisused:
    """A `tf.custom_gradient` that gives no gradient, or that TensorFlow refuses."""

    misuse: Misuse
    place: Place
    code: str
    detail: str  # the variable, the counts, or the consequence for the sources
    trace: Trace
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BooleanProduct:
    """`*` between a boolean tensor and numbers: the result is boolean."""

    code: str
    place: Place
    mask: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class UnregisteredOperation:
    """A gradient is asked through an operation for which TensorFlow has none registered, not even None."""

    cut: Cut
    sources: tuple[Source, ...]
    target: str
    trace: Trace
