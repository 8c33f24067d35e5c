"""Asking: a gradient is asked; the question is remembered with its sources as they were."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradlint.flow.arguments import Arguments
from gradlint.flow.curvature import note_curvature
from gradlint.flow.events import TapeConsumed
from gradlint.flow.interpreter import Interpreter, is_keras_tensor
from gradlint.flow.lifecycle import note_missing
from gradlint.flow.members import members_within, parts_of_set
from gradlint.flow.objects import (
    Instance,
    Items,
    Layer,
    Tape,
    Variable,
    VariableSet,
)
from gradlint.flow.regularizers import note_ignored
from gradlint.flow.scopes import Frame
from gradlint.flow.tapes import bit_of
from gradlint.flow.values import ANY_TAPE, DType, How, Kind, Value, alternatives, constants

_SOURCE_KINDS = frozenset({Kind.UNKNOWN, Kind.TENSOR, Kind.VARIABLE, Kind.VARIABLES, Kind.SYMBOLIC})


@dataclass(frozen=True, slots=True)
class SourceAsked:
    """One source as it was when the gradient was asked."""

    text: str
    value: Value
    tracked: int
    surely: int
    members: frozenset[int]
    open_members: bool
    within: str = ""  # the text of the set that it is one part of


@dataclass(frozen=True, slots=True)
class Asked:
    """One gradient call on one way: what `gradients.py` decides when the run is over.

    `certain`: this way is surely taken when the call's surroundings are reached.
    """

    node: ast.AST
    frame: Frame
    asked: str
    tapes: tuple[tuple[Tape, int], ...]
    targets: tuple[Value, ...]
    sources: tuple[SourceAsked, ...]
    certain: bool
    zero_for_unconnected: bool
    serial: int
    because: str = ""
    sources_node: ast.AST | None = None
    target_node: ast.AST | None = None
    turn: int = 0  # of the loop that was running


def ask(
    it: Interpreter,
    name: str,
    asked_of: list[Tape],
    target: Value,
    sources: Value,
    node: ast.AST,
    arguments: Arguments,
) -> Value:
    """A gradient is asked: remember the question, and return what TensorFlow hands back."""
    call_arguments = node.args if isinstance(node, ast.Call) else []
    keywords = {each.arg: each.value for each in node.keywords} if isinstance(node, ast.Call) else {}
    if name in ("fit", "minimize", "jvp"):
        call_arguments, keywords = call_arguments[:1] if name != "fit" else [], {}
    sources_node = call_arguments[1] if len(call_arguments) > 1 else keywords.get("sources", keywords.get("source"))
    target_node = call_arguments[0] if call_arguments else keywords.get("target")
    for each in it.items(sources).elements if sources.kind is Kind.CONTAINER else (sources,):
        note_missing(it, each, node, ast.unparse(sources_node) if sources_node is not None else "the sources")
    if name == "gradient" and it.gradients_made:
        recorded_by = 0
        for tape in asked_of:
            recorded_by |= 1 << bit_of(it, tape)
        if sources.kind in (Kind.TENSOR, Kind.VARIABLE) and _tracked_source(it, sources) & recorded_by:
            note_curvature(it, target, sources, recorded_by, node)
    if name == "gradient" and it.relevance.regularises:
        for each in (sources,) if sources.kind is Kind.VARIABLES else ():
            text = ast.unparse(sources_node) if sources_node is not None else "the model"
            note_ignored(it, target, each, node, text)
    listed = _listed(it, sources, sources_node, _owner_text(name, node))
    unconnected = arguments.get(3, "unconnected_gradients")
    zero = unconnected is not None and _fills_unconnected(unconnected)
    if not it.alive:
        return gradients_like(it, target, sources, node)  # something before it raises
    it.asked.append(
        Asked(
            node,
            it.frame,
            name,
            tuple((tape, bit_of(it, tape)) for tape in asked_of),
            it.leaves(target),
            tuple(listed),
            it.doubt == 0,
            zero,
            it.tick(),
            sources_node=sources_node,
            target_node=target_node,
            turn=it.turn,
        )
    )
    for tape in asked_of:
        _consume(it, tape, node)
    weights = arguments.get(2, "output_gradients")
    made = gradients_like(it, target, sources, node, weights)
    for each in it.leaves(made) if name.endswith("jacobian") else ():
        each.of = each.shape = None  # of another shape than the source
    return made


def _consume(it: Interpreter, tape: Tape, node: ast.AST) -> None:
    if tape.forward or tape.implicit:
        return
    key = (tape.id, "asked")
    before = it.store.get(key)
    if before is not None and tape.persistent is False and constants(before) == {True}:
        first = before.node
        if not it.expected:
            it.note(TapeConsumed, node, tape, first, certain=it.joined == 0)
    it.store.set(key, it.fresh(Kind.LITERAL, node, ref=True))
    if tape.persistent is False:
        # Asking a tape that is still open ends its recording (tf.GradientTape._pop_tape).
        mask = 1 << bit_of(it, tape)
        sure, possible = it.recording()
        if possible & mask:
            it.set_recording(sure & ~mask, possible & ~mask)


def ask_unknown(
    it: Interpreter, name: str, target: Value | None, sources: Value | None, node: ast.AST, because: str
) -> None:
    """A gradient call whose tape cannot be told: counted as undecided."""
    listed = _listed(it, sources, None) if sources is not None else []
    if not listed:
        nothing = it.plain(node)
        listed = [SourceAsked("the sources", nothing, 0, 0, frozenset(), True)]
    it.asked.append(
        Asked(
            node,
            it.frame,
            name,
            (),
            (target,) if target is not None else (),
            tuple(listed),
            False,
            False,
            it.tick(),
            because,
        )
    )


def _owner_text(name: str, node: ast.AST) -> str:
    """What `fit` trains, in the user's words."""
    if name == "fit" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f"{ast.unparse(node.func.value)}.trainable_variables"
    return "the primals" if name == "jvp" else "the sources"


def _fills_unconnected(option: Value) -> bool:
    """Whether `unconnected_gradients` asks for zeros, by the enumeration or by its text."""
    if option.kind is Kind.SYMBOL:
        return bool(option.ref.endswith(".ZERO"))
    return option.kind is Kind.LITERAL and option.ref == "zero"


def _listed(it: Interpreter, sources: Value, node: ast.AST | None, fallback: str = "the sources") -> list[SourceAsked]:
    found: list[SourceAsked] = []

    def add(value: Value, text: str) -> None:
        if value.kind in (Kind.LITERAL, Kind.PLAIN) and not value.dead:
            return
        if value.kind not in _SOURCE_KINDS:
            value = it.part(value, value.node)  # an attribute that is not known here
        if value.kind is Kind.SYMBOLIC and not is_keras_tensor(it, value):
            it.stand_ins.add(value.serial)
        members, open_members = members_within(it, value)
        if value.kind is Kind.VARIABLES and _is_frozen(it, value):
            return  # the list is empty
        if value.kind is Kind.VARIABLES and not open_members and _is_known_empty(value, members):
            return  # nothing is known to be in it
        found.append(
            SourceAsked(text, value, _tracked_source(it, value), it.surely_tracked(value), members, open_members)
        )
        for part in parts_of_set(it, value):
            found.append(_source(it, part.label or label_of(part, "a part"), part, text))

    def walk(value: Value, node: ast.AST | None, text: str) -> None:
        if len(found) > 64:
            return
        if value.how is How.JOIN and value.kind is Kind.UNKNOWN:
            ways = alternatives(value, 8) or []
            if ways and all(way.kind is Kind.CONTAINER for way in ways):
                # One of several lists: place by place where they are alike, else as one thing that may be any.
                columns = [it.items(way).elements for way in ways]
                if len({len(column) for column in columns}) == 1:
                    merged = [it.join(list(row)) for row in zip(*columns, strict=True)]
                else:
                    merged = [it.join([each for column in columns for each in column])] if any(columns) else []
                value = it.list_of(merged, node)
        if value.kind is Kind.INSTANCE and value.ref.cls.is_dataclass:
            cells = [(key[1], it.store.get(key)) for key in it.cells_of(value.ref.id)]
            for name, cell in cells:
                if cell is not None:
                    walk(cell, None, f"{text}.{name}")
            return
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            nodes = _written_elements(node, len(items.elements))
            for position, element in enumerate(items.elements):
                inner = nodes[position] if nodes else None
                place = repr(items.keys[position]) if items.keys is not None else str(position)
                walk(
                    element,
                    inner,
                    ast.unparse(inner) if inner is not None else label_of(element, f"{text}[{place}]"),
                )
        else:
            add(value, text)

    walk(sources, node, ast.unparse(node) if node is not None else label_of(sources, fallback))
    return found


def _written_elements(node: ast.AST | None, count: int) -> list[ast.expr] | None:
    """The expressions of the elements where a list, tuple or dict is written out."""
    written: list[ast.expr] = []
    if isinstance(node, ast.List | ast.Tuple):
        written = node.elts
    elif isinstance(node, ast.Dict):
        written = node.values
    return written if len(written) == count else None


def _is_frozen(it: Interpreter, value: Value) -> bool:
    owner = value.ref.owner
    if not isinstance(owner, Layer | Instance) or not value.ref.attribute.startswith("trainable"):
        return False
    frozen = it.store.get((owner.id, "trainable"))
    return frozen is not None and constants(frozen) == {False}


def _is_known_empty(value: Value, members: frozenset[int]) -> bool:
    owner = value.ref.owner
    if isinstance(owner, Layer):
        return owner.sequence == () and members <= {owner.id}
    return isinstance(owner, Instance) and members <= {owner.id}


def _source(it: Interpreter, text: str, value: Value, within: str) -> SourceAsked:
    members, open_members = members_within(it, value)
    return SourceAsked(text, value, _tracked_source(it, value), it.surely_tracked(value), members, open_members, within)


def _tracked_source(it: Interpreter, value: Value) -> int:
    """Tapes that may have this source on record: what it was computed under, or was watched by."""
    if value.how is How.JOIN:
        mask = it.watched.get(value.serial, 0) | (value.possible if value.label != "loop" else 0)
        for way in alternatives(value, 16) or ():
            mask |= _tracked_source(it, way) if way is not value else 0
        return mask | (-1 if alternatives(value, 16) is None else 0)
    if value.how is How.OPAQUE_CALL and value.label != "batch":
        return ANY_TAPE  # what unseen code hands out may be a variable, whatever it is called
    return it.tracked(value)


def label_of(value: Value, fallback: str) -> str:
    """A name for a source that has no text of its own."""
    ref = value.ref
    if isinstance(ref, Variable) and ref.name:
        return ref.name
    if isinstance(ref, VariableSet) and isinstance(value.node, ast.Attribute):
        return ast.unparse(value.node)
    return value.label if value.how is How.PARAMETER and not value.label.startswith("<") else fallback


def gradients_like(
    it: Interpreter, target: Value, sources: Value, node: ast.AST, weights: Value | None = None
) -> Value:
    """Gradients in the structure of the sources; they also depend on `output_gradients`, linearly."""
    over = (target,) if weights is None else (target, weights)

    def one(source: Value) -> Value:
        kind = Kind.UNKNOWN if source.kind is Kind.UNKNOWN else Kind.TENSOR
        made = it.operation(node, over, label="gradient", how=How.GRADIENT, kind=kind, dtype=DType.FLOAT)
        it.gradients_made = True
        made.of = source
        made.shape = source.shape
        return made

    if sources.kind is Kind.CONTAINER:
        items = it.items(sources)
        if items.exact and any(each.kind is Kind.VARIABLES for each in items.elements):
            # [a.trainable_variables, b.trainable_variables]: a list for each
            nested = [gradients_like(it, target, each, node, weights) for each in items.elements]
            return it.list_of(nested, node)
        gradients = [one(each) for each in items.elements]
        if sources.ref.type == "dict":
            return it.container("dict", Items(tuple(gradients), items.keys, items.exact), node)
        ordered = items.ordered and sources.ref.type in ("list", "tuple", "generator")
        return it.container("list", Items(tuple(gradients), None, items.exact, ordered), node)
    if sources.kind is Kind.VARIABLES:
        gradient = one(sources)
        gradient.kind = Kind.TENSOR
        return it.container("list", Items((gradient,), None, exact=False, ordered=True), node)
    return one(sources)
