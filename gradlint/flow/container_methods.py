"""Container methods: list, dict and set methods; methods of symbolic variable sets."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    Items,
)
from gradlint.flow.runs import runs_of, split_at
from gradlint.flow.sequences import (
    element_of,
    extend_container,
    forget_positions,
    get_item,
    known_elements,
    set_item,
)
from gradlint.flow.tracking import note_appended
from gradlint.flow.values import Kind, Value
from gradlint.verdicts import Cause


def container_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if receiver.ref.pending is not None:
        return _generator_method(it, receiver, name, node)
    items = it.items(receiver)
    first = arguments.positional[0] if arguments.positional else None
    if name == "popitem":
        taken = _any_element(it, receiver, items, node)
        forget_positions(it, receiver)
        return it.tuple_of((it.plain(node), taken), node)
    if name == "__init__" and arguments.every():
        name = "extend" if receiver.ref.type == "list" else "update"
    match name:
        case "update":
            _update(it, receiver, items, arguments, node)
            return it.plain(node)
        case "__getitem__" if first is not None:
            return get_item(it, receiver, first, node)
        case "__setitem__" if len(arguments.positional) == 2:
            set_item(it, receiver, arguments.positional[0], arguments.positional[1], node)
            return it.plain(node)
        case "append" | "add" | "appendleft" | "insert":
            if arguments.positional:
                added = arguments.positional[-1]
                it.note_stored(added)
                note_appended(it, receiver, [added], node)
                last = name == "append"
                made = Items((*items.elements, added), None, items.exact and last, items.ordered and last)
                if name == "insert":
                    made = _inserted(it, receiver, items, arguments, node)
                it.set_items(receiver, made)
            return it.plain(node)
        case "extend":
            if first is not None:
                if first.kind is Kind.CONTAINER:
                    note_appended(it, receiver, list(it.items(first).elements), node)
                extend_container(it, receiver, first)
            return it.plain(node)
        case "clear":
            it.set_items(receiver, Items())
            return it.plain(node)
        case "pop" | "popleft" | "get" | "setdefault":
            return _looked_up(it, receiver, name, arguments, node)
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
            keys = known_elements(it, receiver)
            return it.list_of(keys, node) if keys is not None else it.plain(node)
        case "copy":
            return it.container(receiver.ref.type, items, node)
        case "sort" | "reverse" | "remove" | "discard" | "rotate":
            forget_positions(it, receiver)
            return it.plain(node)
    return it.plain(node, (receiver,), Cause.LEFT_TENSORFLOW)


def _generator_method(it: Interpreter, receiver: Value, name: str, node: ast.AST) -> Value:
    """`generator.send(x)`, `generator.__next__()`: one more of what it yields."""
    if name in ("send", "__next__", "asend", "__anext__"):
        return element_of(it, receiver, node)
    return receiver if name in ("__iter__", "__aiter__") else it.plain(node)


def _update(it: Interpreter, receiver: Value, items: Items, arguments: Arguments, node: ast.AST) -> None:
    """`d.update(other, key=value)`."""
    first = arguments.positional[0] if arguments.positional else None
    if first is not None and first.kind is Kind.CONTAINER:
        other = it.items(first)
        if items.exact and other.exact and items.keys is not None and other.keys is not None:
            own = zip(items.keys, items.elements, strict=True)
            merged = {**dict(own), **dict(zip(other.keys, other.elements, strict=True))}
            it.set_items(receiver, Items(tuple(merged.values()), tuple(merged)))
            return
        it.set_items(receiver, Items((*items.elements, *other.elements), None, exact=False))
    elif first is not None:
        it.set_items(receiver, Items((*items.elements, first), None, exact=False))
    for key, value in arguments.keywords.items():
        set_item(it, receiver, it.fresh(Kind.LITERAL, node, ref=key), value, node)


def _looked_up(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`d.pop(key)`, `d.get(key, default)`, `d.setdefault(key, default)`, `values.pop()`."""
    items = it.items(receiver)
    first = arguments.positional[0] if arguments.positional else None
    if first is None and items.exact and items.keys is None and items.elements:
        found = items.elements[0 if name == "popleft" else -1]
    else:
        found = get_item(it, receiver, first, node) if first is not None else element_of(it, receiver, node)
    if name == "setdefault" and len(arguments.positional) > 1 and first is not None:
        if not (items.keys and first.kind is Kind.LITERAL and first.ref in items.keys):
            found = it.join([found, arguments.positional[1]]) if items.elements else arguments.positional[1]
            set_item(it, receiver, first, found, node)
        return found
    if name in ("pop", "popleft"):
        _take_out(it, receiver, items, name, first)
    if name in ("get", "pop") and len(arguments.positional) > 1:
        known = items.keys is not None and first is not None and first.kind is Kind.LITERAL
        if known and items.keys is not None and first is not None:
            return found if first.ref in items.keys else arguments.positional[1]
        return it.join([found, arguments.positional[1]])
    return found


def _take_out(it: Interpreter, receiver: Value, items: Items, name: str, first: Value | None) -> None:
    """`d.pop(key)`, `values.pop()`: what is left is known where it is known what went."""
    key = first.ref if first is not None and first.kind is Kind.LITERAL else None
    if items.exact and items.keys is not None and key in items.keys:
        place = items.keys.index(key)
    elif items.exact and items.keys is None and items.elements and (first is None or type(key) is int):
        place = 0 if name == "popleft" else key if isinstance(key, int) else -1
    elif items.exact and items.keys is not None and key is not None:
        return  # the default is handed out
    else:
        forget_positions(it, receiver)
        return
    places = range(len(items.elements))
    if -len(places) <= place < len(places):
        gone = places[place]
        left = [each for each in places if each != gone]
        keys = None if items.keys is None else tuple(items.keys[each] for each in left)
        it.set_items(receiver, Items(tuple(items.elements[each] for each in left), keys))


def _any_element(it: Interpreter, receiver: Value, items: Items, node: ast.AST) -> Value:
    return it.join(list(items.elements)) if items.elements else element_of(it, receiver, node)


def variables_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in ("copy",):
        return receiver
    if name in ("append", "extend", "insert"):
        if not _becomes_list(it, receiver, name, arguments, node):
            for value in arguments.every():
                it.escape(value)
            receiver.ref.open_members = True
        return it.plain(node)
    return it.part(receiver, node)


def _becomes_list(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> bool:
    """`variables = model.trainable_variables; variables.append(w)`: a list of its own, wherever it is held."""
    holders = [key for key, held in it.store.cells.items() if held is receiver]
    if not holders:
        return False
    made = it.container("list", Items((receiver,), None, exact=False, ordered=True), node)
    for key in holders:
        it.store.set(key, made)
    container_method(it, made, name, arguments, node)
    return True


def _inserted(it: Interpreter, receiver: Value, items: Items, arguments: Arguments, node: ast.AST) -> Items:
    """What a list holds after `insert(place, added)`, in order where the place is known."""
    added, place = arguments.positional[-1], arguments.positional[0]
    runs = runs_of(it, receiver)
    known = len(arguments.positional) == 2 and place.kind is Kind.LITERAL and type(place.ref) is int
    halves = split_at(it, runs, place.ref, node) if known and runs is not None else None
    if halves is None:
        return Items((*items.elements, added), None, exact=False)
    return Items((*halves[0], added, *halves[1]), None, items.exact, items.ordered)
