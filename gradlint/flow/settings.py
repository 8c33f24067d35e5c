"""Settings: whether a number that is zero where it is used is given another value somewhere in the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_DEEPEST = 4
_Written = ast.Name | ast.Attribute


def stays_zero(tree: ast.Module, written: ast.expr, depth: int = 0) -> bool:
    """Whether nothing in the file makes another number of what `beta`, `self.beta` or `0.0` is.

    A weight of a loss that starts at zero and grows, as in KL annealing, is multiplied with zero in the first
    turn alone.
    """
    if not isinstance(written, _Written):
        return True
    return all(_is_zero_given(tree, each, written, depth) for each in _given(tree, written))


def _is_zero_given(tree: ast.Module, given: ast.expr | None, written: _Written, depth: int) -> bool:
    if given is None:
        return False
    if isinstance(given, ast.Constant):
        return type(given.value) in (int, float) and given.value == 0
    if depth >= _DEEPEST:
        return False
    if isinstance(given, _Written):
        is_itself = type(given) is type(written) and _last_name(given) == _last_name(written)
        return is_itself or stays_zero(tree, given, depth + 1)
    return _is_cut(tree, given)


def _is_cut(tree: ast.Module, given: ast.expr) -> bool:
    """Whether this is cut to an integer, `1 // 2` or `int(weight)`, of what is bound once."""
    is_call = isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id == "int"
    if not is_call and not (isinstance(given, ast.BinOp) and isinstance(given.op, ast.FloorDiv)):
        return False
    if any(isinstance(each, ast.Compare | ast.BoolOp | ast.IfExp | ast.Subscript) for each in ast.walk(given)):
        return False
    names = [each for each in ast.walk(given) if isinstance(each, _Written)]
    return all(sum(1 for _ in _given(tree, name)) < 2 for name in names)


def _given(tree: ast.Module, written: _Written) -> Iterator[ast.expr | None]:
    """What is bound to a name, parameter or attribute that is called so; None for what cannot be told."""
    parameters = dict(_functions_taking(tree, written.id)) if isinstance(written, ast.Name) else {}
    fields = {id(each) for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) for each in cls.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                is_field = id(node) in fields and isinstance(written, ast.Attribute) and isinstance(target, ast.Name)
                if is_field and _last_name(target) == _last_name(written):
                    yield node.value  # `weight: float = 0.0`
                yield from _bound(target, node.value, written)
        elif isinstance(node, ast.NamedExpr | ast.AugAssign):
            yield from _bound(node.target, node.value if isinstance(node, ast.NamedExpr) else None, written)
        elif isinstance(node, ast.For | ast.comprehension):
            yield from _bound(node.target, None, written)
        elif isinstance(node, ast.Call):
            yield from _passed(node, _last_name(written), parameters)


def _bound(target: ast.expr, value: ast.expr | None, written: _Written) -> Iterator[ast.expr | None]:
    if isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
        for place, each in enumerate(target.elts):
            yield from _bound(each, values[place] if values is not None else None, written)
    elif type(target) is type(written) and _last_name(target) == _last_name(written):
        yield value


def _passed(call: ast.Call, name: str, parameters: dict[str, int]) -> Iterator[ast.expr | None]:
    """What a call passes for parameters of this name."""
    yield from (each.value for each in call.keywords if each.arg == name)
    place = parameters.get(_last_name(call.func))
    if place is None:
        return
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        yield None
    elif place < len(call.args):
        yield call.args[place]


def _functions_taking(tree: ast.Module, name: str) -> Iterator[tuple[str, int]]:
    """Functions, by the name they are called by, and the place of their parameter of this name."""
    owners = {method: cls for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef) for method in cls.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
            if name in names:
                own = 1 if node in owners and names[0] in ("self", "cls") else 0
                called = owners[node].name if node in owners and node.name == "__init__" else node.name
                yield called, names.index(name) - own


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
