"""Whole sets: whether what is known of its parts says of a set of variables that every one of them flows.

`model.trainable_variables` is asked as one source, and met as soon as one of its variables is. So it flows only where
each of its parts does, which `gradients.py` asks one by one, and where there are no others: that is answered here.
"""

from __future__ import annotations

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import is_weightless, members_of, parts_of_set
from gradlint.flow.objects import HeapObject, Instance, Layer, Variable, VariableSet
from gradlint.flow.values import Kind, Value, alternatives, constants


def unaccounted(it: Interpreter, source: Value) -> str:
    """Why there may be variables in a source that its parts do not stand for; empty where there are none."""
    ways = alternatives(source, 16) or [source]
    return next((reason for way in ways if way.kind is Kind.VARIABLES and (reason := _of_set(it, way))), "")


def _of_set(it: Interpreter, value: Value) -> str:
    held: VariableSet = value.ref
    if held.open_members or not isinstance(held.owner, Layer | Instance):
        return "it may hold variables that are not in sight"
    if held.attribute not in ("trainable_variables", "trainable_weights"):
        return "it may hold variables that are not trained"
    if held.bounds is not None:
        return "which of the variables are in it is not known"
    if any(_has_several_outputs(it, member) for member in held.members):
        return "which of its layers each output needs is not known"
    parts = [each.ref.owner if isinstance(each.ref, VariableSet) else each.ref for each in parts_of_set(it, value)]
    apart = {each.id for each in parts if isinstance(each, HeapObject)}
    if not all(member in apart or _is_accounted(it, member, held) for member in held.members):
        return "not all of its variables can be told apart"
    return ""


def _has_several_outputs(it: Interpreter, member: int) -> bool:
    """Whether a member is a functional model that a loss may use in part."""
    each = it.objects.get(member)
    outputs = each.outputs if isinstance(each, Layer) else None
    return outputs is not None and outputs.kind is Kind.CONTAINER and len(it.items(outputs).elements) > 1


def _is_accounted(it: Interpreter, member: int, within: VariableSet) -> bool:
    """Whether a member that is no part of its own brings no variable, or only such as other members stand for."""
    each = it.objects.get(member)
    frozen = it.store.get((member, "trainable"))
    if frozen is not None and constants(frozen) != {True}:
        return constants(frozen) == {False}
    if isinstance(each, Variable):
        owner = each.owner
        return each.trainable is False or (owner is not None and owner.id in within.members)
    if isinstance(each, Layer):
        if each.part_of is not None or each.open_parts:
            return False
        if each.parts or is_weightless(each) or all(owner != member for owner, _ in it.member_values):
            return True
        return _is_called(it, member)  # only a call reads all of the variables
    return True


def _is_called(it: Interpreter, member: int) -> bool:
    """Whether a layer of the library is called, itself or with a model that it is in."""
    if it.called_layers.get(member):
        return True
    called = (it.objects.get(each) for each in it.called_layers)
    return any(isinstance(each, Layer) and member in members_of(it, each)[0] for each in called)
