"""Tensor calls: TensorFlow and Keras functions over tensors, by what they do to gradients."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments, Handler, name_called
from gradlint.flow.asking import ask_unknown, gradients_like
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import symbolic_operation
from gradlint.flow.objects import (
    LibraryObject,
    Variable,
)
from gradlint.flow.values import DType, How, Kind, Value
from gradlint.knowledge.effects import effect_of
from gradlint.verdicts import Cause

_INTEGER_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
CALLABLE = (Kind.FUNCTION, Kind.LAYER, Kind.INSTANCE)


def apply_effect(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of an operation on tensors, by what was measured of it."""
    effect = effect_of(symbol)
    assert effect is not None
    values = arguments.every()
    for value in values:
        if value.kind in CALLABLE and value.kind is Kind.FUNCTION:
            # An operation that is given a function may run it: nothing is known of the result.
            return it.opaque_call(node, values, f"`{symbol}` calls back", getter=False)
    if effect.fresh:
        return it.fresh(Kind.TENSOR, node, label=symbol)
    symbolic = any(leaf.kind is Kind.SYMBOLIC for value in values for leaf in it.leaves(value))
    kind = Kind.SYMBOLIC if symbolic else Kind.TENSOR
    ref = symbolic_operation(it, tuple(values)) if symbolic else None
    if effect.cause is not None:
        dead = tuple((value, effect.cause) for value in values)
        return it.operation(node, (), label=symbol, dead=dead, kind=kind, ref=ref)
    flowing = [value for value in values if value.kind not in (Kind.SYMBOL, Kind.METHOD)]
    return it.operation(node, flowing, label=symbol, kind=kind, ref=ref)


def plain_call(it: Interpreter, values: list[Value] | tuple[Value, ...], node: ast.AST) -> Value:
    """A call of Python or NumPy: numbers come out, gradients do not."""
    made = it.plain(node, [value for value in values if value.kind is not Kind.SYMBOL], Cause.LEFT_TENSORFLOW)
    return made


def leave_tensorflow(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return plain_call(it, arguments.every(), node)


def variable_call(keras: bool) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        initial = arguments.get(0, "initial_value" if not keras else "initializer")
        trainable = arguments.get(1 if not keras else 3, "trainable")
        known: bool | None = True
        if arguments.more_keywords is not None and trainable is None:
            known = None
        if trainable is not None:
            known = bool(trainable.ref) if trainable.kind is Kind.LITERAL and trainable.how is How.FRESH else None
        dtype = arguments.get(None, "dtype")
        integer = _is_integer_type(dtype) if dtype is not None else _is_integer_literal(it, initial)
        made = Variable(it.new_id(), "", keras, known, node, integer=integer)
        value = it.fresh(Kind.VARIABLE, node, ref=made)
        value.shape = initial.shape if initial is not None else None
        value.dtype = DType.INTEGER if integer else DType.FLOAT
        if initial is not None:
            value.dead = tuple((leaf, Cause.STATE) for leaf in it.leaves(initial))
        return value

    return run


def _is_integer_type(value: Value) -> bool:
    if value.kind is Kind.SYMBOL:
        return value.ref.rpartition(".")[2] in _INTEGER_TYPES
    return value.kind is Kind.LITERAL and value.ref in _INTEGER_TYPES


def _is_integer_literal(it: Interpreter, value: Value | None) -> bool:
    if value is None:
        return False
    if value.kind is Kind.CONTAINER:
        elements = it.items(value).elements
        return bool(elements) and all(_is_integer_literal(it, each) for each in elements)
    return value.kind is Kind.LITERAL and isinstance(value.ref, int | bool)


def cast_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value, dtype = arguments.get(0, "x"), arguments.get(1, "dtype")
    if value is None:
        return it.unknown(node, "a cast of unknown arguments", arguments.every())
    if dtype is not None and _is_integer_type(dtype):
        return it.operation(node, (), label="tf.cast", dead=((value, Cause.INTEGER),), dtype=DType.INTEGER)
    kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
    ref = symbolic_operation(it, (value,)) if kind is Kind.SYMBOLIC else None
    made = it.operation(node, (value,), label="tf.cast", kind=kind, ref=ref, dtype=DType.UNKNOWN)
    # A cast to the type that a tensor has already hands back that very tensor.
    return it.join([value, made]) if value.kind is Kind.TENSOR else made


def first_dead(cause: Cause, *indices: int) -> Handler:
    """Gradients pass to all arguments but those at `indices`."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        live = [value for i, value in enumerate(arguments.positional) if i not in indices]
        live += list(arguments.keywords.values())
        dead = tuple((arguments.positional[i], cause) for i in indices if i < len(arguments.positional))
        return it.operation(node, live, label=name_called(node), dead=dead)

    return run


def where_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    condition, rest = arguments.get(0, "condition"), [arguments.get(1, "x"), arguments.get(2, "y")]
    live = [value for value in rest if value is not None]
    dead = ((condition, Cause.NON_DIFFERENTIABLE),) if condition is not None else ()
    return it.operation(node, live, label="tf.where", dead=dead)


def top_k(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[:1]
    indices = it.operation(
        node, (), label="tf.math.top_k", dead=tuple((each, Cause.NON_DIFFERENTIABLE) for each in value)
    )
    return it.tuple_of((it.operation(node, value, label="tf.math.top_k"), indices), node)


def pair_call(label: str) -> Handler:
    """A function that returns a pair of tensors, each over all arguments (tf.nn.moments ...)."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        return it.tuple_of([it.operation(node, arguments.every(), label=label) for _ in range(2)], node)

    return run


def clip_by_global_norm(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.positional[:1]
    clipped = it.operation(node, arguments.every(), label="tf.clip_by_global_norm")
    listed = it.list_of([clipped], node, exact=False)
    if values and values[0].kind is Kind.CONTAINER:
        items = it.items(values[0])
        made = [it.operation(node, (each, *values), label="tf.clip_by_global_norm") for each in items.elements]
        listed = it.list_of(made, node, exact=items.exact)
    return it.tuple_of((listed, it.operation(node, values, label="tf.linalg.global_norm")), node)


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


def tf_gradients(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.events import GradientsAskedInEager

    ys, xs = arguments.get(0, "ys"), arguments.get(1, "xs")
    if it.eager and not it.expected and not it.open_code and not any(frame.graph for frame in it.frame.callers()):
        it.events.append((GradientsAskedInEager, node, it.frame, it.doubt == 0))
        it.alive = False  # it raises
    ask_unknown(it, "gradients", ys, xs, node, "`tf.gradients` asks the graph, not a tape")
    if ys is None or xs is None:
        return it.unknown(node, "gradients of unknown arguments", arguments.every())
    made = gradients_like(it, ys, xs, node)
    return made if made.kind is Kind.CONTAINER else it.list_of([made], node)


def input_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.SYMBOLIC, node, label="keras.Input")


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
    if value.kind is Kind.TENSOR and value.how is not How.JOIN:
        return value
    made = it.operation(node, values, label="tf.convert_to_tensor")
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
