"""The probe on Keras: each way to run `fit`, zeros and NaN with their place, layers and entries that are to stay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlint import probe
from gradlint.rule import Finding, Severity
from gradlint.verdicts import Cause, Verdict
from support import run_process

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def row_of(program: Callable[..., Any], marker: str) -> int:
    """The row of the one line of a program that ends in this comment."""
    lines, first = inspect.getsourcelines(program)
    (place,) = (place for place, line in enumerate(lines) if line.rstrip().endswith(f"# {marker}"))
    return first + place


@contextmanager
def policy(name: str) -> Iterator[None]:
    """Layers compute in this type."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


class TwoLayers(keras.Model):  # type: ignore[misc,name-defined]
    """Dense, something in between, Dense."""

    def __init__(self, between: Callable[[Any], Any]) -> None:
        super().__init__(name="two")
        self.near = keras.layers.Dense(3, name="near")
        self.between = between
        self.far = keras.layers.Dense(1, name="far")

    def call(self, x: Any) -> Any:
        return self.far(self.between(self.near(x)))


def smooth(x: Any) -> Any:
    return tf.tanh(x)


def rounded(x: Any) -> Any:
    return tf.round(x)  # cut


def dead(x: Any) -> Any:
    low = x - 100.0
    return tf.nn.relu(low)  # cut


def clipped(x: Any) -> Any:
    high = x + 100.0
    return tf.clip_by_value(high, -1.0, 1.0)  # cut


NEAR = ("two/near/kernel", "two/near/bias")
FAR = ("two/far/kernel", "two/far/bias")


def numbers() -> tuple[Any, Any]:
    random = np.random.default_rng(5)
    return 4.0 * random.standard_normal((8, 2)).astype("float32"), random.standard_normal((8, 1)).astype("float32")


def fitted(between: Callable[[Any], Any], optimizer: Any = None, **compiled: Any) -> probe.GradientReport:
    """What four steps of `fit` did."""
    keras.utils.set_random_seed(3)
    model = TwoLayers(between)
    model.compile(optimizer or keras.optimizers.SGD(0.01), loss="mse", **compiled)
    with probe.watch(locate_in_graphs=True) as seen:
        model.fit(*numbers(), batch_size=4, epochs=2, verbose=0)
    return seen.report


def of_verdict(report: probe.GradientReport, verdict: Verdict) -> list[Finding]:
    """The errors and warnings with this verdict."""
    return [fault for fault in report.faults() if fault.verdict is verdict]


WAYS = {
    "fit": {},
    "run_eagerly": {"run_eagerly": True},
    "jit_compile": {"jit_compile": True},
    "steps_per_execution": {"steps_per_execution": 2},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_cut_between_layers_is_found_however_fit_runs(way: dict[str, Any]) -> None:
    report = fitted(rounded, **way)

    assert report.verdicts == dict.fromkeys(NEAR, Verdict.NONE) | dict.fromkeys(FAR, Verdict.FLOWS)
    for path in NEAR:
        entry = report[path]
        assert (entry.cause, entry.op) == (Cause.NON_DIFFERENTIABLE, "Round")
        assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (__file__, row_of(rounded, "cut"))
        assert entry.asked is not None and "model.fit(" in entry.asked.text
        if "run_eagerly" not in way:
            assert entry.layer.startswith("two")
    (fault,) = report.faults()
    assert set(fault.variables) == set(NEAR)
    assert report.notes == ()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_healthy_fit_flows_at_every_step(way: dict[str, Any]) -> None:
    report = fitted(smooth, **way)

    assert report.verdicts == dict.fromkeys((*NEAR, *FAR), Verdict.FLOWS)
    assert [entry.steps for entry in report.variables] == [4] * 4
    assert all(entry.largest > 0.0 and entry.norm > 0.0 for entry in report.variables)
    assert report.faults() == ()
    assert report.notes == ()
    report.assert_flows()


def test_train_on_batch_is_seen_as_fit_is() -> None:
    keras.utils.set_random_seed(3)
    model = TwoLayers(rounded)
    model.compile("sgd", loss="mse")

    with probe.watch() as seen:
        for _ in range(3):
            model.train_on_batch(*numbers())

    assert seen.report.verdicts == dict.fromkeys(NEAR, Verdict.NONE) | dict.fromkeys(FAR, Verdict.FLOWS)
    assert seen.report[FAR[0]].steps == 3
    cut = seen.report[NEAR[0]].cut
    assert cut is not None and cut.row == row_of(rounded, "cut")


def test_gradients_under_mixed_float16_are_told_in_units_of_the_loss() -> None:
    in_full = fitted(smooth)
    with policy("mixed_float16"):
        report = fitted(smooth)

    assert report.verdicts == dict.fromkeys((*NEAR, *FAR), Verdict.FLOWS)
    for path in (*NEAR, *FAR):
        assert report[path].largest == pytest.approx(in_full[path].largest, rel=0.05)


def test_a_cut_is_found_under_mixed_float16() -> None:
    with policy("mixed_float16"):
        report = fitted(rounded)

    assert report.verdicts == dict.fromkeys(NEAR, Verdict.NONE) | dict.fromkeys(FAR, Verdict.FLOWS)
    cut = report[NEAR[0]].cut
    assert cut is not None and cut.row == row_of(rounded, "cut")


def test_the_search_for_a_loss_scale_is_no_finding() -> None:
    """The first scales are too large on purpose: their steps are infinite, and skipped."""
    with policy("mixed_float16"):
        report = fitted(lambda x: tf.tanh(x) * 100.0)

    assert of_verdict(report, Verdict.NAN) == []


def test_steps_that_only_accumulate_gradients_flow() -> None:
    report = fitted(smooth, keras.optimizers.SGD(0.01, gradient_accumulation_steps=2))

    assert report.verdicts == dict.fromkeys((*NEAR, *FAR), Verdict.FLOWS)
    assert report.faults() == ()


MIRRORED = """\
import keras
import numpy as np
import tensorflow as tf

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
keras.utils.set_random_seed(3)


class Two(keras.Model):
    def __init__(self, between):
        super().__init__(name="two")
        self.near = keras.layers.Dense(3, name="near")
        self.between = between
        self.far = keras.layers.Dense(1, name="far")

    def call(self, x):
        levels = self.between(self.near(x))
        return self.far(levels)


with strategy.scope():
    cut, healthy = Two(tf.round), Two(tf.tanh)
    cut.compile("sgd", loss="mse")
    healthy.compile("sgd", loss="mse")
x = 4.0 * np.random.default_rng(5).standard_normal((16, 2)).astype("float32")
for model in (cut, healthy):
    model.fit(x, x[:, :1], batch_size=8, epochs=2, verbose=0)
"""


def test_replicas_of_a_mirrored_strategy_are_one_finding(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MIRRORED)

    outcome = run_process("probe", "--run-only", "--output-format", "json", "train.py", folder=tmp_path)

    assert outcome.exit_code == 0, outcome.stderr
    (finding,) = outcome.findings
    row = MIRRORED.splitlines().index("        levels = self.between(self.near(x))") + 1
    assert (finding["code"], finding["location"]["row"], finding["cause"]) == ("GL701", row, "non-differentiable")
    assert set(finding["variables"]) == set(NEAR)


# Several optimizers, and gradients that are asked for by hand.


def adversaries(leave: Callable[[Any], Any]) -> probe.GradientReport:
    """Two steps of a generator against a discriminator; `leave` is what becomes of the samples."""
    keras.utils.set_random_seed(3)
    generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, name="made")], name="generator")
    judge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="judged")], name="judge")
    optimizers = keras.optimizers.SGD(0.01), keras.optimizers.Adam(0.01)
    x, _ = numbers()
    with probe.watch() as seen:
        for _ in range(2):
            with tf.GradientTape() as first, tf.GradientTape() as second:
                fake = leave(generator(x))
                told = judge(fake), judge(x)
                deceit = tf.reduce_mean(tf.nn.softplus(-told[0]))
                loss = tf.reduce_mean(tf.nn.softplus(told[0])) + tf.reduce_mean(tf.nn.softplus(-told[1]))
            made = first.gradient(deceit, generator.trainable_variables)
            judged = second.gradient(loss, judge.trainable_variables)
            optimizers[0].apply((g for g in made if g is not None), generator.trainable_variables[: _present(made)])
            optimizers[1].apply_gradients(zip(judged, judge.trainable_variables, strict=True))
    return seen.report


def _present(gradients: list[Any]) -> int:
    return sum(gradient is not None for gradient in gradients)


def out_through_numpy(fake: Any) -> Any:
    return tf.constant(fake.numpy())  # cut


def test_two_optimizers_that_train_two_models_are_no_finding() -> None:
    report = adversaries(lambda fake: fake)

    assert set(report.verdicts.values()) == {Verdict.FLOWS}
    assert len(report.variables) == 4
    assert report.faults() == ()


def test_samples_that_pass_through_numpy_starve_the_generator_alone() -> None:
    report = adversaries(out_through_numpy)

    starved = {path for path, verdict in report.verdicts.items() if verdict is Verdict.NONE}
    assert starved == {"generator/made/kernel", "generator/made/bias"}
    for path in starved:
        cut = report[path].cut
        assert report[path].cause is Cause.LEFT_TENSORFLOW
        assert cut is not None and cut.row == row_of(out_through_numpy, "cut")
    (fault,) = report.faults()
    assert set(fault.variables) == starved


def test_the_older_keras_is_seen_too() -> None:
    tf_keras = pytest.importorskip("tf_keras")
    near, far = tf_keras.layers.Dense(3, name="near"), tf_keras.layers.Dense(1, name="far")
    model = tf_keras.Sequential([near, tf_keras.layers.Lambda(rounded), far])
    model.compile("sgd", loss="mse")

    with probe.watch() as seen:
        model.fit(*numbers(), batch_size=4, verbose=0)

    starved = {path for path, verdict in seen.report.verdicts.items() if verdict is Verdict.NONE}
    assert {path.split("/")[-2] for path in starved} == {"near"}
    assert all(seen.report[path].cause is Cause.NON_DIFFERENTIABLE for path in starved)


# Zeros and NaN that come from the numbers.


@pytest.mark.parametrize("way", [WAYS["fit"], WAYS["run_eagerly"]], ids=["fit", "run_eagerly"])
@pytest.mark.parametrize(("between", "op"), [(dead, "Relu"), (clipped, "Minimum")])
def test_zeros_of_saturated_ops_are_located(between: Callable[[Any], Any], op: str, way: dict[str, Any]) -> None:
    report = fitted(between, **way)

    assert [report.verdicts[path] for path in NEAR] == [Verdict.ZERO, Verdict.ZERO]
    assert report.verdicts["two/far/bias"] is Verdict.FLOWS
    for path in NEAR:
        entry = report[path]
        assert (entry.cause, entry.op, entry.is_structural) == (Cause.SATURATED, op, False)
        assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (__file__, row_of(between, "cut"))
        if not way:
            assert entry.layer.startswith("two")
    told = [fault for fault in of_verdict(report, Verdict.ZERO) if set(fault.variables) >= set(NEAR)]
    assert len(told) == 1


def test_a_relu_that_fires_later_is_no_finding() -> None:
    w = tf.Variable([-1.0])

    @tf.function  # type: ignore[untyped-decorator]
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(w * x))
        return tape.gradient(loss, w)

    with probe.watch() as seen:
        for x in (1.0, 2.0, -3.0):
            step(tf.constant([x]))

    assert (seen.report["w"].verdict, seen.report["w"].steps, seen.report["w"].largest) == (Verdict.FLOWS, 3, 3.0)
    assert seen.report.faults() == ()


def root(x: Any) -> Any:
    return tf.sqrt(tf.square(x))  # cut


def logarithm(x: Any) -> Any:
    return tf.math.log(tf.abs(x))  # cut


@pytest.mark.parametrize("way", [WAYS["fit"], WAYS["run_eagerly"], WAYS["jit_compile"]], ids=["fit", "eager", "jit"])
@pytest.mark.parametrize(("unsafe", "op"), [(root, "Sqrt"), (logarithm, "Log")])
def test_nan_is_told_with_its_first_step_and_where_it_begins(
    unsafe: Callable[[Any], Any], op: str, way: dict[str, Any]
) -> None:
    keras.utils.set_random_seed(3)
    inputs = keras.Input((1,))
    near = keras.layers.Dense(1, use_bias=False, name="near", kernel_initializer="ones")
    model = keras.Model(inputs, keras.layers.Lambda(unsafe, output_shape=(1,))(near(inputs)))
    model.compile(keras.optimizers.SGD(1e-3), loss="mse", **way)
    x = np.array([[1.0], [2.0], [0.0], [3.0]], "float32")

    with probe.watch(locate_in_graphs=True) as seen:
        model.fit(x, x + 1.0, batch_size=1, shuffle=False, verbose=0)

    assert seen.report.verdicts == {"near/kernel": Verdict.NAN}
    entry = seen.report["near/kernel"]
    assert (entry.first_nan, entry.steps) == (3, 4)
    assert entry.op == op
    assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (__file__, row_of(unsafe, "cut"))
    (fault,) = of_verdict(seen.report, Verdict.NAN)
    assert fault.variables == ("near/kernel",)
    assert "first in step 3" in fault.message or fault.code != "GL703"


@pytest.mark.parametrize("way", [WAYS["fit"], WAYS["run_eagerly"]], ids=["fit", "run_eagerly"])
def test_rows_of_an_embedding_that_no_batch_names_are_no_finding(way: dict[str, Any]) -> None:
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Embedding(50, 4, name="words"), keras.layers.Dense(1, name="far")])
    model.compile("sgd", loss="mse", **way)
    words = np.array([[1, 2], [3, 4], [1, 4], [2, 3]])

    with probe.watch() as seen:
        model.fit(words, np.ones((4, 2, 1), "float32"), batch_size=2, verbose=0)

    (words_path,) = (path for path in seen.report.verdicts if path.endswith("words/embeddings"))
    assert seen.report.verdicts[words_path] is Verdict.FLOWS
    assert [finding for finding in seen.report.findings if words_path in finding.variables] == []


# What an optimizer moves or leaves.


def train_a_stale_list(model: Any, steps: int) -> None:
    optimizer = keras.optimizers.SGD(0.01)
    variables = model.trainable_variables
    model.get_layer("near").trainable = False
    x, y = numbers()
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))  # applied


def train_the_right_list(model: Any, steps: int) -> None:
    optimizer = keras.optimizers.SGD(0.01)
    model.get_layer("near").trainable = False
    variables = model.trainable_variables
    x, y = numbers()
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))


def built() -> Any:
    keras.utils.set_random_seed(3)
    return keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(3, "tanh", name="near"), keras.layers.Dense(1, name="far")], name="net"
    )


def test_a_frozen_layer_in_a_stale_list_is_told_to_move() -> None:
    model = built()

    with probe.watch() as seen:
        train_a_stale_list(model, 2)

    (fault,) = of_verdict(seen.report, Verdict.FROZEN_MOVED)
    assert fault.filename == __file__
    if fault.code == "GL705":
        assert set(fault.variables) == {"net/near/kernel", "net/near/bias"}
        assert fault.place.row == row_of(train_a_stale_list, "applied")


def test_a_frozen_layer_outside_the_list_is_no_finding() -> None:
    model = built()

    with probe.watch() as seen:
        train_the_right_list(model, 2)

    assert seen.report.verdicts == {"net/far/kernel": Verdict.FLOWS, "net/far/bias": Verdict.FLOWS}
    assert seen.report.faults() == ()


class WithHiddenLayers(keras.Model):  # type: ignore[misc,name-defined]
    """Calls a layer that it does not track, as it is in an object that Keras does not look into."""

    def __init__(self, keep: Callable[[Any], Any]) -> None:
        super().__init__(name="outer")
        self.kept = keep(keras.layers.Dense(3, "tanh", name="hidden"))  # kept
        self.far = keras.layers.Dense(1, name="far")

    def call(self, x: Any) -> Any:
        layer = self.kept.layer if isinstance(self.kept, Box) else self.kept
        return self.far(layer(x))


class Box:
    """Holds a layer out of sight of Keras."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer


def test_a_layer_that_its_model_does_not_track_is_never_updated() -> None:
    with probe.watch() as seen:
        model = WithHiddenLayers(Box)
        model.compile("sgd", loss="mse")
        model.fit(*numbers(), batch_size=4, verbose=0)

    assert set(seen.report.verdicts) == {"outer/far/kernel", "outer/far/bias"}
    (fault,) = of_verdict(seen.report, Verdict.NEVER_UPDATED)
    assert (fault.filename, fault.place.row) == (__file__, row_of(WithHiddenLayers.__init__, "kept"))
    assert fault.variables == ("hidden",)


def test_the_same_layer_as_an_attribute_is_no_finding() -> None:
    with probe.watch() as seen:
        model = WithHiddenLayers(lambda layer: layer)
        model.compile("sgd", loss="mse")
        model.fit(*numbers(), batch_size=4, verbose=0)

    assert set(seen.report.verdicts.values()) == {Verdict.FLOWS}
    assert len(seen.report.variables) == 4
    assert of_verdict(seen.report, Verdict.NEVER_UPDATED) == []


def train_with_a_new_layer_each_step(far: Any, steps: int) -> None:
    optimizer = keras.optimizers.SGD(0.01)
    x, y = numbers()
    for _ in range(steps):
        with tf.GradientTape() as tape:
            hidden = keras.layers.Dense(3, "tanh")(x)  # made
            loss = tf.reduce_mean(tf.square(far(hidden) - y))
        gradients = tape.gradient(loss, far.trainable_variables)
        optimizer.apply_gradients(zip(gradients, far.trainable_variables, strict=True))


def test_a_layer_that_is_made_anew_at_each_step_is_never_updated() -> None:
    far = keras.layers.Dense(1, name="far")
    far.build((None, 3))

    with probe.watch() as seen:
        train_with_a_new_layer_each_step(far, 3)

    (fault,) = of_verdict(seen.report, Verdict.NEVER_UPDATED)
    assert (fault.filename, fault.place.row) == (__file__, row_of(train_with_a_new_layer_each_step, "made"))


MASK = np.array([1.0, 0.0, 1.0, 0.0], "float32")


def masked_step(optimizer: Any, w: Any) -> Callable[[], None]:
    """A step whose gradient is masked."""

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w - 3.0))
        gradient = tape.gradient(loss, w)
        optimizer.apply([gradient * MASK], [w])

    return step


def test_weight_decay_of_adam_moves_masked_entries() -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")

    report = probe.updates(masked_step(keras.optimizers.Adam(0.1, weight_decay=0.01), w), w, MASK)

    entry = report["w"]
    assert (entry.verdict, entry.entries, entry.moved) == (Verdict.FROZEN_MOVED, 4, 4)
    assert (entry.frozen, entry.frozen_moved, entry.first) == (2, 2, (1,))
    assert "weight decay of Adam" in entry.because
    report.assert_moved()
    with pytest.raises(probe.GradientFlowError, match=r"`w` moves although frozen: 2 of 2 .*weight decay of Adam"):
        report.assert_frozen()


def test_warm_moments_of_adam_move_masked_entries() -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.apply([tf.ones([4])], [w])

    entry = probe.updates(masked_step(optimizer, w), w, MASK)["w"]

    assert (entry.verdict, entry.frozen_moved) == (Verdict.FROZEN_MOVED, 2)
    assert entry.because == ("moments of Adam",)


@pytest.mark.parametrize("make", [lambda: keras.optimizers.SGD(0.1), lambda: keras.optimizers.Adam(0.1)])
def test_masked_entries_stay_under_sgd_and_under_adam_from_the_start(make: Callable[[], Any]) -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")

    report = probe.updates(masked_step(make(), w), w, MASK)

    entry = report["w"]
    assert (entry.verdict, entry.moved, entry.frozen, entry.frozen_moved) == (Verdict.MOVED, 2, 2, 0)
    assert (entry.first, entry.because) == (None, ())
    report.assert_frozen()
    report.assert_moved()


def update_with(optimizer: Any, w: Any, *, compiled: bool, masks_gradient: bool) -> Callable[[], None]:
    """A step in which two of four entries get no gradient: masked after the tape, or in the loss itself."""
    mask = tf.constant(MASK, tf.float32)
    optimizer.build([w])

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2 if masks_gradient else w**2 * mask)
        (gradient,) = tape.gradient(loss, [w])
        if masks_gradient:
            gradient = gradient * mask
        optimizer.apply([tf.clip_by_norm(gradient, 1.0)], [w])

    return tf.function(step) if compiled else step


@pytest.mark.parametrize("compiled", [False, True])
def test_entries_that_the_program_masks_and_decay_moves_are_an_error_at_the_mask(compiled: bool) -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")
    with probe.watch() as seen:
        step = update_with(keras.optimizers.SGD(0.1, weight_decay=0.01), w, compiled=compiled, masks_gradient=True)
        for _ in range(3):
            step()

    (finding,) = [each for each in seen.report.findings if each.verdict is Verdict.FROZEN_MOVED]
    assert (finding.severity, finding.variables) == (Severity.ERROR, ("w",))
    assert "2 entries that are masked in every update changed, as weight decay of SGD moved" in finding.message
    with open(__file__) as here:
        assert here.readlines()[finding.place.row - 1].strip() == "gradient = gradient * mask"


@pytest.mark.parametrize("compiled", [False, True])
def test_entries_without_a_gradient_that_decay_moves_are_a_hint(compiled: bool) -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")
    with probe.watch() as seen:
        step = update_with(keras.optimizers.SGD(0.1, weight_decay=0.01), w, compiled=compiled, masks_gradient=False)
        for _ in range(3):
            step()

    (finding,) = [each for each in seen.report.findings if each.verdict is Verdict.FROZEN_MOVED]
    assert (finding.severity, finding.variables) == (Severity.INFO, ("w",))
    assert finding.message == "2 entries move in `w` whose gradient was zero at every update, by weight decay of SGD"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("masks_gradient", [False, True])
def test_masked_entries_that_stay_are_no_finding(compiled: bool, masks_gradient: bool) -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")
    with probe.watch() as seen:
        step = update_with(keras.optimizers.SGD(0.1), w, compiled=compiled, masks_gradient=masks_gradient)
        for _ in range(3):
            step()

    assert [each for each in seen.report.findings if each.verdict is Verdict.FROZEN_MOVED] == []


def test_a_variable_that_no_step_moves_is_told_by_name() -> None:
    w, idle = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w"), tf.Variable(1.0, name="idle")

    report = probe.updates(masked_step(keras.optimizers.SGD(0.1), w), [w, idle], steps=2)

    assert report["idle"].verdict is Verdict.NEVER_UPDATED
    with pytest.raises(probe.GradientFlowError, match="`idle` is never updated in 2 steps"):
        report.assert_moved()
    report.assert_moved(allow=["idle"])
    assert report.gradients.verdicts == {"w": Verdict.FLOWS}


def test_a_variable_that_is_not_trainable_is_frozen_as_a_whole() -> None:
    w = tf.Variable([1.0, 2.0], name="w", trainable=False)

    report = probe.updates(lambda: w.assign_add([0.0, 1.0]), w, steps=1)

    entry = report["w"]
    assert (entry.verdict, entry.frozen, entry.frozen_moved, entry.first) == (Verdict.FROZEN_MOVED, 2, 1, (1,))


# What the probe leaves as it was.


def patched_places() -> list[Any]:
    """What a watch puts itself in front of."""
    return [
        tf.GradientTape.gradient,
        tf.GradientTape.jacobian,
        tf.GradientTape.__enter__,
        tf.GradientTape.__exit__,
        tf.GradientTape.watch,
        keras.optimizers.Optimizer.apply,
        keras.optimizers.Optimizer.apply_gradients,
        keras.layers.Layer.__call__,
        keras.layers.Layer.__init__,
        type(tf.constant(0.0)).numpy,
        type(tf.Variable(0.0)).__init__,
    ]


def test_everything_is_as_before_after_a_watch_that_an_exception_ends() -> None:
    before = patched_places()

    with pytest.raises(ZeroDivisionError), probe.watch() as seen:
        fitted_inside = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = fitted_inside * 2.0
        tape.gradient(loss, fitted_inside)
        _ = 1 / 0

    assert all(now is then for now, then in zip(patched_places(), before, strict=True))
    assert seen.report.verdicts == {"fitted_inside": Verdict.FLOWS}


def test_everything_is_as_before_after_trace_and_updates() -> None:
    before = patched_places()
    w = tf.Variable(1.0)

    probe.trace(lambda: w * w)
    probe.updates(lambda: None, w, steps=1)

    assert all(now is then for now, then in zip(patched_places(), before, strict=True))


def test_a_watch_in_a_watch_sees_its_own_part() -> None:
    w, v = tf.Variable(1.0), tf.Variable(2.0)

    def ask(variable: Any) -> None:
        with tf.GradientTape() as tape:
            loss = variable * variable
        tape.gradient(loss, variable)

    with probe.watch() as outer:
        ask(w)
        with probe.watch() as inner:
            ask(v)
        ask(w)

    assert [(entry.shape, entry.steps, entry.largest) for entry in inner.report.variables] == [((), 1, 4.0)]
    assert [(entry.steps, entry.largest) for entry in outer.report.variables] == [(1, 2.0), (1, 4.0), (1, 2.0)]


def test_a_function_that_was_compiled_before_is_reported_as_not_observable() -> None:
    w = tf.Variable(1.0)

    @tf.function  # type: ignore[untyped-decorator]
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.round(w)
        return tape.gradient(loss, w)

    step()
    with probe.watch() as seen:
        step()  # called

    assert seen.report.variables == ()
    told = [finding for finding in seen.report.findings if finding.code == "GL707"]
    rows = [finding.place.row for finding in told]
    assert rows == [row_of(test_a_function_that_was_compiled_before_is_reported_as_not_observable, "called")]


def weights_after(train: Callable[[Any], list[Any]], *, watched: bool) -> list[Any]:
    """Losses and weights of a training from the same start."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)], name="same"
    )
    if watched:
        with probe.watch():
            losses = train(model)
    else:
        losses = train(model)
    return [*losses, *model.get_weights()]


def by_fit(model: Any, **compiled: Any) -> list[Any]:
    model.compile(keras.optimizers.Adam(0.01), loss="mse", **compiled)
    return list(model.fit(*numbers(), batch_size=4, epochs=3, verbose=0).history["loss"])


def by_eager_fit(model: Any) -> list[Any]:
    return by_fit(model, run_eagerly=True)


def by_hand(model: Any) -> list[Any]:
    optimizer = keras.optimizers.Adam(0.01)
    x, y = numbers()

    @tf.function  # type: ignore[untyped-decorator]
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return [step().numpy() for _ in range(4)]


@pytest.mark.parametrize("train", [by_fit, by_eager_fit, by_hand])
def test_a_watch_changes_no_bit_of_a_training(train: Callable[[Any], list[Any]]) -> None:
    without, within = weights_after(train, watched=False), weights_after(train, watched=True)

    assert [np.asarray(value).tobytes() for value in within] == [np.asarray(value).tobytes() for value in without]


def test_layers_that_are_built_in_the_first_call_are_not_made_anew() -> None:
    class Stack(keras.layers.Layer):  # type: ignore[misc,name-defined]
        def build(self, input_shape: Any) -> None:
            self.parts = [keras.layers.Dense(2, name=f"part_{place}") for place in range(3)]
            super().build(input_shape)

        def call(self, inputs: Any) -> Any:
            for part in self.parts:
                inputs = part(inputs)
            return inputs

    with probe.watch() as seen:
        idle, trained = Stack(), Stack()
        idle(tf.ones([1, 2]))
        optimizer = keras.optimizers.SGD(0.1)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(trained(tf.ones([1, 2])))
            gradients = tape.gradient(loss, trained.trainable_variables)
            optimizer.apply(gradients, trained.trainable_variables)

    assert [finding.code for finding in seen.report.findings] == []


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_that_are_paired_with_each_others_variables_are_an_error(compiled: bool) -> None:
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)

    def step(variables: list[Any]) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * a) + tf.reduce_sum(b * b * b)
        gradients = tape.gradient(loss, [a, b])
        optimizer.apply_gradients(zip(gradients, variables, strict=True))

    def findings(variables: list[Any]) -> list[tuple[str, str, Verdict | None, tuple[str, ...]]]:
        with probe.watch() as seen:
            (tf.function(lambda: step(variables)) if compiled else lambda: step(variables))()
        return [(each.code, each.message, each.verdict, each.variables) for each in seen.report.findings]

    assert findings([a, b]) == []
    message = "`a` is updated with the gradient of `b`, and 1 more is like it"
    assert findings([b, a]) == [("GL709", message, Verdict.WRONG_UPDATE, ("a", "b"))]


def test_a_variable_whose_gradient_no_optimizer_gets_is_a_hint() -> None:
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)
    with probe.watch() as seen:
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(a * a) + tf.reduce_sum(b * b * b)
            gradients = tape.gradient(loss, [a, b])
            optimizer.apply_gradients(zip(gradients, [a], strict=False))

    hints = [each for each in seen.report.findings if each.code == "GL704"]
    assert [(each.severity, each.message) for each in hints] == [
        (Severity.INFO, "`b` gets a gradient that no optimizer gets")
    ]
