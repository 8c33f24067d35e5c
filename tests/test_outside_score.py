"""The outside measure: programs that others wrote and judged under TensorFlow, beside the clone, or skipped."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import ROOT

SHARED = ROOT.parent / "shared"


@pytest.mark.parametrize(
    ("folder", "parts", "recall"),
    [("cases", "engine,cuts,updates,zero", "0.98"), ("found", "spelling", "0.95")],
)
def test_faults_of_others_are_caught_and_their_correct_programs_left_alone(
    folder: str, parts: str, recall: str
) -> None:
    script, cases = SHARED / "score_cases.py", SHARED / folder
    if not script.is_file() or not cases.is_dir():
        pytest.skip(f"{script} and {cases} are not here")

    done = subprocess.run(
        [
            sys.executable,
            str(script),
            str(cases),
            *("--gradlint", f"{sys.executable} -m gradlint"),
            *("--part", parts, "--min-recall", recall, "--min-clean", "1.0", "--max-stray", "0.05"),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
