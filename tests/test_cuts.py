"""Cuts where no program of `fixtures/` can show them: code that nobody runs, and what a finding carries with it."""

from __future__ import annotations

import pytest

from support import FAULTY, Run, check, told

IMPORTS = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\nfrom sklearn import metrics\n\n"

#: What stands in a file that never calls `fit`, and the findings: code and the code at the place.
COMPILED = {
    "a loss with a threshold, for a model that somebody else fits": (
        """
def hits(y_true, y_pred):
    return 1.0 - tf.reduce_mean(y_true * tf.cast(y_pred > 0.5, tf.float32))

def build(width):
    model = keras.Sequential([keras.layers.Dense(width), keras.layers.Dense(1)])
    model.compile("adam", loss=hits)
    return model
""",
        [("GL202", "y_pred > 0.5")],
    ),
    "the same for a model that is given": (
        """
def hits(y_true, y_pred):
    return 1.0 - tf.reduce_mean(y_true * tf.round(y_pred))

def prepare(model):
    model.compile(optimizer="adam", loss=hits)
""",
        [("GL202", "tf.round(y_pred)")],
    ),
    "a function of scikit-learn": (
        """
def prepare(model):
    model.compile(optimizer="adam", loss=metrics.mean_squared_error)
""",
        [("GL201", "metrics.mean_squared_error")],
    ),
    "a differentiable loss, and a threshold as a metric": (
        """
def error(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred))

def hits(y_true, y_pred):
    return tf.reduce_mean(tf.cast(tf.equal(y_true, tf.round(y_pred)), tf.float32))

def prepare(model):
    model.compile(optimizer="adam", loss=error, metrics=[hits])
""",
        [],
    ),
    "a loss that is imported": (
        """
from losses import special

def prepare(model):
    model.compile(optimizer="adam", loss=special)
""",
        [],
    ),
}

#: Functions that nobody calls, with no tape in the file.
UPDATES = {
    "a soft update that binds the loop's name": (
        """
def follow(target, online, rate):
    for t, o in zip(target.variables, online.variables):
        t = rate * o + (1.0 - rate) * t
""",
        [("GL205", "t = rate * o + (1.0 - rate) * t")],
    ),
    "a soft update that assigns": (
        """
def follow(target, online, rate):
    for t, o in zip(target.variables, online.variables):
        t.assign(rate * o + (1.0 - rate) * t)
""",
        [],
    ),
    "new values that are collected": (
        """
def followed(target, online, rate):
    values = []
    for t, o in zip(target.variables, online.variables):
        t = rate * o + (1.0 - rate) * t
        values.append(t)
    return values
""",
        [],
    ),
    "arrays that change in place, which are copies and dropped": (
        """
def scaled(model, factor):
    for array, other in zip(model.get_weights(), model.get_weights()):
        array += factor * other
""",
        [("GL307", "array")],
    ),
    "arrays that change in place and are written back": (
        """
def scaled(model, factor):
    arrays = model.get_weights()
    for array, other in zip(arrays, model.get_weights()):
        array += factor * other
    model.set_weights(arrays)
""",
        [],
    ),
}


@pytest.mark.parametrize(("code", "expected"), COMPILED.values(), ids=COMPILED)
def test_compiled_losses_are_judged_without_a_fit(run: Run, code: str, expected: list[tuple[str, str]]) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(("code", "expected"), UPDATES.values(), ids=UPDATES)
def test_updates_are_judged_without_a_tape(run: Run, code: str, expected: list[tuple[str, str]]) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(
    ("line", "verdict", "cause"),
    [
        ("loss = tf.round(loss)", "none", "non-differentiable"),
        ("loss = tf.cast(loss, tf.int32)", "none", "integer"),
        ("loss = tf.stop_gradient(loss)", "none", "stopped"),
        ("loss = tf.convert_to_tensor(loss.numpy())", "none", "left-tensorflow"),
        ("loss = loss.numpy()", "raises", "left-tensorflow"),
        ("loss = tf.reduce_sum(tf.py_function(lambda x: np.abs(x), [loss], tf.float32))", "zero", "left-tensorflow"),
        ("loss = tf.image.adjust_hue(loss, 0.1)", "raises", "unregistered-op"),
    ],
)
def test_a_finding_carries_verdict_cause_and_variables(run: Run, line: str, verdict: str, cause: str) -> None:
    program = f"""{IMPORTS}
w = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = w * 2.0
    {line}
gradient = tape.gradient(loss, w)
"""
    (finding,) = run("check", "-", "--output-format", "json", stdin=program.encode()).findings

    assert (finding["verdict"], finding["cause"], finding["variables"]) == (verdict, cause, ["w"])


def test_a_fit_that_is_too_much_to_follow_leaves_eager_code_eager(run: Run) -> None:
    rows = "\n".join(f"                total = total + a * {row} + b - a" for row in range(400))
    program = f"""{IMPORTS}
def endless(y_true, y_pred):
    total = tf.reduce_mean(y_pred)
    for a in range(9):
        for b in range(9):
            for c in range(9):
{rows}
    return total

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", loss=endless)
model.fit(np.ones((4, 2)), np.ones((4, 1)))
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = tf.convert_to_tensor((w * 2.0).numpy())
gradient = tape.gradient(loss, w)
"""
    (finding,) = run("check", "-", "--output-format", "json", stdin=program.encode()).findings

    # In a graph `.numpy()` would raise.
    assert (finding["code"], finding["verdict"], finding["variables"]) == ("GL201", "none", ["w"])


@pytest.mark.parametrize(
    ("loss", "quoted"),
    [
        ("tf.add(w,  # first weight\n    w * \\\n  w)", "tf.add(w, w * w)"),
        ("tf.add(\n    w,\n    # of the second\n    w * w\n)", "tf.add(w, w * w)"),
        ("w * len('#1') * \\\n    len('''# 2 \\\n  ''')  # 3", "w * len('#1') * len('''# 2 \\ ''')"),
        ("tf.add_n([w,\n  w])", "tf.add_n([w, w])"),
    ],
    ids=["comment", "call", "string", "list"],
)
def test_code_of_several_lines_is_quoted_as_one_line_of_code(loss: str, quoted: str) -> None:
    (finding,) = check(FAULTY.replace("w * w", loss))

    assert finding.message == f"`w` gets None: `{quoted}` is computed before the tape opens"
    assert finding.instead == f"compute `{quoted}` under `tape`"


def test_long_code_is_quoted_by_its_ends() -> None:
    (finding,) = check(FAULTY.replace("w * w", f"(w{' + w * 2.0' * 400} - w ** 3.0)"))

    quoted = "w + w * 2.0 + w * 2.0 + w * 2.0 + w * 2.0 + w * 2.0 + w … 2.0 + w * 2.0 - w ** 3.0"
    assert finding.message == f"`w` gets None: `{quoted}` is computed before the tape opens"
    assert finding.instead == f"compute `{quoted}` under `tape`"
