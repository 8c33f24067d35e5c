"""Loops and tests in one spelling: what Python runs alike is made alike, so that whoever reads the tree forgets none.

- `while True:` with a `try: x = next(xs)` that leaves at its end is `for x in xs:`, and so is
  `while (x := next(xs, None)) is not None:`.
- a `while` that counts is `for i in range(...)`.
- `if True:` is its body.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradlint.flow.counted_loops import over_numbers

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def with_loops_alike(tree: ast.Module) -> ast.Module:
    """The tree, changed in place."""
    _change(tree, tree)
    return tree


def _change(owner: ast.AST, scope: ast.AST) -> None:
    for block in _blocks(owner):
        for each in block:
            _change(each, each if isinstance(each, _SCOPES) else scope)
        made: list[ast.AST] = []
        for each in block:
            if isinstance(each, ast.If) and isinstance(each.test, ast.Constant) and each.test.value is True:
                made.extend(each.body)
            elif isinstance(each, ast.While):
                made.append(_over_iterator(each) or over_numbers(each, made, scope) or each)
            elif isinstance(each, ast.Try):
                made.append(_ended_by_iterator(each) or each)
            else:
                made.append(each)
            _name_iterated(made, scope)
        block[:] = made


def _blocks(owner: ast.AST) -> Iterator[list[ast.AST]]:
    for name in _BLOCKS:
        block = getattr(owner, name, None)
        if isinstance(block, list):
            yield block


# -- iterators -----------------------------------------------------------------------------------------------------


def _over_iterator(loop: ast.While) -> ast.For | None:
    """A loop that asks an iterator for the next element at its beginning, and ends where there is none."""
    if loop.orelse:
        return None
    match loop.test:
        case ast.Compare(
            left=ast.NamedExpr(target=target, value=call), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
        ):
            over = _asked(call, default=True)
            return _for(loop, target, over, loop.body) if over is not None else None
    if not _is_endless(loop):
        return None
    match loop.body:
        case [ast.Try(body=[first, *inside], handlers=[handler], finalbody=[]) as guarded, *rest]:
            taken = _taken(first)
            if taken is not None and not inside and _ends_with(handler, (ast.Break,)):
                return _for(loop, *taken, [*guarded.orelse, *rest])
        case [first, ast.If(test=test, body=[ast.Break()], orelse=orelse), *rest]:
            match first, test:
                case (
                    ast.Assign(targets=[ast.Name(id=name) as target], value=call),
                    ast.Compare(left=ast.Name(id=asked), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
                ) if name == asked:
                    over = _asked(call, default=True)
                    return _for(loop, target, over, [*orelse, *rest]) if over is not None else None
    return None


def _ended_by_iterator(guarded: ast.Try) -> ast.For | None:
    """`try: while True: x = next(xs) ...; except StopIteration: pass`."""
    match guarded:
        case ast.Try(body=[ast.While(body=[first, *rest], orelse=[]) as loop], handlers=[handler]):
            if guarded.orelse or guarded.finalbody or not _is_endless(loop):
                return None
            taken = _taken(first)
            if taken is not None and _ends_with(handler, (ast.Pass,)):
                return _for(loop, *taken, rest)
    return None


def _is_endless(loop: ast.While) -> bool:
    return isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def _taken(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """`x = next(xs)`: what is bound, and the iterator."""
    match statement:
        case ast.Assign(targets=[target], value=call) | ast.AnnAssign(target=target, value=ast.expr() as call):
            over = _asked(call, default=False)
            return (target, over) if over is not None else None
    return None


def _asked(call: ast.expr, *, default: bool) -> ast.expr | None:
    """The iterator of `next(xs)`, or of `next(xs, None)`: the same one each time, so a name or attribute."""
    match call:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Name() | ast.Attribute() as over, *more], keywords=[]):
            match more:
                case [] if not default:
                    return over
                case [ast.Constant(value=None)] if default:
                    return over
    return None


def _ends_with(handler: ast.ExceptHandler, kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a handler is for the end of an iterator, and does nothing but leave."""
    if not isinstance(handler.type, ast.Name) or handler.type.id != "StopIteration":
        return False
    return len(handler.body) == 1 and isinstance(handler.body[0], kinds)


def _name_iterated(made: list[ast.AST], scope: ast.AST) -> None:
    """`rows = iter(xs)` before `for row in rows:`, and nowhere else: the loop is over `xs`."""
    match made[-2:]:
        case [ast.Assign() | ast.AnnAssign() as before, ast.For(iter=ast.Name(id=name)) as loop]:
            target = before.targets[0] if isinstance(before, ast.Assign) else before.target
            if not isinstance(target, ast.Name) or target.id != name:
                return
            match before.value:
                case ast.Call(func=ast.Name(id="iter"), args=[over], keywords=[]) if _uses(scope, name) == 2:
                    loop.iter = over
                    del made[-2]


def _uses(scope: ast.AST, name: str) -> int:
    return sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(scope))


def _for(loop: ast.stmt, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> ast.For:
    return ast.copy_location(ast.For(target, over, body or [ast.copy_location(ast.Pass(), loop)], []), loop)
