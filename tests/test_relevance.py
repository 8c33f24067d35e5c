"""What is run is decided by what a program says, not by how it is laid out, nor by what stands in its comments."""

from __future__ import annotations

import textwrap

import pytest

from support import FAULTY, Run, check, codes
from test_notebooks import judge

IMPORTS = "import keras\nimport tensorflow as tf\n"
#: Faulty programs without a tape, with the code of what TensorFlow or Keras refuses.
ALONE = {
    "w=tf.Variable([1.,2.])\nw[0]=1.0": "GL301",
    "w=tf.Variable([1.,2.])\nw[0]-=1.0": "GL301",
    "w = tf.Variable([1., 2.])\nw[0], y = 1., 2.": "GL301",
    "w = tf.Variable([1., 2.])\nfor w[0] in [1., 2.]:\n    pass": "GL301",
    "w = tf.Variable([1., 2.])\nwith open('f') as w[0]:\n    pass": "GL301",
    "x: tf.Tensor = 2.0 * tf.zeros([3])\nx[0] = 1.0": "GL301",
    "print(x := tf.zeros([3]))\nx[0] = 1.0": "GL301",
    "w = tf.Variable([1., 2.])\nf = w[0].assign_sub; f(1.0)": "GL302",
    "w = tf.Variable(1.0); w += 1.0": "GL212",
    "ws = {'a': tf.Variable(1.0)}\nws['a'] -= 1.0": "GL212",
    "for w in [tf.Variable(1.0)]:\n    w -= 1.0": "GL212",
    "opt = keras.optimizers.Adam(\n    beta_1=0.9,\n    lr=0.1,\n)": "GL435",
    "opt = keras.optimizers.Adam(0.1)\nopt.lr=0.1": "GL435",
    "rate = tf.Variable(0.1)\nopt = keras.optimizers.SGD(learning_rate=rate)": "GL438",
    "x = tf.ones([3])\ny = x * (x > 0)": "GL210",
    "x = tf.ones([3])\nm = tf.greater(x, 0.)\ny = x * m": "GL210",
}


def indented(program: str) -> str:
    return textwrap.indent(program, "    ")


@pytest.mark.parametrize("program", ALONE)
def test_what_needs_no_gradient_is_found_at_the_top_and_where_nobody_calls(program: str) -> None:
    function = f"def run():\n{indented(program)}\n"
    for text in (program, function, f"class Trainer:\n{indented(function)}", f"def outer():\n{indented(function)}"):
        assert codes(check(IMPORTS + text)) == [ALONE[program]], text


def test_what_is_given_to_a_function_decides_where_both_are_uncalled() -> None:
    program = """
    def without_padding(scores, length):
        scores[length:] = -1e9
        return scores
    def attention(keys, query, length):
        return without_padding(%s, length)
    """
    assert codes(check(IMPORTS + textwrap.dedent(program % "tf.linalg.matvec(keys, query)"))) == ["GL301"]
    assert codes(check(IMPORTS + textwrap.dedent(program % "list(query)"))) == []


def test_layers_that_nobody_makes_are_judged_wherever_their_class_stands() -> None:
    layer = """
    class Scaled(keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(4,), name="scale")
        def call(self, x):
            return x
    """
    program = textwrap.dedent(layer)
    assert codes(check(IMPORTS + program)) == codes(check(f"{IMPORTS}def make():{indented(program)}")) == ["GL604"]


def test_a_cell_without_blanks_is_judged(run: Run) -> None:
    assert judge(run, "import tensorflow as tf", "w=tf.Variable([1.,2.])\nw[0]=1.0") == [(2, 2, "GL301")]


OLD = "import tensorflow as tf\nopt = tf.keras.optimizers.Adam(lr=0.1)\n"
LEGACY = [
    'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n',
    'import os\nos.environ[\n    "TF_USE_LEGACY_KERAS"\n]="True"\n',
    'from os import environ\nenviron.setdefault("TF_USE_LEGACY_KERAS", "1")\n',
    'import os\nos.environ.update({"TF_USE_LEGACY_KERAS": "1"})\n',
    'import os\nos.environ.update(TF_USE_LEGACY_KERAS="1")\n',
    'import os\nos.environ |= {"TF_USE_LEGACY_KERAS": "1"}\n',
    'import importlib\nkeras = importlib.import_module("tf_keras")\n',
]
#: `os.putenv` does not reach `os.environ`, which TensorFlow reads: it was run.
NOT_LEGACY = [
    'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "0"\n',
    'import os\nprint(os.environ.get("TF_USE_LEGACY_KERAS", "1"))\n',
    'import os\nos.putenv("TF_USE_LEGACY_KERAS", "1")\n',
    "# not tf_keras\n",
    '"""Once written for tf_keras, with TF_USE_LEGACY_KERAS=1."""\n',
    'print("tf_keras")\n',
]


@pytest.mark.parametrize("line", LEGACY)
def test_legacy_keras_is_that_of_the_whole_program(line: str) -> None:
    assert codes(check(line + OLD)) == []


@pytest.mark.parametrize("line", NOT_LEGACY)
def test_words_about_legacy_keras_switch_nothing_on(line: str) -> None:
    assert codes(check(line + OLD)) == ["GL435"]


@pytest.mark.parametrize("line", ["%env TF_USE_LEGACY_KERAS=1", "%set_env TF_USE_LEGACY_KERAS 1", LEGACY[0]])
def test_a_cell_may_ask_for_legacy_keras(line: str, run: Run) -> None:
    assert judge(run, line, OLD) == []
    assert judge(run, "%env OTHER=1", OLD) == [(2, 2, "GL435")]


#: `tf.gradients` raises in eager mode.
EAGER = "import tensorflow as tf\nw = tf.Variable(1.0)\ng = tf.gradients(w * w, w)\n"


@pytest.mark.parametrize(
    "line",
    [
        "# no Session( here\n",
        '"""As with graph.as_default()."""\n',
        "import requests\nsession = requests.Session()\n",
        "writer = tf.summary.create_file_writer('logs')\nwriter.as_default()\n",
    ],
)
def test_words_about_sessions_do_not_leave_eager_mode(line: str) -> None:
    first, rest = EAGER.split("\n", 1)
    assert codes(check(f"{first}\n{line}{rest}")) == ["GL110"]


@pytest.mark.parametrize(
    "line",
    [
        "tf.compat.v1.disable_eager_execution()\n",
        "tf . compat.v1 . disable_v2_behavior ()\n",
        "tf.Graph().as_default().__enter__()\n",
    ],
)
def test_code_leaves_eager_mode(line: str) -> None:
    first, rest = EAGER.split("\n", 1)
    assert codes(check(f"{first}\n{line}{rest}")) == []


@pytest.mark.parametrize(
    "line",
    [
        "# tf_keras, run_eagerly, jit_compile=True, model.compile(loss)\n",
        '"""GradientTape, disable_eager_execution, Session(, tf_keras."""\n',
        "import re\nword = re.compile('loss')\n",
    ],
)
def test_words_in_comments_and_patterns_change_nothing(line: str) -> None:
    for program in (FAULTY, OLD, EAGER, *(IMPORTS + each for each in ALONE)):
        assert codes(check(line + program)) == codes(check(program))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_what_python_cannot_read_is_never_passed(encoding: str, run: Run) -> None:
    data = FAULTY.encode(encoding)
    run.write("wide.py", data)

    for outcome in (run("check", "wide.py"), run("check", "-", stdin=data)):
        assert outcome.exit_code == 1
        assert "GL002 unreadable-file" in outcome.stdout


@pytest.mark.parametrize("name", ["wide.py", "-"])
def test_a_byte_order_mark_tells_the_encoding(name: str, run: Run) -> None:
    data = FAULTY.encode("utf-16")
    run.write("wide.py", data)

    told = run("check", name, "--output-format", "concise", stdin=data).stdout.splitlines()[0]

    assert told == f"{name}:1:1: error GL002 unreadable-file: UTF-16 or UTF-32, which Python does not read"
