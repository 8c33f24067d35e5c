"""The interpreter's state and its primitives: making values, joining them, escape, fuel, frames.

Statements, expressions, calls and library models are in their own modules and are given the
interpreter; they change the world only through the methods here. Nothing here knows a rule.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Container,
    Function,
    HeapObject,
    Instance,
    Items,
    Layer,
    LibraryMethod,
    LibraryObject,
    Partial,
    Super,
    Tape,
    Transformed,
    Variable,
    VariableSet,
)
from gradlint.flow.relevance import Relevance
from gradlint.flow.scopes import Frame, Names, Scope, names_of
from gradlint.flow.store import Delta, Key, Store
from gradlint.flow.values import ANY_TAPE, NONE, DType, How, Kind, Value, alternatives, is_literal
from gradlint.verdicts import Cause

#: Evaluations (never seconds, so that every machine reports the same).
FUEL_PER_ENTRY = 60_000
FUEL_PER_FILE = 1_500_000
MOST_DEPTH = 14
MOST_LEAVES = 64

RECORDING: Key = (0, "recording")


class OutOfFuel(Exception):
    """The entry function has used its evaluations."""


@dataclass(eq=False, slots=True)
class Exits:
    """Where `break`, `continue` and `return` of a running loop or function leave their cells."""

    level: int
    pass_level: int = 0
    tapes_open: int = 0
    breaks: list[Delta] = field(default_factory=list)
    continues: list[Delta] = field(default_factory=list)
    returns: list[tuple[Value, Delta]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    on_yield: Any = None


@dataclass(eq=False)
class Interpreter:
    """Runs one module abstractly. `asked` is what it leaves behind for `gradients.py`.

    Evaluating and calling need each other; the lower modules reach the higher ones through the four
    attributes below, which `flow/__init__.py` fills in, so that imports point one way.
    """

    tree: ast.Module
    relevance: Relevance

    evaluate: Callable[[ast.AST], Value] = field(init=False)
    run_body: Callable[[Sequence[ast.stmt]], None] = field(init=False)
    call: Callable[[Value, Any, ast.AST], Value] = field(init=False)
    get_attribute: Callable[[Value, str, ast.AST], Value] = field(init=False)
    store: Store = field(default_factory=Store)
    clock: int = 0
    havoc: int = -1
    havocs: list[int] = field(default_factory=list)
    fuel: int = FUEL_PER_ENTRY
    fuel_left: int = FUEL_PER_FILE
    alive: bool = True
    tapes: list[Tape] = field(default_factory=list)
    auto_watch: int = 0
    auto_watch_surely: int = 0
    watched: dict[int, int] = field(default_factory=dict)
    surely_watched: dict[int, int] = field(default_factory=dict)
    # tapes that watch a set of variables of which not all are known
    watched_open: int = 0
    # by id of a variable or of the owner of all of its variables
    watched_ids: dict[int, int] = field(default_factory=dict)
    # by id of an owner of which some variable is watched
    watched_some: dict[int, int] = field(default_factory=dict)
    watch_nodes: dict[tuple[int, int], ast.AST] = field(default_factory=dict)
    written_at: dict[Key, int] = field(default_factory=dict)
    attribute_names: dict[int, dict[object, None]] = field(default_factory=dict)
    loops: list[Exits] = field(default_factory=list)
    calls: list[Exits] = field(default_factory=list)
    # tapes to clear, then to set surely and possibly
    open_withs: list[tuple[int, int, int]] = field(default_factory=list)
    peeled: int = 0
    doubt: int = 0
    joined: int = 0
    loop_depth: int = 0
    perhaps_cached: dict[Key, Value] = field(default_factory=dict)
    # enclosing blocks whose author expects an error
    expected: int = 0
    asked: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    stack: list[tuple[ast.AST, int]] = field(default_factory=list)
    entered: set[ast.AST] = field(default_factory=set)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    open_instances: dict[int, Value] = field(default_factory=dict)
    unknown_globals: dict[str, Value] = field(default_factory=dict)
    member_values: dict[tuple[int, str], Value] = field(default_factory=dict)
    names: dict[ast.AST, Names] = field(default_factory=dict)
    eager: bool | None = True
    keras_3: bool = True
    differentiable: frozenset[str] = frozenset()
    nondifferentiable: frozenset[str] = frozenset()
    open_code: bool = False
    star_imports: list[str] = field(default_factory=list)
    # variables and layers that are attributes on some ways only
    doubtful: set[int] = field(default_factory=set)
    objects: dict[int, HeapObject] = field(default_factory=dict)
    layer_values: dict[int, Value] = field(default_factory=dict)
    value_of: dict[int, Value] = field(default_factory=dict)
    # values kept as attributes
    held: set[int] = field(default_factory=set)
    # values kept on an object or in a list, with the frame that did it
    stored: dict[int, Frame] = field(default_factory=dict)
    # computed tensors that strangers got hold of: what they compute later may use them
    escaped_tensors: list[tuple[int, Value]] = field(default_factory=list)
    escaped_values: dict[int, int] = field(default_factory=dict)
    # clock, tapes: strangers got a recorded value
    escaped_recordings: list[tuple[int, int]] = field(default_factory=list)
    gave_up: list[tuple[ast.AST, str]] = field(default_factory=list)
    module: Frame = field(init=False)
    next_id: int = 2
    frame: Frame = field(init=False)

    def __post_init__(self) -> None:
        self.module = Frame(1, None, None, None, None, self.names_of(self.tree), name="<module>")
        self.frame = self.module
        self.store.cells[RECORDING] = Value(Kind.LITERAL, How.FRESH, 0, ref=(0, 0))

    # -- identity and fuel ---------------------------------------------------------------------

    def new_id(self) -> int:
        """A fresh id for a frame or heap object."""
        self.next_id += 1
        return self.next_id

    def tick(self) -> int:
        """Advance the clock: the serial number of a new value."""
        self.clock += 1
        return self.clock

    def burn(self) -> None:
        """Use one evaluation.

        Raises:
            OutOfFuel: nothing is left for this entry or this file.
        """
        self.fuel -= 1
        if self.fuel <= 0:
            raise OutOfFuel

    def names_of(self, scope: Scope) -> Names:
        """The names that a scope binds, remembered for this file."""
        names = self.names.get(scope)
        if names is None:
            names = self.names[scope] = names_of(scope)
        return names

    # -- tapes ---------------------------------------------------------------------------------

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
            if value.ref.open_members:
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

    # -- making values -------------------------------------------------------------------------

    def leaves(self, value: Value) -> tuple[Value, ...]:
        """The tensors, variables and unknowns inside a value, containers taken apart."""
        if value.kind not in (Kind.CONTAINER, Kind.LITERAL, Kind.UNKNOWN) or value.is_opaque:
            return (value,)
        found: list[Value] = []
        seen: set[int] = set()
        stack = [value]
        while stack and len(found) < MOST_LEAVES:
            each = stack.pop()
            if each.kind is Kind.CONTAINER:
                if each.ref.id not in seen:
                    seen.add(each.ref.id)
                    stack.extend(reversed(self.items(each).elements))
            elif each.how is How.JOIN and each.kind is Kind.UNKNOWN:
                if each.serial not in seen:
                    seen.add(each.serial)
                    found.append(each)
            elif each.kind is not Kind.LITERAL:
                found.append(each)
        return tuple(found)

    def operation(
        self,
        node: ast.AST | None,
        inputs: Iterable[Value],
        *,
        label: str,
        dead: Iterable[tuple[Value, Cause]] = (),
        kind: Kind = Kind.TENSOR,
        how: How = How.OPERATION,
        ref: Any = None,
        dtype: DType = DType.UNKNOWN,
        shape: tuple[int | None, ...] | None = None,
    ) -> Value:
        """The result of a known operation. Gradients pass to `inputs`, and not to `dead`."""
        flat: list[Value] = []
        followed = surely = 0
        for value in inputs:
            for leaf in self.leaves(value):
                if leaf.kind is Kind.LITERAL or (leaf.kind is Kind.PLAIN and not leaf.dead):
                    continue
                taken = self._read_now(leaf, node) if leaf.kind in (Kind.VARIABLE, Kind.VARIABLES) else leaf
                flat.append(taken)
                followed |= self.tracked(taken)
                surely |= self.surely_tracked(taken)
        sure, possible = self.recording()
        made = Value(
            kind,
            how,
            self.tick(),
            ref=ref,
            inputs=tuple(flat),
            dead=tuple((leaf, cause) for value, cause in dead for leaf in self.leaves(value)),
            possible=possible & followed,
            sure=sure & surely,
            node=node,
            frame=self.frame,
            label=label,
            dtype=dtype,
            shape=shape,
        )
        if possible & ~followed:
            # Not recorded, because what a call returned is taken for a tensor: nearly always, not surely.
            made.assumed = any(
                leaf.how is How.OPAQUE_CALL and leaf.label == "call" and not leaf.assumed for leaf in flat
            )
        made.assumed = made.assumed or any(leaf.assumed and leaf.how is How.OPERATION for leaf in flat)
        return made

    def _read_now(self, variable: Value, node: ast.AST | None) -> Value:
        """The value read out of a variable, where not every recording tape follows it: a later watch does not help."""
        sure, possible = self.recording()
        followed, surely = self.tracked(variable), self.surely_tracked(variable)
        if possible & followed == possible and sure & surely == sure:
            return variable
        return Value(
            Kind.TENSOR, How.OPERATION, self.tick(), inputs=(variable,), possible=possible & followed,
            sure=sure & surely, node=node, frame=self.frame, label="read",
        )  # fmt: skip

    def fresh(self, kind: Kind, node: ast.AST | None = None, *, ref: Any = None, label: str = "") -> Value:
        """A value made from nothing that carries a gradient."""
        if isinstance(ref, HeapObject):
            self.objects[ref.id] = ref
            if isinstance(ref, Variable):
                made = Value(kind, How.FRESH, self.tick(), ref=ref, node=node, frame=self.frame, label=label)
                self.value_of.setdefault(ref.id, made)
                return made
        return Value(kind, How.FRESH, self.tick(), ref=ref, node=node, frame=self.frame, label=label)

    def plain(self, node: ast.AST | None = None, inputs: Iterable[Value] = (), cause: Cause | None = None) -> Value:
        """A Python or NumPy object; `inputs` are the tensors whose numbers it holds, cut off by `cause`."""
        value = self.fresh(Kind.PLAIN, node)
        if cause is not None:
            value.dead = tuple((leaf, cause) for each in inputs for leaf in self.leaves(each))
        return value

    def parameter(self, name: str, node: ast.AST | None = None) -> Value:
        """An unknown given from outside; what it holds has always been known to strangers."""
        return Value(
            Kind.UNKNOWN,
            How.PARAMETER,
            self.tick(),
            node=node,
            frame=self.frame,
            label=name,
            because=f"`{name}` is given from outside",
        )

    def part(self, base: Value, node: ast.AST | None, *, item: bool = False) -> Value:
        """Something read out of an unknown: an attribute, or (`item`) an element."""
        if item and base.how is How.OPAQUE_CALL and base.is_computed:
            return Value(
                Kind.UNKNOWN, How.OPAQUE_CALL, self.tick(), inputs=(base,), possible=base.possible,
                node=node, frame=self.frame, label=base.label, because=base.because, root=base,
            )  # fmt: skip
        return Value(
            Kind.UNKNOWN, How.PART, self.tick(), inputs=(base,), node=node, frame=self.frame,
            root=base.root if base.root is not None else base, because=base.because, label="part",
        )  # fmt: skip

    def opaque_call(
        self,
        node: ast.AST | None,
        inputs: Iterable[Value],
        because: str,
        *,
        getter: bool = False,
        computes: bool = False,
    ) -> Value:
        """The result of code that cannot be seen: everything handed to it escapes, any open tape may record it."""
        held = tuple(inputs)
        for value in held:
            self.escape(value)
        self.havoc = self.tick()
        self.havocs.append(self.havoc)
        if self.recording()[1]:
            self.escaped_recordings.append((self.havoc, self.recording()[1]))
        value = Value(
            Kind.UNKNOWN, How.OPAQUE_CALL, self.tick(), inputs=held, possible=self.all_tapes(),
            node=node, frame=self.frame, label="getter" if getter else "call", because=because,
        )  # fmt: skip
        if computes:
            # Named like a loss or a model: it computes now, and does not hand out what was kept.
            value.possible = self.recording()[1]
            value.label, value.assumed = "call", True
        return value

    def unknown(self, node: ast.AST | None, because: str, inputs: Iterable[Value] = ()) -> Value:
        """A value that the analysis gave up on: it may be anything that has escaped, variables included."""
        return self.opaque_call(node, inputs, because, getter=True)

    # -- containers ----------------------------------------------------------------------------

    def container(self, type_: str, items: Items, node: ast.AST | None = None) -> Value:
        """A new list, tuple, dict or set."""
        made = Container(self.new_id(), type_)
        value = self.fresh(Kind.CONTAINER, node, ref=made)
        self.set_items(value, items)
        return value

    def items(self, value: Value) -> Items:
        """What a container holds now."""
        made: Container = value.ref
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

    def unknown_global(self, name: str, because: str) -> Value:
        """One and the same unknown for one name."""
        value = self.unknown_globals.get(name)
        if value is None:
            value = self.unknown_globals[name] = Value(
                Kind.UNKNOWN, How.PARAMETER, 0, frame=self.module, label=name, because=because
            )
        return value

    def state_unknown(self, name: str, because: str, node: ast.AST | None) -> Value:
        """An unknown read out of state that others may have written: the same root, read now."""
        root = self.unknown_global(name, because)
        return Value(
            Kind.UNKNOWN, How.PART, self.tick(), inputs=(root,), node=node, frame=self.frame, label="part",
            because=because, root=root,
        )  # fmt: skip

    # -- attributes ----------------------------------------------------------------------------

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
            for kept in self.leaves(value):
                self.stored.setdefault(kept.serial, self.frame)
            self.held.add(value.serial)
            function = self.frame.function
            if value.how is How.OPAQUE_CALL and function is not None and function.name in ("__init__", "build"):
                value.label = "getter"  # what a constructor keeps is rather an object or a variable
        key = (owner.id, name)
        self.attribute_names.setdefault(owner.id, {})[name] = None
        self.store.set(key, value)
        self.written_at[key] = self.tick()

    def keep(self, value: Value) -> None:
        """A cache keeps the value: the place to change is where it is computed, not where it is fetched."""
        if value.frame is not None:
            self.stored.setdefault(value.serial, value.frame)
        self.held.add(value.serial)

    # -- escape --------------------------------------------------------------------------------

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

    def cells_of(self, owner_id: int) -> list[Key]:
        """The keys of the attributes that were ever written on an object."""
        return [(owner_id, name) for name in self.attribute_names.get(owner_id, ())]

    def reachable(self, owner: HeapObject) -> list[Value]:
        """The values that one heap object holds directly."""
        match owner:
            case Container():
                cell = self.store.get((owner.id, "items"))
                return list(cell.ref.elements) if cell is not None else []
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

    # -- joins ---------------------------------------------------------------------------------

    def join(self, values: list[Value]) -> Value:
        """One value for several ways."""
        different: list[Value] = []
        for value in values:
            if not any(value is other or _same(value, other) for other in different):
                different.append(value)
        if len(different) == 1:
            return different[0]
        if all(isinstance(value.ref, Items) for value in different):
            return Value(Kind.LITERAL, How.FRESH, 0, ref=self.join_items([value.ref for value in different]))
        kinds = {value.kind for value in different}
        refs = {id(value.ref) for value in different if value.ref is not None}
        one = different[0]
        return Value(
            one.kind if len(kinds) == 1 and (len(refs) <= 1 or one.kind is Kind.TENSOR) else Kind.UNKNOWN,
            How.JOIN,
            self.tick(),
            ref=one.ref if len(refs) == 1 and len(kinds) == 1 else None,
            inputs=tuple(different),
            node=one.node,
            frame=self.frame,
            label="join",
            dtype=one.dtype if all(value.dtype is one.dtype for value in different) else DType.UNKNOWN,
        )

    def alike(self, left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
        """Whether two rows of values are surely the same objects or equal constants."""
        return len(left) == len(right) and all(a is b or _same(a, b) for a, b in zip(left, right, strict=True))

    def join_items(self, contents: list[Items]) -> Items:
        """One content for several ways: by position or key where they agree in shape."""
        first = contents[0]
        if all(
            each.exact and each.keys == first.keys and len(each.elements) == len(first.elements) for each in contents
        ):
            columns = zip(*(each.elements for each in contents), strict=True)
            return Items(tuple(self.join(list(column)) for column in columns), first.keys, exact=True)
        every = [element for each in contents for element in each.elements]
        return Items((self.join(every),) if every else (), None, exact=False)

    def merge(self, arms: list[Delta]) -> None:
        """Write the join of the arms of a branch; the current cells are those from before it."""
        if not arms:
            self.alive = False
            return
        self.alive = True
        if len(arms) == 1:
            self.store.apply(arms[0])
            return
        keys: dict[Key, None] = {}
        for arm in arms:
            for key in arm:
                keys[key] = None
        for key in keys:
            before = self.store.get(key)
            found = [arm.get(key, before) for arm in arms]
            bound = [value for value in found if value is not None]
            if not bound:
                self.store.set(key, None)
            elif key == RECORDING:
                sure, possible = -1, 0
                for value in bound:
                    sure, possible = sure & value.ref[0], possible | value.ref[1]
                self.set_recording(max(sure, 0), possible)
            else:
                if len(bound) < len(found) and key[0] in self.attribute_names:
                    # An attribute that one way does not set: what it holds may not belong to the object.
                    self.doubtful.update(value.ref.id for value in bound if isinstance(value.ref, HeapObject))
                if len(bound) < len(found) and isinstance(key[1], str) and key[1].startswith("<cached"):
                    # Cached on some ways only: the next call may compute it, or fetch this.
                    self.perhaps_cached[key] = self.join(bound)
                    self.store.set(key, None)
                else:
                    self.store.set(key, self.join(bound))

    # -- running -------------------------------------------------------------------------------

    def abandon(self) -> None:
        """Out of fuel: drop what the entry was doing, keep what it had asked."""
        while self.store.level:
            self.store.end()
        self.store.forget_watchers()
        self.frame, self.loops, self.calls, self.open_withs, self.stack = self.module, [], [], [], []
        self.expected = self.doubt = self.peeled = self.loop_depth = self.joined = 0
        self.alive = True
        self.set_recording(0, 0)

    def capture(self, exits: Exits, level: int) -> Delta:
        """The cells to leave at an exit: every `with` passed on the way closes its tape."""
        delta = self.store.capture(level)
        if len(self.open_withs) > exits.tapes_open:
            sure, possible = self.recording()
            for clear, set_sure, set_possible in reversed(self.open_withs[exits.tapes_open :]):
                sure, possible = (sure & ~clear) | set_sure, (possible & ~clear) | set_possible
            delta[RECORDING] = Value(Kind.LITERAL, How.FRESH, 0, ref=(sure, possible))
        return delta

    def branch_exits(self) -> int:
        """How many exits the running loops and call have seen: grows when an arm leaves."""
        total = sum(len(loop.breaks) + len(loop.continues) for loop in self.loops)
        return total + (len(self.calls[-1].returns) if self.calls else 0)


@contextmanager
def expecting_errors(it: Interpreter, *, tells: bool) -> Iterator[None]:
    """Run a block; with `tells`, what it raises is no news to its author."""
    it.expected += tells
    yield
    it.expected -= tells


def _same(left: Value, right: Value) -> bool:
    if left.kind is Kind.LITERAL and right.kind is Kind.LITERAL:
        if isinstance(left.ref, Items) or isinstance(right.ref, Items):
            return False
        return type(left.ref) is type(right.ref) and bool(left.ref == right.ref)
    if left.kind is Kind.SYMBOL and right.kind is Kind.SYMBOL:
        return bool(left.ref == right.ref)
    if left.kind is right.kind and left.kind in (Kind.INSTANCE, Kind.LAYER, Kind.TAPE, Kind.CONTAINER, Kind.VARIABLE):
        return left.ref is not None and left.ref is right.ref
    return False


__all__ = ["NONE", "Exits", "Interpreter", "OutOfFuel", "is_literal"]
