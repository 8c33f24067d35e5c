"""Escaping: what code that cannot be seen has got hold of, and what can be reached from a heap object."""

from __future__ import annotations

from gradlint.flow.objects import (
    BoundMethod,
    Container,
    Function,
    HeapObject,
    Instance,
    Layer,
    LibraryMethod,
    LibraryObject,
    Partial,
    Super,
    Transformed,
    VariableSet,
)
from gradlint.flow.recording import Recording
from gradlint.flow.scopes import Frame
from gradlint.flow.store import Key
from gradlint.flow.values import How, Value


class Escaping(Recording):
    """What code that cannot be seen has got hold of."""

    def escape(self, value: Value, at: int | None = None) -> None:
        """Opaque code gets hold of the value and of all that can be reached from it."""
        when = self.clock if at is None else at
        stack = [value]
        seen: set[int] = set()
        steps = 0
        while stack and steps < 1000:
            steps += 1
            each = stack.pop()
            if each.how is How.JOIN:
                if each.serial not in seen:
                    seen.add(each.serial)
                    stack.extend(each.inputs)
                continue
            owner = each.ref
            if not isinstance(owner, HeapObject):
                if each.serial not in self.escaped_values:
                    self.escaped_values[each.serial] = when
                    if each.how in (How.OPERATION, How.GRADIENT):
                        self.escaped_tensors.append((when, each))
                    if each.possible:
                        self.escaped_recordings.append((when, each.possible))
                continue
            if owner.id in seen or (owner.escaped_at is not None and owner.escaped_at <= when and at is None):
                continue
            seen.add(owner.id)
            if owner.escaped_at is None or when < owner.escaped_at:
                owner.escaped_at = when
            stack.extend(self.reachable(owner))

    def escape_names(self) -> None:
        """Code looks names up at run time: those of the running scope and of its module may come out."""
        for frame in dict.fromkeys((self.frame, self.module)):
            for name in sorted(frame.names.local):
                value = self.store.get((frame.id, name))
                if value is not None:
                    self.escape(value)

    def cells_of(self, owner_id: int) -> list[Key]:
        """The keys of the attributes that were ever written on an object."""
        return [(owner_id, name) for name in self.attribute_names.get(owner_id, ())]

    def reachable(self, owner: HeapObject) -> list[Value]:
        """The values that one heap object holds directly."""
        match owner:
            case Container():
                cell = self.store.get((owner.id, "items"))
                held = owner.pending.held if owner.pending is not None else ()
                return [*held, *(cell.ref.elements if cell is not None else ())]
            case Instance():
                cells = (self.store.get(key) for key in self.cells_of(owner.id))
                return [value for value in cells if value is not None]
            case BoundMethod() | Super() | LibraryMethod():
                return [owner.receiver]
            case Partial():
                return [owner.function, *owner.arguments, *(value for _, value in owner.keywords)]
            case Transformed():
                return [owner.function]
            case Layer():
                cells = (self.store.get(key) for key in self.cells_of(owner.id))
                return [*owner.parts, *(value for value in cells if value is not None)]
            case LibraryObject():
                return [*owner.arguments, *(value for _, value in owner.keywords)]
            case VariableSet():
                return [owner.owner] if isinstance(owner.owner, Value) else []
            case Function():
                return self.closed_over(owner)
        return []

    def closed_over(self, function: Function) -> list[Value]:
        """The values of the free names of a function, in the frames that it closes over."""
        found: list[Value] = [*function.defaults]
        names = self.names_of(function.node).local
        for each in self.relevance.names_read(function.node):
            if each in names:
                continue
            frame: Frame | None = function.frame
            while frame is not None:
                value = self.store.get((frame.id, each))
                if value is not None:
                    found.append(value)
                    break
                frame = frame.parent
        return found
