"""Decorators: what becomes of a function under a library decorator or one of the file."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from gradlint.flow.arguments import Arguments, symbol_of
from gradlint.flow.dispatch import register
from gradlint.flow.enumerations import is_enumeration
from gradlint.flow.instances import class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Function,
    Instance,
    LibraryMethod,
    Partial,
    Transformed,
)
from gradlint.flow.options import note_option
from gradlint.flow.values import Kind, Value
from gradlint.flow.wrappers import without_wrapper

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
        case "tf.numpy_function" | "tf.py_function":
            if isinstance(function.ref, Function):
                function.ref.decorators = function.ref.decorators | {"tf.numpy_function"}
            return function
        case "builtins.staticmethod" | "builtins.classmethod" | "builtins.property":
            return _transformed(it, name.split(".")[1], function, node)
        case "functools.cached_property":
            return _transformed(it, "cached_property", function, node)
        case "abc.abstractproperty":
            return _transformed(it, "property", function, node)
        case "functools.singledispatch":
            return _transformed(it, "singledispatch", function, node)
        case "functools.singledispatchmethod":
            return it.unknown(node, "chosen by type at run time", (function,))
        case "functools.lru_cache" | "functools.cache":
            return _transformed(it, "cache", function, node)
        case "contextlib.contextmanager" | "contextlib.asynccontextmanager" | "tf_contextlib.contextmanager":
            return _transformed(it, "contextmanager", function, node)
        case "tf.custom_gradient" | "tf.recompute_grad" | "tf.grad_pass_through":
            return _transformed(it, name, function, node)
    dispatcher, cls = _registering(decorator)
    if dispatcher is not None:
        return register(it, dispatcher, cls, function, node)
    if isinstance(decorator.ref, Partial) and symbol_of(decorator.ref.function) in ("click.option", "click.argument"):
        note_option(it, Arguments(decorator.ref.arguments, dict(decorator.ref.keywords)), function, node)
        return function
    if can_be_run(it, decorator):
        returned = it.call(decorator, Arguments((function,)), node)
        return function if decorator.kind is Kind.METHOD else without_wrapper(it, returned, function)
    if isinstance(decorator.ref, LibraryMethod) and decorator.ref.name in ("setter", "deleter", "getter"):
        owner = decorator.ref.receiver
        if decorator.ref.name == "setter" and isinstance(owner.ref, Transformed) and function.kind is Kind.FUNCTION:
            return it.fresh(Kind.FUNCTION, node, ref=replace(owner.ref, id=it.new_id(), setter=function))
        return owner
    # An unknown decorator: the function is followed, and strangers may call it too.
    if isinstance(function.ref, Function):
        if not _IDENTITY.search(name or ast.unparse(node)):
            function.ref.open_call = True
            it.escape(function)
    return function


def can_be_run(it: Interpreter, decorator: Value) -> bool:
    """Whether what a decorator does can be followed: code of the file, or a method of a list or dict of the file."""
    match decorator.ref:
        case Function() | BoundMethod():
            return decorator.kind is Kind.FUNCTION
        case Partial(function=function):
            return can_be_run(it, function)
        case LibraryMethod(receiver=receiver):
            return receiver.kind is Kind.CONTAINER
        case Instance(cls=cls):
            return decorator.kind is Kind.INSTANCE and class_attribute(it, cls, "__call__") is not None
        case Class() as cls:
            # A class with `__get__` is a property of its own making.
            own = not (cls.open_base or cls.families or it.frame.is_class or is_enumeration(cls))
            return own and decorator.kind is Kind.CLASS and class_attribute(it, cls, "__get__") is None
    return False


def _registering(decorator: Value) -> tuple[Transformed | None, Value | None]:
    """The function chosen by type that a decorator registers for, and the class, where that is given."""
    method, cls = decorator.ref, None
    if isinstance(method, Partial):
        method, cls = method.function.ref, method.arguments[0] if method.arguments else None
    if isinstance(method, LibraryMethod) and method.name == "register" and isinstance(method.receiver.ref, Transformed):
        if method.receiver.ref.transformer == "singledispatch":
            return method.receiver.ref, cls
    return None, None


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
