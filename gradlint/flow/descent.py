"""Descent: what a gradient became before it moved a variable: of which source it is, by what it was multiplied.

Pure questions about values. A gradient knows its source (`Value.of`); what is made of it entry by entry is still of
that source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradlint.flow.values import How, Kind, Value, alternatives

PRODUCTS = frozenset({"*", "tf.multiply", "tf.math.multiply", "keras.ops.multiply", "multiply"})
QUOTIENTS = frozenset({"/", "tf.divide", "tf.math.divide", "tf.math.divide_no_nan", "keras.ops.divide", "tf.realdiv"})
SUMS = frozenset(
    {"+", "tf.add", "tf.math.add", "tf.add_n", "tf.math.add_n", "keras.ops.add", "sum", "-", "tf.subtract",
     "tf.math.subtract", "keras.ops.subtract", "tf.accumulate_n"}
)  # fmt: skip
CHOICES = frozenset({"tf.where", "tf.compat.v1.where", "keras.ops.where", "tf.where_v2"})
CLIPS = frozenset(
    {"tf.clip_by_value", "tf.clip_by_norm", "tf.clip_by_global_norm", "keras.ops.clip", "keras.backend.clip",
     "tf.clip_by_average_norm"}
)  # fmt: skip
#: The same entries in the same places, perhaps of another size.
SAME_PLACES = CLIPS | frozenset(
    {"tf.cast", "tf.identity", "tf.convert_to_tensor", "tf.stop_gradient", "tf.negative", "tf.math.negative",
     "tf.function", "read", "tf.debugging.check_numerics", "tf.sign", "tf.math.sign", "tf.square", "tf.math.square",
     "tf.raw_ops.Identity", "keras.ops.negative", "tf.math.scalar_mul", "tf.scalar_mul", "astype", "tf.ensure_shape",
     "keras.ops.cast", "keras.ops.convert_to_tensor", "tf.grad_pass_through"}
)  # fmt: skip
#: Fewer entries of the same tensor.
PICKS = frozenset(
    {"[]", "tf.gather", "tf.gather_nd", "tf.boolean_mask", "tf.slice", "tf.reshape", "tf.squeeze", "tf.expand_dims",
     "keras.ops.take", "tf.reverse", "tf.strided_slice", "tf.transpose"}
)  # fmt: skip
_DEEPEST = 14


def gradient_of(value: Value, depth: int = 0) -> Value | None:
    """The source that a value is the gradient of, entry by entry; None when it is none, or of several."""
    if value.of is not None:
        return value.of
    if depth > _DEEPEST:
        return None
    if value.how is How.JOIN:
        return _common([gradient_of(way, depth + 1) for way in alternatives(value, 8) or ()])
    if value.how is not How.OPERATION or value.label not in PRODUCTS | QUOTIENTS | SUMS | CHOICES | SAME_PLACES:
        return None
    found = [gradient_of(each, depth + 1) for each in value.operands or value.inputs]
    return _common([each for each in found if each is not None])


def _common(sources: list[Value | None]) -> Value | None:
    if not sources or sources[0] is None:
        return None
    first = sources[0]
    return first if all(each is not None and is_same_source(each, first) for each in sources) else None


def is_same_source(left: Value, right: Value) -> bool:
    """Whether two values are the same variable or symbolic set."""
    return left is right or key_of(left) == key_of(right)


def key_of(value: Value) -> object:
    """What identifies a variable, a symbolic set of them, or the unknown that it was read out of."""
    ref = value.ref
    if value.kind is Kind.VARIABLE and ref is not None:
        while ref.owner is not None and type(ref.owner) is type(ref):
            ref = ref.owner  # the variable behind a keras.Variable
        if ref.exact:
            return ("variable", ref.id)
        return ("one of", getattr(ref.owner, "id", None))
    if value.kind is Kind.VARIABLES and ref is not None:
        owner = ref.owner
        whose = key_of(owner) if isinstance(owner, Value) else ("object", owner.id)
        which = "trainable" if ref.attribute.startswith("trainable") else ref.attribute.replace("weights", "variables")
        return ("set", whose, which, ref.bounds)
    if value.how is How.PART and len(value.inputs) == 1:
        base = value.inputs[0]
        if base.how is How.PARAMETER and not base.serial:
            return ("unknown", base.label)  # one and the same attribute of an open `self`, however often it is read
    if value.how is How.PARAMETER and not value.serial:
        return ("unknown", value.label)
    return ("value", value.serial)


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing that a gradient was multiplied by, or that chose among its entries."""

    value: Value
    at: Value  # the product or choice


def factors_of(value: Value, depth: int = 0) -> Iterator[Factor]:
    """All that a gradient was multiplied by, outermost first. Sums end the search: their terms differ."""
    if depth > _DEEPEST or value.how is not How.OPERATION or value.of is not None:
        return
    if value.label in PRODUCTS:
        inner = [each for each in value.operands if gradient_of(each) is not None]
        for each in value.operands:
            if each not in inner:
                yield Factor(each, value)
        if len(inner) == 1:
            yield from factors_of(inner[0], depth + 1)
    elif value.label in CHOICES and len(value.operands) == 3:
        yield Factor(value.operands[0], value)
        for each in value.operands[1:]:
            if gradient_of(each) is not None:
                yield from factors_of(each, depth + 1)
    elif value.label in QUOTIENTS | SAME_PLACES:
        for each in (value.operands or value.inputs)[:1]:
            yield from factors_of(each, depth + 1)


def terms_of(value: Value, depth: int = 0) -> list[Value]:
    """The terms of a sum, seen through casts and clips; a single one for anything else."""
    if depth <= _DEEPEST and value.how is How.OPERATION and value.of is None:
        if value.label in SUMS:
            return [term for each in value.operands or value.inputs for term in terms_of(each, depth + 1)]
        if value.label in ("tf.identity", "tf.convert_to_tensor", "tf.function", "read") and value.inputs:
            return terms_of(value.inputs[0], depth + 1)
    return [value]


def depends_on(value: Value, wanted: Value, most: int = 200) -> bool:
    """Whether a value was computed from a variable (or symbolic set), gradients of it included."""
    key = key_of(wanted)
    stack, seen = [value], set[int]()
    while stack and len(seen) < most:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if key_of(each) == key or (each.of is not None and key_of(each.of) == key):
            return True
        if each.of is None:
            stack.extend((*each.inputs, *(behind for behind, _ in each.dead), *each.operands))
    return False
