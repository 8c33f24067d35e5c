"""The table of operations says what TensorFlow, Keras and NumPy do: every spelling of a row is run."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest

from gradlint.ops.table import ROWS
from support import ROOT


@pytest.fixture(scope="module")
def problems() -> dict[str, dict[str, str]]:
    """What `ops_under_tensorflow.py` saw, by check and row."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "ops_under_tensorflow.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, dict[str, str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "check",
    [
        "every_spelling_of_a_row_computes_the_same",
        "entrywise_operations_have_a_diagonal_jacobian",
        "linear_operations_are_linear",
        "operations_that_keep_the_shape_do",
        "what_hands_on_numbers_changes_none",
    ],
)
def test_rows_say_what_is_measured(check: str, problems: dict[str, dict[str, str]]) -> None:
    assert problems[check] == {}


def test_each_name_belongs_to_one_row() -> None:
    names = [name for row in ROWS for name in row.spelled]
    assert sorted(name for name in names if names.count(name) > 1) == []
    assert len({row.name for row in ROWS}) == len(ROWS)


FLOW = ROOT / "gradlint" / "flow"


def test_the_flow_analysis_compares_rows_and_no_names() -> None:
    """`value.op is ops.ADD`, never `value.label == "+"`: the label is what the program wrote."""
    names = {name for row in ROWS for name in row.spelled} - {
        "values",
        "range",
    }  # of a container: what it is, not how it was computed
    found = [
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(FLOW.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare) and ".label" in ast.unparse(node.left)
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value in names
    ]
    assert found == []
