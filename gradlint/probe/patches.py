"""Replaces methods of TensorFlow and Keras while a watch is on, and puts back what was there."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


class Patches:
    """What was replaced, to be undone in the opposite order."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, bool, Any]] = []

    def replace(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Put `wrap(original)` in place of the attribute, when there is one."""
        original = getattr(owner, name, None)  # an owner that is not there (None) has none
        if original is None:
            return
        own = name in vars(owner)
        wrapper = wrap(original)
        functools.update_wrapper(wrapper, original)
        with suppress(TypeError, ValueError):  # Keras reads the parameters of constructors
            wrapper.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        wrapper.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph must leave it as it is
        setattr(owner, name, wrapper)
        self._replaced.append((owner, name, original, own, wrapper))

    def replace_setter(self, owner: Any, name: str, wrap: Wrap) -> None:
        """The same for what happens when the property is set."""
        found = vars(owner).get(name)
        if not isinstance(found, property) or found.fset is None:
            return
        wrapper = found.setter(functools.update_wrapper(wrap(found.fset), found.fset))
        setattr(owner, name, wrapper)
        self._replaced.append((owner, name, found, True, wrapper))

    def undo(self) -> None:
        """Put everything back, except where somebody else has put something over it since."""
        for owner, name, original, own, wrapper in reversed(self._replaced):
            if vars(owner).get(name) is not wrapper:
                continue
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
        self._replaced.clear()


class WhenImported(importlib.abc.MetaPathFinder):
    """Acts on a module as soon as it has been imported: at once when it is there already.

    A program may set the environment before it imports TensorFlow, so the watch must not import it first.
    """

    def __init__(self, acts: dict[str, Callable[[], None]]) -> None:
        self._acts = dict(acts)

    def install(self) -> None:
        """Act on what is there, wait for the rest."""
        for name in list(self._acts):
            if _is_complete(sys.modules.get(name)):
                self._acts.pop(name)()
        if self._acts:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._acts:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            return None
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # Only now: TensorFlow looks for the spec of Keras long before anybody imports it.
            act = self._acts.pop(fullname, None)
            if act is not None:
                act()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _is_complete(module: ModuleType | None) -> bool:
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)
