"""Applied: which gradient calls end in an update, rather than in a print or in nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradlint.flow.descent import is_same_source
from gradlint.flow.interpreter import Interpreter
from gradlint.flow.members import members_of
from gradlint.flow.scopes import Frame
from gradlint.flow.values import How, Kind, Value, all_behind, lineage


def applied_calls(it: Interpreter) -> set[ast.AST]:
    """The gradient calls of which an optimizer or a variable got what they returned. Asked when the run is over."""
    if it.applied_calls is None:
        written = [each for stored in it.written_state.values() for each in stored]
        behind = lineage(
            [*it.applied, *written], 5000, lambda each: () if each.how is How.GRADIENT else all_behind(each)
        )
        it.applied_calls = {each.node for each in behind if each.how is How.GRADIENT and each.node is not None}
    return it.applied_calls


def trains_in(it: Interpreter, frames: Iterable[Frame]) -> bool:
    """Whether one of these frames asks for a gradient that ends in an update: it is a step of training."""
    ids = {frame.id for frame in frames}
    return any(asked.frame.id in ids and asked.node in applied_calls(it) for asked in it.asked)


def is_given_to_optimizer(it: Interpreter, variables: Value, members: frozenset[int]) -> bool:
    """Whether what an optimizer is to move is, or may be, one of these variables, with whatever gradient."""
    return any(_may_be_of(it, moved, variables, members) for moved in it.moved.values())


def _may_be_of(it: Interpreter, moved: Value, variables: Value, members: frozenset[int]) -> bool:
    if moved.kind is Kind.UNKNOWN:
        whole = moved.inputs[0] if moved.how is How.PART and moved.inputs else None
        return whole is None or whole.kind is not Kind.VARIABLES or is_same_source(whole, variables)
    return is_same_source(moved, variables) or bool(members & members_of(it, moved)[0])
