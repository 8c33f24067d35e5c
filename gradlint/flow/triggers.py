"""Triggers: which syntax makes code worth running. This is the one place that says so.

The body of a module is always run, with what it calls, and so is what Keras calls by itself. A function that nobody
calls is run when its text could answer what a rule asks. Most rules ask about a gradient (`DIFFERENTIATES`); others
ask about an operation by itself, and that operation is named here by the tables that those rules use. Blanks, line
ends and comments are no syntax.
"""

from __future__ import annotations

import ast

from gradlint.flow.bound_names import VARIABLE_SETS, last_name
from gradlint.knowledge.pure_functions import ARITHMETIC, CHANGING, SHAPING
from gradlint.knowledge.variable_methods import ASSIGNING, SCATTERING

#: Attributes and names whose call differentiates, or trains: what they stand in is run, and whatever calls that.
DIFFERENTIATES = frozenset(
    {
        "GradientTape",
        "ForwardAccumulator",
        "gradient",
        "jacobian",
        "batch_jacobian",
        "gradients",
        "jvp",
        "minimize",
        "compute_gradients",
        "fit",
        "train_on_batch",
        "fit_generator",
    }
)
#: Methods that change a variable. Of a parameter, those that call the function are worth running as well.
CHANGE_VARIABLES = ASSIGNING | SCATTERING
#: What makes the function that it stands in worth running, and its callers no more than they were.
JUDGED_ALONE = frozenset(
    {
        "compile",
        "apply_gradients",
        "apply",
        "custom_gradient",
        "tensor_scatter_nd_update",
        "Sequential",
        "Model",
        "Lambda",
        *CHANGE_VARIABLES,
    }
)
#: Methods of layers, models and losses that Keras calls by itself.
RUN_BY_KERAS = frozenset({"call", "compute_loss", "build"})
#: Attributes of layers and optimizers that say how to train, and the argument that Keras 3 knows no more.
SET_FOR_TRAINING = frozenset({"trainable", "lr"})
_PURE = CHANGING | SHAPING | ARITHMETIC


def triggers(node: ast.AST) -> bool:
    """Whether a node by itself makes what it stands in worth running; its names are looked at elsewhere."""
    match node:
        case ast.Attribute():
            return _sets_for_training(node) or node.attr == "function"  # `tf.function` traces what it reads
        case ast.keyword():
            return node.arg == "lr"
        case ast.ClassDef():
            return any(isinstance(each, ast.FunctionDef) and each.name in RUN_BY_KERAS for each in node.body)
        case ast.For():
            return rebinds_elements(node)
        case ast.Expr():  # the result of something like `tf.where(...)` is dropped
            return isinstance(node.value, ast.Call) and last_name(node.value.func) in _PURE
    return False


def _sets_for_training(node: ast.Attribute) -> bool:
    """`layer.trainable = ...`, `optimizer.lr`, or an attribute of `self.model` that a callback sets."""
    if isinstance(node.ctx, ast.Load):
        return node.attr == "lr"
    of_model = isinstance(node.value, ast.Attribute) and node.value.attr == "model"
    return node.attr in SET_FOR_TRAINING or of_model


def rebinds_elements(loop: ast.For) -> bool:
    """Whether a loop computes a new value for its own name: over variables, over several things, or by arithmetic."""
    if isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range":
        return False
    over = {last_name(each) for each in ast.walk(loop.iter) if isinstance(each, ast.Attribute | ast.Name)}
    of_variables = bool(over & (VARIABLE_SETS | {"zip"}))
    names = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    for statement in (each for part in loop.body for each in ast.walk(part)):
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            left = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(left, ast.Name) and left.id in names:
                if of_variables or isinstance(statement, ast.AugAssign) or _computes_from(statement.value, left.id):
                    return True
    return False


def _computes_from(value: ast.expr | None, name: str) -> bool:
    """Whether a sum or product is made that reads the name."""
    sums = [each for each in ast.walk(value) if isinstance(each, ast.BinOp)] if value is not None else []
    return any(isinstance(part, ast.Name) and part.id == name for each in sums for part in ast.walk(each))


def is_tensor_index(node: ast.Subscript) -> bool:
    """`x[:, i]`: nothing but an array or a tensor is indexed so."""
    if not isinstance(node.slice, ast.Tuple):
        return False
    return any(isinstance(each, ast.Slice) or _is_ellipsis(each) for each in node.slice.elts)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
