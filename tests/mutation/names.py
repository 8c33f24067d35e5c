"""Questions to `ast` that the operators ask: who is mentioned, who is bound, is this value surely new.

"Surely" errs on the side of no: a mutant that is not a fault for certain would falsify the recall.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

Scope = ast.FunctionDef | ast.AsyncFunctionDef
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

# Each of these returns a new tensor on every call; `cast`, `convert_to_tensor` and `add_n` may return their argument.
_NEW_TENSOR = frozenset(
    """abs add acos asin atan batch_normalization bias_add binary_crossentropy categorical_crossentropy concat conv2d
    cos cosh cumsum divide einsum erf exp expm1 expand_dims hinge huber l2_loss lgamma log log1p log_softmax logsumexp
    matmul matvec maximum mean mean_absolute_error mean_squared_error minimum multiply negative norm pow
    reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum relu reshape rsqrt sigmoid
    sigmoid_cross_entropy_with_logits sin sinh softmax softmax_cross_entropy_with_logits softplus
    sparse_categorical_crossentropy sparse_softmax_cross_entropy_with_logits sqrt square squared_difference squeeze
    stack subtract sum tan tanh tensordot transpose where""".split()
)
_LOSS = re.compile(r"loss|cost|cross_?entropy|squared_error|log_prob|elbo|nll|objective", re.IGNORECASE)
_MAY_RETURN_ITS_ARGUMENT = re.compile(
    r"get|scale|add|reg|pop|combine|mask|aggregate|total|final|list|dict", re.IGNORECASE
)
_HANDS_OUT = frozenset(
    ["get", "pop", "next", "popitem", "setdefault", "getattr", "max", "min", "list", "tuple", "dict", "zip", "set"]
)


def own_nodes(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes below `root` that run in its own scope; inner functions and classes are given, not entered."""
    waiting = list(ast.iter_child_nodes(root))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _INNER):
            waiting.extend(ast.iter_child_nodes(node))


def mentions(root: ast.AST, name: str) -> bool:
    """Whether the dotted `name` is read or bound anywhere below `root`, inner functions included."""
    return any(dotted(node) == name for node in ast.walk(root))


def loaded(root: ast.AST) -> set[str]:
    """The names read anywhere below `root`; the left side of `x += 1` is read too."""
    read = {node.id for node in ast.walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    grown = {
        node.target.id
        for node in ast.walk(root)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return read | grown


def stored(root: ast.AST) -> set[str]:
    """The names bound below `root` in its own scope."""
    return {name for node in (root, *own_nodes(root)) for name in _bound_by(node)}


def _bound_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return tuple((alias.asname or alias.name).split(".")[0] for alias in names)
    return ()


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` for a chain of names and attributes."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            before = dotted(value)
            return None if before is None else f"{before}.{attribute}"
    return None


def assigns(statement: ast.stmt, name: str) -> bool:
    """Whether the statement itself is an assignment whose left side holds the name `name`."""
    match statement:
        case ast.Assign(targets=targets):
            return any(name in _names_of(target) for target in targets)
        case ast.AugAssign(target=ast.Name(id=bound)):
            return bound == name
        case ast.AnnAssign(target=ast.Name(id=bound), value=value):
            return bound == name and value is not None
    return False


def _names_of(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return {name for element in target.elts for name in _names_of(element)}
    return {target.id} if isinstance(target, ast.Name) else set()


def leaves_block(statement: ast.stmt) -> bool:
    """Whether running the statement may leave the block, or hand control out of the function."""
    leaving = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
    return any(isinstance(node, leaving) for node in (statement, *own_nodes(statement)))


def is_plural(name: str) -> bool:
    """Whether the name sounds like a list, for which `+` extends and nothing is computed."""
    return name.endswith("s") and not name.endswith("ss")


def tensorflow_roots(tree: ast.Module) -> frozenset[str]:
    """The names that stand for TensorFlow or Keras, or for modules of theirs, in this file."""
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {
                (a.asname or a.name).split(".")[0]
                for a in node.names
                if a.name.split(".")[0] in {"tensorflow", "keras"}
            }
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"tensorflow", "keras"}:
            roots |= {a.asname or a.name for a in node.names}
    return frozenset(roots)


def is_new_tensor(value: ast.expr, roots: frozenset[str]) -> bool:
    """Whether the value is surely a new tensor, not one that some name already holds."""
    match value:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return not any(
                isinstance(side, ast.List | ast.ListComp) or is_plural(dotted(side) or "") for side in (left, right)
            )
        case ast.BinOp(op=ast.Mod()):
            return False
        case ast.BinOp():
            return True
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return is_new_tensor(body, roots) and is_new_tensor(orelse, roots)
        case ast.Call(func=ast.Name(id="sum"), args=[_]):
            return True
        case ast.Call(func=ast.Call(func=made)):
            return (dotted(made) or "").split(".")[0] in roots and "losses" in (dotted(made) or "")
        case ast.Call(func=function):
            name = dotted(function) or ""
            return name.split(".")[0] in roots and "." in name and name.split(".")[-1] in _NEW_TENSOR
    return False


def is_loss_call(value: ast.expr) -> bool:
    """Whether the value is a call that computes a loss from something that is not a loss yet."""
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else dotted(function) or ""
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    return (
        bool(given)
        and _LOSS.search(name) is not None
        and _MAY_RETURN_ITS_ARGUMENT.search(name) is None
        and not any(_LOSS.search(dotted(one) or "") for one in given)
    )


def hands_out(value: ast.expr) -> bool:
    """Whether the value may be something that was computed before: no call at all, or a call that fetches."""
    if not isinstance(value, ast.Call):
        return True
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else dotted(function) or ""
    return name in _HANDS_OUT or name.startswith("get_")
