"""The probe on what it cannot use: functions, masks and programs that are wrong, and programs that end badly."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlint import probe
from gradlint.verdicts import Cause, Verdict
from support import Outcome, run_process

tf = pytest.importorskip("tensorflow")


# Functions.


def test_an_exception_of_the_function_comes_through_unchanged_with_a_note() -> None:
    w = tf.Variable(2.0)
    own = KeyError("no such column")

    def loss() -> Any:
        _ = w * 2.0
        raise own

    with pytest.raises(KeyError) as raised:
        probe.trace(loss)

    assert raised.value is own
    assert raised.value.args == ("no such column",)
    if sys.version_info >= (3, 11):
        (note,) = raised.value.__notes__
        assert note.startswith("gradlint observed until then: ")


def test_an_exception_after_a_gradient_tells_what_was_observed() -> None:
    w = tf.Variable(2.0)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = w * w
        tape.gradient(loss, w)
        raise ValueError("later")

    with pytest.raises(ValueError, match=r"^later") as raised:
        probe.trace(step)

    if sys.version_info >= (3, 11):
        assert "1 not-observable" in raised.value.__notes__[0]


def test_a_function_is_needed() -> None:
    with pytest.raises(TypeError, match="expected a function that returns the loss, got int"):
        probe.trace(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a function that returns the loss, got EagerTensor"):
        probe.trace(tf.constant(1.0))


def test_generators_and_coroutines_are_refused_by_name() -> None:
    def losses() -> Iterator[Any]:
        yield tf.constant(1.0)

    async def later() -> Any:
        return tf.constant(1.0)

    with pytest.raises(TypeError, match="`losses` is a generator or coroutine"):
        probe.trace(losses)
    with pytest.raises(TypeError, match="`later` is a generator or coroutine"):
        probe.trace(later)


@pytest.mark.parametrize("steps", [0, -1])
def test_at_least_one_step_is_needed(steps: int) -> None:
    w = tf.Variable(2.0)

    with pytest.raises(ValueError, match=f"steps must be at least 1, got {steps}"):
        probe.trace(lambda: w * w, steps=steps)
    with pytest.raises(ValueError, match=f"steps must be at least 1, got {steps}"):
        probe.updates(lambda: None, w, steps=steps)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "returned None"),
        (3, "returned a value of type int"),
        ("loss", "returned a value of type str"),
        (tf.constant(3), "returned a tensor of int32"),
        (tf.constant(True), "returned a tensor of bool"),
        (tf.constant("loss"), "returned a tensor of string"),
    ],
    ids=["nothing", "number", "text", "integers", "booleans", "strings"],
)
def test_what_is_no_loss_is_refused_with_its_type(returned: Any, words: str) -> None:
    w = tf.Variable(2.0)

    def loss() -> Any:
        _ = w * 2.0
        return returned

    with pytest.raises(TypeError, match=f"`loss` {words}; it has to return the loss, a float tensor"):
        probe.trace(loss)


def test_without_variables_the_list_of_sources_is_empty() -> None:
    def loss() -> Any:
        return tf.constant(2.0) * 3.0

    report = probe.trace(loss)

    assert report.variables == ()
    assert report.verdicts == {}
    assert str(report).splitlines()[0] == "gradients of 0 sources: none was asked for"
    (finding,) = report.findings
    assert (finding.code, finding.verdict) == ("GL706", Verdict.EMPTY_SOURCES)
    with pytest.raises(probe.GradientFlowError, match="the list of sources is empty"):
        report.assert_flows()
    with pytest.raises(KeyError, match="no gradient was asked for 'w'"):
        report["w"]


def test_a_loss_that_is_no_number_is_summed() -> None:
    w = tf.Variable([1.0, 2.0], name="w")

    whole = probe.trace(lambda: w * w, variables=[w])
    summed = probe.trace(lambda: tf.reduce_sum(w * w), variables=[w])

    assert (whole["w"].verdict, whole["w"].largest) == (Verdict.FLOWS, 4.0)
    assert (whole["w"].largest, whole["w"].norm) == (summed["w"].largest, summed["w"].norm)


def test_a_structure_of_losses_is_summed_and_what_is_no_float_left_out() -> None:
    w = tf.Variable(2.0, name="w")

    report = probe.trace(lambda: {"a": w * w, "b": [3.0 * w, tf.constant(1), None]}, variables=[w])

    assert (report["w"].verdict, report["w"].largest) == (Verdict.FLOWS, 7.0)


def test_the_report_of_a_watch_is_ready_when_the_watch_has_ended() -> None:
    with probe.watch() as seen:
        with pytest.raises(RuntimeError, match="the report is ready when the watch has ended"):
            _ = seen.report
        with pytest.raises(RuntimeError, match="the report is ready when the watch has ended"):
            seen.assert_flows()

    assert seen.report.variables == ()
    seen.assert_flows()


# Masks.


def two_variables() -> tuple[Any, Any]:
    return tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"), tf.Variable([1.0, 2.0, 3.0], name="v")


def test_a_mask_has_to_fit_its_variable() -> None:
    w, v = two_variables()

    with pytest.raises(ValueError, match=r"the mask of `w` has shape \(3,\), the variable \(2, 2\)"):
        probe.updates(lambda: None, w, np.ones(3))
    with pytest.raises(ValueError, match=r"the mask of `v` has shape \(2, 2\), the variable \(3,\)"):
        probe.updates(lambda: None, [w, v], [np.ones((2, 2)), np.ones((2, 2))])


def test_there_has_to_be_a_mask_per_variable() -> None:
    w, v = two_variables()

    with pytest.raises(ValueError, match="1 masks for 2 variables"):
        probe.updates(lambda: None, [w, v], [np.ones((2, 2))])
    with pytest.raises(ValueError, match=r"no variable is called 'u'; there are \['w', 'v'\]"):
        probe.updates(lambda: None, [w, v], {"u": np.ones((2, 2))})


def test_a_wrong_mask_is_refused_before_anything_runs() -> None:
    w, _ = two_variables()
    ran = []

    with pytest.raises(ValueError, match="the mask of `w`"):
        probe.updates(lambda: ran.append(1), w, np.ones(3))

    assert ran == []


def test_masks_can_be_given_by_path_as_a_list_or_broadcast() -> None:
    w, v = two_variables()

    def step() -> None:
        w.assign_add(tf.ones([2, 2]))
        v.assign_add(tf.ones([3]))

    for mask in ({"w": np.array([1, 0])}, [np.array([1, 0]), None]):
        report = probe.updates(step, [w, v], mask, steps=1)
        assert (report["w"].frozen, report["w"].frozen_moved, report["w"].first) == (2, 2, (0, 1))
        assert (report["v"].verdict, report["v"].frozen) == (Verdict.MOVED, 0)


def test_an_exception_of_a_step_comes_through_unchanged() -> None:
    w, _ = two_variables()

    def step() -> None:
        raise LookupError("no batch")

    with pytest.raises(LookupError, match="no batch"):
        probe.updates(step, w)


# Programs. Those that need no TensorFlow do not import it, and start at once.


def probed(folder: Path, *arguments: str) -> Outcome:
    return run_process("probe", *arguments, folder=folder)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py"], "gradlint: nowhere.py: no such file\n"),
        (["folder"], "gradlint: folder: is a folder without __main__.py\n"),
        ([], "gradlint: probe: name a script, a module (-m) or package.module:function\n"),
    ],
    ids=["missing", "folder", "nothing"],
)
def test_what_cannot_be_run_is_an_error_in_one_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "folder").mkdir()

    outcome = probed(tmp_path, *arguments)

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (2, "", words)


def test_a_script_with_a_syntax_error_ends_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = (\n")

    outcome = probed(tmp_path, "broken.py")

    assert outcome.exit_code == 1
    assert 'broken.py", line 1' in outcome.stderr
    assert "SyntaxError: '(' was never closed" in outcome.stderr
    assert "gradlint/" not in outcome.stderr
    assert "runpy" not in outcome.stderr


@pytest.mark.parametrize(
    ("ending", "status", "told"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('not today')", 1, "not today\n"),
        ("raise SystemExit(4)", 4, ""),
        ("raise KeyboardInterrupt", 130, None),
    ],
)
def test_the_exit_status_is_the_program_s_own(tmp_path: Path, ending: str, status: int, told: str | None) -> None:
    (tmp_path / "program.py").write_text(f"import sys\nprint('ran')\n{ending}\n")

    outcome = probed(tmp_path, "program.py")

    assert outcome.exit_code == status
    assert outcome.stdout.startswith("ran\n")
    if told is not None:
        assert outcome.stderr == told


def test_keras_on_another_backend_is_told_in_one_sentence(tmp_path: Path) -> None:
    # No other backend is installed here: what Keras says of itself is all that is asked.
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "__init__.py").write_text("class backend:\n    backend = staticmethod(lambda: 'jax')\n")
    (tmp_path / "program.py").write_text("import keras\nprint('ran')\n")

    outcome = probed(tmp_path, "program.py")

    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("ran\n")
    assert outcome.stderr == "gradlint: Keras runs on jax: only its TensorFlow backend can be watched\n"


def test_an_exception_ends_the_program_with_its_traceback_and_status_1(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def inner():\n    raise ValueError('too small')\n\n\ninner()\n")

    outcome = probed(tmp_path, "program.py")

    assert outcome.exit_code == 1
    lines = outcome.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: too small"
    assert [line.split(", ", 1)[1] for line in lines if line.startswith("  File")] == [
        "line 5, in <module>",
        "line 2, in inner",
    ]


SEES = """\
import os
import sys

import beside

print(sys.argv, __name__, os.path.basename(__file__), beside.NAME)
"""


def test_a_script_gets_its_arguments_name_and_folder(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "program.py").write_text(SEES)
    (tmp_path / "scripts" / "beside.py").write_text("NAME = 'beside'\n")

    outcome = probed(tmp_path, "scripts/program.py", "--output-format", "json", "-x", "a b")

    expected = "['scripts/program.py', '--output-format', 'json', '-x', 'a b'] __main__ program.py beside\n"
    assert (outcome.exit_code, outcome.stdout.splitlines(keepends=True)[0]) == (0, expected)


def test_a_module_runs_as_under_python_m(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "program.py").write_text(SEES)
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")

    outcome = probed(tmp_path, "-m", "package.program", "--steps", "3")

    assert outcome.exit_code == 0, outcome.stderr
    name = str(tmp_path / "package" / "program.py")
    assert outcome.stdout.splitlines()[0] == f"[{name!r}, '--steps', '3'] __main__ program.py beside"


def test_a_missing_module_or_function_ends_with_the_error_of_python(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def train(): pass\n")

    module = probed(tmp_path, "-m", "nowhere")
    function = probed(tmp_path, "program:start")

    assert module.exit_code == function.exit_code == 1
    assert "No module named nowhere" in module.stderr.replace("'", "")
    assert "module 'program' has no attribute 'start'" in function.stderr


TRAINS = """\
import tensorflow as tf

w = tf.Variable(1.4, name="w")


def train():
    with tf.GradientTape() as tape:
        loss = tf.round(2.0 * w)
    print("gradient", tape.gradient(loss, w))


if __name__ == "__main__":
    train()
"""


def test_the_report_goes_to_a_file_and_the_output_of_the_program_stays_its_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRAINS)

    outcome = probed(tmp_path, "--output-format", "json", "--output-file", "report.json", "program.py")

    assert (outcome.exit_code, outcome.stdout) == (0, "gradient None\n")
    findings = json.loads((tmp_path / "report.json").read_text())
    assert [(each["verdict"], each["cause"], each["location"]["row"], each["variables"]) for each in findings] == [
        ("none", "non-differentiable", 8, ["w"])
    ]
    assert findings[0]["filename"] == "program.py"
    assert (findings[0]["origin"], findings[0]["confirmation"]) in (("run", None), ("static", "confirmed"))


def test_findings_change_the_status_of_a_function_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRAINS)

    outcome = probed(tmp_path, "--exit-on-findings", "--run-only", "--output-format", "concise", "program:train")

    assert outcome.exit_code == 1, outcome.stderr
    first, second = outcome.stdout.splitlines()[:2]
    assert first == "gradient None"
    assert "program.py:8:16: error GL701 none-gradient: `w` gets None" in second


def test_a_program_without_findings_keeps_its_status_when_findings_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('ran')\n")

    outcome = probed(tmp_path, "--exit-on-findings", "program.py")

    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout == "ran\nThe run shows nothing to report.\n"


def test_a_report_file_that_cannot_be_written_is_told_before_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('ran')\n")

    outcome = probed(tmp_path, "--output-file", "nowhere/report.txt", "program.py")

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == "gradlint: --output-file: nowhere/report.txt: its folder does not exist\n"


class Saved(tf.Module):  # type: ignore[misc,name-defined]
    """A module whose training step can be exported: by its signature, or as it was called."""

    def __init__(self, signature: Any) -> None:
        super().__init__()
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.u = tf.Variable([1.0, 2.0], name="u")
        self.train = tf.function(self.step, input_signature=signature)

    @tf.function(input_signature=[tf.TensorSpec([2])])  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        return tf.reduce_sum(self.w * x + tf.round(self.u))

    def step(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = self(x)
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
        return loss


@pytest.mark.parametrize("signature", [[tf.TensorSpec([2])], None], ids=["by signature", "as called"])
def test_what_was_traced_under_a_watch_can_be_saved_and_what_was_loaded_can_be_asked(
    signature: Any, tmp_path: Path
) -> None:
    with probe.watch() as seen:
        saved = Saved(signature)
        for _ in range(2):
            saved.train(tf.ones([2]))
        tf.saved_model.save(saved, str(tmp_path))
        loaded = tf.saved_model.load(str(tmp_path))
        with tf.GradientTape() as tape:
            loss = loaded(tf.ones([2]))
        tape.gradient(loss, [loaded.w, loaded.u])
        loaded.train(tf.ones([2]))

    asked = seen.report.variables[-2:]
    assert [(entry.path, entry.verdict) for entry in asked] == [("w", Verdict.FLOWS), ("u", Verdict.NONE)]
    assert (asked[1].cause, asked[1].op) == (Cause.NON_DIFFERENTIABLE, "Round")
    assert [finding.code for finding in seen.report.findings] == ["GL701", "GL707"]
    assert seen.report.notes == ()
