"""Discovery: the public functions of the namespaces, one entry per function object, with all its names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import keras
import tensorflow as tf

NAMESPACES = (
    "tf",
    "tf.math",
    "tf.math.special",
    "tf.nn",
    "tf.nn.experimental",
    "tf.linalg",
    "tf.image",
    "tf.signal",
    "tf.sparse",
    "tf.ragged",
    "tf.random",
    "tf.random.experimental",
    "tf.quantization",
    "tf.experimental.numpy",
    "keras.ops",
    "keras.ops.nn",
    "keras.ops.numpy",
    "keras.ops.linalg",
    "keras.ops.image",
    "keras.losses",
    "keras.metrics",
    "keras.activations",
    "keras.random",
)
#: They turn names and configurations into functions and back.
_NO_FUNCTIONS = frozenset({"get", "serialize", "deserialize"})


@dataclass(frozen=True)
class Public:
    """A function, a loss class or a metric class; the symbol is the shortest of its names."""

    symbol: str
    aliases: tuple[str, ...]
    function: Callable[..., Any]


def public_functions() -> tuple[Public, ...]:
    """All of them, by symbol."""
    names: dict[int, list[str]] = {}
    objects: dict[int, Any] = {}
    for space in NAMESPACES:
        module = _module(space)
        for name in sorted(dir(module)):
            found = getattr(module, name)
            if not name.startswith("_") and name not in _NO_FUNCTIONS and _is_measured(found):
                names.setdefault(id(found), []).append(f"{space}.{name}")
                objects[id(found)] = found
    publics = []
    for key, spellings in names.items():
        symbol, *aliases = sorted(spellings, key=lambda each: (each.count("."), len(each), each))
        publics.append(Public(symbol, tuple(aliases), objects[key]))
    return tuple(sorted(publics, key=lambda public: public.symbol))


def versions() -> dict[str, str]:
    """Of what was measured."""
    return {"tensorflow": tf.__version__, "keras": keras.__version__}


def _module(space: str) -> Any:
    root, _, rest = space.partition(".")
    module: Any = tf if root == "tf" else keras
    for part in rest.split(".") if rest else ():
        module = getattr(module, part, None) or import_module(f"{module.__name__}.{part}")
    return module


def _is_measured(found: Any) -> bool:
    if inspect.isclass(found):
        return issubclass(found, keras.losses.Loss | keras.metrics.Metric)
    return callable(found) and not inspect.ismodule(found)
