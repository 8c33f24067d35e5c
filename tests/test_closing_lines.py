"""The last lines of a run: what was judged, and what was not. Silence is no approval."""

from __future__ import annotations

import json

import pytest

from support import BROKEN, CLEAN, FAULTY, Run

#: Nothing is known of `model` and `head`, which are given from outside.
OPEN = """\
import tensorflow as tf


def step(model, head, x):
    with tf.GradientTape(persistent=True) as tape:
        one, other = tf.reduce_sum(model(x)), tf.reduce_sum(head(x))
    first = tape.gradient(one, model.trainable_variables)
    second = tape.gradient(other, head.trainable_variables)
    return first, second
"""
#: Names TensorFlow, and has nothing to do with gradients.
IDLE = "import tensorflow as tf\n\nprint(tf.__version__)\n"
DECIDED = "Decided 1 of 1 source (100%) in 1 gradient call.\n"


def lines(run: Run, *arguments: str, stdin: bytes | None = None) -> list[str]:
    return run("check", *arguments, stdin=stdin).stdout.splitlines()


def test_all_checks_passed_where_all_was_decided(run: Run) -> None:
    run.write("a.py", CLEAN)
    run.write("web.py", "x = 1\n")
    run.write("idle.py", IDLE)

    assert lines(run) == [
        "All checks passed. (3 files, 2 of them with TensorFlow or Keras)",
        DECIDED.rstrip(),
    ]


def test_nothing_passes_where_nothing_was_followed(run: Run) -> None:
    run.write("a.py", "x = 1\n")

    assert lines(run)[0].startswith("Nothing to judge. (1 file, ")


@pytest.mark.parametrize("options", [(), ("--statistics",), ("--output-format", "concise"), ("--jobs", "2")])
def test_the_share_and_the_reasons_are_told(run: Run, options: tuple[str, ...]) -> None:
    run.write("a.py", CLEAN)
    run.write("b.py", OPEN)
    run.write("c.py", OPEN.replace("model", "net").replace("head", "net"))

    first, last = lines(run, *options)

    assert first == "No findings in what was decided. (3 files, 3 of them with TensorFlow or Keras)"
    assert last.startswith(
        "Decided 1 of 5 sources (20%) in 5 gradient calls; undecided: `...` is given from outside (4)"
    )


def test_findings_do_not_hide_the_share(run: Run) -> None:
    run.write("a.py", FAULTY)
    run.write("b.py", OPEN)

    result = run("check", "--statistics")

    assert result.stdout.splitlines()[:2] == [
        "1  GL101  forward-outside-tape",
        "Found 1 finding (1 error, 0 warnings).",
    ]
    assert result.stdout.splitlines()[2].startswith("Decided 1 of 3 sources (33%) in 3 gradient calls; undecided: ")


@pytest.mark.parametrize("output_format", ["json", "json-lines", "sarif", "gitlab", "junit", "pylint"])
def test_formats_for_machines_stay_as_they_are(run: Run, output_format: str) -> None:
    run.write("a.py", OPEN)

    for option in ((), ("--statistics",)):
        assert "Decided" not in run("check", "--output-format", output_format, *option).stdout
    assert "Decided 0 of 2 sources" in run("check", "--output-format", "github", "--statistics").stdout


@pytest.mark.parametrize("content", [BROKEN.encode(), b"import keras\nx = '\xff'\n"])
def test_a_file_that_could_not_be_judged_does_not_pass(run: Run, content: bytes) -> None:
    run.write("a.py", content)
    run.write("b.py", CLEAN)

    assert lines(run, "--ignore", "GL001,GL002") == [
        "No findings in what could be judged. (2 files, 1 of them with TensorFlow or Keras)",
        "1 file could not be judged, or not as a whole: a.py.",
        DECIDED.rstrip(),
    ]


@pytest.mark.parametrize("data", [CLEAN.encode("utf-16"), b"x = '\xff'\n"])
def test_standard_input_that_is_no_text_does_not_pass(run: Run, data: bytes) -> None:
    result = run("check", "-", stdin=data)

    assert (result.exit_code, "passed" in result.stdout) == (1, False)
    assert ": error GL002 unreadable-file: " in result.stdout


def test_a_call_that_nothing_leads_to_is_undecided(run: Run) -> None:
    run.write("a.py", f"{CLEAN}raise SystemExit\nh = tape.gradient(loss, w)\n")

    assert lines(run)[0].startswith("No findings in what was decided.")


# gradlint flow


def test_flow_takes_a_folder(run: Run) -> None:
    run.write("p/a.py", CLEAN)
    run.write("p/inner/b.py", OPEN)
    run.write("p/web.py", "x = 1\n")

    result = run("flow", "p")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "p/a.py:5:5: gradient of `loss`",
        "    w  flows",
        "p/inner/b.py:7:13: gradient of `one` in `step`",
        "    model.trainable_variables  unknown because of line 6: `model` is given from outside",
        "p/inner/b.py:8:14: gradient of `other` in `step`",
        "    head.trainable_variables  unknown because of line 6: `head` is given from outside",
        "Decided 1 of 3 sources (33%) in 3 gradient calls; undecided: `...` is given from outside (2).",
    ]
    told = json.loads(run("flow", "p", "--output-format", "json").stdout)
    assert (told["filename"], told["decided"], told["sources"]) == ("p", 1, 3)
    assert [each["filename"] for each in told["gradient_calls"]] == ["p/a.py", "p/inner/b.py", "p/inner/b.py"]


def test_of_a_folder_each_call_is_shown_once_with_what_its_callers_show(run: Run) -> None:
    body = "".join(f"    {line}\n" for line in CLEAN.replace("w * w", "loss_of(w)").splitlines()[1:])
    run.write("trainer.py", f"import tensorflow as tf\n\n\ndef train(loss_of):\n{body}")
    run.write("script.py", "import tensorflow as tf\nfrom trainer import train\n\ntrain(lambda w: w * w)\n")

    assert run("flow", ".").stdout.splitlines() == [
        "trainer.py:8:9: gradient of `loss` in `train`",
        "    w  flows",
        DECIDED.rstrip(),
    ]


def test_a_file_of_a_folder_that_cannot_be_judged_is_told(run: Run) -> None:
    run.write("a.py", BROKEN)
    run.write("b.py", CLEAN)

    result = run("flow", ".")

    assert (result.exit_code, "b.py:5:5" in result.stdout) == (2, True)
    assert result.stderr.startswith("gradlint: a.py:2: '(' was never closed")


# Sets of variables

SET = """\
import keras
import tensorflow as tf


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = keras.layers.Dense(4)
        self.b = keras.layers.Dense(4)
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(BODY)


x = tf.ones((8, 3))
net = Net()
net(x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(net(x))
gradients = tape.gradient(loss, net.trainable_variables)
"""
FLOWS = ["net.trainable_variables  flows"]


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("self.a(x) + self.b(x)", FLOWS),
        ("self.b(tf.nn.relu(self.a(x)))", FLOWS),
        (
            "self.a(x) + tf.stop_gradient(self.b(x))",
            [
                "b.trainable_variables                none: stopped at line 13",
                "net.trainable_variables, the others  flows",
            ],
        ),
        (
            "self.b(tf.round(self.a(x)))",
            [
                "a.trainable_variables                none: non-differentiable at line 13",
                "net.trainable_variables, the others  flows",
            ],
        ),
        (
            "self.a(x)",
            [
                "b.trainable_variables                none: not-in-target at line 21",
                "net.trainable_variables, the others  flows",
            ],
        ),
    ],
)
def test_a_set_flows_only_where_each_of_its_parts_does(run: Run, body: str, known: list[str]) -> None:
    run.write("a.py", SET.replace("BODY", body))

    assert [line.strip() for line in run("flow", "a.py").stdout.splitlines()[1:-1]] == known


@pytest.mark.parametrize(
    ("made", "asked", "reason"),
    [
        ("keras.layers.BatchNormalization()", "layer.variables", "it may hold variables that are not trained"),
        ("keras.layers.Dense(2)", "layer.weights[:1]", "it may hold variables that are not trained"),
        ("keras.layers.Dense(2)", "layer.trainable_variables[:1]", "which of the variables are in it is not known"),
    ],
)
def test_a_set_whose_parts_are_not_known_is_unknown(run: Run, made: str, asked: str, reason: str) -> None:
    run.write(
        "a.py",
        f"import keras\nimport tensorflow as tf\nx = tf.ones((8, 3))\nlayer = {made}\nlayer(x)\n"
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(layer(x) ** 2)\n"
        f"g = tape.gradient(loss, {asked})\n",
    )

    assert run("flow", "a.py").stdout.splitlines()[1].endswith(f"unknown because of line 8: {reason}")


def test_one_variable_of_a_layer_is_not_the_layer(run: Run) -> None:
    text = (
        "import keras\nimport tensorflow as tf\nx = tf.ones((8, 3))\nlayer = keras.layers.Dense(2)\n"
        "layer.build((None, 3))\nwith tf.GradientTape() as tape:\n    loss = tf.reduce_sum(x @ layer.kernel)\n"
        "g = tape.gradient(loss, layer.trainable_variables)\n"
    )
    run.write("a.py", text)
    assert "not all of its variables can be told apart" in run("flow", "a.py").stdout

    run.write("a.py", text.replace("x @ layer.kernel", "layer(x) ** 2 + layer.kernel[0]"))
    assert "layer.trainable_variables  flows" in run("flow", "a.py").stdout


def test_one_output_of_a_functional_model_says_nothing_about_the_layers_of_another(run: Run) -> None:
    run.write(
        "a.py",
        "import keras\nimport tensorflow as tf\nx = tf.ones((8, 3))\ni = keras.Input((3,))\n"
        "h = keras.layers.Dense(2)(i)\nm = keras.Model(i, [keras.layers.Dense(1)(h), keras.layers.Dense(1)(h)])\n"
        "with tf.GradientTape() as tape:\n    p, q = m(x)\n    loss = tf.reduce_sum(p)\n"
        "g = tape.gradient(loss, m.trainable_variables)\n",
    )

    assert "m.trainable_variables  unknown" in run("flow", "a.py").stdout


@pytest.mark.parametrize("loss", ["", ', loss="mse"'])
def test_fit_without_a_loss_is_not_said_to_flow(run: Run, loss: str) -> None:
    run.write(
        "a.py",
        "import keras\nimport numpy as np\nm = keras.Sequential([keras.layers.Dense(1)])\n"
        f'm.compile(optimizer="adam"{loss})\nm.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)\n',
    )

    assert ("flows" in run("flow", "a.py").stdout) is bool(loss)
