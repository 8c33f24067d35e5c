"""Descent: what a gradient became before it moved a variable: of which source it is, by what it was multiplied.

Pure questions about values. A gradient knows its source (`Value.of`); what is made of it entry by entry is still of
that source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gradlint.flow.objects import VariableSet
from gradlint.flow.values import How, Kind, Value, alternatives, lineage, numbers_behind
from gradlint.ops import table as ops
from gradlint.ops.op import Role

#: Entry by entry with something else.
PRODUCTS = frozenset({Role.PRODUCT})
QUOTIENTS = frozenset({Role.QUOTIENT})
SUMS = frozenset({Role.SUM, Role.DIFFERENCE})
#: The same entries in the same places, perhaps of another size.
SAME_PLACES = frozenset({Role.COPY, Role.NEGATIVE, Role.CLIP})
#: Fewer entries of the same tensor, or the same ones in other places.
PICKS = frozenset({Role.PICK, Role.RESHAPE})
_OF_SAME_SOURCE = PRODUCTS | QUOTIENTS | SUMS | SAME_PLACES | {Role.CHOICE}
_DEEPEST, _MOST_ASKED = 14, 200


def is_zeroed(value: Value) -> bool:
    """Whether a gradient was replaced by zeros."""
    return value.op is ops.ZEROS_LIKE


def gradient_of(value: Value) -> Value | None:
    """The source that a value is the gradient of, entry by entry; None when it is none, or of several."""
    source = _source_of(value, 0, {})
    return None if source == "several" else source


_Source = Value | Literal["several"] | None


def _source_of(value: Value, depth: int, known: dict[int, _Source]) -> _Source:
    if value.of is not None:
        return value.of
    if depth > _DEEPEST or len(known) > _MOST_ASKED:
        return None
    if value.serial not in known:
        known[value.serial] = None  # of a loop that leads back here
        known[value.serial] = _source_behind(value, depth, known)
    return known[value.serial]


def _source_behind(value: Value, depth: int, known: dict[int, _Source]) -> _Source:
    if value.how is How.JOIN:
        ways = [_source_of(way, depth + 1, known) for way in alternatives(value, 8) or ()]
        return _common(ways) if None not in ways else None
    if value.how is How.PART and value.inputs and value.inputs[0].how is How.GRADIENT:
        return value.inputs[0].of
    if value.how is not How.OPERATION or not (value.op.role in _OF_SAME_SOURCE or is_zeroed(value)):
        return None
    found = [_source_of(each, depth + 1, known) for each in value.operands or value.inputs]
    return _common([each for each in found if each is not None])


def _common(sources: list[_Source]) -> _Source:
    first = next(iter(sources), None)
    if first is None or first == "several":
        return first
    same = all(each is not None and each != "several" and is_same_source(each, first) for each in sources)
    return first if same else "several"


def is_same_source(left: Value, right: Value) -> bool:
    """Whether two values are the same variable or symbolic set."""
    if left is right or key_of(left) == key_of(right):
        return True
    one, other = (left, right) if left.kind is Kind.VARIABLE else (right, left)
    within = one.ref.within if one.kind is Kind.VARIABLE and one.ref is not None else None
    return within is not None and other.kind is Kind.VARIABLES and within.owner is other.ref.owner  # one of them


def key_of(value: Value) -> object:
    """What identifies a variable, a symbolic set of them, or the unknown that it was read out of."""
    ref = value.ref
    if value.kind is Kind.VARIABLE and ref is not None:
        while ref.owner is not None and type(ref.owner) is type(ref):
            ref = ref.owner  # the variable behind a keras.Variable
        if ref.exact:
            return ("variable", ref.id)
        if ref.within is not None and is_one_place(ref.within.bounds):
            return ("set", *_whose(ref.within), ref.within.bounds)
        return ("one of", getattr(ref.owner, "id", None), ref.within.bounds if ref.within is not None else None)
    if value.kind is Kind.VARIABLES and ref is not None:
        return ("set", *_whose(ref), ref.bounds)
    if value.how is How.PART and len(value.inputs) == 1:
        base = value.inputs[0]
        if base.how is How.PARAMETER and not base.serial:
            return ("unknown", base.label)  # one and the same attribute of an open `self`, however often it is read
    if value.how is How.PARAMETER and not value.serial:
        return ("unknown", value.label)
    return ("value", value.serial)


def _whose(variables: VariableSet) -> tuple[object, str]:
    """The owner of a set, and which of its variables are in it."""
    owner, attribute = variables.owner, variables.attribute
    whose = key_of(owner) if isinstance(owner, Value) else ("object", owner.id)
    return whose, "trainable" if attribute.startswith("trainable") else attribute.replace("weights", "variables")


def is_one_place(bounds: tuple[object, object, object] | None) -> bool:
    """Whether a part of a set is a single variable, at a known place."""
    if bounds is None or bounds[2] is not None:
        return False
    start, stop, _ = bounds
    if start == -1 and stop is None:
        return True
    first = start or 0
    return isinstance(stop, int) and isinstance(first, int) and stop - first == 1


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that a gradient was multiplied by, or that chose among its entries."""

    value: Value
    at: Value  # the product or choice


def factors_of(value: Value, depth: int = 0) -> Iterator[Factor]:
    """All that a gradient was multiplied by, outermost first. Sums end the search: their terms differ."""
    if depth > _DEEPEST or value.how is not How.OPERATION:
        return
    if value.of is not None:
        if value.op is ops.ITEM:  # one of a list of gradients, or some of them
            yield from factors_of(value.inputs[0], depth + 1)
    elif is_zeroed(value):
        yield Factor(value, value)
    elif value.op.role in PRODUCTS:
        inner = [each for each in value.operands if gradient_of(each) is not None]
        if not inner:
            return  # no gradient: a buffer, a number
        for each in value.operands:
            if each not in inner:
                yield Factor(each, value)
        if len(inner) == 1:
            yield from factors_of(inner[0], depth + 1)
    elif value.op.role is Role.CHOICE and len(value.operands) == 3:
        yield Factor(value.operands[0], value)
        for each in value.operands[1:]:
            if gradient_of(each) is not None and not is_zeroed(each):
                yield from factors_of(each, depth + 1)
    elif value.op.role in QUOTIENTS | SAME_PLACES:
        for each in (value.operands or value.inputs)[:1]:
            yield from factors_of(each, depth + 1)


def terms_of(value: Value, depth: int = 0) -> list[Value]:
    """The terms of a sum, seen through what copies it; a single one for anything else."""
    if depth <= _DEEPEST and value.how is How.OPERATION and value.of is None:
        if value.op.role in SUMS:
            return [term for each in value.operands or value.inputs for term in terms_of(each, depth + 1)]
        if value.op.role is Role.COPY and value.op not in (ops.STOP, ops.CAST) and value.inputs:
            return terms_of(value.inputs[0], depth + 1)
    return [value]


def depends_on(value: Value, wanted: Value, most: int = 200) -> bool:
    """Whether the numbers of a value were computed from a variable (or symbolic set), or are a gradient of it."""
    key = key_of(wanted)
    return any(
        (key_of(each) == key and not each.op.tells_shape) or (each.of is not None and key_of(each.of) == key)
        for each in lineage([value], most, lambda each: numbers_behind(each) if each.of is None else ())
    )


def cores_of(value: Value, depth: int = 0) -> set[int]:
    """Serials of the gradients, as they were asked, that a value was made of entry by entry."""
    if value.how is How.GRADIENT:
        return {value.serial}
    if depth > _DEEPEST:
        return set()
    if value.how is How.PART and value.inputs:
        return cores_of(value.inputs[0], depth + 1)
    if value.how is How.JOIN:
        return {serial for way in alternatives(value, 8) or () for serial in cores_of(way, depth + 1)}
    if value.op.role in PRODUCTS | QUOTIENTS | SUMS | SAME_PLACES or value.of is not None:
        return {serial for each in value.operands or value.inputs for serial in cores_of(each, depth + 1)}
    return set()
