"""Looks at gradients inside compiled graphs: a small variable that the graph itself updates at each step.

No Python runs in a graph, and callbacks do not work under XLA, but a variable does everywhere. One row per source:
how often it ran, how often all was zero, how often something was not finite, the first such step, the largest entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradlint.probe.intermediates import ROUNDING, Intermediates, look_when
from gradlint.probe.magnitudes import largest_of, norms_of
from gradlint.probe.own_variables import OwnVariables

#: Entries of a gradient up to which each entry is followed, so that some of a variable can be told from all of it.
MOST_ENTRIES = 200_000
_FIELDS = 6


@dataclass(slots=True)
class Monitor:
    """The numbers of one list of sources."""

    numbers: Any
    """tf.Variable of shape (sources, 6): runs, zeros, not finite, first not finite (from 1), largest, last norm."""
    ever: list[Any] = field(default_factory=list)
    """Per source a tf.Variable of its shape: was the entry ever not zero? None for those that are too large."""


def monitored(
    own: OwnVariables, key: Any, gradients: list[Any], intermediates: Intermediates | None, *, entries: bool
) -> Monitor | None:
    """Have the graph that is being traced note the gradients; the same key, the same monitor.

    Without `entries` the norm stands for the largest entry too, which is never larger. A tf.function is traced a second
    time when its first call made variables.
    """
    import tensorflow as tf

    present = [gradient for gradient in gradients if gradient is not None]
    if not present:
        return None
    count = len(gradients)
    monitor = Monitor(
        own.get((*key, count), "monitor", lambda: tf.zeros([count, _FIELDS])),
        [_entries(tf, own, (*key, place), gradient) if entries else None for place, gradient in enumerate(gradients)],
    )
    places = [place for place, gradient in enumerate(gradients) if gradient is not None]
    values = [_values(tf, gradients[place]) for place in places]
    norms = norms_of(tf, values)
    biggest = largest_of(tf, values) if entries else norms
    is_whole = len(present) == len(gradients)
    before = monitor.numbers.read_value() if is_whole else tf.gather(monitor.numbers, places)
    runs, zeros, bad, first, largest, norm = tf.unstack(before, axis=1)
    runs += 1.0
    finite = tf.math.is_finite(biggest)
    after = tf.stack(
        [
            runs,
            zeros + tf.cast(biggest == 0.0, tf.float32),
            bad + tf.where(finite, 0.0, 1.0),
            tf.where(finite | (first > 0.0), first, runs),
            tf.maximum(largest, tf.where(finite, biggest, 0.0)),
            tf.where(finite, norms, norm),
        ],
        axis=1,
    )
    if not is_whole:
        after = tf.tensor_scatter_nd_update(monitor.numbers, [[place] for place in places], after)
    monitor.numbers.assign(after, read_value=False)
    for place, entries_now in zip(places, values, strict=True):
        ever = monitor.ever[place]
        if ever is not None and not hasattr(gradients[place], "indices"):
            ever.assign(tf.logical_or(ever, entries_now != tf.zeros([], entries_now.dtype)))
    if intermediates is not None and intermediates.gradients:
        # The first step that is not finite, and every zero until then.
        needed = tf.reduce_any(tf.logical_not(finite) | (biggest <= ROUNDING)) & tf.reduce_all(bad == 0.0)
        look_when(own, needed, intermediates, key)
    return monitor


def _values(tf: Any, gradient: Any) -> Any:
    values = tf.convert_to_tensor(getattr(gradient, "values", gradient))
    return tf.abs(values) if values.dtype.is_complex else values


def _entries(tf: Any, own: OwnVariables, key: Any, gradient: Any) -> Any:
    if gradient is None or hasattr(gradient, "indices") or not gradient.shape.is_fully_defined():
        return None
    if gradient.shape.num_elements() > MOST_ENTRIES:
        return None
    return own.get((*key, "entries"), "entries", lambda: tf.zeros(gradient.shape, tf.bool))


def read(monitor: Monitor) -> list[list[float]] | None:
    """The rows; None when no run has reached the graph and the variable was never made."""
    try:
        rows: list[list[float]] = monitor.numbers.numpy().tolist()
    except Exception:  # an initializer that was lifted into a graph which never ran
        return None
    return rows
