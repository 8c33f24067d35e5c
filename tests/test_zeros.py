"""Zeros, NaN and structure where no program of `fixtures/` can show them: code that nobody runs, settings, reports."""

from __future__ import annotations

import pytest

from flow_programs import flow
from support import Run, told

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"

#: Layers and losses that nothing in the file makes or trains with, and the findings: code and the code at the place.
OPEN_CODE = {
    "a layer that call forgets": (
        """
class Block(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.wide = keras.layers.Dense(units)
        self.narrow = keras.layers.Dense(2)

    def call(self, x):
        return self.wide(x)
""",
        [("GL601", "keras.layers.Dense(2)")],
    ),
    "a layer that a base class elsewhere may call": (
        """
from somewhere import Base

class Block(Base):
    def __init__(self):
        super().__init__()
        self.narrow = keras.layers.Dense(2)

    def call(self, x):
        return super().call(x)
""",
        [],
    ),
    "a layer that is looked up by name": (
        """
class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.narrow = keras.layers.Dense(2)

    def call(self, x):
        return getattr(self, "narrow")(x)
""",
        [],
    ),
    "a layer made in call": (
        """
class Block(keras.layers.Layer):
    def call(self, x):
        return keras.layers.Dense(4)(x)
""",
        [("GL605", "keras.layers.Dense(4)")],
    ),
    "a layer without weights made in call": (
        """
class Block(keras.layers.Layer):
    def call(self, x):
        return keras.layers.Flatten()(x)
""",
        [],
    ),
    "a loss of a softmax that is not known": (
        """
def crossentropy(y_true, y_pred):
    return -tf.reduce_sum(y_true * tf.math.log(y_pred))
""",
        [],
    ),
    "a loss that takes the logarithm of its own softmax": (
        """
def crossentropy(y_true, y_pred):
    p = tf.nn.softmax(y_pred)
    return -tf.reduce_sum(y_true * tf.math.log(p))
""",
        [("GL533", "tf.math.log(p)")],
    ),
    "the same outside of training": (
        """
def describe(model, images):
    p = tf.nn.softmax(model.predict(images))
    model.compile("adam", "mse")
    return -tf.reduce_sum(p * tf.math.log(p))
""",
        [],
    ),
    "a loss class with the arguments of a loss of Keras swapped": (
        """
class Weighted(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return 2.0 * keras.losses.binary_crossentropy(y_pred, y_true)
""",
        [("GL512", "keras.losses.binary_crossentropy(y_pred, y_true)")],
    ),
    "a dummy loss": (
        """
def build(model):
    model.compile("adam", loss=lambda y_true, y_pred: 0.0)
""",
        [],
    ),
    "a test of shapes with zeros": (
        """
def test_shape():
    layer = keras.layers.Dense(2)
    with tf.GradientTape() as tape:
        y = layer(tf.zeros([1, 3]))
    assert y.shape == (1, 2)
""",
        [],
    ),
}

SIGN = """
w = tf.Variable([1.0, -2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sign(w))
print(tape.gradient(loss, w))
"""

UNTRACKED = """
class Scale(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(1.0)

    def call(self, x):
        return self.scale * x
"""

CORRECTED = """
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.ones((6, 4)), np.arange(6) % 3)
"""


@pytest.mark.parametrize("case", OPEN_CODE)
def test_code_that_nothing_in_the_file_runs(run: Run, case: str) -> None:
    code, expected = OPEN_CODE[case]

    assert told(run, IMPORTS + code) == expected


def test_a_zero_is_told_from_none(run: Run) -> None:
    (finding,) = run("check", "-", "--output-format", "json", stdin=(IMPORTS + SIGN).encode()).findings
    (rounded,) = run(
        "check", "-", "--output-format", "json", stdin=(IMPORTS + SIGN.replace("sign", "round")).encode()
    ).findings

    assert (finding["code"], finding["verdict"], finding["cause"]) == ("GL509", "zero", "saturated")
    assert finding["message"].startswith("`w` gets zero: ")
    assert (rounded["code"], rounded["verdict"], rounded["cause"]) == ("GL202", "none", "non-differentiable")


def test_a_none_behind_a_zero_is_none(run: Run) -> None:
    program = IMPORTS + SIGN.replace("tf.sign(w)", "tf.round(tf.sign(w))")

    assert [(each.verdict, each.cause) for each in flow(run, program)] == [("none", "saturated")]
    (finding,) = run("check", "-", "--output-format", "json", stdin=program.encode()).findings
    assert finding["verdict"] == "none"


def test_flow_says_where_a_gradient_becomes_zero(run: Run) -> None:
    said = flow(run, IMPORTS + SIGN.replace("tf.sign(w)", "w - w"))

    assert [(each.verdict, each.cause, each.cut) for each in said] == [("zero", "constant", 8)]


def test_what_keras_2_tracks_is_no_finding_under_its_setting(run: Run) -> None:
    run.write("scale.py", IMPORTS + UNTRACKED)
    under_3 = [each["code"] for each in run("check", "scale.py", "--output-format", "json").findings]
    run.write("pyproject.toml", "[tool.gradlint]\nkeras = 2\n")
    under_2 = [each["code"] for each in run("check", "scale.py", "--output-format", "json").findings]

    assert (under_3, under_2) == (["GL607"], [])


def test_what_keras_corrects_is_a_hint_and_no_failure(run: Run) -> None:
    outcome = run("check", "-", "--output-format", "json", stdin=(IMPORTS + CORRECTED).encode())

    assert [(each["code"], each["severity"]) for each in outcome.findings] == [("GL522", "info")]
    assert outcome.exit_code == 0
