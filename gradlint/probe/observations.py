"""What a run did: to each source of each gradient call, summed over all steps, and to each variable.

The logs (`gradient_log.py`, `variable_log.py`, `layer_log.py`) fill these in while the program runs. A place of the
program that asks for the same gradients again and again is one `GradientCall`; a verdict is over all its steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.cuts import CutFound
from gradlint.probe.intermediates import ROUNDING
from gradlint.probe.places import Line, Stack
from gradlint.verdicts import Verdict


@dataclass(slots=True)
class SourceSeen:
    """One source of one gradient call, over all steps."""

    name: str
    is_variable: bool
    own_name: str | None = None
    """The name that the variable carries itself, if any."""
    number: int = 0
    """Of a variable: that of its resource."""
    shape: tuple[int | None, ...] = ()
    made: Line | None = None
    """Where the variable, or the layer that owns it, was made."""
    steps: int = 0
    looked: int = 0
    """Steps whose numbers could be looked at."""
    is_single: bool = False
    """Of single precision or less, where a zero may come out as something tiny."""
    is_tiny: bool = False
    """Zero but for rounding, as every other source of the call is too."""
    none: int = 0
    zero: int = 0
    nan: int = 0
    first_nan: int | None = None
    largest: float = 0.0
    """The largest absolute entry of any step that was finite; in compiled steps of large models the largest norm."""
    norm: float = 0.0
    """The Euclidean norm at the last step that was finite."""
    ever: Any = None
    """Which entries were ever not zero (NumPy, bool), as far as that was followed."""
    cut: CutFound | None = None
    structural: bool = False
    """A zero that no numbers can change: every way is cut inside control flow."""

    @property
    def is_rounding(self) -> bool:
        """Is it, at every step, no more than what single precision makes of a zero?"""
        return self.is_single and self.looked > 0 and not self.nan and self.largest <= ROUNDING

    def verdict(self) -> Verdict:
        """What became of it."""
        if self.none:
            return Verdict.NONE
        if self.nan:
            return Verdict.NAN
        if not self.looked:
            return Verdict.NOT_OBSERVABLE
        if self.zero == self.steps or self.is_tiny:
            return Verdict.ZERO
        if self.ever is not None and self.ever.size > 1 and not self.ever.all():
            return Verdict.PARTIAL_ZERO
        return Verdict.FLOWS


@dataclass(slots=True)
class GradientCall:
    """A place that asks for gradients, and what it got."""

    asked: Stack
    mode: str
    """`eager` or `graph`."""
    tape_opened: Line | None = None
    sources: list[SourceSeen] = field(default_factory=list)
    steps: int = 0
    fills_unconnected: bool = False
    """Asked with `unconnected_gradients="zero"`."""
    is_empty: bool = False


@dataclass(slots=True)
class MaskSeen:
    """Entries of a variable whose gradient the program sets to zero, step after step."""

    line: Line
    value: Any
    """Of the variable, before the first update with a mask."""
    masked: Any
    passed: Any
    """Entries that were ever masked, and those that ever were not (NumPy, bool)."""
    updates: int = 0
    bypassed: bool = False
    """Was what the optimizer got not zero at masked entries?"""
    moved: int = 0
    """How many entries moved although they were masked in every update; known at the end."""


@dataclass(slots=True)
class VariableSeen:
    """A variable that was made, or met, while the watch was on."""

    name: str
    trainable: bool
    made: Stack = ()
    asked: bool = False
    applied: bool = False
    """Did an optimizer get it?"""
    moved: bool | None = None
    """From the first update of any optimizer to the end; None when it cannot be said."""
    value_when_frozen: Any = None
    """Its value when an optimizer got it although its `trainable` was false."""
    moved_when_frozen: bool = False
    value_at_update: Any = None
    writes_at_update: int = 0
    moved_without_gradient: int = 0
    """How many entries moved although optimizers got zero for them, each time; known at the end."""
    features: tuple[str, ...] = ()
    """What the optimizer does beside following the gradient."""
    optimizer: str = ""
    applied_at: Stack = ()
    frozen_at: Stack = ()
    """Where `trainable` was last set to false."""
    value_at_freeze: Any = None
    writes_at_freeze: int = 0
    mask: MaskSeen | None = None
    updated_with: str = ""
    """The variable of the same update whose gradient an optimizer got for this one; "" for none."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that passed through the user's code."""

    kind: str
    message: str
    stack: Stack


@dataclass(slots=True)
class LayerSeen:
    """A Keras layer that was made."""

    name: str
    kind: str
    made: Stack
    called: int = 0
    parent: str = ""
    """The layer in whose `call` it was called first, "" for none."""
    made_in: tuple[int, int] | None = None
    """Who ran when it was made, and in which of its runs: the `call` of a layer, or 0 for a tape; None for neither."""
    variables: tuple[int, ...] | None = None
    """Its trainable variables after its first call."""
    called_at: Stack = ()
    is_untracked: bool = False
    """Was it called by a layer that does not count its variables among its own?"""
    owner_called: bool = False
