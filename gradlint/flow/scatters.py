"""Scatters: updates of a part of a variable: by increments that overwrite, at indices that do not fit."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.certainty import is_surely_tensor, variable_behind
from gradlint.flow.descent import (
    PICKS,
    PRODUCTS,
    QUOTIENTS,
    SAME_PLACES,
    SUMS,
    depends_on,
    gradient_of,
    is_same_source,
    key_of,
)
from gradlint.flow.indexed_slices import is_indexed
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Variable
from gradlint.flow.shapes import Shape, literal_shape
from gradlint.flow.update_events import IncrementAssigned, IndicesMisfit, WholeAssigned
from gradlint.flow.values import How, Kind, Value, all_behind, lineage
from gradlint.ops import table as ops

_DEEPEST = 10
_SCATTERED = frozenset({ops.SCATTER_UPDATE, ops.SCATTER_ADD, ops.SCATTER_SUB, ops.SCATTER_MAX, ops.SCATTER_MIN})


def note_scatter(it: Interpreter, variable: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`variable.scatter_nd_update(indices, updates)` and its likes."""
    if it.expected:
        return
    if name.startswith("scatter_nd"):
        indices, updates = arguments.get(0, "indices"), arguments.get(1, "updates")
        if indices is not None and updates is not None:
            _note_indices(it, f"{name}", variable, indices, updates, node, functional=False)
    else:
        slices = arguments.get(0, "sparse_delta")
        updates = slices.operands[0] if slices is not None and slices.op is ops.INDEXED_SLICES else None
        if slices is not None and is_surely_tensor(slices) and updates is None and not is_indexed(it, slices):
            text = _argument_text(node, 0, "sparse_delta")
            why, instead = f"`{text}` is a tensor, and it takes tf.IndexedSlices", "`assign_sub`, or `scatter_nd_sub`"
            it.note(IndicesMisfit, node, name, why, instead, "TypeError")
    if name.endswith("update") and updates is not None and is_increment(updates, variable):
        it.note(IncrementAssigned, node, name, _written_owner(node))


def note_functional(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> None:
    """`tf.tensor_scatter_nd_update(tensor, indices, updates)` and its likes."""
    names = ("tensor", "indices", "updates") if symbol.startswith("tf.") else ("inputs", "indices", "updates")
    tensor, indices, updates = (arguments.get(position, each) for position, each in enumerate(names))
    if it.expected or tensor is None or indices is None or updates is None:
        return
    name = symbol.rpartition(".")[2]
    if symbol.startswith("tf."):
        _note_indices(it, name, tensor, indices, updates, node, functional=True)
    source = _source_within(updates)
    if name.endswith("update") and source is not None and depends_on(tensor, source) and is_increment(updates, source):
        first = node.args[0] if isinstance(node, ast.Call) and node.args else None
        it.note(IncrementAssigned, node, name, ast.unparse(first) if first is not None else "the variable")


def _is_negated(value: Value, depth: int = 0) -> bool:
    """Whether a step goes down: a minus in a product. `v.assign(g / norm)` may be meant, as power iteration."""
    if depth > _DEEPEST or value.how is not How.OPERATION:
        return value.kind is Kind.LITERAL and type(value.ref) in (int, float) and value.ref < 0
    if value.op is ops.NEGATIVE:
        return True
    if value.op.role in PRODUCTS | QUOTIENTS | SAME_PLACES | PICKS:
        return any(_is_negated(each, depth + 1) for each in value.operands or value.inputs)
    return value.op is ops.SUBTRACT and len(value.operands) == 2


def _source_within(updates: Value, depth: int = 0) -> Value | None:
    """The variable whose gradient an update was made of."""
    found = gradient_of(updates)
    if found is not None or depth > _DEEPEST:
        return found
    for each in updates.operands or updates.inputs:
        found = _source_within(each, depth + 1)
        if found is not None:
            return found
    return None


def note_assign(it: Interpreter, variable: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`v.assign(value)`: of a whole that was scattered into, or of a step of descent."""
    written = arguments.get(0, "value")
    if it.expected or written is None or name != "assign":
        return
    owner = variable.ref
    if written.op in _SCATTERED and isinstance(owner, Variable) and not owner.keras:
        if any(is_same_source(each, variable) for each in written.inputs[:1]):
            method = written.op.name.removeprefix("tensor_")
            it.note(WholeAssigned, node, _written_owner(node), method)
    elif _is_negated(written) and is_increment(written, variable):
        it.note(IncrementAssigned, node, "assign", _written_owner(node))


def _written_owner(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value)
    return "the variable"


def is_increment(value: Value, variable: Value, depth: int = 0, *, scaled: bool = False) -> bool:
    """Whether a value is a step of descent: the variable's own gradient, scaled, and the variable itself not in it."""
    if depth > _DEEPEST:
        return False
    source = gradient_of(value)
    if source is not None and is_same_source(variable_behind(source) or source, variable):  # or some rows of it
        return scaled or _is_scaled(value)
    if value.how is not How.OPERATION:
        return False
    if value.op.role in SUMS and len(value.operands) == 2:
        parts = [each for each in value.operands if is_increment(each, variable, depth + 1, scaled=True)]
        return bool(parts) and not any(_holds(each, variable) for each in value.operands if each not in parts)
    if value.op.role in PRODUCTS | QUOTIENTS:
        sides = [each for each in value.operands if is_increment(each, variable, depth + 1, scaled=True)]
        return len(sides) == 1
    if value.op.role in PICKS | SAME_PLACES:
        inner = (value.operands or value.inputs)[:1]
        negated = scaled or value.op is ops.NEGATIVE
        return any(is_increment(each, variable, depth + 1, scaled=negated) for each in inner)
    return False


def _holds(value: Value, variable: Value, most: int = 60) -> bool:
    """Whether the present value of the variable is in a value, other than by way of its gradient."""
    key = key_of(variable)
    return any(
        key_of(each) == key or each.is_opaque
        for each in lineage([value], most, lambda each: all_behind(each) if each.how is not How.GRADIENT else ())
    )


def _is_scaled(value: Value, depth: int = 0) -> bool:
    """Whether a gradient was multiplied by a rate or turned round, and nothing else was added."""
    if value.of is not None or value.how is not How.OPERATION or depth > _DEEPEST:
        return False
    if value.op.role in PRODUCTS | QUOTIENTS:
        return True
    if value.op is ops.NEGATIVE:
        return True
    inner = value.operands or value.inputs
    return value.op.role in SAME_PLACES and bool(inner) and _is_scaled(inner[0], depth + 1)


def _note_indices(
    it: Interpreter, name: str, target: Value, indices: Value, updates: Value, node: ast.AST, *, functional: bool
) -> None:
    """Indices are rows: `[[0], [2]]` are two, `[0, 2]` is the one element in row 0, column 2."""
    rows = literal_shape(it, indices)
    given = literal_shape(it, updates)
    if rows is not None and len(rows) > 1:
        _note_updates(it, name, rows, target, given, node)
    if rows is None or len(rows) != 1 or given is None or rows[0] in (None, 0):
        return
    count, shape = rows[0], target.shape
    assert count is not None
    if count == 1 and given[:1] == (1,):
        return  # one index, and one update
    fits = shape is not None and count <= len(shape) and given == shape[count:]
    if shape is None and (count < 2 or given[:1] != (count,)):
        return
    # Outside a graph the methods of variables write the first element and say nothing (fixtures/GL305).
    silent = not it.frame.graph and not functional and not fits
    raises = "" if silent else ("ValueError" if it.frame.graph else "InvalidArgumentError")
    written = _argument_text(node, 1 if functional else 0, "indices")
    why = f"`{written}` is flat, so it is one index and not several"
    it.note(IndicesMisfit, node, name, why, f"one row per index: `tf.reshape({written}, [-1, 1])`", raises)


def _note_updates(it: Interpreter, name: str, rows: Shape, target: Value, given: Shape | None, node: ast.AST) -> None:
    """Updates of another shape than the places that the indices name."""
    depth, shape = rows[-1], target.shape
    if shape is None or depth is None or given is None or depth > len(shape):
        return
    wanted = (*rows[:-1], *shape[depth:])
    known = None not in wanted and None not in given
    if known and given not in (wanted, ()):
        raises = "ValueError" if it.frame.graph else "InvalidArgumentError"
        it.note(
            IndicesMisfit,
            node,
            name,
            f"the updates are {given}, the places {wanted}",
            "gather the updates first",
            raises,
        )


def _argument_text(node: ast.AST, position: int, name: str) -> str:
    if isinstance(node, ast.Call):
        named = next((each.value for each in node.keywords if each.arg == name), None)
        argument = named or (node.args[position] if len(node.args) > position else None)
        if argument is not None:
            return ast.unparse(argument)
    return f"the {name}"
