"""The table of measured optimizers is what TensorFlow does now, and is asked without TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import measure_optimizers
from gradlint.knowledge.optimizers import MeasuredOptimizer, all_optimizers, optimizer_named, optimizer_of


def keras(name: str) -> MeasuredOptimizer:
    """A class of Keras 3."""
    found = optimizer_of(f"keras.optimizers.{name}")
    assert found
    return found


@pytest.mark.parametrize("symbol", ["keras.optimizers.SGD", "keras.optimizers.AdamW"])
def test_an_optimizer_is_measured_as_it_is_written(symbol: str) -> None:
    pytest.importorskip("tensorflow")

    assert measure_optimizers.measure(symbol).optimizers == {symbol: measure_optimizers.read().optimizers[symbol]}


def test_the_file_is_what_the_tool_writes() -> None:
    assert measure_optimizers.read().text() == measure_optimizers.DATA.read_text(encoding="utf-8")


def test_rows_of_an_absent_library_stay_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorflow")
    written, copy = measure_optimizers.DATA.read_text(encoding="utf-8"), tmp_path / "measured_optimizers.json"
    copy.write_text(written, encoding="utf-8")
    monkeypatch.setattr(measure_optimizers, "DATA", copy)
    monkeypatch.setattr(measure_optimizers, "measure", lambda pattern: measure_optimizers.read().of("keras"))
    monkeypatch.setattr(measure_optimizers, "absent", lambda: ["tf_keras"])
    monkeypatch.setattr("sys.argv", ["measure_optimizers.py"])

    assert measure_optimizers.main() == 0

    rows = sum(each.library == "tf_keras" for each in all_optimizers())
    assert capsys.readouterr().out.startswith(f"tf_keras is not installed: its {rows} rows stay as they were written\n")
    assert json.loads(copy.read_text(encoding="utf-8"))["optimizers"] == json.loads(written)["optimizers"]


@pytest.mark.parametrize(
    ("name", "setting", "from_start", "late"),
    [
        ("SGD", "default", False, False),
        ("SGD", "clipnorm", False, False),
        ("SGD", "global_clipnorm", False, False),
        ("SGD", "clipvalue", False, False),
        ("SGD", "momentum", False, True),
        ("SGD", "nesterov", False, True),
        ("SGD", "weight_decay", True, True),
        ("SGD", "use_ema", False, True),
        ("SGD", "gradient_accumulation_steps", False, True),
        ("SGD", "in_loss_scale_optimizer", False, False),
        ("Adam", "default", False, True),
        ("Adam", "amsgrad", False, True),
        ("Adam", "weight_decay", True, True),
        ("Adam", "use_ema", False, True),
        ("Adam", "gradient_accumulation_steps", False, True),
        ("Adam", "in_loss_scale_optimizer", False, True),
        ("AdamW", "default", True, True),
        ("Adamax", "default", False, True),
        ("Nadam", "default", False, True),
        ("RMSprop", "default", False, False),
        ("RMSprop", "centered", False, False),
        ("RMSprop", "momentum", False, True),
        ("Adagrad", "default", False, False),
        ("Adadelta", "default", False, False),
        ("Adafactor", "default", False, False),
        ("Ftrl", "default", True, False),
        ("Ftrl", "l1_regularization_strength", True, False),
        ("Ftrl", "l2_regularization_strength", True, False),
        ("Lion", "default", False, True),
        ("Lamb", "default", False, True),
        ("Muon", "default", True, True),
        ("Muon", "weight_decay_off", False, True),
        ("ScheduleFreeAdamW", "default", False, True),
    ],
)
def test_masked_entries_move_as_the_facts_say(name: str, setting: str, from_start: bool, late: bool) -> None:
    found = keras(name).settings[setting]

    assert (found.from_start, found.late) == (from_start, late)


@pytest.mark.parametrize(
    ("name", "settings", "from_start", "late"),
    [
        ("sgd", {}, (), ()),
        ("sgd", {"momentum": 0.9}, (), ("momentum",)),
        ("sgd", {"momentum": 0.9, "nesterov": True}, (), ("momentum",)),
        ("sgd", {"nesterov": True}, (), ()),
        ("sgd", {"momentum": None}, (), ()),
        ("sgd", {"momentum": object()}, (), ()),
        ("sgd", {"weight_decay": 0.01}, ("weight_decay",), ("weight_decay",)),
        ("sgd", {"weight_decay": 0.0}, (), ()),
        ("sgd", {"use_ema": True}, (), ()),
        ("sgd", {"use_ema": True, "ema_overwrite_frequency": 10}, (), ("use_ema",)),
        ("sgd", {"gradient_accumulation_steps": 4}, (), ("gradient_accumulation_steps",)),
        ("sgd", {"clipnorm": 1.0}, (), ()),
        ("adam", {}, (), ("moments",)),
        ("adam", {"beta_1": 0.5, "clipnorm": 1.0}, (), ("moments",)),
        ("adam", {"beta_1": 0.0, "clipnorm": 1.0}, (), ()),
        ("adam", {"beta_1": object()}, (), ()),
        ("adam", {"beta_1": 0, "gradient_accumulation_steps": 2}, (), ("gradient_accumulation_steps",)),
        ("adam", {"weight_decay": 0.01}, ("weight_decay",), ("moments", "weight_decay")),
        ("adamw", {}, ("weight_decay",), ("moments", "weight_decay")),
        ("adamw", {"weight_decay": 0}, (), ("moments",)),
        ("adamw", {"weight_decay": object()}, (), ("moments",)),
        ("rmsprop", {}, (), ()),
        ("rmsprop", {"momentum": 0.9, "centered": True}, (), ("momentum",)),
        ("ftrl", {}, ("default",), ()),
        ("ftrl", {"weight_decay": 0.01}, ("default",), ()),
        ("lion", {"weight_decay": 0.01}, ("weight_decay",), ("moments", "weight_decay")),
        ("muon", {}, ("weight_decay",), ("moments", "weight_decay")),
        ("muon", {"weight_decay": None}, (), ("moments",)),
        ("muon", {"weight_decay": None, "momentum": 0.0}, (), ()),
    ],
)
def test_what_moves_masked_entries_is_named(
    name: str, settings: dict[str, object], from_start: tuple[str, ...], late: tuple[str, ...]
) -> None:
    found = optimizer_named(name)

    assert found
    assert (found.moves(settings, late=False), found.moves(settings, late=True)) == (from_start, late)


def test_an_average_that_legacy_rmsprop_writes_back_by_default_counts() -> None:
    legacy = optimizer_of("tf_keras.optimizers.RMSprop")

    assert legacy and legacy.moves({"use_ema": True}, late=True) == ("use_ema",)
    assert keras("RMSprop").moves({"use_ema": True}, late=True) == ()


def test_a_class_is_found_by_each_of_its_names() -> None:
    assert keras("Adam") == optimizer_of("tensorflow.keras.optimizers.Adam") == optimizer_of("tf.keras.optimizers.Adam")
    assert keras("Adam") == optimizer_named("Adam") == optimizer_named("adam") == optimizer_named("ADAM")
    assert keras("AdamW") == optimizer_named("AdamW")
    assert optimizer_of("keras.optimizers.Optimizer") is None
    assert optimizer_of("keras.optimizers.legacy.Adam") is None
    assert optimizer_of("keras.losses.Huber") is None
    assert [optimizer_named(name) for name in ("lamb", "Lamb", "adamm", "lossscaleoptimizer")] == [None] * 4


def test_each_class_of_legacy_keras_is_another_than_its_namesake() -> None:
    new, old = optimizer_of("tf_keras.optimizers.Adam"), optimizer_of("tf_keras.optimizers.legacy.Adam")

    assert new and old
    assert new == optimizer_of("tf_keras.optimizers.experimental.Adam")
    assert [each.library for each in (keras("Adam"), new, old)] == ["keras", "tf_keras", "tf_keras"]
    assert [each.has_minimize for each in (keras("Adam"), new, old)] == [False, True, True]
    assert [each.accepts_lr for each in (keras("Adam"), new, old)] == [False, True, True]
    assert [each.unknown_variable_raises for each in (keras("Adam"), new, old)] == [True, True, False]
    assert [each.moves({}, late=True) for each in (keras("Adam"), new, old)] == [("moments",)] * 3


def test_what_else_is_known_of_a_constructor() -> None:
    sgd, adam, adamw, muon = keras("SGD"), keras("Adam"), keras("AdamW"), keras("Muon")

    assert sgd.parameters[:4] == ("learning_rate", "momentum", "nesterov", "weight_decay")
    assert adamw.parameters[:2] == ("learning_rate", "weight_decay")
    assert (sgd.defaults["momentum"], adamw.defaults["weight_decay"], adam.defaults["weight_decay"]) == (
        0.0,
        0.004,
        None,
    )
    assert (sgd.broadcasts_gradient, adam.broadcasts_gradient) == (False, True)
    assert (sgd.exclude_from_weight_decay, adamw.exclude_from_weight_decay) == (True, True)
    assert (sgd.needs_keras_variable, muon.needs_keras_variable) == (False, True)
    assert (adam.mixes_entries, muon.mixes_entries) == (False, True)
    assert (adam.wraps, keras("LossScaleOptimizer").wraps, keras("MultiOptimizer").wraps) == (
        "",
        "inner_optimizer",
        "optimizer_map",
    )
    assert all(each.constraint_moves for each in all_optimizers())
