"""Inputs: descriptions of float values that are watched while a function is measured.

A recipe holds them wherever a function takes a tensor, nested in lists, tuples and sparse tensors.
`material` turns one into a value; what is printed of an argument (`xs[0]`, `sp_input.values`) is made in `leaves`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

#: In this order: the first in which no gradient is NaN and the call does not raise is what a function is judged in.
DOMAINS = ("mixed", "unit", "gt1")

_VECTORS = (
    (0.3, -1.2, 2.5, 0.7),
    (1.1, -0.4, 0.6, -2.0),
    (-0.8, 1.7, 0.2, 0.9),
    (0.5, 2.1, -1.4, 1.3),
)


@dataclass(frozen=True)
class Floats:
    """Watched floats of a shape. A `domain` of its own keeps them what they are in every domain."""

    shape: tuple[int, ...] = (4,)
    domain: str = ""
    dtype: str = "float32"
    values: tuple[Any, ...] | None = None
    turn: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]] | None = None

    def array(self, domain: str, order: int) -> np.ndarray[Any, Any]:
        """The numbers of the `order`-th input of a call."""
        drawn = np.asarray(self.values) if self.values is not None else self._draw(self.domain or domain, order)
        if self.turn is not None:
            drawn = self.turn(drawn)
        if self.dtype.startswith("complex") and not np.iscomplexobj(drawn):
            drawn = drawn + 1j * np.roll(drawn.ravel(), 1).reshape(drawn.shape)
        return drawn.astype(self.dtype)

    def _draw(self, domain: str, order: int) -> np.ndarray[Any, Any]:
        count = int(np.prod(self.shape))
        random = np.random.default_rng(zlib.crc32(f"{order}/{self.shape}".encode()))
        if domain == "unit":
            return random.uniform(0.05, 0.95, count).reshape(self.shape)
        if domain == "gt1":
            return random.uniform(1.1, 3.0, count).reshape(self.shape)
        if count <= 4:
            return np.array(_VECTORS[order % len(_VECTORS)][:count]).reshape(self.shape)
        return random.normal(0.2, 1.2, count).reshape(self.shape)


@dataclass(frozen=True)
class Through:
    """An input that reaches the function after a step: `x > 0` where it takes bools, a cast where it takes indices."""

    floats: Floats
    step: Callable[[Any], Any]
    words: str


@dataclass(frozen=True)
class Sparse:
    """A sparse tensor whose values are watched."""

    indices: tuple[tuple[int, ...], ...] = ((0, 0), (0, 2), (1, 1), (2, 3))
    shape: tuple[int, ...] = (3, 4)
    domain: str = ""

    @property
    def floats(self) -> Floats:
        return Floats((len(self.indices),), self.domain)


@dataclass(frozen=True)
class Ragged:
    """A ragged tensor whose flat values are watched."""

    lengths: tuple[int, ...] = (3, 1)

    @property
    def floats(self) -> Floats:
        return Floats((sum(self.lengths),))


Leaf = Floats | Through | Sparse | Ragged


def leaves(tree: Any, label: str) -> Iterator[tuple[str, Leaf]]:
    """Each watched input below an argument with the name it is printed under."""
    if isinstance(tree, Leaf):
        yield label + (".values" if isinstance(tree, Sparse | Ragged) else ""), tree
    elif isinstance(tree, list | tuple):
        for number, each in enumerate(tree):
            yield from leaves(each, f"{label}[{number}]")


def material(tree: Any, fresh: Callable[[Leaf], Any]) -> Any:
    """The tree with what `fresh` returns in place of each watched input."""
    if isinstance(tree, Leaf):
        return fresh(tree)
    if isinstance(tree, list | tuple):
        return type(tree)(material(each, fresh) for each in tree)
    return tree


def wrapped(leaf: Leaf, tensor: Any) -> Any:
    """What the function is given for a watched tensor."""
    if isinstance(leaf, Through):
        return leaf.step(tensor)
    if isinstance(leaf, Sparse):
        return tf.SparseTensor(tf.constant(leaf.indices, tf.int64), tensor, tf.constant(leaf.shape, tf.int64))
    if isinstance(leaf, Ragged):
        return tf.RaggedTensor.from_row_lengths(tensor, tf.constant(leaf.lengths, tf.int64))
    return tensor


def floats_of(leaf: Leaf) -> Floats:
    """What is watched of an input."""
    return leaf if isinstance(leaf, Floats) else leaf.floats


def positive_definite(size: int = 3) -> Floats:
    """A symmetric matrix with distinct positive eigenvalues."""
    return replace(square(size), turn=lambda drawn: (drawn + drawn.T) / 6 + np.diag(np.arange(2.0, 2.0 + size)))


def square(size: int = 3) -> Floats:
    """A matrix that can be inverted, in every domain."""
    return Floats((size, size), turn=lambda drawn: drawn + 3 * np.eye(size))
