"""Losses that layers keep: what `add_loss` was given, and regularisation."""

from __future__ import annotations

import ast

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import members_within, variable_set
from gradlint.flow.values import Kind, Value


def losses_of(it: Interpreter, base: Value, node: ast.AST, *, regularised: bool = True, since: int = 0) -> Value:
    """`model.losses`: what `add_loss` was given, and where `regularised` perhaps something of any weight.

    What was given before the clock stood at `since` was given while the model was put together: it is computed anew.
    """
    found: list[Value] = []
    for member in sorted(members_within(it, base)[0]):
        kept = it.store.get((member, "<losses>"))
        if kept is not None and kept.kind is Kind.CONTAINER:
            found.extend(it.items(kept).elements)
    new = [each for each in found if each.kind is not Kind.SYMBOLIC and each.serial >= since]
    if not regularised and len(new) == len(found):
        return it.list_of(found[:16], node)
    found = new
    weights = it.operation(node, (variable_set(it, base, "weights", node),), label="losses")
    return it.list_of([*found[:16], it.join([weights, it.fresh(Kind.TENSOR, node)])], node, exact=False)


def forget_losses(it: Interpreter, layer: Value) -> None:
    """Drop what `add_loss` was given in earlier calls."""
    for member in sorted(members_within(it, layer)[0]):
        if it.store.get((member, "<losses>")) is not None:
            it.store.set((member, "<losses>"), None)
