"""Unused changes: a gradient is masked or clipped under a name that nothing reads, and the unchanged one is applied."""

from __future__ import annotations

import ast

from gradlint.flow.constants import mask_states
from gradlint.flow.descent import PRODUCTS, QUOTIENTS, cores_of, factors_of, gradient_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.update_events import ChangeUnused
from gradlint.flow.values import Fill, How, Kind, Value, alternatives, lineage
from gradlint.ops.op import Role


def note_change(it: Interpreter, target: ast.expr, value: Value, statement: ast.stmt) -> None:
    """`masked = gradient * mask`: note it where `masked` is never read and the optimizer gets `gradient`."""
    if not it.gradients_made:
        return  # nothing can be the change of one
    name = target.elts[0] if isinstance(target, ast.Tuple | ast.List) and target.elts else target
    if isinstance(name, ast.Subscript):
        name = name.value
    if not isinstance(name, ast.Name) or it.expected or name.id.startswith("_"):
        return
    changed = [each for each in _elements(it, value) if _is_gradient(each)]
    change = next((found for each in changed if (found := _change_of(it, each))), "")
    if not change or is_read(it, name.id, statement) or _is_loop_name(it, name.id, statement):
        return
    _note(it, statement, name.id, change, changed)


def _is_gradient(value: Value) -> bool:
    """Whether a value is a gradient, entry by entry: an outer product of one is none."""
    source = gradient_of(value)
    return source is not None and (None in (value.shape, source.shape) or value.shape == source.shape)


def _note(it: Interpreter, node: ast.AST, name: str, change: str, changed: list[Value]) -> None:
    before = {serial for each in changed for serial in cores_of(each)}
    after = {each.serial for each in changed}

    def holds() -> bool:
        """Whether an optimizer was given the gradients as they were, and nowhere the changed ones."""
        unchanged = False
        for applied in it.applied:
            lineage = _lineage(applied)
            if lineage & after:
                return False
            unchanged = unchanged or bool(cores_of(applied) & before)
        return unchanged

    it.note(ChangeUnused, node, name, change, holds=holds)


def note_dropped_change(it: Interpreter, result: Value, node: ast.expr) -> None:
    """`mask_gradients(gradients)` as a statement, where the function of the file returns new gradients."""
    changed = [each for each in _elements(it, result) if gradient_of(each) is not None]
    change = next((found for each in changed if (found := _change_of(it, each))), "")
    if change and not it.expected and result.kind is Kind.CONTAINER:
        _note(it, node, ast.unparse(node), change, changed)


def _elements(it: Interpreter, value: Value) -> list[Value]:
    """The gradients in a list, or in the pair that `clip_by_global_norm` returns."""
    if value.kind is not Kind.CONTAINER or it.is_waiting(value):
        return [value]
    found: list[Value] = []
    for each in it.items(value).elements[:8]:
        found.extend(it.items(each).elements[:8] if each.kind is Kind.CONTAINER and not it.is_waiting(each) else [each])
    return found


def _change_of(it: Interpreter, value: Value) -> str:
    for way in alternatives(value, 4) or ():
        if way.how is not How.OPERATION:
            continue
        if way.op.role is Role.CLIP:
            return "clipped"
        if any(mask_states(it, each.value) & {Fill.MASK, Fill.ZEROS} for each in factors_of(way)):
            return "masked"
        if way.op.role in PRODUCTS | QUOTIENTS:
            return "scaled"
    return ""


def _lineage(value: Value, most: int = 60) -> set[int]:
    def behind(each: Value) -> tuple[Value, ...]:
        return (*each.inputs, *each.operands) if each.how is not How.GRADIENT else ()

    return {each.serial for each in lineage([value], most, behind)}


def _is_loop_name(it: Interpreter, name: str, statement: ast.stmt) -> bool:
    """Whether a loop around the statement binds the name: that it is bound anew is told by another rule."""
    scope: ast.AST = it.frame.function.node if it.frame.function is not None else it.tree
    for each in ast.walk(scope):
        if isinstance(each, ast.For) and any(inner is statement for inner in ast.walk(each)):
            if any(isinstance(target, ast.Name) and target.id == name for target in ast.walk(each.target)):
                return True
    return False


def is_read(it: Interpreter, name: str, statement: ast.stmt) -> bool:
    """Whether anything but the statement itself reads the name (a name of the module: anywhere in the file)."""
    frame = it.frame
    if name in frame.names.global_ or name in frame.names.nonlocal_:
        return True
    scope: ast.AST = frame.function.node if frame.function is not None else it.tree
    own = {id(each) for each in ast.walk(statement)} | {
        id(each.value)
        for each in ast.walk(scope)
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)
    }
    loads = [
        each
        for each in ast.walk(scope)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in own
        if each.id in (name, "locals", "vars", "eval", "exec")
    ]
    inner = [each for each in ast.walk(scope) if isinstance(each, ast.FunctionDef | ast.Lambda) and each is not scope]
    if any(load in ast.walk(function) for function in inner for load in loads):
        return True  # whenever that is called
    end = (getattr(statement, "end_lineno", 0) or 0, getattr(statement, "end_col_offset", 0) or 0)
    looped = any(
        isinstance(each, ast.For | ast.While) and any(inner is statement for inner in ast.walk(each))
        for each in ast.walk(scope)
    )
    if frame.function is None or looped:
        rebinds = _is_rebound_first(scope, name, statement)
        return any((each.lineno, each.col_offset) > end for each in loads) or (bool(loads) and not rebinds)
    return any((each.lineno, each.col_offset) > end for each in loads)


def _is_rebound_first(scope: ast.AST, name: str, statement: ast.stmt) -> bool:
    """Whether the name is bound anew above the statement, so that what the last turn left there is not read."""
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Store)
        and (each.lineno, each.col_offset) < (statement.lineno, statement.col_offset)
        for each in ast.walk(scope)
    )
