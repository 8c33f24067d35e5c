"""Recording: masks of the tapes that record now, and of those that follow a value."""

from __future__ import annotations

from gradlint.flow.objects import (
    HeapObject,
    Variable,
)
from gradlint.flow.state import RECORDING, State
from gradlint.flow.values import ANY_TAPE, How, Kind, Value, alternatives


class Recording(State):
    """Which tapes record now, and which follow a value."""

    def recording(self) -> tuple[int, int]:
        """Masks of the tapes that surely and possibly record now."""
        cell = self.store.get(RECORDING)
        assert cell is not None
        sure, possible = cell.ref
        return sure, possible

    def set_recording(self, sure: int, possible: int) -> None:
        """Change which tapes record."""
        self.store.set(RECORDING, Value(Kind.LITERAL, How.FRESH, 0, ref=(sure, possible)))

    def all_tapes(self) -> int:
        """Mask of every tape opened so far."""
        return (1 << len(self.tapes)) - 1

    def tracked(self, value: Value) -> int:
        """Mask of the tapes that may follow this value now: an operation on it would be recorded by them."""
        extra = self.watched.get(value.serial, 0)
        how = value.how
        if how is How.JOIN:
            ways = alternatives(value, 8)
            if ways is None or value.label == "loop":
                return ANY_TAPE
            for way in ways:
                extra |= self.tracked(way)
            return extra
        if how is How.OPERATION or how is How.GRADIENT:
            return value.possible | extra
        kind = value.kind
        if kind is Kind.VARIABLE:
            variable: Variable = value.ref
            return (
                extra
                | self._watched_variable(variable)
                | (0 if variable.trainable is False or variable.integer else self.auto_watch)
            )
        if kind is Kind.VARIABLES:
            for member in value.ref.members:
                extra |= self.watched_ids.get(member, 0) | self.watched_some.get(member, 0)
            if value.ref.open_members or isinstance(value.ref.owner, Value):
                extra |= self.watched_open | (ANY_TAPE if self.watched_ids else 0)
            return extra | self.auto_watch
        if how is How.OPAQUE_CALL:
            return value.possible | extra if value.is_computed else ANY_TAPE
        if value.is_opaque or kind in (Kind.INSTANCE, Kind.LAYER, Kind.FUNCTION, Kind.LIBRARY, Kind.METHOD):
            return ANY_TAPE if kind not in (Kind.TENSOR, Kind.PLAIN) else extra
        return value.possible | extra

    def _watched_variable(self, variable: Variable) -> int:
        mask = 0
        each: HeapObject | None = variable
        while each is not None:
            mask |= self.watched_ids.get(each.id, 0)
            if isinstance(each, Variable) and not each.exact and each.owner is not None:
                mask |= self.watched_some.get(each.owner.id, 0)
            each = each.owner if isinstance(each, Variable) else None
        return mask

    def surely_tracked(self, value: Value) -> int:
        """Mask of the tapes that certainly follow this value now."""
        if value.how is How.JOIN:
            ways = alternatives(value, 8)
            sure = -1 if ways else 0
            for way in ways or ():
                sure &= self.surely_tracked(way)
            return max(sure, 0) | self.surely_watched.get(value.serial, 0)
        if value.kind is Kind.VARIABLE:
            variable: Variable = value.ref
            sure = self.auto_watch_surely if variable.trainable and not variable.integer else 0
            return sure | self.surely_watched.get(value.serial, 0)
        if value.kind is Kind.VARIABLES:
            return self.auto_watch_surely | self.surely_watched.get(value.serial, 0)
        return value.sure | self.surely_watched.get(value.serial, 0)
