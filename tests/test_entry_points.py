"""Where a program begins: main blocks, commands, tests, top levels and functions that nobody calls."""

from __future__ import annotations

import pytest

from support import Run, places

Files = dict[str, str]

LOSSES = """\
import tensorflow as tf


def loss_of(w):
    return PLANTED * 3.0
"""
TRAINER = """\
import tensorflow as tf
from losses import loss_of


def train():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = loss_of(w)
    return tape.gradient(loss, w)
"""
#: Trains what it is given: only a caller knows the function.
GENERAL = """\
import tensorflow as tf


class Trainer:
    def __init__(self, loss_of):
        self.loss_of = loss_of
        self.w = tf.Variable(2.0)

    def train(self):
        with tf.GradientTape() as tape:
            loss = self.loss_of(self.w)
        return tape.gradient(loss, self.w)
"""
FOUND = [("losses.py", 5, "GL202")]


def found(run: Run, files: Files, operation: str = "tf.round(w)", *paths: str) -> list[tuple[str, int, str]]:
    for name, text in ({"losses.py": LOSSES} | files).items():
        run.write(name, text.replace("PLANTED", operation))
    return places(run("check", *(paths or (".",)), "--output-format", "json"))


CALL = "Trainer(loss_of).train()"
IMPORTS = "from general import Trainer\nfrom losses import loss_of\n"

#: Scripts that say nothing of TensorFlow: only they know which loss the trainer gets.
SCRIPTS = {
    "the main block": f'{IMPORTS}\n\nif __name__ == "__main__":\n    {CALL}\n',
    "the main block, the other way round": f'{IMPORTS}\n\nif "__main__" == __name__:\n    {CALL}\n',
    "a main function": f'{IMPORTS}\n\ndef main():\n    {CALL}\n\n\nif __name__ == "__main__":\n    main()\n',
    "a main function whose result is the exit status": (
        f"import sys\n{IMPORTS}\n\ndef main():\n    {CALL}\n    return 0\n\n\n"
        'if __name__ == "__main__":\n    sys.exit(main())\n'
    ),
    "argparse": f"""\
import argparse
{IMPORTS}

def main(args):
    for _ in range(args.epochs):
        {CALL}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    main(parser.parse_args())
""",
    "argparse, with a function that parses": f"""\
import argparse
{IMPORTS}
LOSSES = {{"first": loss_of}}


def parse():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("training")
    group.add_argument("--loss-name", choices=["first"], default="first")
    return parser.parse_args()


def main():
    args = parse()
    Trainer(LOSSES[args.loss_name]).train()


if __name__ == "__main__":
    main()
""",
    "argparse, subcommands": f"""\
import argparse
{IMPORTS}

def train(args):
    {CALL}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    command = commands.add_parser("train")
    command.set_defaults(run=train)
    args = parser.parse_args()
    args.run(args)
""",
    "click": f"""\
import click
{IMPORTS}

@click.command()
@click.option("--epochs", default=3)
def main(epochs):
    {CALL}


if __name__ == "__main__":
    main()
""",
    "click, called elsewhere": f"import click\n{IMPORTS}\n\n@click.command()\ndef main():\n    {CALL}\n",
    "a group of click": f"""\
import click
{IMPORTS}

@click.group()
def cli():
    pass


@cli.command()
@click.argument("name")
def train(name):
    {CALL}


if __name__ == "__main__":
    cli()
""",
    "absl": f"""\
from absl import app, flags
{IMPORTS}
FLAGS = flags.FLAGS
flags.DEFINE_integer("epochs", 3, "how many")


def main(argv):
    for _ in range(FLAGS.epochs):
        {CALL}


if __name__ == "__main__":
    app.run(main)
""",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_that_does_not_name_tensorflow_is_run_where_it_trains(script: str, run: Run) -> None:
    assert found(run, {"script.py": script, "general.py": GENERAL}) == FOUND


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_that_trains_what_lets_the_gradient_pass_has_no_finding(script: str, run: Run) -> None:
    assert found(run, {"script.py": script, "general.py": GENERAL}, "w") == []


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_that_names_tensorflow_is_judged_alike(script: str, run: Run) -> None:
    assert found(run, {"script.py": "import tensorflow as tf\n" + script, "general.py": GENERAL}) == FOUND


def test_a_main_function_that_is_called_without_a_guard_is_run(run: Run) -> None:
    script = f"{IMPORTS}\n\ndef work():\n    {CALL}\n\n\ndef main():\n    work()\n\n\nmain()\n"

    assert found(run, {"run_all.py": script, "general.py": GENERAL}) == FOUND
    assert found(run, {"run_all.py": script, "general.py": GENERAL}, "w") == []


def test_without_the_script_nobody_knows_which_loss_is_trained(run: Run) -> None:
    assert found(run, {"general.py": GENERAL}) == []


def test_a_script_that_trains_nothing_is_not_looked_at(run: Run) -> None:
    script = 'from losses import loss_of\n\nx = (\n\nif __name__ == "__main__":\n    print(loss_of)\n'

    assert found(run, {"script.py": script}) == []


@pytest.mark.parametrize(
    "line",
    [
        "import json",
        'import re; PATTERN = re.compile("x")',
        "from sklearn.svm import SVC; SVC().fit([], [])",
    ],
    ids=["nothing", "a pattern", "another library"],
)
def test_a_script_that_has_nothing_to_do_with_tensorflow_is_not_looked_at(line: str, run: Run) -> None:
    run.write("script.py", f'{line}\nprint "Python 2"\n\nif __name__ == "__main__":\n    pass\n')

    outcome = run("check", "script.py")

    assert outcome.stdout == "Nothing to judge. (1 file, 0 of them with TensorFlow or Keras)\n"


def test_the_top_level_of_a_script_is_run(run: Run) -> None:
    script = f"import tensorflow as tf\n{IMPORTS}\n{CALL}\n"

    assert found(run, {"script.py": script, "general.py": GENERAL}) == FOUND


def test_a_trainer_three_files_away_is_reached(run: Run) -> None:
    files = {
        "script.py": 'from jobs import start\n\nif __name__ == "__main__":\n    start()\n',
        "jobs.py": f"{IMPORTS}\n\ndef start():\n    {CALL}\n",
        "general.py": GENERAL,
    }

    assert found(run, files) == FOUND


def test_named_alone_a_script_that_holds_neither_cause_nor_effect_has_no_finding(run: Run) -> None:
    files = {"script.py": SCRIPTS["a main function"], "general.py": GENERAL}

    assert found(run, files, "tf.round(w)", "script.py") == []


#: Functions that nobody calls, in a file of their own or with the function under test elsewhere.
UNCALLED = {
    "a function": TRAINER,
    "a method": (
        "import tensorflow as tf\nfrom losses import loss_of\n\n\nclass Job:\n    def train(self):\n"
        "        w = tf.Variable(2.0)\n        with tf.GradientTape() as tape:\n            loss = loss_of(w)\n"
        "        return tape.gradient(loss, w)\n"
    ),
    "a function within a function": (
        "import tensorflow as tf\nfrom losses import loss_of\n\n\ndef make():\n    def train():\n"
        "        w = tf.Variable(2.0)\n        with tf.GradientTape() as tape:\n            loss = loss_of(w)\n"
        "        return tape.gradient(loss, w)\n\n    return train\n"
    ),
    "a tf.function": TRAINER.replace("def train", "@tf.function\ndef train")
    .replace("    w = tf.Variable(2.0)\n", "")
    .replace("@tf.function", "w = tf.Variable(2.0)\n\n\n@tf.function"),
}


@pytest.mark.parametrize("text", UNCALLED.values(), ids=UNCALLED.keys())
def test_what_nobody_calls_is_run_too(text: str, run: Run) -> None:
    assert found(run, {"trainer.py": text}) == FOUND


@pytest.mark.parametrize("text", UNCALLED.values(), ids=UNCALLED.keys())
def test_what_nobody_calls_has_no_finding_where_the_gradient_flows(text: str, run: Run) -> None:
    assert found(run, {"trainer.py": text}, "w") == []


def test_a_function_that_only_another_file_calls_is_one_finding(run: Run) -> None:
    script = 'from trainer import train\n\nif __name__ == "__main__":\n    train()\n'

    assert found(run, {"script.py": script, "trainer.py": TRAINER}) == FOUND


def test_a_parameter_that_no_call_gives_may_be_anything(run: Run) -> None:
    text = TRAINER.replace("def train()", "def train(loss_of)")

    assert found(run, {"trainer.py": text}) == []


TESTS = {
    "a test function": "def test_training():\n    assert Trainer(loss_of).train() is not None\n",
    "a test method": (
        "class TestTraining:\n    def test_it(self):\n        assert Trainer(loss_of).train() is not None\n"
    ),
    "a test case": (
        "import tensorflow as tf\n\n\nclass TrainingTest(tf.test.TestCase):\n"
        "    def test_it(self):\n        self.assertIsNotNone(Trainer(loss_of).train())\n"
    ),
    "the tape in the test": (
        "import tensorflow as tf\n\n\ndef test_training():\n    w = tf.Variable(2.0)\n"
        "    with tf.GradientTape() as tape:\n        loss = loss_of(w)\n"
        "    assert tape.gradient(loss, w) is not None\n"
    ),
}


@pytest.mark.parametrize("name", ["test_training.py", "tests/test_training.py", "training_test.py"])
@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS.keys())
def test_tests_have_no_finding_where_the_gradient_flows(test: str, name: str, run: Run) -> None:
    files = {"pyproject.toml": "", "general.py": GENERAL, name: f"import tensorflow as tf\n{IMPORTS}\n\n{test}"}

    assert found(run, files, "w") == []


@pytest.mark.parametrize("test", ["a test function", "a test method"])
@pytest.mark.parametrize("name", ["test_training.py", "tests/test_training.py", "training_test.py"])
def test_a_test_that_does_not_name_tensorflow_says_which_loss_is_trained(test: str, name: str, run: Run) -> None:
    files = {"pyproject.toml": "", "general.py": GENERAL, name: f"{IMPORTS}\n\n{TESTS[test]}"}

    assert found(run, files) == FOUND


@pytest.mark.parametrize("name", ["test_training.py", "tests/test_training.py", "training_test.py"])
def test_a_tape_in_a_test_is_judged(name: str, run: Run) -> None:
    files = {"pyproject.toml": "", "general.py": GENERAL, name: f"{IMPORTS}\n\n{TESTS['the tape in the test']}"}

    assert found(run, files) == FOUND
