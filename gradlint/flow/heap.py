"""Heap: contents of containers and attributes of objects, with what strangers may have written there."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.flow.joining import Joining
from gradlint.flow.objects import (
    Container,
    HeapObject,
    Instance,
    Items,
    Pending,
)
from gradlint.flow.values import How, Kind, Value, alternatives

MOST_LEAVES = 64


class Heap(Joining):
    """Contents of containers and attributes of objects."""

    def leaves(self, value: Value, *, draws: bool = True) -> tuple[Value, ...]:
        """The tensors, variables and unknowns inside a value, containers taken apart.

        That consumes what is lazy, unless it only looks (`draws` False).
        """
        return self._leaves(value, draws, set())

    def _leaves(self, value: Value, draws: bool, joins: set[int]) -> tuple[Value, ...]:
        """The same; `joins` are those that are being taken apart: a list that a loop fills may hold itself."""
        if value.kind not in (Kind.CONTAINER, Kind.LITERAL, Kind.UNKNOWN) or value.is_opaque:
            return (value,)
        found: list[Value] = []
        seen: set[int] = set()
        stack = [value]
        while stack and len(found) < MOST_LEAVES:
            each = stack.pop()
            if each.kind is Kind.CONTAINER:
                if not draws and self.is_waiting(each):
                    found.append(each)
                elif each.ref.id not in seen:
                    seen.add(each.ref.id)
                    stack.extend(reversed(self.items(each).elements))
            elif each.how is How.JOIN and each.kind is Kind.UNKNOWN:
                if each.serial not in seen:
                    seen.add(each.serial)
                    found.append(self._one_leaf(each, draws, joins))
            elif each.kind is not Kind.LITERAL:
                found.append(each)
        return tuple(found)

    def _one_leaf(self, value: Value, draws: bool, joins: set[int]) -> Value:
        """One of several values; of those that are containers one of what they hold."""
        ways = alternatives(value, 8) if value.serial not in joins else None
        if ways is None or value.label == "loop" or all(way.kind is not Kind.CONTAINER for way in ways):
            return value
        joins = joins | {value.serial}
        inner = [leaf for way in ways for leaf in self._leaves(way, draws, joins) if leaf is not value]
        return self.join(inner) if inner else value

    def container(self, type_: str, items: Items, node: ast.AST | None = None) -> Value:
        """A new list, tuple, dict or set."""
        made = Container(self.new_id(), type_)
        value = self.fresh(Kind.CONTAINER, node, ref=made)
        self.set_items(value, items)
        return value

    def is_waiting(self, value: Value) -> bool:
        """Whether this is a generator, a `map` and the like of which nothing has run yet."""
        if value.kind is not Kind.CONTAINER or not isinstance(value.ref, Container) or value.ref.pending is None:
            return False
        return self.store.get((value.ref.id, "items")) is None

    def _drawn(self, value: Value, pending: Pending) -> Items:
        """What a lazy value yields: its code runs when it is first consumed, under the tapes that are open there.

        Consumed again under others it is an unknown: no telling how far it had got.
        """
        made: Container = value.ref
        key, at = (made.id, "items"), (made.id, "<drawn>")
        if self.is_waiting(value):
            if self.is_over or not self.alive or made.id in self.drawing:
                return Items(exact=False)
            self.drawing.add(made.id)
            try:
                items = pending.run()
            finally:
                self.drawing.discard(made.id)
            self.store.set(at, Value(Kind.LITERAL, How.FRESH, 0, ref=self.recording()))
            self.set_items(value, items)
        before, cell = self.store.get(at), self.store.get(key)
        known = self.is_over or (before is not None and before.how is How.FRESH and before.ref == self.recording())
        if known and cell is not None and isinstance(cell.ref, Items):
            return cell.ref
        for each in pending.held:
            self.escape(each)
        because = "a generator that is consumed in parts"
        return Items((self.state_unknown(f"<elements of {made.id}>", because, value.node),), None, exact=False)

    def items(self, value: Value) -> Items:
        """What a container holds now. Of a lazy value that is what consuming it here yields."""
        made: Container = value.ref
        if made.pending is not None:
            return self._drawn(value, made.pending)
        cell = self.store.get((made.id, "items"))
        items = cell.ref if cell is not None else Items(exact=False)
        assert isinstance(items, Items)
        if made.escaped_at is not None and made.type != "tuple" and made.escaped_at <= self.havoc:
            if self.written_at.get((made.id, "items"), 0) <= self.havoc:
                stranger = self.unknown_global(f"<elements of {made.id}>", "a container that other code holds")
                return Items((*items.elements, stranger), None, exact=False)
        return items

    def set_items(self, value: Value, items: Items) -> None:
        """Replace what a container holds."""
        made: Container = value.ref
        if made.escaped_at is not None:
            for element in items.elements:
                self.escape(element)
        if len(items.elements) > MOST_LEAVES:
            some = items.elements[:MOST_LEAVES]
            items = Items((*some, self.join(list(items.elements[MOST_LEAVES:]))), None, exact=False)
        key = (made.id, "items")
        self.store.set(key, Value(Kind.LITERAL, How.FRESH, 0, ref=items))
        self.written_at[key] = self.tick()

    def tuple_of(self, values: Iterable[Value], node: ast.AST | None = None) -> Value:
        """A tuple of known length."""
        return self.container("tuple", Items(tuple(values)), node)

    def list_of(self, values: Iterable[Value], node: ast.AST | None = None, *, exact: bool = True) -> Value:
        """A list, of known length unless told otherwise."""
        return self.container("list", Items(tuple(values), None, exact), node)

    def read_cell(self, owner: HeapObject, name: object) -> Value | None:
        """The cell of an attribute; joined with an unknown where strangers may have rewritten it."""
        key = (owner.id, name)
        value = self.store.get(key)
        if value is None:
            return None
        escaped = owner.escaped_at
        if escaped is not None and escaped <= self.havoc and self.written_at.get(key, 0) <= self.havoc:
            if value.kind in (Kind.FUNCTION, Kind.CLASS, Kind.LAYER, Kind.INSTANCE, Kind.VARIABLE):
                return value  # rebinding a layer or variable from outside is rare enough to neglect
            if isinstance(owner, Instance) and str(name) not in self.relevance.assigned_outside_init:
                return value
            stranger = self.unknown_global(f"<{owner.id}.{name}>", f"`{name}` of an object that other code holds")
            return self.join([value, stranger])
        return value

    def write_cell(self, owner: HeapObject, name: object, value: Value) -> None:
        """Set an attribute."""
        if owner.escaped_at is not None:
            self.escape(value)
        if isinstance(owner, Instance):
            for kept in self.leaves(value, draws=False):
                self.note_stored(kept)
            self.held.add(value.serial)
            function = self.frame.function
            if value.how is How.OPAQUE_CALL and function is not None and function.name in ("__init__", "build"):
                value.label = "getter"  # what a constructor keeps is rather an object or a variable
        key = (owner.id, name)
        self.attribute_names.setdefault(owner.id, {})[name] = None
        self.store.set(key, value)
        self.written_at[key] = self.tick()

    def note_stored(self, value: Value) -> None:
        """Something keeps the value beyond the running call; of one that depends on the way, each that it may be."""
        for way in (value, *(alternatives(value, 8) or ())):
            self.stored.setdefault(way.serial, self.frame)

    def keep(self, value: Value) -> None:
        """A cache keeps the value: the place to change is where it is computed, not where it is fetched."""
        if value.frame is not None:
            self.stored.setdefault(value.serial, value.frame)
        self.held.add(value.serial)
