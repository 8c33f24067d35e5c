"""Heap objects: what `Value.ref` points at. Identity and class only; contents live in `store.py`.

Every object has an `id` from the interpreter's counter, never `id()`, so that the order of
findings cannot depend on the machine.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradlint.flow.scopes import Frame
    from gradlint.flow.sources import Source
    from gradlint.flow.values import Value


#: The cell of an object that holds the library model which its constructor made of it: functional or Sequential.
FUNCTIONAL = "<functional>"


@dataclass(eq=False, slots=True)
class HeapObject:
    """Anything with identity. `escaped_at` is the clock at which opaque code got hold of it."""

    id: int
    escaped_at: int | None = field(default=None, init=False)


@dataclass(eq=False, slots=True)
class Variable(HeapObject):
    """A tf.Variable or keras.Variable. `trainable` is None when it cannot be told.

    `owner` is set for a variable of a layer that was not made in sight (`layer.kernel`); with
    `exact` False it stands for any one of its owner's variables.
    """

    name: str
    keras: bool
    trainable: bool | None
    node: ast.AST | None
    owner: HeapObject | None = None
    exact: bool = True
    integer: bool = False
    within: VariableSet | None = None  # of any one variable of a set: the set
    bound: str = ""  # the first name that it was bound to
    initial: Value | None = None  # what it was made with, where that is in sight


@dataclass(eq=False, slots=True)
class VariableSet(HeapObject):
    """`owner.trainable_variables` and its likes: an ordered set known by its owner alone."""

    owner: HeapObject | Value
    attribute: str
    members: frozenset[int] = frozenset()
    open_members: bool = False
    bounds: tuple[object, object, object] | None = None  # of a slice of it, or of another order
    frozen: frozenset[int] = frozenset()  # members that were not trainable when it was read
    unbuilt: ast.AST | None = None  # where it was read, when some layers had no variables yet
    late: frozenset[int] = frozenset()  # of those: the layers, when others had variables already
    captured: int = 0  # the clock when it was read: what is frozen later is in it all the same


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """What a generator, a generator expression or a `map` will do when it is consumed, and what it holds until then."""

    run: Callable[[], Items]
    held: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class Container(HeapObject):
    """list, tuple, dict, set. Contents: store cell (id, "items"), an `Items` as the `ref` of its value."""

    type: str
    fields: tuple[str, ...] = ()  # of a named tuple
    lazy: bool = False  # a `zip`: gone through once, it is empty
    leading: int = 0  # of a tuple that is not exact: so many elements are the first ones
    pending: Pending | None = None  # nothing of it runs before it is consumed


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Contents of a container: by position or key, and what other elements there may be.

    `exact` is True when `elements` is everything, in order. `keys` is parallel to `elements` for dicts.
    `ordered`: not exact, but in order: an element may be a symbolic set of variables, or one gradient for each of them.
    """

    elements: tuple[Value, ...] = ()
    keys: tuple[object, ...] | None = None
    exact: bool = True
    ordered: bool = False


@dataclass(eq=False, slots=True)
class Function(HeapObject):
    """A def or lambda together with the frame that it closes over."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Frame
    defaults: tuple[Value, ...]
    keyword_defaults: tuple[Value | None, ...]
    owner: Class | None = None
    decorators: frozenset[str] = frozenset()
    open_call: bool = False  # strangers may call it
    options: dict[str, Value] = field(default_factory=dict)  # what the command line hands in

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


class Progress(Enum):
    """How far a module was run."""

    NOT_READ = auto()
    NOT_RUN = auto()
    RUNNING = auto()
    RUN = auto()


@dataclass(eq=False, slots=True)
class Module(HeapObject):
    """A module of the project. `path` names it; without a source there is no code in it, or none that can be read.

    `stars`: where it imports all names from, modules of the project and dotted names of libraries, in order.
    """

    name: str
    path: str
    source: Source | None = None
    frame: Frame | None = None
    progress: Progress = Progress.NOT_READ
    stars: list[Module | str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class ImportedName:
    """`from module import name`: looked up when it is read."""

    module: Module
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Deferred:
    """A `def` or `class` at the top of an imported module, not run yet: it is run when its name is read.

    `before` is what the name was bound to then: `class Net(Net)` reads it.
    """

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    before: Value | None


@dataclass(eq=False, slots=True)
class BoundMethod(HeapObject):
    function: Value
    receiver: Value


@dataclass(eq=False, slots=True)
class Partial(HeapObject):
    function: Value
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(eq=False, slots=True)
class Transformed(HeapObject):
    """A callable behind a library decorator whose call is not simply the call of what it wraps."""

    transformer: str
    function: Value
    setter: Value | None = None  # of a property


@dataclass(eq=False, slots=True)
class LibraryMethod(HeapObject):
    """`receiver.name` where the receiver's class is a library's."""

    receiver: Value
    name: str


@dataclass(eq=False, slots=True)
class Class(HeapObject):
    """A class of the file. `families` are the canonical names of its library bases."""

    name: str
    node: ast.ClassDef
    frame: Frame
    bases: tuple[Class, ...]
    families: tuple[str, ...]
    open_base: bool
    is_dataclass: bool = False
    _lineage: tuple[Class, ...] | None = field(default=None, init=False, repr=False)

    def lineage(self) -> tuple[Class, ...]:
        """The class and its bases of this file, depth first, each once."""
        if self._lineage is None:
            each_once = dict.fromkeys(each for base in self.bases for each in base.lineage())
            self._lineage = (self, *each_once)
        return self._lineage


@dataclass(eq=False, slots=True)
class Instance(HeapObject):
    """An object of a class of the file. `open_self`: it stands for any object of that class."""

    cls: Class
    open_self: bool = False


@dataclass(eq=False, slots=True)
class Layer(HeapObject):
    """A Keras layer or model of the library. `parts` are the layers and variables that it holds.

    `open_parts`: it may hold more. `part_of`: read out of another one (`model.get_layer(...)`).
    """

    symbol: str
    parts: tuple[Value, ...] = ()
    open_parts: bool = False
    part_of: HeapObject | None = None
    inputs: tuple[Value, ...] = ()
    outputs: Value | None = None
    sequence: tuple[Value, ...] | None = None
    activation: Value | None = None
    has_cuts: bool = False  # of a functional model: an operation without a gradient took part
    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()

    def argument(self, position: int | None, name: str) -> Value | None:
        """The argument that it was made with."""
        found = dict(self.keywords).get(name)
        if found is None and position is not None and position < len(self.positional):
            return self.positional[position]
        return found


@dataclass(eq=False, slots=True)
class SymbolicCall(HeapObject):
    """How a Keras tensor was made: replayed when the functional model is called."""

    callee: Value | None
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    node: ast.AST | None = None


@dataclass(eq=False, slots=True)
class LibraryObject(HeapObject):
    """An optimizer, loss, metric, dataset ...: `symbol` is the canonical name of its class."""

    symbol: str
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()

    def keyword(self, name: str) -> Value | None:
        """The keyword argument that it was made with."""
        return dict(self.keywords).get(name)


@dataclass(eq=False, slots=True)
class Super(HeapObject):
    """What `super()` returns in a method of `cls`."""

    cls: Class
    receiver: Value


@dataclass(eq=False, slots=True)
class Tape(HeapObject):
    """One opened tf.GradientTape (or ForwardAccumulator): `bit` is its place in masks."""

    bit: int
    node: ast.AST
    frame: Frame | None
    name: str
    persistent: bool | None
    watches_accessed: bool | None
    forward: bool = False
    serial: int = 0
    implicit: bool = False
    paused: list[int] = field(default_factory=list)
    entered_at: int = 0
    resets: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
