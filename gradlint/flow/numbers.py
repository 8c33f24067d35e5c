"""Numbers: which numbers a value takes, as far as activations, literals and guards tell.

Asked only where it matters (a logarithm, a root, a clip), and answered by walking back from there. None means that
nothing is known: data, parameters, whatever could be anything. What is told is what ordinary inputs really reach, so
that a claim can rest on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp, inf, isnan

from gradlint.flow.conditions import narrowed
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_shapes import is_input
from gradlint.flow.objects import Layer
from gradlint.flow.outputs import activation_of_layer, width_of
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.knowledge.activations import ACTIVATIONS, NOT_NEGATIVE, SIGNED, Numbers, Zero
from gradlint.ops import table as ops
from gradlint.ops.op import Op, Role

_DEEPEST = 40
_LARGE = 700.0


def numbers_of(it: Interpreter, value: Value, depth: int = 0) -> Numbers | None:
    """What the value takes; None when that is not known."""
    if depth > _DEEPEST:
        return None
    if value.how is How.JOIN:
        ways = alternatives(value, 6)
        return _united([numbers_of(it, way, depth + 1) for way in ways or () if way is not value])
    if value.kind is Kind.LITERAL:
        return _of_number(value.ref)
    if value.kind not in (Kind.TENSOR, Kind.SYMBOLIC, Kind.PLAIN):
        return None
    if depth == 0:
        it.numbers_met.clear()  # what is written into arrays later may change them
    elif value.serial in it.numbers_met:
        return it.numbers_met[value.serial]  # `x = x * x + x * x`, over and over
    written = it.array_writes.get(value.serial)
    found = _known(it, value, depth)
    if written is not None:
        found = _united([found, *(numbers_of(it, each, depth + 1) for each in written)])
    it.numbers_met[value.serial] = found
    return found


def _known(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if value.callee is not None and value.callee.kind is Kind.LAYER:
        given = value.given.positional[0] if value.given is not None and value.given.positional else None
        return _after_layer(it, value.callee, given, depth)
    op = value.op
    if value.label == "y_true":
        return numbers_of(it, value.operands[0], depth + 1) if value.operands else None
    if op in _ARITHMETIC:
        made = _ARITHMETIC[op](it, value, depth)
        return _loosened(it, value, made, depth)
    if op is ops.ITEM:
        part = _part_taken(it, value)
        if part is not None:
            return numbers_of(it, part, depth + 1)
    if op.hands_on or op is ops.ITEM:
        taken = value.given.positional[:1] if op is ops.ITEM and value.given is not None else ()
        behind = taken or value.inputs or tuple(each for each, _ in value.dead) or value.operands
        if not behind:
            return None
        return _picked(it, value, behind[0], depth) if op is ops.ITEM else numbers_of(it, behind[0], depth + 1)
    if op.name in ACTIVATIONS:
        return _after_activation(it, op.name, _first(value), depth)
    function = _FUNCTIONS.get(op)
    return function(it, value, depth) if function is not None else None


def _loosened(it: Interpreter, value: Value, made: Numbers | None, depth: int) -> Numbers | None:
    """A quotient of two varying numbers has bounds that it need not reach, and so has what is made of it."""
    if made is None or made == SIGNED:
        return made
    behind = [numbers_of(it, each, depth + 1) for each in value.operands or value.inputs if depth < _DEEPEST]
    quotient = value.op.role is Role.QUOTIENT and len(behind) == 2 and (behind[1] is None or not behind[1].is_constant)
    return replace(made, loose=quotient or any(each is not None and each.loose for each in behind))


def _part_taken(it: Interpreter, taken: Value) -> Value | None:
    """The one of several outputs put side by side from which these columns are taken: `params[:, 1:]`."""
    if taken.given is None or len(taken.given.positional) != 2:
        return None
    base, index = taken.given.positional
    if isinstance(base.callee, Value) and isinstance(base.callee.ref, Layer) and base.callee.ref.outputs is not None:
        base = base.callee.ref.outputs
    parts = _side_by_side(it, base)
    if not parts or index.kind is not Kind.CONTAINER or not it.items(index).exact:
        return None
    last = it.items(index).elements[-1]
    widths = [width_of(it, part) for part in parts]
    if last.kind is not Kind.LITERAL or None in widths:
        return None
    ends = [sum(width or 0 for width in widths[:i]) for i in range(len(widths) + 1)]
    columns = range(ends[-1])
    chosen = columns[last.ref] if isinstance(last.ref, slice) else [last.ref] if type(last.ref) is int else []
    wanted = {each % ends[-1] for each in chosen} if ends[-1] else set[int]()
    for part, first, end in zip(parts, ends, ends[1:], strict=False):
        if wanted and wanted <= set(range(first, end)):
            return part
    return None


def _side_by_side(it: Interpreter, base: Value) -> tuple[Value, ...]:
    """What a concatenation along the last axis was given."""
    layer = base.callee.ref if base.callee is not None else None
    joins = isinstance(layer, Layer) and layer.symbol.endswith(".Concatenate") and layer.argument(0, "axis") is None
    if not joins and base.op is not ops.CONCAT:
        return ()
    given = base.given.positional[0] if base.given is not None and base.given.positional else None
    if given is None or given.kind is not Kind.CONTAINER or not it.items(given).exact:
        return ()
    axis = base.given.get(1, "axis") if not joins else None
    return it.items(given).elements if joins or (axis is not None and axis.ref == -1) else ()


def _of_number(number: object) -> Numbers | None:
    if not isinstance(number, int | float) or isnan(number):
        return None
    return Numbers(float(number), float(number), Zero.ORDINARY if number == 0 else Zero.NEVER)


def _united(found: list[Numbers | None]) -> Numbers | None:
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    return Numbers(
        min(each.low for each in known), max(each.high for each in known), max(each.zero for each in known),
        any(each.loose for each in known),
    )  # fmt: skip


def _after_layer(it: Interpreter, layer: Value, given: Value | None, depth: int) -> Numbers | None:
    owner = layer.ref
    assert isinstance(owner, Layer)
    if owner.sequence is not None:
        return _after_sequence(it, owner.sequence, depth)
    if owner.outputs is not None:
        return numbers_of(it, owner.outputs, depth + 1) if owner.outputs.kind is Kind.SYMBOLIC else None
    activation = activation_of_layer(layer)
    if activation is not None:
        own = ACTIVATIONS[activation]
        return _after_activation(it, activation, given, depth) if own.zero is Zero.ORDINARY else own
    name = owner.symbol.rpartition(".")[2]
    if name in _LAYERS_KEEPING and given is not None:
        return _of_all(it, given, depth)
    return None


def _after_sequence(it: Interpreter, sequence: tuple[Value, ...], depth: int) -> Numbers | None:
    for layer in reversed(sequence):
        if is_input(layer) or layer.kind is not Kind.LAYER or not isinstance(layer.ref, Layer):
            return None
        if layer.ref.symbol.rpartition(".")[2] not in _LAYERS_KEEPING:
            return _after_layer(it, layer, None, depth + 1)
    return None


def _of_all(it: Interpreter, given: Value, depth: int) -> Numbers | None:
    if given.kind is Kind.CONTAINER:
        return _united([numbers_of(it, each, depth + 1) for each in it.items(given).elements])
    return numbers_of(it, given, depth + 1)


_LAYERS_KEEPING = frozenset(
    "Flatten Reshape Dropout Identity Permute Concatenate MaxPooling1D MaxPooling2D AveragePooling1D AveragePooling2D "
    "GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D UpSampling2D RepeatVector "
    "SpatialDropout1D SpatialDropout2D".split()
)


def _after_activation(it: Interpreter, name: str, given: Value | None, depth: int) -> Numbers:
    """What an activation makes of what it is given: narrower than usual where that is known."""
    own = ACTIVATIONS[name]
    if name not in ("relu", "relu6") or given is None:
        return own
    before = numbers_of(it, given, depth + 1)
    if before is None:
        return own
    low, high = max(own.low, before.low), min(own.high, max(before.high, 0.0))
    return Numbers(low, high, own.zero if before.low <= 0 else Zero.NEVER)


def _first(value: Value) -> Value | None:
    if value.label.startswith("np.ndarray.") and value.callee is not None:
        return value.callee.operands[0] if value.callee.operands else value.callee
    if value.given is not None:
        if value.given.positional:
            first = value.given.positional[0]
            return first if isinstance(first, Value) else None
        return next(iter(value.given.keywords.values()), None)
    return value.inputs[0] if value.inputs else None


# --- operators -----------------------------------------------------------------------------------------------------


def _sides(it: Interpreter, value: Value, depth: int) -> tuple[Numbers | None, Numbers | None]:
    left, right = value.operands
    return numbers_of(it, left, depth + 1), numbers_of(it, right, depth + 1)


def _sum(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    left, right = _sides(it, value, depth)
    for one, other in ((left, value.operands[1]), (right, value.operands[0])):
        if one == SIGNED and other.kind is Kind.VARIABLE:
            return SIGNED  # a bias
    if left is None or right is None:
        return None
    low, high = left.low + right.low, left.high + right.high
    if low > 0 or high < 0:
        return Numbers(low, high, Zero.NEVER)
    return Numbers(low, high, min(left.zero, right.zero) if low == 0 else Zero.BY_CHANCE)


def _difference(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) < 2:
        behind = value.operands or value.inputs
        given = numbers_of(it, behind[0], depth + 1) if behind else None
        return None if given is None else Numbers(-given.high, -given.low, given.zero)
    left, right = value.operands
    if _is_greatest_of(right, left):
        return Numbers(-inf, 0.0, Zero.ORDINARY)
    a, b = _sides(it, value, depth)
    if a is None or b is None:
        return None
    low, high = a.low - b.high, a.high - b.low
    if a.is_constant and b.high == a.low and b.low < b.high:
        # 1 - p: zero where a sigmoid or softmax saturates
        return Numbers(0.0, high, Zero.FAR_OUT if b.zero >= Zero.FAR_OUT else Zero.BY_CHANCE)
    if low > 0 or high < 0:
        return Numbers(low, high, Zero.NEVER)
    if a.is_constant or b.is_constant or (a == SIGNED and b == SIGNED):
        return Numbers(low, high)
    return None  # how the two hang together is not known


def _is_greatest_of(right: Value, left: Value) -> bool:
    """Whether `right` is the maximum of `left`, as in a softmax written by hand."""
    while right.op.hands_on and (right.inputs or right.dead):
        right = right.inputs[0] if right.inputs else right.dead[0][0]
    return right.op is ops.MAXIMUM_OF and left in right.inputs


def _product(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    left, right = value.operands
    if left is right:
        return _squared(numbers_of(it, left, depth + 1))
    a, b = _sides(it, value, depth)
    if a is None or b is None:
        return None
    ends = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Numbers(min(ends), max(ends), max(a.zero, b.zero))


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _quotient(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    a, b = _sides(it, value, depth)
    if a is None or b is None or b.low < 0 or (b.low == b.high == 0):
        return None
    if b.is_constant:
        return Numbers(a.low / b.low, a.high / b.low, a.zero)
    return Numbers(-inf if a.low < 0 else 0.0, inf if a.high > 0 else 0.0, a.zero)


def _power(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    base, exponent = value.operands
    before = numbers_of(it, base, depth + 1)
    if exponent.kind is Kind.LITERAL and type(exponent.ref) in (int, float):
        if exponent.ref > 0 and float(exponent.ref) % 2 == 0:
            return _squared(before)
        if exponent.ref > 0 and before is not None and before.low >= 0:
            return Numbers(0.0, inf if before.high == inf else before.high**exponent.ref, before.zero)
    return None


def _squared(before: Numbers | None) -> Numbers:
    if before is None:
        return NOT_NEGATIVE
    low = 0.0 if before.low <= 0 <= before.high else min(abs(before.low), abs(before.high))
    high = max(abs(before.low), abs(before.high))
    return Numbers(low * low, high * high if high < inf else inf, before.zero)


def _matrix_product(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    """Of normalised vectors a cosine; of a variable, or of what has both signs, any number."""
    sides = value.operands or value.inputs
    if len(sides) == 2 and all(each.op is ops.NORMALIZE for each in sides):
        return Numbers(-1.0, 1.0)
    for side in sides:
        if side.kind is Kind.VARIABLE:
            return SIGNED
        numbers = numbers_of(it, side, depth + 1)
        if numbers is not None and numbers.is_signed and numbers.high == inf:
            return SIGNED
    return None


_Computer = Callable[[Interpreter, Value, int], Numbers | None]
_ARITHMETIC: dict[Op, _Computer] = {
    ops.ADD: _sum, ops.SUBTRACT: _difference, ops.NEGATIVE: _difference, ops.MULTIPLY: _product,
    ops.SCALE: _product, ops.DIVIDE: _quotient, ops.POWER: _power, ops.MATMUL: _matrix_product,
}  # fmt: skip


# --- functions -----------------------------------------------------------------------------------------------------


def _absolute(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    before = numbers_of(it, first, depth + 1) if first is not None else None
    if before is None:
        return NOT_NEGATIVE
    low = 0.0 if before.low <= 0 <= before.high else min(abs(before.low), abs(before.high))
    return Numbers(low, max(abs(before.low), abs(before.high)), before.zero)


def _square(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    return _squared(numbers_of(it, first, depth + 1) if first is not None else None)


def _squared_difference(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    return NOT_NEGATIVE


def _exponential(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    before = numbers_of(it, first, depth + 1) if first is not None else None
    high = exp(before.high) if before is not None and before.high < _LARGE else inf
    return Numbers(0.0, high)


def _logarithm(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    before = numbers_of(it, first, depth + 1) if first is not None else None
    return Numbers(-inf, 0.0) if before is not None and before.high <= 1 else None


def _root(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    before = numbers_of(it, first, depth + 1) if first is not None else None
    return Numbers(0.0, inf, before.zero if before is not None else Zero.BY_CHANCE)


def _clipped(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if value.given is None:
        return None
    x = _first(value)
    low, high = map(_bound, clip_bounds(value))
    before = numbers_of(it, x, depth + 1) if x is not None else None
    if low is None and high is None:
        return None
    start = max(low if low is not None else -inf, before.low if before is not None else -inf)
    stop = min(high if high is not None else inf, before.high if before is not None else inf)
    if start > stop:
        start = stop = low if before is not None and low is not None and before.high < low else stop
    zero = Zero.NEVER if start > 0 or stop < 0 else before.zero if before is not None else Zero.BY_CHANCE
    return Numbers(start, stop, Zero.ORDINARY if 0 in (low, high) else zero)


def clip_bounds(value: Value) -> tuple[Value | None, Value | None]:
    """What a clip is told to keep to."""
    of_keras = "x_min" in value.given.keywords or "x_max" in value.given.keywords or value.label.startswith("keras.")
    names = ("x_min", "x_max") if of_keras else ("clip_value_min", "clip_value_max")
    return value.given.get(1, names[0]), value.given.get(2, names[1])


def _bound(given: Value | None) -> float | None:
    if given is None or given.kind is not Kind.LITERAL or type(given.ref) not in (int, float):
        return None
    return float(given.ref)


def _greater(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    a, b = (numbers_of(it, each, depth + 1) for each in value.operands)
    for one, other in ((a, b), (b, a)):
        if one is not None and one.is_constant:
            low = max(one.low, other.low if other is not None else -inf)
            zero = Zero.ORDINARY if low == 0 else Zero.NEVER if low > 0 else Zero.BY_CHANCE
            return Numbers(low, max(other.high, one.high) if other is not None else inf, zero)
    return _united([a, b])


def _lesser(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if len(value.operands) != 2:
        return None
    a, b = (numbers_of(it, each, depth + 1) for each in value.operands)
    for one, other in ((a, b), (b, a)):
        if one is not None and one.is_constant and other is not None:
            return Numbers(min(one.low, other.low), min(one.high, other.high), other.zero)
    return None


def _kept(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    return _of_all(it, first, depth) if first is not None else None


def _averaged(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    before = _kept(it, value, depth)
    if before is None:
        return None
    return replace(before, zero=Zero.BY_CHANCE if before.zero < Zero.ORDINARY else before.zero)


def _summed(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    before = _kept(it, value, depth)
    if before is None:
        return None
    if before.low >= 0:
        return Numbers(0.0 if before.low == 0 else before.low, inf, Zero.NEVER if before.low > 0 else Zero.BY_CHANCE)
    return SIGNED if before.is_signed else Numbers(-inf, 0.0)


def _chosen(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    return _united([numbers for _, numbers in parts_chosen(it, value, depth)])


def parts_chosen(it: Interpreter, value: Value, depth: int = 0) -> list[tuple[Value, Numbers | None]]:
    """Both sides of `where(condition, x, y)`, with what each takes where it is picked; none of anything else."""
    if value.op is not ops.WHERE or len(value.operands) != 3:
        return []
    asked, *sides = value.operands

    def told(side: Value, holds: bool) -> Numbers | None:
        before = numbers_of(it, side, depth + 1)
        return narrowed(it, before, side, asked, holds, lambda other: numbers_of(it, other, depth + 1))

    return [(side, told(side, holds)) for side, holds in zip(sides, (True, False), strict=True)]


def _picked(it: Interpreter, value: Value, base: Value, depth: int) -> Numbers | None:
    """Entries picked by a mask or by places: `x[x > 0]`, `boolean_mask(x, x > 0)`, `gather(x, where(x > 0))`."""
    before = numbers_of(it, base, depth + 1)
    given = value.given.every()[1:] if value.given is not None else []
    for mask in given[:1]:
        before = narrowed(it, before, base, mask, True, lambda other: numbers_of(it, other, depth + 1))
    return before


def _selected(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    first = _first(value)
    return _picked(it, value, first, depth) if first is not None else None


def _one_hot(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    return Numbers(0.0, 1.0, Zero.ORDINARY)


def _written(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    """An array of numbers that are written out."""
    first = _first(value)
    if first is None:
        return None
    if first.kind is not Kind.CONTAINER:
        return numbers_of(it, first, depth + 1)
    found: list[float] = []
    stack = [first]
    while stack:
        each = stack.pop()
        if each.kind is Kind.CONTAINER and it.items(each).exact:
            stack.extend(it.items(each).elements)
        elif each.kind is Kind.LITERAL and isinstance(each.ref, int | float) and not isnan(each.ref):
            found.append(float(each.ref))
        else:
            return None
    return Numbers(min(found), max(found), Zero.ORDINARY if 0.0 in found else Zero.NEVER) if found else None


def _drawn_evenly(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    """`np.random.rand(...)`: between 0 and 1."""
    return Numbers(0.0, 1.0)


def _uniform(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    if value.given is None:
        return None
    low = value.given.keywords.get("minval") or value.given.keywords.get("low")
    high = value.given.keywords.get("maxval") or value.given.keywords.get("high")
    if value.label.startswith("np.") and value.given.positional:
        low, high = value.given.get(0, "low"), value.given.get(1, "high")
    elif value.label.startswith("tf.") and len(value.given.positional) > 2:
        low, high = value.given.get(1, "minval"), value.given.get(2, "maxval")
    ends = [_bound(low) if low is not None else 0.0, _bound(high) if high is not None else 1.0]
    return Numbers(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None


def _normal(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    """Draws around zero, unless a mean is given."""
    place = 0 if value.label.startswith("np.") else 1
    mean = value.given.get(place, "loc" if place == 0 else "mean") if value.given is not None else None
    return SIGNED if mean is None or (mean.kind is Kind.LITERAL and mean.ref == 0) else None


def _zeros(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    return Numbers(0.0, 0.0, Zero.ORDINARY)


def _ones(it: Interpreter, value: Value, depth: int) -> Numbers | None:
    return Numbers(1.0, 1.0, Zero.NEVER)


_FUNCTIONS: dict[Op, _Computer] = {
    **dict.fromkeys([ops.CONTRACT, ops.MATVEC, ops.CONVOLVE], _matrix_product),
    ops.ABS: _absolute, ops.SQUARE: _square, ops.SQUARED_DIFFERENCE: _squared_difference, ops.EXP: _exponential,
    ops.LOG: _logarithm, ops.SQRT: _root, ops.NORM: _root,
    ops.CLIP: _clipped, ops.MAXIMUM: _greater, ops.MINIMUM: _lesser,
    **dict.fromkeys([ops.CONCAT, ops.STACK, ops.REPEAT, ops.BROADCAST, ops.SORT, ops.MAX_POOL], _kept),
    **dict.fromkeys([ops.GATHER, ops.GATHER_ND, ops.BOOLEAN_MASK], _selected),
    **dict.fromkeys([ops.MEAN, ops.MAXIMUM_OF, ops.MINIMUM_OF], _averaged), ops.SUM: _summed, ops.SUM_OF: _summed,
    **dict.fromkeys([ops.ARRAY, ops.AS_ARRAY, ops.CONSTANT], _written),
    ops.RAND: _drawn_evenly, ops.UNIFORM: _uniform, ops.WHERE: _chosen, ops.ONE_HOT: _one_hot,
    **dict.fromkeys([ops.NORMAL, ops.TRUNCATED_NORMAL], _normal),
    **dict.fromkeys([ops.ZEROS, ops.ZEROS_LIKE], _zeros), **dict.fromkeys([ops.ONES, ops.ONES_LIKE], _ones),
}  # fmt: skip
