"""Instances: attributes of objects of this file's classes, methods bound, properties called."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import VARIABLE_SETS, variable_set
from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Function,
    LibraryMethod,
    Transformed,
)
from gradlint.flow.values import How, Kind, Value


def method_of(it: Interpreter, receiver: Value, name: str, node: ast.AST) -> Value:
    """A method of a library object, not called yet."""
    return it.fresh(Kind.METHOD, node, ref=LibraryMethod(it.new_id(), receiver, name), label=name)


def class_attribute(it: Interpreter, cls: Class, name: str) -> Value | None:
    """A name found in a class body or in those of its bases in this file."""
    for each in cls.lineage():
        value = it.store.get((each.id, name))
        if value is not None:
            return value
    return None


def bind_method(it: Interpreter, found: Value, receiver: Value, node: ast.AST) -> Value:
    """A class attribute as seen through an instance: methods are bound, properties are called."""
    if found.kind is not Kind.FUNCTION:
        return found
    function = found.ref
    if isinstance(function, Transformed):
        match function.transformer:
            case "staticmethod":
                return function.function
            case "classmethod":
                cls = it.fresh(Kind.CLASS, node, ref=receiver.ref.cls) if receiver.kind is Kind.INSTANCE else receiver
                return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, cls))
            case "cached_property":
                return _cached_property(it, function, receiver, node)
            case "property":
                bound = it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, receiver))
                return it.call(bound, Arguments(()), node)
    if isinstance(function, Function | Transformed):
        return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), found, receiver))
    return found


def _cached_property(it: Interpreter, function: Transformed, receiver: Value, node: ast.AST) -> Value:
    key = f"<cached {function.id}>"
    kept = it.store.get((receiver.ref.id, key)) if receiver.kind is Kind.INSTANCE else None
    if kept is not None:
        return kept
    bound = it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function.function, receiver))
    value = it.call(bound, Arguments(()), node)
    perhaps = it.perhaps_cached.get((receiver.ref.id, key)) if receiver.kind is Kind.INSTANCE else None
    if perhaps is not None:
        value = it.join([value, perhaps])
    if receiver.kind is Kind.INSTANCE:
        it.keep(value)
        it.write_cell(receiver.ref, key, value)
    return value


def is_empty(it: Interpreter, value: Value) -> bool:
    """Whether a value is a container that can be filled and that nothing in sight has filled."""
    return (
        value.kind is Kind.CONTAINER
        and value.ref.type != "tuple"
        and not it.is_waiting(value)
        and not it.items(value).elements
    )


def is_overridden(it: Interpreter, cls: Class, name: str) -> bool:
    return any(
        other is not cls and cls in other.lineage() and it.store.get((other.id, name)) is not None
        for other in it.classes
    )


def open_part(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    if name in VARIABLE_SETS:
        return variable_set(it, base, name, node)
    key = (base.ref.id, f".{name}")
    found = it.member_values.get(key)
    if found is None:
        found = Value(
            Kind.UNKNOWN, How.PART, it.tick(), inputs=(base,), node=node, frame=it.frame, root=base,
            label="part", because=f"`{name}` is set where it cannot be seen",
        )  # fmt: skip
        it.member_values[key] = found
    return found
