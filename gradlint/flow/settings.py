"""Settings: whether a number that is zero where it is used is given another value somewhere in the files."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from gradlint.flow.sources import Source

_DEEPEST = 4
_Written = ast.Name | ast.Attribute


def stays_zero(sources: Collection[Source], written: ast.expr, depth: int = 0) -> bool:
    """Whether nothing in the files makes another number of what `beta`, `self.beta` or `0.0` is.

    A weight of a loss that starts at zero and grows, as in KL annealing, is multiplied with zero in the first
    turn alone.
    """
    if not isinstance(written, _Written):
        return True
    return all(_is_zero_given(sources, each, written, depth) for each in _given(sources, written))


def _is_zero_given(sources: Collection[Source], given: ast.expr | None, written: _Written, depth: int) -> bool:
    if given is None:
        return False
    if isinstance(given, ast.Constant):
        return type(given.value) in (int, float) and given.value == 0
    if depth >= _DEEPEST:
        return False
    if isinstance(given, _Written):
        is_itself = type(given) is type(written) and _last_name(given) == _last_name(written)
        return is_itself or stays_zero(sources, given, depth + 1)
    return _is_cut(sources, given)


def _is_cut(sources: Collection[Source], given: ast.expr) -> bool:
    """Whether this is cut to an integer, `1 // 2` or `int(weight)`, of what is bound once."""
    is_call = isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id == "int"
    if not is_call and not (isinstance(given, ast.BinOp) and isinstance(given.op, ast.FloorDiv)):
        return False
    if any(isinstance(each, ast.Compare | ast.BoolOp | ast.IfExp | ast.Subscript) for each in ast.walk(given)):
        return False
    names = [each for each in ast.walk(given) if isinstance(each, _Written)]
    return all(sum(1 for _ in _given(sources, name)) < 2 for name in names)


def _given(sources: Collection[Source], written: _Written) -> Iterator[ast.expr | None]:
    """What is bound to a name, parameter or attribute that is called so; None for what cannot be told."""
    name, is_name = _last_name(written), isinstance(written, ast.Name)
    for source in sources:
        bindings = Bindings.of(source)
        yield from (bindings.names if is_name else bindings.attributes).get(name, ())
        if not is_name:
            yield from bindings.fields.get(name, ())  # `weight: float = 0.0`
        yield from bindings.keywords.get(name, ())
        for function, place in bindings.parameters.get(name, ()) if is_name else ():
            for other in sources:
                for call in Bindings.of(other).calls.get(function, ()):
                    yield from _passed(call, place)


def _passed(call: ast.Call, place: int) -> Iterator[ast.expr | None]:
    """What a call passes at a place."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        yield None
    elif place < len(call.args):
        yield call.args[place]


class Bindings:
    """What one file binds to which names, by their last part: an index, made in one walk."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, list[ast.expr | None]] = {}
        self.attributes: dict[str, list[ast.expr | None]] = {}
        self.fields: dict[str, list[ast.expr | None]] = {}
        self.keywords: dict[str, list[ast.expr]] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.parameters: dict[str, list[tuple[str, int]]] = {}
        """By parameter: the functions that have it, as they are called, and at which place."""
        owners: dict[ast.AST, ast.ClassDef] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                owners |= dict.fromkeys(node.body, node)
            self._add(node, owners)

    @classmethod
    def of(cls, source: Source) -> Bindings:
        """The index of a file."""
        made = source.memo.get(cls)
        if not isinstance(made, cls):
            made = source.memo[cls] = cls(source.tree)
        return made

    def _add(self, node: ast.AST, owners: dict[ast.AST, ast.ClassDef]) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if node in owners and isinstance(target, ast.Name):
                    self.fields.setdefault(target.id, []).append(node.value)
                self._bind(target, node.value)
        elif isinstance(node, ast.NamedExpr | ast.AugAssign):
            self._bind(node.target, node.value if isinstance(node, ast.NamedExpr) else None)
        elif isinstance(node, ast.For | ast.comprehension):
            self._bind(node.target, None)
        elif isinstance(node, ast.Call):
            self.calls.setdefault(_last_name(node.func), []).append(node)
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self.keywords.setdefault(keyword.arg, []).append(keyword.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
            own = 1 if node in owners and names and names[0] in ("self", "cls") else 0
            called = owners[node].name if node in owners and node.name == "__init__" else node.name
            for place, name in enumerate(names):
                self.parameters.setdefault(name, []).append((called, place - own))

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            listed = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for place, each in enumerate(target.elts):
                self._bind(each, value.elts[place] if listed and isinstance(value, ast.Tuple | ast.List) else None)
        elif isinstance(target, ast.Name):
            self.names.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Attribute):
            self.attributes.setdefault(target.attr, []).append(value)


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
