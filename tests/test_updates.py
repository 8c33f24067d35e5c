"""Updates where no program of `fixtures/` can show them: code that nobody runs, settings, and what is printed."""

from __future__ import annotations

import pytest

from flow_programs import flow
from support import Run, told

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"

#: What stands in functions that nobody calls, and the findings: code and the code at the place.
SLICES = {
    "an item of a gradient of a model that is given": (
        """
def step(model, optimizer, images, rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients[0][rows] = 0.0
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        [("GL301", "gradients[0][rows]")],
    ),
    "an item of the list of gradients": (
        """
def step(model, optimizer, images, mask):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients[0] = gradients[0] * mask
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        [],
    ),
    "an item of a parameter": (
        """
def silenced(values, rows):
    values[rows] = 0.0
    values[0] += 1.0
    return values
""",
        [],
    ),
    "an item of an attribute of a parameter": (
        """
def silence(layer, rows):
    layer.kernel[rows] = 0.0
""",
        [],
    ),
    "an item of a variable that the constructor makes": (
        """
class Table(tf.Module):
    def __init__(self):
        self.rows = tf.Variable(tf.ones((3, 2)))

    def silence(self, index):
        self.rows[index] *= 0.0
""",
        [("GL301", "self.rows[index]")],
    ),
    "an item of what an operation of TensorFlow returns for a parameter": (
        """
def silenced(values, rows):
    active = tf.nn.relu(values)
    active[rows] = 0.0
    return active
""",
        [("GL301", "active[rows]")],
    ),
    "an item of a tensor or an array": (
        """
def silenced(values, rows, in_numpy):
    active = np.maximum(values, 0.0) if in_numpy else tf.nn.relu(values)
    active[rows] = 0.0
    return active
""",
        [],
    ),
    "an item of a tensor where the error is expected": (
        """
def silenced(values, rows):
    active = tf.nn.relu(values)
    try:
        active[rows] = 0.0
    except TypeError:
        active = tf.zeros_like(active)
    return active
""",
        [],
    ),
    "assign_sub of a slice of the kernel of a layer": (
        """
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(3, 2), name="kernel")

    def descend(self, gradient):
        self.kernel[0].assign_sub(0.1 * gradient[0])
""",
        [("GL302", "self.kernel[0].assign_sub(0.1 * gradient[0])")],
    ),
    "assign of such a slice": (
        """
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(3, 2), name="kernel")

    def descend(self, gradient):
        self.kernel[0].assign(self.kernel[0] - 0.1 * gradient[0])
""",
        [],
    ),
    "assign_sub of a slice of a parameter": (
        """
def descend(table, rows):
    table[rows].assign_sub(1.0)
""",
        [],
    ),
    "a slice for an optimizer": (
        """
class Trainer:
    def __init__(self):
        self.table = tf.Variable(tf.ones((5, 2)))
        self.optimizer = keras.optimizers.SGD(0.1)

    def step(self, gradient):
        self.optimizer.apply_gradients([(gradient, self.table[0])])
""",
        [("GL303", "self.optimizer.apply_gradients([(gradient, self.table[0])])")],
    ),
    "a step of descent that overwrites": (
        """
class Trainer:
    def __init__(self):
        self.table = tf.Variable(tf.ones((5, 2)))

    def step(self, rows, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather_nd(self.table, rows) ** 2)
        gradient = tf.convert_to_tensor(tape.gradient(loss, self.table))
        self.table.scatter_nd_update(rows, -rate * tf.gather_nd(gradient, rows))
""",
        [("GL304", "self.table.scatter_nd_update(rows, -rate * tf.gather_nd(gradient, rows))")],
    ),
    "gradients that are given, clipped for nobody": (
        """
def clipped(gradients):
    for gradient in gradients:
        tf.clip_by_norm(gradient, 1.0)
    return gradients
""",
        [("GL306", "tf.clip_by_norm(gradient, 1.0)")],
    ),
    "a copy that is written back to a layer that is given": (
        """
def silence(layer, units):
    kernel = layer.kernel.numpy()
    kernel[:, units] = 0.0
    layer.kernel.assign(kernel)
""",
        [],
    ),
}

PAIRS = {
    "a list from outside, reversed": (
        """
def step(model, optimizer, images):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, reversed(model.trainable_variables)))
""",
        [("GL401", "zip(gradients, reversed(model.trainable_variables))")],
    ),
    "gradients of the reversed list": (
        """
def step(model, optimizer, images):
    variables = model.trainable_variables[::-1]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
""",
        [],
    ),
    "gradients that are given, with a list reversed": (
        """
def apply(model, optimizer, gradients):
    optimizer.apply_gradients(zip(gradients, reversed(model.trainable_variables)))
""",
        [],
    ),
    "two lists that are given": (
        """
def step(optimizer, loss_of, variables, others):
    with tf.GradientTape() as tape:
        loss = loss_of()
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), others))
""",
        [],
    ),
    "the variables of the other network that is given": (
        """
def step(generator, critic, first, second, noise):
    with tf.GradientTape() as g_tape, tf.GradientTape() as c_tape:
        g_loss = tf.reduce_mean(critic(generator(noise)))
        c_loss = -g_loss
    of_generator = g_tape.gradient(g_loss, generator.trainable_variables)
    of_critic = c_tape.gradient(c_loss, critic.trainable_variables)
    first.apply_gradients(zip(of_generator, generator.trainable_variables))
    second.apply_gradients(zip(of_generator, critic.trainable_variables))
""",
        [("GL401", "zip(of_generator, critic.trainable_variables)")],
    ),
    "parts of one list, in their order": (
        """
def step(model, first, second, images, count):
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, variables)
    first.apply_gradients(zip(gradients[:count], variables[:count]))
    second.apply_gradients(zip(gradients[count:], variables[count:]))
""",
        [],
    ),
    "two lists joined one way and the other": (
        """
def step(encoder, decoder, optimizer, images):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(decoder(encoder(images)))
    gradients = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
    optimizer.apply_gradients(zip(gradients, decoder.trainable_variables + encoder.trainable_variables))
""",
        [("GL401", "zip(gradients, decoder.trainable_variables + encoder.trainable_variables)")],
    ),
    "a zip that a comprehension went through": (
        """
def apply(model, optimizer, gradients):
    pairs = zip(gradients, model.trainable_variables)
    norms = [tf.norm(gradient) for gradient, _ in pairs]
    optimizer.apply_gradients(pairs)
    return norms
""",
        [("GL411", "optimizer.apply_gradients(pairs)")],
    ),
    "a list that a comprehension went through": (
        """
def apply(model, optimizer, gradients):
    pairs = list(zip(gradients, model.trainable_variables))
    norms = [tf.norm(gradient) for gradient, _ in pairs]
    optimizer.apply_gradients(pairs)
    return norms
""",
        [],
    ),
    "clipped gradients and their norm, for gradients": (
        """
def apply(model, optimizer, gradients):
    gradients = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        [("GL409", "zip(gradients, model.trainable_variables)")],
    ),
    "clipped gradients, unpacked": (
        """
def apply(model, optimizer, gradients):
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return norm
""",
        [],
    ),
}

#: A trainer whose step nobody calls: what makes its optimizer, and what it applies.
TRAINER = """
MASK = tf.constant([[1.0], [0.0]])

class Trainer:
    def __init__(self, given=None):
        self.weights = tf.Variable(tf.ones((2, 3)))
        self.optimizer = {optimizer}

    def step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(images @ self.weights)
        gradient = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients([({gradient}, self.weights)])
"""
APPLIED = "self.optimizer.apply_gradients([(gradient * MASK, self.weights)])"
MASKS = {
    "AdamW": (
        TRAINER.format(optimizer="keras.optimizers.AdamW(1e-3)", gradient="gradient * MASK"),
        [("GL406", APPLIED)],
    ),
    "AdamW where nobody gives another": (
        TRAINER.format(optimizer="given or keras.optimizers.AdamW(1e-3)", gradient="gradient * MASK"),
        [("GL406", APPLIED)],
    ),
    "AdamW without decay": (
        TRAINER.format(optimizer="keras.optimizers.AdamW(1e-3, weight_decay=0.0)", gradient="gradient * MASK"),
        [],
    ),
    "AdamW without the mask": (
        TRAINER.format(optimizer="keras.optimizers.AdamW(1e-3)", gradient="gradient"),
        [],
    ),
    "AdamW that leaves the variable out": (
        TRAINER.format(
            optimizer="keras.optimizers.AdamW(1e-3)\n        self.optimizer.exclude_from_weight_decay([self.weights])",
            gradient="gradient * MASK",
        ),
        [],
    ),
    "AdamW, and the variable is masked after the step": (
        TRAINER.format(optimizer="keras.optimizers.AdamW(1e-3)", gradient="gradient * MASK")
        + "        self.weights.assign(self.weights * MASK)\n",
        [],
    ),
    "Adam": (
        TRAINER.format(optimizer="keras.optimizers.Adam(1e-3)", gradient="gradient * MASK"),
        [],
    ),
    "an optimizer that is given": (
        TRAINER.format(optimizer="given", gradient="gradient * MASK"),
        [],
    ),
    "masks, model and optimizer that are given": (
        """
def step(model, optimizer, images, masks):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    masked = [gradient * mask for gradient, mask in zip(gradients, masks)]
    optimizer.apply_gradients(zip(masked, model.trainable_variables))
""",
        [],
    ),
    "the same, and the unmasked gradients applied": (
        """
def step(model, optimizer, images, masks):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    masked = [gradient * mask for gradient, mask in zip(gradients, masks)]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        [("GL402", "masked = [gradient * mask for gradient, mask in zip(gradients, masks)]")],
    ),
}

#: A class that trains with an optimizer of its own, by `minimize`.
MINIMIZES = """
class Trainer:
    def __init__(self, model, given=None):
        self.model = model
        self.optimizer = {optimizer}

    def step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.model(images))
        self.optimizer.minimize(loss, self.model.trainable_variables, tape=tape)
"""
MINIMIZED = "self.optimizer.minimize(loss, self.model.trainable_variables, tape=tape)"
OPTIMIZERS = {
    "minimize of an optimizer of Keras": (
        MINIMIZES.format(optimizer="keras.optimizers.Adam(1e-3)"),
        [("GL434", MINIMIZED)],
    ),
    "minimize of an optimizer of tf.keras": (
        MINIMIZES.format(optimizer="tf.keras.optimizers.Adam(1e-3)"),
        [("GL434", MINIMIZED)],
    ),
    "minimize of an optimizer of TensorFlow 1": (
        MINIMIZES.format(optimizer="tf.compat.v1.train.AdamOptimizer(1e-3)"),
        [],
    ),
    "minimize of an optimizer that is given": (
        MINIMIZES.format(optimizer="given"),
        [],
    ),
    "minimize where the optimizer is asked for it": (
        """
class Trainer:
    def __init__(self):
        self.optimizer = keras.optimizers.Adam(1e-3)

    def step(self, loss, variables):
        if hasattr(self.optimizer, "minimize"):
            self.optimizer.minimize(loss, variables)
""",
        [],
    ),
    "an optimizer of its own class that has the method": (
        """
class Counting(keras.optimizers.Adam):
    def minimize(self, loss, variables):
        return None

class Trainer:
    def __init__(self):
        self.optimizer = Counting(1e-3)

    def step(self, loss, variables):
        self.optimizer.minimize(loss, variables)
""",
        [],
    ),
    "an optimizer made in each step": (
        """
def step(model, images):
    optimizer = keras.optimizers.Adam(1e-3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        [("GL431", "keras.optimizers.Adam(1e-3)")],
    ),
    "one optimizer for two networks that are given": (
        """
class Gan:
    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.optimizer = keras.optimizers.Adam(1e-4)

    def step(self, of_generator, of_critic):
        self.optimizer.apply_gradients(zip(of_critic, self.critic.trainable_variables))
        self.optimizer.apply_gradients(zip(of_generator, self.generator.trainable_variables))
""",
        [
            (
                "GL432",
                "self.optimizer.apply_gradients(zip(of_generator, self.generator.trainable_variables))",
            )
        ],
    ),
    "the same optimizer, built with all of them": (
        """
class Gan:
    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.optimizer = keras.optimizers.Adam(1e-4)
        self.optimizer.build(generator.trainable_variables + critic.trainable_variables)

    def step(self, of_generator, of_critic):
        self.optimizer.apply_gradients(zip(of_critic, self.critic.trainable_variables))
        self.optimizer.apply_gradients(zip(of_generator, self.generator.trainable_variables))
""",
        [],
    ),
    "a layer frozen between two calls of `fit`": (
        """
def tune(images, labels):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(images, labels)
    model.layers[0].trainable = False
    model.fit(images, labels)
""",
        [("GL421", "model.layers[0].trainable")],
    ),
    "a layer frozen, and the model compiled again": (
        """
def tune(images, labels):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(images, labels)
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    model.fit(images, labels)
""",
        [],
    ),
    "a layer frozen by a callback": (
        """
class Freeze(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 3:
            self.model.layers[0].trainable = False
""",
        [("GL421", "self.model.layers[0].trainable")],
    ),
    "losses of layers left out of the target": (
        """
class Trainer:
    def __init__(self):
        self.model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_regularizer="l2")])
        self.optimizer = keras.optimizers.SGD(0.1)

    def step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.model(images))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
""",
        [("GL440", "tape.gradient(loss, self.model.trainable_variables)")],
    ),
    "sums of gradients that nothing resets": (
        """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = keras.optimizers.SGD(0.1)
        self.sums = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]

    def step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.model(images))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        for total, gradient in zip(self.sums, gradients):
            total.assign_add(gradient)
        self.optimizer.apply_gradients(zip(self.sums, self.model.trainable_variables))
""",
        [("GL437", "self.optimizer.apply_gradients(zip(self.sums, self.model.trainable_variables))")],
    ),
    "sums of gradients that another method resets": (
        """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = keras.optimizers.SGD(0.1)
        self.sums = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]

    def reset(self):
        for total in self.sums:
            total.assign(tf.zeros_like(total))

    def step(self, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.model(images))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        for total, gradient in zip(self.sums, gradients):
            total.assign_add(gradient)

    def apply(self):
        self.optimizer.apply_gradients(zip(self.sums, self.model.trainable_variables))
        self.reset()
""",
        [],
    ),
    "two networks and an optimizer that are given": (
        """
def step(generator, critic, optimizer, of_generator, of_critic):
    optimizer.apply_gradients(zip(of_critic, critic.trainable_variables))
    optimizer.apply_gradients(zip(of_generator, generator.trainable_variables))
""",
        [],
    ),
}

#: GL434 and GL435 beside GL301, which no version of Keras changes.
OLD_KERAS = """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = {keras}.optimizers.SGD(0.1)

    def slow_down(self):
        self.optimizer.lr = 0.01

    def step(self, loss_of, images):
        self.optimizer.minimize(lambda: loss_of(images), self.model.trainable_variables)

    def silenced(self, images):
        active = tf.nn.relu(images)
        active[0] = 0.0
        return active
"""
OF_KERAS_3 = [
    ("GL435", "self.optimizer.lr"),
    ("GL434", "self.optimizer.minimize(lambda: loss_of(images), self.model.trainable_variables)"),
]
OF_ANY_KERAS = [("GL301", "active[0]")]

#: Entries written by a copy of the whole variable: right, and slow.
WHOLE_ASSIGNED = f"""{IMPORTS}
class Table(tf.Module):
    def __init__(self):
        self.rows = tf.Variable(tf.ones((5, 2)))

    def descend(self, index, steps):
        self.rows.assign(tf.tensor_scatter_nd_sub(self.rows, index, steps))
"""


@pytest.mark.parametrize(("code", "expected"), SLICES.values(), ids=SLICES)
def test_slices_are_judged_in_open_code(run: Run, code: str, expected: list[tuple[str, str]]) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(("code", "expected"), PAIRS.values(), ids=PAIRS)
def test_pairs_are_judged_in_open_code(run: Run, code: str, expected: list[tuple[str, str]]) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(("code", "expected"), MASKS.values(), ids=MASKS)
def test_masks_are_judged_by_the_optimizer_of_the_constructor(
    run: Run, code: str, expected: list[tuple[str, str]]
) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(("code", "expected"), OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_optimizers_are_judged_in_open_code(run: Run, code: str, expected: list[tuple[str, str]]) -> None:
    assert told(run, IMPORTS + code) == expected


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        (TRAINER.format(optimizer="keras.optimizers.AdamW(1e-3)", gradient="gradient * MASK"), "error"),
        (TRAINER.format(optimizer="given or keras.optimizers.AdamW(1e-3)", gradient="gradient * MASK"), "warning"),
        (MINIMIZES.format(optimizer="keras.optimizers.Adam(1e-3)"), "error"),
        (MINIMIZES.format(optimizer="given or keras.optimizers.Adam(1e-3)"), "warning"),
    ],
)
def test_an_optimizer_that_may_be_another_one_makes_a_warning(run: Run, code: str, severity: str) -> None:
    (finding,) = run("check", "-", "--output-format", "json", stdin=(IMPORTS + code).encode()).findings

    assert finding["severity"] == severity


@pytest.mark.parametrize("keras", ["keras", "tf.keras"])
@pytest.mark.parametrize("settings", ["", "[tool.gradlint]\nkeras = 3\n"])
def test_keras_3_is_judged_unless_the_settings_say_otherwise(run: Run, keras: str, settings: str) -> None:
    run.write("pyproject.toml", settings)

    assert told(run, IMPORTS + OLD_KERAS.format(keras=keras)) == [*OF_KERAS_3, *OF_ANY_KERAS]


def test_keras_2_in_the_settings_silences_what_only_keras_3_refuses(run: Run) -> None:
    run.write("pyproject.toml", "[tool.gradlint]\nkeras = 2\n")

    assert told(run, IMPORTS + OLD_KERAS.format(keras="tf.keras")) == OF_ANY_KERAS


@pytest.mark.parametrize("line", ["import tf_keras", "import tf_keras as keras", "from tf_keras import optimizers"])
def test_tf_keras_in_the_file_silences_what_only_keras_3_refuses(run: Run, line: str) -> None:
    keras = "keras" if line.endswith(" keras") else "tf_keras" if line == "import tf_keras" else "tf.keras"

    assert told(run, f"{line}\nimport tensorflow as tf\n{OLD_KERAS.format(keras=keras)}") == OF_ANY_KERAS


def test_a_hint_is_printed_and_does_not_count_in_the_exit_status(run: Run) -> None:
    outcome = run("check", "-", "--output-format", "concise", stdin=WHOLE_ASSIGNED.encode())

    assert "info GL308 whole-variable-assigned" in outcome.stdout
    assert outcome.exit_code == 0


def test_a_hint_beside_a_warning_does_not_hide_it(run: Run) -> None:
    program = WHOLE_ASSIGNED + OPTIMIZERS["an optimizer made in each step"][0]
    outcome = run("check", "-", "--output-format", "json", stdin=program.encode())

    assert [(each["code"], each["severity"]) for each in outcome.findings] == [("GL308", "info"), ("GL431", "warning")]
    assert outcome.exit_code == 1


@pytest.mark.parametrize(
    ("code", "verdict", "variables"),
    [
        (SLICES["an item of a variable that the constructor makes"][0], "raises", ["self.rows"]),
        (SLICES["a step of descent that overwrites"][0], "wrong-update", ["self.table"]),
        (SLICES["gradients that are given, clipped for nobody"][0], "never-updated", []),
        (MASKS["AdamW"][0], "frozen-moved", ["self.weights"]),
        (PAIRS["a zip that a comprehension went through"][0], "raises", []),
        (OPTIMIZERS["minimize of an optimizer of Keras"][0], "raises", []),
    ],
)
def test_a_finding_carries_the_verdict_of_the_update_and_no_cause(
    run: Run, code: str, verdict: str, variables: list[str]
) -> None:
    (finding,) = run("check", "-", "--output-format", "json", stdin=(IMPORTS + code).encode()).findings

    assert (finding["verdict"], finding["cause"], finding["variables"]) == (verdict, None, variables)


@pytest.mark.parametrize("optimizer", ["keras.optimizers.AdamW(1e-3)", "keras.optimizers.Adam(1e-3)", "given"])
def test_masked_gradients_flow(run: Run, optimizer: str) -> None:
    code = TRAINER.format(optimizer=optimizer, gradient="gradient * MASK")

    assert [each.verdict for each in flow(run, IMPORTS + code)] == ["flows"]


def test_a_mask_changes_nothing_of_what_flow_says(run: Run) -> None:
    program = IMPORTS + MASKS["masks, model and optimizer that are given"][0]
    unmasked = program.replace("gradient * mask", "gradient")

    assert unmasked != program
    assert flow(run, program) == flow(run, unmasked)


def test_a_layer_that_puts_its_outputs_into_a_dict_is_no_dropped_output(run: Run) -> None:
    columns = f"""{IMPORTS}
class Features(tf.keras.layers.Layer):
    def __init__(self, columns):
        super().__init__()
        self.dense = tf.keras.layers.DenseFeatures(columns)

    def call(self, features, training=None):
        outputs = {{}}
        self.dense(features, training=training, cols_to_output_tensors=outputs)
        return outputs
"""

    assert told(run, columns) == []
    assert told(run, columns.replace("=outputs", "=None")) == [
        ("GL602", "self.dense(features, training=training, cols_to_output_tensors=None)")
    ]


TRAINED_FROZEN = f"""{IMPORTS}
made = keras.Sequential([keras.layers.Dense(4)])
judge = keras.Sequential([keras.layers.Dense(1)])
both = keras.Sequential([made, judge])
judge.compile("sgd", "mse")
judge.trainable = False
both.compile("sgd", "mse")
judge.train_on_batch(np.ones((8, 4)), np.ones((8, 1)))
"""


def test_keras_2_keeps_what_was_trainable_when_a_model_was_compiled(run: Run) -> None:
    thawed_late = TRAINED_FROZEN.replace("judge.compile", "judge.trainable = False\njudge.compile").replace(
        "both.compile", "judge.trainable = True\nboth.compile"
    )

    for program, found in ((TRAINED_FROZEN, {3: ["GL424"], 2: []}), (thawed_late, {3: [], 2: ["GL424"]})):
        for version, codes in found.items():
            outcome = run(
                "check", "-", "--config", f"keras = {version}", "--output-format", "json", stdin=program.encode()
            )
            assert [each["code"] for each in outcome.findings] == codes
