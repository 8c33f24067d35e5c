"""Python calls: builtins, itertools, functools and collections."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.attributes import has_attribute, set_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    HeapObject,
    Items,
    LibraryObject,
    Partial,
    Super,
    Transformed,
)
from gradlint.flow.sequences import element_of, extend_container, forget_positions, known_elements, one_of_run, runs_of
from gradlint.flow.values import Fill, Kind, Value, alternatives


def partial_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return it.unknown(node, "a partial of nothing", arguments.every())
    function, *rest = arguments.positional
    return it.fresh(
        Kind.FUNCTION, node, ref=Partial(it.new_id(), function, tuple(rest), tuple(arguments.keywords.items()))
    )


def to_list(type_: str) -> Handler:
    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional:
            return it.container(type_, Items(), node)
        value = arguments.positional[0]
        if value.kind is Kind.VARIABLES:
            return value
        known = known_elements(it, value)
        if known is not None:
            return it.container(type_, Items(tuple(known)), node)
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            return it.container(type_, Items(items.elements, None, exact=False, ordered=items.ordered), node)
        if value.kind is Kind.PLAIN:
            return value
        if value.kind is Kind.UNKNOWN and value.is_opaque:
            return value  # a list of what cannot be seen is as unknown as that
        return it.container(type_, Items((element_of(it, value, node),), None, exact=False), node)

    return run


def make_dict(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional and arguments.more_keywords is None:
        return it.container("dict", Items(tuple(arguments.keywords.values()), tuple(arguments.keywords)), node)
    first = arguments.positional[0] if arguments.positional else None
    if first is not None and first.kind is Kind.CONTAINER and first.ref.type == "dict":
        items = it.items(first)
        if items.exact and items.keys is not None:
            merged: dict[object, Value] = dict(zip(items.keys, items.elements, strict=True))
            merged.update(arguments.keywords)
            return it.container("dict", Items(tuple(merged.values()), tuple(merged)), node)
    elements = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    return it.container("dict", Items(tuple(elements), None, exact=False), node)


def _lazy_type(arguments: Arguments) -> str:
    """`zip` and `filter` of a generator are as lazy as that."""
    lazy = any(value.kind is Kind.CONTAINER and value.ref.type == "generator" for value in arguments.every())
    return "generator" if lazy else "list"


def filter_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = to_list(_lazy_type(arguments))(it, Arguments(arguments.positional[1:]), node)
    if made.kind is Kind.CONTAINER:
        forget_positions(it, made)
    return made


def zip_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.more is not None:
        # zip(*rows): each column holds an element of an element.
        row_value = element_of(it, arguments.more, node)
        columns = known_elements(it, row_value)
        if columns is None:
            columns = [element_of(it, row_value, node)]
            exact = False
        else:
            exact = True
        made = [it.container("tuple", Items((each,), None, exact=False)) for each in columns]
        return it.list_of(made, node, exact=exact)
    known = [known_elements(it, value) for value in arguments.positional]
    if known and all(each is not None for each in known):
        listed = [each for each in known if each is not None]
        rows = [it.tuple_of(row, node) for row in zip(*listed, strict=False)]
        return it.container(_lazy_type(arguments), Items(tuple(rows)), node)
    runs = [runs_of(it, value) for value in arguments.positional]
    aligned = [each for each in runs if each is not None]
    if aligned and len(aligned) == len(runs) and len({len(each) for each in aligned}) == 1:
        # In step as far as can be seen: a symbolic set of variables meets the gradients of as many.
        rows = [it.tuple_of([one_of_run(it, each, node) for each in row], node) for row in zip(*aligned, strict=True)]
        return it.container(_lazy_type(arguments), Items(tuple(rows), None, exact=False, ordered=True), node)
    row_ = it.tuple_of([element_of(it, value, node) for value in arguments.positional], node)
    return it.container(_lazy_type(arguments), Items((row_,), None, exact=False), node)


def enumerate_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return it.plain(node)
    known = known_elements(it, arguments.positional[0])
    if known is not None:
        rows = [it.tuple_of((it.fresh(Kind.LITERAL, node, ref=i), each), node) for i, each in enumerate(known)]
        return it.list_of(rows, node)
    runs = runs_of(it, arguments.positional[0])
    elements = runs if runs else [element_of(it, arguments.positional[0], node)]
    rows = [it.tuple_of((step_number(it, node), one_of_run(it, each, node)), node) for each in elements]
    return it.container("list", Items(tuple(rows), None, exact=False, ordered=bool(runs)), node)


def step_number(it: Interpreter, node: ast.AST) -> Value:
    """A number that counts: an element of a range, the first of what `enumerate` yields."""
    made = it.plain(node)
    made.fill = Fill.INDEX
    return made


def range_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    numbers = [each.ref for each in arguments.positional if each.kind is Kind.LITERAL and isinstance(each.ref, int)]
    if numbers and len(numbers) == len(arguments.positional):
        values = range(*numbers) if len(numbers) <= 3 and (len(numbers) < 3 or numbers[2]) else range(0)
        if len(values) <= 8:
            return it.list_of([it.fresh(Kind.LITERAL, node, ref=each) for each in values], node)
    return step_number(it, node)


def reversed_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    known = known_elements(it, arguments.positional[0]) if arguments.positional else None
    if known is not None:
        return it.list_of(known[::-1], node)
    return to_list("list")(it, arguments, node)


def map_builtin(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "a map over nothing", arguments.every())
    function, *sequences = arguments.positional
    known = [known_elements(it, each) for each in sequences]
    if all(each is not None and len(each) <= 8 for each in known):
        rows = zip(*[each for each in known if each is not None], strict=False)
        made = tuple(it.call(function, Arguments(tuple(row)), node) for row in rows)
        return it.container("generator", Items(made), node)
    row_ = tuple(element_of(it, each, node) for each in sequences)
    one = it.call(function, Arguments(row_), node)
    return it.container("generator", Items((one,), None, exact=False), node)


def sum_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    start = arguments.get(1, "start")
    if start is not None and start.kind is Kind.CONTAINER:
        return _flat_chain(it, arguments.positional[0], node)  # sum(lists, [])
    values = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values):
        return it.operation(node, values, label="sum", kind=Kind.PLAIN)
    return it.operation(node, values, label="sum")


def minmax(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """Python's own max and min hand back one of the elements, no telling which."""
    rows = arguments.positional[0] if len(arguments.positional) == 1 else None
    elements = [element_of(it, rows, node)] if rows is not None else list(arguments.positional)
    if "default" in arguments.keywords:
        elements.append(arguments.keywords["default"])
    if all(each.kind in (Kind.PLAIN, Kind.LITERAL) for each in elements):
        return it.operation(node, elements, label="max", kind=Kind.PLAIN)
    return it.join(elements)


def getattr_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "getattr of unknown arguments", arguments.every())
    owner, name = arguments.positional[:2]
    if name.kind is Kind.LITERAL and isinstance(name.ref, str):
        if len(arguments.positional) > 2:
            known = has_attribute(it, owner, name.ref)
            if known is not None:
                return it.get_attribute(owner, name.ref, node) if known else arguments.positional[2]
        found = it.get_attribute(owner, name.ref, node)
        return it.join([found, arguments.positional[2]]) if len(arguments.positional) > 2 else found
    return it.unknown(node, "an attribute whose name is computed", arguments.every())


def setattr_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        if name.kind is Kind.LITERAL and isinstance(name.ref, str):
            set_attribute(it, owner, name.ref, value, node)
        elif isinstance(owner.ref, HeapObject):
            # Any attribute may have changed.
            it.escape(owner)
            it.escape(value)
            it.havoc = it.tick()
    return it.plain(node)


def super_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    frame = it.frame
    while frame.is_comprehension and frame.parent is not None:
        frame = frame.parent
    function = frame.function
    if function is None or function.owner is None or not function.node.args.args:
        return it.unknown(node, "super() outside a method", ())
    receiver = it.store.get((frame.id, function.node.args.args[0].arg))
    if receiver is None or receiver.kind is not Kind.INSTANCE:
        return it.plain(node)
    return it.fresh(Kind.FUNCTION, node, ref=Super(it.new_id(), function.owner, receiver))


def next_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return element_of(it, arguments.positional[0], node) if arguments.positional else it.plain(node)


def same_value(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.positional[0] if arguments.positional else it.plain(node)


def second_value(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`typing.cast(type, value)`: the value."""
    return arguments.positional[1] if len(arguments.positional) > 1 else it.plain(node)


def no_effect(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.plain(node)


def absolute(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.every()
    kind = Kind.PLAIN if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values) else Kind.TENSOR
    return it.operation(node, values, label="abs", kind=kind)


def namespace(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = LibraryObject(it.new_id(), "types.SimpleNamespace")
    for name, value in arguments.keywords.items():
        it.store.set((made.id, name), value)
    return it.fresh(Kind.LIBRARY, node, ref=made)


def nullcontext(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "contextlib.nullcontext", arguments.positional))


def reduce_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "reduce over nothing", arguments.every())
    function, sequence, *start = arguments.positional
    state = start[0] if start else element_of(it, sequence, node)
    for _ in range(2):
        element = element_of(it, sequence, node)
        state = it.join([state, it.call(function, Arguments((state, element)), node)])
    return state


def _flat_chain(it: Interpreter, rows: Value, node: ast.AST) -> Value:
    """The elements of all rows in one list."""
    known = known_elements(it, rows)
    made = it.list_of((), node, exact=known is not None)
    for row in known if known is not None else [element_of(it, rows, node)]:
        for way in alternatives(row, 8) or [row]:
            extend_container(it, made, way)
    return made


def chain_from_iterable(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return _flat_chain(it, arguments.positional[0], node) if arguments.positional else it.plain(node)


def choice_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """One element of a sequence, no telling which."""
    if not arguments.positional:
        return it.plain(node)
    return element_of(it, arguments.positional[0], node)


def shuffle(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.positional[:1]:
        if value.kind is Kind.CONTAINER:
            forget_positions(it, value)
    return it.plain(node)


def reflect(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`locals()`, `vars(x)`, `eval(...)`: whatever is in reach may come out."""
    for value in arguments.every():
        it.escape(value)
    frame = it.frame
    for name in sorted(frame.names.local):
        value_ = it.store.get((frame.id, name))
        if value_ is not None:
            it.escape(value_)
    return it.unknown(node, "names or attributes looked up at run time", arguments.every())


def sorted_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = to_list("list")(it, Arguments(arguments.positional[:1]), node)
    if made.kind is Kind.CONTAINER and len(it.items(made).elements) > 1:
        forget_positions(it, made)
    return made


def method_type(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) != 2:
        return it.unknown(node, "a method made at run time", arguments.every())
    function, receiver = arguments.positional
    return it.fresh(Kind.FUNCTION, node, ref=BoundMethod(it.new_id(), function, receiver))


def named_tuple(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`collections.namedtuple(name, fields)`: a callable that makes tuples with field names."""
    fields = arguments.get(1, "field_names")
    names: tuple[str, ...] | None = None
    if fields is not None and fields.kind is Kind.LITERAL and isinstance(fields.ref, str):
        names = tuple(fields.ref.replace(",", " ").split())
    elif fields is not None and fields.kind is Kind.CONTAINER and it.items(fields).exact:
        elements = it.items(fields).elements
        if all(each.kind is Kind.LITERAL and isinstance(each.ref, str) for each in elements):
            names = tuple(each.ref for each in elements)
    if names is None:
        return it.unknown(node, "a named tuple whose fields are not known", arguments.every())
    labels = it.tuple_of([it.fresh(Kind.LITERAL, node, ref=name) for name in names])
    return it.fresh(Kind.FUNCTION, node, ref=Transformed(it.new_id(), "namedtuple", labels))


def chain_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = it.list_of((), node)
    for value in arguments.every():
        extend_container(it, made, value)
    return made
