"""Other spellings of the same Python: rewritings of syntax trees that change no step that a program takes.

Nodes that are kept keep their rows, and nodes that are added have the row of what they stand for: `rows_of` tells from
which row of the program each statement of the rewritten text comes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import count

Rewriting = Callable[[ast.Module], bool]  # changes the tree; False where it does not apply
Body = list[ast.stmt]
Def = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LAZY = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def respelled(text: str, rewriting: Rewriting) -> tuple[str, dict[int, int]] | None:
    """The rewritten text, and the row of the program from which each of its rows comes."""
    tree = ast.parse(text)
    if not rewriting(tree):
        return None
    ast.fix_missing_locations(tree)
    written = ast.unparse(tree) + "\n"
    return written, rows_of(tree, ast.parse(written))


def rows_of(tree: ast.Module, written: ast.Module) -> dict[int, int]:
    """For each row of the written text the row of the program where its statement begins."""
    rows: dict[int, int] = {}
    for old, new in zip(_statements(tree), _statements(written), strict=True):
        if not isinstance(old, ast.stmt) or not isinstance(new, ast.stmt):
            continue
        rows.update(dict.fromkeys(range(new.lineno, (new.end_lineno or new.lineno) + 1), old.lineno))
        for one, other in zip(_decorators(old), _decorators(new), strict=True):
            rows[other.lineno] = one.lineno
    return rows


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Statements, handlers and cases, outer ones first."""
    for body in _bodies(tree):
        for each in body:
            yield each
            yield from _statements(each)


def _decorators(node: ast.AST) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def _bodies(node: ast.AST) -> list[Body]:
    """The lists of statements of a node."""
    lists = [getattr(node, name, None) for name in ("body", "orelse", "handlers", "finalbody", "cases")]
    return [each for each in lists if isinstance(each, list)]


def _change_bodies(tree: ast.AST, change: Callable[[ast.stmt], Body], skip: tuple[type[ast.AST], ...] = ()) -> bool:
    """Replace each statement by what `change` makes of it, inner ones first; not right in the bodies of `skip`."""
    changed = False
    for body in _bodies(tree):
        for each in body:
            changed |= _change_bodies(each, change, skip)
        if not isinstance(tree, skip) and all(isinstance(each, ast.stmt) for each in body):
            made = [new for each in body for new in change(each)]
            changed |= made != body
            body[:] = made
    return changed


def _at(node: ast.stmt, text: str, **parts: ast.AST | Body) -> Body:
    """Statements at the row of a node, with the names of parts replaced by them."""
    made = ast.parse(text).body

    class Filled(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            part = parts.get(name.id)
            return part if isinstance(part, ast.AST) else name

        def visit_Expr(self, statement: ast.Expr) -> ast.AST | Body:
            name = statement.value.id if isinstance(statement.value, ast.Name) else ""
            part = parts.get(name)
            return part if isinstance(part, list) else self.generic_visit(statement)

    for each in made:
        for inner in ast.walk(each):
            ast.copy_location(inner, node)
    return [Filled().visit(each) for each in made]


def _imports(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _head_and_rest(tree: ast.Module) -> tuple[Body, Body]:
    """What must stay at the top: the docstring and imports."""
    head = [each for number, each in enumerate(tree.body) if (number == 0 and _is_docstring(each)) or _imports(each)]
    return head, [each for each in tree.body if each not in head]


def _traces(tree: ast.AST) -> bool:
    """Whether part of the program is read by AutoGraph, which takes loops and tests for operations of a graph."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(names & {"function", "fit", "train_on_batch", "autograph", "map_fn", "while_loop", "evaluate"})


# -- loops ---------------------------------------------------------------------------------------------------------


def for_as_next(tree: ast.Module) -> bool:
    """`for x in xs:` as a `while True:` that asks an iterator for the next one."""
    numbers = count()

    def change(node: ast.stmt) -> Body:
        if not isinstance(node, ast.For) or node.orelse:
            return [node]
        made = _at(
            node,
            "ITERATOR_9 = iter(ITER_9)\nwhile True:\n    try:\n        TARGET_9 = next(ITERATOR_9)\n"
            "    except StopIteration:\n        break\n    BODY_9\n",
            ITER_9=node.iter,
            TARGET_9=node.target,
            BODY_9=node.body,
        )
        name = f"iterator_{next(numbers)}_9"
        for each in (inner for statement in made for inner in ast.walk(statement)):
            if isinstance(each, ast.Name) and each.id == "ITERATOR_9":
                each.id = name
        return made

    return not _traces(tree) and _change_bodies(tree, change)


def range_as_counter(tree: ast.Module) -> bool:
    """`for i in range(n):` as a `while` loop that counts."""
    numbers = count()

    def change(node: ast.stmt) -> Body:
        if not isinstance(node, ast.For) or node.orelse or not isinstance(node.iter, ast.Call):
            return [node]
        call = node.iter
        if not isinstance(call.func, ast.Name) or call.func.id != "range" or len(call.args) > 2:
            return [node]
        name = f"turn_{next(numbers)}_9"
        begin = call.args[0] if len(call.args) == 2 else ast.copy_location(ast.Constant(0), node)
        text = f"{name} = BEGIN_9\nwhile {name} < END_9:\n    TARGET_9 = {name}\n    {name} += 1\n    BODY_9\n"
        return _at(node, text, BEGIN_9=begin, END_9=call.args[-1], TARGET_9=node.target, BODY_9=node.body)

    return not _traces(tree) and _change_bodies(tree, change)


# -- wrappings -----------------------------------------------------------------------------------------------------


def under_if_true(tree: ast.Module) -> bool:
    """The whole program, and what each of its functions does, under `if True:`."""

    def change(node: ast.stmt) -> Body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kept = [each for each in node.body[:1] if _is_docstring(each)]
            rest = node.body[len(kept) :]
            free = [each for each in rest if isinstance(each, ast.Global | ast.Nonlocal)]
            rest = [each for each in rest if each not in free]
            if rest:
                node.body = [*kept, *free, *_at(rest[0], "if True:\n    BODY_9\n", BODY_9=rest)]
        return [node]

    _change_bodies(tree, change)
    head, rest = _head_and_rest(tree)
    tree.body = [*head, *_at(rest[0], "if True:\n    BODY_9\n", BODY_9=rest)] if rest else tree.body
    return bool(rest)


def in_main(tree: ast.Module) -> bool:
    """The program as a function that is called where the file is run as one."""
    head, rest = _head_and_rest(tree)
    speaks_of_module = any(
        isinstance(node, ast.Global) or (isinstance(node, ast.Name) and node.id in ("globals", "__name__", "__file__"))
        for node in ast.walk(tree)
    )
    if not rest or speaks_of_module or any(_imports(node) for each in rest for node in ast.walk(each)):
        return False
    made = _at(rest[0], "def main_9():\n    BODY_9\nif __name__ == '__main__':\n    main_9()\n", BODY_9=rest)
    tree.body = [*head, *made]
    return True


_TIMER = """\
import functools as functools_9
import time as time_9
times_9 = []
def timed_9(function):
    @functools_9.wraps(function)
    def inner_9(*args, **kwargs):
        begin_9 = time_9.perf_counter()
        result_9 = function(*args, **kwargs)
        times_9.append(time_9.perf_counter() - begin_9)
        return result_9
    return inner_9
"""
#: What libraries look at, and not only call.
_LOOKED_AT = frozenset({"__init__", "__new__", "__init_subclass__", "__class_getitem__"})


def timed(tree: ast.Module) -> bool:
    """Every function behind a decorator that takes the time."""
    found = False
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name not in _LOOKED_AT:
            if any("custom_gradient" in ast.unparse(each) for each in node.decorator_list):
                continue  # TensorFlow reads its parameters
            if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
                continue  # nothing of it runs while the time is taken
            node.decorator_list.append(ast.copy_location(ast.Name("timed_9", ast.Load()), node))
            found = True
    head, rest = _head_and_rest(tree)
    if found:
        tree.body = [*head, *_at(rest[0], _TIMER), *rest]
    return found


# -- steps ---------------------------------------------------------------------------------------------------------


def in_single_steps(tree: ast.Module) -> bool:
    """One operation or call for each assignment; what it works on has names."""
    return _change_bodies(tree, _Steps(), (ast.ClassDef,))


class _Steps:
    def __init__(self) -> None:
        self.numbers = count()

    def __call__(self, node: ast.stmt) -> Body:
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Expr) or node.value is None:
            return [node]
        if any(isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
            return [node]
        made: Body = []
        self._operands(node.value, made)
        return [*(ast.copy_location(each, node) for each in made), node]

    def _operands(self, node: ast.expr, made: Body) -> None:
        """Give names to what an expression works on, in the order in which Python computes it."""
        match node:
            case ast.BinOp():
                node.left, node.right = self._named(node.left, made), self._named(node.right, made)
            case ast.UnaryOp():
                node.operand = self._named(node.operand, made)
            case ast.Compare(ops=[_]):
                node.left, node.comparators[0] = self._named(node.left, made), self._named(node.comparators[0], made)
            case ast.Call():
                if isinstance(node.func, ast.Attribute):
                    node.func.value = self._named(node.func.value, made)
                elif not isinstance(node.func, ast.Name):
                    node.func = self._named(node.func, made)
                for number, each in enumerate(node.args):
                    if isinstance(each, ast.Starred):
                        each.value = self._named(each.value, made)
                    else:
                        node.args[number] = self._named(each, made)
                for keyword in node.keywords:
                    keyword.value = self._named(keyword.value, made)
            case ast.Subscript():
                node.value = self._named(node.value, made)
            case ast.Attribute():
                node.value = self._named(node.value, made)
            case ast.Tuple() | ast.List():
                for number, each in enumerate(node.elts):
                    if not isinstance(each, ast.Starred):
                        node.elts[number] = self._named(each, made)

    def _named(self, node: ast.expr, made: Body) -> ast.expr:
        """A name for the value of an expression, unless it is one already or a number."""
        if isinstance(node, ast.Constant | ast.Name) or _is_chain(node):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        self._operands(node, made)
        name = f"step_{next(self.numbers)}_9"
        stored = ast.Assign([ast.Name(name, ast.Store())], node)
        made.append(stored)
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _is_chain(node: ast.expr) -> bool:
    """`tf.keras.layers`, `self.model`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def temporaries_inlined(tree: ast.Module) -> bool:
    """What is given a name only to be read once, in the next statement, put where it is read."""
    changed = False
    for scope in [tree, *(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))]:
        uses = _uses(scope)
        if any(isinstance(each, ast.Global | ast.Nonlocal) for each in ast.walk(scope)):
            continue
        if scope is tree and any(isinstance(each, ast.Name) and each.id == "globals" for each in ast.walk(tree)):
            continue
        changed |= _inline_in(scope, uses)
    return changed


def _uses(scope: ast.AST) -> dict[str, int]:
    """How often each name stands anywhere in a scope and the scopes in it."""
    found: dict[str, int] = {}
    for each in ast.walk(scope):
        if isinstance(each, ast.Name):
            found[each.id] = found.get(each.id, 0) + 1
    return found


def _inline_in(node: ast.AST, uses: dict[str, int]) -> bool:
    changed = False
    for body in _bodies(node):
        number = len(body) - 2
        while number >= 0:
            first, second = body[number], body[number + 1]
            if isinstance(first, ast.Assign) and _put(first, second, uses):
                del body[number]
                changed = True
            number -= 1
        for each in body:
            if not isinstance(each, _SCOPES):
                changed |= _inline_in(each, uses)
    return changed


def _put(first: ast.Assign, second: ast.stmt, uses: dict[str, int]) -> bool:
    target = first.targets[0]
    if len(first.targets) > 1 or not isinstance(target, ast.Name) or uses[target.id] != 2:
        return False
    if isinstance(first.value, ast.Yield | ast.Await | ast.Starred | ast.Lambda | ast.YieldFrom):
        return False
    if not isinstance(second, ast.Assign | ast.Return | ast.Expr) or second.value is None:
        return False
    put = _Put(target.id, first.value)
    value = put.visit(second.value)
    assert isinstance(value, ast.expr)
    second.value = value
    return put.done


class _Put(ast.NodeTransformer):
    """Puts a value where a name is read, if nothing is called before."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value
        self.done = self.stopped = False

    def visit(self, node: ast.AST) -> ast.AST:
        if self.done or self.stopped:
            return node
        if isinstance(node, ast.Name) and node.id == self.name:
            self.done = True
            return self.value
        if isinstance(node, (*_LAZY, ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Yield, ast.Await)):
            self.stopped = True
            return node
        self.generic_visit(node)
        if not self.done and isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.BinOp):
            self.stopped = not (isinstance(node, ast.Attribute) and _is_chain(node))
        return node


# -- names ---------------------------------------------------------------------------------------------------------


def annotated(tree: ast.Module) -> bool:
    """`x: object = v` for `x = v`."""
    outer = {name for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}

    def change(node: ast.stmt) -> Body:
        if not isinstance(node, ast.Assign) or len(node.targets) > 1:
            return [node]
        target = node.targets[0]
        if not isinstance(target, ast.Name | ast.Attribute) or (isinstance(target, ast.Name) and target.id in outer):
            return [node]
        kind = ast.Name("object", ast.Load())
        return [ast.copy_location(ast.AnnAssign(target, kind, node.value, int(isinstance(target, ast.Name))), node)]

    return _change_bodies(tree, change, (ast.ClassDef,))


def functions_aliased(tree: ast.Module) -> bool:
    """Functions of libraries called by names of their own: `mean = tf.reduce_mean; mean(x)`."""
    modules = {
        alias.asname or alias.name.partition(".")[0]
        for each in ast.walk(tree)
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    }
    return _change_bodies(tree, _Aliases(lambda root: root in modules), (ast.ClassDef,))


def methods_bound(tree: ast.Module) -> bool:
    """Methods called by names of their own: `gradient = tape.gradient; gradient(loss, w)`."""
    modules = {
        alias.asname or alias.name.partition(".")[0]
        for each in ast.walk(tree)
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    }
    return _change_bodies(tree, _Aliases(lambda root: root not in modules), (ast.ClassDef,))


class _Aliases:
    def __init__(self, applies: Callable[[str], bool]) -> None:
        self.applies = applies
        self.numbers = count()

    def __call__(self, node: ast.stmt) -> Body:
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Expr) or node.value is None:
            return [node]
        made: Body = []
        self._alias(node.value, made)
        return [*made, node]

    def _alias(self, node: ast.AST, made: Body) -> None:
        if isinstance(node, (*_LAZY, ast.BoolOp, ast.IfExp, ast.NamedExpr)):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_chain(node.func):
            root: ast.expr = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and self.applies(root.id):
                name = f"{node.func.attr}_{next(self.numbers)}_9"
                made.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], node.func), node))
                node.func = ast.copy_location(ast.Name(name, ast.Load()), node.func)
        for child in ast.iter_child_nodes(node):
            self._alias(child, made)


REWRITINGS: tuple[Rewriting, ...] = (
    for_as_next,
    range_as_counter,
    under_if_true,
    in_main,
    timed,
    in_single_steps,
    temporaries_inlined,
    annotated,
    functions_aliased,
    methods_bound,
)
