"""Events: the facts that rules subscribe to, each named thing + participle.

`gradients.py` makes them when the run is over, `engine.py` hands each to the rules that take its
type. A rule that needs a new fact adds a class here, never a visitor of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from gradlint.rule import Place, Trace
from gradlint.verdicts import Cause


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
    def consequence(self) -> str:
        """The verdict in words."""
        # batch_jacobian fills in zeros for what is not connected (seen under TensorFlow 2.21: fixtures/GL115).
        verdict = "zero" if self.zero_for_unconnected or self.asked == "batch_jacobian" else "None"
        many = len(self.sources) > 1 or self.sources[0].sort is SourceSort.VARIABLES
        return f"{self.names} {'get' if many else 'gets'} {verdict}"


@dataclass(frozen=True, slots=True)
class TermStarved:
    """A summand of the target depends on sources that it gives no gradient: no tape recorded it."""

    cut: Cut
    sources: tuple[Source, ...]
    tape: TapeName
    target: str
    asked_at: Place
    trace: Trace


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
    """A Keras tensor is given as a source."""

    source: Source
    asked_at: Place
    trace: Trace
