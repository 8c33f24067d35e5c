"""Facts: which constants a value can be, as far as the tests that were passed tell.

A fact is a cell of the store, keyed by what was tested, so that arms, exits and joins carry it like any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from gradlint.flow.values import How, Value

#: The owner of the cells that hold facts.
FACTS = 1
#: What was tested: a value, an attribute of one, a comparison of two.
Subject = Hashable


@dataclass(frozen=True, slots=True)
class Known:
    """Some constants, or (`excluded`) anything but some constants."""

    constants: frozenset[Hashable] = frozenset()
    excluded: bool = True

    @property
    def is_anything(self) -> bool:
        """Whether nothing is known."""
        return self.excluded and not self.constants

    def opposite(self) -> Known:
        """Everything else."""
        return Known(self.constants, not self.excluded)

    def within(self, other: Known) -> bool:
        """Whether all of this is some of the other."""
        if self.excluded:
            return other.excluded and other.constants <= self.constants
        return not self.constants & other.constants if other.excluded else self.constants <= other.constants

    def both(self, other: Known) -> Known:
        """What is in this and in the other."""
        if self.excluded and other.excluded:
            return Known(self.constants | other.constants)
        if self.excluded:
            return Known(other.constants - self.constants, excluded=False)
        kept = self.constants - other.constants if other.excluded else self.constants & other.constants
        return Known(kept, excluded=False)

    def either(self, other: Known) -> Known:
        """What is in this or in the other."""
        return self.opposite().both(other.opposite()).opposite()

    @property
    def is_impossible(self) -> bool:
        """Whether no way leads here."""
        return not self.excluded and not self.constants


def one_of(constants: Iterable[Hashable]) -> Known:
    """Exactly these."""
    return Known(frozenset(constants), excluded=False)


TRUE = one_of([("number", 1)])
#: What Python takes for false: the constants, and whatever else is empty.
FALSY = one_of([("none",), ("number", 0), ("str", ""), ("bytes", b""), ("empty",)])
ANYTHING = Known()


def known_of(cell: Value | None) -> Known:
    """What a cell says."""
    return cell.ref if cell is not None and cell.how is How.FRESH and isinstance(cell.ref, Known) else ANYTHING


def constant_of(literal: object) -> Hashable | None:
    """A constant as a member of facts, equal ones alike; None for what is no plain constant."""
    match literal:
        case None:
            return ("none",)
        case bool() | int() | float():
            return ("number", literal + 0)
        case str() | bytes():
            return (type(literal).__name__, literal)
    return None
