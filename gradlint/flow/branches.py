"""Branches: if, match, try."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from gradlint.flow.assumptions import in_arm, narrow
from gradlint.flow.interpreter import RECORDING, Interpreter, expecting_errors
from gradlint.flow.names import bind_name
from gradlint.flow.store import Delta, Key
from gradlint.flow.timing import Timing, timing_of
from gradlint.flow.truth import asks_version, is_for_type_checkers, narrowings, truth_of
from gradlint.flow.values import Value


def run_arms(it: Interpreter, arms: Sequence[Callable[[], None]]) -> bool:
    """Run each arm from the present state and join what they leave; whether one arm alone leads on."""
    deltas: list[Delta] = []
    doubtful = it.doubt
    exits_before = it.branch_exits()
    for arm in arms:
        if it.peeled:
            it.doubt = doubtful + 1
        it.store.begin()
        it.alive = True
        it.arms += 1
        arm()
        it.arms -= 1
        alive = it.alive
        delta = it.store.end()
        if alive:
            deltas.append(delta)
    it.doubt = doubtful
    if it.peeled and it.branch_exits() > exits_before:
        it.doubt += 1  # what follows is reached in this iteration only on some ways
    it.merge(deltas)
    return len(deltas) == 1


def run_if(it: Interpreter, node: ast.If) -> None:
    # A chain of elifs is run without recursion in Python's sense of depth: each level is one arm.
    if is_for_type_checkers(node.test):
        it.run_body([each for each in node.body if isinstance(each, ast.Import | ast.ImportFrom)])
        it.run_body(node.orelse)
        return
    truth = truth_of(it, node.test)
    if truth is not None:
        it.run_body(node.body if truth else node.orelse)
        return
    narrowed = narrowings(it, node.test)
    timing = timing_of(it, node.test)

    def then() -> None:
        for key, value in narrowed:
            it.store.set(key, value)
        in_arm(it, node.test, True, partial(it.run_body, node.body))

    def otherwise() -> None:
        in_arm(it, node.test, False, partial(it.run_body, node.orelse))

    versioned = asks_version(node.test)
    it.expected += versioned
    outer, it.timed_keys = it.timed_keys, set()
    only_one = run_arms(it, [_timed(it, then, timing is Timing.LATE), _timed(it, otherwise, timing is Timing.EARLY)])
    it.timed_keys = outer
    it.expected -= versioned
    if only_one:
        narrow(it)


def _timed(it: Interpreter, arm: Callable[[], None], timed: bool) -> Callable[[], None]:
    """An arm that is run from some step on."""

    def run() -> None:
        it.timed += timed
        arm()
        it.timed -= timed
        if timed:
            it.timed_keys |= it.store.changed_since(it.store.level - 1).keys()

    return run


#: A `try` of at most so many statements is there to show the error, not to guard a training run.
_SHORT = 3


def _awaits_error(node: ast.Try) -> bool:
    """Whether the author expects the body to raise: a short `try` with a handler for what TensorFlow raises."""
    if len(node.body) > _SHORT:
        return False
    awaited = (
        "RuntimeError", "ValueError", "AttributeError", "Exception", "LookupError", "TypeError", "InvalidArgumentError",
        "AssertionError",
    )  # fmt: skip
    return any(
        handler.type is not None and any(name in ast.dump(handler.type) for name in awaited)
        for handler in node.handlers
    )


def _is_import_that_works(it: Interpreter, node: ast.Try) -> bool:
    """Whether the body only imports modules of the project that are there, and the handlers are for missing ones."""
    module = it.module.module
    for statement in node.body:
        if not isinstance(statement, ast.ImportFrom | ast.Import) or module is None:
            return False
        names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [a.name for a in statement.names]
        level = statement.level if isinstance(statement, ast.ImportFrom) else 0
        if any(it.sources.finder.module(name, level, module.path) is None for name in names):
            return False
    return all(
        handler.type is not None and ast.unparse(handler.type) in ("ImportError", "ModuleNotFoundError")
        for handler in node.handlers
    )


def _be_where_something_raised(it: Interpreter, written: Mapping[Key, Iterable[Value | None]]) -> None:
    """Behind a body that ended by an exception, no telling where: what it wrote was written, or not yet."""
    it.alive = True
    for key, values in written.items():
        if key == RECORDING:
            continue
        every = [value for value in (it.store.get(key), *values) if value is not None]
        if every:
            it.store.set(key, it.join(every))


def run_suppressed(it: Interpreter, run: Callable[[], None]) -> None:
    """Run a body whose exceptions end where it ends: that of `with pytest.raises(ValueError):`."""
    store = it.store
    store.watch()
    store.begin()
    run()
    arms = [store.end()]
    if not it.alive:
        arms.clear()
    written = store.unwatch()
    store.begin()
    _be_where_something_raised(it, written)
    it.merge([*arms, store.end()])


def run_try(it: Interpreter, node: ast.Try) -> None:
    if _is_import_that_works(it, node):
        it.run_body([*node.body, *node.orelse, *node.finalbody])
        return
    store = it.store
    store.watch()
    store.begin()
    with expecting_errors(it, tells=_awaits_error(node)):
        it.run_body(node.body)
    if it.alive and node.orelse:
        it.run_body(node.orelse)
    body_alive = it.alive
    body = store.end()
    written = store.unwatch()
    arms: list[Delta] = [body] if body_alive else []
    doubtful = it.doubt
    for handler in node.handlers:
        store.begin()
        _be_where_something_raised(it, written)
        if it.peeled:
            it.doubt = doubtful + 1
        if handler.type is not None:
            it.evaluate(handler.type)
        if handler.name:
            bind_name(it, handler.name, it.plain(handler))
        with expecting_errors(it, tells=handler.type is not None and _awaits_error(node)):
            it.run_body(handler.body)  # the author knows what raised
        alive = it.alive
        delta = store.end()
        if alive:
            arms.append(delta)
    it.doubt = doubtful
    it.merge(arms)
    if node.finalbody:
        if it.alive:
            it.run_body(node.finalbody)
        else:
            # Every way left already; the clean-up still runs on each of them.
            store.begin()
            it.alive = True
            it.run_body(node.finalbody)
            store.end()
            it.alive = False
