"""Contexts: entering `with` managers: tapes, context managers of the file, generators."""

from __future__ import annotations

import ast
from collections.abc import Callable

from gradlint.flow.arguments import Arguments
from gradlint.flow.functions import call_function
from gradlint.flow.instances import bind_method, class_attribute
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    BoundMethod,
    Function,
    LibraryObject,
)
from gradlint.flow.sequences import MOST_WAYS
from gradlint.flow.tapes import run_paused, run_under
from gradlint.flow.values import How, Kind, Value, alternatives


def enter_context(
    it: Interpreter,
    manager: Value,
    node: ast.AST,
    bind_target: Callable[[Value], None],
    run: Callable[[], None],
    name: str,
) -> None:
    """Run the body of a `with` in the context of the manager."""
    ways = alternatives(manager, MOST_WAYS) if manager.how is How.JOIN else [manager]
    some_tapes = [way for way in ways or () if way.kind is Kind.TAPE]
    if some_tapes:
        bind_target(manager)
        run_under(it, [way.ref for way in some_tapes], run, node, name, sure=len(ways or ()) == 1)
        return
    match manager.kind:
        case Kind.LIBRARY:
            owner: LibraryObject = manager.ref
            if owner.symbol == "contextmanager":
                _run_generator_context(it, owner, node, bind_target, run)
                return
            if owner.symbol == "tape.stop_recording":
                run_paused(it, owner.arguments[0], run, node)
                return
            if owner.symbol == "tf.init_scope":
                bind_target(it.plain(node))
                begun = it.tick()
                run()
                it.lifted.append((begun, it.tick()))
                return
            if owner.symbol == "contextlib.nullcontext":
                bind_target(owner.arguments[0] if owner.arguments else it.plain(node))
                run()
                return
            bind_target(manager)
            run()
            return
        case Kind.INSTANCE:
            enter = class_attribute(it, manager.ref.cls, "__enter__")
            leave = class_attribute(it, manager.ref.cls, "__exit__")
            if enter is not None:
                bind_target(it.call(bind_method(it, enter, manager, node), Arguments(()), node))
                run()
                if leave is not None and it.alive:
                    nones = tuple(it.plain(node) for _ in range(3))
                    it.call(bind_method(it, leave, manager, node), Arguments(nones), node)
                return
    bind_target(it.part(manager, node) if manager.kind is Kind.UNKNOWN else it.plain(node))
    run()


def _run_generator_context(
    it: Interpreter, owner: LibraryObject, node: ast.AST, bind_target: Callable[[Value], None], run: Callable[[], None]
) -> None:
    function, *positional = owner.arguments
    outer_frame, outer_loops, outer_calls = it.frame, it.loops, list(it.calls)
    ran = False

    def body(value: Value) -> None:
        nonlocal ran
        if ran:
            return
        ran = True
        inner_frame, inner_loops, inner_calls = it.frame, it.loops, it.calls
        it.frame, it.loops, it.calls = outer_frame, outer_loops, outer_calls
        try:
            bind_target(value)
            run()
        finally:
            it.frame, it.loops, it.calls = inner_frame, inner_loops, inner_calls

    target = function.ref
    arguments = Arguments(tuple(positional), dict(owner.keywords))
    if isinstance(target, BoundMethod) and isinstance(target.function.ref, Function):
        arguments = Arguments((target.receiver, *positional), dict(owner.keywords))
        target = target.function.ref
    if isinstance(target, Function):
        call_function(it, target, arguments, node, body)
    if not ran:
        bind_target(it.part(function, node))
        run()
