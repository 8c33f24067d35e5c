"""Matrix products: what `a @ b`, `tf.matmul` and their likes multiply, and what is known of the result.

The rank of a factor that came from outside is not known, and so is that of the product; its last axis may be known
all the same, as the right factor alone decides it.
"""

from __future__ import annotations

from gradlint.flow.arguments import Arguments
from gradlint.flow.shapes import Shape, product
from gradlint.flow.values import Kind, Value, is_literal


def shape_of_product(arguments: Arguments) -> Shape | None:
    """The shape of `tf.matmul(a, b)`; None when it is not known."""
    factors = _factors(arguments)
    return None if factors is None else product(factors[0], factors[1])


def width_of_product(value: Value) -> int | None:
    """The length of the last axis of a matrix product; None when it is not known."""
    if value.given is not None:
        factors = _factors(value.given)
    else:
        sides = value.operands or value.inputs
        factors = (sides[0].shape, sides[1].shape) if len(sides) == 2 else None
    right = factors[1] if factors is not None else None
    return right[-1] if right is not None and len(right) > 1 else None


def _factors(arguments: Arguments) -> tuple[Shape | None, Shape | None] | None:
    """The shapes of what is multiplied, as it is multiplied; None when the call cannot be read."""
    found: list[Shape | None] = []
    for place, (name, other) in enumerate((("a", "x1"), ("b", "x2"))):
        given = arguments.get(place, other if other in arguments.keywords else name)
        if given is None:
            return None
        flags = (arguments.get(place + 2, f"transpose_{name}"), arguments.get(place + 4, f"adjoint_{name}"))
        if any(flag is not None and flag.kind is not Kind.LITERAL for flag in flags):
            return None
        turned = any(is_literal(flag, True) for flag in flags)
        shape = given.shape
        found.append((*shape[:-2], shape[-1], shape[-2]) if turned and shape and len(shape) > 1 else shape)
    return found[0], found[1]
