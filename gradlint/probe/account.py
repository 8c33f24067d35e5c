"""The account of one watch: every gradient call, variable, layer and update that it saw, summed up as it goes."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from gradlint.probe.gradient_asked import GradientAsked
from gradlint.probe.gradient_log import GradientLog
from gradlint.probe.layer_log import LayerLog
from gradlint.probe.own_variables import OwnVariables
from gradlint.probe.places import Stack
from gradlint.probe.variable_log import VariableLog


class Account:
    """What one watch saw."""

    def __init__(self, *, entries: bool = True, locates_in_graphs: bool = False) -> None:
        self.locates_in_graphs = locates_in_graphs
        self.notes: list[str] = []
        self.unobserved: list[Stack] = []
        self.ran: set[Stack] = set()
        """Where ops ran eagerly; known at the end."""
        own = OwnVariables()
        self.variables = VariableLog(own, entries=entries)
        self.layers = LayerLog()
        self.gradients = GradientLog(self.variables, own, self.note, entries=entries)
        self._lock = threading.RLock()
        self._seen_functions: weakref.WeakSet[Any] = weakref.WeakSet()

    def note(self, words: str) -> None:
        """Something about the run as a whole that the reader must know."""
        if words not in self.notes:
            self.notes.append(words)

    def gradients_asked(self, asked: GradientAsked) -> bool:
        """Take in one call; True when something in it is not as it should be."""
        with self._lock:
            return self.gradients.asked_for(asked)

    def function_called(self, function: Any, *, traced: bool, stack: Callable[[], Stack]) -> None:
        """A tf.function ran; when it was traced before the watch, what happens in it is not seen."""
        if function in self._seen_functions:
            return
        if traced:
            self._seen_functions.add(function)
            return
        self._seen_functions.add(function)
        self.unobserved.append(stack())

    def close(self) -> None:
        """Read what the graphs noted; say where zeros come from, and what moved."""
        self.gradients.close()
        self.variables.close(self.gradients.entries_by_variable())
        self.layers.close()
