"""Layers: Keras layers and models made, built and called; functional models replayed."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.instances import bind_method, class_attribute, is_overridden
from gradlint.flow.interpreter import Interpreter, in_training_mode, traced_by_keras
from gradlint.flow.layer_faults import judge_inputs, judge_layer_call, judge_sequence
from gradlint.flow.layer_shapes import is_input, output_shape
from gradlint.flow.losses import forget_losses
from gradlint.flow.made_anew import note_layer_made
from gradlint.flow.members import (
    is_keras_family,
    is_model_family,
    mark_built,
    symbolic_operation,
    variable_set,
    weights_of,
)
from gradlint.flow.objects import (
    FUNCTIONAL,
    Class,
    Function,
    Instance,
    Items,
    Layer,
    SymbolicCall,
)
from gradlint.flow.own_code import activation_of, dtype_of, run_own_code, runs_own_code
from gradlint.flow.sequences import known_elements
from gradlint.flow.tracking import note_lambda
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.verdicts import Cause


def make_layer(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """A layer or model of the library, from its constructor call."""
    name = symbol.rpartition(".")[2]
    parts: list[Value] = []
    open_parts = arguments.more is not None
    held = [*arguments.positional]
    held += [
        value
        for key, value in arguments.keywords.items()
        if key in ("layers", "layer", "cell", "inputs", "outputs", "backward_layer")
    ]
    inputs: tuple[Value, ...] = ()
    outputs: Value | None = None
    sequence: tuple[Value, ...] | None = None
    if symbol.startswith("keras.models.") and name in ("Model", "Functional"):
        given_inputs, given_outputs = arguments.get(0, "inputs"), arguments.get(1, "outputs")
        if given_outputs is not None:
            outputs = given_outputs
            inputs = it.leaves(given_inputs) if given_inputs is not None else ()
            parts.extend(layers_in_graph(it, given_outputs))
            open_parts = open_parts or _is_open_graph(it, given_outputs)
        held = []
    elif name == "Sequential":
        layers = arguments.get(0, "layers")
        if layers is None:
            sequence = ()
        else:
            known = known_elements(it, layers)
            sequence = tuple(known) if known is not None else None
            open_parts = open_parts or (known is None and layers.kind is not Kind.CONTAINER)
    for value in held:
        for leaf in _each_leaf(it, value):
            if leaf.kind in (Kind.LAYER, Kind.INSTANCE):
                parts.append(leaf)
            elif leaf.is_opaque and name in (
                "Sequential",
                "Model",
                "TimeDistributed",
                "Bidirectional",
                "Wrapper",
                "RNN",
            ):
                open_parts = True
            elif leaf.kind is Kind.FUNCTION and name == "Lambda":
                parts.append(leaf)
    made = Layer(it.new_id(), symbol, tuple(parts), open_parts, inputs=inputs, outputs=outputs, sequence=sequence)
    made.positional, made.keywords = arguments.positional, tuple(arguments.keywords.items())
    made.has_cuts = outputs is not None and _has_cuts(it, outputs)
    made.activation = activation_of(name, arguments)
    value = it.fresh(Kind.LAYER, node, ref=made, label=symbol)
    it.layer_values[made.id] = value
    _note_made(it, value, node)
    if "trainable" in arguments.keywords:
        it.store.set((made.id, "trainable"), arguments.keywords["trainable"])
    for part in parts:
        if made.id and part.ref is not None and getattr(part.ref, "escaped_at", None) is not None:
            it.escape(value)
    if _knows_its_input(sequence, value):
        mark_built(it, value)
    if name == "Sequential" and sequence and any(is_input(each) for each in sequence):
        for each in sequence:
            if each.kind is Kind.INSTANCE:
                build_once(it, each, node)  # with an Input first, layers are built while the model is
    return value


def _each_leaf(it: Interpreter, value: Value) -> list[Value]:
    """What stands in a list of layers; of one that was chosen, each that it may be."""
    return [way for leaf in it.leaves(value) for way in alternatives(leaf, 8) or [leaf]]


def _note_made(it: Interpreter, layer: Value, node: ast.AST) -> None:
    note_layer_made(it, layer, node)
    if layer.ref.symbol.endswith(".Lambda") and layer.ref.parts:
        note_lambda(it, layer, layer.ref.parts[0], node)
    if layer.ref.sequence:
        judge_sequence(it, layer.ref.sequence, node)


_INPUT_SHAPES = frozenset({"input_shape", "input_dim", "batch_input_shape", "batch_shape"})


def _knows_its_input(sequence: tuple[Value, ...] | None, made: Value) -> bool:
    """Whether Keras builds the layers of a Sequential at once."""
    return any(
        is_input(each) or (isinstance(each.ref, Layer) and _INPUT_SHAPES & {name for name, _ in each.ref.keywords})
        for each in (*(sequence or ()), made)
    )


def layers_in_graph(it: Interpreter, outputs: Value) -> list[Value]:
    found: list[Value] = []
    seen: set[int] = set()
    stack = list(it.leaves(outputs))
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if isinstance(each.ref, SymbolicCall) and each.ref.callee is not None:
            found.append(each.ref.callee)
        if each.kind is Kind.VARIABLES and isinstance(each.ref.owner, Layer):
            found.append(it.fresh(Kind.LAYER, each.node, ref=each.ref.owner))
        if each.kind in (Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE):
            found.append(each)
        if each.kind is not Kind.TENSOR:  # computed while the model is put together, it is a constant in it
            stack.extend((*each.inputs, *(behind for behind, _ in each.dead)))
    return found


def _is_open_graph(it: Interpreter, outputs: Value) -> bool:
    """Whether something that cannot be seen took part in making the outputs of a functional model."""
    seen: set[int] = set()
    stack = list(it.leaves(outputs))
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if each.is_opaque or (each.how is How.JOIN and each.kind is Kind.UNKNOWN):
            return True
        if each.kind is Kind.VARIABLES:
            if each.ref.open_members:
                return True
            continue
        stack.extend((*each.inputs, *(behind for behind, _ in each.dead)))
    return bool(stack)


def _has_cuts(it: Interpreter, outputs: Value) -> bool:
    """Whether an operation without a gradient took part in a functional graph."""
    seen: set[int] = set()
    stack = list(it.leaves(outputs))
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial not in seen:
            seen.add(each.serial)
            if each.dead:
                return True
            stack.extend(each.inputs)
    return False


def call_layer(it: Interpreter, layer: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library layer or model."""
    owner: Layer = layer.ref
    tensors = [*arguments.positional, *arguments.keywords.values()]
    it.called_layers.setdefault(owner.id, set()).add(node)
    mark_built(it, layer)
    if any(leaf.kind is Kind.SYMBOLIC for value in tensors for leaf in it.leaves(value)):
        ref = SymbolicCall(it.new_id(), layer, arguments.positional, tuple(arguments.keywords.items()), node)
        called = it.operation(node, (*tensors, weights_of(it, layer, node)), label="call", kind=Kind.SYMBOLIC, ref=ref)
        called.callee, called.given = layer, arguments
        called.shape = output_shape(it, layer, arguments)
        judge_layer_call(it, layer, arguments, called)
        if not any(frame.function is not None and frame.function.name == "call" for frame in it.frame.callers()):
            it.symbolic_calls.append(called)
        return called
    if owner.open_parts:
        return it.opaque_call(node, (layer, *tensors), "a model with layers that cannot be seen")
    if arguments.positional and runs_own_code(layer):
        with in_training_mode(it, arguments.keywords.get("training")):
            return run_own_code(it, layer, arguments, node)
    kept = [value for key, value in arguments.keywords.items() if key not in ("training", "mask")]
    inputs = (*arguments.positional, *kept, weights_of(it, layer, node))
    if owner.outputs is not None and owner.outputs.kind is Kind.CONTAINER:
        outputs = it.items(owner.outputs)
        made = [it.operation(node, inputs, label="call") for _ in outputs.elements]
        _connect_outputs(made, outputs.elements)
        return it.container(owner.outputs.ref.type, Items(tuple(made), outputs.keys, outputs.exact), node)
    called = it.operation(node, inputs, label="call", dtype=dtype_of(layer))
    called.callee, called.given = layer, arguments
    called.shape = output_shape(it, layer, arguments)
    judge_layer_call(it, layer, arguments, called)
    if called.possible and arguments.positional:
        judge_inputs(it, layer, arguments.positional[0])
    return called


def _connect_outputs(made: list[Value], symbolic: tuple[Value, ...]) -> None:
    """One output of a model may be computed from another: along the symbolic graph, or where that is not known."""
    for here, value in enumerate(made):
        before = [
            made[there]
            for there, other in enumerate(symbolic)
            if there != here and _may_come_from(symbolic[here], other)
        ]
        value.inputs = (*value.inputs, *before)


def _may_come_from(output: Value, other: Value) -> bool:
    if other.label in ("output", "outputs"):
        return True  # some layer's output, found by name or place: anything may come from it
    stack, seen = [output], set()
    while stack:
        each = stack.pop()
        if each.serial in seen:
            continue
        seen.add(each.serial)
        if each is other or each.label in ("output", "outputs") or each.kind is Kind.UNKNOWN or len(seen) > 500:
            return True
        stack.extend(each.inputs)
    return False


def call_instance(it: Interpreter, instance: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call an object of this file: `__call__`, or what Keras makes of `build` and `call`."""
    cls: Class = instance.ref.cls
    own = class_attribute(it, cls, "__call__")
    if own is not None and not (instance.ref.open_self and is_overridden(it, cls, "__call__")):
        return it.call(bind_method(it, own, instance, node), arguments, node)
    if is_keras_family(cls):
        return call_keras_instance(it, instance, arguments, node)
    own = class_attribute(it, cls, "call")
    if own is not None and _is_family(cls, "keras.losses.") and not instance.ref.open_self:
        per_sample = it.call(bind_method(it, own, instance, node), arguments, node)
        return it.operation(node, (per_sample,), label="keras.losses.Loss")
    if _is_family(cls, "keras.metrics."):
        cut = tuple((value, Cause.STATE) for value in arguments.every())
        return it.operation(node, (), label="keras.metrics.Metric", dead=cut)
    return it.opaque_call(node, (instance, *arguments.every()), f"`__call__` of `{cls.name}` cannot be seen")


def _is_family(cls: Class, space: str) -> bool:
    """Whether the class inherits from a class of this namespace."""
    return any(family.startswith(space) for family in cls.families)


def call_keras_instance(it: Interpreter, instance: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`layer(x)`: build once, then `call`."""
    owner: Instance = instance.ref
    it.called_layers.setdefault(owner.id, set()).add(node)
    patched = it.store.get((owner.id, "call"))
    if patched is not None:
        return it.call(patched, arguments, node)
    run = class_attribute(it, owner.cls, "call")
    symbolic = any(leaf.kind is Kind.SYMBOLIC for value in arguments.every() for leaf in it.leaves(value))
    given = [each for each in arguments.every() if each.kind not in (Kind.LITERAL, Kind.PLAIN)]
    functional = it.store.get((owner.id, FUNCTIONAL))
    if run is None and functional is not None and functional.kind is Kind.LAYER and not owner.open_self:
        return call_layer(it, functional, arguments, node)
    if run is None or (owner.open_self and is_overridden(it, owner.cls, "call")):
        if not is_model_family(owner.cls) and not owner.open_self and owner.cls.families and not owner.cls.open_base:
            tensors = (*given, variable_set(it, instance, "weights", node))
            return it.operation(node, tensors, label="call", kind=Kind.SYMBOLIC if symbolic else Kind.TENSOR)
        return it.opaque_call(node, (instance, *arguments.every()), f"`call` of `{owner.cls.name}` cannot be seen")
    build_once(it, instance, node)
    forget_losses(it, instance)  # Keras clears them at each call
    keywords = dict(arguments.keywords)
    if isinstance(run.ref, Function):
        spec = run.ref.node.args
        accepted = {each.arg for each in (*spec.args, *spec.kwonlyargs)}
        if spec.kwarg is None:
            keywords = {key: value for key, value in keywords.items() if key in accepted}
        told = it.training_mode
        if told is not None and "training" in accepted and len(arguments.positional) < 2:
            keywords.setdefault("training", told)  # Keras hands it down to the layers inside
    if symbolic:
        read_before = it.weights_read
        value = it.operation(
            node,
            (*given, variable_set(it, instance, "weights", node)),
            label="call",
            kind=Kind.SYMBOLIC,
            ref=SymbolicCall(it.new_id(), instance, arguments.positional, tuple(keywords.items())),
        )
        it.weights_read = read_before  # what its `call` reads is seen when that is run
        with traced_by_keras(it, (*arguments.positional, *keywords.values())):
            run_result = it.call(bind_method(it, run, instance, node), Arguments(arguments.positional, keywords), node)
        if run_result.kind is Kind.CONTAINER:
            return it.container(run_result.ref.type, _like(it, run_result, value), node)
        return value
    made = Arguments(arguments.positional, keywords, arguments.more, arguments.more_keywords)
    with in_training_mode(it, arguments.keywords.get("training")):
        return it.call(bind_method(it, run, instance, node), made, node)


def _like(it: Interpreter, shape: Value, value: Value) -> Items:
    items = it.items(shape)
    elements = tuple(
        it.operation(value.node, (value,), label="[]", kind=Kind.SYMBOLIC, ref=symbolic_operation(it, (value,)))
        for _ in items.elements
    )
    return Items(elements, items.keys, items.exact)


def build_once(it: Interpreter, instance: Value, node: ast.AST) -> None:
    """Run `build` the first time that Keras would."""
    owner: Instance = instance.ref
    key = (owner.id, "<built>")
    if it.store.get(key) is not None:
        return
    it.store.set(key, it.fresh(Kind.LITERAL, node, ref=True))
    own = class_attribute(it, owner.cls, "build")
    if own is not None:
        it.call(bind_method(it, own, instance, node), Arguments((it.plain(node),)), node)
