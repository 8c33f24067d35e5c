"""Shapes: static shapes, as far as literals, NumPy and TensorFlow's constructors tell. None is an unknown length.

Pure functions; `constants.py` asks them. A shape that is not known is None as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import How, Kind, Value

Shape = tuple[int | None, ...]
_MOST = 64


def asked_shape(it: Interpreter, value: Value | None) -> Shape | None:
    """The shape that `(2, 3)`, `[2, n]` or `5` asks for."""
    if value is None:
        return None
    if value.kind is Kind.LITERAL and type(value.ref) is int:
        return (length_of(value),)
    if value.kind is Kind.CONTAINER and it.items(value).exact:
        return tuple(length_of(each) for each in it.items(value).elements)
    return None


def length_of(value: Value) -> int | None:
    """A length that is written out; -1 and what is computed are not known."""
    counted = (value.kind is Kind.LITERAL and value.how is How.FRESH) or value.label == "len"
    return value.ref if counted and type(value.ref) is int and value.ref >= 0 else None


def literal_shape(it: Interpreter, value: Value) -> Shape | None:
    """The shape of a number, a nested list of them, or of what is known to have one."""
    if value.kind is Kind.LITERAL:
        return () if isinstance(value.ref, int | float) else None
    if value.kind is not Kind.CONTAINER:
        return value.shape
    items = it.items(value)
    if not items.exact or value.ref.type == "dict":
        return None
    inner = {literal_shape(it, each) for each in items.elements}
    if len(inner) != 1:
        return None
    below = inner.pop()
    return None if below is None else (len(items.elements), *below)


def filled_in(asked: Shape | None, before: Shape | None) -> Shape | None:
    """A shape with one unknown length, that which was asked for as -1, where all of the former one is known."""
    if asked is None or before is None or asked.count(None) != 1 or None in before:
        return asked
    total, known = 1, 1
    for length in before:
        total *= length or 0
    for length in asked:
        known *= length if length is not None else 1
    return tuple(total // known if each is None else each for each in asked) if known else asked


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of `left * right`; None when one is not known or they do not fit."""
    if left is None or right is None:
        return None
    found: list[int | None] = []
    rank = max(len(left), len(right))
    for a, b in zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True):
        if a in (1, b):
            found.append(b)
        elif b == 1:
            found.append(a)
        elif a is None or b is None:
            found.append(a if b is None else b)
        else:
            return None
    return tuple(found)


def product(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of `left @ right`: the leading axes are those of both, broadcast against each other."""
    if left is None or right is None or not left or not right:
        return None
    if len(right) == 1:
        return left[:-1]
    if len(left) == 1:
        return (*right[:-2], right[-1])
    leading = broadcast(left[:-2], right[:-2])
    return None if leading is None else (*leading, left[-2], right[-1])


def reduced(shape: Shape | None, axis: Value | None, keepdims: bool) -> Shape | None:
    """The shape after a reduction over a written axis, or over all of them."""
    if axis is None or (axis.kind is Kind.LITERAL and axis.ref is None):
        return None if keepdims and shape is None else ((1,) * len(shape or ()) if keepdims else ())
    if shape is None or axis.kind is not Kind.LITERAL or type(axis.ref) is not int or not shape:
        return None
    at = axis.ref % len(shape)
    return (*shape[:at], *((1,) if keepdims else ()), *shape[at + 1 :])


def joined(shapes: Sequence[Shape | None], axis: int) -> Shape | None:
    """The shape of what is concatenated along an axis."""
    first = shapes[0] if shapes else None
    if first is None or not first:
        return None
    at = axis % len(first)
    lengths: list[int | None] = []
    for shape in shapes:
        if shape is None or len(shape) != len(first):
            return None
        lengths.append(shape[at])
    total = None if None in lengths else sum(each for each in lengths if each is not None)
    return (*first[:at], total, *first[at + 1 :])


def indexed(it: Interpreter, shape: Shape | None, index: Value) -> Shape | None:
    """The shape of `x[index]` for integers, slices, `None`, and tuples of them."""
    if shape is None:
        return None
    parts = list(it.items(index).elements) if index.kind is Kind.CONTAINER and index.ref.type == "tuple" else [index]
    found: list[int | None] = []
    rest = list(shape)
    for part in parts:
        if part.kind is Kind.LITERAL and part.ref is None:
            found.append(1)
            continue
        if not rest:
            return None
        length = rest.pop(0)
        if part.kind is Kind.LITERAL and isinstance(part.ref, slice):
            found.append(len(range(*part.ref.indices(length))) if length is not None else None)
        elif part.kind is not Kind.LITERAL or type(part.ref) is not int:
            return None
    return (*found, *rest)
