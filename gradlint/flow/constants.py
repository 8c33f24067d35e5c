"""Constants: shape and contents of what TensorFlow, Keras and NumPy compute from literals; which arrays are masks.

`library.py` and `operators.py` let the results of their calls be described here. An array of NumPy can be written
into: what it holds now is a cell of the store (`fill_of`), so that branches and loops join it like anything else.
"""

from __future__ import annotations

from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.matrix_products import shape_of_product
from gradlint.flow.objects import Variable
from gradlint.flow.shapes import (
    Shape,
    asked_shape,
    broadcast,
    filled_in,
    indexed,
    joined,
    length_of,
    literal_shape,
    product,
    reduced,
)
from gradlint.flow.values import DType, Fill, How, Kind, Value, alternatives, is_literal
from gradlint.ops import table as ops
from gradlint.ops.lookup import op_of, operands_of
from gradlint.ops.op import Op, Role

_CELL = "<fill>"
Describer = Callable[[Interpreter, Arguments, Value], None]


def describe(it: Interpreter, symbol: str, arguments: Arguments, made: Value) -> None:
    """Fill in shape and contents of the result of a library function."""
    op = op_of(symbol)
    describer = _DESCRIBERS.get(op)
    if describer is None and op.keeps_shape:
        describer = _entrywise
    if describer is None or made.kind not in (Kind.TENSOR, Kind.PLAIN, Kind.SYMBOLIC):
        return
    if symbol.startswith("np.random."):
        _drawn_by_numpy(it, symbol.rpartition(".")[2], arguments, made)
        return
    describer(it, arguments, made)
    if it.timed:
        it.timed_values.add(made.serial)
    if made.kind is Kind.PLAIN and made.fill is not None:
        _set_fill(it, made, made.fill)


def describe_operator(left: Value, right: Value, op: Op, made: Value) -> None:
    """The same for a binary operator."""
    if op is ops.MATMUL:
        made.shape = product(left.shape, right.shape)
        return
    made.shape = broadcast(_shape_of(left), _shape_of(right))
    ones = is_literal(left, 1.0) or is_literal(left, 1) or left.fill is Fill.ONES
    if op is ops.SUBTRACT and ones and right.fill in _INVERTED:
        made.fill = _INVERTED[right.fill]
    elif op.role is Role.PRODUCT and left.fill is not None and right.fill is not None:
        made.fill = _multiplied(left.fill, right.fill)


def describe_item(it: Interpreter, base: Value, index: Value, made: Value) -> None:
    """The same for `base[index]`."""
    made.shape = indexed(it, base.shape, index)
    parts = it.items(index).elements if index.kind is Kind.CONTAINER else (index,)
    if all(_takes_all(part) for part in parts):
        made.fill, made.operands = base.fill, (base,)


def _takes_all(part: Value) -> bool:
    """Whether an index is `:`, `None` or `...`."""
    if part.kind is Kind.SYMBOL:
        return part.ref in ("tf.newaxis", "np.newaxis")
    return part.kind is Kind.LITERAL and (part.ref in (None, ...) or part.ref == slice(None, None, None))


def _shape_of(value: Value) -> Shape | None:
    return () if value.kind is Kind.LITERAL and isinstance(value.ref, int | float) else value.shape


_INVERTED: dict[Fill | None, Fill] = {Fill.MASK: Fill.MASK, Fill.ONES: Fill.ZEROS, Fill.ZEROS: Fill.ONES}


def _multiplied(left: Fill, right: Fill) -> Fill | None:
    if Fill.ZEROS in (left, right):
        return Fill.ZEROS
    if left is Fill.ONES:
        return right
    return left if right is Fill.ONES or left is right else None


def fill_of(it: Interpreter, value: Value) -> set[Fill | None]:
    """What a value may hold now: more than one kind where that depends on the way, None for anything else."""
    found: set[Fill | None] = set()
    for way in alternatives(value, 8) or [value]:
        if way.how is How.JOIN:
            found.add(None)
            continue
        cell = it.store.get(_key(way))
        for state in alternatives(cell, 8) or () if cell is not None else ():
            found.add(state.ref if isinstance(state.ref, Fill) else None)
        if cell is None:
            found.add(way.fill)
    return found


def _key(value: Value) -> tuple[int, str]:
    return (value.ref.id if isinstance(value.ref, Variable) else -value.serial - 1, _CELL)


def _set_fill(it: Interpreter, value: Value, fill: Fill | None) -> None:
    it.store.set(_key(value), it.fresh(Kind.LITERAL, value.node, ref=fill))


def write_array(it: Interpreter, array: Value, written: Value) -> None:
    """`array[...] = written`: an array of ones into which a zero is written is a mask."""
    known = fill_of(it, array)
    if known == {None}:
        return
    number = written.ref if written.kind is Kind.LITERAL and type(written.ref) in (int, float, bool) else None
    if number is None or number not in (0, 1):
        _set_fill(it, array, None)
        return
    whole = Fill.ONES if number else Fill.ZEROS
    _set_fill(it, array, whole if known == {whole} else Fill.MASK)
    if it.timed:
        it.timed_values.add(array.serial)


def write_variable(it: Interpreter, variable: Value, written: Value) -> None:
    """`mask.assign(...)` on a variable that holds a mask."""
    if not isinstance(variable.ref, Variable):
        return
    held = {written_fill(it, written)} if written.kind is Kind.LITERAL else fill_of(it, written)
    if (mask_states(it, written) | held) & {Fill.MASK, Fill.ZEROS}:
        it.mask_written.add(variable.ref.id)
    if variable.fill is not None or written.fill is not None:
        if it.timed:
            it.timed_values.add(variable.serial)
        _set_fill(it, variable, held.pop() if len(held) == 1 else None)


def write_part(it: Interpreter, variable: Value, written: Value) -> None:
    """Zeros written into some places of a variable of ones."""
    fill = written.fill or written_fill(it, written)
    if isinstance(variable.ref, Variable) and fill is Fill.ZEROS and fill_of(it, variable) <= {Fill.ONES, Fill.MASK}:
        it.mask_written.add(variable.ref.id)
        _set_fill(it, variable, Fill.MASK)
        if it.timed:
            it.timed_values.add(variable.serial)


def written_fill(it: Interpreter, value: Value) -> Fill | None:
    """Zeros and ones written out."""
    numbers: set[object] = set()
    stack = [value]
    while stack:
        each = stack.pop()
        if each.kind is Kind.CONTAINER and it.items(each).elements:
            stack.extend(it.items(each).elements)  # a comprehension is not exact, and of one sort all the same
        elif each.how is How.JOIN and len(each.inputs) < 8 and each.label != "loop":
            stack.extend(each.inputs)
        elif each.kind is Kind.LITERAL and isinstance(each.ref, int | float):
            numbers.add(float(each.ref))
        else:
            return each.fill if each is value else None
    if not numbers or not numbers <= {0.0, 1.0}:
        return None
    return Fill.MASK if len(numbers) == 2 else (Fill.ONES if 1.0 in numbers else Fill.ZEROS)


def describe_variable(it: Interpreter, variable: Value, initial: Value, *, trained: bool) -> None:
    """Shape and contents of a new variable. A number alone is a switch where nothing trains the variable."""
    variable.shape = literal_shape(it, initial)
    held = {None if trained else written_fill(it, initial)} if initial.kind is Kind.LITERAL else fill_of(it, initial)
    variable.fill = held.pop() if len(held) == 1 else None
    if variable.fill is not None:
        _set_fill(it, variable, variable.fill)  # a branch that writes into it later leaves this on the other way


def _filled(fill: Fill | None) -> Describer:
    def run(it: Interpreter, arguments: Arguments, made: Value) -> None:
        asked = arguments.get(0, "shape")
        made.shape, made.fill = asked_shape(it, asked), fill
        made.operands = (asked,) if asked is not None and asked.operands else ()

    return run


def _full(it: Interpreter, arguments: Arguments, made: Value) -> None:
    made.shape = asked_shape(it, arguments.get(0, "dims" if "dims" in arguments.keywords else "shape"))
    value = arguments.get(1, "value" if "value" in arguments.keywords else "fill_value")
    made.fill = written_fill(it, value) if value is not None else None


def _like(fill: Fill | None) -> Describer:
    def run(it: Interpreter, arguments: Arguments, made: Value) -> None:
        first = _first(arguments)
        made.shape, made.fill = (first.shape if first is not None else None), fill
        made.operands = (first,) if first is not None else ()

    return run


def _triangle(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`np.tril(np.ones(...))` and its likes keep some and clear the rest."""
    first = _first(arguments)
    if first is not None:
        made.shape, made.operands = first.shape, (first,)
        made.fill = Fill.MASK if first.fill is Fill.ONES else None


def _identity(it: Interpreter, arguments: Arguments, made: Value) -> None:
    made.fill = Fill.MASK


def _counted(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`range(5)`."""
    numbers = [each.ref for each in arguments.positional if each.kind is Kind.LITERAL and type(each.ref) is int]
    if numbers and len(numbers) == len(arguments.positional) <= 2:
        made.shape = (len(range(*numbers)),)


def _first(arguments: Arguments) -> Value | None:
    if arguments.positional:
        return arguments.positional[0]
    return next(iter(arguments.keywords.values()), None)


def _literal(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first = _first(arguments)
    if first is not None:
        made.shape = asked_shape(it, arguments.get(None, "shape")) or literal_shape(it, first)
        made.fill = (
            next(iter(fill_of(it, first))) if first.kind is Kind.PLAIN and len(fill_of(it, first)) == 1 else None
        )
        made.fill = made.fill or written_fill(it, first)
        made.operands = (first,)


def _entrywise(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first = _first(arguments)
    made.shape = first.shape if first is not None else None


def _kept(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """A cast and its likes: shape and contents stay; of a comparison it is a mask."""
    first = _first(arguments)
    if first is None:
        return
    made.shape = first.shape
    made.operands = (first,)
    known = fill_of(it, first)
    made.fill = known.pop() if len(known) == 1 else None
    if made.fill is None and is_comparison(first):
        made.fill = Fill.MASK


def mask_states(it: Interpreter, value: Value, depth: int = 0) -> set[Fill]:
    """What a value may be as a mask: seen through casts, shapes and comparisons of masks."""
    if value.kind is Kind.CONTAINER:
        listed = written_fill(it, value)
        return {listed} if listed is not None else set()
    found = {fill for fill in fill_of(it, value) if fill is not None}
    if found or depth > 4:
        return found - {Fill.INDEX}
    if value.how is How.JOIN:
        return {
            fill for way in alternatives(value, 8) or () if way is not value for fill in mask_states(it, way, depth + 1)
        }
    if value.operands and (_is_seen_through(value.op) or is_comparison(value)):
        found = mask_states(it, value.operands[0], depth + 1)
    if not found and is_comparison(value) and value.dtype is not DType.UNKNOWN:
        return {Fill.MASK}
    return found


def _is_seen_through(op: Op) -> bool:
    """Whether a mask stays one."""
    return (op.hands_on and op is not ops.STOP) or op in (ops.CONSTANT, ops.ARRAY, ops.AS_ARRAY, ops.ITEM)


def is_comparison(value: Value) -> bool:
    """Whether a value is what a comparison tells, entry by entry."""
    return value.op.role in (Role.COMPARISON, Role.LOGIC)


def _entries_of_both(it: Interpreter, arguments: Arguments, made: Value) -> None:
    operands = operands_of(made.op, made.label, arguments.positional, arguments.keywords)
    if len(operands) == 2:
        describe_operator(*operands, made.op, made)


def _losses_of_entries(it: Interpreter, arguments: Arguments, made: Value) -> None:
    labels, logits = arguments.get(0, "labels"), arguments.get(1, "logits")
    if labels is not None and logits is not None:
        made.shape = broadcast(labels.shape, logits.shape)


def _losses_of_rows(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`keras.losses.mse(y_true, y_pred)`: one number for each row."""
    predicted = arguments.get(1, "y_pred")
    if predicted is not None and predicted.shape and len(arguments.positional) < 3 and len(predicted.shape) > 1:
        made.shape = predicted.shape[:-1]


def _chosen(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`where(condition, x, y)`."""
    operands = operands_of(ops.WHERE, made.label, arguments.positional, arguments.keywords)
    if len(operands) == 3:
        condition, x, y = operands
        made.shape = broadcast(condition.shape, broadcast(_shape_of(x), _shape_of(y)))
        fills = {written_fill(it, x), written_fill(it, y)}
        if fills <= {Fill.ONES, Fill.ZEROS} and len(fills) == 2:
            made.fill = Fill.MASK


def _matmul(it: Interpreter, arguments: Arguments, made: Value) -> None:
    made.shape = shape_of_product(arguments)


def _applied_to_vectors(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`matvec(a, b)`."""
    a, b = arguments.get(0, "a"), arguments.get(1, "b")
    if a is not None and b is not None and b.shape is not None and len(b.shape) == 1 and len(arguments.every()) == 2:
        made.shape = product(a.shape, b.shape)


def _reduced(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first = _first(arguments)
    keeps = is_literal(arguments.get(2, "keepdims"), True)
    if first is not None:
        made.shape = reduced(first.shape, arguments.get(1, "axis"), keeps)
        if first.op is ops.ONE_HOT and arguments.get(1, "axis") is not None:
            made.fill = Fill.MASK  # the rows that are meant


def _reshaped(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first, asked = arguments.get(0, "tensor"), arguments.get(1, "shape")
    made.shape = asked_shape(it, asked)
    if first is not None:
        made.fill, made.operands = first.fill, (first,)
        made.shape = filled_in(made.shape, first.shape)


def _expanded(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first, axis = _first(arguments), arguments.get(1, "axis")
    if first is None:
        return
    made.fill = first.fill
    if first.shape is not None and axis is not None and axis.kind is Kind.LITERAL and type(axis.ref) is int:
        at = axis.ref % (len(first.shape) + 1)
        made.shape = (*first.shape[:at], 1, *first.shape[at:])


def _squeezed(it: Interpreter, arguments: Arguments, made: Value) -> None:
    first, axis = _first(arguments), arguments.get(1, "axis")
    if first is None or first.shape is None:
        return
    made.fill = first.fill
    if axis is None and None not in first.shape:
        made.shape = tuple(each for each in first.shape if each != 1)
    elif axis is not None and axis.kind is Kind.LITERAL and type(axis.ref) is int and first.shape:
        at = axis.ref % len(first.shape)
        made.shape = (*first.shape[:at], *first.shape[at + 1 :])


def _concatenated(it: Interpreter, arguments: Arguments, made: Value) -> None:
    rows, axis = _first(arguments), arguments.get(1, "axis")
    if rows is None or rows.kind is not Kind.CONTAINER or not it.items(rows).exact:
        return
    elements = tuple(each for each in it.items(rows).elements if not each.shape or 0 not in each.shape)
    at = axis.ref if axis is not None and axis.kind is Kind.LITERAL and type(axis.ref) is int else 0
    made.shape = joined([each.shape for each in elements], at)
    fills = {each.fill for each in elements}
    if fills <= {Fill.ONES, Fill.ZEROS, Fill.MASK}:
        made.fill = fills.pop() if len(fills) == 1 else Fill.MASK


def _gathered(it: Interpreter, arguments: Arguments, made: Value) -> None:
    params, indices = arguments.get(0, "params"), arguments.get(1, "indices")
    if params is None or indices is None or len(arguments.positional) > 2 or "axis" in arguments.keywords:
        return
    rows = literal_shape(it, indices)
    if rows is not None and params.shape is not None:
        made.shape = (*rows, *params.shape[1:])


def _gathered_nd(it: Interpreter, arguments: Arguments, made: Value) -> None:
    params, indices = arguments.get(0, "params"), arguments.get(1, "indices")
    rows = literal_shape(it, indices) if indices is not None else None
    if params is not None and rows and params.shape is not None and rows[-1] is not None:
        made.shape = (*rows[:-1], *params.shape[rows[-1] :])


def _one_hot(it: Interpreter, arguments: Arguments, made: Value) -> None:
    indices, depth = arguments.get(0, "indices"), arguments.get(1, "depth")
    rows = literal_shape(it, indices) if indices is not None else None
    if rows is not None and depth is not None:
        made.shape = (*rows, length_of(depth))
    made.fill = Fill.MASK


def _scattered(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`tensor_scatter_nd_update(ones, indices, zeros)` is a mask."""
    first, updates = arguments.get(0, "tensor"), arguments.get(2, "updates")
    if first is not None:
        made.shape = first.shape
        fills = {first.fill, updates.fill or written_fill(it, updates)} if updates is not None else {None}
        if fills == {Fill.ONES, Fill.ZEROS}:
            made.fill = Fill.MASK


def _scattered_anew(it: Interpreter, arguments: Arguments, made: Value) -> None:
    """`scatter_nd(indices, ones, shape)`: ones among zeros."""
    updates = arguments.get(1, "updates")
    made.shape = asked_shape(it, arguments.get(2, "shape"))
    if updates is not None and (updates.fill or written_fill(it, updates)) is Fill.ONES:
        made.fill = Fill.MASK


def _drawn_by_numpy(it: Interpreter, name: str, arguments: Arguments, made: Value) -> None:
    if name in ("randn", "rand"):
        made.shape = tuple(length_of(each) for each in arguments.positional)
    elif name in ("normal", "uniform", "randint", "binomial", "integers", "choice"):
        made.shape = asked_shape(it, arguments.get(1 if name == "choice" else 2, "size"))
    else:
        made.shape = asked_shape(it, arguments.get(0, "size"))


#: Methods of a generator of NumPy that draw: `rng.normal(size=(6, 1))`.
_DRAWS = frozenset("randn rand normal uniform randint integers random standard_normal random_sample".split())


_DESCRIBERS: dict[Op, Describer] = {
    ops.ZEROS: _filled(Fill.ZEROS), ops.ONES: _filled(Fill.ONES), ops.EMPTY: _filled(None), ops.FULL: _full,
    ops.ZEROS_LIKE: _like(Fill.ZEROS), ops.ONES_LIKE: _like(Fill.ONES), ops.EMPTY_LIKE: _like(None),
    ops.RANGE: _counted, ops.TRIANGLE: _triangle, ops.EYE: _identity,
    **dict.fromkeys([ops.CONSTANT, ops.ARRAY, ops.AS_ARRAY, ops.CONVERT], _literal),
    **dict.fromkeys([ops.CAST, ops.IDENTITY, ops.STOP], _kept),
    ops.MATMUL: _matmul, ops.MATVEC: _applied_to_vectors, ops.WHERE: _chosen, ops.RESHAPE: _reshaped,
    ops.EXPAND: _expanded, ops.SQUEEZE: _squeezed, ops.CONCAT: _concatenated,
    ops.GATHER: _gathered, ops.GATHER_ND: _gathered_nd, ops.ONE_HOT: _one_hot, ops.SCATTER_UPDATE: _scattered,
    ops.SCATTER_ND: _scattered_anew,
    **dict.fromkeys([ops.NORMAL, ops.TRUNCATED_NORMAL, ops.STATELESS_NORMAL, ops.UNIFORM, ops.STATELESS_UNIFORM,
                     ops.RAND, ops.DRAW], _filled(None)),
    **dict.fromkeys([ops.MULTIPLY, ops.ADD, ops.SUBTRACT, ops.DIVIDE, ops.MAXIMUM, ops.MINIMUM,
                     ops.SQUARED_DIFFERENCE], _entries_of_both),
    **dict.fromkeys([ops.SUM, ops.MEAN, ops.MAXIMUM_OF, ops.MINIMUM_OF, ops.PRODUCT_OF], _reduced),
    ops.SIGMOID_CROSS_ENTROPY: _losses_of_entries, ops.MEAN_LOSS: _losses_of_rows,
}  # fmt: skip


def describe_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, made: Value) -> None:
    """The same for a method of a tensor or an array: `mask.astype("float32")`, `x.reshape(3, 2)`."""
    owner = receiver.operands[0] if receiver.operands else receiver
    held = owner if receiver.label == name else receiver  # `x.astype`, looked up before it is called
    if name in _DRAWS and owner.label.startswith("np.random") and not owner.dead:
        _drawn_by_numpy(it, name, arguments, made)
    elif name == "reshape":
        given = arguments.positional
        made.shape = asked_shape(it, given[0]) if len(given) == 1 else tuple(length_of(each) for each in given)
        made.fill = held.fill
    elif name in ("sum", "mean", "max", "min", "std") and made.kind is Kind.PLAIN:
        made.shape = reduced(held.shape, arguments.get(0, "axis"), is_literal(arguments.get(None, "keepdims"), True))
    elif name in ("astype", "copy", "numpy"):
        _kept(it, Arguments((held,)), made)
        if made.kind is Kind.PLAIN and made.fill is not None:
            _set_fill(it, made, made.fill)
