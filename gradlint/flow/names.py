"""Names: reading and binding, by the scoping rules of Python."""

from __future__ import annotations

import ast
import builtins

from gradlint.flow.instances import is_empty
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.scopes import Frame
from gradlint.flow.tracing import note_number_read, note_object_read
from gradlint.flow.values import How, Kind, Value
from gradlint.knowledge.exports import exporter
from gradlint.knowledge.symbols import canonical

_BUILTINS = frozenset(dir(builtins))


def read_name(it: Interpreter, name: str, node: ast.AST) -> Value:
    """The value bound to a name, by Python's scoping rules."""
    frame: Frame | None = it.frame
    first, outer = True, False
    while frame is not None:
        if frame.is_class and not first:
            frame = frame.parent
            continue
        if name in frame.names.global_:
            frame = frame.top
        if frame.is_module:
            return _read_global(it, name, node)
        if name in frame.names.local:
            value = it.store.get((frame.id, name))
            if value is not None:
                if value.kind is Kind.IMPORTED:
                    return it.resolve(value)
                if it.tracing is not None and (value.kind in (Kind.LITERAL, Kind.PLAIN) or value.how is How.JOIN):
                    note_number_read(it, (frame.id, name), name, value)
                elif it.tracing is not None:
                    note_object_read(it, (frame.id, name), name, value)
                if outer and it.open_code and is_empty(it, value):
                    because = f"`{name}` may be filled before this is called"
                    return it.join([value, it.unknown_global(f"{name}@{frame.id}", because)])
                return value
            if not frame.is_class:
                return it.unknown_global(f"{name}@{frame.id}", f"`{name}` is bound on no way that was followed")
        first = False
        outer = outer or not (frame.is_comprehension or frame.is_class)
        frame = frame.parent
    return _read_global(it, name, node)


def _read_global(it: Interpreter, name: str, node: ast.AST) -> Value:
    module = it.module.module
    assert module is not None and module.source is not None
    value = it.store.get((it.module.id, name))
    if value is not None:
        if value.kind is Kind.IMPORTED:
            return it.resolve(value)
        if it.tracing is not None and (value.kind in (Kind.LITERAL, Kind.PLAIN) or value.how is How.JOIN):
            note_number_read(it, (it.module.id, name), name, value)
        elif it.tracing is not None:
            note_object_read(it, (it.module.id, name), name, value)
        if it.open_code and (name in module.source.relevance.global_statements or is_empty(it, value)):
            because = f"`{name}` may be set or filled from elsewhere"
            return it.join([value, it.state_unknown(_own_name(it, name), because, node)])
        if (
            it.open_code
            and name in module.source.relevance.rebound_globals
            and value.kind not in (Kind.SYMBOL, Kind.FUNCTION, Kind.CLASS)
        ):
            return it.unknown_global(_own_name(it, name), f"`{name}` is bound more than once at module level")
        return value
    if name == "__name__":
        return it.fresh(Kind.LITERAL, node, ref=module.name)
    if module.stars:
        starred = it.starred(module, name, node)
        if starred is not None:
            return it.resolve(starred)
    if name in _BUILTINS:
        return it.fresh(Kind.SYMBOL, node, ref=f"builtins.{name}")
    libraries = [canonical(each) for each in module.stars if isinstance(each, str)]
    if len(libraries) == len(set(libraries)) == len(module.stars):
        library = exporter(name, [each for each in libraries if each.split(".")[0] in ("tf", "keras", "np")])
        if library is not None:
            return it.fresh(Kind.SYMBOL, node, ref=canonical(f"{library}.{name}"))
    return it.unknown_global(_own_name(it, name), f"`{name}` is not bound in this file")


def _own_name(it: Interpreter, name: str) -> str:
    """The name, told from the same one in other modules."""
    module = it.module.module
    return name if module is None or module is it.entry else f"{module.name}.{name}"


def bind_name(it: Interpreter, name: str, value: Value) -> None:
    """Bind a name in the scope that Python would bind it in."""
    if value.kind is Kind.VARIABLE and value.ref is not None and not value.ref.bound:
        value.ref.bound = name
    frame = it.frame
    while frame.is_comprehension and name not in frame.names.local and frame.parent is not None:
        frame = frame.parent
    if name in frame.names.global_:
        frame = frame.top
    elif name in frame.names.nonlocal_:
        outer = frame.parent
        while outer is not None and (outer.is_class or name not in outer.names.local):
            outer = outer.parent
        frame = outer or it.module
    it.store.set((frame.id, name), value)
