"""Values: what is known of one expression, as a node of the value graph.

Every tensor operation, join and unknown makes one `Value` that points at the values it was
computed from, with the tapes that surely and possibly recorded it. Links, cuts and traces are
walks of this graph (`gradients.py`), made only where a gradient is asked: nothing is copied
along the way. Heap objects (`objects.py`) hang on `ref`; their contents live in `store.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from gradlint.ops.lookup import op_of
from gradlint.ops.op import UNKNOWN_OP, Op
from gradlint.verdicts import Cause

if TYPE_CHECKING:
    from gradlint.flow.scopes import Frame

#: "Any tape": the mask of a value about whose recording nothing is known.
ANY_TAPE = -1


class Kind(Enum):
    """What sort of Python object a value is."""

    UNKNOWN = auto()
    LITERAL = auto()  # ref: the Python constant
    PLAIN = auto()  # a Python or NumPy object without gradient: number, array, string, dataset element
    TENSOR = auto()
    VARIABLE = auto()  # ref: objects.Variable
    SYMBOLIC = auto()  # Keras tensor; ref: objects.SymbolicCall or None
    VARIABLES = auto()  # symbolic ordered set; ref: objects.VariableSet
    CONTAINER = auto()  # ref: objects.Container
    FUNCTION = auto()  # ref: objects.Function, BoundMethod, Partial or Transformed
    SYMBOL = auto()  # ref: canonical dotted name of a library symbol
    METHOD = auto()  # ref: objects.LibraryMethod
    CLASS = auto()  # ref: objects.Class
    INSTANCE = auto()  # ref: objects.Instance
    LAYER = auto()  # ref: objects.Layer
    LIBRARY = auto()  # ref: objects.LibraryObject (optimizer, loss, metric, dataset ...)
    TAPE = auto()  # ref: objects.Tape
    MODULE = auto()  # a module of the project; ref: objects.Module
    IMPORTED = auto()  # a name of a module that may not have been run yet; ref: objects.ImportedName


class How(Enum):
    """How a value came to be: what a walk of the graph may do at this node."""

    FRESH = auto()  # made from nothing that carries a gradient
    OPERATION = auto()  # a known operation over `inputs`
    GRADIENT = auto()  # what a gradient call returned, over target and sources
    JOIN = auto()  # one of `inputs`, depending on the way taken
    PARAMETER = auto()  # unknown, given from outside
    PART = auto()  # unknown, read out of an unknown
    OPAQUE_CALL = auto()  # unknown, returned by code that cannot be seen


OPAQUE = frozenset({How.PARAMETER, How.PART, How.OPAQUE_CALL})
#: What tells of a tensor its shape, its rank or the type of its numbers.
SHAPE_ATTRIBUTES = frozenset({"shape", "dtype", "ndim", "get_shape"})
#: Kinds of values whose labels are names that the program gives.
_NAMED_BY_PROGRAM = frozenset({Kind.VARIABLE, Kind.VARIABLES, Kind.MODULE, Kind.IMPORTED, Kind.FUNCTION, Kind.CLASS})


class DType(Enum):
    """Class of a tensor's element type, as far as gradients care."""

    FLOAT = auto()
    INTEGER = auto()
    BOOL = auto()
    UNKNOWN = auto()


class Fill(Enum):
    """What the numbers of a constant are, as far as masks care."""

    ONES = auto()
    ZEROS = auto()
    MASK = auto()  # zeros and ones, both of them
    INDEX = auto()  # a number that counts steps: of a range, of `enumerate`


class Value:
    """One node of the value graph.

    `possible` and `sure` are bit masks of tapes that may have, and certainly have, recorded the
    making of this value. `dead` holds inputs through which no gradient passes, with the cause.
    `root` names the unknown that a part was read out of. `serial` counts in the order of running.
    """

    __slots__ = (
        "assumed",
        "because",
        "callee",
        "dead",
        "dtype",
        "fill",
        "frame",
        "given",
        "how",
        "inputs",
        "kind",
        "label",
        "node",
        "of",
        "operands",
        "possible",
        "ref",
        "root",
        "serial",
        "shape",
        "sure",
    )

    def __init__(
        self,
        kind: Kind,
        how: How,
        serial: int,
        *,
        ref: Any = None,
        inputs: tuple[Value, ...] = (),
        dead: tuple[tuple[Value, Cause], ...] = (),
        possible: int = 0,
        sure: int = 0,
        node: ast.AST | None = None,
        frame: Frame | None = None,
        label: str = "",
        dtype: DType = DType.UNKNOWN,
        shape: tuple[int | None, ...] | None = None,
        root: Value | None = None,
        because: str = "",
    ) -> None:
        self.kind = kind
        self.how = how
        self.serial = serial
        self.ref = ref
        self.inputs = inputs
        self.dead = dead
        self.possible = possible
        self.sure = sure
        self.node = node
        self.frame = frame
        self.label = label
        self.dtype = dtype
        self.shape = shape
        self.root = root
        self.because = because
        self.assumed = False  # what it is was concluded from its name
        self.of: Value | None = None  # of a gradient: its source
        self.fill: Fill | None = None
        self.operands: tuple[Value, ...] = ()  # of a product or a choice: both sides, numbers and arrays too
        self.callee: Value | None = None  # of a call of a layer or library object: what was called
        self.given: Any = None  # of a library call: its `Arguments`

    def __repr__(self) -> str:
        return f"<{self.kind.name} {self.how.name} #{self.serial} {self.label or self.ref or ''}>"

    @property
    def op(self) -> Op:
        """The operation that made this; a row of its own for what no known operation made."""
        if self.kind in _NAMED_BY_PROGRAM or (self.how in OPAQUE and self.label not in SHAPE_ATTRIBUTES):
            return UNKNOWN_OP  # the label is a name of the program
        return op_of(self.label)

    @property
    def is_computed(self) -> bool:
        """Whether this is a tensor that a call computed (or a batch of data): no variable, no object that holds one."""
        return self.label in ("call", "batch")

    @property
    def is_opaque(self) -> bool:
        """Whether nothing is known of what this value is."""
        return self.how in OPAQUE


def constant(literal: object, serial: int = 0, node: ast.AST | None = None) -> Value:
    """A Python constant."""
    return Value(Kind.LITERAL, How.FRESH, serial, ref=literal, node=node)


NONE = constant(None)
TRUE = constant(True)
FALSE = constant(False)


def is_literal(value: Value | None, literal: object) -> bool:
    """Whether the value is exactly this Python constant."""
    return (
        value is not None and value.kind is Kind.LITERAL and type(value.ref) is type(literal) and value.ref == literal
    )


def carries_gradient(value: Value) -> bool:
    """Whether this may be computed from a variable: a constant or a batch of data is not."""
    return value.kind in (Kind.SYMBOLIC, Kind.VARIABLE) or bool(value.inputs) or value.is_opaque


def is_bare(value: Value) -> bool:
    """Whether a value is a constant, or a Python object that no tensor went into."""
    if value.kind is Kind.MODULE:
        return True
    return value.kind is Kind.LITERAL or (value.kind is Kind.PLAIN and not value.dead and not value.inputs)


def walk_since(values: Iterable[Value], start: int, most: int = 300) -> Iterator[Value]:
    """The values that these were computed from since the clock stood at `start`, and the first older ones met."""

    def behind(each: Value) -> Iterable[Value]:
        return recorded_or_dead(each) if each.serial > start or each.how is How.JOIN else ()

    return lineage(values, most, behind)


def lineage(values: Iterable[Value], most: int, behind: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """The values and what they were computed from, each once and `most` of them; `behind` leads on from each."""
    stack, seen = list(values), set[int]()
    while stack and len(seen) < most:
        each = stack.pop()
        if each.serial not in seen:
            seen.add(each.serial)
            yield each
            stack.extend(behind(each))


def recorded_or_dead(value: Value) -> tuple[Value, ...]:
    """What a value was computed from, whether or not a gradient passes."""
    return (*value.inputs, *(each for each, _ in value.dead))


def all_behind(value: Value) -> tuple[Value, ...]:
    """The same, and the operands that are no tensors."""
    return (*value.inputs, *value.operands, *(each for each, _ in value.dead))


def numbers_behind(value: Value) -> tuple[Value, ...]:
    """What the numbers of a value were computed from: of `ones_like(x)` and `x.shape` nothing."""
    return () if value.op.tells_shape else all_behind(value)


def everything_behind(value: Value) -> tuple[Value, ...]:
    """The same, and whatever else the call was given that is no literal."""
    given = value.given.every() if value.given is not None else ()
    return (*all_behind(value), *(each for each in given if each.kind is not Kind.LITERAL))


def alternatives(value: Value, most: int = 4) -> list[Value] | None:
    """The values that a join stands for, `None` (the constant) left out; None when more than `most`."""
    if value.how is not How.JOIN:
        return [value]
    found: list[Value] = []
    seen: set[int] = set()
    stack = [value]
    while stack:
        each = stack.pop()
        if each.serial in seen and each.serial:
            continue
        seen.add(each.serial)
        if each.how is How.JOIN:
            stack.extend(reversed(each.inputs))
        elif not is_literal(each, None) and each not in found:
            found.append(each)
            if len(found) > most:
                return None
    return found


def constants(value: Value) -> set[object] | None:
    """The Python constants that the value can be, or None when it can be anything else."""
    found: set[object] = set()
    stack = [value]
    seen: set[int] = set()
    while stack:
        each = stack.pop()
        if each.how is How.JOIN:
            if each.serial not in seen:
                seen.add(each.serial)
                stack.extend(each.inputs)
        elif each.kind is Kind.LITERAL:
            try:
                found.add(each.ref)
            except TypeError:
                return None
        else:
            return None
    return found
