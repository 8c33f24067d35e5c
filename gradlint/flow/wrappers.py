"""Wrappers: functions that decorators of the file put around others, and that only hand on.

`@timed` gives back a function that takes the time, calls the decorated one with whatever it was given and returns what
that returns. For gradients it is the decorated function, and who reads a function's parameters or text wants that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import Function
from gradlint.flow.scopes import Frame
from gradlint.flow.values import How, Kind, Value

#: Calls into these may do something to what flows.
_LIBRARIES = frozenset({"tf", "keras", "np", "tensorflow", "numpy", "contextlib"})


def hands_all_on(node: ast.AST) -> bool:
    """Whether a function is there to be put around any other: `def inner(*args, **kwargs):`."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    spec = node.args
    return spec.vararg is not None and spec.kwarg is not None and not (spec.args or spec.posonlyargs or spec.kwonlyargs)


def without_wrapper(it: Interpreter, made: Value, function: Value) -> Value:
    """What a decorator made of a function; the function itself, where a wrapper only hands on to it."""
    wrapper = made.ref
    if made.kind is not Kind.FUNCTION or not isinstance(wrapper, Function) or not hands_all_on(wrapper.node):
        return made
    assert isinstance(wrapper.node, ast.FunctionDef | ast.AsyncFunctionDef)
    steps = list(_steps(wrapper.node.body))
    calls = [call for step in steps if step is not None for call in _calls_on(step, wrapper.node)]
    if None in steps or len(calls) != 1 or not _returns(steps, calls[0]):
        return made
    callee = calls[0].func
    if not isinstance(callee, ast.Name) or _bound(it, wrapper.frame, callee.id) is not function:
        return made
    return function if _does_nothing_else(it, wrapper, steps, calls[0]) else made


def _steps(body: Sequence[ast.stmt]) -> Iterator[ast.stmt | None]:
    """The statements of a wrapper in order; None for one that may do something else than look on."""
    for each in body:
        if isinstance(each, ast.Try) and not each.handlers:
            yield from _steps([*each.body, *each.orelse, *each.finalbody])
        elif isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return | ast.Nonlocal):
            yield each
        else:
            yield None


def _calls_on(step: ast.stmt, wrapper: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    """Calls of something with all that the wrapper was given."""
    rest, keywords = wrapper.args.vararg, wrapper.args.kwarg
    assert rest is not None and keywords is not None
    for each in ast.walk(step):
        match each:
            case ast.Call(
                args=[ast.Starred(value=ast.Name(id=one))], keywords=[ast.keyword(arg=None, value=ast.Name(id=other))]
            ) if (one, other) == (rest.arg, keywords.arg):
                yield each


def _returns(steps: list[ast.stmt | None], call: ast.Call) -> bool:
    """Whether what the call returns is what the wrapper returns."""
    returns = [each for each in steps if isinstance(each, ast.Return)]
    if len(returns) != 1:
        return False
    value = returns[0].value
    if value is call:
        return True
    return isinstance(value, ast.Name) and any(
        isinstance(each, ast.Assign)
        and each.value is call
        and [target.id for target in each.targets if isinstance(target, ast.Name)] == [value.id]
        for each in steps
    )


def _does_nothing_else(it: Interpreter, wrapper: Function, steps: list[ast.stmt | None], call: ast.Call) -> bool:
    """Whether the rest of a wrapper neither touches what it hands on nor calls what could."""
    own = it.names_of(wrapper.node).local
    handed = {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
    handed |= {
        target.id
        for step in steps
        if isinstance(step, ast.Assign) and step.value is call
        for target in step.targets
        if isinstance(target, ast.Name)
    }
    inside = {id(each) for each in ast.walk(call)}
    for step in steps:
        if step is None:
            return False
        for each in ast.walk(step):
            if id(each) in inside:
                continue
            if isinstance(each, ast.Call) and not _only_looks_on(it, wrapper.frame, each, own):
                return False
            if isinstance(each, ast.Name) and each.id in handed and not _is_handed_back(step, each, call):
                return False
    return True


def _is_handed_back(step: ast.stmt, name: ast.Name, call: ast.Call) -> bool:
    if isinstance(step, ast.Return):
        return step.value is name
    if isinstance(step, ast.Assign) and step.value is call:
        return True
    named = [each for each in ast.walk(step) if isinstance(each, ast.Attribute) and each.value is name]
    return any(each.attr.startswith("__") and isinstance(each.ctx, ast.Load) for each in named)  # its name, to print


def _only_looks_on(it: Interpreter, frame: Frame, call: ast.Call, own: frozenset[str]) -> bool:
    """Whether something is called that no tensor, tape or variable comes near: a clock, a log, a list."""
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(root, ast.Constant | ast.JoinedStr):
        return True
    if not isinstance(root, ast.Name):
        return False
    if root.id in own:
        return isinstance(call.func, ast.Attribute)
    value = _bound(it, frame, root.id)
    if value is None:
        return root.id in ("print", "len", "str", "repr", "round", "type", "getattr", "id")
    if value.kind is Kind.SYMBOL:
        return str(value.ref).partition(".")[0] not in _LIBRARIES
    return value.kind is Kind.CONTAINER or (value.kind is Kind.UNKNOWN and value.how is not How.PARAMETER)


def _bound(it: Interpreter, frame: Frame, name: str) -> Value | None:
    """What a name is bound to where a function was made."""
    each: Frame | None = frame
    while each is not None:
        value = it.store.get((each.id, name))
        if value is not None:
            return value
        each = each.parent
    return None
