"""Accumulation: sums of gradients that nothing sets back to zero: in variables, attributes and global containers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradlint.flow.descent import PRODUCTS, QUOTIENTS, gradient_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.optimizers import Pair
from gradlint.flow.update_events import NeverReset
from gradlint.flow.values import Fill, How, Kind, Value, alternatives, is_literal, lineage
from gradlint.ops.op import Role

_MOST = 80
_EMPTYING = frozenset({"clear", "pop", "update", "append", "extend", "insert", "setdefault", "remove"})


def judge_accumulators(it: Interpreter, pairs: list[Pair], node: ast.AST) -> None:
    """Gradients are summed up in variables that nothing sets back."""
    for pair in pairs:
        for way in _accumulators(it, pair.gradient):
            ref = way.ref
            assert isinstance(ref, Variable)
            if ref.id > it.turn if it.turn else _is_local(it, way):
                continue  # made anew in this turn of the loop, or by this call
            if not it.turn and not it.open_code:
                continue  # applied once
            written = it.written_state.get(ref.id, ())
            if "assign_add" not in it.assigned.get(ref.id, ()) or not any(_holds_gradient(each) for each in written):
                continue
            it.note(
                NeverReset, node, ref.name or "the accumulator", True, certain=False, holds=_is_never_reset(it, ref.id)
            )
            return


def judge_repeated(it: Interpreter, pairs: list[Pair], node: ast.AST) -> None:
    """A sum of gradients holds some that an earlier turn of the loop has applied here already."""
    spent = it.spent.setdefault(id(node), set())
    summed = [[(_summands(way) or set()) for way in alternatives(pair.gradient, 8) or ()] for pair in pairs]
    for ways in summed:
        if it.turn and ways and all(way & spent and way - spent for way in ways):
            it.note(NeverReset, node, _applied_text(node), False, certain=False)
            break
    spent.update(serial for ways in summed for way in ways for serial in way)


def _applied_text(node: ast.AST) -> str:
    """What is applied, as it is written."""
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "the sum"


def _summands(value: Value, depth: int = 0) -> set[int] | None:
    """Serials of the gradients that a plain sum was made of, divided or scaled as a whole or not; None for others."""
    if value.how is How.GRADIENT:
        return {value.serial}
    if value.fill is Fill.ZEROS or is_literal(value, 0) or is_literal(value, 0.0):
        return set()  # where a sum begins
    if depth > 30 or value.how is not How.OPERATION:
        return None
    if value.op.role in PRODUCTS | QUOTIENTS and not depth:
        held = [each for each in value.operands if gradient_of(each) is not None]
        return _summands(held[0]) if len(held) == 1 else None
    if value.op.role is Role.SUM:
        found = [_summands(each, depth + 1) for each in value.operands or value.inputs]
        known = [each for each in found if each is not None]
        return set().union(*known) if len(known) == len(found) else None
    return None


def _accumulators(it: Interpreter, gradient: Value, depth: int = 0) -> list[Value]:
    """The variables that stand for a gradient, scaled or not."""
    if isinstance(gradient.ref, Variable) and gradient.kind is Kind.VARIABLE:
        behind = gradient.ref.owner
        return [it.value_of[behind.id]] if isinstance(behind, Variable) and behind.id in it.value_of else [gradient]
    if depth > 4:
        return []
    if gradient.how is How.JOIN or gradient.op.role in PRODUCTS | QUOTIENTS | {Role.COPY}:
        return [
            found for each in (gradient.operands or gradient.inputs) for found in _accumulators(it, each, depth + 1)
        ]
    return []


def _is_local(it: Interpreter, variable: Value) -> bool:
    """Whether a variable was made by a call that is still running."""
    made = it.value_of.get(variable.ref.id, variable)
    return made.frame is not None and not made.frame.is_module and made.frame in it.frame.callers()


def _holds_gradient(stored: Value) -> bool:
    return any(each.how is How.GRADIENT for each in _behind([value for value, _ in stored.dead]))


def _behind(values: list[Value]) -> Iterator[Value]:
    return lineage(values, _MOST, lambda each: (*each.inputs, *each.operands))


def _is_never_reset(it: Interpreter, variable: int) -> Callable[[], bool]:
    def holds() -> bool:
        return not it.assigns_unknown and not it.assigned.get(variable, set()) & {"assign", "assign_sub"}

    return holds


def note_accumulation(it: Interpreter, target: ast.expr, value: Value, statement: ast.Assign | ast.AugAssign) -> None:
    """`self.sums = [s + g for s, g in zip(self.sums, gradients)]`, where nothing else ever writes `self.sums`."""
    base = target
    while isinstance(base, ast.Subscript):
        base = base.value
    if not isinstance(base, ast.Name | ast.Attribute) or it.frame.function is None or it.expected:
        return
    text = ast.unparse(base)
    if isinstance(base, ast.Name) and base.id in it.frame.names.local:
        return
    if not isinstance(statement, ast.AugAssign) and text not in ast.unparse(statement.value):
        return
    elements = it.items(value).elements if value.kind is Kind.CONTAINER else (value,)
    sums = [way for each in elements for way in alternatives(each, 4) or () if _adds_gradient(way)]
    if not sums or not _is_written_once(it, base, statement):
        return
    serials = {each.serial for each in sums}
    it.note(
        NeverReset, statement, text, False, certain=False,
        holds=lambda: any(each.serial in serials for applied in it.applied for each in _behind([applied])),
    )  # fmt: skip


def _adds_gradient(value: Value) -> bool:
    """Whether a value is a sum of a gradient and of something older."""
    if value.how is not How.OPERATION or value.op.role is not Role.SUM or len(value.operands) != 2:
        return False
    return any(gradient_of(each) is not None for each in value.operands)


def _is_written_once(it: Interpreter, base: ast.Name | ast.Attribute, statement: ast.stmt) -> bool:
    """Whether the file writes to this name or attribute in this statement, and where it is made, and nowhere else."""
    text = ast.unparse(base)
    last = base.attr if isinstance(base, ast.Attribute) else base.id
    elsewhere = 0
    for function in [it.tree, *(each for each in ast.walk(it.tree) if isinstance(each, ast.FunctionDef))]:
        makes = getattr(function, "name", "__init__") in ("__init__", "build")
        for node in _own_nodes(function):
            if node is statement:
                continue
            if _writes(node, text, last):
                elsewhere += 0 if makes else 1
    return not elsewhere and not any(
        isinstance(each, ast.For | ast.While) and any(_writes(inner, text, last) for inner in ast.walk(each))
        for each in it.tree.body
    )


def _own_nodes(function: ast.AST) -> list[ast.AST]:
    """The statements of a function, without those of functions inside it."""
    found: list[ast.AST] = []
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.ClassDef):
            continue
    return found


def _writes(node: ast.AST, text: str, last: str) -> bool:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for each in ast.walk(target):
                if isinstance(each, ast.Attribute | ast.Name) and ast.unparse(each) == text:
                    return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTYING:
        return ast.unparse(node.func.value) == text
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return called == "setattr" and last in ast.unparse(node)
