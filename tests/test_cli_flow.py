"""`gradlint flow`: what is known of each gradient call.

The decisions themselves are made up here, so that words and shape are fixed whatever the analysis learns.
"""

from __future__ import annotations

import json

import pytest

import gradlint.engine
from gradlint.flow import FlowResult
from gradlint.flow_report import GradientDecision, SourceDecision
from gradlint.rule import Place
from gradlint.verdicts import Cause, Verdict
from support import BROKEN, CLEAN, FAULTY, Run

DECISIONS = [
    GradientDecision(
        Place(5, 5, 5, 31),
        "gradient",
        "train_step",
        "loss",
        (
            SourceDecision("w", Verdict.FLOWS),
            SourceDecision("bias", Verdict.NONE, Cause.OUTSIDE_TAPE, Place(3, 8, 3, 13)),
            SourceDecision("head", None, None, Place(2, 1, 2, 5), "`build()` cannot be seen"),
        ),
    ),
    GradientDecision(Place(9, 1, 9, 20), "minimize", "", "", (SourceDecision("w", Verdict.FLOWS),)),
]


@pytest.fixture
def decided(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line over a file for which these decisions are made."""
    monkeypatch.setattr(gradlint.engine, "analyse", lambda *_: FlowResult([], DECISIONS))
    run.write("train.py", CLEAN)
    return run


def test_each_source_flows_is_cut_or_is_unknown_since_a_line(decided: Run) -> None:
    result = decided("flow", "train.py")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "train.py:5:5: gradient of `loss` in `train_step`",
        "    w     flows",
        "    bias  none: outside-tape at line 3",
        "    head  unknown because of line 2: `build()` cannot be seen",
        "train.py:9:1: minimize",
        "    w  flows",
        "decided 3 of 4 sources (75%)",
    ]


def test_a_line_chooses_the_calls_on_it(decided: Run) -> None:
    lines = decided("flow", "train.py:9").stdout.splitlines()

    assert lines == ["train.py:9:1: minimize", "    w  flows", "decided 1 of 1 source (100%)"]


def test_a_line_without_a_gradient_call_is_an_error(decided: Run) -> None:
    result = decided("flow", "train.py:6")

    assert (result.exit_code, result.stderr) == (2, "gradlint: train.py:6: no gradient call on this line\n")


def test_json_holds_the_same(decided: Run) -> None:
    report = json.loads(decided("flow", "train.py", "--output-format", "json").stdout)

    assert (report["filename"], report["decided"], report["sources"]) == ("train.py", 3, 4)
    first = report["gradient_calls"][0]
    assert (first["asked"], first["function"], first["target"]) == ("gradient", "train_step", "loss")
    assert first["location"] == {"row": 5, "column": 5}
    assert first["sources"][1] == {
        "source": "bias",
        "verdict": "none",
        "cause": "outside-tape",
        "because": None,
        "filename": None,
        "location": {"row": 3, "column": 8},
        "end_location": {"row": 3, "column": 13},
        "cell": None,
    }
    assert report["gradient_calls"][1]["function"] is None


def test_a_file_without_tensorflow_says_that_it_was_not_analysed(run: Run) -> None:
    run.write("web.py", "x = 1\n")

    assert run("flow", "web.py").stdout == "web.py: names neither TensorFlow nor Keras, so it was not analysed\n"


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        ("nowhere.py", "nowhere.py: no such file"),
        ("folder:1", "folder: is a folder, which has no line 1"),
    ],
)
def test_what_is_no_file_is_an_error(run: Run, file: str, complaint: str) -> None:
    (run.folder / "folder").mkdir()

    result = run("flow", file)

    assert (result.exit_code, result.stderr) == (2, f"gradlint: {complaint}\n")


def test_a_syntax_error_is_an_error(run: Run) -> None:
    run.write("broken.py", BROKEN)

    result = run("flow", "broken.py")

    assert result.exit_code == 2
    assert result.stderr.startswith("gradlint: broken.py:2: '(' was never closed")


def test_a_loss_before_the_tape_is_cut_and_a_loss_under_it_flows(run: Run) -> None:
    run.write("faulty.py", FAULTY)
    run.write("clean.py", CLEAN)

    faulty, clean = (run("flow", name).stdout.splitlines() for name in ("faulty.py", "clean.py"))

    assert faulty[0] == "faulty.py:5:5: gradient of `loss`"
    assert faulty[1].startswith("    w  none: outside-tape at line 3")
    assert clean[0] == "clean.py:5:5: gradient of `loss`"
    assert clean[1] == "    w  flows"
    assert faulty[-1] == clean[-1] == "decided 1 of 1 source (100%)"


def test_a_gradient_asked_in_an_imported_module_is_told_with_its_file(run: Run) -> None:
    run.write(
        "trainer.py",
        "import tensorflow as tf\n\n\ndef train(loss_of):\n"
        + "".join(f"    {line}\n" for line in CLEAN.replace("w * w", "loss_of(w)").splitlines()[1:]),
    )
    run.write("script.py", "import tensorflow as tf\nfrom trainer import train\n\ntrain(lambda w: tf.round(w))\n")

    result = run("flow", "script.py")

    assert result.stdout.splitlines() == [
        "trainer.py:8:9: gradient of `loss` in `train`",
        "    w  none: non-differentiable at line 4 of script.py",
        "decided 1 of 1 source (100%)",
    ]
