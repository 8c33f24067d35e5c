"""Operators for cuts on the way: the target, or the output of the model, passes something without a gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.edits import Mutant, insert_after, made, replace, rows_of
from mutation.names import assigns, dotted, is_plural, stored
from mutation.reach import OnlyWay, depends_on, sources_of_callee
from mutation.recording import plain_parts
from mutation.source import Ask


def to_numpy(ask: Ask) -> Iterator[Mutant]:
    """The target leaves TensorFlow under the tape."""
    yield from rebound("numpy", ask, "{target}.numpy()")


def int_cast(ask: Ask) -> Iterator[Mutant]:
    """The target becomes an integer under the tape."""
    yield from rebound("int-cast", ask, "{tf}.cast({target}, {tf}.int32)")


def stop_gradient(ask: Ask) -> Iterator[Mutant]:
    """The target is stopped under the tape."""
    yield from rebound("stop-gradient", ask, "{tf}.stop_gradient({target})")


def rounded(ask: Ask) -> Iterator[Mutant]:
    """The target is rounded under the tape."""
    yield from rebound("rounded", ask, "{tf}.round({target})")


def forward_stopped(ask: Ask) -> Iterator[Mutant]:
    """`tf.stop_gradient(model(x))`, where `model.trainable_variables` are the sources."""
    yield from wrapped("forward-stopped", ask, "{tf}.stop_gradient({call})")


def forward_rounded(ask: Ask) -> Iterator[Mutant]:
    """`tf.round(model(x))`, likewise."""
    yield from wrapped("forward-rounded", ask, "{tf}.round({call})")


def forward_threshold(ask: Ask) -> Iterator[Mutant]:
    """`tf.cast(model(x) > 0.5, tf.float32)`, likewise."""
    yield from wrapped("forward-threshold", ask, "{tf}.cast({call} > 0.5, {tf}.float32)")


def assignment_rebound(ask: Ask) -> Iterator[Mutant]:
    """`w.assign_sub(x)` in a loop over variables becomes `w -= x`."""
    for loop in ast.walk(ask.source.tree):
        if not isinstance(loop, ast.For):
            continue
        for statement in loop.body:
            match statement:
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=name), attr="assign_sub" | "assign_add" as method),
                        args=[given],
                        keywords=[],
                    ) as call
                ) if name in {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}:
                    sign = "-" if method == "assign_sub" else "+"
                    lines = replace(ask.source, [(call, f"{name} {sign}= {ask.source.code(given)}")])
                    fault = f"`{name}` is bound to a tensor"
                    mutant = made("assignment-rebound", ask, fault, lines, rows_of(statement)) if lines else None
                    if mutant is not None:
                        yield mutant


def rebound(operator: str, ask: Ask, form: str) -> Iterator[Mutant]:
    """The target is bound anew under the tape, to what the form makes of it."""
    body = ask.block.body[: ask.inside]
    binding = [one for one in body if ask.target in stored(one)]
    if (
        not binding
        or not assigns(binding[-1], ask.target)
        or not ask.is_whole
        or is_plural(ask.target)
        or not ask.source.begins_line(binding[-1])
    ):
        return
    if "{tf}" in form and ask.source.tensorflow is None:
        return
    code = form.format(target=ask.target, tf=ask.source.tensorflow)
    last = binding[-1]
    end = ask.source.end_of_logical_line(last.end_lineno or last.lineno)
    lines = insert_after(ask.source, end, [f"{ask.source.indent(last.lineno)}{ask.target} = {code}"])
    mutant = made(operator, ask, f"`{ask.target}` becomes `{code}`", lines, rows_of(last))
    if mutant is not None:
        yield mutant


def wrapped(operator: str, ask: Ask, form: str) -> Iterator[Mutant]:
    """The call of the model whose variables are asked for is wrapped into what the form makes of it."""
    if ask.source.tensorflow is None:
        return
    for i, statement in enumerate(ask.block.body[: ask.inside]):
        unpacks = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.List)
        if unpacks or not (ask.target in stored(statement) or depends_on(ask, i)):
            continue
        for call in plain_parts(statement):
            if isinstance(call, ast.Call) and sources_of_callee(ask, call.func) and OnlyWay(ask, call.func, i).holds():
                code = form.format(tf=ask.source.tensorflow, call=ask.source.code(call))
                lines = replace(ask.source, [(call, code)])
                fault = f"`{dotted(call.func)}(...)` becomes `{code}`"
                mutant = made(operator, ask, fault, lines, rows_of(statement)) if lines else None
                if mutant is not None:
                    yield mutant
