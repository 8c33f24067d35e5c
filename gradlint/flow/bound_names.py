"""Bound names: what the text binds to a name, and what such a name may therefore hold.

`relevance.py` asks before anything is run, so nothing is certain here and no verdict rests on it: a name is known by
its last part, wherever it stands, and what may hold a variable is worth running.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.knowledge.effects import effect_of
from gradlint.knowledge.measured import DtypeClass

#: Attributes that hold variables: sets of them, and weights of layers.
VARIABLE_SETS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_VARIABLES = VARIABLE_SETS | {"kernel", "bias", "embeddings", "gamma", "beta"}
_MAKE_VARIABLES = frozenset({"Variable", "add_weight", "add_variable", "get_variable"})
_HAND_ON = frozenset({"zip", "enumerate", "list", "tuple", "dict", "reversed", "sorted", "iter", "next"})
_OF_CONTAINERS = frozenset({"values", "items", "get", "copy", "pop"})
#: What makes arrays and containers, and no tensors.
_NO_TENSORS = frozenset(
    "np numpy jnp torch collections list dict tuple set sorted reversed defaultdict OrderedDict range len int float "
    "str bool zip enumerate open".split()
)


def last_name(node: ast.AST | None) -> str:
    """The last part of a dotted name, or of what is called or indexed."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class BoundNames:
    """The expressions that are bound to each name, a function's name to what it returns."""

    def __init__(self) -> None:
        self.values: dict[str, list[ast.expr]] = {}
        self._variables: set[str] | None = None

    def note(self, node: ast.AST) -> None:
        """Remember what a statement or expression binds."""
        match node:
            case ast.Assign():
                for target in node.targets:
                    self.bind(target, node.value)
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                if node.value is not None:
                    self.bind(node.target, node.value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self.bind(node.target, node.iter)
            case ast.withitem():
                if node.optional_vars is not None:
                    self.bind(node.optional_vars, node.context_expr)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        """Remember one binding."""
        if isinstance(target, ast.Name | ast.Attribute):
            self.bind_name(target.id if isinstance(target, ast.Name) else target.attr, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value)
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            in_step = len(parts) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in parts)
            for index, each in enumerate(target.elts):
                self.bind(each, parts[index] if in_step else value)

    def bind_name(self, name: str, value: ast.expr) -> None:
        """Remember one binding of a plain name."""
        self.values.setdefault(name, []).append(value)
        self._variables = None

    def may_hold_variable(self, node: ast.expr) -> bool:
        """Whether an expression may be a variable, or hold some."""
        if self._variables is None:
            held: set[str] = set()
            self._variables = held
            waiting = self.values
            while found := [name for name, values in waiting.items() if _any_variable(values, held)]:
                held.update(found)
                waiting = {name: values for name, values in waiting.items() if name not in held}
        return _is_variable(node, self._variables)

    def may_be_boolean(self, node: ast.expr) -> bool:
        """Whether an expression, or what its name is bound to, compares tensors or holds truth values."""
        while isinstance(node, ast.Subscript):
            node = node.value
        return any(_compares(each) for each in (node, *self.values.get(_plain_name(node), ())))

    def copies_variable(self, name: str) -> bool:
        """Whether a name is bound to what a call makes of a variable: `np.array(self.table)`."""
        return any(
            isinstance(value, ast.Call) and any(map(self.may_hold_variable, value.args))
            for value in self.values.get(name, ())
        )

    def may_hold_tensor(self, name: str) -> bool:
        """Whether something that could be a tensor is bound to a name."""
        return any(map(_may_make_tensor, self.values.get(name, ())))


def _plain_name(node: ast.expr) -> str:
    return last_name(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _is_variable(node: ast.expr | None, held: set[str]) -> bool:
    match node:
        case ast.Name():
            return node.id in held
        case ast.Attribute():
            return node.attr in held or node.attr in _VARIABLES
        case ast.Subscript() | ast.Starred() | ast.Await() | ast.NamedExpr():
            return _is_variable(node.value, held)
        case ast.Call():
            name = last_name(node.func)
            if name in _MAKE_VARIABLES or name in held:
                return True
            if name in _OF_CONTAINERS and isinstance(node.func, ast.Attribute):
                return _is_variable(node.func.value, held)
            return name in _HAND_ON and _any_variable(node.args, held)
        case ast.IfExp():
            return _any_variable((node.body, node.orelse), held)
        case ast.BoolOp() | ast.Dict():
            return _any_variable(node.values, held)
        case ast.List() | ast.Tuple() | ast.Set():
            return _any_variable(node.elts, held)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return _is_variable(node.elt, held)
        case ast.DictComp():
            return _is_variable(node.value, held)
    return False


def _any_variable(nodes: Iterable[ast.expr], held: set[str]) -> bool:
    return any(_is_variable(each, held) for each in nodes)


def _compares(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return not any(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in node.ops)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and _compares(node.operand)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitAnd | ast.BitOr) and (_compares(node.left) or _compares(node.right))
    if not isinstance(node, ast.Call):
        return False
    if any(isinstance(each, ast.List) and any(map(_is_truth, each.elts)) for each in node.args):
        return True
    effect = effect_of(f"tf.{last_name(node.func)}")
    return effect is not None and DtypeClass.BOOL in effect.dtypes


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _may_make_tensor(node: ast.expr) -> bool:
    """Whether an expression could be a tensor: no literal, and no call of NumPy or of a built-in container."""
    match node:
        case ast.BinOp():
            return _may_make_tensor(node.left) or _may_make_tensor(node.right)
        case ast.IfExp():
            return _may_make_tensor(node.body) or _may_make_tensor(node.orelse)
        case ast.Subscript() | ast.Await() | ast.NamedExpr():
            return _may_make_tensor(node.value)
        case ast.Call():
            root: ast.expr = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            return not (isinstance(root, ast.Constant) or (isinstance(root, ast.Name) and root.id in _NO_TENSORS))
    return isinstance(node, ast.Attribute)
