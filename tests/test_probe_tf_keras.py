"""The probe on tf_keras, the Keras 2 that goes on beside Keras 3."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradlint import probe
from gradlint.verdicts import Cause, Origin, Verdict

tf = pytest.importorskip("tensorflow")
tf_keras = pytest.importorskip("tf_keras")


class Rounded(tf_keras.Model):  # type: ignore[misc,name-defined]
    """Its first layer is cut off."""

    def __init__(self, cut: Callable[[Any], Any] = tf.round) -> None:
        super().__init__(name="rounded")
        self.near = tf_keras.layers.Dense(3, name="near")
        self.last = tf_keras.layers.Dense(1, name="last")
        self.cut = cut

    def call(self, inputs: Any) -> Any:
        return self.last(self.cut(self.near(inputs)))


OPTIMIZERS = {
    "current": lambda: tf_keras.optimizers.Adam(0.1),
    "legacy": lambda: tf_keras.optimizers.legacy.Adam(0.1),
}


def fitted(make_model: Callable[[], Any], optimizer: Any, *, eagerly: bool) -> probe.GradientReport:
    """The report of two epochs."""
    x, y = np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.ones((8, 1), "float32")
    with probe.watch() as seen:
        model = make_model()
        model.compile(optimizer=optimizer, loss="mse", run_eagerly=eagerly)
        model.fit(x, y, epochs=2, verbose=0)
    return seen.report


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_cut_between_layers_is_found(make: Callable[[], Any], eagerly: bool) -> None:
    report = fitted(Rounded, make(), eagerly=eagerly)

    assert report.verdicts == {
        "rounded/near/kernel": Verdict.NONE,
        "rounded/near/bias": Verdict.NONE,
        "rounded/last/kernel": Verdict.FLOWS,
        "rounded/last/bias": Verdict.FLOWS,
    }
    starved = report["rounded/near/kernel"]
    assert (starved.cause, starved.op) == (Cause.NON_DIFFERENTIABLE, "Round")
    assert starved.cut is not None
    assert starved.cut.text.strip() == "return self.last(self.cut(self.near(inputs)))"
    with pytest.raises(probe.GradientFlowError, match="`rounded/near/kernel` and `rounded/near/bias` get None"):
        report.assert_flows()


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_model_that_trains_is_no_finding(make: Callable[[], Any], eagerly: bool) -> None:
    report = fitted(lambda: Rounded(tf.tanh), make(), eagerly=eagerly)

    assert [finding for finding in report.findings if finding.origin is Origin.RUN] == []
    assert set(report.verdicts.values()) == {Verdict.FLOWS}


def test_weight_decay_moves_masked_entries() -> None:
    w = tf.Variable([1.0, 2.0, 4.0, 5.0], name="w")
    optimizer = tf_keras.optimizers.SGD(0.1, weight_decay=0.01)
    optimizer.build([w])

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        gradient = tape.gradient(loss, w)
        optimizer.apply_gradients([(gradient * tf.constant([1.0, 0.0, 1.0, 0.0]), w)])

    report = probe.updates(step, w, np.array([True, False, True, False]))

    assert (report["w"].verdict, report["w"].frozen_moved) == (Verdict.FROZEN_MOVED, 2)
    assert "weight decay of SGD" in report["w"].because


def test_a_layer_that_its_model_does_not_track_is_never_updated() -> None:
    class Hiding(tf_keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__(name="hiding")
            self.parts = SimpleNamespace(lost=tf_keras.layers.Dense(3, name="lost"))
            self.last = tf_keras.layers.Dense(1, name="last")

        def call(self, inputs: Any) -> Any:
            return self.last(self.parts.lost(inputs))

    report = fitted(Hiding, tf_keras.optimizers.SGD(0.1), eagerly=False)

    (finding,) = [each for each in report.findings if each.origin is Origin.RUN]
    assert (finding.code, finding.verdict, finding.variables) == ("GL704", Verdict.NEVER_UPDATED, ("lost",))
