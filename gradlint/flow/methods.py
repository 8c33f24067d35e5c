"""Methods of library objects: tensors, optimizers, datasets, metrics, losses ..."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.flow.applying import apply_gradients
from gradlint.flow.arguments import Arguments
from gradlint.flow.callbacks import run_with_args
from gradlint.flow.certainty import variable_behind
from gradlint.flow.compared import judge_loss, kind_of_loss
from gradlint.flow.constants import write_part, write_variable
from gradlint.flow.container_methods import container_method, variables_method
from gradlint.flow.dispatch import register
from gradlint.flow.indexed_slices import note_access
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.keras_methods import KERAS_METHODS, call_keras_method, inherited_call, inherited_init
from gradlint.flow.lifecycle import note_build
from gradlint.flow.masks import note_misfit, note_weights_masked
from gradlint.flow.members import is_keras_family
from gradlint.flow.objects import (
    BoundMethod,
    Function,
    LibraryMethod,
    LibraryObject,
    Partial,
    Super,
    Transformed,
    Variable,
)
from gradlint.flow.optimizers import unwrapped
from gradlint.flow.options import PARSER, call_parser
from gradlint.flow.python_calls import setattr_call
from gradlint.flow.scatters import note_assign, note_scatter
from gradlint.flow.sequences import element_of
from gradlint.flow.shapes import asked_shape
from gradlint.flow.singularities import matters
from gradlint.flow.slices import note_method
from gradlint.flow.tape_methods import call_tape_method
from gradlint.flow.tensor_calls import TO_NUMBERS, cast_call, device_context, plain_call, plain_method
from gradlint.flow.training import run_minimize
from gradlint.flow.values import Kind, Value, walk_since
from gradlint.knowledge.variable_methods import ASSIGNING, SCATTERING
from gradlint.verdicts import Cause


def call_library_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call `receiver.name(...)` where the receiver's class is a library's."""
    match receiver.kind:
        case Kind.TAPE:
            return call_tape_method(it, receiver, name, arguments, node)
        case Kind.TENSOR | Kind.VARIABLE | Kind.SYMBOLIC:
            return _tensor_method(it, receiver, name, arguments, node)
        case Kind.CONTAINER:
            return container_method(it, receiver, name, arguments, node)
        case Kind.VARIABLES:
            return variables_method(it, receiver, name, arguments, node)
        case Kind.LAYER | Kind.INSTANCE:
            return call_keras_method(it, receiver, name, arguments, node)
        case Kind.LIBRARY:
            return _object_method(it, receiver, name, arguments, node)
        case Kind.FUNCTION:
            return _function_method(it, receiver, name, arguments, node)
        case Kind.LITERAL | Kind.PLAIN:
            return plain_method(it, receiver, name, arguments, node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` cannot be seen", getter=True)


def _tensor_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in (*TO_NUMBERS, "eval", "__array__"):
        if receiver.of is not None and note_access(it, receiver, node, "AttributeError"):
            it.alive = False  # it raises
        return plain_call(it, f".{name}", (receiver,), node)
    if name in ASSIGNING or name in SCATTERING:
        return _assigned(it, receiver, name, arguments, node)
    if name in ("get_shape", "set_shape", "consumers", "eval", "is_initialized"):
        return it.plain(node)
    if name == "astype":
        return cast_call(it, Arguments((receiver, *arguments.positional)), node)
    return it.operation(node, (receiver, *arguments.positional), label=name)


def _assigned(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`variable.assign(...)`, `variable.scatter_nd_sub(...)` and their likes; also on what has no such method."""
    if note_method(it, receiver, name, node):
        it.alive = False  # it raises
        return it.plain(node)
    variable = receiver if receiver.kind is Kind.VARIABLE else variable_behind(receiver)
    if variable is None:
        return it.plain(node)
    if isinstance(variable.ref, Variable):
        it.assigned.setdefault(variable.ref.id, set()).add(name)
    if name in SCATTERING:
        note_scatter(it, variable, name, arguments, node)
        if len(arguments.positional) > 1:
            write_part(it, variable, arguments.positional[1])
    else:
        note_assign(it, variable, name, arguments, node)
        if arguments.positional:
            note_weights_masked(it, variable, name, arguments.positional[0])
            note_misfit(it, variable, arguments.positional[0])
    if name == "assign" and variable is receiver and arguments.positional:
        write_variable(it, variable, arguments.positional[0])
    elif name == "assign" and arguments.positional:
        write_part(it, variable, arguments.positional[0])
    it.write_state(variable, arguments.every(), node)
    return receiver


def _object_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    owner: LibraryObject = receiver.ref
    symbol = owner.symbol
    if symbol == PARSER:
        return call_parser(it, receiver, name, arguments, node)
    if symbol.startswith("tf.data."):
        if any(value.kind is Kind.FUNCTION for value in arguments.every()):
            return _mapped_dataset(it, receiver, name, arguments, node)
        if name in ("as_numpy_iterator", "cardinality", "element_spec"):
            return it.plain(node)
        if name in ("get_next", "get_single_element"):
            return element_of(it, receiver, node)
        if name == "batch" and owner.keyword("<slices>") is not None and owner.keyword("<batch>") is None:
            size = arguments.get(0, "batch_size") or it.plain(node)
            batched = LibraryObject(it.new_id(), symbol, owner.arguments, (*owner.keywords, ("<batch>", size)))
            return it.fresh(Kind.LIBRARY, node, ref=batched)
        if name in ("batch", "unbatch", "padded_batch", "window", "enumerate", "zip"):
            loose = LibraryObject(it.new_id(), symbol, owner.arguments)
            return it.fresh(Kind.LIBRARY, node, ref=loose)  # its elements have another structure
        return receiver
    if symbol == "tf.TensorArray":
        return _tensor_array_method(it, receiver, name, arguments, node)
    if symbol.startswith("tf.lookup.") or symbol.startswith("tf.queue."):
        return _table_method(it, owner, name, arguments, node)
    if name in ("run", "experimental_run_v2") and arguments.positional:
        return run_with_args(it, arguments.positional[0], arguments, node)
    if name == "minimize":
        return run_minimize(it, receiver, arguments, node)
    if name in ("merge_call", "call_for_each_replica") and arguments.positional:
        return run_with_args(it, arguments.positional[0], arguments, node)
    if symbol.startswith("tf.distribute.") or name in ("reduce", "all_reduce", "experimental_local_results"):
        if name == "scope":
            return device_context(it, arguments, node)
        if name.endswith("dataset") or "dataset" in name:
            return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.data.Dataset"))
        return it.operation(node, arguments.every(), label=name)
    if symbol.startswith("keras.optimizers") or "optimizer" in symbol.lower():
        if name in ("apply_gradients", "apply"):
            return apply_gradients(it, receiver, name, arguments, node)
        if name == "build":
            note_build(it, receiver)
        if name == "exclude_from_weight_decay":
            it.store.set((unwrapped(receiver).ref.id, "<excluded>"), it.plain(node))
        if name in ("get_scaled_loss", "scale_loss"):
            return it.operation(node, arguments.positional, label=name)
        if name in ("get_unscaled_gradients", "get_gradients", "_compute_gradients"):
            return arguments.positional[0] if arguments.positional else it.plain(node)
        return it.plain(node)
    if symbol.startswith("keras.metrics"):
        key = (owner.id, "<state>")
        state = it.store.get(key)
        if name == "result":
            return it.operation(node, (), label=symbol, dead=((state, Cause.STATE),) if state is not None else ())
        if name == "update_state":
            seen = it.operation(node, arguments.every(), label="update_state")
            it.store.set(key, seen if state is None else it.join([state, seen]))
        return it.plain(node)
    if symbol.startswith("keras.losses") and name in ("call", "__call__"):
        return it.operation(node, arguments.every(), label=symbol)
    if symbol == "types.SimpleNamespace":
        return it.part(receiver, node)
    if symbol == "contextmanager":
        return it.plain(node)
    if symbol in ("tf.random.Generator",) or "Generator" in symbol:
        drawn = it.operation(node, arguments.every(), label=name)
        drawn.shape = asked_shape(it, arguments.get(0, "shape"))
        return drawn
    if symbol.startswith(
        (
            "tf.train",
            "tf.summary",
            "tf.io",
            "tf.config",
            "keras.callbacks",
            "tf.saved_model",
            "tf.profiler",
            "keras.utils",
            "keras.preprocessing",
            "keras.datasets",
        )
    ):
        return it.plain(node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` of `{symbol}` is not modelled", getter=True)


def _mapped_dataset(it: Interpreter, dataset: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`map`, `filter`, `reduce` ...: the function runs in a graph of its own, of which only numbers come out."""
    function = next(value for value in arguments.every() if value.kind is Kind.FUNCTION)
    element = element_of(it, dataset, node)
    given = (arguments.positional[0], element) if name == "reduce" and len(arguments.positional) == 2 else (element,)
    start = it.tick()
    it.doubt += 1
    returned = it.call(function, Arguments((), {}, it.list_of(given, node, exact=False)), node)
    it.doubt -= 1
    held = _made_before(it.leaves(returned), start)
    if name == "reduce":
        return it.operation(node, (), label="reduce", dead=tuple((value, Cause.STATE) for value in held))
    for value in arguments.every():
        it.escape(value)
    made = LibraryObject(it.new_id(), "tf.data.Dataset", (*dataset.ref.arguments, *held))
    return it.fresh(Kind.LIBRARY, node, ref=made)


def _made_before(values: Iterable[Value], start: int) -> tuple[Value, ...]:
    """The tensors and variables from outside that these values were computed from."""
    kinds = (Kind.TENSOR, Kind.VARIABLE, Kind.VARIABLES)
    return tuple(each for each in walk_since(values, start) if each.serial < start and each.kind in kinds)


def _tensor_array_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    owner: LibraryObject = receiver.ref
    if name in ("write", "scatter", "unstack", "split") and arguments.positional:
        written = arguments.positional[-1] if name in ("write", "scatter") else arguments.positional[0]
        made = LibraryObject(it.new_id(), "tf.TensorArray", (*owner.arguments[-8:], written))
        if it.frame.graph:
            cut = tuple((leaf, Cause.STATE) for leaf in it.leaves(written))
            dropped = it.operation(node, (), label="TensorArray.write", dead=cut)
            it.written_state.setdefault(owner.id, []).append(dropped)
        else:
            owner.arguments = made.arguments  # outside graph code the very array is written (fixtures/correct)
        return it.fresh(Kind.LIBRARY, node, ref=made)
    if name in ("stack", "concat", "read", "gather"):
        # What was written into this very array in graph code is lost: only the array that `write` returned has it.
        lost = tuple((each, Cause.STATE) for each in it.written_state.get(owner.id, ()))
        return it.operation(node, owner.arguments, label=f"TensorArray.{name}", dead=lost)
    return it.plain(node)


def _table_method(it: Interpreter, owner: LibraryObject, name: str, arguments: Arguments, node: ast.AST) -> Value:
    key = (owner.id, "<state>")
    state = it.store.get(key)
    if name in ("insert", "enqueue", "enqueue_many", "insert_or_assign"):
        stored = it.operation(node, arguments.every(), label=name)
        it.store.set(key, stored if state is None else it.join([state, stored]))
        return it.plain(node)
    return it.operation(node, (), label=name, dead=((state, Cause.STATE),) if state is not None else ())


def _function_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    target = receiver.ref
    if isinstance(target, Transformed) and target.transformer == "singledispatch" and name == "register":
        first = arguments.positional[0] if arguments.positional else None
        if len(arguments.positional) == 2:
            return register(it, target, first, arguments.positional[1], node)
        if first is not None and isinstance(first.ref, Function):
            return register(it, target, None, first, node)
        method = it.fresh(Kind.METHOD, node, ref=LibraryMethod(it.new_id(), receiver, name))
        return it.fresh(Kind.FUNCTION, node, ref=Partial(it.new_id(), method, arguments.positional, ()))
    if isinstance(target, Super):
        inner = target.receiver
        if name == "__init__":
            for value in arguments.every():
                if value.kind is Kind.UNKNOWN:
                    it.escape(inner)
                    break
            if inner.kind is Kind.INSTANCE:
                inherited_init(it, inner, arguments)
            return it.plain(node)
        if inner.kind is Kind.INSTANCE and is_keras_family(inner.ref.cls) and name in KERAS_METHODS:
            if name in ("build", "train_step", "test_step"):
                return it.plain(node)
            if name in ("call", "__call__"):
                return inherited_call(it, inner, arguments, node)
            return call_keras_method(it, inner, name, arguments, node)
        if name in ("__setattr__",) and len(arguments.positional) == 2 and inner.kind is Kind.INSTANCE:
            return setattr_call(it, Arguments((inner, *arguments.positional)), node)
        return it.opaque_call(node, (inner, *arguments.every()), f"`super().{name}` cannot be seen", getter=True)
    if name in ("get_concrete_function", "python_function"):
        return receiver
    if isinstance(target, Function | BoundMethod | Partial | Transformed) and name == "__call__":
        return it.call(receiver, arguments, node)
    return it.opaque_call(node, (receiver, *arguments.every()), f"`{name}` of a function", getter=True)


def call_object(it: Interpreter, receiver: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library object: a loss, metric, initializer, regularizer."""
    symbol = receiver.ref.symbol
    if symbol.startswith("keras.metrics"):
        cut = tuple((value, Cause.STATE) for value in arguments.every())
        return it.operation(node, (), label=symbol, dead=cut)
    if symbol.startswith(("keras.initializers", "tf.initializers", "tf.random")):
        return it.fresh(Kind.TENSOR, node)
    if symbol.startswith(("keras.losses", "keras.regularizers", "keras.constraints", "keras.activations", "tf.losses")):
        made = it.operation(node, arguments.every(), label=symbol)
        made.callee, made.given = receiver, arguments
        kind = kind_of_loss(it, receiver)
        target, predicted = arguments.get(0, "y_true"), arguments.get(1, "y_pred")
        if kind is not None and target is not None and predicted is not None and (matters(it, made) or it.frame.graph):
            judge_loss(it, kind, target, predicted, node)
        return made
    if "optimizers.schedules" in symbol:
        return it.operation(node, arguments.every(), label=symbol)
    return it.opaque_call(node, (receiver, *arguments.every()), f"a call of `{symbol}` is not modelled", getter=True)
