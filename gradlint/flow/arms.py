"""Arms: alternatives evaluated from one state and joined."""

from __future__ import annotations

from collections.abc import Callable

from gradlint.flow.interpreter import Interpreter
from gradlint.flow.store import Delta
from gradlint.flow.values import Value


def in_arms(it: Interpreter, arms: list[Callable[[], Value]]) -> Value:
    """Evaluate alternatives from the same state and join values and cells."""
    deltas: list[Delta] = []
    values: list[Value] = []
    doubtful = it.doubt
    for arm in arms:
        if it.peeled:
            it.doubt = doubtful + 1
        it.store.begin()
        it.arms += 1
        values.append(arm())
        it.arms -= 1
        deltas.append(it.store.end())
    it.doubt = doubtful
    it.merge(deltas)
    return it.join_ways(values, deltas)
