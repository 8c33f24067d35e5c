"""Library symbols: the table from canonical name to model, and the defaults for what is not in it."""

from __future__ import annotations

import ast
from dataclasses import replace

from gradlint.flow.arguments import Arguments, Handler
from gradlint.flow.callbacks import (
    cond_call,
    flatten_structure,
    map_call,
    map_structure,
    numpy_function,
    py_function,
    scan_call,
    switch_call,
    while_loop,
)
from gradlint.flow.constants import describe
from gradlint.flow.eager_functions import functions_run_eagerly, run_functions_eagerly
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.judging import judge_operation
from gradlint.flow.layers import make_layer
from gradlint.flow.lifecycle import note_constructor
from gradlint.flow.members import is_layer_symbol
from gradlint.flow.modules import import_by_name
from gradlint.flow.objects import (
    Function,
    Items,
    LibraryObject,
)
from gradlint.flow.optimizers import is_optimizer_symbol, optimizer_by_name
from gradlint.flow.options import define_flag, defines_flag, kept_arguments, parser, run_by_signature, run_main
from gradlint.flow.precision import note_policy
from gradlint.flow.python_calls import (
    absolute,
    as_lazy,
    chain_call,
    chain_from_iterable,
    choice_call,
    enumerate_call,
    filter_call,
    from_keys,
    getattr_call,
    length_call,
    make_dict,
    map_builtin,
    method_type,
    minmax,
    named_tuple,
    namespace,
    next_call,
    no_effect,
    nullcontext,
    partial_call,
    range_call,
    reduce_call,
    reflect,
    reversed_call,
    same_value,
    second_value,
    setattr_call,
    shuffle,
    sorted_call,
    sum_call,
    super_call,
    to_list,
    zip_call,
)
from gradlint.flow.scatters import note_functional
from gradlint.flow.sequences import element_of
from gradlint.flow.tapes import make_tape
from gradlint.flow.tensor_calls import (
    CALLABLE,
    add_n,
    apply_effect,
    as_tensor,
    cast_call,
    clip_by_global_norm,
    clone_call,
    constant_call,
    device_context,
    input_call,
    leave_tensorflow,
    load_model,
    loss_by_name,
    may_hold,
    number_call,
    plain_call,
    resize_call,
    split_call,
    tf_gradients,
    top_k,
    unstack,
    variable_call,
)
from gradlint.flow.transformed import caching_decorator, function_wrapper, identity_decorator, transformer
from gradlint.flow.type_tests import is_nested, is_tensor, isinstance_call, test_of
from gradlint.flow.values import How, Kind, Value, is_literal
from gradlint.knowledge.effects import effect_of
from gradlint.knowledge.symbols import KNOWN_ROOTS, NUMBER_ROOTS, PLAIN_ROOTS
from gradlint.ops import table as ops
from gradlint.ops.lookup import op_of, operands_of
from gradlint.ops.op import Op, Role

#: Namespaces whose functions make objects or have effects, and touch no gradient.
_OBJECT_SPACES = (
    "tf.train.", "tf.summary.", "tf.io.", "tf.config.", "tf.distribute.", "tf.lookup.", "tf.queue.", "tf.data.",
    "tf.compat.", "tf.saved_model.", "tf.profiler.", "tf.test.", "tf.errors.", "tf.dtypes.", "tf.types.", "tf.version.",
    "tf.sysconfig.", "tf.tpu.", "tf.autograph.", "tf.estimator.", "tf.feature_column.", "tf.app.", "tf.flags.",
    "tf.logging.", "tf.gfile.", "keras.utils.", "keras.callbacks.", "keras.datasets.", "keras.preprocessing.",
    "keras.mixed_precision.", "keras.config.", "keras.saving.", "keras.optimizers.", "keras.initializers.",
    "keras.regularizers.", "keras.constraints.", "keras.dtype_policies.", "keras.tree.", "keras.distribution.",
)  # fmt: skip


def call_symbol(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a library symbol."""
    if arguments.keywords:
        arguments = _with_operands_in_place(symbol, arguments)
    handler = _model_of(symbol)
    if handler is not None:
        found = handler(it, arguments, node)
        if found.node is node and found.kind in (Kind.TENSOR, Kind.SYMBOLIC):
            found.given = arguments
            if found.how is not How.JOIN:
                describe(it, symbol, arguments, found)
        return found
    if defines_flag(symbol):
        return define_flag(it, arguments, node)
    root = symbol.split(".", maxsplit=1)[0]
    if root == "builtins":
        if symbol.rpartition(".")[2] in _HANDS_ON and any(map(may_hold, arguments.every())):
            return it.opaque_call(node, arguments.every(), f"`{symbol}` hands on what it is given", getter=True)
        return plain_call(it, symbol, arguments.every(), node)
    if symbol == "tf.data.experimental.get_single_element" and arguments.positional:
        return element_of(it, arguments.positional[0], node)
    if symbol.startswith("tf.data."):
        return _dataset(it, symbol, arguments, node)
    if is_layer_symbol(symbol):
        return make_layer(it, symbol, arguments, node)
    if effect_of(symbol) is not None:
        return _operation(it, symbol, arguments, node)
    if root in NUMBER_ROOTS:
        if any(named_object(value) for value in arguments.every()):
            return it.opaque_call(node, arguments.every(), "an array of objects", getter=True)
        made = plain_call(it, symbol, arguments.every(), node)
        made.given = arguments
        describe(it, symbol, arguments, made)
        return made
    if root in PLAIN_ROOTS:
        if any(map(may_hold, arguments.every())):
            return it.opaque_call(node, arguments.every(), f"`{symbol}` hands on what it is given", getter=True)
        return it.plain(node)
    name = symbol.rpartition(".")[2]
    if name.endswith("policy"):
        note_policy(it, symbol, arguments)
    if root in ("tf", "keras") and (name[:1].isupper() or symbol.startswith(_OBJECT_SPACES)):
        return _library_object(it, symbol, arguments, node)
    if root in KNOWN_ROOTS and not any(value.kind in CALLABLE for value in arguments.every()):
        held = [value for value in arguments.every() if value.kind not in (Kind.LITERAL, Kind.PLAIN)]
        if not held:
            return it.plain(node)
    return it.opaque_call(node, arguments.every(), f"`{symbol}` cannot be seen", getter=True)


def _dataset(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    for argument in arguments.every():
        it.escape(argument)
    made_of = tuple(leaf for argument in arguments.every() for leaf in it.leaves(argument))
    sliced = arguments.get(0, "tensors") if symbol.endswith(".from_tensor_slices") else None
    kept = (("<slices>", sliced),) if sliced is not None else ()
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.data.Dataset", made_of, kept))


def _operation(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """A function over tensors."""
    made = apply_effect(it, symbol, arguments, node)
    describe(it, symbol, arguments, made)
    judge_operation(it, arguments, made, node)
    if op_of(symbol) is ops.GATHER and not _is_plain_lookup(arguments):
        it.dense_lookups.add(made.serial)
    if made.op.role is Role.SCATTER and made.op.keeps_shape:
        note_functional(it, symbol, arguments, node)
    return made


def _library_object(it: Interpreter, symbol: str, arguments: Arguments, node: ast.AST) -> Value:
    """An optimizer, a metric, a checkpoint ..."""
    owner = LibraryObject(it.new_id(), symbol, arguments.positional, tuple(arguments.keywords.items()))
    if symbol.startswith("tf.train.Checkpoint"):
        for key, value in arguments.keywords.items():
            it.write_cell(owner, key, value)  # checkpoint.model is the very object
    made = it.fresh(Kind.LIBRARY, node, ref=owner, label=symbol)
    if is_optimizer_symbol(symbol):
        note_constructor(it, made, node)
    elif symbol.endswith("LambdaCallback"):
        it.callback_functions.update(each.ref.node for each in arguments.every() if isinstance(each.ref, Function))
    return made


def _with_operands_in_place(symbol: str, arguments: Arguments) -> Arguments:
    """The operands by place, also where they are given by name."""
    op = op_of(symbol)
    missing = op.operands - len(arguments.positional)
    if missing <= 0 or arguments.more is not None:
        return arguments
    operands = operands_of(op, symbol, arguments.positional, arguments.keywords)
    taken = {id(each) for each in operands}
    left = {name: each for name, each in arguments.keywords.items() if id(each) not in taken}
    if not operands or len(left) + missing != len(arguments.keywords):
        return arguments
    return replace(arguments, positional=operands, keywords=left)


def _model_of(symbol: str) -> Handler | None:
    """The model of its own that a symbol has."""
    if symbol in SYMBOLS or not symbol.startswith(("tf.", "keras.")):
        return SYMBOLS.get(symbol)
    return _OPERATIONS.get(op_of(symbol))


def _is_plain_lookup(arguments: Arguments) -> bool:
    """Whether `tf.gather` picks rows of the first axis."""
    given = [arguments.get(3, "axis"), arguments.get(4, "batch_dims")]
    return all(each is None or is_literal(each, 0) for each in given)


#: Built-in functions through which objects pass.
_HANDS_ON = frozenset({"__import__", "object", "memoryview", "breakpoint", "type", "slice"})


def _items_given(it: Interpreter, arguments: Arguments) -> Items:
    """What a container is made of, in no order."""
    given = arguments.get(0, "iterable")
    elements = it.items(given).elements if given is not None and given.kind is Kind.CONTAINER else ()
    return Items(elements, None, exact=False)


def named_object(value: Value) -> bool:
    """Whether this names the type of any object: `dtype=object`."""
    return value.kind is Kind.SYMBOL and value.ref == "builtins.object"


def activation_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`keras.activations.get(...)`: of a name the function, of None the identity, of a function itself."""
    given = arguments.get(0, "identifier")
    if given is not None and given.kind is Kind.LITERAL and (given.ref is None or isinstance(given.ref, str)):
        return it.fresh(Kind.SYMBOL, node, ref=f"keras.activations.{given.ref or 'linear'}")
    if given is not None and given.kind in (Kind.FUNCTION, Kind.SYMBOL):
        return given
    return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "keras.activations.Activation"))


def optimizer_call(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`keras.optimizers.get(...)`: of a name, or of what already is an optimizer."""
    given = arguments.get(0, "identifier")
    symbol = optimizer_by_name(it, given)
    if not symbol and given is not None and given.kind is Kind.LIBRARY:
        return given
    owner = LibraryObject(it.new_id(), symbol or "keras.optimizer")
    return it.fresh(Kind.LIBRARY, node, ref=owner)


def indexed_slices(it: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.IndexedSlices(values, indices)`."""
    made = it.operation(node, arguments.every(), label="tf.IndexedSlices")
    made.operands = tuple(arguments.every())
    return made


#: Operations of TensorFlow and Keras that have a model of their own.
_OPERATIONS: dict[Op, Handler] = {
    ops.CONVERT: as_tensor, ops.ADD_N: add_n, ops.CAST: cast_call, ops.CONSTANT: constant_call, ops.TOP_K: top_k,
    ops.CLIP_BY_GLOBAL_NORM: clip_by_global_norm, ops.SPLIT: split_call, ops.UNSTACK: unstack,
}  # fmt: skip
SYMBOLS: dict[str, Handler] = {
    "tf.GradientTape": lambda it, arguments, node: make_tape(it, "tf.GradientTape", arguments, node),
    "tf.autodiff.ForwardAccumulator": lambda it, arguments, node: make_tape(
        it, "tf.autodiff.ForwardAccumulator", arguments, node
    ),
    "tf.Variable": variable_call(keras=False),
    "tf.get_variable": variable_call(keras=False),
    "keras.Variable": variable_call(keras=True),
    "keras.backend.variable": variable_call(keras=False, floats=True),
    "keras.backend.Variable": variable_call(keras=True),
    "tf.function": function_wrapper,
    "tf.custom_gradient": transformer("tf.custom_gradient"),
    "tf.recompute_grad": transformer("tf.recompute_grad"),
    "tf.grad_pass_through": transformer("tf.grad_pass_through"),
    "tf.cond": cond_call,
    "tf.case": switch_call,
    "tf.switch_case": switch_call,
    "tf.while_loop": while_loop,
    "keras.ops.cond": cond_call,
    "keras.ops.while_loop": while_loop,
    "tf.map_fn": map_call("tf.map_fn"),
    "tf.vectorized_map": map_call("tf.vectorized_map"),
    "keras.ops.map": map_call("keras.ops.map"),
    "keras.ops.vectorized_map": map_call("keras.ops.vectorized_map"),
    "tf.scan": scan_call("tf.scan"),
    "tf.foldl": scan_call("tf.foldl"),
    "tf.foldr": scan_call("tf.foldr"),
    "tf.py_function": py_function,
    "tf.py_func": numpy_function,
    "tf.numpy_function": numpy_function,
    "tf.nest.map_structure": map_structure,
    "tf.nest.flatten": flatten_structure,
    "tf.nest.pack_sequence_as": lambda it, arguments, node: (
        arguments.positional[-1] if arguments.positional else it.plain(node)
    ),
    "tf.gradients": tf_gradients,
    "keras.backend.gradients": tf_gradients,
    "tf.image.resize": resize_call,
    "tf.meshgrid": unstack,
    "tf.ragged.map_flat_values": lambda it, arguments, node: it.operation(
        node, arguments.positional[1:], label="tf.ragged.map_flat_values"
    ),
    "tf.device": device_context,
    "tf.name_scope": device_context,
    "keras.name_scope": device_context,
    "tf.init_scope": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.init_scope")
    ),
    "tf.variable_scope": device_context,
    "tf.control_dependencies": device_context,
    "tf.config.run_functions_eagerly": run_functions_eagerly,
    "tf.config.experimental_run_functions_eagerly": run_functions_eagerly,
    "tf.config.functions_run_eagerly": functions_run_eagerly,
    "tf.config.experimental_functions_run_eagerly": functions_run_eagerly,
    "tf.print": no_effect,
    "tf.summary.scalar": no_effect,
    "keras.backend.int_shape": lambda it, arguments, node: it.plain(node),
    "keras.backend.floatx": lambda it, arguments, node: it.plain(node),
    "keras.backend.epsilon": lambda it, arguments, node: it.plain(node),
    "keras.ops.convert_to_numpy": leave_tensorflow("keras.ops.convert_to_numpy"),
    "keras.backend.get_value": leave_tensorflow("keras.backend.get_value"),
    "keras.backend.eval": leave_tensorflow("keras.backend.eval"),
    "keras.Input": input_call,
    "keras.models.clone_model": clone_call,
    "keras.models.load_model": load_model,
    "tf.saved_model.load": lambda it, arguments, node: it.unknown(node, "a loaded model", ()),
    "keras.losses.get": loss_by_name,
    "keras.optimizers.get": optimizer_call,
    "keras.metrics.get": loss_by_name,
    "keras.activations.get": activation_call,
    **dict.fromkeys(
        [
            "tf.random.Generator.from_seed",
            "tf.random.Generator.from_non_deterministic_state",
            "tf.random.get_global_generator",
        ],
        lambda it, arguments, node: it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.random.Generator")),
    ),
    "tf.distribute.get_replica_context": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.distribute.ReplicaContext")
    ),
    "tf.distribute.get_strategy": lambda it, arguments, node: it.fresh(
        Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tf.distribute.Strategy")
    ),
    "keras.saving.register_keras_serializable": identity_decorator,
    "keras.utils.register_keras_serializable": identity_decorator,
    "importlib.import_module": import_by_name,
    "functools.partial": partial_call,
    "functools.wraps": identity_decorator,
    "functools.lru_cache": caching_decorator,
    "functools.cache": caching_decorator,
    "functools.reduce": reduce_call,
    "copy.copy": same_value,
    "copy.deepcopy": clone_call,
    "tqdm.tqdm": same_value,
    "tqdm.trange": no_effect,
    "tqdm.auto.tqdm": same_value,
    "tqdm.notebook.tqdm": same_value,
    "itertools.chain": as_lazy(chain_call),
    "contextlib.nullcontext": nullcontext,
    "contextlib.suppress": device_context,
    "types.SimpleNamespace": namespace,
    "builtins.list": to_list("list"),
    "builtins.tuple": to_list("tuple"),
    "builtins.set": to_list("set"),
    "builtins.sorted": sorted_call,
    "builtins.locals": reflect,
    "builtins.globals": reflect,
    "builtins.vars": reflect,
    "builtins.eval": reflect,
    "builtins.exec": reflect,
    "random.choice": choice_call,
    "random.sample": sorted_call,
    "random.choices": sorted_call,
    "random.shuffle": shuffle,
    "np.random.choice": choice_call,
    "np.random.shuffle": shuffle,
    "types.MethodType": method_type,
    "collections.namedtuple": named_tuple,
    "itertools.chain.from_iterable": as_lazy(chain_from_iterable),
    "keras.tree.flatten": flatten_structure,
    "keras.tree.map_structure": map_structure,
    "dataclasses.fields": reflect,
    "dataclasses.asdict": reflect,
    "dataclasses.astuple": reflect,
    "dataclasses.replace": reflect,
    "builtins.iter": same_value,
    "builtins.dict": make_dict,
    "builtins.dict.fromkeys": from_keys,
    "collections.OrderedDict": make_dict,
    "collections.defaultdict": lambda it, arguments, node: it.container("dict", Items((), None, exact=False), node),
    "collections.deque": lambda it, arguments, node: it.container("deque", _items_given(it, arguments), node),
    "builtins.zip": as_lazy(zip_call),
    "builtins.enumerate": as_lazy(enumerate_call),
    "builtins.range": range_call,
    "builtins.reversed": reversed_call,
    "builtins.map": map_builtin,
    "builtins.filter": as_lazy(filter_call),
    "builtins.sum": sum_call,
    "math.fsum": leave_tensorflow("math.fsum"),
    "math.prod": sum_call,
    "typing.cast": second_value,
    "typing.assert_type": same_value,
    "typing_extensions.assert_type": same_value,
    "types.MappingProxyType": same_value,
    "argparse.Namespace": namespace,
    "argparse.ArgumentParser": parser,
    "absl.app.run": run_main,
    "tf.app.run": run_main,
    "fire.Fire": run_by_signature,
    "typer.run": run_by_signature,
    "click.option": kept_arguments("click.option"),
    "click.argument": kept_arguments("click.argument"),
    "collections.Counter": lambda it, arguments, node: it.container("dict", Items((), None, exact=False), node),
    "tf.SparseTensor": lambda it, arguments, node: it.operation(node, arguments.every(), label="tf.SparseTensor"),
    "tf.IndexedSlices": indexed_slices,
    "builtins.max": minmax,
    "builtins.min": minmax,
    "builtins.abs": absolute,
    "builtins.int": number_call(int),
    "builtins.float": number_call(float),
    "builtins.pow": absolute,
    "builtins.getattr": getattr_call,
    "builtins.setattr": setattr_call,
    "builtins.super": super_call,
    "builtins.next": next_call,
    "builtins.print": no_effect,
    "builtins.len": length_call,
    "builtins.isinstance": isinstance_call,
    "tf.is_tensor": test_of(is_tensor),
    "keras.ops.is_tensor": test_of(is_tensor),
    "keras.backend.is_tensor": test_of(is_tensor),
    "tf.nest.is_nested": test_of(is_nested),
    "keras.tree.is_nested": test_of(is_nested),
    "builtins.type": no_effect,
    "builtins.hasattr": no_effect,
    "builtins.callable": no_effect,
    "builtins.id": no_effect,
    "builtins.property": transformer("builtins.property"),
    "builtins.staticmethod": transformer("builtins.staticmethod"),
    "builtins.classmethod": transformer("builtins.classmethod"),
}
