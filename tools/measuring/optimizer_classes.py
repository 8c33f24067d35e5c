"""Optimizer classes: what the two libraries ship, one entry per class, with all public names, found by inspection.

`optimizer_row.py` measures them. Legacy Keras is the package `tf_keras`, whatever `tf.keras` is.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import CodeType
from typing import Any

LIBRARIES = ("keras", "tf_keras")
#: Where a library and TensorFlow's door to it keep optimizers.
_SPACES = ("optimizers", "optimizers.legacy", "optimizers.experimental", "mixed_precision")


@dataclass(frozen=True)
class Shipped:
    """A class; the symbol is the first of its names in its own library, the shortest first."""

    library: str
    symbol: str
    symbols: tuple[str, ...]
    cls: Any
    is_base: bool  # of another that the library ships

    @property
    def name(self) -> str:
        """The last part of the symbol."""
        return self.symbol.rpartition(".")[2]


def is_installed(library: str) -> bool:
    """Whether the package is there; nothing is imported."""
    return find_spec(library) is not None


def optimizer_classes(library: str) -> tuple[Shipped, ...]:
    """All of a library, by symbol."""
    names: dict[int, list[str]] = {}
    classes: dict[int, Any] = {}
    for space, module in _namespaces(library):
        for name in sorted(dir(module)):
            found = getattr(module, name)
            if inspect.isclass(found) and _is_optimizer(found, space):
                names.setdefault(id(found), []).append(f"{space}.{name}")
                classes[id(found)] = found
    shipped = []
    for key, spellings in names.items():
        own = f"{library}."
        ordered = sorted(
            spellings, key=lambda each: (not each.startswith(own), _is_side_door(each), each.count("."), each)
        )
        is_base = any(issubclass(other, classes[key]) for name, other in classes.items() if name != key)
        shipped.append(Shipped(library, ordered[0], tuple(ordered), classes[key], is_base))
    return tuple(sorted(shipped, key=lambda each: each.symbol))


def identifiers(library: str) -> tuple[str, ...]:
    """The words worth trying in `optimizers.get`: names of classes, and what its own code spells out."""
    optimizers = import_module(f"{library}.optimizers")
    words = {word for each in optimizer_classes(library) for word in (each.name, each.cls.__name__)}
    words |= {word for word in _constants(inspect.unwrap(optimizers.deserialize).__code__) if word.isidentifier()}
    return tuple(sorted(words | {word.lower() for word in words}))


def _namespaces(library: str) -> Iterator[tuple[str, Any]]:
    import tensorflow as tf

    roots = [(library, import_module(library))]
    if library == "keras":
        roots.append(("tensorflow.keras", tf.keras))
    for root, package in roots:
        for space in _SPACES:
            module: Any = package
            for part in space.split("."):
                module = getattr(module, part, None)
            if module is not None:
                yield f"{root}.{space}", module


def _is_optimizer(found: Any, space: str) -> bool:
    """In Keras 3 `legacy` holds one class under six names, which only raises: it is wanted as such."""
    return hasattr(found, "apply_gradients") or space.endswith(".legacy")


def _is_side_door(symbol: str) -> bool:
    """`mixed_precision` shows what `optimizers` ships, if both have it."""
    return ".mixed_precision." in symbol


def _constants(code: CodeType) -> Iterator[str]:
    for each in code.co_consts:
        for word in each if isinstance(each, tuple) else (each,):
            if isinstance(word, str):
                yield word
