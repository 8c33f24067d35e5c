"""The table of measured functions is what TensorFlow does now, and what is advised instead lets gradients pass."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from gradlint.knowledge.alternatives import alternative_to
from gradlint.knowledge.measured import DtypeClass, all_measured, measured
from gradlint.verdicts import Verdict
from support import ROOT

tf = pytest.importorskip("tensorflow")


def test_a_sample_of_functions_is_measured_as_it_is_written() -> None:
    done = subprocess.run(
        [sys.executable, "tools/measure_ops.py", "--check", "--sample", "100"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "100 symbols checked, 0 differ from the data file\n"


def names_watched() -> Iterator[tuple[str, Any]]:
    """The floats that the code of alternatives is written in."""
    yield "x", [0.3, -1.2, 2.5, 0.7]
    yield "y", [1.1, -0.4, 0.6, -2.0]
    yield "values", [0.5, 1.5, 2.5]
    for name, numbers in (("p", [0.2, 0.7, 0.4]), ("q", [0.6, 0.3, 0.9])):
        yield name, numbers
    for name, number in (("h", 0.2), ("s", 0.6), ("v", 0.8), ("rate", 1.5), ("low", -1.0), ("high", 1.0)):
        yield name, [number]
    for name, number in (("start", 0.3), ("step", 0.7), ("factor", 1.5)):
        yield name, number
    yield "weights", [0.3, -1.2, 2.5, 0.7]
    yield "updates", [0.5, 0.6]
    yield "inputs", [0.3, -1.2, 2.5, 0.7]
    for name, shape in (
        ("image", (4, 4, 3)),
        ("images", (1, 4, 4, 3)),
        ("plane", (4, 4)),
        ("cube", (2, 4, 4)),
        ("kernel", (2, 2, 3, 2)),
        ("rhs", (3, 2)),
        ("logits", (3, 4)),
        ("frames", (5, 2, 4)),
        ("dense", (3, 4)),
        ("boxes", (3, 4)),
        ("scores", (3,)),
        ("rotation", (3, 3)),
        ("y_true", (3, 4)),
        ("y_pred", (3, 4)),
    ):
        yield name, tf.random.stateless_uniform(shape, (1, zlib.crc32(name.encode()) % 1000), 0.1, 0.9)
    yield "vectors", [[0.8, 0.6, 0.1], [-0.6, 0.8, 0.1], [0.2, 0.1, 0.9]]
    yield "matrix", [[3.0, 0.5, 0.1], [0.5, 4.0, 0.2], [0.1, 0.2, 5.0]]
    yield "sparse", [0.05, 0.95, 0.92, 0.06]
    yield "coordinates", [[0.3, 1.6, 2.2], [0.7, 1.1, 2.4]]
    yield "areas", [[0.1, 0.15, 0.6, 0.7]]
    yield "probabilities", [[0.2, 0.3, 0.1, 0.4], [0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]]


def namespace() -> dict[str, Any]:
    """The names that are not watched."""
    import keras

    return {
        "tf": tf,
        "keras": keras,
        "temperature": 0.5,
        "width": 0.8,
        "positions": tf.constant([0.0, 1.0, 2.0, 3.0]),
        "centers": tf.constant([-1.0, 0.0, 1.0]),
        "edges": tf.constant([-1.0, 0.0, 1.0]),
        "count": 2.0,
        "trials": 5.0,
        "ids": tf.constant([0, 0, 1, 2]),
        "labels": tf.constant([0, 1, 3]),
        "sequences": tf.constant([[1, 2], [2, 3]]),
    }


def sparse_tensor(entries: Any) -> Any:
    """A sparse tensor of watched values."""
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1], [2, 3]], entries, [3, 4])


ALTERNATIVES = sorted({str(each.code) for known in all_measured() if (each := alternative_to(known.symbol))})


@pytest.mark.parametrize("code", ALTERNATIVES)
def test_an_alternative_lets_gradients_pass(code: str) -> None:
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    used = {name: tf.constant(value) for name, value in names_watched() if name in names}
    with tf.GradientTape() as tape:
        tape.watch(used)
        given = {name: sparse_tensor(value) if name == "sparse" else value for name, value in used.items()}
        target = tf.nest.map_structure(lambda each: tf.abs(each) * ramp(each), eval(code, namespace() | given))
    gradients = tape.gradient(target, used)

    assert used
    assert [name for name, found in gradients.items() if found is None or not float(tf.reduce_max(tf.abs(found)))] == []


def ramp(tensor: Any) -> Any:
    """Weights that are all different, so that gradients do not cancel out."""
    real = tf.abs(tensor)
    return 0.5 + tf.cast(tf.reshape(tf.range(tf.size(real)), tf.shape(real)), real.dtype)


def test_every_function_that_cuts_everything_has_an_alternative_or_a_reason() -> None:
    advised = {known.symbol for known in all_measured() if alternative_to(known.symbol)}

    assert {"tf.round", "tf.argmax", "keras.ops.round", "keras.ops.argmax", "tf.cast", "tf.image.adjust_hue"} <= advised
    assert alternative_to("tf.exp") is None
    assert alternative_to("keras.losses.poisson") is None
    assert alternative_to("no.such.symbol") is None


def test_the_dtype_of_outputs_is_known_without_tensorflow() -> None:
    found = measured("tf.math.top_k")

    assert found is not None
    assert found.outputs == (DtypeClass.FLOAT, DtypeClass.INTEGER)
    assert found.arguments[0].outputs == (Verdict.PARTIAL_ZERO, Verdict.NONE)


def test_a_parameter_is_asked_for_by_name_and_by_place() -> None:
    gather, normal, cast = measured("tf.gather"), measured("tf.random.stateless_normal"), measured("tf.cast")

    assert gather and (gather.verdict_of(0), gather.verdict_of("indices")) == (Verdict.PARTIAL_ZERO, Verdict.NONE)
    assert normal and normal.parameters == ("shape", "seed", "mean", "stddev", "dtype", "alg")
    assert (normal.verdict_of(1), normal.verdict_of(2), normal.verdict_of(9)) == (None, Verdict.FLOWS, None)
    assert cast and cast.verdict_of("x") is None


CRASHES = """
import os, sys, time
sys.path.insert(0, "tools")
import tensorflow as tf
from measuring import table
from measuring.discovery import Public
table.SECONDS = 10.0
functions = [lambda x: os.abort(), tf.round, lambda x: time.sleep(60), tf.floor]
for public, row in table._measured_in_children([Public(f"f{n}", (), each) for n, each in enumerate(functions)]):
    print(public.symbol, row.get("missing", "measured"))
"""


def test_a_crash_and_a_hang_cost_one_function_each() -> None:
    printed = subprocess.run([sys.executable, "-c", CRASHES], cwd=ROOT, capture_output=True, text=True, check=True)

    assert printed.stdout.splitlines() == [
        "f0 ends the process (-6)",
        "f1 measured",
        "f2 does not return within 10 s",
        "f3 measured",
    ]
