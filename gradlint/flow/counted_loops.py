"""A `while` that counts is a `for` over a range, so that nothing that reads the tree forgets one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_CHANGING = frozenset({"append", "extend", "insert", "pop", "popleft", "remove", "clear", "add", "update"})
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_DENIED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
}  # fmt: skip
_LOOPS = ast.For | ast.AsyncFor | ast.While
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _Test:
    """`name < end`, as long as the loop goes on."""

    name: str
    op: type[ast.cmpop]
    end: ast.expr


def over_numbers(loop: ast.While, before: list[ast.AST], scope: ast.AST) -> ast.For | None:
    """The `for` that a loop is that begins at a known number and counts: `i = 0; while i < n: ...; i += 1`."""
    test, body = _tested(loop)
    if test is None or loop.orelse or not _starts_at_number(before, test.name):
        return None
    found = [(at, step) for at, each in enumerate(body) if (step := _step(each, test.name))]
    if len(found) != 1:
        return None
    at, step = found[0]
    first, last = body[:at], body[at + 1 :]
    if not _ends(test.op, step) or any(_binds(each, test.name) for each in (*first, *last)):
        return None
    if any(_continues(each) for each in first) or not _stays(test.end, body):
        return None
    counted_first = any(_names(each, test.name) for each in last)
    if counted_first and any(_names(each, test.name) for each in first):
        return None  # one number before the step and another one behind it
    made = ast.For(ast.Name(test.name, ast.Store()), _range(test, step, counted_first), [*first, *last], [])
    outside = _names(scope, test.name) - _names(loop, test.name)
    if outside > 1:  # it is read behind the loop
        made.orelse = [ast.Assign([ast.Name(test.name, ast.Store())], test.end)]
    if not made.body:
        return None
    _locate(made, loop)
    return made


def _tested(loop: ast.While) -> tuple[_Test | None, list[ast.stmt]]:
    """What a loop asks for before each turn, in its head or first of all, and what it does then."""
    if not (isinstance(loop.test, ast.Constant) and loop.test.value):
        return _test(loop.test, denied=False), loop.body
    match loop.body:
        case [ast.If(test=test, body=[ast.Break()], orelse=orelse), *rest]:
            return _test(test, denied=True), [*orelse, *rest]
    return None, loop.body


def _test(test: ast.expr, *, denied: bool) -> _Test | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _test(operand, denied=not denied)
        case ast.Name(id=name) if not denied:
            return _Test(name, ast.NotEq, ast.Constant(0))
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[end]):
            asked: type[ast.cmpop] | None = type(op)
        case ast.Compare(left=end, ops=[op], comparators=[ast.Name(id=name)]):
            asked = _FLIPPED.get(type(op), type(op))
        case _:
            return None
    if denied and asked is not None:
        asked = _DENIED.get(asked)
    return _Test(name, asked, end) if asked is not None else None


def _starts_at_number(before: list[ast.AST], name: str) -> bool:
    """Whether the statements before the loop bind the name to a whole number last."""
    for each in reversed(before):
        match each:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    for one, given in _bound(target, value):
                        if one == name:
                            return isinstance(given, ast.Constant) and type(given.value) is int
            case ast.AnnAssign(target=ast.Name(id=one), value=ast.Constant(value=given)) if one == name:
                return type(given) is int
        if _binds(each, name):
            return False
    return False


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, given in zip(targets, values, strict=True):
                yield from _bound(one, given)


def _step(statement: ast.stmt, name: str) -> int:
    """By how much a statement counts on; 0 for any other."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=one), op=op, value=ast.Constant(value=int(step))):
            pass
        case ast.Assign(
            targets=[ast.Name(id=one)],
            value=ast.BinOp(left=ast.Name(id=other), op=op, right=ast.Constant(value=int(step))),
        ) if one == other:
            pass
        case _:
            return 0
    if one != name or not isinstance(op, ast.Add | ast.Sub):
        return 0
    return step if isinstance(op, ast.Add) else -step


def _ends(op: type[ast.cmpop], step: int) -> bool:
    """Whether counting by this step comes to where the test is false."""
    if op is ast.NotEq:
        return step in (1, -1)
    return op in (ast.Lt, ast.LtE) if step > 0 else op in (ast.Gt, ast.GtE)


def _stays(end: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether the number to which is counted is the same in each turn."""
    match end:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return not any(_binds(each, name) for each in body)
        case ast.Attribute(value=value, attr=attribute):
            stored = [
                each
                for statement in body
                for each in ast.walk(statement)
                if isinstance(each, ast.Attribute) and each.attr == attribute and not isinstance(each.ctx, ast.Load)
            ]
            return not stored and _stays(value, body)
        case ast.BinOp(left=left, right=right):
            return _stays(left, body) and _stays(right, body)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as whole]):
            written = ast.unparse(whole)
            return _stays(whole, body) and not any(
                isinstance(each, ast.Attribute) and each.attr in _CHANGING and ast.unparse(each.value) == written
                for statement in body
                for each in ast.walk(statement)
            )
    return False


def _range(test: _Test, step: int, counted_first: bool) -> ast.Call:
    towards = 1 if step > 0 else -1
    more = (towards if test.op in (ast.LtE, ast.GtE) else 0) + (step if counted_first else 0)
    begin = _plus(ast.Name(test.name, ast.Load()), step if counted_first else 0)
    given = [begin, _plus(test.end, more)]
    if step != 1:
        given.append(ast.Constant(step))
    return ast.Call(ast.Name("range", ast.Load()), given, [])


def _plus(number: ast.expr, more: int) -> ast.expr:
    if isinstance(number, ast.Constant) and type(number.value) is int:
        return ast.Constant(number.value + more)
    return ast.BinOp(number, ast.Add(), ast.Constant(more)) if more else number


def _continues(statement: ast.AST) -> bool:
    """Whether a statement may go on to the next turn of the loop that it stands in."""
    if isinstance(statement, ast.Continue):
        return True
    if isinstance(statement, _LOOPS | _SCOPES):
        return False
    return any(_continues(each) for each in ast.iter_child_nodes(statement))


def _names(node: ast.AST, name: str) -> int:
    """How often a name stands in a tree."""
    return sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _binds(node: ast.AST, name: str) -> bool:
    """Whether something in a tree may give the name another value."""
    return any(
        (isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load))
        or (isinstance(each, ast.Global | ast.Nonlocal) and name in each.names)
        for each in ast.walk(node)
    )


def _locate(made: ast.AST, at: ast.stmt) -> None:
    """What was made stands where the loop does; what was there before stays where it is."""
    for each in ast.walk(made):
        if "lineno" in each._attributes and not hasattr(each, "lineno"):
            ast.copy_location(each, at)
