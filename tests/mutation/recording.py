"""Operators for recording faults: the target, or what it stands on, is computed where the tape does not record."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from mutation.edits import Line, Mutant, extract, made, move_out, replace, rows_of
from mutation.names import (
    assigns,
    dotted,
    hands_out,
    is_loss_call,
    is_new_tensor,
    is_plural,
    leaves_block,
    mentions,
    stored,
)
from mutation.reach import OnlyWay, depends_on, sources_of_callee
from mutation.source import Ask, Source, tape_blocks

_SOMETIMES = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def move_before(ask: Ask) -> Iterator[Mutant]:
    """All that the block computes moves above the `with`; only the tape's own calls stay under it."""
    body = ask.block.body
    end = next((i for i, one in enumerate(body) if ask.uses_tape(one) and not ask.is_tape_only(one)), len(body))
    if end != (len(body) if ask.inside is None else ask.inside) or not ask.opens_only_tapes:
        return
    moved = {i for i in range(end) if not ask.is_tape_only(body[i])}
    if ask.inside is not None and ask.target in stored(body[ask.inside]):
        return
    binding = [i for i in sorted(moved) if ask.target in stored(body[i])]
    if not binding or not assigns(body[binding[-1]], ask.target) or any(leaves_block(body[i]) for i in moved):
        return
    if any(_tapes(ask) & _names(body[i]) for i in moved):
        return
    yield from _moved("move-before", ask, f"`{ask.target}` is computed before `{ask.tape}` opens", before=moved)


def move_after(ask: Ask) -> Iterator[Mutant]:
    """The last assignment of the target, and what stands below it, moves behind the `with`."""
    body = ask.block.body
    binding = [i for i, one in enumerate(body) if ask.target in stored(one)]
    if ask.inside is not None or not ask.opens_only_tapes or not binding or not assigns(body[binding[-1]], ask.target):
        return
    moved = range(binding[-1], len(body))
    if any(leaves_block(body[i]) or _tapes(ask) & _names(body[i]) for i in moved):
        return
    if _is_surely_computed(ask, binding[-1]):
        yield from _moved("move-after", ask, f"`{ask.target}` is computed after `{ask.tape}` closed", after=set(moved))


def forward_out(ask: Ask) -> Iterator[Mutant]:
    """`model(x)` is called above the `with`, where `model.trainable_variables` are the sources."""
    for i, statement in enumerate(ask.block.body[: ask.inside]):
        for call in plain_parts(statement):
            if isinstance(call, ast.Call) and sources_of_callee(ask, call.func) and OnlyWay(ask, call.func, i).holds():
                fault = f"`{ask.source.code(call.func)}` is called before `{ask.tape}` opens"
                yield from _out("forward-out", ask, i, call, "forward", fault)


def derived_out(ask: Ask) -> Iterator[Mutant]:
    """`tf.exp(w)` is computed above the `with`, where `w` is a source; or `tf.identity(w)`, for all reads."""
    elements = ask.sources.elts if isinstance(ask.sources, ast.List | ast.Tuple) else [ask.sources]
    for element in elements:
        yield from list(_operation_out(ask, element)) or _copied_out(ask, element)


def _operation_out(ask: Ask, element: ast.expr) -> Iterator[Mutant]:
    for i, statement in enumerate(ask.block.body[: ask.inside]):
        if OnlyWay(ask, element, i).holds():
            parts = [one for one in plain_parts(statement) if mentions(one, dotted(element) or "")]
            derived = [one for one in parts if is_new_tensor(one, ask.source.roots)]
            if derived:
                fault = f"`{ast.unparse(derived[-1])}` is computed before `{ask.tape}` opens"
                yield from _out("derived-out", ask, i, derived[-1], "derived", fault)


def _copied_out(ask: Ask, element: ast.expr) -> Iterator[Mutant]:
    name, body, tensorflow = dotted(element) or "self", ask.block.body[: ask.inside], ask.source.tensorflow
    if name == "self" or is_plural(name) or tensorflow is None or not ask.opens_only_tapes:
        return
    computing = [one for one in body if not ask.is_tape_only(one)]
    reads = [node for one in computing for node in ast.walk(one) if dotted(node) == name and isinstance(node, ast.expr)]
    first = next((i for i, one in enumerate(body) if one in computing and mentions(one, name)), None)
    if first is None or not _reaches_target(ask, first) or not OnlyWay(ask, element, first).holds_for_all_reads():
        return
    if all(_is_tensor_read(ask.source, node) for node in reads) and "derived" not in _names(ask.function):
        lines = replace(ask.source, [(node, "derived") for node in reads])
        if lines is not None:
            above = ask.block.lineno - 1
            new = Line(f"{ask.source.indent(ask.block.lineno)}derived = {tensorflow}.identity({name})", None)
            fault = f"`{tensorflow}.identity({name})` is computed before `{ask.tape}` opens"
            touched = [row for node in reads for row in rows_of(node)]
            mutant = made("derived-out", ask, fault, [*lines[:above], new, *lines[above:]], touched)
            if mutant is not None:
                yield mutant


def _is_tensor_read(source: Source, node: ast.expr) -> bool:
    """Whether the name is read as one tensor: an operand, or an argument of a call, not starred and not a receiver."""
    parent = source.parents[node]
    if isinstance(parent, ast.Call):
        return parent.func is not node
    return isinstance(parent, ast.BinOp | ast.UnaryOp | ast.keyword) and isinstance(
        getattr(node, "ctx", None), ast.Load
    )


def plain_parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of an assignment's right side that run once and always, the outer before the inner."""
    waiting: list[ast.AST] = [statement.value] if isinstance(statement, ast.Assign | ast.AugAssign) else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, _SOMETIMES):
            waiting.extend(ast.iter_child_nodes(node))


def _out(operator: str, ask: Ask, index: int, part: ast.expr, name: str, fault: str) -> Iterator[Mutant]:
    """Move the statement above the block when it is `y = part`, otherwise only that part of it."""
    statement = ask.block.body[index]
    if not ask.opens_only_tapes or leaves_block(statement) or not _reaches_target(ask, index):
        return
    if isinstance(statement, ast.Assign) and statement.value is part:
        if _may_go_first(ask, index) and ask.target not in stored(statement):
            yield from _moved(operator, ask, fault, before={index})
    elif not {one for body in ask.block.body[:index] for one in stored(body)} & _names(part) and ask.tape not in _names(
        part
    ):
        mutant = made(operator, ask, fault, extract(ask, part, name), rows_of(part))
        if mutant is not None and name not in _names(ask.function):
            yield mutant


def _reaches_target(ask: Ask, index: int) -> bool:
    return ask.target in stored(ask.block.body[index]) or depends_on(ask, index)


def other_tape(ask: Ask) -> Iterator[Mutant]:
    """Another tape is asked for the target: one that stands in the function, or a fresh one."""
    asked = ask.call.func
    assert isinstance(asked, ast.Attribute)
    other = _other_block(ask)
    if other is not None:
        block, name = other
        lines = replace(ask.source, [(asked.value, name)])
        touched = {row for node in _asks_of_tape(ask, name) for row in rows_of(node)} | {block.lineno}
    else:
        name = "other_tape"
        lines, touched = _with_fresh_tape(ask, asked.value, name), set()
    touched |= {row for one in ask.block.body if assigns(one, ask.target) for row in rows_of(one)}
    if lines is not None and any(ask.target in stored(one) for one in ask.block.body):
        mutant = made("other-tape", ask, f"`{name}` is asked for `{ask.target}`", lines, touched)
        if mutant is not None:
            yield mutant


def _moved(
    operator: str, ask: Ask, fault: str, *, before: Collection[int] = (), after: Collection[int] = ()
) -> Iterator[Mutant]:
    lines = move_out(ask, before=before, after=after)
    touched = {row for i in (*before, *after) for row in rows_of(ask.block.body[i])}
    mutant = None if lines is None else made(operator, ask, fault, lines, touched)
    if mutant is not None:
        yield mutant


def _names(statement: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _tapes(ask: Ask) -> set[str]:
    return {item.optional_vars.id for item in ask.block.items if isinstance(item.optional_vars, ast.Name)}


def _may_go_first(ask: Ask, index: int) -> bool:
    """Whether the statement means the same above the `with`: what it reads and binds is not touched before it."""
    statement, earlier = ask.block.body[index], ask.block.body[:index]
    if ask.uses_tape(statement) or leaves_block(statement) or not ask.opens_only_tapes:
        return False
    bound = {name for one in earlier for name in stored(one)}
    used = {name for one in earlier for name in _names(one)}
    return not (bound & _names(statement)) and not (used & stored(statement))


def _is_surely_computed(ask: Ask, index: int) -> bool:
    """Whether the assignment makes a new tensor: an operation, a loss, or a call before which nothing was recorded."""
    statement = ask.block.body[index]
    assert isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and statement.value is not None
    value, roots = statement.value, ask.source.roots
    if isinstance(statement, ast.AugAssign):
        earlier = [
            one.value for one in ask.block.body[:index] if isinstance(one, ast.Assign) and assigns(one, ask.target)
        ]
        known = bool(earlier) and (is_new_tensor(earlier[-1], roots) or is_loss_call(earlier[-1]))
        return not is_plural(ask.target) and (known or is_new_tensor(value, roots))
    if is_new_tensor(value, roots):
        return not (is_plural(ask.target) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add))
    if is_loss_call(value):
        return True
    nothing_before = all(ask.is_tape_only(one) or _is_plain(one) for one in ask.block.body[:index])
    return nothing_before and not hands_out(value)


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _other_block(ask: Ask) -> tuple[ast.With, str] | None:
    """A tape whose own block stands apart from the asked one, ends before the call, and does not know the target."""
    around = set(ask.source.ancestors(ask.call))
    for block, name in tape_blocks(ask.function):
        apart = block not in set(ask.source.ancestors(ask.block)) and ask.block not in set(ask.source.ancestors(block))
        siblings = ask.source.parents[block] is ask.source.parents[ask.block]
        ended = block not in around and (block.end_lineno or 0) < ask.call.lineno
        if apart and siblings and ended and name not in {"", ask.tape} and ask.target not in _names(block):
            return block, name
    return None


def _asks_of_tape(ask: Ask, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(ask.function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            if node.func.value.id == name and node.func.attr != "watch":
                yield node


def _with_fresh_tape(ask: Ask, asked: ast.expr, name: str) -> list[Line] | None:
    source, statement = ask.source, ask.statement
    lines = replace(source, [(asked, name)])
    if lines is None or not source.begins_line(statement):
        return None
    opened = next(item.context_expr for item in ask.block.items if _binds(item, ask.tape))
    indent, step = source.indent(statement.lineno), _step(source)
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
    expression = re.sub(r"\s+", " ", source.code(opened))
    fresh = [Line(f"{indent}with {expression} as {name}:", None), Line(f"{indent}{step}pass", None)]
    return [*lines[: first - 1], *fresh, *lines[first - 1 :]]


def _binds(item: ast.withitem, name: str) -> bool:
    return isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name


def _step(source: Source) -> str:
    return next(
        (source.indent(node.body[0].lineno) for node in source.tree.body if isinstance(node, ast.FunctionDef)), "    "
    )
