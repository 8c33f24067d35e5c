"""The Keras layers that one watch saw: where they were made, who called them, who counts their variables."""

from __future__ import annotations

import weakref
from typing import Any

from gradlint.probe.names import identities
from gradlint.probe.observations import LayerSeen
from gradlint.probe.places import Stack, here
from gradlint.probe.private_api import handles_of


class LayerLog:
    """Every layer that was made."""

    def __init__(self) -> None:
        self.seen: list[LayerSeen] = []
        self._by_layer: weakref.WeakKeyDictionary[Any, LayerSeen] = weakref.WeakKeyDictionary()
        self._owners: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._called_by: set[tuple[int, int]] = set()
        self._children: list[tuple[Any, LayerSeen]] = []

    def made(self, layer: Any, stack: Stack, made_in: tuple[int, int] | None, owner: Any) -> None:
        """A Keras layer was made: in the `call` of another, under a tape, by the constructor of its owner."""
        seen = LayerSeen(str(getattr(layer, "name", "")), type(layer).__name__, stack, made_in=made_in)
        self.seen.append(seen)
        if owner is not None:
            try:
                self._owners[layer] = weakref.ref(owner)
            except TypeError:
                return
        try:
            self._by_layer[layer] = seen
        except TypeError:
            return

    def called(self, layer: Any, outermost: Any) -> None:
        """A Keras layer was called, by the program or somewhere inside the call of another one."""
        try:
            seen = self._by_layer.get(layer)
        except TypeError:
            return
        if seen is None:
            return
        seen.called += 1
        if not seen.variables:
            try:
                own = list(layer.trainable_variables)
                if not all(handles_of(variable) for variable in own):  # a symbolic call: nothing is made yet
                    return
                seen.variables = tuple(min(identities(variable)) for variable in own)
            except Exception:  # not built
                return
        if outermost is not None and seen.variables and (id(outermost), id(seen)) not in self._called_by:
            self._called_by.add((id(outermost), id(seen)))
            seen.called_at = here()
            self._children.append((weakref.ref(outermost), seen))

    def close(self) -> None:
        """Say which layers no owner counts among its own."""
        for parent, seen in self._children:
            caller = parent()
            if caller is None:
                continue
            try:
                tracked = {min(identities(variable)) for variable in caller.variables}
            except Exception:
                continue
            if tracked and tracked.isdisjoint(seen.variables or ()):
                seen.is_untracked, seen.parent = True, str(getattr(caller, "name", ""))
        for layer, owner in list(self._owners.items()):
            made = self._by_layer.get(layer)
            by = self._by_layer.get(owner()) if owner() is not None else None
            if made is not None and by is not None and not bool(getattr(layer, "built", True)):
                made.owner_called = by.called > 0
