"""Regularizers: losses of layers that a custom loop leaves out."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import HeapObject, Layer, LibraryObject, VariableSet
from gradlint.flow.update_events import RegularizationIgnored
from gradlint.flow.values import How, Kind, Value, is_literal, lineage, recorded_or_dead

_MOST = 500


def note_ignored(it: Interpreter, target: Value, sources: Value, node: ast.AST, text: str) -> None:
    """A gradient of all variables of a model with regularizers, whose target does not hold `model.losses`."""
    if it.expected or sources.kind is not Kind.VARIABLES or not isinstance(sources.ref, VariableSet):
        return
    if not sources.ref.attribute.startswith("trainable") or not isinstance(sources.ref.owner, HeapObject):
        return
    members = sources.ref.members - sources.ref.frozen
    added = [each for member in members for each in _added(it, member)]
    regularised = any(_is_regularised(it.objects.get(member)) for member in members)
    if not added and not regularised:
        return
    read = {each.serial: each for each in lineage([target], _MOST, recorded_or_dead)}
    names = {each.label for each in read.values()}
    if "losses" in names or names & {"compute_loss", "compiled_loss"} or any(each.serial in read for each in added):
        it.losses_used = True
        return
    if not _uses(read, members):
        return  # of something else
    model = text.rpartition(".")[0] if "." in text else "the model"
    by_hand = it.relevance.regularises_by_hand
    it.note(
        RegularizationIgnored, node, model, certain=False,
        holds=lambda: not it.losses_used and not by_hand and _moves_variables(it, node),
    )  # fmt: skip


def _moves_variables(it: Interpreter, asked: ast.AST) -> bool:
    """Whether the gradients of this call reach an optimizer or a variable, rather than a log."""
    reached = [*it.applied, *(each for stored in it.written_state.values() for each in stored)]
    return any(each.how is How.GRADIENT and each.node is asked for value in reached for each in _made_of(value))


def _made_of(value: Value, most: int = 60) -> list[Value]:
    found: dict[int, Value] = {}
    stack = [value]
    while stack and len(found) < most:
        each = stack.pop()
        if each.serial not in found:
            found[each.serial] = each
            if each.how is not How.GRADIENT:
                stack.extend((*each.inputs, *each.operands, *(behind for behind, _ in each.dead)))
    return list(found.values())


def _added(it: Interpreter, member: int) -> tuple[Value, ...]:
    kept = it.store.get((member, "<losses>"))
    return it.items(kept).elements if kept is not None and kept.kind is Kind.CONTAINER else ()


def _is_regularised(layer: HeapObject | None) -> bool:
    return isinstance(layer, Layer) and any(
        name.endswith("_regularizer") and _counts(value) for name, value in layer.keywords
    )


def _counts(regularizer: Value) -> bool:
    """Whether a regularizer adds something: `L2(0.0)` does not."""
    if is_literal(regularizer, None):
        return False
    given = regularizer.ref.arguments if isinstance(regularizer.ref, LibraryObject) else ()
    return not (len(given) == 1 and is_literal(given[0], 0.0))


def _uses(read: dict[int, Value], members: frozenset[int]) -> bool:
    """Whether the target was computed by the model, and by nothing that cannot be seen."""
    if any(each.is_opaque and each.label == "call" for each in read.values()):
        return False
    return any(isinstance(each.ref, VariableSet) and each.ref.members & members for each in read.values())
