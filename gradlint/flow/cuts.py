"""Cuts: what is known of an operation through which no gradient passes: its symbol, and what TensorFlow does there."""

from __future__ import annotations

from gradlint.flow.asking import Asked
from gradlint.flow.reach import WayStep
from gradlint.flow.values import How, Kind, Value, alternatives
from gradlint.ops import table as ops
from gradlint.verdicts import ZERO_CAUSES, Cause, Verdict

#: What TensorFlow 2.21 raises where a symbolic tensor is asked for its numbers (fixtures/GL201).
_RAISED_IN_GRAPH = {".numpy": "AttributeError", ".item": "AttributeError", ".tolist": "AttributeError",
                    "builtins.float": "TypeError", "builtins.int": "TypeError"}  # fmt: skip
#: Causes of operations through which no gradient passes, whatever records them.
DEAD_ENDS = frozenset(
    {Cause.LEFT_TENSORFLOW, Cause.NON_DIFFERENTIABLE, Cause.INTEGER, Cause.STOPPED, Cause.STATE, Cause.DISCRETE_SAMPLE,
     Cause.CONSTANT, Cause.SATURATED}
)  # fmt: skip
#: Causes of which a part of a set is told: everything upstream of the cut is dead, whatever the rest does.
OF_PARTS = frozenset(
    {Cause.NON_DIFFERENTIABLE, Cause.INTEGER, Cause.DISCRETE_SAMPLE, Cause.CUSTOM_GRADIENT, *ZERO_CAUSES}
)
#: The same, but only where trained layers follow: otherwise it is how a target network or a teacher is meant to be.
OF_PARTS_UPSTREAM = frozenset({Cause.LEFT_TENSORFLOW, Cause.STATE})
#: Causes that make a whole summand of a loss a mere number by mistake. `stop_gradient` says that it is meant.
OF_TERMS = frozenset(
    {Cause.LEFT_TENSORFLOW, Cause.NON_DIFFERENTIABLE, Cause.SATURATED, Cause.INTEGER, Cause.DISCRETE_SAMPLE}
)


def raised(value: Value, cause: Cause, asked: Asked) -> str:
    """The exception that the cut ends in, or an empty string where TensorFlow returns None."""
    if cause is Cause.UNREGISTERED_OP:
        return "LookupError"
    if cause is not Cause.LEFT_TENSORFLOW:
        return ""
    if in_graph(value):
        if value.label in _RAISED_IN_GRAPH:
            return _RAISED_IN_GRAPH[value.label]
        if value.label.startswith("np."):
            return "NotImplementedError"
    if asked.asked in ("gradient", "jacobian") and asked.targets and all(map(_is_plain, asked.targets)):
        return "AttributeError"
    return ""


def in_graph(value: Value) -> bool:
    """Whether the value is made while a graph is traced."""
    return value.frame is not None and value.frame.graph


def _is_plain(target: Value) -> bool:
    ways = alternatives(target, 8)
    return bool(ways) and all(way.kind is Kind.PLAIN for way in ways or ())


def verdict_of(way: list[WayStep], at: int, raises: str) -> Verdict:
    """What the sources get: zero where the cuts say so, or a Python function leaves TensorFlow; else None."""
    if raises:
        return Verdict.RAISES
    if way[at].cut in ZERO_CAUSES and all(step.cut is None or step.cut in ZERO_CAUSES for step in way[at:]):
        return Verdict.ZERO
    if any(step.value.op is ops.PY_FUNCTION for step in way[at:]):
        return Verdict.ZERO
    return Verdict.NONE


def feeds_trained_layers(way: list[WayStep], at: int) -> bool:
    """Whether what comes after the cut meets further variables on its way to the target."""
    kinds = (Kind.VARIABLE, Kind.VARIABLES)
    return any(each.kind in kinds for step in way[at + 1 :] for each in step.value.inputs)


def is_straight_through(value: Value) -> bool:
    """Whether what is stopped is `x + (q - x)`: an estimator of which the stop should only hold a part."""
    return any(_adds_and_subtracts(inner) for inner, cause in value.dead if cause is Cause.STOPPED)


def _adds_and_subtracts(value: Value) -> bool:
    signs: dict[int, set[int]] = {}
    stack = [(value, 1)]
    while stack and len(signs) < 50:
        each, sign = stack.pop()
        if each.how is How.OPERATION and each.op in (ops.ADD, ops.SUBTRACT) and len(each.inputs) == 2:
            stack.append((each.inputs[0], sign))
            stack.append((each.inputs[1], -sign if each.op is ops.SUBTRACT else sign))
        else:
            signs.setdefault(each.serial, set()).add(sign)
    return any(len(found) == 2 for found in signs.values())
