"""Indexed slices: gradients of rows that were looked up, and the arithmetic that they do not know.

`tf.gather(v, rows)` and an Embedding give `tf.IndexedSlices` as long as every use of the variable is such a lookup.
TensorFlow 2.21: products with numbers and NumPy arrays, sums of two of them and indexing raise; products with tensors
and variables make a dense tensor (fixtures/GL408).
"""

from __future__ import annotations

import ast

from gradlint.flow.descent import key_of
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import variable_set
from gradlint.flow.objects import Layer, Variable, VariableSet
from gradlint.flow.update_events import SlicesCalculated
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.ops import table as ops

#: What `keras.ops.take` makes of a lookup is dense all the same.
_LOOKUPS = frozenset({ops.GATHER, ops.LOOK_UP})
_MOST = 400


def note_arithmetic(it: Interpreter, left: Value, right: Value, node: ast.AST) -> bool:
    """`gradient * 2.0`, `a + b` of two such gradients; True when it surely raises."""
    if it.expected:
        return False
    for one, other in ((left, right), (right, left)):
        if not is_indexed(it, one):
            if _is_sometimes(it, one) and (_is_number(other) or _is_sometimes(it, other)) and not it.arms:
                _note(it, one, node, "TypeError")
                return False
            continue
        if _is_number(other) or is_indexed(it, other):
            _note(it, one, node, "TypeError")
            return it.doubt == 0
    return False


def _is_number(value: Value) -> bool:
    if value.how is How.JOIN and value.kind is Kind.UNKNOWN:
        ways = alternatives(value, 4)
        return bool(ways) and all(way is not value and _is_number(way) for way in ways or ())
    return value.kind in (Kind.LITERAL, Kind.PLAIN) and not (value.kind is Kind.LITERAL and value.ref is None)


def _is_sometimes(it: Interpreter, value: Value) -> bool:
    """Whether this is any one of the gradients of a model, and the model has an Embedding."""
    ways = alternatives(value, 4) or ()
    return bool(ways) and all(
        way.how is How.GRADIENT and way.of is not None and way.inputs and _has_looked_up(it, way) for way in ways
    )


def _has_looked_up(it: Interpreter, gradient: Value) -> bool:
    of = gradient.of
    if of is None or not isinstance(of.ref, VariableSet) or of.ref.bounds is not None:
        return False
    for member in sorted(of.ref.members - of.ref.frozen):
        layer = it.objects.get(member)
        if isinstance(layer, Layer) and layer.symbol.endswith(".Embedding") and layer.id in it.layer_values:
            own = variable_set(it, it.layer_values[layer.id], "trainable_variables", gradient.node or ast.Pass())
            if _is_only_looked_up(it, gradient.inputs[:1], own):
                return True
    return False


def note_access(it: Interpreter, value: Value, node: ast.AST, raises: str) -> bool:
    """`gradient[0]`, `gradient.numpy()`."""
    if it.expected or not is_indexed(it, value):
        return False
    _note(it, value, node, raises)
    return it.doubt == 0


def _note(it: Interpreter, value: Value, node: ast.AST, raises: str) -> None:
    source = next((way.of for way in alternatives(value, 8) or () if way.of is not None), None)
    ref = source.ref if source is not None else None
    variable = (ref.name or ref.bound) if isinstance(ref, Variable) else ""
    it.note(SlicesCalculated, node, _written(node), variable or "an Embedding", raises)


def _written(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else "it"


def is_indexed(it: Interpreter, value: Value) -> bool:
    """Whether a value surely is the tf.IndexedSlices that a gradient call returned."""
    if value.how is How.JOIN:
        ways = alternatives(value, 8)
        return bool(ways) and all(way is not value and is_indexed(it, way) for way in ways or ())
    if value.how is not How.GRADIENT or value.of is None or not value.inputs:
        return False
    return _is_only_looked_up(it, value.inputs[:1], value.of)


def _is_only_looked_up(it: Interpreter, targets: tuple[Value, ...], source: Value) -> bool:
    ref = source.ref
    embedding: object = None
    if (isinstance(ref, Variable) and isinstance(ref.owner, Layer) and ref.name == "embeddings") or (
        isinstance(ref, VariableSet) and isinstance(ref.owner, Layer)
    ):
        embedding = ref.owner
    elif not (isinstance(ref, Variable) and ref.exact):
        return False
    if embedding is not None and not (isinstance(embedding, Layer) and embedding.symbol.endswith(".Embedding")):
        return False
    if isinstance(embedding, Layer) and any(name.endswith(("regularizer", "rank")) for name, _ in embedding.keywords):
        return False
    key = key_of(source)
    looked_up = 0
    stack, seen = list(targets), set[int]()
    while stack:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        unseen = each.is_opaque and each.label != "batch" and each.how is not How.PARAMETER
        if unseen or len(seen) > _MOST or each.how is How.GRADIENT:
            return False
        for position, below in enumerate(each.inputs):
            if key_of(below) == key or (isinstance(below.ref, VariableSet) and below.ref.owner is embedding):
                looks_up = (
                    each.op in _LOOKUPS
                    and each.label.startswith("tf.")
                    and position == 0
                    and each.serial not in it.dense_lookups
                )
                if looks_up or (embedding is not None and each.label == "call"):
                    looked_up += 1
                else:
                    return False
            elif below.kind is Kind.VARIABLES and isinstance(ref, Variable) and ref.id in below.ref.members:
                return False
            stack.append(below)
    return looked_up > 0
