"""The store: one dictionary of cells for names and attributes, with an undo log per branch.

A cell is keyed by (frame or object id, name). An arm of a branch is run between `begin` and
`end`, which rolls back and returns what the arm changed; a join touches changed keys only.
Measured against copying and chained maps: flat at any number of names (facts: engines, point 9).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradlint.flow.values import Value

Key = tuple[int, object]
Delta = dict[Key, Value | None]


class Store:
    """Cells with nested undo logs. A missing cell reads as None."""

    __slots__ = ("_logs", "_watchers", "cells")

    def __init__(self) -> None:
        self.cells: Delta = {}
        self._logs: list[Delta] = []
        self._watchers: list[dict[Key, list[Value | None]]] = []

    def get(self, key: Key) -> Value | None:
        """The current cell."""
        return self.cells.get(key)

    def set(self, key: Key, value: Value | None) -> None:
        """Write a cell (None unbinds it)."""
        cells = self.cells
        if self._logs:
            log = self._logs[-1]
            if key not in log:
                log[key] = cells.get(key)
        for seen in self._watchers:
            history = seen.setdefault(key, [])
            if len(history) < 8:
                history.append(value)
            else:
                history[-1] = value
        cells[key] = value

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Write cells that no open arm rolls back: what is written was so before any of them began."""
        logs, watchers = self._logs, self._watchers
        self._logs, self._watchers = [], []
        yield
        self._logs, self._watchers = logs, watchers

    @property
    def level(self) -> int:
        """How many arms are open: the argument of `capture`."""
        return len(self._logs)

    def begin(self) -> None:
        """Open an arm."""
        self._logs.append({})

    def end(self) -> Delta:
        """Close the arm, restore the cells of before it, and return what it changed."""
        log = self._logs.pop()
        cells = self.cells
        delta: Delta = {}
        for key, old in log.items():
            delta[key] = cells.get(key)
            if old is None:
                cells.pop(key, None)
            else:
                cells[key] = old
        return delta

    def capture(self, level: int) -> Delta:
        """What has changed since the arms at `level` and above were opened, without closing them."""
        cells = self.cells
        return {key: cells.get(key) for log in self._logs[level:] for key in log}

    def apply(self, delta: Delta) -> None:
        """Write all cells of a delta."""
        for key, value in delta.items():
            self.set(key, value)

    def watch(self) -> None:
        """Start noting every value written to every cell (for the handlers of a `try`)."""
        self._watchers.append({})

    def unwatch(self) -> dict[Key, list[Value | None]]:
        """Stop noting; the values written to each cell."""
        return self._watchers.pop()

    def forget_watchers(self) -> None:
        """Drop all notes: the `try` that asked for them is left for good."""
        self._watchers.clear()

    def changed_since(self, level: int) -> dict[Key, Value | None]:
        """The cells changed in one arm, with what they were before it."""
        return dict(self._logs[level])
