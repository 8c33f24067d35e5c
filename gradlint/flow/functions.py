"""Functions: binding arguments and running the file's functions at their call sites."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradlint.flow.arguments import Arguments, symbol_of
from gradlint.flow.eager_functions import are_traced
from gradlint.flow.interpreter import MOST_DEPTH, Exits, Interpreter, expecting_errors
from gradlint.flow.objects import (
    Function,
    Instance,
    Items,
    LibraryObject,
    Variable,
)
from gradlint.flow.scopes import Frame
from gradlint.flow.sequences import element_of
from gradlint.flow.tracing import Traced, enter_graph, goes_on_as_before, leave_graph
from gradlint.flow.values import Kind, Value, is_literal
from gradlint.flow.wrappers import hands_all_on

_MOST_WRAPPERS = 4


def call_function(
    it: Interpreter,
    function: Function,
    arguments: Arguments,
    node: ast.AST | None,
    on_yield: Callable[[Value], None] | None,
) -> Value:
    """Run a function of the file at its call site."""
    receiver = arguments.positional[0] if function.owner is not None and arguments.positional else None
    receiver_id = receiver.ref.id if receiver is not None and isinstance(receiver.ref, Instance) else 0
    key = (function.node, receiver_id, function.frame.id)
    refused = _not_followed(it, function, receiver, key)
    if refused is not None:
        return it.opaque_call(node, arguments.every(), refused[0], getter=not refused[1])
    abroad = function.frame.top is not it.base
    goes = abroad and it.abroad_since < 0
    if goes:
        it.abroad_since = it.fuel
    it.entered.add(function.node)
    frame = Frame(
        it.new_id(),
        function.frame,
        it.frame,
        node,
        function,
        it.names_of(function.node),
        cls=function.owner,
        depth=it.frame.depth + 1,
        name=function.name,
        graph=_in_graph(it, function),
    )
    bound = _bind(it, function, arguments, frame)
    tracing, made = it.tracing, _traced(it, function, receiver_id, frame, arguments, node)
    if function.name == "build" and receiver_id and function.owner is not None:
        it.store.set((receiver_id, "<built>"), it.fresh(Kind.LITERAL, node, ref=True))
    outer, loops = it.frame, it.loops
    level = it.store.level
    exits = Exits(level, level, len(it.open_withs), on_yield=on_yield)
    it.store.begin()
    it.frame, it.loops = frame, []
    it.calls.append(exits)
    it.stack.append(key)
    doubt = it.doubt
    try:
        for name, value in bound:
            it.store.set((frame.id, name), value)
        it.handed_to.extend((function, name) for name, value in bound if value is it.handed)
        with expecting_errors(it, tells=goes_on_as_before(it)):
            if isinstance(function.node, ast.Lambda):
                exits.returns.append((it.evaluate(function.node.body), it.store.capture(level)))
                it.alive = False
            else:
                it.run_body(function.node.body)
                if it.alive:
                    none = it.fresh(Kind.LITERAL, node, ref=None)
                    exits.returns.append((none, it.store.capture(level)))
    finally:
        it.stack.pop()
        it.calls.pop()
        it.frame, it.loops = outer, loops
        it.doubt = doubt
        it.tracing = tracing
        it.store.end()
        if goes:
            it.abroad_fuel -= it.abroad_since - it.fuel
            it.abroad_since = -1
    it.merge([delta for _, delta in exits.returns])
    if made is not None:
        leave_graph(it, made)
    return _joined_returns(it, exits, frame, outer, node)


def _not_followed(
    it: Interpreter, function: Function, receiver: Value | None, key: tuple[ast.AST, int, int]
) -> tuple[str, bool] | None:
    """Why a call is not followed, and whether that is because there is no body; None when it is followed."""
    if _is_abstract(function.node):
        return f"`{function.name}` is left to subclasses", True
    if receiver is not None and isinstance(receiver.ref, Instance) and receiver.ref.open_self:
        if _is_hook(function.node):
            return f"`{function.name}` may be written anew in a subclass", True
    # What a decorator puts around several functions is one text, and another function around each of them.
    is_same = [each for each in it.stack if each[0] is function.node and each[2] == function.frame.id]
    depth = sum(not hands_all_on(each[0]) for each in it.stack)
    if depth >= MOST_DEPTH or len(it.stack) >= 2 * MOST_DEPTH or len(is_same) >= 3 or it.stack.count(key) >= 2:
        return f"`{function.name}` calls itself or is nested too deep", False
    if function.frame.top is not it.base and not it.may_go_abroad(function):
        return f"`{function.name}` in another file is too much to follow", True
    return None


def _joined_returns(it: Interpreter, exits: Exits, frame: Frame, outer: Frame, node: ast.AST | None) -> Value:
    """What a function returns, on all of its ways."""
    if not exits.returns:
        return it.fresh(Kind.LITERAL, node, ref=None)
    if frame.names.yields:
        return it.container("generator", Items(tuple(exits.yields), None, exact=False), node)
    returned = [value for value, _ in exits.returns]
    function = frame.function
    if function is not None and node is function.node:  # strangers call it, and keep what they get
        for value in returned:
            for kept in it.leaves(value):
                it.stored.setdefault(kept.serial, frame)
    for value in returned:
        for kept in _kept_by(it, value, frame):
            it.stored.setdefault(kept.serial, frame)
    value = returned[0] if len(returned) == 1 else it.join_ways(returned, [delta for _, delta in exits.returns])
    return out_of_graph(it, value, node) if frame.graph and not outer.graph else value


def _kept_by(it: Interpreter, value: Value, frame: Frame, depth: int = 0) -> Iterator[Value]:
    """What a function that was made in a call holds on to, and the functions that it is made around."""
    if value.kind is Kind.FUNCTION and isinstance(value.ref, Function) and frame in value.ref.frame.callers():
        for kept in it.closed_over(value.ref):
            yield kept
            if depth < _MOST_WRAPPERS:
                yield from _kept_by(it, kept, frame, depth + 1)


def _traced(
    it: Interpreter, function: Function, receiver_id: int, frame: Frame, arguments: Arguments, node: ast.AST | None
) -> Traced | None:
    """The graph that this call makes, if it makes one; code outside of graphs reads nothing into them."""
    made = None
    if not frame.graph:
        it.tracing = None
    elif not it.frame.graph and node is not None:
        it.tracing = made = enter_graph(it, (function.id, receiver_id), frame, arguments, node)
    return made


def _in_graph(it: Interpreter, function: Function) -> bool:
    """Whether the function runs while a graph is made."""
    if are_traced(it) is not True or "tf.numpy_function" in function.decorators:
        return False
    return it.frame.graph or "tf.function" in function.decorators


def out_of_graph(it: Interpreter, value: Value, node: ast.AST | None) -> Value:
    """What a tf.function returns: new tensors, recorded by the caller's tapes, and never the objects of its body."""
    if value.kind is Kind.CONTAINER:
        items = it.items(value)
        elements = tuple(out_of_graph(it, each, node) for each in items.elements)
        made = it.container(value.ref.type, Items(elements, items.keys, items.exact, items.ordered), node)
        made.ref.fields = value.ref.fields
        return made
    if value.kind in (Kind.TENSOR, Kind.VARIABLE):
        made = it.operation(node, (value,), label="tf.function")
        made.of = value.of
        return made
    return value


def _is_abstract(node: ast.AST) -> bool:
    """Whether the body only says that somebody else will write it: `raise NotImplementedError`, `pass`, `...`."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if not body:
        return True
    return len(body) == 1 and (isinstance(body[0], ast.Pass) or _raises_not_implemented(body[0]))


def _is_hook(node: ast.AST) -> bool:
    """Whether a method only returns a constant, for subclasses to do better."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return False
    value = body[0].value
    if isinstance(value, ast.Call):
        return all(isinstance(each, ast.Constant) for each in value.args) and not value.keywords and bool(value.args)
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    return value is None or isinstance(value, ast.Constant) or (isinstance(value, ast.Dict) and not value.keys)


def _raises_not_implemented(node: ast.stmt) -> bool:
    return isinstance(node, ast.Raise) and node.exc is not None and "NotImplemented" in ast.dump(node.exc)


def _bind(it: Interpreter, function: Function, arguments: Arguments, frame: Frame) -> list[tuple[str, Value]]:
    spec = function.node.args
    names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    bound: dict[str, Value] = {}
    if function.options:  # a command of click: what it is called with are words of a command line
        arguments = Arguments((), {name: each for name, each in arguments.keywords.items() if name in names})
    for name, value in zip(names, arguments.positional, strict=False):
        bound[name] = value
    extra = arguments.positional[len(names) :]
    keywords = dict(arguments.keywords)
    for name in [*names, *(argument.arg for argument in spec.kwonlyargs)]:
        if name in keywords:
            bound[name] = keywords.pop(name)
    defaults = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=False))
    for argument, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        if default is not None:
            defaults[argument.arg] = default
    missing = False
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        name = argument.arg
        if name in bound:
            continue
        if arguments.more is not None or arguments.more_keywords is not None:
            source = arguments.more if arguments.more is not None else arguments.more_keywords
            assert source is not None
            given = element_of(it, source, argument)
            bound[name] = it.join([defaults[name], given]) if name in defaults else given
        elif name in defaults:
            bound[name] = defaults[name]
        elif name in function.options:
            bound[name] = function.options[name]
        else:
            bound[name] = it.parameter(name, argument)
            # Keras fills in `training` and `mask`; unknown decorators may fill in anything.
            missing = missing or not (function.open_call or (function.owner is not None and function.owner.families))
    if spec.vararg is not None:
        rest = (*extra, *((arguments.more,) if arguments.more is not None else ()))
        given_rest = it.container("tuple", Items(rest, None, arguments.more is None))
        given_rest.ref.leading = len(extra)
        bound[spec.vararg.arg] = given_rest
    if spec.kwarg is not None:
        values = [*keywords.values()]
        if arguments.more_keywords is not None:
            values.append(arguments.more_keywords)
        keys = tuple(keywords) if arguments.more_keywords is None else None
        bound[spec.kwarg.arg] = it.container("dict", Items(tuple(values), keys, keys is not None))
    if missing:
        it.alive = False  # Python raises TypeError
    return list(bound.items())


def open_arguments(it: Interpreter, function: Function, receiver: Value | None) -> Arguments:
    """Symbolic arguments for a function that nobody in the file calls: annotations give kinds."""

    spec = function.node.args
    values: dict[str, Value] = {}
    positional = [*spec.posonlyargs, *spec.args]
    defaulted = [argument.arg for argument in positional[len(positional) - len(function.defaults) :]]
    optional = {name for name, default in zip(defaulted, function.defaults, strict=False) if is_literal(default, None)}
    for argument in (*positional, *spec.kwonlyargs):
        values[argument.arg] = it.parameter(argument.arg, argument)
        if argument.annotation is not None and argument.arg not in optional:
            annotated = _annotated(it, argument, it.evaluate(argument.annotation))
            if annotated is not None:
                values[argument.arg] = annotated
    given = dict(values)
    if receiver is not None and positional:
        given[positional[0].arg] = receiver
    # Strangers may pass a callable where the default is None, and anything else but a constant.
    return Arguments((), given)


def _annotated(it: Interpreter, argument: ast.arg, annotation: Value) -> Value | None:
    match symbol_of(annotation):
        case "tf.Tensor":
            return it.fresh(Kind.TENSOR, argument, label=argument.arg)
        case "tf.Variable" | "keras.Variable":
            made = Variable(it.new_id(), argument.arg, annotation.ref == "keras.Variable", None, argument)
            made.escaped_at = 0
            return it.fresh(Kind.VARIABLE, argument, ref=made)
        case "tf.data.Dataset":
            return it.fresh(Kind.LIBRARY, argument, ref=LibraryObject(it.new_id(), "tf.data.Dataset"))
        case "builtins.int" | "builtins.float" | "builtins.bool" | "builtins.str" | "np.ndarray":
            return it.plain(argument)
    return None
