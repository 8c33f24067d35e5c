"""Keras methods and attributes: what layers, models and subclasses of them have from Keras."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.copies import note_weights_copied
from gradlint.flow.instances import method_of, open_part
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.layer_faults import judge_sequence
from gradlint.flow.layer_shapes import is_input
from gradlint.flow.layers import (
    build_once,
    call_keras_instance,
    call_layer,
    layers_in_graph,
    make_layer,
)
from gradlint.flow.left_out import note_weight_made
from gradlint.flow.losses import losses_of
from gradlint.flow.members import (
    LAYER_VARIABLES,
    VARIABLE_SETS,
    layer_variable,
    mark_built,
    part_of,
    variable_set,
    weights_of,
)
from gradlint.flow.objects import (
    FUNCTIONAL,
    HeapObject,
    Layer,
    LibraryObject,
    Variable,
)
from gradlint.flow.outputs import initial_number
from gradlint.flow.shapes import asked_shape
from gradlint.flow.tensor_calls import plain_call
from gradlint.flow.tracing import forget_fit
from gradlint.flow.training import run_compile, run_fit
from gradlint.flow.values import TRUE, Fill, How, Kind, Value

#: Methods of Keras layers and models that are modelled (the rest is opaque).
_WITHOUT_RESULT = frozenset(
    """
    add_metric summary save save_weights load_weights count_params get_config reset_metrics reset_states
    to_json compute_output_shape build_from_config quantize _set_inputs compute_metrics compiled_metrics
    """.split()
)
KERAS_METHODS = frozenset(
    """
    add_weight add_variable add_loss add_metric build compile fit evaluate predict summary compute_loss
    compiled_loss compute_metrics compiled_metrics save save_weights load_weights get_weights set_weights
    train_on_batch test_on_batch predict_on_batch count_params get_config get_layer call __call__ _set_inputs
    reset_metrics reset_states with_name_scope quantize train_step test_step make_train_function to_json
    compute_output_shape build_from_config stateless_call
    """.split()
)


#: Attributes of library layers that are layers.
_INNER_LAYERS = frozenset({"cell", "forward_layer", "backward_layer"})


#: Attributes of library layers that are layers.
_INNER_LAYERS = frozenset({"cell", "forward_layer", "backward_layer"})


def layer_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute of a library layer or model."""
    owner: Layer = base.ref
    if name in VARIABLE_SETS:
        return variable_set(it, base, name, node)
    own = it.store.get((owner.id, name))
    if own is not None and name != "trainable":
        return own
    if name in LAYER_VARIABLES:
        return layer_variable(it, owner, name, node)
    if name in _INNER_LAYERS:
        return part_of(it, base, node, name)
    if name == "losses":
        return losses_of(it, base, node)
    if name in ("input", "output", "inputs", "outputs"):
        return _symbolic_end(it, base, name, node)
    if name == "layers":
        if owner.sequence is not None:
            return it.list_of([each for each in owner.sequence if not is_input(each)], node)
        return it.list_of([part_of(it, base, node)], node, exact=False)
    if name in (
        "name",
        "shape",
        "dtype",
        "built",
        "trainable",
        "units",
        "metrics_names",
        "optimizer",
        "input_shape",
        "output_shape",
        "metrics",
    ):
        compiled = it.store.get((owner.id, "<optimizer>"))
        if name == "optimizer" and compiled is not None:
            return compiled
        return (
            it.plain(node)
            if name not in ("optimizer", "metrics")
            else it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras." + name))
        )
    return method_of(it, base, name, node)


def _symbolic_end(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    owner: Layer = base.ref
    if owner.outputs is not None:
        if name in ("output", "outputs"):
            return owner.outputs
        leaves = owner.inputs
        if name == "inputs":
            return it.list_of(leaves, node)
        return leaves[0] if len(leaves) == 1 else it.list_of(leaves, node)
    value = it.operation(node, (weights_of(it, base, node),), label=name, kind=Kind.SYMBOLIC)
    return it.list_of([value], node, exact=False) if name.endswith("s") else value


def inherited_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute that an object of this file inherits from Keras or tf.Module."""
    if name in VARIABLE_SETS:
        return variable_set(it, base, name, node)
    if name == "losses":
        return losses_of(it, base, node)
    if name in (
        "name",
        "dtype",
        "built",
        "trainable",
        "compute_dtype",
        "variable_dtype",
        "input_spec",
        "metrics_names",
        "name_scope",
    ):
        return it.plain(node)
    if name == "optimizer":
        compiled = it.store.get((base.ref.id, "<optimizer>"))
        return (
            compiled
            if compiled is not None
            else it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras.optimizers.Optimizer"))
        )
    if name in KERAS_METHODS:
        return method_of(it, base, name, node)
    inside = it.store.get((base.ref.id, FUNCTIONAL)) if name in ("add", "pop", "layers") else None
    if inside is not None and inside.kind is Kind.LAYER:
        return layer_attribute(it, inside, name, node)
    if name in ("_losses", "_metrics", "loss", "input", "output", "inputs", "outputs", "layers"):
        return open_part(it, base, name, node)
    return open_part(it, base, name, node)


def inherited_init(it: Interpreter, value: Value, arguments: Arguments) -> None:
    """`keras.Model.__init__` of a class of this file that has none of its own."""
    wrapped = arguments.get(0, "layer")
    if wrapped is not None and any(family.endswith(".Wrapper") for family in value.ref.cls.families):
        it.write_cell(value.ref, "layer", wrapped)
        return
    if any(family.endswith(".Sequential") for family in value.ref.cls.families):
        made = make_layer(it, "keras.models.Sequential", arguments, value.node or ast.Pass())
        it.write_cell(value.ref, FUNCTIONAL, made)  # a cell of its own: what is added later is inside as well
        return
    outputs = arguments.get(1, "outputs")
    if outputs is not None:
        functional = make_layer(it, "keras.models.Model", arguments, value.node or ast.Pass())
        it.store.set((value.ref.id, FUNCTIONAL), functional)
        for number, each in enumerate(layers_in_graph(it, outputs)):
            it.write_cell(value.ref, f"<layer {number}>", each)


def inherited_call(it: Interpreter, instance: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`super().call(x)` where no base in sight has a `call`."""
    functional = it.store.get((instance.ref.id, FUNCTIONAL))
    if functional is not None and functional.kind is Kind.LAYER and not instance.ref.open_self:
        return call_layer(it, functional, arguments, node)
    return it.opaque_call(node, (instance, *arguments.every()), "`super().call` cannot be seen")


def call_keras_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that a layer or model has from Keras."""
    match name:
        case "add_loss":
            added = [leaf for value in arguments.every() for leaf in it.leaves(value)]
            kept = it.store.get((receiver.ref.id, "<losses>"))
            before = it.items(kept).elements if kept is not None and kept.kind is Kind.CONTAINER else ()
            it.write_cell(receiver.ref, "<losses>", it.list_of((*before, *added)[-16:], node))
            return it.plain(node)
        case "add_weight" | "add_variable":
            return add_weight(it, receiver, arguments, node)
        case "compile":
            run_compile(it, receiver, arguments, node)
            return it.plain(node)
        case "fit" | "train_on_batch" | "fit_generator":
            run_fit(it, receiver, arguments, node)
            return it.plain(node)
        case "predict" | "predict_on_batch" | "get_weights" | "evaluate" | "test_on_batch":
            if name != "get_weights":
                mark_built(it, receiver)
            held = (*arguments.every(), variable_set(it, receiver, "weights", node))
            return plain_call(it, name, held, node)
        case "build":
            mark_built(it, receiver)
            if receiver.kind is Kind.INSTANCE:
                build_once(it, receiver, node)
            return it.plain(node)
        case "call" | "__call__":
            if receiver.kind is Kind.LAYER:
                return call_layer(it, receiver, arguments, node)
            return call_keras_instance(it, receiver, arguments, node)
        case "compute_loss" | "compiled_loss":
            # The compiled loss of what it is given, and perhaps the model's own regularisation.
            weights = variable_set(it, receiver, "weights", node)
            given = [value for value in arguments.every() if value.kind is not Kind.LITERAL]
            plain = it.operation(node, given, label=name)
            if not it.relevance.regularises:
                return plain
            return it.join([plain, it.operation(node, (*given, weights), label=name)])
        case "load_weights" | "from_config" | "load_model" | "build_from_config":
            mark_built(it, receiver)
            return it.plain(node)
        case "set_weights":
            note_weights_copied(it, receiver, arguments, node)
            it.write_state(receiver, arguments.every(), node)
            return it.plain(node)
        case "get_layer":
            if receiver.kind is not Kind.LAYER:
                return it.part(receiver, node)
            called = arguments.get(0, "name")
            literal = called.ref if called is not None and called.kind is Kind.LITERAL else None
            return part_of(it, receiver, node, literal)
        case "add" if receiver.kind is Kind.LAYER:
            _add_layer(it, receiver, arguments)
            return it.plain(node)
        case "pop" if receiver.kind is Kind.LAYER:
            receiver.ref.sequence = None
            return it.plain(node)
        case "make_train_function":
            forget_fit(it, receiver)
            return it.plain(node)
        case "train_step" | "test_step":
            return it.plain(node)
    if name in _WITHOUT_RESULT:
        return it.plain(node)
    because = f"`{name}` of a Keras object is not modelled"
    return it.opaque_call(node, (receiver, *arguments.every()), because, getter=True)


def _add_layer(it: Interpreter, receiver: Value, arguments: Arguments) -> None:
    owner: Layer = receiver.ref
    for value in arguments.every():
        if it.loop_depth:
            owner.sequence = None  # which layers, in which order, is not known
        if is_input(value):
            it.store.set((owner.id, "<built>"), TRUE)
            if owner.sequence == () and value.kind is Kind.SYMBOLIC:
                owner.sequence = (value,)
        if value.kind in (Kind.LAYER, Kind.INSTANCE):
            owner.parts = (*owner.parts, value)
            if any(name.startswith("input") for name, _ in getattr(value.ref, "keywords", ())):
                it.store.set((owner.id, "<built>"), TRUE)
            if it.store.get((owner.id, "<built>")) is not None:
                mark_built(it, value)
            if owner.sequence is not None:
                owner.sequence = (*owner.sequence, value)
                judge_sequence(it, owner.sequence, receiver.node or ast.Pass())
        elif value.is_opaque or value.how is How.JOIN:
            owner.open_parts = True
            owner.sequence = None


def add_weight(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`self.add_weight(...)`."""
    trainable = arguments.keywords.get("trainable")
    known: bool | None = True
    if trainable is not None:
        known = bool(trainable.ref) if trainable.kind is Kind.LITERAL else None
    label = next(
        (
            each
            for each in (arguments.keywords.get("name"), *arguments.positional)
            if each is not None and each.kind is Kind.LITERAL and isinstance(each.ref, str)
        ),
        None,
    )
    made = Variable(it.new_id(), "", True, known, node)
    value = it.fresh(Kind.VARIABLE, node, ref=made, label=label.ref if label is not None else "")
    value.shape = asked_shape(it, arguments.keywords.get("shape"))
    if initial_number(arguments.keywords.get("initializer")) == 0:
        value.fill = Fill.ZEROS
    note_weight_made(it, value, arguments, node)
    if isinstance(receiver.ref, HeapObject):
        it.write_cell(receiver.ref, f"<weight {made.id}>", value)
        if receiver.ref.escaped_at is not None:
            made.escaped_at = receiver.ref.escaped_at
    return value
