"""Keras objects: layers, models, their variables, building, symbolic calls, `compile` and `fit`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradlint.flow import attributes, calls, tapes
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    Class,
    Container,
    Function,
    HeapObject,
    Instance,
    Items,
    Layer,
    LibraryObject,
    SymbolicCall,
    Variable,
    VariableSet,
)
from gradlint.flow.values import How, Kind, Value, is_literal
from gradlint.verdicts import Cause

if TYPE_CHECKING:
    from gradlint.flow.calls import Arguments

#: Attributes of library layers that are variables.
LAYER_VARIABLES = frozenset(
    {"kernel", "bias", "embeddings", "gamma", "beta", "moving_mean", "moving_variance", "recurrent_kernel",
     "depthwise_kernel", "pointwise_kernel"}
)  # fmt: skip
_NOT_TRAINABLE = frozenset({"moving_mean", "moving_variance"})
_MODEL_SYMBOLS = ("keras.models.", "keras.applications.")


def is_layer_symbol(symbol: str) -> bool:
    """Whether calling the symbol makes a layer or model."""
    head, _, name = symbol.rpartition(".")
    if not name[:1].isupper():
        return False
    return head.startswith(("keras.layers", "keras.models", "keras.applications")) and name != "Input"


def is_keras_family(cls: Class) -> bool:
    """Whether the class inherits from a Keras layer or model."""
    return any(is_layer_symbol(family) for family in cls.families)


def is_model_family(cls: Class) -> bool:
    """Whether the class inherits from a Keras model."""
    return any(family.startswith(_MODEL_SYMBOLS) for family in cls.families)


def is_module_family(cls: Class) -> bool:
    """Whether the class inherits from tf.Module."""
    return any(family == "tf.Module" or family.endswith(".Module") for family in cls.families)


# -- members -----------------------------------------------------------------------------------


def members(it: Interpreter, value: Value) -> tuple[frozenset[int], bool]:
    """Ids of all variables, layers and models inside a value; True when there may be others."""
    return members_of(it, value)


def members_of(it: Interpreter, start: Value | HeapObject) -> tuple[frozenset[int], bool]:
    """The same, from an object too."""
    found: set[int] = set()
    open_members = False
    stack: list[Value | HeapObject] = [start]
    seen: set[int] = set()
    steps = 0
    while stack and steps < 2000:
        steps += 1
        each = stack.pop()
        if isinstance(each, Value):
            if each.how is How.JOIN:
                if each.serial not in seen:
                    seen.add(each.serial)
                    stack.extend(each.inputs)
                continue
            if each.is_opaque:
                open_members = True
                continue
            owner = each.ref
            if not isinstance(owner, HeapObject):
                continue
        else:
            owner = each
        if owner.id in seen:
            continue
        seen.add(owner.id)
        match owner:
            case Variable():
                found.add(owner.id)
                if owner.owner is not None:
                    found.add(owner.owner.id)
                    if isinstance(owner.owner, Variable):
                        stack.append(owner.owner)
                    if isinstance(owner.owner, Layer) and owner.owner.part_of is not None:
                        found.add(owner.owner.part_of.id)
                    if not owner.exact:
                        stack.append(owner.owner)
            case VariableSet():
                found |= owner.members
                open_members = open_members or owner.open_members
            case Layer():
                found.add(owner.id)
                open_members = open_members or owner.open_parts
                stack.extend(owner.parts)
                if owner.part_of is not None:
                    found.add(owner.part_of.id)
                _push_cells(it, owner, stack)
            case Instance():
                found.add(owner.id)
                open_members = open_members or owner.cls.open_base or owner.open_self
                _push_cells(it, owner, stack)
            case Container():
                cell = it.store.get((owner.id, "items"))
                if cell is not None:
                    stack.extend(cell.ref.elements)
            case LibraryObject() if owner.symbol.startswith("keras."):
                stack.extend(owner.arguments)
    return frozenset(found), open_members


def _push_cells(it: Interpreter, owner: HeapObject, stack: list[Value | HeapObject]) -> None:
    held = (Kind.VARIABLE, Kind.LAYER, Kind.INSTANCE, Kind.CONTAINER, Kind.VARIABLES)
    for key in it.cells_of(owner.id):
        value = it.store.get(key)
        if (value is not None and (value.kind in held or value.how is How.JOIN)) or (
            value is not None and value.is_opaque and value.kind is Kind.UNKNOWN
        ):
            stack.append(value)


def variable_set(it: Interpreter, owner: Value, attribute: str, node: ast.AST) -> Value:
    """`owner.trainable_variables` and its likes."""
    held: HeapObject | Value = owner.ref if isinstance(owner.ref, HeapObject) else owner
    found, open_members = members(it, owner)
    made = VariableSet(it.new_id(), held, attribute, found, open_members)
    value = it.fresh(Kind.VARIABLES, node, ref=made, label=attribute)
    if isinstance(held, Value):
        value.root = held.root if held.root is not None else held
        value.inputs = (held,)
    return value


def is_keras_owned(value: Value) -> bool:
    """Whether a symbolic set surely holds keras.Variables."""
    owner = value.ref.owner
    return isinstance(owner, Layer) or (isinstance(owner, Instance) and is_keras_family(owner.cls))


def parts_of_set(it: Interpreter, value: Value) -> list[Value]:
    """The variables of a symbolic set that were made in sight, and its layers: each may starve alone."""
    if value.kind is not Kind.VARIABLES or not isinstance(value.ref.owner, Instance):
        owner = value.ref.owner if value.kind is Kind.VARIABLES else None
        if not (isinstance(owner, Layer) and (owner.sequence is not None or owner.outputs is not None)):
            return []
    if value.ref.attribute not in ("trainable_variables", "trainable_weights"):
        return []
    variables: VariableSet = value.ref
    found: list[Value] = []
    for member in sorted(variables.members)[:64]:
        each = it.objects.get(member)
        if isinstance(each, Variable) and each.exact and each.trainable is True and each.id in it.value_of:
            in_keras = not isinstance(variables.owner, Instance) or is_keras_family(variables.owner.cls)
            if each.keras or not in_keras:
                found.append(it.value_of[each.id])
        elif isinstance(each, Layer) and each is not variables.owner and each.part_of is None and not each.parts:
            if it.store.get((each.id, "trainable")) is None and each.id in it.layer_values:
                found.append(
                    variable_set(
                        it, it.layer_values[each.id], "trainable_variables", it.layer_values[each.id].node or ast.Pass()
                    )
                )
    return found


def some_variable(it: Interpreter, owner: Value, node: ast.AST) -> Value:
    """Any one variable of a symbolic set."""
    variables: VariableSet = owner.ref
    if isinstance(variables.owner, Value):
        part = it.part(owner, node)
        part.root = owner.root
        return part
    held = variables.owner
    keras = isinstance(held, Layer) or (isinstance(held, Instance) and is_keras_family(held.cls))
    made = Variable(it.new_id(), "", keras, None, node, owner=held, exact=False)
    return it.fresh(Kind.VARIABLE, node, ref=made)


def weights_of(it: Interpreter, layer: Value, node: ast.AST) -> Value:
    """What calling a library layer reads."""
    return variable_set(it, layer, "weights", node)


# -- making ------------------------------------------------------------------------------------


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
            parts.extend(_layers_in_graph(it, given_outputs))
            open_parts = open_parts or _is_open_graph(it, given_outputs)
        held = []
    elif name == "Sequential":
        layers = arguments.get(0, "layers")
        if layers is None:
            sequence = ()
        else:
            known = attributes.known_elements(it, layers)
            sequence = tuple(known) if known is not None else None
            open_parts = open_parts or (known is None and layers.kind is not Kind.CONTAINER)
    for value in held:
        for leaf in it.leaves(value):
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
    value = it.fresh(Kind.LAYER, node, ref=made, label=symbol)
    it.layer_values[made.id] = value
    for part in parts:
        if made.id and part.ref is not None and getattr(part.ref, "escaped_at", None) is not None:
            it.escape(value)
    if name == "Sequential" and sequence and any(_is_input(each) for each in sequence):
        for each in sequence:
            if each.kind is Kind.INSTANCE:
                build(it, each, node)  # with an Input first, layers are built while the model is
    return value


def _is_input(value: Value) -> bool:
    if value.kind is Kind.SYMBOLIC:
        return True
    return value.kind is Kind.LAYER and value.ref.symbol.endswith("InputLayer")


def _layers_in_graph(it: Interpreter, outputs: Value) -> list[Value]:
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
        stack.extend(each.inputs)
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
        stack.extend(each.inputs)
    return bool(stack)


def symbolic_operation(it: Interpreter, arguments: tuple[Value, ...]) -> SymbolicCall:
    """How an operation on Keras tensors is remembered: without a layer, over its arguments."""
    return SymbolicCall(it.new_id(), None, arguments, ())


# -- calling -----------------------------------------------------------------------------------


def call_layer(it: Interpreter, layer: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library layer or model."""
    owner: Layer = layer.ref
    tensors = [*arguments.positional, *arguments.keywords.values()]
    if any(leaf.kind is Kind.SYMBOLIC for value in tensors for leaf in it.leaves(value)):
        ref = SymbolicCall(it.new_id(), layer, arguments.positional, tuple(arguments.keywords.items()))
        return it.operation(node, (*tensors, weights_of(it, layer, node)), label="call", kind=Kind.SYMBOLIC, ref=ref)
    if owner.open_parts:
        return it.opaque_call(node, (layer, *tensors), "a model with layers that cannot be seen")
    name = owner.symbol.rpartition(".")[2]
    if name == "Lambda" and owner.parts and owner.parts[0].kind is Kind.FUNCTION:
        return calls.call(it, owner.parts[0], calls.Arguments(arguments.positional), node)
    if (
        owner.sequence is not None
        and any(each.kind is Kind.INSTANCE for each in owner.sequence)
        and arguments.positional
    ):
        return _run_sequence(it, owner.sequence, arguments, node)
    if owner.outputs is not None and arguments.positional and _has_own_layers(owner):
        return _replay(it, owner, arguments, node)
    kept = [value for key, value in arguments.keywords.items() if key not in ("training", "mask")]
    inputs = (*arguments.positional, *kept, weights_of(it, layer, node))
    if owner.outputs is not None and owner.outputs.kind is Kind.CONTAINER:
        outputs = it.items(owner.outputs)
        made = [it.operation(node, inputs, label="call") for _ in outputs.elements]
        _connect_outputs(made, outputs.elements)
        return it.container(owner.outputs.ref.type, Items(tuple(made), outputs.keys, outputs.exact), node)
    return it.operation(node, inputs, label="call")


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


def _run_sequence(it: Interpreter, sequence: tuple[Value, ...], arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.positional[0]
    keywords = {key: each for key, each in arguments.keywords.items() if key == "training"}
    for layer in sequence:
        if _is_input(layer):
            continue
        accepts = keywords if layer.kind is Kind.LAYER else {}
        value = calls.call(it, layer, calls.Arguments((value,), accepts), node)
    return value


def _has_own_layers(owner: Layer) -> bool:
    return any(part.kind is Kind.INSTANCE for part in owner.parts)


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
            positional = tuple(run(each) for each in call.arguments)
            if call.callee is None:
                made = it.operation(node, positional, label=value.label)
            else:
                keywords = {key: run(each) for key, each in call.keywords}
                made = calls.call(it, call.callee, calls.Arguments(positional, keywords), node)
        elif value.kind is Kind.SYMBOLIC and value.inputs:
            made = it.operation(node, tuple(run(each) for each in value.inputs), label=value.label)
        given[value.serial] = made
        return made

    assert owner.outputs is not None
    return run(owner.outputs)


def call_instance(it: Interpreter, instance: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call an object of this file: `__call__`, or what Keras makes of `build` and `call`."""
    cls: Class = instance.ref.cls
    own = attributes.class_attribute(it, cls, "__call__")
    if own is not None and not (instance.ref.open_self and attributes._is_overridden(it, cls, "__call__")):
        return calls.call(it, attributes.bind(it, own, instance, node), arguments, node)
    if is_keras_family(cls):
        return call_keras_instance(it, instance, arguments, node)
    return it.opaque_call(node, (instance, *arguments.every()), f"`__call__` of `{cls.name}` cannot be seen")


def call_keras_instance(it: Interpreter, instance: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`layer(x)`: build once, then `call`."""
    owner: Instance = instance.ref
    patched = it.store.get((owner.id, "call"))
    if patched is not None:
        return calls.call(it, patched, arguments, node)
    run = attributes.class_attribute(it, owner.cls, "call")
    symbolic = any(leaf.kind is Kind.SYMBOLIC for value in arguments.every() for leaf in it.leaves(value))
    functional = it.store.get((owner.id, "<functional>"))
    if run is None and functional is not None and functional.kind is Kind.LAYER and not owner.open_self:
        return call_layer(it, functional, arguments, node)
    if run is None or (owner.open_self and attributes._is_overridden(it, owner.cls, "call")):
        if not is_model_family(owner.cls) and not owner.open_self and owner.cls.families and not owner.cls.open_base:
            tensors = (*arguments.positional, variable_set(it, instance, "weights", node))
            return it.operation(node, tensors, label="call", kind=Kind.SYMBOLIC if symbolic else Kind.TENSOR)
        return it.opaque_call(node, (instance, *arguments.every()), f"`call` of `{owner.cls.name}` cannot be seen")
    build(it, instance, node)
    keywords = dict(arguments.keywords)
    if isinstance(run.ref, Function):
        spec = run.ref.node.args
        accepted = {each.arg for each in (*spec.args, *spec.kwonlyargs)}
        if spec.kwarg is None:
            keywords = {key: value for key, value in keywords.items() if key in accepted}
    if symbolic:
        value = it.operation(
            node, (*arguments.positional, variable_set(it, instance, "weights", node)), label="call", kind=Kind.SYMBOLIC,
            ref=SymbolicCall(it.new_id(), instance, arguments.positional, tuple(keywords.items())),
        )  # fmt: skip
        run_result = calls.call(
            it, attributes.bind(it, run, instance, node), calls.Arguments(arguments.positional, keywords), node
        )
        if run_result.kind is Kind.CONTAINER:
            return it.container(run_result.ref.type, _like(it, run_result, value), node)
        return value
    made = calls.Arguments(arguments.positional, keywords, arguments.more, arguments.more_keywords)
    return calls.call(it, attributes.bind(it, run, instance, node), made, node)


def _like(it: Interpreter, shape: Value, value: Value) -> Items:
    items = it.items(shape)
    elements = tuple(
        it.operation(value.node, (value,), label="[]", kind=Kind.SYMBOLIC, ref=symbolic_operation(it, (value,)))
        for _ in items.elements
    )
    return Items(elements, items.keys, items.exact)


def build(it: Interpreter, instance: Value, node: ast.AST) -> None:
    """Run `build` the first time that Keras would."""
    owner: Instance = instance.ref
    key = (owner.id, "<built>")
    if it.store.get(key) is not None:
        return
    it.store.set(key, it.fresh(Kind.LITERAL, node, ref=True))
    own = attributes.class_attribute(it, owner.cls, "build")
    if own is not None:
        calls.call(it, attributes.bind(it, own, instance, node), calls.Arguments((it.plain(node),)), node)


# -- attributes --------------------------------------------------------------------------------


def layer_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute of a library layer or model."""
    owner: Layer = base.ref
    if name in attributes.VARIABLE_SETS:
        return variable_set(it, base, name, node)
    own = it.store.get((owner.id, name))
    if own is not None and name != "trainable":
        return own
    if name in LAYER_VARIABLES:
        return layer_variable(it, owner, name, node)
    if name == "losses":
        return losses_of(it, base, node)
    if name in ("input", "output", "inputs", "outputs"):
        return _symbolic_end(it, base, name, node)
    if name == "layers":
        if owner.sequence is not None:
            return it.list_of([each for each in owner.sequence if not _is_input(each)], node)
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
    return attributes.method_of(it, base, name, node)


def losses_of(it: Interpreter, base: Value, node: ast.AST) -> Value:
    """`model.losses`: what `add_loss` was given, and perhaps regularisation of any weight."""
    found: list[Value] = []
    for member in sorted(members(it, base)[0]):
        kept = it.store.get((member, "<losses>"))
        if kept is not None and kept.kind is Kind.CONTAINER:
            found.extend(it.items(kept).elements)
    weights = it.operation(node, (variable_set(it, base, "weights", node),), label="losses")
    return it.list_of([*found[:16], it.join([weights, it.fresh(Kind.TENSOR, node)])], node, exact=False)


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


def part_of(it: Interpreter, base: Value, node: ast.AST) -> Value:
    """A layer read out of a model by name or place."""
    owner: Layer = base.ref
    made = Layer(it.new_id(), "keras.layers.Layer", (), False, part_of=owner)
    return it.fresh(Kind.LAYER, node, ref=made)


def layer_variable(it: Interpreter, owner: HeapObject, name: str, node: ast.AST) -> Value:
    """`layer.kernel` and the like: the same variable each time."""
    key = (owner.id, name)
    found = it.member_values.get(key)
    if found is None:
        made = Variable(it.new_id(), name, True, name not in _NOT_TRAINABLE, node, owner=owner)
        found = it.fresh(Kind.VARIABLE, node, ref=made)
        it.member_values[key] = found
    return found


def inherited_attribute(it: Interpreter, base: Value, name: str, node: ast.AST) -> Value:
    """An attribute that an object of this file inherits from Keras or tf.Module."""
    if name in attributes.VARIABLE_SETS:
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
        return attributes.method_of(it, base, name, node)
    if name in ("_losses", "_metrics", "loss", "input", "output", "inputs", "outputs", "layers"):
        return attributes._open_part(it, base, name, node)
    return attributes._open_part(it, base, name, node)


#: Methods of Keras layers and models that are modelled (the rest is opaque).
KERAS_METHODS = frozenset(
    {"add_weight", "add_variable", "add_loss", "add_metric", "build", "compile", "fit", "evaluate", "predict", "summary",
     "compute_loss", "compiled_loss", "compute_metrics", "compiled_metrics", "save", "save_weights", "load_weights",
     "get_weights", "set_weights", "train_on_batch", "test_on_batch", "predict_on_batch", "count_params", "get_config",
     "get_layer", "call", "__call__", "_set_inputs", "reset_metrics", "reset_states", "with_name_scope", "quantize",
     "train_step", "test_step", "make_train_function", "to_json", "compute_output_shape", "build_from_config", "stateless_call"}
)  # fmt: skip


def inherited_init(it: Interpreter, value: Value, arguments: Arguments) -> None:
    """`keras.Model.__init__` of a class of this file that has none of its own."""
    outputs = arguments.get(1, "outputs")
    if outputs is not None:
        functional = make_layer(it, "keras.models.Model", arguments, value.node or ast.Pass())
        it.store.set((value.ref.id, "<functional>"), functional)
        for number, each in enumerate(_layers_in_graph(it, outputs)):
            it.write_cell(value.ref, f"<layer {number}>", each)


# -- methods -----------------------------------------------------------------------------------


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
            _compile(it, receiver, arguments)
            return it.plain(node)
        case "fit" | "train_on_batch" | "fit_generator":
            fit(it, receiver, arguments, node)
            return it.plain(node)
        case "predict" | "predict_on_batch" | "get_weights" | "evaluate" | "test_on_batch":
            cut = ((variable_set(it, receiver, "weights", node), Cause.LEFT_TENSORFLOW),)
            return it.operation(node, (), label=name, kind=Kind.PLAIN, dead=cut)
        case "build":
            if receiver.kind is Kind.INSTANCE:
                build(it, receiver, node)
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
            return it.join([plain, it.operation(node, (*given, weights), label=name)])
        case "get_layer":
            return part_of(it, receiver, node) if receiver.kind is Kind.LAYER else it.part(receiver, node)
        case "add" if receiver.kind is Kind.LAYER:
            _add_layer(it, receiver, arguments)
            return it.plain(node)
        case "pop" if receiver.kind is Kind.LAYER:
            receiver.ref.sequence = None
            return it.plain(node)
        case "train_step" | "test_step" | "make_train_function":
            return it.plain(node)
    return it.plain(node)


def _add_layer(it: Interpreter, receiver: Value, arguments: Arguments) -> None:
    owner: Layer = receiver.ref
    for value in arguments.every():
        if it.loop_depth:
            owner.sequence = None  # which layers, in which order, is not known
        if value.kind in (Kind.LAYER, Kind.INSTANCE):
            owner.parts = (*owner.parts, value)
            if owner.sequence is not None:
                owner.sequence = (*owner.sequence, value)
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
    if isinstance(receiver.ref, HeapObject):
        it.write_cell(receiver.ref, f"<weight {made.id}>", value)
        if receiver.ref.escaped_at is not None:
            made.escaped_at = receiver.ref.escaped_at
    return value


def _compile(it: Interpreter, receiver: Value, arguments: Arguments) -> None:
    if not isinstance(receiver.ref, HeapObject):
        return
    optimizer = arguments.get(0, "optimizer")
    loss = arguments.get(1, "loss")
    if loss is not None:
        it.store.set((receiver.ref.id, "<loss>"), loss)
    if optimizer is not None and optimizer.kind is not Kind.LITERAL:
        it.store.set((receiver.ref.id, "<optimizer>"), optimizer)


def batch(it: Interpreter, name: str, node: ast.AST) -> Value:
    """A batch of a data set: unknown in structure, but no variable and on no tape."""
    value = it.parameter(name, node)
    value.how, value.label = How.OPAQUE_CALL, "call"
    return value


def fit(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> None:
    """`model.fit(...)`: the forward pass, the compiled loss and a gradient, twice as in two steps."""
    if receiver.kind is Kind.INSTANCE:
        own = attributes.class_attribute(it, receiver.ref.cls, "train_step")
        if own is not None:
            data = batch(it, "data", node)
            for _ in range(2):
                calls.call(it, attributes.bind(it, own, receiver, node), calls.Arguments((data,)), node)
            return
    loss = it.store.get((receiver.ref.id, "<loss>")) if isinstance(receiver.ref, HeapObject) else None
    for _ in range(2):
        tape = tapes.implicit_tape(it, node, f"the tape of `{calls.name_called(node)}`")
        target: Value | None = None

        def forward() -> None:
            nonlocal target
            x, y = it.fresh(Kind.TENSOR, node), it.fresh(Kind.TENSOR, node)
            predicted = calls.call(it, receiver, calls.Arguments((x,)), node)
            target = _compiled_loss(it, loss, y, predicted, node)

        tapes.run_under(it, [tape], forward, node, tape.name, sure=True)
        if target is not None:
            sources = variable_set(it, receiver, "trainable_variables", node)
            tapes.ask(it, "fit", [tape], target, sources, node, calls.Arguments(()))


def _compiled_loss(it: Interpreter, loss: Value | None, y: Value, predicted: Value, node: ast.AST) -> Value:
    if loss is None:
        return it.opaque_call(node, (predicted,), "the compiled loss is not known")
    if loss.kind is Kind.LITERAL:
        return it.operation(node, (predicted, y), label=f"loss {loss.ref}")
    if loss.kind is Kind.CONTAINER:
        targets = it.items(loss).elements
        values = [_compiled_loss(it, each, y, predicted, node) for each in targets if not is_literal(each, None)]
        return it.operation(node, values, label="sum")
    outputs = it.leaves(predicted)
    value = calls.call(it, loss, calls.Arguments((y, outputs[0] if len(outputs) == 1 else predicted)), node)
    return value
