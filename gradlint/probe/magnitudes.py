"""The largest entries, or the norms, of many tensors of a graph, with as few ops as can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradlint.probe.private_api import half_of_squares

#: Tensors of so many entries are copied into one piece to be looked at together.
_SMALL = 16_384


def largest_of(tf: Any, values: list[Any]) -> Any:
    """The largest absolute entry of each (float32, in their order); NaN or infinity where one is not finite.

    With few ops, since the making of ops is what tracing costs: small tensors are looked at in one piece.
    """
    axes: dict[int, Any] = {}
    small = [place for place, entries in enumerate(values) if _is_small(entries)]
    return _of_each(tf, values, small, _largest_in_piece, lambda entries: _largest_of_one(tf, entries, axes))


def norms_of(tf: Any, values: list[Any]) -> Any:
    """The Euclidean norm of each (float32, in their order), at half the cost of the largest entry.

    An infinite one may mean entries above 1e19, and zero that all are below 1e-19, whose squares float32 cannot hold.
    """
    small = [place for place, entries in enumerate(values) if _is_small(entries) and entries.shape.rank == 1]
    half = _of_each(tf, values, small, _half_squares_in_piece, lambda entries: _half_squares_of_one(tf, entries))
    return tf.sqrt(2.0 * half)


def _of_each(
    tf: Any, values: list[Any], small: list[int], in_piece: Callable[..., Any], of_one: Callable[[Any], Any]
) -> Any:
    """Of the small ones together, of the others one by one; in the order of the values."""
    import numpy as np

    large = [place for place in range(len(values)) if place not in set(small)]
    parts = []
    if small:
        sizes = [values[place].shape.num_elements() for place in small]
        owner = tf.constant(np.repeat(np.arange(len(small), dtype="int32"), sizes))
        parts.append(in_piece(tf, _in_one_piece(tf, [values[place] for place in small]), owner, len(small)))
    if large:
        parts.append(tf.raw_ops.Pack(values=[of_one(values[place]) for place in large], axis=0))
    together = parts[0] if len(parts) == 1 else tf.raw_ops.ConcatV2(values=parts, axis=0)
    order = [*small, *large]
    return together if order == sorted(order) else tf.gather(together, np.argsort(order))


def _largest_in_piece(tf: Any, piece: Any, owner: Any, count: int) -> Any:
    piece = tf.raw_ops.Abs(x=piece)
    # A maximum may pass over NaN, a sum does not: 0 * NaN is NaN, and 0 * infinity too.
    unsound = tf.math.unsorted_segment_sum(piece * 0.0, owner, count)
    return tf.math.unsorted_segment_max(piece, owner, count) + unsound


def _half_squares_in_piece(tf: Any, piece: Any, owner: Any, count: int) -> Any:
    return 0.5 * tf.math.unsorted_segment_sum(tf.raw_ops.Square(x=piece), owner, count)


def _in_one_piece(tf: Any, values: list[Any]) -> Any:
    if all(entries.shape.rank == 1 for entries in values):
        flat = values
    else:
        shape = tf.constant([-1])
        flat = [
            entries if entries.shape.rank == 1 else tf.raw_ops.Reshape(tensor=entries, shape=shape)
            for entries in values
        ]
    return flat[0] if len(flat) == 1 else tf.raw_ops.ConcatV2(values=flat, axis=0)


def _is_small(values: Any) -> bool:
    if values.dtype.name != "float32" or not values.shape.is_fully_defined():
        return False
    return bool(0 < values.shape.num_elements() <= _SMALL)


def _largest_of_one(tf: Any, values: Any, axes: dict[int, Any]) -> Any:
    if values.shape.num_elements() == 0:
        return tf.zeros([])
    rank = values.shape.rank
    if rank is None:
        return tf.cast(tf.reduce_max(tf.abs(values)), tf.float32)
    if rank not in axes:
        axes[rank] = tf.range(rank)
    largest = tf.raw_ops.Max(input=tf.raw_ops.Abs(x=values), axis=axes[rank])
    return largest if values.dtype == tf.float32 else tf.cast(largest, tf.float32)


def _half_squares_of_one(tf: Any, values: Any) -> Any:
    return half_of_squares(values if values.dtype == tf.float32 else tf.cast(values, tf.float32))
