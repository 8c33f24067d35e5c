"""The operators of `mutants.py` break small programs exactly where they say, and leave alone what may be no fault."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from textwrap import dedent

import pytest

import mutation.measure
from gradlint_command import Run
from mutation.edits import Mutant
from mutation.operators import OPERATORS, mutants
from mutation.source import Source, asks

STEP = """\
import tensorflow as tf

def step(model, x, y):
    with tf.GradientTape() as tape:
        # the forward pass
        logits = model(x, training=True)
        loss = tf.reduce_mean((logits - y) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""


def source(text: str) -> Source:
    code = dedent(text)
    return Source("program.py", code, ast.parse(code))


def broken(text: str, operator: str) -> list[Mutant]:
    return list(mutants(source(text), [operator]))


def block(mutant: Mutant) -> str:
    """The body of the function."""
    lines = mutant.text.splitlines()
    return dedent("\n".join(lines[next(i for i, line in enumerate(lines) if "def step" in line) + 1 :]))


def test_move_before_moves_all_that_the_block_computes_and_its_comments() -> None:
    [mutant] = broken(STEP, "move-before")
    assert block(mutant).splitlines()[:6] == [
        "# the forward pass",
        "logits = model(x, training=True)",
        "loss = tf.reduce_mean((logits - y) ** 2)",
        "with tf.GradientTape() as tape:",
        "    pass",
        "gradients = tape.gradient(loss, model.trainable_variables)",
    ]
    assert sorted(mutant.rows) == [5, 6, 7, 8, 9]


def test_move_before_keeps_watch_under_the_tape() -> None:
    [mutant] = broken(STEP.replace("# the forward pass", "tape.watch(x)"), "move-before")
    assert "with tf.GradientTape() as tape:\n    tape.watch(x)\ngradients" in block(mutant)


def test_move_before_stops_above_a_gradient_call_under_the_tape() -> None:
    [mutant] = broken(STEP.replace("    gradients = tape", "        gradients = tape"), "move-before")
    assert "with tf.GradientTape() as tape:\n    gradients = tape.gradient" in block(mutant)


def test_move_before_leaves_text_in_strings_alone() -> None:
    [mutant] = broken(STEP.replace("# the forward pass", 'print("""one\n            two""")'), "move-before")
    assert 'print("""one\n            two""")' in mutant.text


def test_move_after_moves_the_last_assignment_of_the_target() -> None:
    [mutant] = broken(STEP, "move-after")
    assert block(mutant).splitlines()[:5] == [
        "with tf.GradientTape() as tape:",
        "    # the forward pass",
        "    logits = model(x, training=True)",
        "loss = tf.reduce_mean((logits - y) ** 2)",
        "gradients = tape.gradient(loss, model.trainable_variables)",
    ]
    assert sorted(mutant.rows) == [4, 7, 8]


@pytest.mark.parametrize(
    "value",
    [
        "logits",
        "logits.loss",
        "logits[0]",
        "model.get_loss(logits)",
        "losses.pop()",
        "tf.cast(logits, tf.float32)",
        "scale_loss(logits, y)",
        "f(logits)",
        "a_losses + b_losses",
        "logits if y else y",
    ],
)
def test_move_after_passes_over_a_target_that_may_have_been_recorded(value: str) -> None:
    assert not broken(STEP.replace("tf.reduce_mean((logits - y) ** 2)", value), "move-after")


@pytest.mark.parametrize(
    "value", ["loss_fn(y, logits)", "-logits", "tf.square(logits) - y", "tf.losses.MeanSquaredError()(y, logits)"]
)
def test_move_after_takes_operations_and_losses(value: str) -> None:
    assert broken(STEP.replace("tf.reduce_mean((logits - y) ** 2)", value), "move-after")


def test_forward_out_moves_the_call_whose_weights_are_the_sources() -> None:
    [mutant] = broken(STEP, "forward-out")
    assert block(mutant).splitlines()[:4] == [
        "# the forward pass",
        "logits = model(x, training=True)",
        "with tf.GradientTape() as tape:",
        "    loss = tf.reduce_mean((logits - y) ** 2)",
    ]


def test_forward_out_takes_the_call_out_of_a_longer_line() -> None:
    text = STEP.replace("logits = model(x, training=True)", "logits = tf.nn.relu(model(x))")
    [mutant] = broken(text, "forward-out")
    assert "forward = model(x)\nwith" in block(mutant)
    assert "logits = tf.nn.relu(forward)" in block(mutant)


@pytest.mark.parametrize(
    "other",
    [
        "loss += tf.add_n(model.losses)",
        "loss += penalty(model)",
        "loss += closure()",
        "loss += net(x)",
        "loss += model(y)",
    ],
)
def test_forward_out_passes_over_a_model_that_may_be_read_another_way(other: str) -> None:
    text = STEP.replace("    with tf", "    net = model\n    with tf").replace(
        "    gradients =", f"        {other}\n    gradients ="
    )
    assert not broken(text, "forward-out")


def test_forward_out_passes_over_other_sources() -> None:
    assert not broken(STEP.replace("tape.gradient(loss, model.", "tape.gradient(loss, other."), "forward-out")


DERIVED = """\
import tensorflow as tf

def step(x):
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        scale = tf.exp(w)
        loss = tf.reduce_sum(x * scale)
    return tape.gradient(loss, [w])
"""


def test_derived_out_moves_an_operation_on_a_source() -> None:
    [mutant] = broken(DERIVED, "derived-out")
    assert "scale = tf.exp(w)\nwith tf.GradientTape() as tape:\n    loss =" in block(mutant)


def test_derived_out_copies_a_source_that_is_read_twice() -> None:
    [mutant] = broken(DERIVED.replace("x * scale", "w * scale"), "derived-out")
    assert "derived = tf.identity(w)\nwith" in block(mutant)
    assert "scale = tf.exp(derived)" in mutant.text
    assert "tf.reduce_sum(derived * scale)" in mutant.text


def test_derived_out_passes_over_a_source_that_something_else_holds() -> None:
    text = DERIVED.replace("    with tf", "    held = Held(w)\n    with tf").replace("x * scale", "held(x) * scale")
    assert not broken(text, "derived-out")


def test_other_tape_is_a_fresh_one_when_the_function_has_one_tape() -> None:
    [mutant] = broken(STEP.replace("tf.GradientTape()", "tf.GradientTape(persistent=True)"), "other-tape")
    assert (
        "with tf.GradientTape(persistent=True) as other_tape:\n    pass\n"
        "gradients = other_tape.gradient(loss, model.trainable_variables)"
    ) in block(mutant)


def test_other_tape_is_the_second_one_of_the_function() -> None:
    text = DERIVED.replace(
        "    return",
        "    with tf.GradientTape() as second:\n        other = w * w\n    second.gradient(other, w)\n    return",
    )
    first = next(mutant for mutant in broken(text, "other-tape") if "second.gradient(loss, [w])" in mutant.text)
    assert "other_tape" not in first.text


def test_tapes_that_record_the_same_block_are_not_others_to_each_other() -> None:
    text = DERIVED.replace("as tape:", "as tape, tf.GradientTape() as second:")
    [mutant] = broken(text, "other-tape")
    assert "other_tape.gradient(loss, [w])" in mutant.text


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        ("numpy", "loss = loss.numpy()"),
        ("int-cast", "loss = tf.cast(loss, tf.int32)"),
        ("stop-gradient", "loss = tf.stop_gradient(loss)"),
        ("reversed-zip", "zip(model.trainable_variables, gradients)"),
    ],
)
def test_cut_and_update_operators_write_one_line(operator: str, line: str) -> None:
    [mutant] = broken(STEP, operator)
    assert line in mutant.text


def test_other_list_zipped_takes_the_list_of_the_other_gradient_call() -> None:
    text = """\
    import tensorflow as tf

    def step(gen, disc):
        with tf.GradientTape() as g, tf.GradientTape() as d:
            fake = gen()
            gen_loss = tf.reduce_mean(disc(fake))
            disc_loss = -gen_loss
        gen_gradients = g.gradient(gen_loss, gen.trainable_variables)
        disc_gradients = d.gradient(disc_loss, disc.trainable_variables)
        one.apply_gradients(zip(gen_gradients, gen.trainable_variables))
        two.apply_gradients(zip(disc_gradients, disc.trainable_variables))
    """
    first, second = broken(text, "other-list-zipped")
    assert "zip(gen_gradients, disc.trainable_variables)" in first.text
    assert "zip(disc_gradients, gen.trainable_variables)" in second.text


IN_ANOTHER_BRANCH = """\
import tensorflow as tf

def step(w, first):
    tape = None
    if first:
        with tf.GradientTape() as tape:
            loss = w * w
    else:
        return tape.gradient(loss, w)
"""


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("no TensorFlow", STEP.replace("import tensorflow as tf", "from imitation import tf")),
        ("the target is bound again", STEP.replace("    gradients =", "    loss = f(x)\n    gradients =", 1)),
        ("None is expected", STEP + "    self.assertIsNone(gradients[0])\n"),
        ("the call is in another branch", IN_ANOTHER_BRANCH),
        (
            "the target may be the source",
            DERIVED.replace("step(x)", "step(f)").replace("tf.reduce_sum(x * scale)", "f(w)"),
        ),
    ],
)
def test_functions_whose_fault_would_not_be_certain_are_passed_over(why: str, text: str) -> None:
    assert not asks(source(text)), why


@pytest.mark.parametrize("operator", OPERATORS)
def test_mutants_parse_and_do_not_depend_on_the_run(operator: str) -> None:
    once, again = broken(STEP + DERIVED.split("\n", 1)[1], operator), broken(STEP + DERIVED.split("\n", 1)[1], operator)
    assert once == again
    for mutant in once:
        ast.parse(mutant.text)
        assert mutant.rows <= set(range(1, mutant.text.count("\n") + 2))


def reported(path: Path, row: int, severity: str = "error", code: str = "GL101") -> dict[str, object]:
    place = {"row": row, "column": 1}
    return {"filename": str(path), "code": code, "severity": severity, "message": "", "location": place}


@pytest.mark.parametrize(
    ("finding", "caught"),
    [
        ({"row": 7}, True),
        ({"row": 2}, False),
        ({"row": 7, "severity": "info"}, False),
        ({"row": 7, "code": "GL009"}, False),
    ],
)
def test_a_new_finding_at_the_rows_of_the_fault_catches_it(
    finding: dict[str, object], caught: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(folder: Path) -> Run:
        [path] = folder.glob("move_before_*.py")
        return Run(1, json.dumps([reported(path, **finding)]).encode(), "")  # type: ignore[arg-type]

    monkeypatch.setattr(mutation.measure, "check", check)
    [outcome] = mutation.measure.measure([source(STEP)], broken(STEP, "move-before")).outcomes
    assert bool(outcome.caught_by) == caught


def test_a_finding_that_the_untouched_file_has_catches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(folder: Path) -> Run:
        rows = [(folder / "untouched_0000.py", 6), *((path, 5) for path in folder.glob("move_before_*.py"))]
        return Run(1, json.dumps([reported(path, row) for path, row in rows]).encode(), "")

    text = STEP.replace("        # the forward pass\n", "")
    monkeypatch.setattr(mutation.measure, "check", check)
    measured = mutation.measure.measure([source(text)], broken(text, "move-before"))
    assert [finding.path for finding in measured.untouched] == [Path("program.py")]
    assert [outcome.caught_by for outcome in measured.outcomes] == [()]
