"""`gradlint probe` joins what a run did with what the code shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT, run_process

pytest.importorskip("tensorflow")

#: A cut that runs, one that does not, and a zero that only the run shows.
PROGRAM = """\
import tensorflow as tf

scale = tf.Variable([1.5, 2.5], name="scale")
shift = tf.Variable([0.5, 0.5], name="shift")


def rounded():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.round(scale) + shift)
    return tape.gradient(loss, [scale, shift])


def unused():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.floor(scale))
    return tape.gradient(loss, scale)


def dead(bound):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.minimum(shift, bound))
    return tape.gradient(loss, shift)


rounded()
for step in range(2):
    dead(float(input()))
print("done")
"""


def test_one_run_writes_several_reports(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "gradlint",
            "probe",
            "--output",
            "sarif:out.sarif",
            "--output",
            "concise",
            "-m",
            "train",
        ],
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)},
        input="-1\n-2\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("done\ntrain.py:")
    log = json.loads((tmp_path / "out.sarif").read_text())
    assert log["runs"][0]["results"][0]["properties"]["confirmation"] == "confirmed"
    assert all("gradlint/v1" in result["partialFingerprints"] for result in log["runs"][0]["results"])


def test_an_output_that_cannot_be_written_ends_the_run_before_the_program_starts(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)

    done = run_process("probe", "--output", "json:no/such/x", "train.py", folder=tmp_path)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "gradlint: --output: no/such/x: its folder does not exist\n"


def probe(
    folder: Path, *options: str, program: str = PROGRAM
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """The command as a process, and its findings."""
    (folder / "train.py").write_text(program)
    report = folder / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "gradlint", "probe", "--output-format", "json", "-o", str(report), *options, "train.py"],
        cwd=folder,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        input="-1\n-2\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done, json.loads(report.read_text())


def test_what_the_code_shows_is_confirmed_and_what_only_the_run_shows_is_added(tmp_path: Path) -> None:
    done, findings = probe(tmp_path)

    assert (done.stdout, done.returncode) == ("done\n", 0)
    assert [(f["code"], f["location"]["row"], f["origin"], f["confirmation"], f["verdict"]) for f in findings] == [
        ("GL202", 9, "static", "confirmed", "none"),
        ("GL202", 15, "static", "not-reached", "none"),
        ("GL702", 21, "run", None, "zero"),
    ]
    zero = findings[-1]
    assert (zero["cause"], zero["variables"], zero["severity"]) == ("saturated", ["shift"], "warning")
    assert [step["location"]["row"] for step in zero["trace"]] == [4, 21, 27, 20, 22]


def test_the_run_alone_finds_the_same_places(tmp_path: Path) -> None:
    _, findings = probe(tmp_path, "--run-only")

    assert [(f["code"], f["location"]["row"], f["cause"]) for f in findings] == [
        ("GL701", 9, "non-differentiable"),
        ("GL702", 21, "saturated"),
    ]


def test_what_only_a_run_shows_can_be_suppressed_and_is_not_called_unused_before(tmp_path: Path) -> None:
    comment = "  # gradlint: ignore[zero-gradient]"
    _, findings = probe(tmp_path, program=PROGRAM.replace("bound))\n", f"bound)){comment}\n"))
    done = subprocess.run(
        [sys.executable, "-m", "gradlint", "check", "--output-format", "json", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert [f["code"] for f in findings] == ["GL202", "GL202"]
    assert [f["code"] for f in json.loads(done.stdout)] == ["GL202", "GL202"]
