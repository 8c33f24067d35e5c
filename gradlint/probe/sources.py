"""The trainable variables that a function can reach: through its arguments, its closure, the object it is bound to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradlint.probe.names import identities

_DEEPEST = 4
_FOREIGN = ("numpy", "builtins", "functools")


def reachable_variables(function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
    """Each trainable variable once, in the order of being met."""
    found: dict[int, Any] = {}
    for root in _roots(function, arguments):
        for variable in _variables(root, 0, set()):
            found.setdefault(min(identities(variable)), variable)
    return list(found.values())


def _roots(function: Callable[..., Any], arguments: Sequence[Any]) -> Iterator[Any]:
    yield from arguments
    while hasattr(function, "python_function") or hasattr(function, "func"):
        yield from getattr(function, "args", ())
        yield from getattr(function, "keywords", {}).values()
        function = getattr(function, "python_function", None) or function.func  # type: ignore[attr-defined]
    yield getattr(function, "__self__", None)
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        yield function
        return
    try:
        closure = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # a cell that is still empty
        return
    yield from closure.nonlocals.values()
    yield from closure.globals.values()
    plain = inspect.unwrap(function)
    names = _names_within(getattr(plain, "__code__", None))
    for name in names - closure.globals.keys():
        if name in getattr(plain, "__globals__", {}):
            yield plain.__globals__[name]


def _names_within(code: Any) -> set[str]:
    """The global names of functions and lambdas that are made inside."""
    inner = [part for part in getattr(code, "co_consts", ()) if hasattr(part, "co_names")]
    return {name for part in inner for name in part.co_names}.union(*map(_names_within, inner))


def _variables(value: Any, depth: int, met: set[int]) -> Iterator[Any]:
    if depth > _DEEPEST or id(value) in met or value is None or isinstance(value, str | bytes | int | float | type):
        return
    met.add(id(value))
    if (
        hasattr(value, "trainable")
        and (hasattr(value, "handle") or hasattr(value, "path"))
        and hasattr(value, "assign")
    ):
        if value.trainable:
            yield value
        return
    listed = getattr(value, "trainable_variables", None)
    if isinstance(listed, list | tuple):
        yield from listed
        return
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _variables(part, depth + 1, met)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _variables(part, depth + 1, met)
    elif inspect.isfunction(value) or inspect.ismethod(value):
        for root in _roots(value, ()):
            yield from _variables(root, depth + 1, met)
    elif not inspect.ismodule(value) and not (type(value).__module__ or "").startswith(_FOREIGN):
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            for part in list(attributes.values()):
                yield from _variables(part, depth + 1, met)
