"""Curvature: second derivatives with respect to the inputs of networks that are linear piece by piece.

A network of dense layers with relu is linear between its kinks: its second derivative is exactly zero, and a loss made
of it (the residual of a differential equation) trains nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Layer
from gradlint.flow.values import How, Kind, Value, alternatives, is_literal
from gradlint.flow.zero_events import CurvatureAsked
from gradlint.ops import table as ops
from gradlint.ops.op import Role

#: Linear in one factor, where nothing else depends on the source.
_PRODUCTS = frozenset({Role.PRODUCT, Role.QUOTIENT, Role.MATRIX_PRODUCT})
_WITH_ACTIVATION = frozenset({"Dense", "Conv1D", "Conv2D", "Conv3D", "EinsumDense"})
_LINEAR_LAYERS = frozenset(
    "InputLayer Flatten Reshape Concatenate Add Average Subtract Dropout ReLU LeakyReLU Identity Permute".split()
)
_ACTIVATIONS = frozenset({"relu", "relu6", "leaky_relu", "linear"})
_MOST_VALUES = 400


def note_curvature(it: Interpreter, target: Value, sources: Value, tapes: int, node: ast.AST) -> None:
    """A gradient is asked of these tapes for what a gradient with respect to the same source is made of."""
    if it.expected or sources.kind not in (Kind.TENSOR, Kind.VARIABLE):
        return
    first = [each for each in _behind_linear(it, target, tapes) if each.how is How.GRADIENT]
    if not first or any(each.of is not sources or not each.inputs for each in first):
        return
    walk = _Walk(it, sources)
    if all(walk.is_linear(each.inputs[0]) for each in first) and walk.layer is not None:
        made = walk.layer.node
        steps = (("layer made here", made),) if made is not None else ()
        name = ast.unparse(node.args[1]) if isinstance(node, ast.Call) and len(node.args) > 1 else "the source"
        it.note(CurvatureAsked, node, name, steps=steps)


def _behind_linear(it: Interpreter, target: Value, tapes: int) -> Iterable[Value]:
    """What a value is put together from by linear operations; nothing where something else is on the way.

    What these tapes did not record makes the gradient None, which is said by other rules, and no zero.
    """
    found: list[Value] = []
    stack = [target]
    while stack and len(found) < _MOST_VALUES:
        each = stack.pop()
        if each.kind is not Kind.CONTAINER and not each.possible & tapes:
            return []
        if each.how is How.GRADIENT:
            found.append(each)
        elif each.kind is Kind.CONTAINER:
            stack.extend(it.items(each).elements)
        elif each.how is How.OPERATION and each.op.linear and each.inputs:
            stack.extend(each.inputs)
        else:
            return []
    return found


def _is_first_power(value: Value) -> bool:
    return value.op is ops.POWER and len(value.operands) == 2 and is_literal(value.operands[1], 1)


class _Walk:
    """From an output back to the source: whether every way is linear in pieces, and one layer that makes it so."""

    def __init__(self, it: Interpreter, source: Value) -> None:
        self._it = it
        self._source = source
        self._known: dict[int, tuple[bool, bool]] = {}
        self.layer: Value | None = None

    def is_linear(self, output: Value) -> bool:
        """Whether the output depends on the source, and is linear in pieces."""
        depends, linear = self._of(output)
        return depends and linear

    def _of(self, value: Value) -> tuple[bool, bool]:
        """Whether a value depends on the source, and whether it does so linearly, as far as can be seen."""
        if value is self._source:
            return True, True
        if value.serial not in self._known:
            self._known[value.serial] = (True, False)  # in a circle, or too much
            if len(self._known) < _MOST_VALUES:
                self._known[value.serial] = self._found(value)
        return self._known[value.serial]

    def _found(self, value: Value) -> tuple[bool, bool]:
        if value.kind in (Kind.LITERAL, Kind.PLAIN, Kind.VARIABLE, Kind.VARIABLES, Kind.SYMBOL) and not value.dead:
            return False, True
        if value.how is How.JOIN:
            ways = alternatives(value, 8)
            return self._joined(ways) if ways else (True, False)
        if value.kind is Kind.CONTAINER:
            return self._joined(self._it.items(value).elements)
        if value.how is not How.OPERATION:
            return value.how is not How.FRESH or value.kind is not Kind.TENSOR, value.how is How.FRESH
        if value.label == "call":
            return self._called(value)
        if _is_first_power(value):
            return self._of(value.operands[0])
        inside = [self._of(each) for each in value.inputs]
        if not any(depends for depends, _ in inside):
            return False, True
        op = value.op
        if op.linear or op.kinked:
            return True, all(linear for _, linear in inside)
        if op.role in _PRODUCTS and len(value.operands) == 2:
            left, right = map(self._of, value.operands)
            one = left[0] != right[0] and not (op.role is Role.QUOTIENT and right[0])
            return True, one and left[1] and right[1]
        return True, False

    def _joined(self, values: Iterable[Value]) -> tuple[bool, bool]:
        found = [self._of(each) for each in values]
        return any(depends for depends, _ in found), all(linear for _, linear in found)

    def _called(self, value: Value) -> tuple[bool, bool]:
        given = value.given.every() if value.given is not None else []
        depends, linear = self._joined([each for each in given if each.kind is not Kind.LITERAL])
        if not depends:
            return False, True
        return True, linear and value.callee is not None and self._is_linear_layer(value.callee)

    def _is_linear_layer(self, layer: Value) -> bool:
        owner = layer.ref
        if not isinstance(owner, Layer) or owner.open_parts:
            return False
        name = owner.symbol.rpartition(".")[2]
        if owner.sequence is not None:
            return all(each.kind is Kind.SYMBOLIC or self._is_linear_layer(each) for each in owner.sequence)
        if owner.outputs is not None:
            return self._is_linear_graph(owner.outputs)
        if name in _LINEAR_LAYERS:
            return True
        if name not in _WITH_ACTIVATION or owner.part_of is not None:
            return False
        activation = owner.argument(1 if name == "Dense" else None, "activation")
        if activation is not None and not _is_kinked(activation):
            return False
        if activation is not None and activation.ref is not None:
            self.layer = self.layer or layer
        return True

    def _is_linear_graph(self, outputs: Value) -> bool:
        """Whether every layer of a functional model is linear in pieces."""
        stack, seen = [*self._it.leaves(outputs)], set[int]()
        while stack:
            each = stack.pop()
            if each.serial in seen or each.kind is not Kind.SYMBOLIC:
                continue
            seen.add(each.serial)
            if len(seen) > _MOST_VALUES:
                return False
            if each.callee is not None:
                if not self._is_linear_layer(each.callee):
                    return False
                stack.extend(
                    leaf for value in (each.given.every() if each.given else ()) for leaf in self._it.leaves(value)
                )
            elif each.inputs:
                return False  # an operation between the layers
        return True


def _is_kinked(activation: Value) -> bool:
    ways = alternatives(activation, 4)
    if not ways:
        return activation.kind is Kind.LITERAL and activation.ref is None
    return all(
        (way.kind is Kind.LITERAL and way.ref in _ACTIVATIONS)
        or (way.kind is Kind.SYMBOL and way.ref.rpartition(".")[2] in _ACTIVATIONS)
        for way in ways
    )
