"""Statements: branches, loops, `with`, `try`, assignments, definitions.

Loops are run exactly twice (iterations 1 and 2 are facts: loops over data run at least twice),
then once more on the join of everything that an iteration can hand to the next one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from gradlint.flow import attributes, calls, expressions, tapes
from gradlint.flow.classes import define_class
from gradlint.flow.interpreter import RECORDING, Exits, Interpreter
from gradlint.flow.objects import Container, Function, Items
from gradlint.flow.store import Delta
from gradlint.flow.symbols import symbol_of_import
from gradlint.flow.values import ANY_TAPE, How, Kind, Value, is_literal

MOST_UNROLLED = 4
MOST_PEELED_DEPTH = 2

Statement = Callable[[Interpreter, ast.AST], None]


def run_body(it: Interpreter, body: Sequence[ast.stmt]) -> None:
    """Run statements until the way ends."""
    for statement in body:
        if not it.alive:
            return
        handler = TABLE.get(type(statement))
        if handler is not None:
            it.burn()
            handler(it, statement)


# -- branches ----------------------------------------------------------------------------------


def run_arms(it: Interpreter, arms: Sequence[Callable[[], None]]) -> None:
    """Run each arm from the present state and join what they leave."""
    deltas: list[Delta] = []
    doubtful = it.doubt
    exits_before = it.branch_exits()
    for arm in arms:
        if it.peeled:
            it.doubt = doubtful + 1
        it.store.begin()
        it.alive = True
        arm()
        alive = it.alive
        delta = it.store.end()
        if alive:
            deltas.append(delta)
    it.doubt = doubtful
    if it.peeled and it.branch_exits() > exits_before:
        it.doubt += 1  # what follows is reached in this iteration only on some ways
    it.merge(deltas)


def run_if(it: Interpreter, node: ast.If) -> None:
    # A chain of elifs is run without recursion in Python's sense of depth: each level is one arm.
    truth = expressions.truth(it, node.test)
    if truth is not None:
        run_body(it, node.body if truth else node.orelse)
        return
    narrowed = expressions.narrowings(it, node.test)

    def then() -> None:
        for key, value in narrowed:
            it.store.set(key, value)
        run_body(it, node.body)

    run_arms(it, [then, lambda: run_body(it, node.orelse)])


def run_match(it: Interpreter, node: ast.Match) -> None:
    subject = expressions.evaluate(it, node.subject)

    def arm(case: ast.match_case) -> Callable[[], None]:
        def run() -> None:
            _bind_pattern(it, case.pattern, subject)
            if case.guard is not None:
                expressions.evaluate(it, case.guard)
            run_body(it, case.body)

        return run

    last = node.cases[-1]
    exhaustive = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    arms = [arm(case) for case in node.cases]
    run_arms(it, arms if exhaustive else [*arms, lambda: None])


def _bind_pattern(it: Interpreter, pattern: ast.pattern, subject: Value) -> None:
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                _bind_pattern(it, inner, subject)
            if name is not None:
                bind_name(it, name, subject)
        case ast.MatchStar(name=name):
            if name is not None:
                bind_name(it, name, it.part(subject, pattern, item=True))
        case ast.MatchSequence(patterns=patterns):
            starred = any(isinstance(each, ast.MatchStar) for each in patterns)
            parts = None if starred else attributes.unpack(it, subject, len(patterns), pattern)
            for i, each in enumerate(patterns):
                _bind_pattern(it, each, parts[i] if parts else it.part(subject, pattern, item=True))
        case ast.MatchMapping(patterns=patterns, rest=rest, keys=keys):
            for key, each in zip(keys, patterns, strict=False):
                key_value = expressions.evaluate(it, key)
                _bind_pattern(it, each, attributes.get_item(it, subject, key_value, pattern))
            if rest is not None:
                bind_name(it, rest, it.part(subject, pattern))
        case ast.MatchClass(patterns=patterns, kwd_attrs=names, kwd_patterns=keyword_patterns):
            for each in patterns:
                _bind_pattern(it, each, it.part(subject, pattern))
            for name_, each in zip(names, keyword_patterns, strict=False):
                _bind_pattern(it, each, attributes.get_attribute(it, subject, name_, pattern))
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                _bind_pattern(it, each, subject)


# -- loops -------------------------------------------------------------------------------------


def run_for(it: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    iterable = expressions.evaluate(it, node.iter)
    known = attributes.known_elements(it, iterable)
    if known is not None and len(known) <= MOST_UNROLLED and it.loop_depth < MOST_PEELED_DEPTH:
        run_unrolled(it, node, known)
        return

    def bind() -> None:
        assign(it, node.target, attributes.element_of(it, iterable, node.iter))

    run_loop(it, node.body, node.orelse, bind, endless=False, repeats=True)


def run_while(it: Interpreter, node: ast.While) -> None:
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    run_loop(
        it, node.body, node.orelse, lambda: _ignore(expressions.evaluate(it, node.test)), endless=endless, repeats=False
    )


def _ignore(_: Value) -> None:
    return


def run_unrolled(it: Interpreter, node: ast.For | ast.AsyncFor, elements: Sequence[Value]) -> None:
    """A loop over few known elements: one exact pass each."""
    store = it.store
    level = store.level
    store.begin()
    exits = Exits(level, level + 1, len(it.open_withs))
    it.loops.append(exits)
    it.loop_depth += 1
    doubtful = it.doubt
    it.peeled += 1
    for element in elements:
        _one_pass(it, node.body, lambda element=element: assign(it, node.target, element), exits)  # type: ignore[misc]
        if not it.alive:
            break
        if exits.breaks:
            it.doubt = doubtful + 1
    it.peeled -= 1
    it.doubt = doubtful
    it.loop_depth -= 1
    it.loops.pop()
    _leave_loop(it, node.orelse, [store.end()] if it.alive else _dropped(it), exits)


def _dropped(it: Interpreter) -> list[Delta]:
    it.store.end()
    return []


def _one_pass(it: Interpreter, body: Sequence[ast.stmt], bind: Callable[[], None], exits: Exits) -> None:
    store = it.store
    exits.continues = []
    exits.pass_level = store.level
    store.begin()
    it.alive = True
    bind()
    if it.alive:
        run_body(it, body)
    falls = [*exits.continues]
    if it.alive:
        falls.append(store.capture(exits.pass_level))
    exits.continues = []
    store.end()
    it.merge(falls)


def run_loop(
    it: Interpreter,
    body: Sequence[ast.stmt],
    orelse: Sequence[ast.stmt],
    bind: Callable[[], None],
    *,
    endless: bool,
    repeats: bool,
) -> None:
    """Two exact passes, then one on the joined head. `repeats`: a second iteration can be taken for granted."""
    store = it.store
    level = store.level
    store.begin()
    exits = Exits(level, level + 1, len(it.open_withs))
    it.loops.append(exits)
    it.loop_depth += 1
    doubtful = it.doubt
    snapshots: list[Delta] = []
    returned = len(it.calls[-1].returns) if it.calls else 0
    it.peeled += 1
    for _ in range(2 if it.loop_depth <= MOST_PEELED_DEPTH else 1):
        _one_pass(it, body, bind, exits)
        it.doubt = doubtful
        if not it.alive:
            break
        snapshots.append(store.capture(level))
        if not repeats or exits.breaks or (it.calls and len(it.calls[-1].returns) > returned):
            it.doubt = doubtful + 1  # the first iteration may have been the last
    it.peeled -= 1
    it.doubt = doubtful
    if it.alive and snapshots:
        joins = _join_head(it, snapshots, level)
        it.joined += 1
        _one_pass(it, body, bind, exits)
        it.joined -= 1
        _close_joins(it, joins)
        if it.alive:
            snapshots.append(store.capture(level))
    it.loop_depth -= 1
    it.loops.pop()
    store.end()
    if endless and exits.breaks:
        snapshots = []
    _leave_loop(it, orelse, snapshots, exits)


def _leave_loop(it: Interpreter, orelse: Sequence[ast.stmt], falls: list[Delta], exits: Exits) -> None:
    if orelse and falls:
        it.store.begin()
        it.merge(falls)
        run_body(it, orelse)
        alive = it.alive
        delta = it.store.end()
        falls = [delta] if alive else []
    it.merge([*falls, *exits.breaks])


def _join_head(it: Interpreter, snapshots: list[Delta], level: int) -> list[tuple[tuple[int, object], Value]]:
    """Replace every cell that an iteration changes by a join that the next pass can be added to."""
    store = it.store
    joins: list[tuple[tuple[int, object], Value]] = []
    log = store.changed_since(level)
    for key in list(log):
        if key == RECORDING:
            continue
        found: list[Value] = []
        for value in (log[key], *(snapshot.get(key) for snapshot in snapshots)):
            if value is not None and not any(value is other for other in found):
                found.append(value)
        if len(found) < 2:
            continue
        joined = it.join(found)
        if joined.how is not How.JOIN and not isinstance(joined.ref, Items):
            continue
        if isinstance(joined.ref, Items):
            # Contents: keep the positions, make each element a loop join.
            elements = tuple(_loop_join(it, [element]) for element in joined.ref.elements)
            items = Items(elements, joined.ref.keys, joined.ref.exact)
            head = Value(Kind.LITERAL, How.FRESH, 0, ref=items)
        else:
            head = _loop_join(it, list(joined.inputs), like=joined)
        store.set(key, head)
        joins.append((key, head))
    return joins


def _loop_join(it: Interpreter, inputs: list[Value], like: Value | None = None) -> Value:
    model = like if like is not None else inputs[0]
    return Value(
        model.kind,
        How.JOIN,
        it.tick(),
        ref=model.ref,
        inputs=tuple(inputs),
        possible=ANY_TAPE,  # the way back from the end of the body is not known yet
        node=model.node,
        frame=it.frame,
        label="loop",
        dtype=model.dtype,
    )


def _close_joins(it: Interpreter, joins: list[tuple[tuple[int, object], Value]]) -> None:
    for key, head in joins:
        back = it.store.get(key)
        if back is None or back is head:
            continue
        if isinstance(head.ref, Items):
            if isinstance(back.ref, Items):
                for element in head.ref.elements:
                    element.inputs = (*element.inputs, *(each for each in back.ref.elements if each is not element))
        else:
            head.inputs = (*head.inputs, back)
            if back.kind is not head.kind:
                head.kind, head.ref = Kind.UNKNOWN, None


def run_break(it: Interpreter, node: ast.Break) -> None:
    if it.loops:
        exits = it.loops[-1]
        exits.breaks.append(it.capture(exits, exits.level))
    it.alive = False


def run_continue(it: Interpreter, node: ast.Continue) -> None:
    if it.loops:
        exits = it.loops[-1]
        exits.continues.append(it.capture(exits, exits.pass_level))
    it.alive = False


def run_return(it: Interpreter, node: ast.Return) -> None:
    value = it_none(it, node) if node.value is None else expressions.evaluate(it, node.value)
    if it.calls:
        exits = it.calls[-1]
        exits.returns.append((value, it.capture(exits, exits.level)))
    it.alive = False


def it_none(it: Interpreter, node: ast.AST) -> Value:
    """The constant None."""
    return it.fresh(Kind.LITERAL, node, ref=None)


def run_raise(it: Interpreter, node: ast.Raise) -> None:
    if node.exc is not None:
        expressions.evaluate(it, node.exc)
    it.alive = False


# -- try, with ---------------------------------------------------------------------------------


def run_try(it: Interpreter, node: ast.Try) -> None:
    store = it.store
    store.watch()
    store.begin()
    run_body(it, node.body)
    if it.alive and node.orelse:
        run_body(it, node.orelse)
    body_alive = it.alive
    body = store.end()
    written = store.unwatch()
    arms: list[Delta] = [body] if body_alive else []
    doubtful = it.doubt
    for handler in node.handlers:
        store.begin()
        it.alive = True
        for key, values in written.items():
            if key == RECORDING:
                continue
            every = [value for value in (store.get(key), *values) if value is not None]
            if every:
                store.set(key, it.join(every))
        if it.peeled:
            it.doubt = doubtful + 1
        if handler.type is not None:
            expressions.evaluate(it, handler.type)
        if handler.name:
            bind_name(it, handler.name, it.plain(handler))
        run_body(it, handler.body)
        alive = it.alive
        delta = store.end()
        if alive:
            arms.append(delta)
    it.doubt = doubtful
    it.merge(arms)
    if node.finalbody:
        if it.alive:
            run_body(it, node.finalbody)
        else:
            # Every way left already; the clean-up still runs on each of them.
            store.begin()
            it.alive = True
            run_body(it, node.finalbody)
            store.end()
            it.alive = False


def run_with(it: Interpreter, node: ast.With | ast.AsyncWith) -> None:
    _run_with_items(it, list(node.items), node)


def _run_with_items(it: Interpreter, items: list[ast.withitem], node: ast.With | ast.AsyncWith) -> None:
    if not items:
        run_body(it, node.body)
        return
    item, rest = items[0], items[1:]
    manager = expressions.evaluate(it, item.context_expr)
    calls.enter_context(
        it,
        manager,
        item.context_expr,
        lambda entered: (
            _ignore_none(assign(it, item.optional_vars, entered)) if item.optional_vars is not None else None
        ),
        lambda: _run_with_items(it, rest, node),
        _tape_name(item),
    )


def _ignore_none(_: None) -> None:
    return


def _tape_name(item: ast.withitem) -> str:
    target = item.optional_vars if item.optional_vars is not None else item.context_expr
    return ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else "the tape"


# -- assignments -------------------------------------------------------------------------------


def bind_name(it: Interpreter, name: str, value: Value) -> None:
    """Bind a name in the scope that Python would bind it in."""
    frame = it.frame
    while frame.is_comprehension and name not in frame.names.local and frame.parent is not None:
        frame = frame.parent
    if name in frame.names.global_:
        frame = it.module
    elif name in frame.names.nonlocal_:
        outer = frame.parent
        while outer is not None and (outer.is_class or name not in outer.names.local):
            outer = outer.parent
        frame = outer or it.module
    it.store.set((frame.id, name), value)


def assign(it: Interpreter, target: ast.expr, value: Value) -> None:
    """Assign to a name, attribute, item or (nested) sequence of them."""
    match target:
        case ast.Name(id=name):
            bind_name(it, name, value)
        case ast.Attribute(value=base, attr=name):
            attributes.set_attribute(it, expressions.evaluate(it, base), name, value, target)
        case ast.Subscript(value=base, slice=index):
            owner = expressions.evaluate(it, base)
            attributes.set_item(it, owner, expressions.evaluate(it, index), value, target)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _assign_sequence(it, elements, value, target)
        case ast.Starred(value=inner):
            assign(it, inner, value)


def _assign_sequence(it: Interpreter, elements: list[ast.expr], value: Value, node: ast.expr) -> None:
    star = next((i for i, each in enumerate(elements) if isinstance(each, ast.Starred)), None)
    if star is None:
        parts = attributes.unpack(it, value, len(elements), node)
        for element, part in zip(elements, parts, strict=True):
            assign(it, element, part)
        return
    known = attributes.known_elements(it, value)
    after = len(elements) - star - 1
    if known is not None and len(known) >= len(elements) - 1:
        middle = it.list_of(known[star : len(known) - after], node)
        values = [*known[:star], middle, *known[len(known) - after :]]
        for element, part in zip(elements, values, strict=True):
            assign(it, element, part)
        return
    for i, element in enumerate(elements):
        part = attributes.element_of(it, value, node)
        assign(it, element, it.list_of([part], node, exact=False) if i == star else part)


def run_assign(it: Interpreter, node: ast.Assign) -> None:
    value = kept_for_later(it, expressions.evaluate(it, node.value))
    for target in node.targets:
        assign(it, target, value)


def kept_for_later(it: Interpreter, value: Value) -> Value:
    """A generator that is kept runs when it is consumed, under whatever tape is open then: nothing can be said."""
    if value.kind is not Kind.CONTAINER or value.ref.type != "generator":
        return value
    seen: set[int] = set()
    stack = list(it.items(value).elements)
    while stack and len(seen) < 500:
        each = stack.pop()
        if each.serial not in seen:
            seen.add(each.serial)
            it.escape(each)
            stack.extend(each.inputs)
    made = it.unknown(value.node, "a generator that is consumed later", ())
    made.possible = ANY_TAPE
    return made


def run_annotated(it: Interpreter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(it, node.target, expressions.evaluate(it, node.value))


def run_augmented(it: Interpreter, node: ast.AugAssign) -> None:
    target = node.target
    right = expressions.evaluate(it, node.value)
    if isinstance(target, ast.Name):
        left = expressions.read_name(it, target.id, target)
        place: Callable[[Value], None] = lambda value: bind_name(it, target.id, value)  # noqa: E731
    elif isinstance(target, ast.Attribute):
        owner = expressions.evaluate(it, target.value)
        left = attributes.get_attribute(it, owner, target.attr, target)
        place = lambda value: attributes.set_attribute(it, owner, target.attr, value, target)  # noqa: E731
    else:
        owner = expressions.evaluate(it, target.value)
        index = expressions.evaluate(it, target.slice)
        left = attributes.get_item(it, owner, index, target)
        place = lambda value: attributes.set_item(it, owner, index, value, target)  # noqa: E731
    if left.kind is Kind.CONTAINER and isinstance(left.ref, Container) and left.ref.type == "list":
        if isinstance(node.op, ast.Add):
            attributes.extend(it, left, right)  # in place: every alias sees it
            return
    place(expressions.binary(it, node.op, left, right, node))


def run_delete(it: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            bind_name(it, target.id, it_none(it, target))
        elif isinstance(target, ast.Subscript):
            owner = expressions.evaluate(it, target.value)
            if owner.kind is Kind.CONTAINER:
                attributes.forget_positions(it, owner)


def run_expression(it: Interpreter, node: ast.Expr) -> None:
    expressions.evaluate(it, node.value)


def run_assert(it: Interpreter, node: ast.Assert) -> None:
    expressions.evaluate(it, node.test)


# -- definitions -------------------------------------------------------------------------------


def run_def(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    bind_name(it, node.name, make_function(it, node, None))


def make_function(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: object) -> Value:
    """The value of a `def`, decorators applied."""
    value = plain_function(it, node)
    for decorator in reversed(node.decorator_list):
        value = calls.decorate(it, expressions.evaluate(it, decorator), value, decorator)
    return value


def plain_function(it: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    """The function object of a `def` or lambda before its decorators."""
    defaults = tuple(expressions.evaluate(it, each) for each in node.args.defaults)
    keyword_defaults = tuple(None if each is None else expressions.evaluate(it, each) for each in node.args.kw_defaults)
    made = Function(it.new_id(), node, it.frame, defaults, keyword_defaults)
    it.functions.append(made)
    return it.fresh(Kind.FUNCTION, node, ref=made)


def run_class(it: Interpreter, node: ast.ClassDef) -> None:
    bind_name(it, node.name, define_class(it, node))


def run_import(it: Interpreter, node: ast.Import) -> None:
    for alias in node.names:
        if alias.asname:
            bind_name(it, alias.asname, symbol_of_import(it, alias.name, node))
        else:
            bind_name(it, alias.name.split(".")[0], symbol_of_import(it, alias.name.split(".")[0], node))


def run_import_from(it: Interpreter, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name == "*":
            it.star_imports.append(module)
        else:
            name = f"{module}.{alias.name}" if not module.endswith(".") else module + alias.name
            bind_name(it, alias.asname or alias.name, symbol_of_import(it, name, node))


TABLE: dict[type[ast.AST], Statement] = {
    ast.If: run_if,  # type: ignore[dict-item]
    ast.Match: run_match,  # type: ignore[dict-item]
    ast.For: run_for,  # type: ignore[dict-item]
    ast.AsyncFor: run_for,  # type: ignore[dict-item]
    ast.While: run_while,  # type: ignore[dict-item]
    ast.Break: run_break,  # type: ignore[dict-item]
    ast.Continue: run_continue,  # type: ignore[dict-item]
    ast.Return: run_return,  # type: ignore[dict-item]
    ast.Raise: run_raise,  # type: ignore[dict-item]
    ast.Try: run_try,  # type: ignore[dict-item]
    ast.With: run_with,  # type: ignore[dict-item]
    ast.AsyncWith: run_with,  # type: ignore[dict-item]
    ast.Assign: run_assign,  # type: ignore[dict-item]
    ast.AnnAssign: run_annotated,  # type: ignore[dict-item]
    ast.AugAssign: run_augmented,  # type: ignore[dict-item]
    ast.Delete: run_delete,  # type: ignore[dict-item]
    ast.Expr: run_expression,  # type: ignore[dict-item]
    ast.Assert: run_assert,  # type: ignore[dict-item]
    ast.FunctionDef: run_def,  # type: ignore[dict-item]
    ast.AsyncFunctionDef: run_def,  # type: ignore[dict-item]
    ast.ClassDef: run_class,  # type: ignore[dict-item]
    ast.Import: run_import,  # type: ignore[dict-item]
    ast.ImportFrom: run_import_from,  # type: ignore[dict-item]
}
if hasattr(ast, "TryStar"):
    TABLE[ast.TryStar] = run_try  # type: ignore[assignment]

__all__ = ["assign", "bind_name", "is_literal", "run_body", "tapes"]
