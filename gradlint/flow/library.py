"""Library calls: symbols, methods and objects of TensorFlow, Keras, NumPy and Python itself.

What an operation does to gradients comes from `knowledge/`; this module knows the symbols that
call back (cond, map_fn, strategy.run ...), make objects, or hold state.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from gradlint.flow import attributes, calls, keras_objects, tapes
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Function,
    HeapObject,
    Items,
    LibraryObject,
    Partial,
    Super,
    Transformed,
    Variable,
)
from gradlint.flow.symbols import KNOWN_ROOTS, PLAIN_ROOTS
from gradlint.flow.values import DType, How, Kind, Value, alternatives, is_literal
from gradlint.knowledge.effects import effect_of
from gradlint.verdicts import Cause

if TYPE_CHECKING:
    from gradlint.flow.calls import Arguments

Handler = Callable[[Interpreter, "Arguments", ast.AST], Value]
_INTEGER_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
_CALLABLE = (Kind.FUNCTION, Kind.LAYER, Kind.INSTANCE)


#: Namespaces whose functions make objects or have effects, and touch no gradient.
_OBJECT_SPACES = (
    "tf.train.", "tf.summary.", "tf.io.", "tf.config.", "tf.distribute.", "tf.lookup.", "tf.queue.", "tf.data.",
    "tf.compat.", "tf.saved_model.", "tf.profiler.", "tf.test.", "tf.errors.", "tf.dtypes.", "tf.types.", "tf.version.",
    "tf.sysconfig.", "tf.tpu.", "tf.autograph.", "tf.estimator.", "tf.feature_column.", "tf.app.", "tf.flags.",
    "tf.logging.", "tf.gfile.", "keras.utils.", "keras.callbacks.", "keras.datasets.", "keras.preprocessing.",
    "keras.mixed_precision.", "keras.config.", "keras.saving.", "keras.optimizers.", "keras.initializers.",
    "keras.regularizers.", "keras.constraints.", "keras.dtype_policies.", "keras.tree.", "keras.distribution.",
)  # fmt: skip


# -- symbols -----------------------------------------------------------------------------------


def call_symbol(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library symbol."""
    handler = SYMBOLS.get(symbol)
    if handler is not None:
        return handler(it, arguments, node)
    root = symbol.split(".", maxsplit=1)[0]
    if root == "builtins":
        return plain_call(it, arguments.every(), node)
    if symbol.startswith("tf.data."):
        for argument in arguments.every():
            it.escape(argument)
        return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.data.Dataset"))
    if keras_objects.is_layer_symbol(symbol):
        return keras_objects.make_layer(it, symbol, arguments, node)
    effect = effect_of(symbol)
    if effect is not None:
        return apply_effect(it, symbol, arguments, node)
    if root in PLAIN_ROOTS:
        return plain_call(it, arguments.every(), node)
    name = symbol.rpartition(".")[2]
    if root in ("tf", "keras") and (name[:1].isupper() or symbol.startswith(_OBJECT_SPACES)):
        made = LibraryObject(it.new_id(), symbol, arguments.positional, tuple(arguments.keywords.items()))
        return it.fresh(Kind.LIBRARY, node, ref=made, label=symbol)
    if root in KNOWN_ROOTS and not any(value.kind in _CALLABLE for value in arguments.every()):
        held = [value for value in arguments.every() if value.kind not in (Kind.LITERAL, Kind.PLAIN)]
        if not held:
            return it.plain(node)
    return it.opaque_call(node, arguments.every(), f"`{symbol}` cannot be seen", getter=True)


def apply_effect(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of an operation on tensors, by what was measured of it."""
    effect = effect_of(symbol)
    assert effect is not None
    values = arguments.every()
    for value in values:
        if value.kind in _CALLABLE and value.kind is Kind.FUNCTION:
            # An operation that is given a function may run it: nothing is known of the result.
            return it.opaque_call(node, values, f"`{symbol}` calls back", getter=False)
    if effect.fresh:
        return it.fresh(Kind.TENSOR, node, label=symbol)
    symbolic = any(leaf.kind is Kind.SYMBOLIC for value in values for leaf in it.leaves(value))
    kind = Kind.SYMBOLIC if symbolic else Kind.TENSOR
    ref = keras_objects.symbolic_operation(it, tuple(values)) if symbolic else None
    if effect.cause is not None:
        dead = tuple((value, effect.cause) for value in values)
        return it.operation(node, (), label=symbol, dead=dead, kind=kind, ref=ref)
    flowing = [value for value in values if value.kind not in (Kind.SYMBOL, Kind.METHOD)]
    return it.operation(node, flowing, label=symbol, kind=kind, ref=ref)


def plain_call(it: Interpreter, values: list[Value] | tuple[Value, ...], node: ast.AST) -> Value:
    """A call of Python or NumPy: numbers come out, gradients do not."""
    made = it.plain(node, [value for value in values if value.kind is not Kind.SYMBOL], Cause.LEFT_TENSORFLOW)
    return made


def _leave(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return plain_call(it, arguments.every(), node)


def _flow(label: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        return it.operation(node, arguments.every(), label=label)

    return run


def _fresh_tensor(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.TENSOR, node)


def _variable(keras: bool) -> Handler:
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


def _cast(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value, dtype = arguments.get(0, "x"), arguments.get(1, "dtype")
    if value is None:
        return it.unknown(node, "a cast of unknown arguments", arguments.every())
    if dtype is not None and _is_integer_type(dtype):
        return it.operation(node, (), label="tf.cast", dead=((value, Cause.INTEGER),), dtype=DType.INTEGER)
    kind = Kind.SYMBOLIC if value.kind is Kind.SYMBOLIC else Kind.TENSOR
    ref = keras_objects.symbolic_operation(it, (value,)) if kind is Kind.SYMBOLIC else None
    return it.operation(node, (value,), label="tf.cast", kind=kind, ref=ref, dtype=DType.UNKNOWN)


def _first_dead(cause: Cause, *indices: int) -> Handler:
    """Gradients pass to all arguments but those at `indices`."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        live = [value for i, value in enumerate(arguments.positional) if i not in indices]
        live += list(arguments.keywords.values())
        dead = tuple((arguments.positional[i], cause) for i in indices if i < len(arguments.positional))
        return it.operation(node, live, label=calls.name_called(node), dead=dead)

    return run


def _where(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    condition, rest = arguments.get(0, "condition"), [arguments.get(1, "x"), arguments.get(2, "y")]
    live = [value for value in rest if value is not None]
    dead = ((condition, Cause.NON_DIFFERENTIABLE),) if condition is not None else ()
    return it.operation(node, live, label="tf.where", dead=dead)


def _top_k(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[:1]
    indices = it.operation(
        node, (), label="tf.math.top_k", dead=tuple((each, Cause.NON_DIFFERENTIABLE) for each in value)
    )
    return it.tuple_of((it.operation(node, value, label="tf.math.top_k"), indices), node)


def _pair(label: str) -> Handler:
    """A function that returns a pair of tensors, each over all arguments (tf.nn.moments ...)."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        return it.tuple_of([it.operation(node, arguments.every(), label=label) for _ in range(2)], node)

    return run


def _clip_by_global_norm(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.positional[:1]
    clipped = it.operation(node, arguments.every(), label="tf.clip_by_global_norm")
    listed = it.list_of([clipped], node, exact=False)
    if values and values[0].kind is Kind.CONTAINER:
        items = it.items(values[0])
        made = [it.operation(node, (each, *values), label="tf.clip_by_global_norm") for each in items.elements]
        listed = it.list_of(made, node, exact=items.exact)
    return it.tuple_of((listed, it.operation(node, values, label="tf.linalg.global_norm")), node)


def _split(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
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


def _unstack(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.list_of([it.operation(node, arguments.positional[:1], label="tf.unstack")], node, exact=False)


# -- symbols that call back --------------------------------------------------------------------


def run_with_args(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`strategy.run(fn, args=(...), kwargs={...})`."""
    given = arguments.get(1, "args")
    known = attributes.known_elements(it, given) if given is not None else []
    more = given if known is None else None
    keywords = arguments.keywords.get("kwargs")
    named: dict[str, Value] = {}
    if keywords is not None and keywords.kind is Kind.CONTAINER and it.items(keywords).keys is not None:
        items = it.items(keywords)
        named = {str(key): value for key, value in zip(items.keys or (), items.elements, strict=False)}
    return calls.call(it, function, calls.Arguments(tuple(known or ()), named, more), node)


def _cond(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.expressions import in_arms

    branches = [arguments.get(1, "true_fn"), arguments.get(2, "false_fn")]
    known = [each for each in branches if each is not None]
    if len(known) < 2:
        return it.unknown(node, "branches that cannot be seen", arguments.every())
    return in_arms(it, [lambda each=each: calls.call(it, each, calls.Arguments(()), node) for each in known])  # type: ignore[misc]


def _switch(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.expressions import in_arms

    functions = [
        leaf for value in arguments.every() for leaf in it.leaves(value) if leaf.kind in (*_CALLABLE, Kind.UNKNOWN)
    ]
    if not functions:
        return it.unknown(node, "branches that cannot be seen", arguments.every())
    return in_arms(it, [lambda each=each: calls.call(it, each, calls.Arguments(()), node) for each in functions[:8]])  # type: ignore[misc]


def _while_loop(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    test, body, start = arguments.get(0, "cond"), arguments.get(1, "body"), arguments.get(2, "loop_vars")
    if body is None or start is None or body.kind is not Kind.FUNCTION:
        return it.unknown(node, "a loop that cannot be seen", arguments.every())
    state = list(it.items(start).elements) if start.kind is Kind.CONTAINER else [start]
    for _ in range(3):
        if test is not None:
            calls.call(it, test, calls.Arguments(tuple(state)), node)
        after = calls.call(it, body, calls.Arguments(tuple(state)), node)
        parts = (
            attributes.unpack(it, after, len(state), node)
            if len(state) > 1 or after.kind is Kind.CONTAINER
            else [after]
        )
        state = [it.join([old, new]) for old, new in zip(state, parts, strict=False)]
    return it.list_of(state, node)


def _map(label: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        function, elements = arguments.get(0, "fn"), arguments.get(1, "elems")
        if function is None or elements is None:
            return it.unknown(node, f"{label} over what cannot be seen", arguments.every())
        return _stacked(it, calls.call(it, function, calls.Arguments((_row(it, elements, node),)), node), label, node)

    return run


def _row(it: Interpreter, elements: Value, node: ast.AST) -> Value:
    if elements.kind is Kind.CONTAINER:
        items = it.items(elements)
        return it.container(
            elements.ref.type, Items(tuple(_row(it, each, node) for each in items.elements), items.keys, items.exact)
        )
    return attributes.element_of(it, elements, node)


def _stacked(it: Interpreter, value: Value, label: str, node: ast.AST) -> Value:
    if value.kind is Kind.CONTAINER:
        items = it.items(value)
        made = tuple(_stacked(it, each, label, node) for each in items.elements)
        return it.container(value.ref.type, Items(made, items.keys, items.exact), node)
    return it.operation(node, (value,), label=label)


def _scan(label: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        function, elements = arguments.get(0, "fn"), arguments.get(1, "elems")
        start = arguments.get(2, "initializer")
        if function is None or elements is None:
            return it.unknown(node, f"{label} over what cannot be seen", arguments.every())
        state = start if start is not None else _row(it, elements, node)
        for _ in range(3):
            after = calls.call(it, function, calls.Arguments((state, _row(it, elements, node))), node)
            state = _join_structure(it, state, after, node)
        return _stacked(it, state, label, node)

    return run


def _join_structure(it: Interpreter, left: Value, right: Value, node: ast.AST) -> Value:
    if left.kind is Kind.CONTAINER and right.kind is Kind.CONTAINER:
        a, b = it.items(left), it.items(right)
        if len(a.elements) == len(b.elements):
            pairs = zip(a.elements, b.elements, strict=True)
            return it.container(left.ref.type, Items(tuple(it.join([x, y]) for x, y in pairs), a.keys, a.exact), node)
    return it.join([left, right])


def _py_function(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    function, inputs = arguments.get(0, "func"), arguments.get(1, "inp")
    if function is None or inputs is None:
        return it.unknown(node, "a Python function that cannot be seen", arguments.every())
    returned = calls.call(it, function, calls.Arguments(it.leaves(inputs)), node)
    return it.operation(node, (returned,), label="tf.py_function")


def _numpy_function(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    inputs = arguments.get(1, "inp")
    dead = ((inputs, Cause.LEFT_TENSORFLOW),) if inputs is not None else ()
    return it.operation(node, (), label="tf.numpy_function", dead=dead)


def _map_structure(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    function, structures = arguments.get(0, "func"), arguments.positional[1:]
    if function is None or not structures:
        return it.unknown(node, "a structure that cannot be seen", arguments.every())
    if all(each.kind is Kind.CONTAINER for each in structures):
        contents = [it.items(each) for each in structures]
        if len({len(each.elements) for each in contents}) == 1:
            rows = zip(*(each.elements for each in contents), strict=True)
            made = tuple(_map_structure(it, calls.Arguments((function, *row)), node) for row in rows)
            return it.container(
                structures[0].ref.type, Items(made, contents[0].keys, all(each.exact for each in contents)), node
            )
    if any(each.kind is Kind.VARIABLES for each in structures):
        rows_ = tuple(attributes.element_of(it, each, node) for each in structures)
        return it.list_of([calls.call(it, function, calls.Arguments(rows_), node)], node, exact=False)
    return calls.call(it, function, calls.Arguments(structures), node)


def _function_wrapper(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.function(f)` and, without a function, the decorator that it then returns."""
    function = arguments.get(0, "func")
    if function is not None and not is_literal(function, None):
        return calls.as_graph(function) if function.kind is Kind.FUNCTION else function
    symbol = it.fresh(Kind.SYMBOL, node, ref="tf.function")
    return it.fresh(Kind.FUNCTION, node, ref=Partial(it.new_id(), symbol, (), ()))


def _transformer(name: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional:
            return it.fresh(Kind.SYMBOL, node, ref=name)
        return calls.decorate(it, it.fresh(Kind.SYMBOL, node, ref=name), arguments.positional[0], node)

    return run


def _identity_decorator(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "identity", it.plain(node)))


def _caching_decorator(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`functools.lru_cache(maxsize=...)`, and `functools.cache(f)` as a call."""
    if arguments.positional and arguments.positional[0].kind is Kind.FUNCTION:
        return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "cache", arguments.positional[0]))
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "caching", it.plain(node)))


def call_transformed(it: Interpreter, target: Transformed, arguments: Arguments, node: ast.AST) -> Value:
    """Call what a library decorator made of a function."""
    match target.transformer:
        case "contextmanager":
            made = LibraryObject(
                it.new_id(),
                "contextmanager",
                (target.function, *arguments.positional),
                tuple(arguments.keywords.items()),
            )
            return it.fresh(Kind.LIBRARY, node, ref=made)
        case "tf.custom_gradient" | "tf.grad_pass_through":
            returned = calls.call(it, target.function, arguments, node)
            if target.transformer == "tf.grad_pass_through":
                return it.operation(node, arguments.every(), label=target.transformer)
            value = returned
            if returned.kind is Kind.CONTAINER and it.items(returned).exact and len(it.items(returned).elements) == 2:
                value = it.items(returned).elements[0]
            # The gradient is what the author wrote: it passes to the arguments and to variables read inside.
            if value.kind is Kind.CONTAINER:
                items = it.items(value)
                made_values = tuple(
                    it.operation(node, (each, *arguments.every()), label="custom gradient") for each in items.elements
                )
                return it.container(value.ref.type, Items(made_values, items.keys, items.exact), node)
            return it.operation(node, (value, *arguments.every()), label="custom gradient")
        case "namedtuple":
            return _make_named_tuple(it, target.function, arguments, node)
        case "cache":
            return _call_cached(it, target, arguments, node)
        case "identity":
            return arguments.positional[0] if arguments.positional else it.plain(node)
    return calls.call(it, target.function, arguments, node)


def _call_cached(it: Interpreter, target: Transformed, arguments: Arguments, node: ast.AST) -> Value:
    """`functools.cache`: the same arguments give the very value of the first call."""
    owner = arguments.positional[0].ref if arguments.positional else None
    key = (owner.id if isinstance(owner, HeapObject) else target.id, f"<cached {target.id}>")
    given = it.tuple_of(arguments.every())
    kept = it.store.get(key)
    if kept is not None and kept.kind is Kind.CONTAINER:
        before, value = it.items(kept).elements
        if before.kind is Kind.CONTAINER and it.alike(it.items(before).elements, it.items(given).elements):
            return value
    value = calls.call(it, target.function, arguments, node)
    it.keep(value)
    it.store.set(key, it.tuple_of((given, value)))
    return value


# -- Python's own ------------------------------------------------------------------------------


def _partial(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return it.unknown(node, "a partial of nothing", arguments.every())
    function, *rest = arguments.positional
    return it.fresh(
        Kind.FUNCTION, node, ref=Partial(it.new_id(), function, tuple(rest), tuple(arguments.keywords.items()))
    )


def _to_list(type_: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional:
            return it.container(type_, Items(), node)
        value = arguments.positional[0]
        if value.kind is Kind.VARIABLES:
            return value
        known = attributes.known_elements(it, value)
        if known is not None:
            return it.container(type_, Items(tuple(known)), node)
        if value.kind is Kind.CONTAINER:
            return it.container(type_, Items(it.items(value).elements, None, exact=False), node)
        if value.kind is Kind.PLAIN:
            return value
        if value.kind is Kind.UNKNOWN and value.is_opaque:
            return value  # a list of what cannot be seen is as unknown as that
        return it.container(type_, Items((attributes.element_of(it, value, node),), None, exact=False), node)

    return run


def _dict(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional and arguments.more_keywords is None:
        return it.container("dict", Items(tuple(arguments.keywords.values()), tuple(arguments.keywords)), node)
    first = arguments.positional[0] if arguments.positional else None
    if first is not None and first.kind is Kind.CONTAINER and first.ref.type == "dict":
        items = it.items(first)
        if items.exact and items.keys is not None:
            merged = {**dict(zip(items.keys, items.elements, strict=True)), **arguments.keywords}
            return it.container("dict", Items(tuple(merged.values()), tuple(merged)), node)
    elements = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    return it.container("dict", Items(tuple(elements), None, exact=False), node)


def _lazy_type(arguments: Arguments) -> str:
    """`zip` and `filter` of a generator are as lazy as that."""
    lazy = any(value.kind is Kind.CONTAINER and value.ref.type == "generator" for value in arguments.every())
    return "generator" if lazy else "list"


def _filter(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = _to_list(_lazy_type(arguments))(it, calls.Arguments(arguments.positional[1:]), node)
    if made.kind is Kind.CONTAINER:
        attributes.forget_positions(it, made)
    return made


def _zip(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.more is not None:
        # zip(*rows): each column holds an element of an element.
        row_value = attributes.element_of(it, arguments.more, node)
        columns = attributes.known_elements(it, row_value)
        if columns is None:
            columns = [attributes.element_of(it, row_value, node)]
            exact = False
        else:
            exact = True
        made = [it.container("tuple", Items((each,), None, exact=False)) for each in columns]
        return it.list_of(made, node, exact=exact)
    known = [attributes.known_elements(it, value) for value in arguments.positional]
    if known and all(each is not None for each in known):
        listed = [each for each in known if each is not None]
        rows = [it.tuple_of(row, node) for row in zip(*listed, strict=False)]
        return it.container(_lazy_type(arguments), Items(tuple(rows)), node)
    row = it.tuple_of([attributes.element_of(it, value, node) for value in arguments.positional], node)
    return it.container(_lazy_type(arguments), Items((row,), None, exact=False), node)


def _enumerate(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return it.plain(node)
    known = attributes.known_elements(it, arguments.positional[0])
    if known is not None:
        rows = [it.tuple_of((it.fresh(Kind.LITERAL, node, ref=i), each), node) for i, each in enumerate(known)]
        return it.list_of(rows, node)
    element = attributes.element_of(it, arguments.positional[0], node)
    return it.list_of([it.tuple_of((it.plain(node), element), node)], node, exact=False)


def _range(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    numbers = [each.ref for each in arguments.positional if each.kind is Kind.LITERAL and isinstance(each.ref, int)]
    if numbers and len(numbers) == len(arguments.positional):
        values = range(*numbers) if len(numbers) <= 3 and (len(numbers) < 3 or numbers[2]) else range(0)
        if len(values) <= 8:
            return it.list_of([it.fresh(Kind.LITERAL, node, ref=each) for each in values], node)
    return it.plain(node)


def _reversed(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    known = attributes.known_elements(it, arguments.positional[0]) if arguments.positional else None
    if known is not None:
        return it.list_of(known[::-1], node)
    return _to_list("list")(it, arguments, node)


def _map_builtin(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "a map over nothing", arguments.every())
    function, *sequences = arguments.positional
    known = [attributes.known_elements(it, each) for each in sequences]
    if all(each is not None and len(each) <= 8 for each in known):
        rows = zip(*[each for each in known if each is not None], strict=False)
        made = tuple(calls.call(it, function, calls.Arguments(tuple(row)), node) for row in rows)
        return it.container("generator", Items(made), node)
    row_ = tuple(attributes.element_of(it, each, node) for each in sequences)
    one = calls.call(it, function, calls.Arguments(row_), node)
    return it.container("generator", Items((one,), None, exact=False), node)


def _sum(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    start = arguments.get(1, "start")
    if start is not None and start.kind is Kind.CONTAINER:
        return _flat_chain(it, arguments.positional[0], node)  # sum(lists, [])
    values = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values):
        return it.operation(node, values, label="sum", kind=Kind.PLAIN)
    return it.operation(node, values, label="sum")


def _minmax(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    rows = arguments.positional[0] if len(arguments.positional) == 1 else None
    elements = [attributes.element_of(it, rows, node)] if rows is not None else list(arguments.positional)
    if elements and any(
        way.kind not in (Kind.TENSOR, Kind.PLAIN, Kind.LITERAL) for each in elements for way in alternatives(each, 8) or [each]
    ):
        return it.join(elements)  # one of these objects, no telling which
    values = [leaf for value in arguments.positional for leaf in it.leaves(value)]
    kind = Kind.PLAIN if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values) else Kind.TENSOR
    return it.operation(node, values, label="max", kind=kind)


def _getattr(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "getattr of unknown arguments", arguments.every())
    owner, name = arguments.positional[:2]
    if name.kind is Kind.LITERAL and isinstance(name.ref, str):
        if len(arguments.positional) > 2:
            known = attributes.has_attribute(it, owner, name.ref)
            if known is not None:
                return attributes.get_attribute(it, owner, name.ref, node) if known else arguments.positional[2]
        found = attributes.get_attribute(it, owner, name.ref, node)
        return it.join([found, arguments.positional[2]]) if len(arguments.positional) > 2 else found
    return it.unknown(node, "an attribute whose name is computed", arguments.every())


def _setattr(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        if name.kind is Kind.LITERAL and isinstance(name.ref, str):
            attributes.set_attribute(it, owner, name.ref, value, node)
        elif isinstance(owner.ref, HeapObject):
            # Any attribute may have changed.
            it.escape(owner)
            it.escape(value)
            it.havoc = it.tick()
    return it.plain(node)


def _super(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    frame = it.frame
    while frame.is_comprehension and frame.parent is not None:
        frame = frame.parent
    function = frame.function
    if function is None or function.owner is None or not function.node.args.args:
        return it.unknown(node, "super() outside a method", ())
    receiver = it.store.get((frame.id, function.node.args.args[0].arg))
    if receiver is None or receiver.kind is not Kind.INSTANCE:
        return it.plain(node)
    return it.fresh(Kind.FUNCTION, node, ref=Super(it.new_id(), function.owner, receiver))


def _next(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return attributes.element_of(it, arguments.positional[0], node) if arguments.positional else it.plain(node)


def _same(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.positional[0] if arguments.positional else it.plain(node)


def _silent(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.plain(node)


def _absolute(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.every()
    kind = Kind.PLAIN if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values) else Kind.TENSOR
    return it.operation(node, values, label="abs", kind=kind)


def _namespace(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = LibraryObject(it.new_id(), "types.SimpleNamespace")
    for name, value in arguments.keywords.items():
        it.store.set((made.id, name), value)
    return it.fresh(Kind.LIBRARY, node, ref=made)


def _tf_gradients(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.events import GradientsAskedInEager

    ys, xs = arguments.get(0, "ys"), arguments.get(1, "xs")
    if it.eager and not it.open_code and not any(frame.graph for frame in it.frame.callers()):
        it.events.append((GradientsAskedInEager, node, it.frame, it.doubt == 0))
        it.alive = False  # it raises
    tapes.ask_unknown(it, "gradients", ys, xs, node, "`tf.gradients` asks the graph, not a tape")
    if ys is None or xs is None:
        return it.unknown(node, "gradients of unknown arguments", arguments.every())
    made = tapes.result(it, ys, xs, node)
    return made if made.kind is Kind.CONTAINER else it.list_of([made], node)


def _input(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.SYMBOLIC, node, label="keras.Input")


def _loss_by_name(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.positional and arguments.positional[0].kind is Kind.LITERAL:
        return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras.losses.Loss"))
    return arguments.positional[0] if arguments.positional else it.plain(node)


def _clone(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.objects import Layer

    source = arguments.positional[0] if arguments.positional else None
    if source is not None and source.kind in (Kind.LAYER, Kind.INSTANCE):
        return it.fresh(Kind.LAYER, node, ref=Layer(it.new_id(), "keras.models.Model"))
    return it.opaque_call(node, arguments.every(), "a clone of what cannot be seen", getter=True)


def _device_context(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "contextlib.nullcontext"))


def _nullcontext(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "contextlib.nullcontext", arguments.positional))


def _load_model(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    from gradlint.flow.objects import Layer

    return it.fresh(Kind.LAYER, node, ref=Layer(it.new_id(), "keras.models.Model"))


def _flatten_structure(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[0] if arguments.positional else it.plain(node)
    if value.kind is Kind.CONTAINER:
        return it.list_of(it.leaves(value), node, exact=it.items(value).exact)
    return value if value.kind in (Kind.UNKNOWN, Kind.VARIABLES) else it.list_of([value], node)


def _reduce(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "reduce over nothing", arguments.every())
    function, sequence, *start = arguments.positional
    state = start[0] if start else attributes.element_of(it, sequence, node)
    for _ in range(2):
        element = attributes.element_of(it, sequence, node)
        state = it.join([state, calls.call(it, function, calls.Arguments((state, element)), node)])
    return state


def _flat_chain(it: Interpreter, rows: Value, node: ast.AST) -> Value:
    """The elements of all rows in one list."""
    known = attributes.known_elements(it, rows)
    made = it.list_of((), node, exact=known is not None)
    for row in known if known is not None else [attributes.element_of(it, rows, node)]:
        for way in alternatives(row, 8) or [row]:
            attributes.extend(it, made, way)
    return made


def _chain_from_iterable(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return _flat_chain(it, arguments.positional[0], node) if arguments.positional else it.plain(node)


def _choice(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """One element of a sequence, no telling which."""
    if not arguments.positional:
        return it.plain(node)
    return attributes.element_of(it, arguments.positional[0], node)


def _shuffle(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.positional[:1]:
        if value.kind is Kind.CONTAINER:
            attributes.forget_positions(it, value)
    return it.plain(node)


def _reflect(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`locals()`, `vars(x)`, `eval(...)`: whatever is in reach may come out."""
    for value in arguments.every():
        it.escape(value)
    frame = it.frame
    for name in sorted(frame.names.local):
        value_ = it.store.get((frame.id, name))
        if value_ is not None:
            it.escape(value_)
    return it.unknown(node, "names or attributes looked up at run time", arguments.every())


def _sorted(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = _to_list("list")(it, calls.Arguments(arguments.positional[:1]), node)
    if made.kind is Kind.CONTAINER and len(it.items(made).elements) > 1:
        attributes.forget_positions(it, made)
    return made


def _method_type(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) != 2:
        return it.unknown(node, "a method made at run time", arguments.every())
    function, receiver = arguments.positional
    return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function, receiver))


def _named_tuple(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`collections.namedtuple(name, fields)`: a callable that makes tuples with field names."""
    fields = arguments.get(1, "field_names")
    names: tuple[str, ...] | None = None
    if fields is not None and fields.kind is Kind.LITERAL and isinstance(fields.ref, str):
        names = tuple(fields.ref.replace(",", " ").split())
    elif fields is not None and fields.kind is Kind.CONTAINER and it.items(fields).exact:
        elements = it.items(fields).elements
        if all(each.kind is Kind.LITERAL and isinstance(each.ref, str) for each in elements):
            names = tuple(each.ref for each in elements)
    if names is None:
        return it.unknown(node, "a named tuple whose fields are not known", arguments.every())
    labels = it.tuple_of([it.fresh(Kind.LITERAL, node, ref=name) for name in names])
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "namedtuple", labels))


def _make_named_tuple(it: Interpreter, labels: Value, arguments: Arguments, node: ast.AST) -> Value:
    names = [each.ref for each in it.items(labels).elements]
    if arguments.more is not None or arguments.more_keywords is not None or len(arguments.positional) > len(names):
        return it.unknown(node, "a named tuple of unknown arguments", arguments.every())
    values = [
        arguments.positional[i] if i < len(arguments.positional) else arguments.keywords.get(name) or it.plain(node)
        for i, name in enumerate(names)
    ]
    made = it.tuple_of(values, node)
    made.ref.fields = tuple(names)
    return made


def _chain(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = it.list_of((), node)
    for value in arguments.every():
        attributes.extend(it, made, value)
    return made


SYMBOLS: dict[str, Handler] = {
    "tf.GradientTape": lambda it, arguments, node: tapes.make_tape(it, "tf.GradientTape", arguments, node),
    "tf.autodiff.ForwardAccumulator": lambda it, arguments, node: tapes.make_tape(
        it, "tf.autodiff.ForwardAccumulator", arguments, node
    ),
    "tf.Variable": _variable(keras=False),
    "tf.get_variable": _variable(keras=False),
    "keras.Variable": _variable(keras=True),
    "keras.backend.variable": _variable(keras=False),
    "keras.backend.Variable": _variable(keras=True),
    "tf.function": _function_wrapper,
    "tf.custom_gradient": _transformer("tf.custom_gradient"),
    "tf.recompute_grad": _transformer("tf.recompute_grad"),
    "tf.grad_pass_through": _transformer("tf.grad_pass_through"),
    "tf.cond": _cond,
    "tf.case": _switch,
    "tf.switch_case": _switch,
    "tf.while_loop": _while_loop,
    "keras.ops.cond": _cond,
    "keras.ops.while_loop": _while_loop,
    "tf.map_fn": _map("tf.map_fn"),
    "tf.vectorized_map": _map("tf.vectorized_map"),
    "keras.ops.map": _map("keras.ops.map"),
    "keras.ops.vectorized_map": _map("keras.ops.vectorized_map"),
    "tf.scan": _scan("tf.scan"),
    "tf.foldl": _scan("tf.foldl"),
    "tf.foldr": _scan("tf.foldr"),
    "tf.py_function": _py_function,
    "tf.py_func": _numpy_function,
    "tf.numpy_function": _numpy_function,
    "tf.nest.map_structure": _map_structure,
    "tf.nest.flatten": _flatten_structure,
    "tf.nest.pack_sequence_as": lambda it, arguments, node: (
        arguments.positional[-1] if arguments.positional else it.plain(node)
    ),
    "tf.gradients": _tf_gradients,
    "keras.backend.gradients": _tf_gradients,
    "tf.cast": _cast,
    "tf.dtypes.cast": _cast,
    "keras.ops.cast": _cast,
    "keras.backend.cast": _cast,
    "tf.where": _where,
    "keras.ops.where": _where,
    "tf.fill": _first_dead(Cause.NON_DIFFERENTIABLE, 0),
    "keras.ops.full": _first_dead(Cause.NON_DIFFERENTIABLE, 0),
    "tf.experimental.numpy.full": _first_dead(Cause.NON_DIFFERENTIABLE, 0),
    "tf.gather": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "tf.gather_nd": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "keras.ops.take": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "keras.ops.take_along_axis": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "tf.boolean_mask": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "tf.nn.embedding_lookup": _first_dead(Cause.NON_DIFFERENTIABLE, 1),
    "tf.math.top_k": _top_k,
    "tf.nn.top_k": _top_k,
    "tf.nn.moments": _pair("tf.nn.moments"),
    "keras.ops.moments": _pair("keras.ops.moments"),
    "tf.linalg.eigh": _pair("tf.linalg.eigh"),
    "tf.linalg.qr": _pair("tf.linalg.qr"),
    "tf.clip_by_global_norm": _clip_by_global_norm,
    "tf.split": _split,
    "keras.ops.split": _split,
    "tf.unstack": _unstack,
    "keras.ops.unstack": _unstack,
    "tf.meshgrid": _unstack,
    "tf.ragged.map_flat_values": lambda it, arguments, node: it.operation(
        node, arguments.positional[1:], label="tf.ragged.map_flat_values"
    ),
    "tf.device": _device_context,
    "tf.name_scope": _device_context,
    "keras.name_scope": _device_context,
    "tf.init_scope": _device_context,
    "tf.variable_scope": _device_context,
    "tf.control_dependencies": _device_context,
    "tf.print": _silent,
    "tf.summary.scalar": _silent,
    "tf.size": lambda it, arguments, node: it.fresh(Kind.TENSOR, node),
    "tf.shape": lambda it, arguments, node: it.fresh(Kind.TENSOR, node),
    "tf.rank": lambda it, arguments, node: it.fresh(Kind.TENSOR, node),
    "keras.ops.shape": lambda it, arguments, node: it.plain(node),
    "keras.ops.size": lambda it, arguments, node: it.plain(node),
    "keras.ops.ndim": lambda it, arguments, node: it.plain(node),
    "keras.backend.int_shape": lambda it, arguments, node: it.plain(node),
    "keras.backend.floatx": lambda it, arguments, node: it.plain(node),
    "keras.backend.epsilon": lambda it, arguments, node: it.plain(node),
    "keras.ops.convert_to_numpy": _leave,
    "keras.backend.get_value": _leave,
    "keras.backend.eval": _leave,
    "keras.Input": _input,
    "keras.models.clone_model": _clone,
    "keras.models.load_model": _load_model,
    "tf.saved_model.load": lambda it, arguments, node: it.unknown(node, "a loaded model", ()),
    "keras.losses.get": _loss_by_name,
    "keras.metrics.get": _loss_by_name,
    "keras.activations.get": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras.activations.Activation")
    ),
    "tf.distribute.get_replica_context": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.distribute.ReplicaContext")
    ),
    "tf.distribute.get_strategy": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.distribute.Strategy")
    ),
    "keras.saving.register_keras_serializable": _identity_decorator,
    "keras.utils.register_keras_serializable": _identity_decorator,
    "functools.partial": _partial,
    "functools.wraps": _identity_decorator,
    "functools.lru_cache": _caching_decorator,
    "functools.cache": _caching_decorator,
    "functools.reduce": _reduce,
    "copy.copy": _same,
    "copy.deepcopy": _clone,
    "tqdm.tqdm": _same,
    "tqdm.trange": _silent,
    "tqdm.auto.tqdm": _same,
    "tqdm.notebook.tqdm": _same,
    "itertools.chain": _chain,
    "contextlib.nullcontext": _nullcontext,
    "contextlib.suppress": _device_context,
    "types.SimpleNamespace": _namespace,
    "builtins.list": _to_list("list"),
    "builtins.tuple": _to_list("tuple"),
    "builtins.set": _to_list("set"),
    "builtins.sorted": _sorted,
    "builtins.locals": _reflect,
    "builtins.globals": _reflect,
    "builtins.vars": _reflect,
    "builtins.eval": _reflect,
    "builtins.exec": _reflect,
    "random.choice": _choice,
    "random.sample": _sorted,
    "random.choices": _sorted,
    "random.shuffle": _shuffle,
    "np.random.choice": _choice,
    "np.random.shuffle": _shuffle,
    "types.MethodType": _method_type,
    "collections.namedtuple": _named_tuple,
    "itertools.chain.from_iterable": _chain_from_iterable,
    "keras.tree.flatten": _flatten_structure,
    "keras.tree.map_structure": _map_structure,
    "dataclasses.fields": _reflect,
    "dataclasses.asdict": _reflect,
    "dataclasses.astuple": _reflect,
    "dataclasses.replace": _reflect,
    "functools.singledispatch": lambda it, arguments, node: it.unknown(node, "chosen by type at run time", arguments.every()),
    "builtins.iter": _same,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": lambda it, arguments, node: it.container("dict", Items((), None, exact=False), node),
    "collections.deque": lambda it, arguments, node: it.list_of((), node, exact=False),
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.range": _range,
    "builtins.reversed": _reversed,
    "builtins.map": _map_builtin,
    "builtins.filter": _filter,
    "builtins.sum": _sum,
    "math.fsum": _leave,
    "builtins.max": _minmax,
    "builtins.min": _minmax,
    "builtins.abs": _absolute,
    "builtins.pow": _absolute,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.super": _super,
    "builtins.next": _next,
    "builtins.print": _silent,
    "builtins.len": _silent,
    "builtins.isinstance": _silent,
    "builtins.type": _silent,
    "builtins.hasattr": _silent,
    "builtins.callable": _silent,
    "builtins.id": _silent,
    "builtins.property": _transformer("builtins.property"),
    "builtins.staticmethod": _transformer("builtins.staticmethod"),
    "builtins.classmethod": _transformer("builtins.classmethod"),
}


# -- methods of library objects ----------------------------------------------------------------


def call_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call `receiver.name(...)` where the receiver's class is a library's."""
    match receiver.kind:
        case Kind.TAPE:
            return tapes.call_method(it, receiver, name, arguments, node)
        case Kind.TENSOR | Kind.VARIABLE | Kind.SYMBOLIC:
            return _tensor_method(it, receiver, name, arguments, node)
        case Kind.CONTAINER:
            return _container_method(it, receiver, name, arguments, node)
        case Kind.VARIABLES:
            return _variables_method(it, receiver, name, arguments, node)
        case Kind.LAYER | Kind.INSTANCE:
            return keras_objects.call_keras_method(it, receiver, name, arguments, node)
        case Kind.LIBRARY:
            return _object_method(it, receiver, name, arguments, node)
        case Kind.FUNCTION:
            return _function_method(it, receiver, name, arguments, node)
        case Kind.LITERAL | Kind.PLAIN:
            return plain_call(it, [receiver, *arguments.every()], node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` cannot be seen", getter=True)


def _tensor_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in ("numpy", "item", "tolist", "eval", "__array__", "numpy_function"):
        return plain_call(it, (receiver,), node)
    if name in (
        "assign",
        "assign_add",
        "assign_sub",
        "scatter_nd_update",
        "scatter_update",
        "scatter_sub",
        "scatter_add",
    ):
        return receiver if receiver.kind is Kind.VARIABLE else it.plain(node)
    if name in ("get_shape", "set_shape", "consumers", "eval", "is_initialized"):
        return it.plain(node)
    if name == "astype":
        return _cast(it, calls.Arguments((receiver, *arguments.positional)), node)
    return it.operation(node, (receiver, *arguments.positional), label=name)


def _container_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    items = it.items(receiver)
    first = arguments.positional[0] if arguments.positional else None
    match name:
        case "append" | "add" | "appendleft" | "insert":
            if arguments.positional:
                added = arguments.positional[-1]
                it.stored.setdefault(added.serial, it.frame)
                exact = items.exact and name == "append"
                it.set_items(receiver, Items((*items.elements, added), None, exact))
            return it.plain(node)
        case "extend":
            if first is not None:
                attributes.extend(it, receiver, first)
            return it.plain(node)
        case "clear":
            it.set_items(receiver, Items())
            return it.plain(node)
        case "pop" | "popleft" | "get" | "setdefault":
            found = (
                attributes.get_item(it, receiver, first, node)
                if first is not None
                else attributes.element_of(it, receiver, node)
            )
            if name == "setdefault" and len(arguments.positional) > 1 and first is not None:
                if not (items.keys and first.kind is Kind.LITERAL and first.ref in items.keys):
                    found = it.join([found, arguments.positional[1]]) if items.elements else arguments.positional[1]
                    attributes.set_item(it, receiver, first, found, node)
                return found
            if name in ("pop", "popleft"):
                attributes.forget_positions(it, receiver)
            if name == "get" and len(arguments.positional) > 1:
                known = items.keys is not None and first is not None and first.kind is Kind.LITERAL
                if known and items.keys is not None and first is not None:
                    return found if first.ref in items.keys else arguments.positional[1]
                return it.join([found, arguments.positional[1]])
            return found
        case "items":
            if items.exact and items.keys is not None:
                pairs = zip(items.keys, items.elements, strict=True)
                rows = [it.tuple_of((it.fresh(Kind.LITERAL, node, ref=key), each), node) for key, each in pairs]
                return it.list_of(rows, node)
            row = it.tuple_of((it.plain(node), _any_element(it, receiver, items, node)), node)
            return it.list_of([row], node, exact=False)
        case "values":
            return it.list_of(items.elements, node, exact=items.exact)
        case "keys":
            return it.plain(node)
        case "update":
            if first is not None and first.kind is Kind.CONTAINER:
                other = it.items(first)
                if items.exact and other.exact and items.keys is not None and other.keys is not None:
                    merged = {
                        **dict(zip(items.keys, items.elements, strict=True)),
                        **dict(zip(other.keys, other.elements, strict=True)),
                    }
                    it.set_items(receiver, Items(tuple(merged.values()), tuple(merged)))
                    return it.plain(node)
                it.set_items(receiver, Items((*items.elements, *other.elements), None, exact=False))
            elif first is not None:
                it.set_items(receiver, Items((*items.elements, first), None, exact=False))
            if arguments.keywords:
                for key, value in arguments.keywords.items():
                    attributes.set_item(it, receiver, it.fresh(Kind.LITERAL, node, ref=key), value, node)
            return it.plain(node)
        case "copy":
            return it.container(receiver.ref.type, items, node)
        case "sort" | "reverse" | "remove" | "discard" | "rotate":
            attributes.forget_positions(it, receiver)
            return it.plain(node)
    return it.plain(node, (receiver,), Cause.LEFT_TENSORFLOW)


def _any_element(it: Interpreter, receiver: Value, items: Items, node: ast.AST) -> Value:
    return it.join(list(items.elements)) if items.elements else attributes.element_of(it, receiver, node)


def _variables_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in ("copy",):
        return receiver
    if name in ("append", "extend", "insert"):
        # `variables = model.trainable_variables; variables.append(w)`: no longer the set it was.
        for value in arguments.every():
            it.escape(value)
        receiver.ref.open_members = True
        return it.plain(node)
    return it.part(receiver, node)


def _object_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    owner: LibraryObject = receiver.ref
    symbol = owner.symbol
    if symbol.startswith("tf.data."):
        if any(value.kind is Kind.FUNCTION for value in arguments.every()):
            for value in arguments.every():
                it.escape(value)
        if name == "reduce":
            return it.operation(
                node, (), label="reduce", dead=tuple((value, Cause.STATE) for value in arguments.every())
            )
        if name in ("as_numpy_iterator", "cardinality", "element_spec"):
            return it.plain(node)
        if name in ("get_next",):
            return it.fresh(Kind.TENSOR, node, label="dataset element")
        return receiver
    if symbol == "tf.TensorArray":
        return _tensor_array_method(it, receiver, name, arguments, node)
    if symbol.startswith("tf.lookup.") or symbol.startswith("tf.queue."):
        return _table_method(it, owner, name, arguments, node)
    if name in ("run", "experimental_run_v2") and arguments.positional:
        return run_with_args(it, arguments.positional[0], arguments, node)
    if name == "minimize":
        return _minimize(it, receiver, arguments, node)
    if name in ("merge_call", "call_for_each_replica") and arguments.positional:
        return run_with_args(it, arguments.positional[0], arguments, node)
    if symbol.startswith("tf.distribute.") or name in ("reduce", "all_reduce", "experimental_local_results"):
        if name == "scope":
            return _device_context(it, arguments, node)
        if name.endswith("dataset") or "dataset" in name:
            return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.data.Dataset"))
        return it.operation(node, arguments.every(), label=name)
    if symbol.startswith("keras.optimizers") or "optimizer" in symbol.lower():
        if name in ("get_scaled_loss", "scale_loss"):
            return it.operation(node, arguments.positional, label=name)
        if name in ("get_unscaled_gradients", "get_gradients", "_compute_gradients"):
            return arguments.positional[0] if arguments.positional else it.plain(node)
        return it.plain(node)
    if symbol.startswith("keras.metrics"):
        if name == "result":
            return it.fresh(Kind.TENSOR, node, label="metric")
        return it.plain(node)
    if symbol.startswith("keras.losses") and name in ("call", "__call__"):
        return it.operation(node, arguments.every(), label=symbol)
    if symbol == "types.SimpleNamespace":
        return it.part(receiver, node)
    if symbol == "contextmanager":
        return it.plain(node)
    if symbol in ("tf.random.Generator",) or "Generator" in symbol:
        return it.operation(node, arguments.every(), label=name)
    if symbol.startswith(
        (
            "tf.train",
            "tf.summary",
            "tf.io",
            "tf.config",
            "keras.callbacks",
            "tf.saved_model",
            "tf.profiler",
            "keras.utils",
            "keras.preprocessing",
            "keras.datasets",
        )
    ):
        return it.plain(node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` of `{symbol}` is not modelled", getter=True)


def _tensor_array_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    owner: LibraryObject = receiver.ref
    if name in ("write", "scatter", "unstack", "split") and arguments.positional:
        written = arguments.positional[-1] if name in ("write", "scatter") else arguments.positional[0]
        made = LibraryObject(it.new_id(), "tf.TensorArray", (*owner.arguments[-8:], written))
        return it.fresh(Kind.LIBRARY, node, ref=made)
    if name in ("stack", "concat", "read", "gather"):
        return it.operation(node, owner.arguments, label=f"TensorArray.{name}")
    return it.plain(node)


def _table_method(it: Interpreter, owner: LibraryObject, name: str, arguments: Arguments, node: ast.AST) -> Value:
    key = (owner.id, "<state>")
    state = it.store.get(key)
    if name in ("insert", "enqueue", "enqueue_many", "insert_or_assign"):
        stored = it.operation(node, arguments.every(), label=name)
        it.store.set(key, stored if state is None else it.join([state, stored]))
        return it.plain(node)
    return it.operation(node, (), label=name, dead=((state, Cause.STATE),) if state is not None else ())


def _minimize(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    loss, variables, tape = arguments.get(0, "loss"), arguments.get(1, "var_list"), arguments.keywords.get("tape")
    if loss is None:
        return it.plain(node)
    if variables is None:
        tapes.ask_unknown(it, "minimize", loss, variables, node, "the variables to minimise over are not given")
        return it.plain(node)
    if tape is not None and tape.kind is Kind.TAPE:
        tapes.ask(it, "minimize", [tape.ref], loss, variables, node, calls.Arguments(()))
        return it.plain(node)
    if loss.kind is Kind.FUNCTION:
        opened = tapes.implicit_tape(it, node, "the tape of `minimize`")
        target: Value | None = None

        def forward() -> None:
            nonlocal target
            target = calls.call(it, loss, calls.Arguments(()), node)

        tapes.run_under(it, [opened], forward, node, opened.name, sure=True)
        if variables.kind is Kind.FUNCTION:
            variables = calls.call(it, variables, calls.Arguments(()), node)
        if target is not None:
            tapes.ask(it, "minimize", [opened], target, variables, node, calls.Arguments(()))
        return it.plain(node)
    tapes.ask_unknown(it, "minimize", loss, variables, node, "`minimize` is given a tensor and no tape")
    return it.plain(node)


def _function_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    target = receiver.ref
    if isinstance(target, Super):
        inner = target.receiver
        if name == "__init__":
            for value in arguments.every():
                if value.kind is Kind.UNKNOWN:
                    it.escape(inner)
                    break
            if inner.kind is Kind.INSTANCE:
                keras_objects.inherited_init(it, inner, arguments)
            return it.plain(node)
        if (
            inner.kind is Kind.INSTANCE
            and keras_objects.is_keras_family(inner.ref.cls)
            and name in keras_objects.KERAS_METHODS
        ):
            if name in ("build", "train_step", "test_step"):
                return it.plain(node)
            return keras_objects.call_keras_method(it, inner, name, arguments, node)
        if name in ("__setattr__",) and len(arguments.positional) == 2 and inner.kind is Kind.INSTANCE:
            return _setattr(it, calls.Arguments((inner, *arguments.positional)), node)
        return it.opaque_call(node, (inner, *arguments.every()), f"`super().{name}` cannot be seen", getter=True)
    if name in ("get_concrete_function", "python_function"):
        return receiver
    if isinstance(target, Function | BoundMethod | Partial | Transformed) and name == "__call__":
        return calls.call(it, receiver, arguments, node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` of a function", getter=True)


def call_object(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library object: a loss, metric, initializer, regularizer."""
    symbol = receiver.ref.symbol
    if symbol.startswith("keras.metrics"):
        cut = tuple((value, Cause.STATE) for value in arguments.every())
        return it.operation(node, (), label=symbol, dead=cut)
    if symbol.startswith(("keras.initializers", "tf.initializers", "tf.random")):
        return it.fresh(Kind.TENSOR, node)
    if symbol.startswith(("keras.losses", "keras.regularizers", "keras.constraints", "keras.activations", "tf.losses")):
        return it.operation(node, arguments.every(), label=symbol)
    if "optimizers.schedules" in symbol:
        return it.operation(node, arguments.every(), label=symbol)
    return it.opaque_call(node, (receiver, *arguments.every()), f"a call of `{symbol}` is not modelled", getter=True)


__all__ = ["call_method", "call_object", "call_symbol", "plain_call", "run_with_args"]
