"""The largest entries of many tensors of a graph, with as few ops as can be."""

from __future__ import annotations

from typing import Any

#: Tensors of so many entries are copied into one piece to be looked at together.
_SMALL = 16_384


def largest_of(tf: Any, values: list[Any]) -> Any:
    """The largest absolute entry of each; NaN or infinity where one is not finite.

    With few ops, since the making of ops is what tracing costs: small gradients are looked at in one piece.
    """
    import numpy as np

    small = [place for place, entries in enumerate(values) if _is_small(entries)]
    parts, order = [], list(small)
    if small:
        piece = tf.raw_ops.Abs(x=_in_one_piece(tf, [values[place] for place in small]))
        sizes = [values[place].shape.num_elements() for place in small]
        owner = tf.constant(np.repeat(np.arange(len(small), dtype="int32"), sizes))
        # A maximum may pass over NaN, a sum does not: 0 * NaN is NaN, and 0 * infinity too.
        unsound = tf.math.unsorted_segment_sum(piece * 0.0, owner, len(small))
        parts.append(tf.math.unsorted_segment_max(piece, owner, len(small)) + unsound)
    axes: dict[int, Any] = {}
    large: list[Any] = []
    for place, entries in enumerate(values):
        if place not in small:
            large.append(_largest_of_one(tf, entries, axes))
            order.append(place)
    if large:
        parts.append(tf.stack(large))
    together = parts[0] if len(parts) == 1 else tf.concat(parts, 0)
    return together if order == sorted(order) else tf.gather(together, np.argsort(order))


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
