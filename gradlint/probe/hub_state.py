"""What belongs to the process while something is watched, shared by all that stands around TensorFlow and Keras."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gradlint.probe.account import Account
from gradlint.probe.places import Stack
from gradlint.probe.private_api import handles_of, tensor_id
from gradlint.probe.recorder import Recorder

#: After so many gradients in a row without a fault, eager ops are recorded no more (until the next fault).
_QUIET = 200


class HubState:
    """The accounts that listen, the ops that ran, the variables that were made."""

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self.recorder = Recorder()
        self.writes: dict[int, int] = {}
        """How often the program itself assigned to a variable, by the number of its resource."""
        self.written_in_graphs: set[int] = set()
        self.made: dict[int, Stack] = {}
        """Where a variable was made, by the number of its resource."""
        self._local = threading.local()
        self._quiet = 0

    def restart(self) -> None:
        """A first watch begins: nothing has run yet."""
        self.recorder = Recorder()
        self._quiet = 0

    @property
    def busy(self) -> bool:
        """Is the probe itself at work in this thread?"""
        return bool(getattr(self._local, "busy", False))

    @busy.setter
    def busy(self, value: bool) -> None:
        self._local.busy = value

    @property
    def applying(self) -> bool:
        """Is an optimizer at work in this thread?"""
        return bool(getattr(self._local, "applying", False))

    @applying.setter
    def applying(self, value: bool) -> None:
        self._local.applying = value

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """What runs in here is the probe's own, and not the program's, which no error of the probe may stop."""
        self.busy = True
        self.recorder.pause()
        try:
            yield
        except Exception as error:
            for account in self.accounts:
                account.note(f"a part of the run could not be followed ({type(error).__name__}: {error})")
        finally:
            self.recorder.resume()
            self.busy = False

    def listen(self) -> None:
        """Another thread than the first, or after a quiet time: listen to this one."""
        import tensorflow as tf

        if self._quiet < _QUIET and not self.recorder.listens and tf.executing_eagerly():
            self.recorder.start()

    def listen_after(self, *, bad: bool) -> None:
        """Gradients were seen; when there has long been no fault in them, listen no more."""
        self._quiet = 0 if bad else self._quiet + 1
        if self._quiet >= _QUIET:
            self.recorder.stop()

    def note_made(self, variable: Any, stack: Stack) -> None:
        """Remember where this variable was made."""
        try:
            for handle in handles_of(variable):
                self.made.setdefault(tensor_id(handle), stack)
        except Exception:  # not built yet
            return

    def where_made(self, numbers: Iterable[int]) -> Stack:
        """The user's lines that made the variable of one of these numbers, () when it was made before the watch."""
        return next((self.made[number] for number in numbers if number in self.made), ())


def flat_parts(structure: Any) -> list[Any]:
    """The parts of a structure in the order of tf.nest, None among them."""
    if isinstance(structure, dict):
        return [leaf for key in _sorted(structure) for leaf in flat_parts(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in flat_parts(item)]
    if structure is None or hasattr(structure, "dtype") or not isinstance(structure, Iterable):
        return [structure]
    try:
        return list(importlib.import_module("tensorflow").nest.flatten(structure))
    except Exception:
        return [structure]


def _sorted(mapping: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)
