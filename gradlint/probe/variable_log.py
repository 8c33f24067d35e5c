"""The variables that one watch saw: what optimizers got, what was masked and frozen, what moved all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gradlint.probe.applied_entries import AppliedEntries
from gradlint.probe.names import identities, own_name
from gradlint.probe.observations import MaskSeen, VariableSeen
from gradlint.probe.optimizer_features import features_that_move
from gradlint.probe.own_variables import OwnVariables
from gradlint.probe.places import Stack
from gradlint.probe.private_api import tensor_id
from gradlint.probe.value_cuts import numbers_of


class Written(Protocol):
    """Who knows what the program itself assigned to variables: the hub."""

    writes: dict[int, int]
    written_in_graphs: set[int]


class VariableLog:
    """Every variable, by the number of its resource."""

    def __init__(self, own: OwnVariables, *, entries: bool = True) -> None:
        self.entries = AppliedEntries(own)
        self._entries = entries
        self.seen: dict[int, VariableSeen] = {}
        self.updates = 0
        """How often an optimizer was applied; in a compiled function only while it is traced."""
        self.expects_sources = False
        """Is an empty list of sources a fault? To ask for no gradients is odd; to give an optimizer none is wrong."""
        self._objects: dict[int, Any] = {}
        self._optimizers: dict[int, Any] = {}
        self._started_update = False
        self._written: Written | None = None

    def made(self, variable: Any, stack: Stack) -> None:
        """A tf.Variable or keras.Variable was made."""
        try:
            seen = self.of(variable)
        except Exception:  # a Keras variable that is not built yet
            return
        seen.made = stack

    def of(self, variable: Any, number: int | None = None) -> VariableSeen:
        """What is known of this variable, of that number; it is met for the first time, perhaps."""
        number = min(identities(variable)) if number is None else number
        seen = self.seen.get(number)
        if seen is None or hasattr(variable, "path"):
            name = own_name(variable) or (seen.name if seen is not None else "")
            trainable = bool(getattr(variable, "trainable", False))
            if seen is None:
                seen = self.seen[number] = VariableSeen(name, trainable)
            seen.name = name
            self._objects[number] = variable
        seen.trainable = bool(getattr(self._objects[number], "trainable", False))
        return seen

    def set_frozen(self, variable: Any, stack: Stack, written: Written) -> None:
        """`trainable` of a variable was set to false."""
        import tensorflow as tf

        try:
            seen = self.of(variable)
            with tf.init_scope():
                seen.value_at_freeze = _value(variable)
        except Exception:  # not built yet: nothing to keep
            return
        seen.frozen_at = stack
        self._written = written
        seen.writes_at_freeze = self._count_writes(variable)

    def _count_writes(self, variable: Any) -> int:
        """How often the program itself assigned to it; what a compiled function assigns cannot be counted."""
        if self._written is None:
            return -1
        numbers = identities(variable)
        if not numbers.isdisjoint(self._written.written_in_graphs):
            return -1
        return sum(self._written.writes.get(number, 0) for number in numbers)

    def before_update(
        self,
        optimizer: Any,
        gradients: list[Any],
        variables: list[Any],
        stack: Stack,
        masks: list[tuple[int, Any, Any, Stack]],
        written: Written,
        given: Mapping[int, int],
    ) -> None:
        """An optimizer is about to be applied.

        `masks`: what the program made of gradients since the last update. `given`: of those that tapes returned, by
        their numbers, the numbers of their variables.
        """
        import tensorflow as tf

        self._written = written
        if not self._started_update:
            self._started_update = True
            with tf.init_scope():
                for number in list(self._objects):
                    self._remember(number)
        self.updates += 1
        self.expects_sources = self.expects_sources or not gradients
        for variable in variables:
            seen = self.of(variable)
            number = min(identities(variable))
            if seen.value_at_update is None:
                with tf.init_scope():
                    self._remember(number)
            if not seen.trainable and seen.value_when_frozen is None:
                with tf.init_scope():
                    seen.value_when_frozen = _value(variable)
            elif seen.trainable:
                self._compare_frozen(seen, variable)
            seen.applied = True
            seen.optimizer = type(optimizer).__name__
            seen.applied_at = stack
            self._optimizers[number] = optimizer
        numbers = {min(identities(variable)) for variable in variables}
        for variable, gradient in zip(variables, gradients, strict=False):
            number = min(identities(variable))
            whose = given.get(tensor_id(gradient), number)
            if whose != number and whose in numbers:  # first-order meta-learning pairs two models, and is right
                self.seen[number].updated_with = self.seen[whose].name
            if self._entries:
                self.entries.note(number, gradient, given)
            if tf.executing_eagerly():
                self._note_mask(self.seen[number], variable, gradient, [m for m in masks if m[0] == number])

    def _note_mask(
        self, seen: VariableSeen, variable: Any, applied: Any, masks: list[tuple[int, Any, Any, Stack]]
    ) -> None:
        """Entries of the gradient were set to zero: they are to stay, as long as that goes on."""
        for _, gradient, result, stack in masks:
            before, after = numbers_of(gradient), numbers_of(result)
            if before is None or after is None or after.shape != before.shape or not stack:
                continue
            masked = (after == 0) & (before != 0)
            if not masked.any() or masked.all():
                continue
            if seen.mask is None:
                value = _value(variable)
                if value is None or value.shape != masked.shape:
                    return
                seen.mask = MaskSeen(stack[0], value, masked, after != 0)
            seen.mask.masked = seen.mask.masked | masked
            seen.mask.passed = seen.mask.passed | (after != 0)
            seen.mask.updates += 1
            got = numbers_of(applied)
            if got is not None and got.shape == masked.shape and bool((got[masked] != 0).any()):
                seen.mask.bypassed = True
            return
        if seen.mask is not None and not seen.mask.moved:
            self._close_mask(seen, variable)
            seen.mask = seen.mask if seen.mask.moved else None

    def _close_mask(self, seen: VariableSeen, variable: Any) -> None:
        mask, after = seen.mask, _value(variable)
        if mask is None or mask.updates < 2 or after is None or after.shape != mask.masked.shape:
            return
        mask.moved = int(((after != mask.value) & mask.masked & ~mask.passed).sum())

    def optimizer_of(self, number: int) -> Any:
        """The optimizer that last got the variable of this number, or None."""
        return self._optimizers.get(number)

    def after_update(self, variables: list[Any]) -> None:
        """An optimizer was applied to these."""
        import tensorflow as tf

        if tf.executing_eagerly():
            for variable in variables:
                seen = self.of(variable)
                if not seen.trainable:
                    self._compare_frozen(seen, variable)

    def _compare_frozen(self, seen: VariableSeen, variable: Any) -> None:
        """Did it move since an optimizer got it while frozen? Then start anew."""
        import tensorflow as tf

        before, seen.value_when_frozen = seen.value_when_frozen, None
        if before is None:
            return
        with tf.init_scope():
            after = _value(variable)
        if after is not None and after.shape == before.shape and bool((after != before).any()):
            seen.moved_when_frozen = True

    def _remember(self, number: int) -> None:
        seen = self.seen[number]
        value = _value(self._objects[number])
        if value is not None:
            seen.value_at_update = value
            seen.writes_at_update = self._count_writes(self._objects[number])

    def _compare_since_freeze(self, seen: VariableSeen, variable: Any) -> None:
        """Frozen, written by no line of the program since, and yet another: a compiled step went on training it."""
        after = _value(variable)
        if bool(getattr(variable, "trainable", True)) or after is None or after.shape != seen.value_at_freeze.shape:
            return
        if seen.applied and self._count_writes(variable) == seen.writes_at_freeze >= 0:
            seen.moved_when_frozen = seen.moved_when_frozen or bool((after != seen.value_at_freeze).any())

    def close(self, of_tapes: Mapping[int, Any]) -> None:
        """Say what moved until the end. `of_tapes`: per variable the entries that ever got a gradient from a tape."""
        for number, seen in self.seen.items():
            if not bool(getattr(self._objects[number], "trainable", True)):
                self._compare_frozen(seen, self._objects[number])
            if seen.mask is not None and not seen.mask.moved:
                self._close_mask(seen, self._objects[number])
            if seen.value_at_freeze is not None:
                self._compare_since_freeze(seen, self._objects[number])
            if seen.value_at_update is None:
                continue
            after = _value(self._objects[number])
            if after is None or after.shape != seen.value_at_update.shape:
                continue
            seen.features = features_that_move(self.optimizer_of(number), self._objects[number])
            changed = after != seen.value_at_update
            seen.moved = bool(changed.any())
            if seen.moved and self._count_writes(self._objects[number]) == seen.writes_at_update >= 0:
                self._note_without_gradient(seen, changed, of_tapes.get(number), number)

    def _note_without_gradient(self, seen: VariableSeen, changed: Any, of_tape: Any, number: int) -> None:
        """Entries that changed although every optimizer got zero for them, each time."""
        ever = self.entries.ever(number, of_tape)
        if ever is None or ever.shape != changed.shape:
            return
        changed = changed & ~ever
        masked = int((changed & of_tape).sum()) if of_tape is not None and of_tape.shape == changed.shape else 0
        stack = self.entries.masked_at.get(number, ())
        if seen.mask is None and masked and stack and ever.any():
            seen.mask = MaskSeen(stack[0], seen.value_at_update, ~ever, ever, moved=masked)
        elif seen.mask is None:
            seen.moved_without_gradient = int(changed.sum())


def _value(variable: Any) -> Any:
    try:
        value = variable.numpy()
    except Exception:  # made in a graph, or not built yet: nothing to compare
        return None
    return value if getattr(value, "dtype", None) is not None and value.dtype.kind in "fciub" else None
