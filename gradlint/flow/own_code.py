"""Own code: layers of the library that run code of this file when they are called, or that cut by nature."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_shapes import is_input, output_shape
from gradlint.flow.losses import forget_losses
from gradlint.flow.members import weights_of
from gradlint.flow.objects import Items, Layer, SymbolicCall
from gradlint.flow.values import DType, Kind, Value
from gradlint.knowledge.effects import effect_of
from gradlint.verdicts import Cause

#: Layers that run another layer.
WRAPPERS = frozenset({"TimeDistributed", "RNN"})
#: Layers that look up or count what they are given. Embedding, Discretization and CategoryEncoding were run: no
#: gradient reaches their input; the others take integers or strings.
INPUT_CUTTING = frozenset(
    "Embedding Discretization CategoryEncoding IntegerLookup StringLookup Hashing HashedCrossing".split()
)
_ACTIVATION_PLACES = {"Dense": 1, "Activation": 0, "Lambda": 0}


def activation_of(name: str, arguments: Arguments) -> Value | None:
    """A function that the layer is given to apply to what it computes; names of activations need no running."""
    given = arguments.get(_ACTIVATION_PLACES.get(name), "activation")
    if name == "Lambda":
        given = given or arguments.keywords.get("function")
    if given is not None and given.kind is Kind.SYMBOL:
        effect = effect_of(given.ref)
        return given if effect is not None and effect.every is not None else None
    return given if given is not None and given.kind in (Kind.FUNCTION, Kind.INSTANCE) else None


def runs_own_code(layer: Value) -> bool:
    """Whether calling the layer runs code of this file, or has to be looked into for a cut."""
    if layer.kind is not Kind.LAYER:
        return layer.kind is Kind.INSTANCE
    owner = layer.ref
    name = owner.symbol.rpartition(".")[2]
    if owner.activation is not None or owner.has_cuts or name in INPUT_CUTTING:
        return True
    if name == "Lambda":
        return bool(owner.parts)
    if owner.sequence is not None:
        return any(runs_own_code(each) for each in owner.sequence)
    if owner.outputs is not None or name in WRAPPERS:
        return any(runs_own_code(part) for part in owner.parts)
    return False


_FLOAT_LAYERS = (
    "Dense", "Conv", "Embedding", "LSTM", "GRU", "SimpleRNN", "Batch", "Layer", "Group", "MultiHead", "Attention",
    "Separable", "Depthwise", "AveragePooling", "Global", "Dropout", "Activation", "ReLU", "LeakyReLU", "PReLU", "ELU",
    "Softmax", "EinsumDense", "Bidirectional",
)  # fmt: skip


def dtype_of(layer: Value) -> DType:
    """What a layer computes: floats, where its kind or that of the last layer of the model tells."""
    owner: Layer = layer.ref
    if owner.sequence:
        last = owner.sequence[-1]
        return dtype_of(last) if last.kind is Kind.LAYER else DType.UNKNOWN
    return DType.FLOAT if owner.symbol.rpartition(".")[2].startswith(_FLOAT_LAYERS) else DType.UNKNOWN


def _run_sequence(it: Interpreter, sequence: tuple[Value, ...], arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[0]
    keywords = {key: each for key, each in arguments.keywords.items() if key == "training"}
    for layer in sequence:
        if is_input(layer):
            continue
        accepts = keywords if layer.kind is Kind.LAYER else {}
        value = it.call(layer, Arguments((value,), accepts), node)
    return value


def run_own_code(it: Interpreter, layer: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library layer that runs code of this file, or that cuts by nature."""
    owner: Layer = layer.ref
    name = owner.symbol.rpartition(".")[2]
    if name == "Lambda" and owner.parts:
        return it.call(owner.parts[0], Arguments(arguments.positional), node)
    if name in WRAPPERS and owner.parts:
        return _run_wrapped(it, name, owner.parts[0], arguments, node)
    if owner.sequence is not None:
        return _run_sequence(it, owner.sequence, arguments, node)
    if owner.outputs is not None:
        forget_losses(it, layer)
        return _replay(it, owner, arguments, node)
    weights = weights_of(it, layer, node)
    if name in INPUT_CUTTING:
        # Told where the layer is made: it is the choice of the layer that cuts.
        dead = tuple((value, Cause.NON_DIFFERENTIABLE) for value in arguments.positional)
        looked_up = it.operation(layer.node, (), label=owner.symbol, dead=dead)
        made = it.operation(node, (looked_up, weights), label="call", dtype=dtype_of(layer))
        made.callee, made.given = layer, arguments
        return made
    made = it.operation(node, (*arguments.positional, weights), label="call", dtype=dtype_of(layer))
    made.callee, made.given = layer, arguments
    made.shape = output_shape(it, layer, arguments)
    return made if owner.activation is None else it.call(owner.activation, Arguments((made,)), layer.node or node)


def _run_wrapped(it: Interpreter, name: str, inner: Value, arguments: Arguments, node: ast.AST) -> Value:
    """A layer run on every step of a sequence; or a cell, which hands its state on."""
    value = it.operation(node, arguments.positional, label="[]")
    if name != "RNN":
        return it.operation(node, (it.call(inner, Arguments((value,)), node),), label="tf.stack")
    output, state = value, it.fresh(Kind.TENSOR, node, label="initial state")
    for _ in range(2):
        returned = it.call(inner, Arguments((value, it.list_of([state], node))), node)
        parts = it.items(returned).elements if returned.kind is Kind.CONTAINER else (returned,)
        leaves = [leaf for part in parts[1:] for leaf in it.leaves(part)]
        output, state = parts[0] if parts else returned, it.join([state, *leaves[:1]])
    return it.operation(node, (output,), label="tf.stack")


def _replay(it: Interpreter, owner: Layer, arguments: Arguments, node: ast.AST) -> Value:
    """Call a functional model that holds layers of this file: run its graph on the real input."""
    given: dict[int, Value] = {}
    leaves = it.leaves(arguments.positional[0])
    for position, symbolic in enumerate(owner.inputs):
        given[symbolic.serial] = leaves[position] if len(leaves) == len(owner.inputs) else arguments.positional[0]
    budget = [300]

    def run(value: Value) -> Value:
        if value.serial in given:
            return given[value.serial]
        budget[0] -= 1
        it.burn()
        made = value
        if value.kind is Kind.CONTAINER:
            items = it.items(value)
            made = it.container(
                value.ref.type, Items(tuple(run(each) for each in items.elements), items.keys, items.exact)
            )
        elif budget[0] > 0 and isinstance(value.ref, SymbolicCall):
            call = value.ref
            if call.callee is None:
                made = repeated(value)
            else:
                positional = tuple(run(each) for each in call.arguments)
                keywords = {key: run(each) for key, each in call.keywords}
                made = it.call(call.callee, Arguments(positional, keywords), node)
        elif value.kind is Kind.SYMBOLIC and (value.inputs or value.dead):
            made = repeated(value)
        given[value.serial] = made
        return made

    def repeated(value: Value) -> Value:
        dead = tuple((run(each), cause) for each, cause in value.dead)
        at = value.node if dead and value.node is not None else node
        return it.operation(at, tuple(run(each) for each in value.inputs), label=value.label, dead=dead)

    assert owner.outputs is not None
    return run(owner.outputs)
