"""Enumerations: members of `enum.Enum` classes of the project, which people choose losses and modes by.

A member is a constant (`Kind.LITERAL`) whose `ref` is a `Member`: it can be a key, be compared, and be matched.
Functions in the body of an enumeration are its methods, as Python has it; what `functools.partial` returns is a member.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradlint.flow.arguments import Arguments
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Class, Partial
from gradlint.flow.values import How, Kind, Value, alternatives


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an enumeration."""

    cls: Class
    name: str


def is_enumeration(cls: Class) -> bool:
    """Whether a class derives from one of the module `enum`."""
    return any(family.startswith("enum.") for family in cls.families)


def is_member(value: Value) -> bool:
    """Whether a value is a member of an enumeration of the project, and which one is known."""
    return value.kind is Kind.LITERAL and isinstance(value.ref, Member) and value.how is How.FRESH


def member_named(it: Interpreter, cls: Class, name: str, node: ast.AST) -> Value | None:
    """`Loss.HARD` and `Loss["HARD"]`; None when the class has no member of this name."""
    value = class_attribute(it, cls, name)
    if value is None or name.startswith("_") or value.kind is Kind.SYMBOL:
        return None
    if value.kind is Kind.FUNCTION and not isinstance(value.ref, Partial):
        return None
    return it.fresh(Kind.LITERAL, node, ref=Member(cls, name))


def members_for(it: Interpreter, cls: Class, index: Value, node: ast.AST, *, by_value: bool) -> Value:
    """`Loss("hard")` by value, `Loss[name]` by name: the member, or those that a setting can be, and unknown ones."""
    ways = alternatives(index, 8) or [index]
    found = [made for way in ways if (made := _member_for(it, cls, way, node, by_value=by_value)) is not None]
    if len(found) < len(ways):
        found.append(it.parameter("a member of an enumeration", node))
    return it.join(found)


def _member_for(it: Interpreter, cls: Class, key: Value, node: ast.AST, *, by_value: bool) -> Value | None:
    if is_member(key):
        return key
    if key.kind is not Kind.LITERAL or not isinstance(key.ref, str | int):
        return None
    if not by_value:
        return member_named(it, cls, str(key.ref), node)
    for name in _names(cls):
        value = class_attribute(it, cls, name)
        if value is not None and value.kind is Kind.LITERAL and value.ref == key.ref:
            return member_named(it, cls, name, node)
    return None


def _names(cls: Class) -> list[str]:
    """The names that the bodies of the class and its bases bind, in order."""
    return [
        target.id
        for each in reversed(cls.lineage())
        for statement in each.node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]


def member_attribute(it: Interpreter, member: Value, name: str, node: ast.AST) -> Value:
    """`member.value`, `member.name`, and what the class of the enumeration defines."""
    ref: Member = member.ref
    if name in ("name", "_name_"):
        return it.fresh(Kind.LITERAL, node, ref=ref.name)
    found = class_attribute(it, ref.cls, ref.name if name in ("value", "_value_") else name)
    if found is None:
        return it.part(member, node)
    return found if name in ("value", "_value_") else bind_method(it, found, member, node)


def call_member(it: Interpreter, member: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`member(...)`: the `__call__` of its class."""
    method = class_attribute(it, member.ref.cls, "__call__")
    if method is None:
        return it.unknown(node, "a member of an enumeration that cannot be called", arguments.every())
    return it.call(bind_method(it, method, member, node), arguments, node)


def same_member(left: Value, right: Value) -> bool | None:
    """Whether two values are the same member; None when one of them is not surely a member or another constant."""
    if not (is_member(left) or is_member(right)):
        return None
    if is_member(left) and is_member(right):
        return bool(left.ref == right.ref)
    member, other = (left, right) if is_member(left) else (right, left)
    if other.kind is not Kind.LITERAL or other.how is not How.FRESH:
        return None
    mixed = any(family.endswith((".str", ".int", "StrEnum", "IntEnum")) for family in member.ref.cls.families)
    return None if mixed else False
