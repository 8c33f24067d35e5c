"""Written: what belongs to one expression, whether it is written in one piece or step by step, and what is called
under another name.

`first = x + gap` followed by `first + x`, and nothing else that reads `first`, is `x + gap + x`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.values import How, Kind, Value

_CALLS: WeakKeyDictionary[ast.Call, tuple[ast.Attribute, ast.Call]] = WeakKeyDictionary()
_STEPS: WeakKeyDictionary[ast.AST, dict[str, ast.expr]] = WeakKeyDictionary()


def is_written_in(it: Interpreter, node: ast.AST | None, whole: ast.AST) -> bool:
    """Whether a node is part of an expression or statement of the running function, or of a step towards it."""
    return node is not None and any(is_same_node(each, node) for each in _nodes_of(it, whole))


def is_done_with(it: Interpreter, node: ast.AST | None, whole: ast.AST) -> bool:
    """The same, and nothing else happens between the step and what it is for."""
    if not is_written_in(it, node, whole):
        return False
    steps = _steps_of(_scope(it)).values()
    for block in _blocks(_scope(it)):
        at = next((place for place, each in enumerate(block) if _holds(each, whole)), None)
        if at is None or hasattr(block[at], "body"):
            continue  # not in this block, or deeper in it
        for statement in reversed(block[: at + 1]):
            if _holds(statement, node):
                return True
            taken = getattr(statement, "value", None)
            if statement is not block[at] and not any(taken is each for each in steps):
                return False
    return False


def _holds(statement: ast.stmt, node: ast.AST | None) -> bool:
    return any(is_same_node(each, node) for each in ast.walk(statement))


def is_same_node(each: ast.AST, node: ast.AST | None) -> bool:
    """Whether both are one node, as it stands or as `written_as_method` gives it."""
    return each is node or (isinstance(each, ast.Call) and each in _CALLS and _CALLS[each][1] is node)


def _blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    for each in ast.walk(scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(each, name, None)
            if isinstance(block, list):
                yield block


def _scope(it: Interpreter) -> ast.AST:
    return it.frame.function.node if it.frame.function is not None else it.tree


def _nodes_of(it: Interpreter, whole: ast.AST) -> Iterator[ast.AST]:
    steps = _steps_of(_scope(it))
    waiting, seen = [whole], set[str]()
    while waiting:
        for each in ast.walk(waiting.pop()):
            yield each
            if isinstance(each, ast.Name) and each.id in steps and each.id not in seen:
                seen.add(each.id)
                waiting.append(steps[each.id])


def _steps_of(scope: ast.AST) -> dict[str, ast.expr]:
    """What is bound to the names of a scope that are bound once and read once."""
    found = _STEPS.get(scope)
    if found is None:
        bound: dict[str, ast.expr] = {}
        uses: dict[str, int] = {}
        for each in ast.walk(scope):
            match each:
                case ast.Name(id=name) | ast.arg(arg=name):
                    uses[name] = uses.get(name, 0) + 1
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    bound[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    bound[name] = value
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    uses.update(dict.fromkeys(names, 3))
        found = _STEPS[scope] = {name: value for name, value in bound.items() if uses[name] == 2}
    return found


def written_as_method(function: Value, node: ast.AST) -> ast.AST:
    """`write(step, state)` after `write = array.write` as `array.write(step, state)`, always the same node."""
    if function.kind not in (Kind.METHOD, Kind.PLAIN, Kind.UNKNOWN) or function.how is How.JOIN:
        return node
    method = function.node
    if not isinstance(method, ast.Attribute) or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return node
    known = _CALLS.get(node)
    if known is None or known[0] is not method:
        made = ast.copy_location(ast.Call(method, node.args, node.keywords), node)
        known = _CALLS[node] = method, made
    return known[1]
