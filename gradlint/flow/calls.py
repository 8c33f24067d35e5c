"""Calls: binding arguments, running functions at their call sites, decorators, contexts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gradlint.flow import attributes, classes, keras_objects, library, tapes
from gradlint.flow.interpreter import MOST_DEPTH, Exits, Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Function,
    Instance,
    Items,
    LibraryMethod,
    LibraryObject,
    Partial,
    Super,
    Tape,
    Transformed,
    Variable,
)
from gradlint.flow.scopes import Frame
from gradlint.flow.values import How, Kind, Value, alternatives, is_literal

#: Names of calls that hand out variables or other objects rather than a freshly computed tensor.
_GETTER = re.compile(
    r"(vars?(?![a-z])|variables?|weights?|params?|parameters?)$|"
    r"^_*(build|make|create|get|load|init|from|new|construct|restore|setup|fetch|pop|next|find|read|list)(_|$|[A-Z])|"
    r"^[A-Z]",
)


#: Names of calls that compute a loss or a forward pass at that very moment.
_COMPUTES = re.compile(
    r"loss(?!es)|criterion|objective|cross_?entropy|(^|_)(mse|nll|elbo)($|_)|closure|"
    r"^_*(model|net|network|critic|actor|discriminator|generator|encoder|decoder|policy|forward|call|estimator)\d*_*$|"
    r"_(model|net|network|critic|actor)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Evaluated arguments. `more` and `more_keywords`: what unknown `*` and `**` may add."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    more: Value | None = None
    more_keywords: Value | None = None

    def get(self, position: int | None, name: str) -> Value | None:
        """The argument at a position or with a name."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def every(self) -> list[Value]:
        """All argument values."""
        extra = [each for each in (self.more, self.more_keywords) if each is not None]
        return [*self.positional, *self.keywords.values(), *extra]


def symbol_of(value: Value) -> str:
    """The canonical name when the value is a library symbol, else an empty string."""
    return value.ref if value.kind is Kind.SYMBOL else ""


def call(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    """What calling the value returns, its effects applied."""
    if function.how is How.JOIN and function.kind is Kind.UNKNOWN:
        return _call_alternatives(it, function, arguments, node)
    match function.kind:
        case Kind.FUNCTION:
            return _call_function_value(it, function, arguments, node)
        case Kind.SYMBOL:
            return library.call_symbol(it, function.ref, arguments, node)
        case Kind.METHOD:
            method: LibraryMethod = function.ref
            return library.call_method(it, method.receiver, method.name, arguments, node)
        case Kind.CLASS:
            return classes.instantiate(it, function, arguments, node)
        case Kind.INSTANCE:
            return keras_objects.call_instance(it, function, arguments, node)
        case Kind.LAYER:
            return keras_objects.call_layer(it, function, arguments, node)
        case Kind.LIBRARY:
            return library.call_object(it, function, arguments, node)
        case Kind.PLAIN:
            return library.plain_call(it, (function, *arguments.every()), node)
    return _opaque(it, function, arguments, node)


def _call_alternatives(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    ways = alternatives(function, attributes.MOST_WAYS)
    if ways is None or not ways:
        return _opaque(it, function, arguments, node)
    if len(ways) == 1:
        return call(it, ways[0], arguments, node)
    from gradlint.flow.expressions import in_arms

    it.doubt += 1  # only one of them is called
    try:
        return in_arms(it, [lambda way=way: call(it, way, arguments, node) for way in ways])  # type: ignore[misc]
    finally:
        it.doubt -= 1


def name_called(node: ast.AST) -> str:
    """The last name of the callee, as written."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _opaque(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    name = name_called(node)
    if name in ("run", "experimental_run_v2") and arguments.positional:
        first = arguments.positional[0]
        if first.kind is Kind.FUNCTION:  # strategy.run(step, args=(...)) on an unknown strategy
            return library.run_with_args(it, first, arguments, node)
    getter = not arguments.positional or bool(_GETTER.search(name))
    because = function.because or (f"`{name}` cannot be seen" if name else "a call that cannot be seen")
    computes = bool(_COMPUTES.search(name)) and not _GETTER.search(name)
    return it.opaque_call(node, (function, *arguments.every()), because, getter=getter, computes=computes)


def _call_function_value(it: Interpreter, function: Value, arguments: Arguments, node: ast.AST) -> Value:
    target = function.ref
    match target:
        case Function():
            return call_function(it, target, arguments, node, None)
        case BoundMethod():
            inner = target.function
            with_self = Arguments(
                (target.receiver, *arguments.positional), arguments.keywords, arguments.more, arguments.more_keywords
            )
            return call(it, inner, with_self, node)
        case Partial():
            merged = Arguments(
                (*target.arguments, *arguments.positional),
                {**dict(target.keywords), **arguments.keywords},
                arguments.more,
                arguments.more_keywords,
            )
            return call(it, target.function, merged, node)
        case Transformed():
            return library.call_transformed(it, target, arguments, node)
        case Super():
            return it.plain(node)
    return _opaque(it, function, arguments, node)


# -- functions ---------------------------------------------------------------------------------


def call_function(
    it: Interpreter,
    function: Function,
    arguments: Arguments,
    node: ast.AST | None,
    on_yield: Callable[[Value], None] | None,
) -> Value:
    """Run a function of the file at its call site."""
    if _is_abstract(function.node):
        return it.opaque_call(node, arguments.every(), f"`{function.name}` is left to subclasses", getter=False)
    receiver = arguments.positional[0] if function.owner is not None and arguments.positional else None
    if receiver is not None and isinstance(receiver.ref, Instance) and receiver.ref.open_self and _is_hook(function.node):
        return it.opaque_call(node, arguments.every(), f"`{function.name}` may be written anew in a subclass")
    receiver_id = receiver.ref.id if receiver is not None and isinstance(receiver.ref, Instance) else 0
    key = (function.node, receiver_id)
    if (
        len(it.stack) >= MOST_DEPTH
        or it.stack.count(key) >= 2
        or sum(each[0] is function.node for each in it.stack) >= 3
    ):
        return it.unknown(node, f"`{function.name}` calls itself or is nested too deep", arguments.every())
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
        graph=it.frame.graph or "tf.function" in function.decorators,
    )
    bound = _bind(it, function, arguments, frame)
    if function.name == "build" and receiver_id and function.owner is not None:
        it.store.set((receiver_id, "<built>"), it.fresh(Kind.LITERAL, node, ref=True))
    outer, loops, withs = it.frame, it.loops, it.open_withs
    level = it.store.level
    exits = Exits(level, level, len(withs), on_yield=on_yield)
    it.store.begin()
    it.frame, it.loops = frame, []
    it.calls.append(exits)
    it.stack.append(key)
    doubt = it.doubt
    try:
        for name, value in bound:
            it.store.set((frame.id, name), value)
        if isinstance(function.node, ast.Lambda):
            from gradlint.flow.expressions import evaluate

            exits.returns.append((evaluate(it, function.node.body), it.store.capture(level)))
            it.alive = False
        else:
            from gradlint.flow.statements import run_body

            run_body(it, function.node.body)
            if it.alive:
                none = it.fresh(Kind.LITERAL, node, ref=None)
                exits.returns.append((none, it.store.capture(level)))
    finally:
        it.stack.pop()
        it.calls.pop()
        it.frame, it.loops = outer, loops
        it.doubt = doubt
        it.store.end()
    it.merge([delta for _, delta in exits.returns])
    if not exits.returns:
        return it.fresh(Kind.LITERAL, node, ref=None)
    if frame.names.yields:
        return it.container("generator", Items(tuple(exits.yields), None, exact=False), node)
    returned = [value for value, _ in exits.returns]
    for value in returned:
        if value.kind is Kind.FUNCTION and isinstance(value.ref, Function) and value.ref.frame is frame:
            for kept in it.closed_over(value.ref):
                it.stored.setdefault(kept.serial, frame)
    return returned[0] if len(returned) == 1 else it.join(returned)


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
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        name = argument.arg
        if name in bound:
            continue
        if arguments.more is not None or arguments.more_keywords is not None:
            source = arguments.more if arguments.more is not None else arguments.more_keywords
            assert source is not None
            given = attributes.element_of(it, source, argument)
            bound[name] = it.join([defaults[name], given]) if name in defaults else given
        elif name in defaults:
            bound[name] = defaults[name]
        else:
            bound[name] = it.parameter(name, argument)
    if spec.vararg is not None:
        rest = (*extra, *((arguments.more,) if arguments.more is not None else ()))
        bound[spec.vararg.arg] = it.container("tuple", Items(rest, None, arguments.more is None))
    if spec.kwarg is not None:
        values = [*keywords.values()]
        if arguments.more_keywords is not None:
            values.append(arguments.more_keywords)
        keys = tuple(keywords) if arguments.more_keywords is None else None
        bound[spec.kwarg.arg] = it.container("dict", Items(tuple(values), keys, keys is not None))
    return list(bound.items())


def open_arguments(it: Interpreter, function: Function, receiver: Value | None) -> Arguments:
    """Symbolic arguments for a function that nobody in the file calls: annotations give kinds."""
    from gradlint.flow.expressions import evaluate

    spec = function.node.args
    values: dict[str, Value] = {}
    positional = [*spec.posonlyargs, *spec.args]
    defaulted = [argument.arg for argument in positional[len(positional) - len(function.defaults) :]]
    optional = {name for name, default in zip(defaulted, function.defaults, strict=False) if is_literal(default, None)}
    for argument in (*positional, *spec.kwonlyargs):
        values[argument.arg] = it.parameter(argument.arg, argument)
        if argument.annotation is not None and argument.arg not in optional:
            annotated = _annotated(it, argument, evaluate(it, argument.annotation))
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


# -- decorators and contexts -------------------------------------------------------------------

_IDENTITY = re.compile(
    r"(register_keras_serializable|wraps|lru_cache|cache|do_not_convert|abstractmethod|override|final|overload|"
    r"saving\.register|tf_export|keras_export|deprecated|no_type_check|jit|experimental|configurable|typechecked)"
)


def decorate(it: Interpreter, decorator: Value, function: Value, node: ast.AST) -> Value:
    """A decorator applied to a function."""
    name = symbol_of(decorator)
    if not name and decorator.kind is Kind.FUNCTION and isinstance(decorator.ref, Partial):
        inner = symbol_of(decorator.ref.function)
        if inner == "tf.function":
            name = inner
    if isinstance(decorator.ref, Transformed):
        match decorator.ref.transformer:
            case "identity":
                return function
            case "property":
                return decorator  # x.setter keeps the property
            case "caching":
                return _transformed(it, "cache", function, node)
    match name:
        case "tf.function":
            return _as_graph(function)
        case "builtins.staticmethod" | "builtins.classmethod" | "builtins.property":
            return _transformed(it, name.split(".")[1], function, node)
        case "functools.cached_property":
            return _transformed(it, "cached_property", function, node)
        case "abc.abstractproperty":
            return _transformed(it, "property", function, node)
        case "functools.singledispatch" | "functools.singledispatchmethod":
            return it.unknown(node, "chosen by type at run time", (function,))
        case "functools.lru_cache" | "functools.cache":
            return _transformed(it, "cache", function, node)
        case "contextlib.contextmanager" | "contextlib.asynccontextmanager" | "tf_contextlib.contextmanager":
            return _transformed(it, "contextmanager", function, node)
        case "tf.custom_gradient" | "tf.recompute_grad" | "tf.grad_pass_through":
            return _transformed(it, name, function, node)
    if decorator.kind is Kind.FUNCTION and isinstance(decorator.ref, Function | BoundMethod):
        return call(it, decorator, Arguments((function,)), node)
    if isinstance(decorator.ref, LibraryMethod) and decorator.ref.name in ("setter", "deleter", "getter"):
        return decorator.ref.receiver
    # An unknown decorator: the function is followed, and strangers may call it too.
    if isinstance(function.ref, Function):
        if not _IDENTITY.search(name or ast.unparse(node)):
            function.ref.open_call = True
            it.escape(function)
    return function


def _as_graph(function: Value) -> Value:
    target = function.ref
    if isinstance(target, BoundMethod):
        _as_graph(target.function)
    elif isinstance(target, Function):
        target.decorators = target.decorators | {"tf.function"}
    return function


def as_graph(function: Value) -> Value:
    """The function as `tf.function` returns it: same body, run as a graph."""
    return _as_graph(function)


def _transformed(it: Interpreter, transformer: str, function: Value, node: ast.AST) -> Value:
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), transformer, function))


def enter_context(
    it: Interpreter,
    manager: Value,
    node: ast.AST,
    bind_target: Callable[[Value], None],
    run: Callable[[], None],
    name: str,
) -> None:
    """Run the body of a `with` in the context of the manager."""
    ways = alternatives(manager, attributes.MOST_WAYS) if manager.how is How.JOIN else [manager]
    some_tapes = [way for way in ways or () if way.kind is Kind.TAPE]
    if some_tapes:
        bind_target(manager)
        tapes.run_under(it, [way.ref for way in some_tapes], run, node, name, sure=len(ways or ()) == 1)
        return
    match manager.kind:
        case Kind.LIBRARY:
            owner: LibraryObject = manager.ref
            if owner.symbol == "contextmanager":
                _run_generator_context(it, owner, node, bind_target, run)
                return
            if owner.symbol == "tape.stop_recording":
                tapes.run_paused(it, owner.arguments[0], run, node)
                return
            if owner.symbol == "contextlib.nullcontext":
                bind_target(owner.arguments[0] if owner.arguments else it.plain(node))
                run()
                return
            bind_target(manager)
            run()
            return
        case Kind.INSTANCE:
            enter = attributes.class_attribute(it, manager.ref.cls, "__enter__")
            leave = attributes.class_attribute(it, manager.ref.cls, "__exit__")
            if enter is not None:
                bind_target(call(it, attributes.bind(it, enter, manager, node), Arguments(()), node))
                run()
                if leave is not None and it.alive:
                    nones = tuple(it.plain(node) for _ in range(3))
                    call(it, attributes.bind(it, leave, manager, node), Arguments(nones), node)
                return
    bind_target(it.part(manager, node) if manager.kind is Kind.UNKNOWN else it.plain(node))
    run()


def _run_generator_context(
    it: Interpreter, owner: LibraryObject, node: ast.AST, bind_target: Callable[[Value], None], run: Callable[[], None]
) -> None:
    function, *positional = owner.arguments
    outer_frame, outer_loops, outer_calls = it.frame, it.loops, list(it.calls)
    ran = False

    def body(value: Value) -> None:
        nonlocal ran
        if ran:
            return
        ran = True
        inner_frame, inner_loops, inner_calls = it.frame, it.loops, it.calls
        it.frame, it.loops, it.calls = outer_frame, outer_loops, outer_calls
        try:
            bind_target(value)
            run()
        finally:
            it.frame, it.loops, it.calls = inner_frame, inner_loops, inner_calls

    target = function.ref
    arguments = Arguments(tuple(positional), dict(owner.keywords))
    if isinstance(target, BoundMethod) and isinstance(target.function.ref, Function):
        arguments = Arguments((target.receiver, *positional), dict(owner.keywords))
        target = target.function.ref
    if isinstance(target, Function):
        call_function(it, target, arguments, node, body)
    if not ran:
        bind_target(it.part(function, node))
        run()


__all__ = ["Arguments", "Class", "Tape", "call", "decorate", "enter_context"]
