"""Short words for what recipes are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measuring.inputs import Floats, Through
from measuring.recipe import Recipe

VECTOR = Floats()
MATRIX = Floats((3, 4))
IMAGE = Floats((1, 8, 8, 3))
IMAGES01 = Floats((1, 8, 8, 3), domain="unit")


def recipe(
    variant: str = "", call_with: Callable[..., Any] | None = None, also: str | None = None, **arguments: Any
) -> Recipe:
    """A recipe from keyword arguments."""
    return Recipe({name.removeprefix("_"): value for name, value in arguments.items()}, variant, call_with, also)


def floats(*shape: int, domain: str = "", dtype: str = "float32") -> Floats:
    """Watched floats of a shape."""
    return Floats(shape, domain, dtype)


def fixed(values: Any) -> Floats:
    """Watched floats with these values in every domain."""
    import numpy as np

    array = np.asarray(values, "float32")
    return Floats(
        array.shape, values=tuple(array.tolist()) if array.ndim else (float(array),), turn=_reshape(array.shape)
    )


def labels(*numbers: int) -> Any:
    """Class numbers or segments, as an array."""
    import numpy as np

    return np.array(numbers, "int32")


def _reshape(shape: tuple[int, ...]) -> Callable[[Any], Any]:
    return lambda drawn: drawn.reshape(shape)


def positive(*shape: int) -> Through:
    """Bools made of floats: `x > 0`."""
    return Through(Floats(shape or (4,)), lambda tensor: tensor > 0, "x > 0")


def as_int(values: Any, dtype: str = "int32") -> Through:
    """Indices made of floats by a cast."""
    import tensorflow as tf

    return Through(fixed(values), lambda tensor: tf.cast(tensor, dtype), "cast to int")
