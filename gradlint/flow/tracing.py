"""Tracing: what a tf.function (or `fit`) read while its graph was made, and what was changed since.

TensorFlow runs the Python code of a graph once, for one sort of arguments. Lists of trainable variables and Python
numbers are in the graph as they were then.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import partial

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Class,
    Function,
    HeapObject,
    Instance,
    Items,
    Layer,
    LibraryObject,
    Transformed,
    Variable,
)
from gradlint.flow.scopes import Frame
from gradlint.flow.store import Key
from gradlint.flow.timing import is_timed
from gradlint.flow.update_events import Freezing, FreezingIgnored, NumberTraced, ObjectTraced
from gradlint.flow.values import Fill, How, Kind, Value, alternatives, constants, is_bare, lineage, recorded_or_dead
from gradlint.knowledge.conventions import counts_tracings

_NUMBERS = (int, float, bool)


@dataclass(eq=False, slots=True)
class Traced:
    """One graph: when it was made, of which arguments, and what it read."""

    serial: int
    first_id: int
    node: ast.AST
    name: str
    literals: tuple[object, ...]
    # whether what it trains was trainable then, by id
    members: dict[int, bool | None] = field(default_factory=dict)
    numbers: dict[Key, tuple[str, Value]] = field(default_factory=dict)
    objects: dict[Key, tuple[str, Value]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainableSet:
    """`layer.trainable = ...`: when, where, on what and all that is inside."""

    serial: int
    node: ast.AST
    name: str
    members: frozenset[int]
    value: bool | None
    certain: bool
    frame: Frame
    timed: bool = False  # `layer.trainable = epoch < 3`


def enter_graph(
    it: Interpreter, key: tuple[int, int], frame: Frame, arguments: Arguments, node: ast.AST
) -> Traced | None:
    """A tf.function is called from outside a graph: note what its graph does not know, or begin a new one."""
    given = _literals(arguments)
    if given is None:
        return None  # it may be traced anew
    known = it.traced.get(key)
    if known is None or known.literals != given:
        made = Traced(it.tick(), frame.id, node, frame.name, given)
        it.traced[key] = made
        return made
    if not it.expected:
        _note_frozen(it, known, frame.name, node)
        _note_numbers(it, known, frame.name, node)
        _note_objects(it, known, frame.name, node)
    return None


def forget_graphs(it: Interpreter, function: Value) -> None:
    """`tf.function(f)` makes a new function, with graphs of its own."""
    inner = function.ref.function if isinstance(function.ref, BoundMethod) else function
    if isinstance(inner.ref, Function):
        for key in [each for each in it.traced if each[0] == inner.ref.id]:
            del it.traced[key]


def leave_graph(it: Interpreter, made: Traced) -> None:
    """The graph is made: what its own code changed meanwhile is not changed from outside."""
    for key, (text, before) in list(made.objects.items()):
        now = _now(it, key)
        if now is not None and now is not before:
            made.objects[key] = text, now
    for key, (_, before) in list(made.numbers.items()):
        now = _now(it, key)
        if now is before:
            continue
        text = made.numbers.pop(key)[0]
        if now is not None and any(begun < now.serial < ended for begun, ended in it.lifted):
            continue  # in `tf.init_scope`: meant for the time when the graph is made
        counts = now is not None and isinstance(now.node, ast.AugAssign | ast.BinOp)
        if now is not None and now.node is not None and counts and not it.expected and not counts_tracings(text):
            holds = partial(_is_read, it, text.rpartition(".")[2])
            it.note(NumberTraced, now.node, text, made.name, True, certain=False, holds=holds)  # a counter


def _literals(arguments: Arguments) -> tuple[object, ...] | None:
    """The Python constants among the arguments; None when one may be another number in each call."""
    if arguments.more is not None or arguments.more_keywords is not None:
        return None
    found: list[object] = []
    for value in arguments.every():
        if value.kind is Kind.LITERAL and value.how is How.FRESH:
            found.append(value.ref if isinstance(value.ref, int | float | str | bool | None) else "?")
        elif value.fill is Fill.INDEX or value.kind is Kind.LITERAL or (is_bare(value) and not value.label):
            return None
        else:
            found.append(value.ref.id if isinstance(value.ref, HeapObject) else value.shape)
    return tuple(found)


def _note_frozen(it: Interpreter, traced: Traced, name: str, node: ast.AST) -> None:
    for each in it.trainable_sets:
        if each.serial > traced.serial and _has_changed(it, each, traced.members):
            _note_too_late(it, each, Freezing.TRACED, name, traced.node, node)
            return


def _note_too_late(
    it: Interpreter, done: TrainableSet, freezing: Freezing, detail: str, traced: ast.AST, node: ast.AST
) -> None:
    it.note(
        FreezingIgnored, done.node, freezing, done.name, not done.value, detail,
        certain=done.certain, steps=(("traced here", traced),),
        after=(("called again here", node),), frame=done.frame,
    )  # fmt: skip


def _has_changed(it: Interpreter, done: TrainableSet, then: dict[int, bool | None]) -> bool:
    """Whether something that the graph trains was set to what it was not when the graph was made, and still is."""
    if done.value is None:
        return done.timed and bool(done.members & then.keys())
    other = not done.value
    return any(
        then[member] is other and trainable_state(it, member) is not other for member in done.members & then.keys()
    )


def trainable_state(it: Interpreter, member: int) -> bool | None:
    """Whether a layer is trainable now; None where that depends on the way."""
    cell = it.store.get((member, "trainable"))
    if cell is None:
        return True
    known = constants(cell)
    return bool(next(iter(known))) if known is not None and len(known) == 1 else None


def _note_numbers(it: Interpreter, traced: Traced, name: str, node: ast.AST) -> None:
    for key, (text, before) in traced.numbers.items():
        now = _now(it, key)
        if now is None:
            continue
        if now is before and not any(way.serial in it.timed_values for way in _ways(before)):
            continue
        if now is not before and constants(now) == constants(before) is not None:
            continue
        if now.kind is not Kind.LITERAL and not (now.kind is Kind.PLAIN or now.how is How.JOIN):
            continue
        newest = max(_ways(now) or [now], key=lambda each: each.serial)
        written = newest.node or node
        steps, after = (("traced here", traced.node),), (("called again here", node),)
        it.note(NumberTraced, written, text, name, False, certain=False, steps=steps, after=after)
        return


def _note_objects(it: Interpreter, traced: Traced, name: str, node: ast.AST) -> None:
    """The function is called again, and something that its graph uses has been replaced by another of its kind."""
    for key, (text, before) in traced.objects.items():
        now = _now(it, key)
        if now is None or now is before:
            continue
        new = [
            way
            for way in alternatives(now, 8) or ()
            if way.kind is before.kind
            and way.ref is not before.ref
            and way.serial > traced.serial
            and not _is_made_while_traced(way)
        ]
        if new:
            written = max(new, key=lambda each: each.serial).node or node
            steps, after = (("traced here", traced.node),), (("called again here", node),)
            it.note(ObjectTraced, written, text, name, certain=False, steps=steps, after=after)
            it.graph_is_stale = True
            return


def _is_made_while_traced(value: Value) -> bool:
    """Whether a graph, or the `build` that its first call runs, makes the object: it is not replaced from outside."""
    frames = value.frame.callers() if value.frame is not None else []
    return any(each.graph or (each.function is not None and each.function.name == "build") for each in frames)


def goes_on_as_before(it: Interpreter) -> bool:
    """Whether the function that is entered is a graph of objects that were replaced: its code does not run again."""
    stale, it.graph_is_stale = it.graph_is_stale, False
    return stale


def _now(it: Interpreter, key: Key) -> Value | None:
    """What a name, an attribute or an item of a dictionary holds now."""
    if not isinstance(key[1], tuple):
        return it.store.get(key)
    cell = it.store.get((key[0], "items"))
    items = cell.ref if cell is not None and isinstance(cell.ref, Items) else None
    if items is None or items.keys is None or key[1][1] not in items.keys:
        return None
    return items.elements[items.keys.index(key[1][1])]


def _ways(value: Value) -> list[Value]:
    return alternatives(value, 8) or [value] if value.how is How.JOIN else []


def note_number_read(it: Interpreter, key: Key, text: str, value: Value) -> None:
    """A Python number from outside is read while a graph is made."""
    traced = it.tracing
    if traced is None or key[0] >= traced.first_id or key in traced.numbers:
        return
    known = constants(value)
    ways = alternatives(value, 4) or []
    computed = (
        bool(ways) and is_timed(it, value) and all(way.kind is Kind.LITERAL or _is_plain_number(way) for way in ways)
    )
    if computed or (known and all(isinstance(each, _NUMBERS) for each in known)):
        traced.numbers[key] = (text, value)


def note_object_read(it: Interpreter, key: Key, text: str, value: Value) -> None:
    """A layer, model, variable or optimizer from outside is read while a graph is made."""
    traced = it.tracing
    if traced is not None and key[0] < traced.first_id and key not in traced.objects and _is_held_by_graphs(value):
        traced.objects[key] = (text, value)


def _is_held_by_graphs(value: Value) -> bool:
    if value.kind is Kind.INSTANCE:
        families: tuple[str, ...] = value.ref.cls.families
        return any(each.startswith("keras.") or each.endswith(".Module") for each in families)
    if value.kind is Kind.VARIABLE:
        return isinstance(value.ref, Variable) and value.ref.exact
    is_optimizer = isinstance(value.ref, LibraryObject) and value.ref.symbol.startswith("keras.optimizers.")
    return value.kind is Kind.LAYER or is_optimizer


def _is_read(it: Interpreter, name: str) -> bool:
    """Whether the text of the program reads an attribute or name, beside counting it up."""
    return any(
        isinstance(each, ast.Attribute | ast.Name)
        and isinstance(each.ctx, ast.Load)
        and (each.attr if isinstance(each, ast.Attribute) else each.id) == name
        for each in it.nodes(name)
    )


def _is_plain_number(value: Value) -> bool:
    """Whether a value is a number of Python's, computed from such numbers alone, by the module `math` too."""
    behind = lineage([value], 20, lambda each: recorded_or_dead(each) if not is_bare(each) else ())
    return value.kind is Kind.PLAIN and all(
        each.kind is Kind.SYMBOL
        or is_bare(each)
        or each.how is How.JOIN
        or (each.kind is Kind.PLAIN and (each.label.startswith("math.") or bool(each.operands)))
        for each in behind
    )


def note_callback_sets(it: Interpreter, name: str, value: Value, node: ast.AST) -> None:
    """`self.model.beta = ...` in a callback, where `train_step` or `call` of a model in the file reads `beta`."""
    if it.expected or it.runs_eagerly or not (value.kind in (Kind.LITERAL, Kind.PLAIN) or is_timed(it, value)):
        return
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "self.model" or not _callback_method(it):
        return
    for cls in it.classes:
        method = next((each for each in _traced_methods(cls.node) if _reads_set(it, cls, each, name)), None)
        if method is not None:
            it.note(NumberTraced, node, f"self.{name}", f"{cls.name}.{method.name}", False, certain=False)
            return


def _reads_set(it: Interpreter, cls: Class, method: ast.FunctionDef, name: str) -> bool:
    """Whether a method reads what setting the attribute changes: of a property that is what its setter keeps."""
    found = next((each for one in cls.lineage() if (each := it.store.get((one.id, name))) is not None), None)
    if found is None or not isinstance(found.ref, Transformed) or found.ref.setter is None:
        return _reads(method, name)
    setter, getter = found.ref.setter.ref, found.ref.function.ref
    if not isinstance(setter, Function) or not isinstance(getter, Function):
        return False
    kept = {
        each.attr
        for each in ast.walk(setter.node)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and _is_self(each.value)
    }
    return any(_reads(method, each) or (_reads(method, name) and _reads(getter.node, each)) for each in kept)


def _traced_methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    """The methods of a model that `fit` traces, and those of the class that they call."""
    methods = {each.name: each for each in cls.body if isinstance(each, ast.FunctionDef)}
    found = [methods[name] for name in ("train_step", "call", "compute_loss") if name in methods]
    for method in found:
        called = {each.attr for each in ast.walk(method) if isinstance(each, ast.Attribute) and _is_self(each.value)}
        found.extend(each for name, each in methods.items() if name in called and each not in found)
    return found


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _reads(method: ast.AST, name: str) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr == name and isinstance(each.ctx, ast.Load)
        for each in ast.walk(method)
    )


def note_trainable_read(it: Interpreter, members: frozenset[int]) -> None:
    """A list of trainable variables is read while a graph is made."""
    if it.tracing is not None:
        for member in members:
            it.tracing.members.setdefault(member, trainable_state(it, member))


def note_part_read(it: Interpreter, members: frozenset[int]) -> None:
    """A part of such a list alone is used: what is frozen may be out of it."""
    if it.tracing is not None:
        for member in members:
            it.tracing.members.pop(member, None)


def note_trainable_set(it: Interpreter, owner: Value, members: frozenset[int], value: Value, node: ast.AST) -> None:
    """`layer.trainable = value`."""
    name = ast.unparse(node.value) if isinstance(node, ast.Attribute) else "it"
    known = value.ref if value.kind is Kind.LITERAL and isinstance(value.ref, bool) else None
    inside = members | ({owner.ref.id} if isinstance(owner.ref, HeapObject) else set())
    if _is_changed(it, inside, known):
        timed, sure = known is None and is_timed(it, value), known is not None and it.doubt == 0
        it.trainable_sets.append(TrainableSet(it.tick(), node, name, frozenset(inside), known, sure, it.frame, timed))
    callback = _callback_method(it)
    if callback and not it.runs_eagerly and known is not None and not it.expected:
        it.note(FreezingIgnored, node, Freezing.CALLBACK, name, not known, callback, certain=False)


def _is_changed(it: Interpreter, members: frozenset[int] | set[int], known: bool | None) -> bool:
    """Keras does nothing where the value is the same as before (seen under Keras 3.15)."""
    before = [it.store.get((member, "trainable")) for member in members]
    return known is None or any((constants(each) if each is not None else {True}) != {known} for each in before)


def note_unknown_trainable_set(it: Interpreter, value: Value, node: ast.AST) -> None:
    """The same on a layer that cannot be seen: in a callback it has no effect, whatever it is."""
    callback = _callback_method(it)
    if (
        callback
        and not it.runs_eagerly
        and value.kind is Kind.LITERAL
        and isinstance(value.ref, bool)
        and not it.expected
    ):
        name = ast.unparse(node.value) if isinstance(node, ast.Attribute) else "it"
        it.note(FreezingIgnored, node, Freezing.CALLBACK, name, not value.ref, callback, certain=False)


_BEFORE_TRACING = ("set_model", "on_train_begin", "on_train_end", "__init__", "set_params")
#: What makes a callback trace anew, or train by itself.
_TRACES_ANEW = ("compile", "make_train_function", "train_function", "run_eagerly", "train_on_batch", "fit")


def _callback_method(it: Interpreter) -> str:
    """The method of a Keras callback that is running, unless it makes the model trace anew."""
    for frame in it.frame.callers():
        function = frame.function
        if function is None or isinstance(function.node, ast.Lambda):
            continue
        is_callback = function.owner is not None and any("callbacks." in family for family in function.owner.families)
        if not (is_callback or function.node in it.callback_functions):
            continue
        names = {each.attr for each in ast.walk(function.node) if isinstance(each, ast.Attribute)}
        if names & set(_TRACES_ANEW) or (is_callback and function.name in _BEFORE_TRACING):
            return ""
        return function.name if function.name.startswith("on_") or not is_callback else ""
    return ""


def note_refit(it: Interpreter, model: Value, node: ast.AST) -> None:
    """`fit` after an earlier `fit` of the same compilation: what was set in between is not seen."""
    owner = model.ref
    if not isinstance(owner, Layer | Instance):
        return
    known = it.fits.get(owner.id)
    if known is None or it.expected or it.runs_eagerly:
        return
    since, first = known
    for each in it.trainable_sets:
        if each.serial > since and _has_changed(it, each, it.fit_members.get(owner.id, {})):
            _note_too_late(it, each, Freezing.FITTED, _model_text(node), first, node)
            return


def _model_text(node: ast.AST) -> str:
    return ast.unparse(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else "it"


def note_fit(it: Interpreter, model: Value, members: frozenset[int], node: ast.AST) -> None:
    """`fit` was run: its graph is kept until the model is compiled again."""
    if isinstance(model.ref, Layer | Instance):
        it.fits.setdefault(model.ref.id, (it.tick(), node))
        states = it.fit_members.setdefault(model.ref.id, {})
        for member in members:
            states.setdefault(member, trainable_state(it, member))


def forget_fit(it: Interpreter, model: Value) -> None:
    """`compile` makes the next `fit` trace anew."""
    if isinstance(model.ref, HeapObject):
        it.fits.pop(model.ref.id, None)
        it.fit_members.pop(model.ref.id, None)
