"""Python calls: builtins, itertools, functools and collections."""

from __future__ import annotations

import ast
from functools import partial

from gradlint.flow.arguments import Arguments, Handler, name_called
from gradlint.flow.attributes import has_attribute, set_attribute
from gradlint.flow.interpreter import Interpreter, in_turn
from gradlint.flow.lazy import as_lazy_as, lazy_value
from gradlint.flow.members import rearranged_set, written_name
from gradlint.flow.objects import (
    BoundMethod,
    Function,
    HeapObject,
    Items,
    LibraryObject,
    Partial,
    Super,
    Transformed,
)
from gradlint.flow.own_containers import seen_as_container
from gradlint.flow.pairing import note_zip
from gradlint.flow.runs import in_step, note_many, one_of_run, runs_of
from gradlint.flow.sequences import element_of, extend_container, forget_positions, known_elements
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
    first = seen_as_container(it, arguments.positional[0], "keys") if arguments.positional else None
    if first is not None and first.kind is Kind.CONTAINER and first.ref.type == "dict":
        items = it.items(first)
        if items.exact and items.keys is not None:
            merged: dict[object, Value] = dict(zip(items.keys, items.elements, strict=True))
            merged.update(arguments.keywords)
            return it.container("dict", Items(tuple(merged.values()), tuple(merged)), node)
    elements = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    return it.container("dict", Items(tuple(elements), None, exact=False), node)


def from_keys(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`dict.fromkeys(keys, value)`: one and the same value for each key."""
    keys = known_elements(it, arguments.positional[0]) if arguments.positional else None
    value = arguments.positional[1] if len(arguments.positional) > 1 else it.fresh(Kind.LITERAL, node, ref=None)
    if keys is None or not all(each.kind is Kind.LITERAL for each in keys):
        return it.container("dict", Items((value,), None, exact=False), node)
    return it.container("dict", Items((value,) * len(keys), tuple(each.ref for each in keys)), node)


def as_lazy(handler: Handler) -> Handler:
    """`zip`, `filter`, `enumerate` ...: of a generator they are as lazy as that."""

    def run(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
        return as_lazy_as(it, arguments.every(), node, partial(handler, it, arguments, node))

    return run


def filter_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = to_list("list")(it, Arguments(arguments.positional[1:]), node)
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
    note_zip(it, arguments, node)
    zipped = _zipped(it, arguments, node)
    zipped.ref.lazy = True
    return zipped


def _zipped(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    known = [known_elements(it, value) for value in arguments.positional]
    if known and all(each is not None for each in known):
        listed = [each for each in known if each is not None]
        rows = [it.tuple_of(row, node) for row in zip(*listed, strict=False)]
        return it.container("list", Items(tuple(rows)), node)
    runs = [runs_of(it, value) for value in arguments.positional]
    listed_runs = [each for each in runs if each is not None]
    aligned = in_step(it, listed_runs, node) if listed_runs and len(listed_runs) == len(runs) else None
    if aligned:
        rows = [it.tuple_of([one_of_run(it, each, node) for each in row], node) for row in aligned]
        for row, made in zip(aligned, rows, strict=True):
            note_many(it, row[0], [made])
        return it.container("list", Items(tuple(rows), None, exact=False, ordered=True), node)
    row_ = it.tuple_of([element_of(it, value, node) for value in arguments.positional], node)
    return it.container("list", Items((row_,), None, exact=False), node)


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
    for run, made in zip(elements, rows, strict=True):
        note_many(it, run, [made])
    return it.container("list", Items(tuple(rows), None, exact=False, ordered=bool(runs)), node)


def length_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`len(variables)`: a number that remembers whose length it is."""
    made = it.plain(node)
    made.label, made.operands = "len", tuple(arguments.every()[:1])
    given = arguments.get(0, "obj")
    if given is not None:
        given = seen_as_container(it, given, "__len__")
    if given is not None and given.kind is Kind.CONTAINER and given.ref.escaped_at is None and it.items(given).exact:
        made.ref = len(it.items(given).elements)
    return made


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
            listed = it.list_of([it.fresh(Kind.LITERAL, node, ref=each) for each in values], node)
            listed.label = "range"
            return listed
    return step_number(it, node)


def reversed_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    known = known_elements(it, arguments.positional[0]) if arguments.positional else None
    if known is not None:
        return it.list_of(known[::-1], node)
    moved = _rearranged(it, arguments.positional[0], "reversed", node) if arguments.positional else None
    return moved if moved is not None else to_list("list")(it, arguments, node)


def _rearranged(it: Interpreter, value: Value, order: str, node: ast.AST) -> Value | None:
    """A list of variables, or of their gradients, in another order."""
    runs = runs_of(it, value)
    if not runs or not all(each.kind is Kind.VARIABLES or each.of is not None for each in runs):
        return None
    moved: list[Value] = []
    for each in runs if order != "reversed" else reversed(runs):
        if any(
            part.ref.bounds is not None for part in (each, each.of) if part is not None and part.kind is Kind.VARIABLES
        ):
            return None
        if each.kind is Kind.VARIABLES:
            moved.append(rearranged_set(it, each, order, node))
        elif each.of is not None and each.of.kind is Kind.VARIABLES:
            part = it.operation(node, (each,), label="tf.identity")
            part.of = rearranged_set(it, each.of, order, node)
            moved.append(part)
        else:
            moved.append(each)
    if len(moved) > 1 and order != "reversed":
        return None
    return it.container("list", Items(tuple(moved), None, exact=False, ordered=True), node)


def map_builtin(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "a map over nothing", arguments.every())
    function, *sequences = arguments.positional
    return lazy_value(it, node, arguments.every(), partial(_mapped, it, function, sequences, node))


def _mapped(it: Interpreter, function: Value, sequences: list[Value], node: ast.AST) -> Value:
    known = [known_elements(it, each) for each in sequences]
    if all(each is not None and len(each) <= 8 for each in known):
        rows = zip(*[each for each in known if each is not None], strict=False)
        made = []
        for row in rows:
            with in_turn(it):
                made.append(it.call(function, Arguments(tuple(row)), node))
        return it.list_of(made, node)
    row_ = tuple(element_of(it, each, node) for each in sequences)
    with in_turn(it):
        one = it.call(function, Arguments(row_), node)
    return it.list_of([one], node, exact=False)


def sum_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    start = arguments.get(1, "start")
    if start is not None and start.kind is Kind.CONTAINER:
        return _flat_chain(it, arguments.positional[0], node)  # sum(lists, [])
    values = [leaf for value in arguments.every() for leaf in it.leaves(value)]
    if all(value.kind in (Kind.PLAIN, Kind.LITERAL) for value in values):
        return it.operation(node, values, label="builtins.sum", kind=Kind.PLAIN)
    return it.operation(node, values, label="builtins.sum")


def minmax(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """Python's own max and min hand back one of the elements, no telling which."""
    rows = arguments.positional[0] if len(arguments.positional) == 1 else None
    elements = [element_of(it, rows, node)] if rows is not None else list(arguments.positional)
    if "default" in arguments.keywords:
        elements.append(arguments.keywords["default"])
    numbers = [each.ref for each in elements if each.kind is Kind.LITERAL and type(each.ref) in (int, float)]
    if rows is None and len(numbers) == len(elements) > 1:
        return it.fresh(Kind.LITERAL, node, ref=(min if name_called(node) == "min" else max)(numbers))
    if all(each.kind in (Kind.PLAIN, Kind.LITERAL) for each in elements):
        made = it.operation(node, elements, label="builtins.max", kind=Kind.PLAIN)
        made.operands = tuple(elements)
        return made
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
    return it.operation(node, values, label=f"builtins.{name_called(node)}", kind=kind)


def namespace(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    made = LibraryObject(it.new_id(), "types.SimpleNamespace")
    for name, value in arguments.keywords.items():
        it.write_cell(made, name, value)
    return it.fresh(Kind.LIBRARY, node, ref=made)


def nullcontext(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "contextlib.nullcontext", arguments.positional))


#: A sequence of so many elements is gone through one by one.
_MOST_FOLDED = 8


def reduce_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.positional) < 2:
        return it.unknown(node, "reduce over nothing", arguments.every())
    function, sequence, *start = arguments.positional
    known = known_elements(it, sequence)
    if known is not None and 0 < len(known) + len(start) <= _MOST_FOLDED:
        state, *others = [*start, *known]
        for each in others:
            with in_turn(it):
                state = it.call(function, Arguments((state, each)), node)
        return state
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
    first = arguments.positional[0] if arguments.positional else None
    if name_called(node) == "vars" and first is not None and isinstance(first.ref, LibraryObject):
        if first.ref.symbol == "types.SimpleNamespace":
            cells = {str(key[1]): it.store.get(key) for key in it.cells_of(first.ref.id)}
            held = {key: value for key, value in cells.items() if value is not None}
            return it.container("dict", Items(tuple(held.values()), tuple(held)), node)
    for value in arguments.every():
        it.escape(value)
    it.escape_names()
    made = it.unknown(node, "names or attributes looked up at run time", arguments.every())
    it.namespaces.add(made.serial)
    return made


def sorted_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if name_called(node) == "sorted" and isinstance(node, ast.Call) and arguments.positional:
        order = ", ".join(["sorted", *(ast.unparse(each) for each in node.keywords)])
        moved = _rearranged(it, arguments.positional[0], order, node) or _sorted_by_name(it, arguments, node)
        moved = moved or _sorted_words(it, arguments.positional[0], node)
        if moved is not None:
            return moved
    made = to_list("list")(it, Arguments(arguments.positional[:1]), node)
    if made.kind is Kind.CONTAINER and len(it.items(made).elements) > 1:
        forget_positions(it, made)
    return made


def _sorted_words(it: Interpreter, value: Value, node: ast.Call) -> Value | None:
    """`sorted(names)`, where all of them are known: words, or the keys of a dictionary."""
    known = known_elements(it, value)
    if not known or node.keywords:
        return None
    if not all(each.kind is Kind.LITERAL and isinstance(each.ref, str) for each in known):
        return None
    return it.list_of(sorted(known, key=lambda each: str(each.ref)), node)


def _sorted_by_name(it: Interpreter, arguments: Arguments, node: ast.Call) -> Value | None:
    """`sorted(variables, key=lambda v: v.name)` where all names are written out."""
    given = arguments.keywords.get("key")
    key = given.ref.node if given is not None and isinstance(given.ref, Function) else None
    known = known_elements(it, arguments.positional[0])
    if not known or len(node.keywords) != 1 or not isinstance(key, ast.Lambda):
        return None
    if not isinstance(key.body, ast.Attribute) or key.body.attr != "name" or not isinstance(key.body.value, ast.Name):
        return None
    names = [written_name(each) if each.kind is Kind.VARIABLE else None for each in known]
    if None in names:
        return None
    pairs = sorted(zip(map(str, names), range(len(known)), strict=True))
    return it.list_of([known[place] for _, place in pairs], node)


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
