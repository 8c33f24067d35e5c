"""Every use of what TensorFlow and Keras do not promise to keep, each with a fallback, and a self-test of them all.

No other module reads an attribute of TensorFlow that starts with an underscore, or imports `tensorflow.python`.
TensorFlow is imported when a function is first called, never when this module is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Frame = tuple[str, int, str]
"""Of a stack: file name, row, name of the function."""


def tensor_id(tensor: Any) -> int:
    """A number that no other tensor of the process has; `id` is used again once a tensor is gone."""
    number = getattr(tensor, "_id", None)
    return number if isinstance(number, int) else id(tensor)


def handle_of(variable: Any) -> Any:
    """The resource that a variable reads and writes, or None: tf.Variable has it, a Keras variable wraps one."""
    inner = getattr(variable, "value", None)
    if hasattr(variable, "handle"):
        return variable.handle
    if inner is not None and not callable(inner):
        return getattr(inner, "handle", None)
    return None


def handles_of(variable: Any) -> list[Any]:
    """The resources of a variable: one, or one for each replica of a distributed variable."""
    inner = getattr(variable, "value", variable)
    inner = variable if callable(inner) else inner
    components = getattr(inner, "values", None)
    if isinstance(components, list | tuple):
        return [part.handle for part in components if hasattr(part, "handle")]
    handle = handle_of(variable)
    return [] if handle is None else [handle]


def mapped_stack() -> list[Frame]:
    """The stack of Python, innermost frame first, with the code that AutoGraph made seen as the user's."""
    try:
        tf_stack = importlib.import_module("tensorflow.python.util.tf_stack")
        return [(f.filename, f.lineno, f.name) for f in reversed(list(tf_stack.extract_stack()))]
    except (ImportError, AttributeError):
        import traceback

        return [(f.filename, f.lineno or 1, f.name) for f in reversed(traceback.extract_stack())]


def add_op_callback(callback: Callable[..., None]) -> bool:
    """Have the callback told of every op that this thread runs or adds to a graph; False when it cannot be done."""
    try:
        importlib.import_module("tensorflow.python.framework.op_callbacks").add_op_callback(callback)
    except (ImportError, AttributeError):
        return False
    return True


def remove_op_callback(callback: Callable[..., None]) -> None:
    """The opposite of `add_op_callback`, in the same thread."""
    try:
        importlib.import_module("tensorflow.python.framework.op_callbacks").remove_op_callback(callback)
    except (ImportError, AttributeError, KeyError):
        return


def classes() -> dict[str, Any]:
    """The classes to patch, found without running an op: the program may still want to configure its devices.

    `eager` has the methods by which a tensor leaves for Python, `variable` the constructor of variables, `lifted` that
    of variables made while a function is traced, `writes` the methods that assign, `function` what tf.function makes.
    """
    ops = importlib.import_module("tensorflow.python.framework.ops")
    variables = importlib.import_module("tensorflow.python.ops.resource_variable_ops")
    functions = importlib.import_module("tensorflow.python.eager.polymorphic_function.polymorphic_function")
    found = {
        "eager": getattr(ops, "_EagerTensorBase", None),
        "variable": getattr(variables, "ResourceVariable", None),
        "lifted": getattr(functions, "UnliftedInitializerVariable", None),
        "writes": getattr(variables, "BaseResourceVariable", None),
        "function": getattr(functions, "Function", None),
    }
    return {name: kind for name, kind in found.items() if kind is not None}


def body_of(graph: Any, name: str) -> Any:
    """The graph of a function that an op of `graph` calls, or None."""
    get = getattr(graph, "_get_function", None)
    found = get(name) if get is not None else None
    return getattr(found, "graph", None)


def func_graph_class() -> Any:
    """The class of the graphs of tf.function."""
    return importlib.import_module("tensorflow.python.framework.func_graph").FuncGraph


def is_loaded_step(function: Any) -> bool:
    """Is it a function of a SavedModel that writes variables? What it does was traced when it was saved."""
    graphs = [getattr(each, "graph", None) for each in getattr(function, "concrete_functions", ())]
    return any(
        "Assign" in op.type or "ResourceApply" in op.type
        for graph in graphs
        if graph is not None
        for op in graph.get_operations()
    )


def half_of_squares(values: Any) -> Any:
    """`tf.nn.l2_loss` of a float32 tensor of a graph, made in half the time: without looking its definition up."""
    import tensorflow as tf

    try:
        attributes = {"T": tf.compat.v1.AttrValue(type=tf.float32.as_datatype_enum)}
        op = values.graph._create_op_internal("L2Loss", [values], [tf.float32], attrs=attributes)
        return op.outputs[0]
    except (AttributeError, TypeError, ValueError):
        return tf.raw_ops.L2Loss(t=values)


def self_test() -> list[str]:
    """What of the private API is missing under this TensorFlow: one sentence each, none when all is well."""
    import tensorflow as tf

    complaints = []
    seen: list[str] = []

    def note(op_type: str, *_: Any, **__: Any) -> None:
        seen.append(op_type)

    variable = tf.Variable(2.0)
    listening = add_op_callback(note)
    try:
        loss = tf.square(variable * 3.0)
    finally:
        if listening:
            remove_op_callback(note)
    if "Square" not in seen:
        complaints.append("ops that run eagerly cannot be observed")
    missing = {"eager", "variable", "lifted", "writes", "function"} - set(classes())
    if missing:
        complaints.append(f"classes to patch are missing: {', '.join(sorted(missing))}")
    if not isinstance(getattr(loss, "_id", None), int):
        complaints.append("tensors have no number")
    if handle_of(variable) is None:
        complaints.append("variables have no handle")

    @tf.function  # type: ignore[untyped-decorator]
    def calls(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: x, lambda: 2.0 * x)

    graph = calls.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    conditional = next((op for op in graph.get_operations() if "If" in op.type), None)
    if conditional is None or body_of(graph, conditional.get_attr("then_branch").name) is None:
        complaints.append("bodies of control flow cannot be read")
    with func_graph_class()("gradlint_self_test").as_default():
        half = half_of_squares(tf.constant([3.0]))
    if half.op.type != "L2Loss" or not hasattr(tf.Graph, "_create_op_internal"):
        complaints.append("ops cannot be added to graphs directly")
    if not isinstance(graph, func_graph_class()):
        complaints.append("graphs of tf.function cannot be told from others")
    return complaints
