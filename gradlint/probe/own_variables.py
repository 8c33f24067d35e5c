"""The variables that the probe adds to compiled graphs: they hold what a step saw, and belong to no program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

#: How their names begin.
PREFIX = "gradlint_"


class OwnVariables:
    """Those of one watch. The same key, the same variable: a function is traced anew when its first call made some."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, name: str, make: Callable[[], Any]) -> Any:
        """The variable of this key; when it is new, `make()` is its first value."""
        with self._lock:
            if key not in self._made:
                self._made[key] = _made_outside(name, make)
            return self._made[key]


def _made_outside(name: str, make: Callable[[], Any]) -> Any:
    """A variable made in a thread of its own, where no function is traced and no strategy is in scope.

    A function that is traced anew may make no variables, not even in `tf.init_scope`; other threads know nothing of it.
    """
    import tensorflow as tf

    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(tf.Variable(make(), trainable=False, name=f"{PREFIX}{name}")))
    thread.start()
    thread.join()
    return made[0]
