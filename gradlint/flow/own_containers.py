"""Objects of the file's classes that are dicts or lists by a base of Python: what they hold as such."""

from __future__ import annotations

import ast

from gradlint.flow.instances import class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Instance, Items
from gradlint.flow.values import Kind, Value

#: The cell of an object that holds the container which it is.
_CONTENTS = "<contents>"
_TYPES = {
    "builtins.dict": "dict",
    "collections.OrderedDict": "dict",
    "collections.UserDict": "dict",
    "typing.Dict": "dict",
    "builtins.list": "list",
    "collections.UserList": "list",
    "typing.List": "list",
}


def give_contents(it: Interpreter, value: Value, node: ast.AST) -> None:
    """A new object of such a class is empty, as far as nobody has filled it."""
    made: Instance = value.ref
    type_ = next((_TYPES[family] for family in made.cls.families if family in _TYPES), None)
    if type_ is None:
        return
    items = Items(exact=not made.open_self) if type_ == "list" else Items((), (), exact=not made.open_self)
    it.write_cell(made, _CONTENTS, it.container(type_, items, node))


def contents_of(it: Interpreter, value: Value) -> Value | None:
    """The container that an object is; None for any other value."""
    return it.store.get((value.ref.id, _CONTENTS)) if value.kind is Kind.INSTANCE else None


def seen_as_container(it: Interpreter, value: Value, method: str) -> Value:
    """What `method` of the value works on: the contents of such an object, unless its class has its own method."""
    contents = contents_of(it, value)
    return value if contents is None or class_attribute(it, value.ref.cls, method) is not None else contents
