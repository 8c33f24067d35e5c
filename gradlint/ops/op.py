"""One operation: its role, and what is true of it wherever it is called."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Role(Enum):
    """What an operation does with what it is given."""

    SUM = auto()
    DIFFERENCE = auto()
    PRODUCT = auto()
    QUOTIENT = auto()
    POWER = auto()
    MATRIX_PRODUCT = auto()  # sums of products: matrices, convolutions, contractions
    NEGATIVE = auto()
    COPY = auto()  # the same numbers in the same places, perhaps of another type
    RESHAPE = auto()  # the same numbers in other places
    PICK = auto()  # some of the numbers
    ASSEMBLE = auto()  # several tensors put side by side, or one repeated
    TOTAL = auto()  # one number of many: a sum, mean, norm ...
    EXTREME = auto()  # the greatest or least of many
    BOUND = auto()  # the greater or lesser of two
    CLIP = auto()
    CHOICE = auto()
    COMPARISON = auto()
    LOGIC = auto()  # of booleans
    ROUNDING = auto()
    FUNCTION = auto()  # of each number: a root, an exponential, an activation
    SCATTER = auto()
    MAKE = auto()  # numbers that are written down
    DRAW = auto()  # numbers that are drawn
    SHAPE = auto()  # asks for the shape alone
    LOSS = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """An operation. Two values were made by the same operation exactly when their rows are the same object."""

    name: str
    """The name of its row."""
    role: Role = Role.OTHER
    spelled: tuple[str, ...] = ()
    """Operators, and last names of functions in any namespace of arrays; with a dot: whole symbols."""
    operands: int = 1
    """How many tensors it takes that its result hangs on."""
    entrywise: bool = False
    """Whether each number of the result is made of the numbers in the same place (the Jacobian is diagonal)."""
    linear: bool = False
    """Whether f(a + b) = f(a) + f(b) in all that it takes together."""
    kinked: bool = False
    """Whether it is linear in pieces."""
    keeps_dtype: bool = False
    """Whether integers and booleans keep their type."""
    keeps_shape: bool = False
    """Whether the result is of the shape of the first operand."""

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def hands_on(self) -> bool:
        """Whether the result holds the very numbers that it was given, perhaps in another shape or type."""
        return self.role in (Role.COPY, Role.RESHAPE)

    @property
    def tells_shape(self) -> bool:
        """Whether the result says nothing of the numbers that it is given: their shape or type, or filled like them."""
        return self.role is Role.SHAPE or self.name.endswith("_like")

    @property
    def is_deterministic(self) -> bool:
        """Whether the same arguments, as far as a value remembers them, surely give the same result."""
        return self.entrywise or self.role in (Role.TOTAL, Role.EXTREME, Role.MATRIX_PRODUCT, Role.FUNCTION)


#: A value that no known operation made.
UNKNOWN_OP = Op("")
