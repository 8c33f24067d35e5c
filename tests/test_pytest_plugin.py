"""The pytest plugin, in suites of its own: the fixture, the marker, and `--gradlint` over tests that know neither."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

SUITE = """
import keras
import numpy
import pytest
import tensorflow as tf

from gradlint.probe import GradientFlowError


def train(step_size):
    weights = tf.Variable([1.0, 2.0], name="weights")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.round(weights * step_size))
    return tape.gradient(loss, weights)


def test_first_user():
    assert train(1.0) is None


def test_second_user():
    assert train(2.0) is None


def test_healthy():
    scale = tf.Variable(2.0, name="scale")
    with tf.GradientTape() as tape:
        loss = scale**2
    assert float(tape.gradient(loss, scale)) == 4.0


@pytest.mark.gradlint
def test_marked():
    train(1.0)


@pytest.mark.gradlint(allow=["wei*"])
def test_allowed():
    train(1.0)


@pytest.mark.gradlint
@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    train(1.0)


@pytest.mark.gradlint(steps=3)
def test_fixture_takes_the_steps_of_the_marker(gradient_probe):
    scale = tf.Variable(2.0, name="scale")
    report = gradient_probe.assert_flows(lambda: scale**2)
    assert report["scale"].steps == 3


def test_fixture_raises(gradient_probe):
    scale = tf.Variable(2.0, name="scale")
    with pytest.raises(GradientFlowError) as raised:
        gradient_probe.assert_flows(lambda: tf.floor(scale))
    assert len(str(raised.value).splitlines()) <= 15
    assert "`scale` gets None" in str(raised.value).splitlines()[0]


def test_without_tensorflow():
    assert numpy.ones(2).sum() == 2
"""


def run_suite(folder: Path, *options: str) -> str:
    """What pytest prints for the suite."""
    (folder / "test_training.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, "test_training.py"],
        cwd=folder,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def outcomes(output: str) -> dict[str, str]:
    """By test: passed, failed, xfailed."""
    found = {}
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "XFAIL", "ERROR") and "::" in rest:
            found[rest.split("::")[1].split(" ")[0]] = word.lower()
    return found


def section(output: str) -> list[str]:
    """The lines of the plugin's section of the summary."""
    lines = output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip("= ") == "gradlint")
    end = next(number for number in range(start + 1, len(lines)) if lines[number].startswith("==="))
    return lines[start + 1 : end]


def row_of(text: str) -> int:
    """The row of the suite that holds this text."""
    return next(row for row, line in enumerate(SUITE.splitlines(), 1) if text in line)


def test_without_the_option_only_marked_tests_are_watched(tmp_path: Path) -> None:
    output = run_suite(tmp_path)

    assert outcomes(output) == {
        "test_first_user": "passed",
        "test_second_user": "passed",
        "test_healthy": "passed",
        "test_marked": "failed",
        "test_allowed": "passed",
        "test_expected_to_fail": "xfail",
        "test_fixture_takes_the_steps_of_the_marker": "passed",
        "test_fixture_raises": "passed",
        "test_without_tensorflow": "passed",
    }
    message = [line for line in output.splitlines() if "`weights` gets None" in line]
    assert f"test_training.py:{row_of('tf.round')}: `weights` gets None" in message[0]


def test_the_option_reports_each_cause_once_and_changes_no_outcome(tmp_path: Path) -> None:
    output = run_suite(tmp_path, "--gradlint", "-n", "2")

    assert outcomes(output)["test_first_user"] == "passed"
    lines = section(output)
    causes = [line for line in lines if line.startswith("test_training.py:")]
    assert [line.split(": ")[:2] for line in causes] == [
        [f"test_training.py:{row_of('tf.round')}", "GL202 non-differentiable-operation"],
        [f"test_training.py:{row_of('assert_flows(lambda: tf.floor')}", "GL701 none-gradient"],
    ]
    assert "test_first_user" in lines[1]
    assert "test_second_user" in lines[1]
    assert "test_healthy" not in "".join(lines)
    assert lines[-1] == "2 causes in all"


def test_as_errors_the_option_fails_the_tests(tmp_path: Path) -> None:
    output = run_suite(tmp_path, "--gradlint=error")

    seen = outcomes(output)
    assert [name for name, outcome in seen.items() if outcome == "failed"] == [
        "test_first_user",
        "test_second_user",
        "test_marked",
        "test_fixture_raises",
    ]


def test_a_marker_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_marker.py").write_text(
        "import pytest\n\n@pytest.mark.gradlint(alow=['w'])\ndef test_it(): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_marker.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "the marker `gradlint` takes allow=[...] and steps=N, not alow" in done.stdout + done.stderr


def test_the_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    heavy = {'tensorflow', 'keras', 'gradlint.probe', 'gradlint.flow', 'gradlint.rule'}\n"
        "    assert sorted(heavy & set(sys.modules)) == []\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_light.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
