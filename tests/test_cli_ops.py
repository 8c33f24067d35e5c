"""`gradlint ops`: what was measured of functions, by any of their names."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from support import ROOT, Outcome, Run

FACTS = ROOT.parent / "shared" / "facts" / "differentiability.csv"
VERDICTS = {"nonzero": "flows", "partially-zero": "partial-zero", "None": "none"}


def in_json(outcome: Outcome) -> list[dict[str, Any]]:
    """What a run with `--output-format json` printed."""
    assert outcome.exit_code == 0
    rows = json.loads(outcome.stdout)
    assert isinstance(rows, list)
    return rows


def verdicts(run: Run, symbol: str) -> dict[str, str]:
    """The verdict of each argument of one function."""
    (row,) = in_json(run("ops", symbol, "--output-format", "json"))
    assert row["symbol"] == symbol
    return {each["name"]: each["verdict"] for each in row["arguments"]}


def test_a_function_is_shown_with_version_op_and_what_to_use_instead(run: Run) -> None:
    result = run("ops", "tf.math.round")

    assert result.exit_code == 0
    assert result.stdout == (
        "tf.math.round (tensorflow 2.21.0)\n"
        "  also called tf.round\n"
        "  x  none  Round\n"
        "  instead: write `x + tf.stop_gradient(tf.round(x) - x)` "
        "(straight-through: rounds forwards, lets gradients pass backwards)\n"
    )


def test_columns_are_aligned_and_notes_follow(run: Run) -> None:
    lines = run("ops", "tf.math.igamma", "tf.unique").stdout.splitlines()

    assert lines[:4] == ["tf.math.igamma (tensorflow 2.21.0)", "  a  flows", "  x  flows", ""]
    assert lines[4:6] == [
        "tf.unique (tensorflow 2.21.0)",
        "  x  raises  Unique  LookupError: gradient registry has no entry for: Unique; per output: raises, none",
    ]


def test_a_function_without_a_cut_gets_no_advice(run: Run) -> None:
    assert "instead" not in run("ops", "tf.reduce_max", "tf.exp", "keras.ops.relu").stdout


@pytest.mark.parametrize(
    "symbol",
    [
        "tf.reduce_sum",
        "tf.math.reduce_sum",
        "tensorflow.reduce_sum",
        "tensorflow.math.reduce_sum",
        "tf.compat.v2.math.reduce_sum",
    ],
)
def test_every_name_of_a_function_is_known(run: Run, symbol: str) -> None:
    assert verdicts(run, symbol) == {"input_tensor": "flows"}


@pytest.mark.parametrize("symbol", ["keras.ops.sum", "keras.ops.numpy.sum", "tf.keras.ops.sum", "ops.sum"])
def test_keras_may_be_written_as_part_of_tensorflow(run: Run, symbol: str) -> None:
    assert verdicts(run, symbol) == {"x": "flows"}


def test_each_verdict_is_told(run: Run) -> None:
    assert verdicts(run, "tf.sign") == {"x": "zero"}
    assert verdicts(run, "tf.argmax") == {"input": "none"}
    assert verdicts(run, "tf.nn.relu") == {"features": "partial-zero"}
    assert verdicts(run, "tf.truncatemod") == {"x": "raises", "y": "raises"}
    assert verdicts(run, "keras.losses.MeanSquaredError") == {"y_true": "flows", "y_pred": "flows"}
    assert verdicts(run, "keras.metrics.MeanSquaredError") == {"y_true": "none", "y_pred": "none"}


def test_what_is_special_about_a_call_is_in_brackets(run: Run) -> None:
    found = verdicts(run, "tf.cast")

    assert (found["x (to float16)"], found["x (to int32)"], found["x (to bool)"]) == ("flows", "none", "none")
    assert verdicts(run, "tf.gather") == {
        "params": "partial-zero",
        "params (float cast to indices)": "partial-zero",
        "arg0 (float cast to indices)": "partial-zero",
        "indices (float cast to indices)": "none",
        "arg1 (float cast to indices)": "none",
    }


def test_json_is_a_list_with_the_symbol_as_asked_for(run: Run) -> None:
    rows = in_json(run("ops", "tensorflow.math.ceil", "tf.nn.top_k", "--output-format", "json"))

    assert rows == [
        {
            "symbol": "tensorflow.math.ceil",
            "arguments": [{"name": "x", "verdict": "none", "note": "", "op": "Ceil"}],
            "version": "tensorflow 2.21.0",
            "canonical": "tf.math.ceil",
            "aliases": [],
            "outputs": ["float"],
            "instead": "write `x + tf.stop_gradient(tf.math.ceil(x) - x)` "
            "(straight-through: rounds forwards, lets gradients pass backwards)",
        },
        {
            "symbol": "tf.nn.top_k",
            "arguments": [
                {
                    "name": "input",
                    "verdict": "partial-zero",
                    "note": "per output: partial-zero, none",
                    "op": "TopKV2",
                    "outputs": ["partial-zero", "none"],
                }
            ],
            "version": "tensorflow 2.21.0",
            "canonical": "tf.nn.top_k",
            "aliases": ["tf.math.top_k"],
            "outputs": ["float", "integer"],
        },
    ]


def test_an_unknown_symbol_gets_near_matches_and_the_others_are_shown(run: Run) -> None:
    result = run("ops", "tf.math.rond", "tf.floor")

    assert result.exit_code == 2
    assert result.stdout.startswith("tf.floor (tensorflow 2.21.0)\n")
    assert result.stderr.startswith('gradlint: no measured symbol "tf.math.rond"; did you mean "tf.math.round" or ')


def test_a_bare_name_that_several_functions_have_is_not_guessed(run: Run) -> None:
    result = run("ops", "round")

    assert (result.exit_code, result.stdout) == (2, "")
    assert '"tf.round"' in result.stderr
    assert '"keras.ops.round"' in result.stderr


def test_a_word_like_no_symbol_is_an_error_too(run: Run) -> None:
    result = run("ops", "zzzzzz", "--output-format", "json")

    assert (result.exit_code, result.stdout) == (2, "[]\n")
    assert result.stderr == 'gradlint: no measured symbol "zzzzzz"\n'


def test_what_cannot_be_measured_says_why(run: Run) -> None:
    result = run("ops", "tf.signal.fftnd", "tf.zeros")

    assert result.exit_code == 0
    assert "  not measured: TensorFlow has no kernel of FFTND for a CPU\n" in result.stdout
    assert result.stdout.endswith("tf.zeros (tensorflow 2.21.0)\n  takes no float tensor\n")


def test_without_a_symbol_the_functions_that_cut_are_listed(run: Run) -> None:
    lines = dict(line.split(maxsplit=1) for line in run("ops").stdout.splitlines())

    assert lines["tf.argmax"] == "input none"
    assert lines["tf.round"] == "x none"
    assert "tf.exp" not in lines
    assert "tf.exp" in run("ops", "--all").stdout


@pytest.mark.skipif(not FACTS.is_file(), reason="the independent measurements are not there")
def test_independent_measurements_are_known_and_agree(run: Run) -> None:
    facts = read_facts(FACTS)
    symbols = dict.fromkeys(symbol for symbol, _, _ in facts)
    rows = json.loads(run("ops", *symbols, "--output-format", "json").stdout)
    own = {(row["symbol"], each["name"]): each["verdict"] for row in rows for each in row["arguments"]}

    agreed = [own.get((symbol, argument)) == verdict for symbol, argument, verdict in facts]
    known = {row["symbol"] for row in rows}

    assert len(known) >= 0.95 * len(symbols)
    assert sum(agreed) >= 0.97 * len(facts)


def read_facts(path: Path) -> list[tuple[str, str, str]]:
    """Symbol, argument and verdict of each row, in the words of gradlint."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (row["symbol"], row["argument"], VERDICTS.get(row["verdict"], row["verdict"]))
            for row in csv.DictReader(file)
        ]
