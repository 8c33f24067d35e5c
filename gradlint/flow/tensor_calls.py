"""Tensor calls: TensorFlow and Keras functions over tensors, by what they do to gradients."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.asking import ask_unknown, gradients_like
from gradlint.flow.certainty import is_surely_tensor
from gradlint.flow.constants import describe_method, describe_variable
from gradlint.flow.descent import PRODUCTS, gradient_of
from gradlint.flow.dtypes import kept_dtype, literal_dtype, named_dtype
from gradlint.flow.eager_functions import are_traced
from gradlint.flow.indexed_slices import is_indexed
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.made_anew import note_variable_made
from gradlint.flow.masks import note_product
from gradlint.flow.members import symbolic_operation
from gradlint.flow.objects import (
    Items,
    LibraryObject,
    Variable,
)
from gradlint.flow.resizing import note_nearest
from gradlint.flow.shapes import asked_shape, length_of
from gradlint.flow.update_events import ClipMisused
from gradlint.flow.values import DType, How, Kind, Value, is_bare
from gradlint.flow.zero_cuts import cut_of_function
from gradlint.knowledge.effects import Effect, effect_of
from gradlint.knowledge.measured import DtypeClass
from gradlint.ops import table as ops
from gradlint.ops.lookup import op_of, operands_of
from gradlint.verdicts import Cause

#: Methods that hand out the numbers of a tensor or array.
TO_NUMBERS = ("numpy", "item", "tolist")
CALLABLE = (Kind.FUNCTION, Kind.LAYER, Kind.INSTANCE)


def apply_effect(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of an operation on tensors, by what was measured of it."""
    effect = effect_of(symbol)
    assert effect is not None
    values = arguments.every()
    if any(value.kind is Kind.FUNCTION for value in values):
        # An operation that is given a function may run it: nothing is known of the result.
        return it.opaque_call(node, values, f"`{symbol}` calls back", getter=False)
    if symbol in ("tf.clip_by_norm", "tf.clip_by_value") and arguments.positional and not it.expected:
        _note_list(it, symbol, arguments.positional[0], node)
    made = [_one_output(it, symbol, effect, number, arguments, node) for number in range(len(effect.causes))]
    if len(made) == 1:
        return made[0]
    several = it.tuple_of(made, node)
    several.label = symbol  # a named tuple: `result.output` is one of them
    return several


def _one_output(
    it: Interpreter, symbol: str, effect: Effect, number: int, arguments: Arguments, node: ast.AST
) -> Value:
    op = op_of(symbol)
    operands = operands_of(op, symbol, arguments.positional, arguments.keywords) if op.operands > 1 else ()
    live: list[Value] = []
    dead = list(cut_of_function(it, op, operands, arguments, node))
    constant = {id(value) for value, _ in dead}
    asked: DType | None = None
    for name, value in _named(effect, arguments):
        if name in _DTYPE_PARAMETERS:
            asked = named_dtype(value)
        cause: Cause | None = effect.every or effect.causes[number].get(name)
        if it.registers_gradients:
            cause = None  # the file says itself what some operations do
        if id(value) in constant:
            continue
        if cause is not None:
            dead.append((value, cause))
        elif value.kind not in (Kind.SYMBOL, Kind.METHOD):
            live.append(value)
    dtype = asked if asked is not None else _dtype(effect, number, symbol, live)
    leaves = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    if any(leaf.kind is Kind.SYMBOLIC for leaf in leaves):
        ref = symbolic_operation(it, tuple(arguments.every()))
        made = it.operation(node, live, label=symbol, dead=dead, kind=Kind.SYMBOLIC, ref=ref, dtype=dtype)
        made.given, made.operands = arguments, operands
        return made
    if effect.every is not None and not any(map(may_hold, leaves)):
        made = it.fresh(Kind.TENSOR, node, label=symbol)
        made.dtype, made.given, made.operands = dtype, arguments, operands
        return made
    made = it.operation(node, live, label=symbol, dead=dead, dtype=dtype)
    made.given = arguments
    made.operands = operands
    if op.role in PRODUCTS and len(operands) == 2:
        note_product(it, *operands, node)
    return made


def _note_list(it: Interpreter, symbol: str, given: Value, node: ast.AST) -> None:
    """`tf.clip_by_norm` of a list of gradients."""
    if given.kind is not Kind.CONTAINER or not any(each.of is not None for each in it.items(given).elements):
        return
    items = it.items(given)
    if len(items.elements) > 1 or any(
        each.of is not None and each.of.kind is Kind.VARIABLES for each in items.elements
    ):
        shapes = {each.shape or (each.of.shape if each.of is not None else None) for each in items.elements}
        stacks = len(shapes) == 1 and shapes != {None}
        raises = "" if symbol.endswith("clip_by_value") or stacks else "InvalidArgumentError"
        problem = "takes one tensor: a list is stacked into one, and raises InvalidArgumentError where shapes differ"
        it.note(ClipMisused, node, symbol, problem, raises)


def _named(effect: Effect, arguments: Arguments) -> Iterator[tuple[str, Value]]:
    """The arguments with the names of their parameters, an empty name where that cannot be told."""
    for position, value in enumerate(arguments.positional):
        yield effect.parameters[position] if position < len(effect.parameters) else "", value
    yield from arguments.keywords.items()
    for extra in (arguments.more, arguments.more_keywords):
        if extra is not None:
            yield "", extra


_DTYPES = {DtypeClass.INTEGER: DType.INTEGER, DtypeClass.BOOL: DType.BOOL}
_DTYPE_PARAMETERS = ("dtype", "out_type", "output_type")
_FLOAT_UNLESS_ASKED = frozenset(
    {ops.NORMAL, ops.TRUNCATED_NORMAL, ops.STATELESS_NORMAL, ops.STATELESS_UNIFORM, ops.ZEROS, ops.ONES, ops.EYE}
)


def _dtype(effect: Effect, number: int, symbol: str, live: list[Value]) -> DType:
    """The element type: fixed by the function, or that of its tensors."""
    told = effect.dtypes[number] if number < len(effect.dtypes) else None
    if told in _DTYPES:
        return _DTYPES[told]
    return DType.FLOAT if op_of(symbol) in _FLOAT_UNLESS_ASKED else kept_dtype(symbol, live)


def plain_call(it: Interpreter, label: str, values: Sequence[Value], node: ast.AST) -> Value:
    """A call of Python or NumPy: numbers come out, gradients do not. `label` is a symbol or a method (`.numpy`)."""
    held = [value for value in values if value.kind is not Kind.SYMBOL]
    made = it.plain(node, held, Cause.LEFT_TENSORFLOW, label)
    if label.startswith("math."):
        made.operands = tuple(held)
    return made


_MADE_OF_NUMBERS = ("np.", "scipy.", "sklearn.", "math.", "pandas.", "cv2.", "PIL.", "array item")


def may_hold(value: Value) -> bool:
    """Whether a value is, or could hold, a tensor or something that computes one."""
    return value.kind is not Kind.SYMBOL and not is_bare(value)


def is_number(value: Value) -> bool:
    """Whether a plain value is known to be a number or an array, rather than some object of Python's."""
    return bool(value.dead or value.inputs) or value.label.startswith(_MADE_OF_NUMBERS)


def plain_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a Python or NumPy object: of numbers it makes numbers, of others nothing is known."""
    given = arguments.every()
    told = _told_text(receiver, name, given)
    if told is not None:
        return it.fresh(Kind.LITERAL, node, ref=told)
    owner = receiver.operands[0] if receiver.operands else receiver
    if receiver.kind is Kind.PLAIN and not (is_number(receiver) or is_number(owner)) and any(map(may_hold, given)):
        return it.opaque_call(node, (receiver, *given), f"`{name}` of an object that is not known", getter=True)
    label = f"np.ndarray.{name}" if receiver.kind is Kind.PLAIN and is_number(receiver) else f".{name}"
    made = plain_call(it, label, [receiver, *given], node)
    made.given, made.callee = arguments, receiver
    describe_method(it, receiver, name, arguments, made)
    return made


#: Methods of strings that make strings or answer yes or no.
_OF_TEXTS = frozenset(
    "capitalize endswith format islower isupper lower lstrip removeprefix removesuffix replace rstrip startswith strip "
    "title upper".split()
)
_LONGEST_TEXT = 1000


def _told_text(receiver: Value, name: str, given: list[Value]) -> str | bool | None:
    """What a method of a string that is written out gives, where its arguments are written out as well."""
    values = [receiver, *given]
    if name not in _OF_TEXTS or not isinstance(receiver.ref, str):
        return None
    if not all(each.kind is Kind.LITERAL and each.how is How.FRESH for each in values):
        return None
    if not all(isinstance(each.ref, str | int) and len(str(each.ref)) < _LONGEST_TEXT for each in values):
        return None
    try:
        told: str | bool = getattr(receiver.ref, name)(*(each.ref for each in given))
    except (TypeError, ValueError, LookupError):
        return None
    return told if len(str(told)) < _LONGEST_TEXT else None


def leave_tensorflow(label: str) -> Handler:
    """A function of Keras or Python that returns numbers."""
    return lambda it, arguments, node: plain_call(it, label, arguments.every(), node)


def variable_call(keras: bool, *, floats: bool = False) -> Handler:
    """A variable's constructor. With `floats` a number without a type makes a float (`keras.backend.variable`)."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        initial = arguments.get(0, "initial_value" if not keras else "initializer")
        trainable = arguments.get(1 if not keras else 3, "trainable")
        known: bool | None = True
        if arguments.more_keywords is not None and trainable is None:
            known = None
        if trainable is not None:
            known = bool(trainable.ref) if trainable.kind is Kind.LITERAL and trainable.how is How.FRESH else None
        dtype = arguments.get(None, "dtype")
        told = DType.FLOAT if floats else literal_dtype(it, initial)
        if dtype is not None:
            told = named_dtype(dtype)
        integer = told in (DType.INTEGER, DType.BOOL)
        made = Variable(it.new_id(), "", keras, known, node, integer=integer, initial=initial)
        value = it.fresh(Kind.VARIABLE, node, ref=made)
        if initial is not None:
            describe_variable(it, value, initial, trained=known is not False)
        value.dtype = told if integer else DType.FLOAT
        note_variable_made(it, value, node, (initial,) if initial is not None else ())
        if initial is not None:
            value.dead = tuple((leaf, Cause.STATE) for leaf in it.leaves(initial))
        return value

    return run


def cast_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.cast` and its likes: `tf.saturate_cast`, `tf.image.convert_image_dtype`."""
    first = next((name for name in ("x", "value", "image") if name in arguments.keywords), "x")
    value, dtype = arguments.get(0, first), arguments.get(1, "dtype")
    if value is None:
        return it.unknown(node, "a cast of unknown arguments", arguments.every())
    made_type = named_dtype(dtype)
    if made_type in (DType.INTEGER, DType.BOOL):
        symbolic = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
        return it.operation(node, (), label="tf.cast", dead=((value, Cause.INTEGER),), dtype=made_type, kind=symbolic)
    kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
    ref = symbolic_operation(it, (value,)) if kind is Kind.SYMBOLIC else None
    made = it.operation(node, (value,), label="tf.cast", kind=kind, ref=ref, dtype=made_type)
    # A cast to the type that a tensor has already hands back that very tensor.
    if value.kind is Kind.TENSOR and value.dtype is not DType.BOOL and value.dtype is not DType.INTEGER:
        return it.join([value, made])
    return made


def resize_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.image.resize`: the area method alone has no gradient registered (measured)."""
    images, method = arguments.get(0, "images"), arguments.get(2, "method")
    name = method.ref if method is not None and method.kind in (Kind.LITERAL, Kind.SYMBOL) else ""
    if images is not None and isinstance(name, str) and name.rpartition(".")[2].lower() == "area":
        return it.operation(node, (), label="tf.image.resize", dead=((images, Cause.UNREGISTERED_OP),))
    made = apply_effect(it, "tf.image.resize", arguments, node)
    if (
        images is not None
        and isinstance(name, str)
        and name.rpartition(".")[2].lower() in ("nearest", "nearest_neighbor")
    ):
        note_nearest(it, images, arguments.get(1, "size"), made, node)
    return made


def constant_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.constant`: of a tensor, or of numbers written out."""
    made = apply_effect(it, "tf.constant", arguments, node)
    dtype = arguments.get(1, "dtype")
    made.dtype = named_dtype(dtype) if dtype is not None else literal_dtype(it, arguments.get(0, "value"))
    return made


def top_k(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[:1]
    indices = it.operation(
        node, (), label="tf.math.top_k", dead=tuple((each, Cause.NON_DIFFERENTIABLE) for each in value)
    )
    made = it.tuple_of((it.operation(node, value, label="tf.math.top_k"), indices), node)
    made.ref.fields = ("values", "indices")
    return made


def clip_by_global_norm(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.positional[:1]
    if values and is_surely_tensor(values[0]) and not it.expected:
        problem = "raises TypeError: it is given one tensor, and takes a list"
        it.note(ClipMisused, node, "tf.clip_by_global_norm", problem, "TypeError")
    clipped = it.operation(node, arguments.every(), label="tf.clip_by_global_norm")
    listed = it.list_of([clipped], node, exact=False)
    if values and values[0].kind is Kind.CONTAINER:
        items = it.items(values[0])
        made = [it.operation(node, (each, *values), label="tf.clip_by_global_norm") for each in items.elements]
        for result, each in zip(made, items.elements, strict=True):
            result.of = gradient_of(each)
        listed = it.container("list", Items(tuple(made), None, items.exact, items.ordered), node)
    made_pair = it.tuple_of((listed, it.operation(node, values, label="tf.linalg.global_norm")), node)
    made_pair.label = "tf.clip_by_global_norm"
    return made_pair


def split_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    parts = arguments.get(1, "num_or_size_splits")
    count = None
    if parts is not None and parts.kind is Kind.LITERAL and isinstance(parts.ref, int):
        count = parts.ref
    elif parts is not None and parts.kind is Kind.CONTAINER and it.items(parts).exact:
        count = len(it.items(parts).elements)
    values = arguments.positional[:1]
    if count is not None and 0 < count <= 16:
        return it.list_of([it.operation(node, values, label="tf.split") for _ in range(count)], node)
    return it.list_of([it.operation(node, values, label="tf.split")], node, exact=False)


def unstack(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.list_of([it.operation(node, arguments.positional[:1], label="tf.unstack")], node, exact=False)


def _may_be_in_graph(it: Interpreter) -> bool:
    """Whether the running code is, or may be, traced: some function on the way was given to tf.function."""
    open_to_doubt = are_traced(it) is None
    return any(
        frame.graph or (open_to_doubt and frame.function is not None and "tf.function" in frame.function.decorators)
        for frame in it.frame.callers()
    )


def tf_gradients(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.events import GradientsAskedInEager

    ys, xs = arguments.get(0, "ys"), arguments.get(1, "xs")
    if it.eager and not it.expected and not it.open_code and not _may_be_in_graph(it):
        it.note(GradientsAskedInEager, node)
        it.alive = False  # it raises
    ask_unknown(it, "gradients", ys, xs, node, "`tf.gradients` asks the graph, not a tape")
    if ys is None or xs is None:
        return it.unknown(node, "gradients of unknown arguments", arguments.every())
    made = gradients_like(it, ys, xs, node)
    return made if made.kind is Kind.CONTAINER else it.list_of([made], node)


def input_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = it.fresh(Kind.SYMBOLIC, node, label="keras.Input")
    shape, batch = asked_shape(it, arguments.get(0, "shape")), arguments.get(1, "batch_size")
    if shape is not None:
        made.shape = (length_of(batch) if batch is not None else None, *shape)
    return made


def loss_by_name(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.positional and arguments.positional[0].kind is Kind.LITERAL:
        return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras.losses.Loss"))
    return arguments.positional[0] if arguments.positional else it.plain(node)


def clone_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.objects import Layer

    source = arguments.positional[0] if arguments.positional else None
    if source is not None and source.kind in (Kind.LAYER, Kind.INSTANCE):
        return it.fresh(Kind.LAYER, node, ref=Layer(it.new_id(), "keras.models.Model"))
    return it.opaque_call(node, arguments.every(), "a clone of what cannot be seen", getter=True)


def device_context(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "contextlib.nullcontext"))


def load_model(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.objects import Layer

    return it.fresh(Kind.LAYER, node, ref=Layer(it.new_id(), "keras.models.Model"))


def as_tensor(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.convert_to_tensor`: a tensor is handed back as it is, anything else becomes a new one."""
    values = arguments.every()
    value = values[0] if values else it.plain(node)
    dtype = arguments.get(1, "dtype")
    if dtype is not None and named_dtype(dtype) is not value.dtype:
        return it.operation(node, (value,), label="tf.convert_to_tensor", dtype=named_dtype(dtype))
    if value.kind is Kind.TENSOR and value.how is not How.JOIN and not is_indexed(it, value):
        return value
    made = it.operation(node, values, label="tf.convert_to_tensor", dtype=value.dtype)
    return it.join([value, made]) if value.is_opaque or value.how is How.JOIN else made


def add_n(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.add_n`: of a single tensor, that very tensor."""
    made = it.operation(node, arguments.every(), label="tf.add_n")
    rows = arguments.positional[0] if arguments.positional else None
    if rows is None or rows.kind is not Kind.CONTAINER:
        return made
    items = it.items(rows)
    if items.exact:
        return items.elements[0] if len(items.elements) == 1 and items.elements[0].kind is Kind.TENSOR else made
    return it.join([made, *items.elements]) if len(items.elements) == 1 else made


def number_call(convert: Callable[[Any], int | float]) -> Handler:
    """`int(x)`, `float(x)`: of a written number or string another written number, of a tensor its number."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.get(0, "x")
        if given is not None and given.kind is Kind.LITERAL and isinstance(given.ref, int | float | str):
            try:
                return it.fresh(Kind.LITERAL, node, ref=convert(given.ref))
            except (ValueError, OverflowError):
                return it.plain(node)
        return plain_call(it, f"builtins.{convert.__name__}", arguments.every(), node)

    return run
