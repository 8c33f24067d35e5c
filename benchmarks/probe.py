"""What the probe costs on real models, as ratios within one run: `python benchmarks/probe.py [--model NAME]`.

Per model, on random images: what the probe does while the training step is traced against the trace without it; a
watched step against a plain one; the search for a cut at the input against a backward trace. Budgets: DESIGN,
section 7. Exit status 1 when one is exceeded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

from gradlint import probe
from gradlint.probe.hub import HUB

SIZE, BATCH, ROUNDS, TRACES = 96, 8, 60, 4
BUDGET_TRACE, BUDGET_STEP, BUDGET_EXPLANATION = 0.02, 0.05, 1.2


def _model(name: str) -> Any:
    made = getattr(keras.applications, name)(weights=None, input_shape=(SIZE, SIZE, 3), classes=10)
    return made


def _step(model: Any, *, cut: bool = False) -> Any:
    optimizer = keras.optimizers.SGD(0.001)
    optimizer.build(model.trainable_variables)
    labels = tf.one_hot(tf.range(BATCH) % 10, 10)

    @tf.function  # type: ignore[untyped-decorator]
    def step(images: Any) -> Any:
        with tf.GradientTape() as tape:
            predicted = model(images, training=True)
            if cut:
                predicted = tf.round(predicted)
            loss = tf.reduce_mean(keras.losses.categorical_crossentropy(labels, predicted))
        gradients = tape.gradient(loss, model.trainable_variables)
        if not cut:
            optimizer.apply(gradients, model.trainable_variables)
        return loss

    return step


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _medians(steps: Sequence[Any], images: Any) -> list[float]:
    """Seconds of each step. They take turns, since two runs of one and the same differ by a tenth."""
    spent: list[list[float]] = [[] for _ in steps]
    with probe.watch():
        for _ in range(ROUNDS):
            for step, seconds in zip(steps, spent, strict=True):
                seconds.append(_seconds(lambda step=step: step(images).numpy()))  # type: ignore[misc]
    return [statistics.median(seconds) for seconds in spent]


class _OwnTime:
    """Seconds that the probe itself spends in the calls that it makes on top of the program's."""

    def __init__(self) -> None:
        self.total = 0.0

    def timed(self, method: str) -> None:
        original = getattr(HUB.tapes, method)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.total += time.perf_counter() - start

        setattr(HUB.tapes, method, wrapper)


def _measure(name: str) -> list[tuple[str, float, float]]:
    model = _model(name)
    images = tf.random.normal([BATCH, SIZE, SIZE, 3])
    shape = tf.TensorSpec(images.shape, images.dtype)
    _step(model).get_concrete_function(shape)  # the first trace builds things that later ones find

    own = _OwnTime()
    for method in ("gradients_asked", "intermediates"):
        own.timed(method)
    of_trace, trace_watched, trace_plain = [], [], []
    for _ in range(TRACES):
        plain, watched = _step(model), _step(model)
        trace_plain.append(_seconds(partial(plain.get_concrete_function, shape)))
        own.total = 0.0
        with probe.watch():
            trace_watched.append(_seconds(partial(watched.get_concrete_function, shape)))
        of_trace.append(own.total)
    step_plain, step_watched = _medians((plain, watched), images)

    explained, backward = [], []
    for _ in range(TRACES):
        backward.append(_backward(model, images))
        own.total = 0.0
        with probe.watch() as seen:
            _step(model, cut=True).get_concrete_function(shape)
        explained.append(own.total)
    verdicts = {entry.verdict.value for entry in seen.report.variables}
    print(f"{name}: {len(model.trainable_variables)} variables; with a cut at the output: {sorted(verdicts)}")
    print(
        f"  trace {min(trace_plain):.2f} s, watched {min(trace_watched):.2f} s, of it the probe {min(of_trace):.3f} s"
    )
    print(f"  step {step_plain:.3f} s, watched {step_watched:.3f} s")
    return [
        ("probe while tracing / trace", min(of_trace) / min(trace_plain), BUDGET_TRACE),
        ("watched step / step - 1", step_watched / step_plain - 1, BUDGET_STEP),
        ("explanation / backward trace", min(explained) / min(backward), BUDGET_EXPLANATION),
    ]


def _backward(model: Any, images: Any) -> float:
    """Seconds of the backward pass alone, while it is traced."""
    spent: list[float] = []

    @tf.function  # type: ignore[untyped-decorator]
    def step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True))
        spent.append(_seconds(lambda: tape.gradient(loss, model.trainable_variables)))
        return loss

    step.get_concrete_function(tf.TensorSpec(images.shape, images.dtype))
    return spent[-1]


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="append", help="of keras.applications; default: MobileNetV2 and ResNet50")
    names = parser.parse_args().model or ["MobileNetV2", "ResNet50"]
    status = 0
    for name in names:
        for what, ratio, budget in _measure(name):
            within = ratio <= budget
            status = status if within else 1
            print(f"  {what:32} {ratio:8.3f}  budget {budget:.2f}  {'ok' if within else 'EXCEEDED'}")
    return status


if __name__ == "__main__":
    sys.exit(_main())
