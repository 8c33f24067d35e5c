"""Sequences: items, iteration and unpacking of containers and everything else that is indexed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.constants import describe_item, write_array
from gradlint.flow.enumerations import is_enumeration, members_for
from gradlint.flow.indexed_slices import note_access
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import sliced_set, some_variable, symbolic_operation
from gradlint.flow.objects import (
    Container,
    Items,
)
from gradlint.flow.own_containers import contents_of, seen_as_container
from gradlint.flow.runs import item_of_runs, list_of_runs, part_of_runs, runs_of, with_item
from gradlint.flow.shapes import literal_shape
from gradlint.flow.slices import note_copy, note_item
from gradlint.flow.tracing import note_number_read, note_part_read
from gradlint.flow.tracking import note_appended
from gradlint.flow.values import Fill, How, Kind, Value, alternatives
from gradlint.verdicts import Cause

MOST_WAYS = 8
_CARRIES = (Kind.TENSOR, Kind.VARIABLE, Kind.VARIABLES)


def each_way(it: Interpreter, value: Value, act: Callable[[Value], Value], node: ast.AST) -> Value:
    """Act on every alternative of a join and join what comes back."""
    ways = alternatives(value, MOST_WAYS)
    if ways is None or not ways:
        return it.unknown(node, "too many alternatives" if ways is None else "nothing but None", (value,))
    if len(ways) == 1:
        return act(ways[0])
    return it.join([act(way) for way in ways])


def is_split(value: Value) -> bool:
    """Whether a join has to be taken apart: a joined tensor is still one tensor."""
    return value.how is How.JOIN and (value.kind is Kind.UNKNOWN or value.ref is None) and value.kind is not Kind.TENSOR


def get_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    """`base[index]`."""
    if is_split(base):
        return each_way(it, base, lambda way: get_item(it, way, index, node), node)
    match base.kind:
        case Kind.CONTAINER:
            return _container_item(it, base, index, node)
        case Kind.VARIABLES:
            if index.kind is Kind.LITERAL and isinstance(index.ref, slice):
                note_part_read(it, base.ref.members)
                return sliced_set(it, base, index.ref, node)
            return _item_of_list(it, base, index, node) or some_variable(it, base, node)
        case Kind.TENSOR | Kind.VARIABLE:
            if base.of is not None and note_access(it, base, node, "TypeError"):
                it.alive = False  # it raises
            made = it.operation(node, (base,), label="[]", dead=_index_cut(index), dtype=base.dtype)
            made.given = Arguments((base, index))
            describe_item(it, base, index, made)
            return made
        case Kind.SYMBOLIC:
            ref = symbolic_operation(it, (base,))
            return it.operation(node, (base,), label="[]", kind=Kind.SYMBOLIC, ref=ref)
        case Kind.UNKNOWN:
            return _unknown_item(it, base, index, node)
        case Kind.PLAIN | Kind.LITERAL:
            made = it.operation(node, (base,), label="[]", kind=Kind.PLAIN)
            made.given = Arguments((base, index))
            describe_item(it, base, index, made)
            return made
        case Kind.INSTANCE:
            method = class_attribute(it, base.ref.cls, "__getitem__")
            if method is not None:
                return it.call(bind_method(it, method, base, node), Arguments((index,)), node)
            contents = contents_of(it, base)
            if contents is not None:
                return _container_item(it, contents, index, node)
            return it.part(base, node, item=True)
        case Kind.LIBRARY:
            return _dataset_element(it, base, node) if "data" in base.ref.symbol else it.part(base, node, item=True)
        case Kind.SYMBOL if base.ref == "sys.modules":
            it.escape_names()
            return it.unknown(node, "a module looked up at run time")
        case Kind.CLASS if is_enumeration(base.ref):
            return members_for(it, base.ref, index, node, by_value=False)
        case Kind.SYMBOL | Kind.CLASS:
            return base  # `Box[int]` is Box
    return it.part(base, node, item=True)


def _index_cut(index: Value) -> tuple[tuple[Value, Cause], ...]:
    return () if index.kind is Kind.LITERAL else ((index, Cause.NON_DIFFERENTIABLE),)


def _told_keys(items: Items, index: Value) -> list[Value]:
    """The keys that a setting surely can be: its default, where it may also be given from outside."""
    if not items.exact or items.keys is None or index.how is not How.JOIN:
        return []
    ways = alternatives(index, 8) or []
    return [way for way in ways if way.kind is Kind.LITERAL and way.ref in items.keys]


def _container_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    items = it.items(base)
    chosen = _told_keys(items, index)
    if chosen:
        return it.join([_container_item(it, base, each, node) for each in chosen])
    if items.exact and index.kind is Kind.LITERAL:
        key = index.ref
        if items.keys is not None:
            if key in items.keys:
                found = items.elements[items.keys.index(key)]
                if it.tracing is not None and found.kind is Kind.LITERAL and isinstance(node, ast.expr):
                    note_number_read(it, (base.ref.id, ("item", key)), ast.unparse(node), found)
                return found
        elif isinstance(key, slice):
            bounds = (key.start, key.stop, key.step)
            if key.step != 0 and all(bound is None or isinstance(bound, int) for bound in bounds):
                return it.container(base.ref.type, Items(items.elements[key]), node)
        elif isinstance(key, int) and -len(items.elements) <= key < len(items.elements):
            return items.elements[key]
    of_run = _item_of_list(it, base, index, node)
    if of_run is not None:
        return of_run
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return it.container("list", Items(items.elements, None, exact=False), node)
    if base.ref.type == "dict":
        missing = items.exact and items.keys is not None and index.kind is Kind.LITERAL
        if missing or not items.elements:  # a registry that is filled where it cannot be seen
            return it.unknown(node, "nothing in sight was put under this key")
        return it.join(list(items.elements))  # any of its values
    return element_of(it, base, node)


def _item_of_list(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value | None:
    """One place or a part of an ordered list whose length is not known."""
    runs = runs_of(it, base)
    if not runs:
        return None
    if index.kind is Kind.LITERAL and type(index.ref) is int:
        return item_of_runs(it, runs, index.ref, node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and len(index.operands) == 3:
        bounds = tuple(None if each.kind is Kind.LITERAL and each.ref is None else each for each in index.operands)
        part = part_of_runs(it, runs, bounds, node)
        return None if part is None else list_of_runs(it, part, node)
    return None


def _unknown_item(it: Interpreter, base: Value, index: Value, node: ast.AST) -> Value:
    if base.serial in it.namespaces:
        it.escape_names()  # of what was bound since as well
    key = ("item", index.ref if index.kind is Kind.LITERAL and isinstance(index.ref, int | str) else "?")
    written = it.store.get((-base.serial - 1, key))
    if written is not None and key[1] != "?" and it.written_at.get((-base.serial - 1, key), 0) > it.havoc:
        return written
    if base.how in (How.JOIN, How.OPERATION):
        return it.operation(node, (base,), label="[]", kind=Kind.UNKNOWN)
    part = it.part(base, node, item=True)
    return part if written is None else it.join([written, part])


def consume(it: Interpreter, value: Value, node: ast.AST) -> ast.AST | None:
    """Something goes through a list; where a `zip` was gone through before, the place where."""
    if value.kind is not Kind.CONTAINER or not value.ref.lazy or it.arms:
        return None
    key = (value.ref.id, "<consumed>")
    before = it.store.get(key)
    it.store.set(key, it.fresh(Kind.LITERAL, node, ref=True))
    return before.node if before is not None and it.joined == 0 else None


def set_item(it: Interpreter, base: Value, index: Value, value: Value, node: ast.AST) -> None:
    """`base[index] = value`."""
    ways = alternatives(base, MOST_WAYS) if is_split(base) else [base]
    if not ways:
        it.escape(value)
        return
    if note_item(it, ways, node):
        it.alive = False  # it raises
        return
    for way in ways:
        if way.kind is Kind.CONTAINER:
            _set_container_item(it, way, index, value, node, certain=len(ways) == 1)
        elif way.kind is Kind.INSTANCE and (method := class_attribute(it, way.ref.cls, "__setitem__")) is not None:
            it.call(bind_method(it, method, way, node), Arguments((index, value)), node)
        elif (contents := contents_of(it, way)) is not None:
            _set_container_item(it, contents, index, value, node, certain=len(ways) == 1)
        elif way.kind is Kind.UNKNOWN:
            it.escape(value)
            if index.kind is Kind.LITERAL and isinstance(index.ref, int | str):
                key = (-way.serial - 1, ("item", index.ref))
                it.store.set(key, value)
                it.written_at[key] = it.tick()
        elif way.kind is Kind.PLAIN:
            note_copy(it, way, node)
            write_array(it, way, value)
            it.array_writes.setdefault(way.serial, []).append(value)
            if value.kind not in (Kind.LITERAL, Kind.SYMBOL):
                stored = it.plain(node, (value,), Cause.LEFT_TENSORFLOW, "array item")
                way.inputs = (*way.inputs, stored)
        else:
            it.escape(value)


def _set_container_item(
    it: Interpreter, base: Value, index: Value, value: Value, node: ast.AST, *, certain: bool
) -> None:
    it.note_stored(value)
    note_appended(it, base, [value], node)
    items = it.items(base)
    if certain and items.exact and index.kind is Kind.LITERAL:
        elements = list(items.elements)
        key = index.ref
        if base.ref.type == "dict" and isinstance(key, str | int | bool):
            keys = list(items.keys or ())
            if key in keys:
                elements[keys.index(key)] = value
            else:
                keys.append(key)
                elements.append(value)
            it.set_items(base, Items(tuple(elements), tuple(keys)))
            return
        if items.keys is None and isinstance(key, int) and -len(elements) <= key < len(elements):
            elements[key] = value
            it.set_items(base, Items(tuple(elements)))
            return
    if certain and index.kind is Kind.LITERAL and type(index.ref) is int and base.ref.type == "list":
        runs = runs_of(it, base)
        written = with_item(it, runs, index.ref, value, node) if runs else None
        if written is not None:
            it.set_items(base, Items(tuple(written), None, exact=False, ordered=True))
            return
    if index.kind is Kind.LITERAL and isinstance(index.ref, slice):  # `values[1:] = others`
        written_all = (element_of(it, value, node),) if value.kind is not Kind.CONTAINER else it.items(value).elements
        every = [*items.elements, *written_all]
        if not every and items.exact:
            return  # of nothing, nothing
        it.set_items(base, Items((it.join(every),) if every else (), None, exact=False))
        return
    it.set_items(base, Items((*items.elements, value), None, exact=False))


def extend_container(it: Interpreter, base: Value, more: Value) -> None:
    """`base.extend(more)`."""
    items = it.items(base)
    known = known_elements(it, more)
    if known is not None:
        it.set_items(base, Items((*items.elements, *known), None, items.exact, items.ordered))
        return
    runs = runs_of(it, more) if runs_of(it, base) is not None else None
    if runs is not None:
        it.set_items(base, Items((*items.elements, *runs), None, exact=False, ordered=True))
        return
    extra = it.items(more).elements if more.kind is Kind.CONTAINER else (more,)
    if more.kind not in (Kind.CONTAINER, Kind.VARIABLES):
        extra = (element_of(it, more, more.node or ast.Pass()),)
    it.set_items(base, Items((*items.elements, *extra), None, exact=False))


def forget_positions(it: Interpreter, base: Value) -> None:
    """Something was taken out of a container: what is left keeps its elements, not its places."""
    it.set_items(base, Items(it.items(base).elements, None, exact=False))


def known_elements(it: Interpreter, value: Value) -> list[Value] | None:
    """The elements that iterating yields, when they are all known (keys for a dict)."""
    value = seen_as_container(it, value, "__iter__")
    if value.kind is not Kind.CONTAINER:
        return None
    items = it.items(value)
    if not items.exact:
        return None
    if value.ref.type == "dict":
        if items.keys is None:
            return None if items.elements else []
        return [it.fresh(Kind.LITERAL, value.node, ref=key) for key in items.keys]
    return list(items.elements)


def element_of(it: Interpreter, value: Value, node: ast.AST) -> Value:
    """Any one element of what is iterated."""
    if is_split(value):
        return each_way(it, value, lambda way: element_of(it, way, node), node)
    match value.kind:
        case Kind.CONTAINER if value.label == "range":
            number = it.plain(node)
            number.fill = Fill.INDEX
            return number
        case Kind.CONTAINER:
            items = it.items(value)
            container: Container = value.ref
            if container.type == "dict" and items.keys is not None:
                return it.plain(node)
            elements = [
                some_variable(it, each, node) if each.kind is Kind.VARIABLES else each for each in items.elements
            ]
            if not elements:
                return it.unknown_global(
                    f"<element of {container.id}>", "an element of a container whose contents are not known"
                )
            any_one = it.join(elements)
            if not items.exact or len(elements) > 1:
                it.stand_for_many.add(any_one.serial)
            return any_one
        case Kind.VARIABLES:
            return some_variable(it, value, node)
        case Kind.TENSOR | Kind.VARIABLE:
            made = it.operation(node, (value,), label="[]", dtype=value.dtype)
            made.fill = value.fill if value.fill is Fill.INDEX else None
            return made
        case Kind.PLAIN | Kind.LITERAL:
            made = it.operation(node, (value,), label="[]", kind=Kind.PLAIN)
            made.fill = value.fill if value.fill is Fill.INDEX else None
            return made
        case Kind.LIBRARY:
            return _dataset_element(it, value, node)
        case Kind.INSTANCE:
            method = class_attribute(it, value.ref.cls, "__iter__")
            if method is not None:
                made = it.call(bind_method(it, method, value, node), Arguments(()), node)
                if made.kind is not Kind.INSTANCE:
                    return element_of(it, made, node)
            contents = contents_of(it, value)
            if contents is not None:
                return element_of(it, contents, node)
            method = class_attribute(it, value.ref.cls, "__getitem__")
            if method is not None:
                return it.call(bind_method(it, method, value, node), Arguments((it.plain(node),)), node)
    return it.part(value, node, item=True)


def _dataset_element(it: Interpreter, dataset: Value, node: ast.AST) -> Value:
    """A tensor of a data set: new, with the numbers of what the data set was made of."""
    held = [each for each in dataset.ref.arguments if each.kind in _CARRIES or each.dead]
    slices = dataset.ref.keyword("<slices>")
    if slices is not None and not held:
        return _sliced_element(it, slices, node, batched=dataset.ref.keyword("<batch>") is not None)
    if not held:
        return it.fresh(Kind.TENSOR, node, label="dataset element")
    return it.operation(node, (), label="dataset element", dead=tuple((each, Cause.STATE) for each in held))


def _sliced_element(it: Interpreter, slices: Value, node: ast.AST, *, batched: bool) -> Value:
    """A row, or a batch of rows, of what `from_tensor_slices` was given."""
    if slices.kind is Kind.CONTAINER and slices.ref.type in ("tuple", "dict") and it.items(slices).exact:
        items = it.items(slices)
        elements = tuple(_sliced_element(it, each, node, batched=batched) for each in items.elements)
        return it.container(slices.ref.type, Items(elements, items.keys), node)
    made = it.fresh(Kind.TENSOR, node, label="dataset element")
    made.dtype = slices.dtype
    shape = literal_shape(it, slices)
    if shape:
        made.shape = (None, *shape[1:]) if batched else shape[1:]
    return made


def unpack(it: Interpreter, value: Value, count: int, node: ast.AST) -> list[Value]:
    """The `count` values that unpacking assigns."""
    if is_split(value):
        ways = alternatives(value, MOST_WAYS)
        if ways:
            columns = zip(*(unpack(it, way, count, node) for way in ways), strict=True)
            return [it.join(list(column)) for column in columns]
    known = known_elements(it, value)
    if known is not None and len(known) == count:
        return known
    if value.kind is Kind.UNKNOWN and value.is_opaque:
        return [_unknown_item(it, value, it.fresh(Kind.LITERAL, node, ref=position), node) for position in range(count)]
    return [element_of(it, value, node) for _ in range(count)]
