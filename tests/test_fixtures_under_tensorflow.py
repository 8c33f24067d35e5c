"""Every fixture does under TensorFlow what its header says."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures_under_tensorflow import ROOT, all_fixtures, disagreements, expectations, stated
from observer import Observation, observe

pytest.importorskip("tensorflow")

PROGRAMS = all_fixtures()
PROGRAM_IDS = [str(p.relative_to(ROOT / "fixtures")) for p in PROGRAMS]


@pytest.fixture(scope="module")
def seen_in(request: pytest.FixtureRequest) -> Callable[[Path], Observation]:
    """All programs whose tests were selected run together; under pytest-xdist each when it is asked for."""
    per_program = (
        test_tensorflow_does_what_the_header_says.__name__,
        test_the_run_confirms_what_is_expected_and_finds_nothing_in_correct_programs.__name__,
    )
    selected = {
        PROGRAMS[PROGRAM_IDS.index(item.callspec.id)]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname in per_program
    }
    seen = {} if "PYTEST_XDIST_WORKER" in os.environ else dict(observe(sorted(selected)))

    def look(program: Path) -> Observation:
        if program not in seen:
            seen.update(observe([program]))
        return seen[program]

    return look


@pytest.mark.parametrize("program", PROGRAMS, ids=PROGRAM_IDS)
def test_tensorflow_does_what_the_header_says(program: Path, seen_in: Callable[[Path], Observation]) -> None:
    assert disagreements(program.read_text(encoding="utf-8"), seen_in(program)) == []


@pytest.mark.parametrize("program", PROGRAMS, ids=PROGRAM_IDS)
def test_the_run_confirms_what_is_expected_and_finds_nothing_in_correct_programs(
    program: Path, seen_in: Callable[[Path], Observation]
) -> None:
    expected = expectations(program.read_text(encoding="utf-8"))
    findings = seen_in(program).findings
    confirmations = {
        (finding["location"]["row"], finding["code"]): finding["confirmation"]
        for finding in findings
        if finding["origin"] == "static" and not finding["code"].startswith("GL0")
    }
    # Where a call raises, what it would have returned is not to be seen.
    raising = {f["location"]["row"] for f in findings if f["verdict"] == "raises" and f["confirmation"] == "confirmed"}
    open_to_doubt = {place for place in expected if place[0] in raising and confirmations.get(place) == "not-reached"}
    seen = {place: confirmations.get(place) for place in expected - open_to_doubt}
    assert seen == dict.fromkeys(expected - open_to_doubt, "confirmed")
    if not expected:
        told = {statement.verdict for statement in stated(program.read_text(encoding="utf-8"))}  # a run may say it too
        loud = [f for f in findings if f["origin"] == "run" and f["severity"] != "info" and f["verdict"] not in told]
        assert [(f["code"], f["location"]["row"], f["message"]) for f in loud] == []


def test_there_are_fixtures() -> None:
    assert PROGRAMS


@pytest.mark.parametrize("line", ["# tensorflow: nonne w", "# tensorflow: none", "# tensorflow: flows w"])
def test_a_header_that_cannot_be_checked_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a header that can be checked"):
        stated(line)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("flows", "v = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n    y = v * 0.0\nt.gradient(y, v)"),
        ("flows", "v = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n    y = tf.round(v)\nt.gradient(y, v)"),
        ("none #0", "v = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n    y = v * v\nt.gradient(y, v)"),
        ("none #1", "v = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n    y = tf.round(v)\nt.gradient(y, v)"),
        ("flows", "raise ValueError"),
        ("raises TypeError", "raise ValueError"),
        ("flows", "tf.Variable(1.0)"),
        ("asserts", "tf.Variable(1.0)"),
        ("zero #0", "v = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n    y = v * v\nt.gradient(y, v)"),
    ],
)
def test_a_false_header_is_found_out(header: str, body: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"# tensorflow: {header}\nimport tensorflow as tf\n\n{body}\n", encoding="utf-8")
    [(_, seen)] = observe([program])
    assert len(disagreements(program.read_text(encoding="utf-8"), seen)) == 1


def test_a_zero_in_a_graph_is_seen(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "v = tf.Variable(2.0, name='v')\n"
        "w = tf.Variable(2.0, name='w')\n"
        "@tf.function\n"
        "def step():\n"
        "    with tf.GradientTape() as tape:\n"
        "        y = v * 0.0 + w\n"
        "    return tape.gradient(y, [v, w])\n"
        "step()\n",
        encoding="utf-8",
    )
    [(_, seen)] = observe([program])
    assert sorted(seen.zero) == ["v"]
    assert sorted(seen.flows) == ["w"]


def test_moved_and_kept_variables_are_told_apart_in_fit(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import keras, numpy\n"
        "from keras.layers import Dense\n"
        "model = keras.Sequential([keras.Input((3,)), Dense(2, name='a'), Dense(1, name='b')])\n"
        "model.layers[0].trainable = False\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(numpy.ones((4, 3)), numpy.ones((4, 1)), epochs=1, verbose=0)\n",
        encoding="utf-8",
    )
    [(_, seen)] = observe([program])
    assert {"sequential/a/kernel"} <= seen.stayed
    assert {"sequential/b/kernel"} <= seen.moved
    assert seen.flows == {"sequential/b/kernel", "sequential/b/bias"}


def test_a_program_that_kills_its_process_is_told_from_one_that_raises(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os\nos.abort()\n", encoding="utf-8")
    [(_, seen)] = observe([program])
    assert seen.raises == "Died"
