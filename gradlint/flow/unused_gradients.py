"""Unused gradients: asked for in a step of training, and then read by nothing that moves a variable."""

from __future__ import annotations

import ast

from gradlint.flow.applied import applied_calls, is_given_to_optimizer
from gradlint.flow.asking import Asked
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.unused_changes import is_read
from gradlint.flow.update_events import GradientUnused
from gradlint.flow.values import How, Kind, Value, lineage
from gradlint.knowledge.conventions import looks_at_gradients, trains


def note_unused(it: Interpreter, target: ast.expr, value: Value, statement: ast.stmt) -> None:
    """`gradients = tape.gradient(loss, variables)`: note it where nothing reads `gradients` afterwards."""
    function = it.frame.function
    if not it.gradients_made or it.expected or function is None or looks_at_gradients(function.name):
        return
    names = [each for each in _names(target) if not each.startswith("_")]
    if not names or len(names) < len(_names(target)) - 1:
        return
    calls = _gradient_calls(it, value)
    if not calls or any(is_read(it, name, statement) for name in names):
        return
    asked = [each for each in it.asked if each.node in calls and each.asked == "gradient"]
    if not asked:
        return
    text = "`, `".join(dict.fromkeys(source.text for each in asked for source in each.sources if not source.within))
    it.note(
        GradientUnused, asked[-1].node, names[0], text, certain=False,
        holds=lambda: (trains(function.name) or bool(it.applied))
        and not any(_is_moved(it, each) for each in asked),
    )  # fmt: skip


def _names(target: ast.expr) -> list[str]:
    """The names that are bound; a single empty one for anything else, which others may read."""
    if isinstance(target, ast.Tuple | ast.List):
        return [name for each in target.elts for name in _names(each)]
    return [target.id] if isinstance(target, ast.Name) else ["_", "_"]


def _gradient_calls(it: Interpreter, value: Value) -> set[ast.AST]:
    """The calls whose gradients a value is made of, and of nothing else that matters."""
    leaves = it.leaves(value, draws=False)
    behind = list(lineage(leaves, 60, lambda each: () if each.how is How.GRADIENT else each.inputs))
    if any(each.kind is Kind.UNKNOWN and each.how is How.OPAQUE_CALL for each in behind):
        return set()
    return {each.node for each in behind if each.how is How.GRADIENT and each.node is not None}


def _is_moved(it: Interpreter, asked: Asked) -> bool:
    """Whether what the gradients are of gets others, or new values, elsewhere."""
    if asked.node in applied_calls(it):
        return True
    sources = [source for source in asked.sources if not source.within]
    members = {member for source in sources for member in source.members}
    if any(member in it.assigned or member in it.written_state for member in members):
        return True
    return any(is_given_to_optimizer(it, source.value, source.members) for source in sources)
