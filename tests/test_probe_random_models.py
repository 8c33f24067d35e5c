"""The probe on random models with one cut at a random place: that cut, its line, the variables in front, no others."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gradlint import probe
from gradlint.verdicts import Cause, Verdict

pytest.importorskip("tensorflow")

#: A function of (4, 3) tensors each; `{w}` is its variable.
LAYERS = {
    "dense": ("[3, 3]", ["return tf.tanh(tf.matmul(h, {w}))"]),
    "residual": ("[3, 3]", ["inner = tf.sigmoid(tf.matmul(h, {w}))", "return h + 0.5 * inner"]),
    "scale": ("[3]", ["return h * {w} + 0.1"]),
    "offset": ("[3]", ["return tf.sin(h + {w})"]),
    "mixed": ("[3, 3]", ["weights = tf.nn.softmax({w}, axis=0)", "return tf.matmul(tf.exp(-h * h), weights)"]),
    "twice": ("[3, 3]", ["for _ in range(2):", "    h = tf.tanh(h @ {w})", "return h"]),
    "joined": ("[6, 3]", ["both = tf.concat([h, tf.cos(h)], axis=1)", "return tf.matmul(both, {w}) / 2.0"]),
    "centred": ("[3]", ["mean = tf.reduce_mean(h, axis=0, keepdims=True)", "return (h - mean) * tf.exp({w})"]),
}


@dataclass(frozen=True)
class Cut:
    """Lines of a function of (4, 3) tensors through which no gradient goes."""

    lines: tuple[str, ...]
    cause: Cause
    op: str = ""
    """Of the cut, where it is one of TensorFlow's own."""


CUTS = {
    "round": Cut(("h = tf.round(h * 9.0 + 0.3)  # cut", "h = h / 9.0"), Cause.NON_DIFFERENTIABLE, "Round"),
    "integers": Cut(
        ("h = tf.cast(h * 9.0 + 20.0, tf.int32)  # cut", "h = tf.cast(h, tf.float32) / 20.0"), Cause.INTEGER, "Cast"
    ),
    "stop_gradient": Cut(("h = tf.stop_gradient(h)  # cut",), Cause.STOPPED, "StopGradient"),
    "numpy": Cut(("h = tf.constant(h.numpy())  # cut",), Cause.LEFT_TENSORFLOW),
    "numpy_function": Cut(
        ("h = tf.numpy_function(np.tanh, [h], tf.float32)  # cut", "h = tf.ensure_shape(h, [4, 3])"),
        Cause.LEFT_TENSORFLOW,
    ),
}
NUMBERS = count()


def program(layers: Sequence[str], cut: Cut, place: int, *, in_function: bool) -> str:
    """A model of these layers, with the cut in front of the layer at that place, in the loss or in its own function.

    No two programs have a function in common: AutoGraph would take one for the other, as their code is equal.
    """
    own = next(NUMBERS)
    rows = ["import numpy as np", "import tensorflow as tf", "", "x = tf.random.stateless_normal([4, 3], [1, 2])"]
    for number, kind in enumerate(layers):
        shape, _ = LAYERS[kind]
        values = f"0.7 * tf.random.stateless_normal({shape}, [3, {number}])"
        rows.append(f'w{number} = tf.Variable({values}, name="w{number}")')
    for number, kind in enumerate(layers):
        rows += [
            "",
            "",
            f"def layer{number}_{own}(h):",
            *(f"    {row.format(w=f'w{number}')}" for row in LAYERS[kind][1]),
        ]
    if in_function:
        rows += ["", "", f"def stage_{own}(h):", *(f"    {row}" for row in cut.lines), "    return h"]
    rows += ["", "", f"def loss_{own}():", "    h = x"]
    for number in range(len(layers) + 1):
        if number == place:
            rows += [f"    h = stage_{own}(h)"] if in_function else [f"    {row}" for row in cut.lines]
        if number < len(layers):
            rows.append(f"    h = layer{number}_{own}(h)")
    return "\n".join([*rows, "    return tf.reduce_mean(tf.square(h - 0.37))", "", "", f"loss = loss_{own}", ""])


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", CUTS)
@settings(
    max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(
    layers=st.lists(st.sampled_from(sorted(LAYERS)), min_size=1, max_size=5),
    part=st.floats(0.0, 1.0),
    in_function=st.booleans(),
)
def test_exactly_the_variables_in_front_of_the_cut_are_starved_by_it(
    tmp_path_factory: pytest.TempPathFactory, kind: str, layers: list[str], part: float, in_function: bool
) -> None:
    cut, place = CUTS[kind], round(part * len(layers))
    text = program(layers, cut, place, in_function=in_function)
    path = tmp_path_factory.mktemp("models") / "model.py"
    path.write_text(text)

    report = probe.trace(imported(path).loss)

    (row,) = (number for number, line in enumerate(text.split("\n"), 1) if line.endswith("# cut"))
    in_front = [f"w{number}" for number in range(place)]
    behind = [f"w{number}" for number in range(place, len(layers))]
    assert report.verdicts == dict.fromkeys(in_front, Verdict.NONE) | dict.fromkeys(behind, Verdict.FLOWS)
    for name in in_front:
        entry = report[name]
        assert entry.cause is cut.cause
        assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (str(path), row)
        if cut.op:
            assert entry.op == cut.op
    assert len(report.faults()) == (1 if in_front else 0)
