"""Assignments: names, attributes, items, sequences; augmented and annotated; deletion."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from gradlint.flow.accumulation import note_accumulation
from gradlint.flow.attributes import set_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.names import bind_name, read_name
from gradlint.flow.objects import (
    Container,
)
from gradlint.flow.operators import binary
from gradlint.flow.rebinding import note_attribute, note_augmented, note_element, note_name
from gradlint.flow.scopes import Frame
from gradlint.flow.sequences import (
    element_of,
    extend_container,
    forget_positions,
    get_item,
    known_elements,
    set_item,
    unpack,
)
from gradlint.flow.slices import note_copy
from gradlint.flow.unused_changes import note_change
from gradlint.flow.unused_gradients import note_unused
from gradlint.flow.unused_layers import note_output_bound
from gradlint.flow.values import How, Kind, Value


def it_none(it: Interpreter, node: ast.AST) -> Value:
    """The constant None."""
    return it.fresh(Kind.LITERAL, node, ref=None)


def assign(it: Interpreter, target: ast.expr, value: Value) -> None:
    """Assign to a name, attribute, item or (nested) sequence of them."""
    match target:
        case ast.Name(id=name):
            bind_name(it, name, value)
        case ast.Attribute(value=base, attr=name):
            set_attribute(it, it.evaluate(base), name, value, target)
        case ast.Subscript(value=base, slice=index):
            owner = it.evaluate(base)
            set_item(it, owner, it.evaluate(index), value, target)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _assign_sequence(it, elements, value, target)
        case ast.Starred(value=inner):
            assign(it, inner, value)


def _assign_sequence(it: Interpreter, elements: list[ast.expr], value: Value, node: ast.expr) -> None:
    star = next((i for i, each in enumerate(elements) if isinstance(each, ast.Starred)), None)
    if star is None:
        parts = unpack(it, value, len(elements), node)
        for element, part in zip(elements, parts, strict=True):
            assign(it, element, part)
        return
    known = known_elements(it, value)
    after = len(elements) - star - 1
    if known is not None and len(known) >= len(elements) - 1:
        middle = it.list_of(known[star : len(known) - after], node)
        values = [*known[:star], middle, *known[len(known) - after :]]
        for element, part in zip(elements, values, strict=True):
            assign(it, element, part)
        return
    for i, element in enumerate(elements):
        part = element_of(it, value, node)
        assign(it, element, it.list_of([part], node, exact=False) if i == star else part)


def run_assign(it: Interpreter, node: ast.Assign) -> None:
    value = it.evaluate(node.value)
    for target in node.targets:
        if isinstance(target, ast.Name) and value.callee is not None and len(node.targets) == 1:
            note_output_bound(it, target.id, value, node)
        if not it.is_waiting(value):  # nothing is computed before it is consumed
            note_change(it, target, value, node)
            note_unused(it, target, value, node)
            for place, part in _one_by_one(it, target, value):
                note_accumulation(it, place, part, node)
                _note_rebinding(it, place, part, node)
        assign(it, target, value)


def _one_by_one(it: Interpreter, target: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    """What is bound to what: `a, b = x, y` binds two."""
    if isinstance(target, ast.Tuple | ast.List):
        parts = known_elements(it, value)
        if parts is not None and len(parts) == len(target.elts):
            pairs = zip(target.elts, parts, strict=True)
            return [each for element, part in pairs for each in _one_by_one(it, element, part)]
    return [(target, value)]


def _note_rebinding(it: Interpreter, target: ast.expr, value: Value, statement: ast.stmt) -> None:
    if value.how is not How.OPERATION:
        return  # nothing is computed, so no variable is meant to change
    if isinstance(target, ast.Name):
        note_name(it, target.id, it.store.get((_frame_of(it, target.id).id, target.id)), value, statement)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
        if it.evaluate(target.value).kind is Kind.VARIABLES:
            note_element(it, ast.unparse(target), statement)
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        owner = it.evaluate(target.value)
        if owner.kind is Kind.INSTANCE:
            note_attribute(it, ast.unparse(target), it.store.get((owner.ref.id, target.attr)), value, statement)


def _frame_of(it: Interpreter, name: str) -> Frame:
    return it.frame.top if name in it.frame.names.global_ else it.frame


def run_annotated(it: Interpreter, node: ast.AnnAssign) -> None:
    """`name: T = value` in the body of a class; elsewhere `spellings.py` has made a plain assignment of it."""
    if node.value is not None:
        assign(it, node.target, it.evaluate(node.value))


def run_augmented(it: Interpreter, node: ast.AugAssign) -> None:
    target = node.target
    right = it.evaluate(node.value)
    if isinstance(target, ast.Name):
        left = read_name(it, target.id, target)
        place: Callable[[Value], None] = partial(bind_name, it, target.id)
    elif isinstance(target, ast.Attribute):
        owner = it.evaluate(target.value)
        left = it.get_attribute(owner, target.attr, target)
        place = partial(set_attribute, it, owner, target.attr, node=target)
    else:
        owner = it.evaluate(target.value)
        index = it.evaluate(target.slice)
        left = get_item(it, owner, index, target)
        place = partial(set_item, it, owner, index, node=target)
    if isinstance(target, ast.Name) and left.kind is Kind.PLAIN:
        note_copy(it, left, target)
    if note_augmented(it, left, node):
        it.alive = False  # it raises
        return
    if left.kind is Kind.CONTAINER and isinstance(left.ref, Container) and left.ref.type == "list":
        if isinstance(node.op, ast.Add):
            extend_container(it, left, right)  # in place: every alias sees it
            return
    made = binary(it, node.op, left, right, node)
    note_accumulation(it, target, made, node)
    _note_rebinding(it, target, made, node)
    it.augmenting = target
    place(made)
    it.augmenting = None


def run_delete(it: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            bind_name(it, target.id, it_none(it, target))
        elif isinstance(target, ast.Subscript):
            owner = it.evaluate(target.value)
            if owner.kind is Kind.CONTAINER:
                forget_positions(it, owner)
