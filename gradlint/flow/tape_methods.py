"""Tape methods: watch, gradient, jacobian, jvp, reset ..."""

from __future__ import annotations

import ast

from gradlint.flow.arguments import Arguments
from gradlint.flow.asking import ask, ask_unknown
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.objects import (
    Tape,
)
from gradlint.flow.tapes import bit_of, reset, watch
from gradlint.flow.values import Kind, Value


def call_tape_method(it: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a tape."""
    tape: Tape = receiver.ref
    match name:
        case "watch":
            watched = arguments.get(0, "tensor")
            if watched is not None:
                watch(it, [tape], watched, node)
            return it.plain(node)
        case "gradient" | "jacobian" | "batch_jacobian":
            target, sources = (
                arguments.get(0, "target"),
                arguments.get(1, "source" if name == "batch_jacobian" else "sources"),
            )
            if tape.id in it.entered_by_hand and it.open_code and tape.frame not in it.frame.callers():
                because = "the tape was entered in another function, and what ran between cannot be seen"
                ask_unknown(it, name, target, sources, node, because)
                return it.unknown(node, because, arguments.every())
            if target is None or sources is None:
                return it.unknown(node, "the arguments of the gradient call are not known", arguments.every())
            return ask(it, name, [tape], target, sources, node, arguments)
        case "jvp":
            primals = it.store.get((tape.id, "primals"))
            target = arguments.get(0, "primals")
            if target is None or primals is None:
                return it.unknown(node, "the primals are not known", arguments.every())
            return ask(it, name, [tape], target, primals, node, arguments)
        case "stop_recording":
            from gradlint.flow.objects import LibraryObject

            return it.fresh(Kind.LIBRARY, node, ref=LibraryObject(it.new_id(), "tape.stop_recording", (receiver,)))
        case "watched_variables":
            watched = it.parameter("watched_variables", node)
            watched.because = "what the tape watched is not followed"
            return watched
        case "reset":
            reset(it, tape)
            return it.plain(node)
        case "__enter__":
            it.entered_by_hand.add(tape.id)
            before = it.recording()
            mask = 1 << bit_of(it, tape)
            it.set_recording(before[0] | mask, before[1] | mask)
            tape.frame = it.frame
            tape.entered_at = it.tick()
            return receiver
        case "__exit__":
            now = it.recording()
            mask = 1 << bit_of(it, tape)
            it.set_recording(now[0] & ~mask, now[1] & ~mask)
            tape.spans.append((tape.entered_at, it.tick()))
            return it.plain(node)
    return it.plain(node)
