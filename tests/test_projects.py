"""Imports across the files of a project: what a function does that another file defines.

Every project is judged twice. `PLANTED` stands for an operation on a weight in one of its files: rounding it cuts the
gradient there (GL202), the weight itself lets it pass.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Outcome, Run, places

FAULT, FINE = "tf.round(w)", "w"

Files = dict[str, str]
Places = list[tuple[str, int, str]]


def write(run: Run, files: Files, operation: str) -> None:
    for name, text in files.items():
        run.write(name, text.replace("PLANTED", operation))


def found(run: Run, files: Files, operation: str, *paths: str) -> Places:
    """What a run over these paths, or all files, finds."""
    write(run, files, operation)
    return places(run("check", *(paths or (".",)), "--output-format", "json"))


def planted(files: Files) -> Places:
    """Where the fault stands."""
    return [
        (name, row, "GL202")
        for name, text in sorted(files.items())
        for row, line in enumerate(text.splitlines(), start=1)
        if "PLANTED" in line
    ]


def module(*functions: str, before: str = "") -> str:
    """A module of these functions, the first of them faulty."""
    bodies = [f"def {name}(w):\n    return {'PLANTED' if not at else 'w'} * 3.0\n" for at, name in enumerate(functions)]
    return "import tensorflow as tf\n" + "\n\n".join([before, *bodies])


def training(imports: str, loss: str = "loss_of(w)") -> str:
    """A script that asks for the gradient of one weight."""
    return f"""\
import tensorflow as tf
{imports}

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = {loss}
gradient = tape.gradient(loss, w)
"""


def program(imports: str, loss: str = "loss_of(w)") -> str:
    """The same, in the main function of a program."""
    return f"""\
import tensorflow as tf
{imports}


def main():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = {loss}
    return tape.gradient(loss, w)


if __name__ == "__main__":
    gradient = main()
"""


LOSSES = module("loss_of")
INSIDE_FUNCTION = "\n\ndef compute(w):\n    from losses import loss_of\n\n    return loss_of(w)\n\n"
GUARDED = "try:\n    from losses import loss_of\nexcept ImportError:\n    loss_of = None\n"
FOR_TYPES = """\
from typing import TYPE_CHECKING
from losses import loss_of

if TYPE_CHECKING:
    from losses import Weights
"""

IMPORTS: dict[str, Files] = {
    "a name of a module beside": {"train.py": training("from losses import loss_of"), "losses.py": LOSSES},
    "a module beside": {"train.py": training("import losses", "losses.loss_of(w)"), "losses.py": LOSSES},
    "a module under another name": {
        "train.py": training("import losses as own", "own.loss_of(w)"),
        "losses.py": LOSSES,
    },
    "a name under another name": {
        "train.py": training("from losses import loss_of as compute", "compute(w)"),
        "losses.py": LOSSES,
    },
    "a dotted module": {
        "train.py": training("import app.losses", "app.losses.loss_of(w)"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a dotted module under another name": {
        "train.py": training("import app.losses as own", "own.loss_of(w)"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a name of a dotted module": {
        "train.py": training("from app.losses import loss_of"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a module of a package": {
        "train.py": training("from app import losses", "losses.loss_of(w)"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a module that the package imports": {
        "train.py": training("import app", "app.losses.loss_of(w)"),
        "app/__init__.py": "from . import losses\n",
        "app/losses.py": LOSSES,
    },
    "a name, relative": {
        "app/train.py": training("from .losses import loss_of"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a module, relative": {
        "app/train.py": training("from . import losses", "losses.loss_of(w)"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "relative, from the package above": {
        "app/jobs/train.py": training("from ..losses import loss_of"),
        "app/jobs/__init__.py": "",
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a module, relative, from the package above": {
        "app/jobs/train.py": training("from .. import losses", "losses.loss_of(w)"),
        "app/jobs/__init__.py": "",
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "the own package by its full name": {
        "app/jobs/train.py": training("from app.losses import loss_of"),
        "app/jobs/__init__.py": "",
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "handed on by two packages": {
        "train.py": training("from app import loss_of"),
        "app/__init__.py": "from .parts import loss_of\n",
        "app/parts/__init__.py": "from .losses import loss_of\n",
        "app/parts/losses.py": LOSSES,
    },
    "handed on by two packages under other names": {
        "train.py": training("import app", "app.compute(w)"),
        "app/__init__.py": "from .parts import inner as compute\n",
        "app/parts/__init__.py": "from .losses import loss_of as inner\n",
        "app/parts/losses.py": LOSSES,
    },
    "a package without init": {"train.py": training("from app.losses import loss_of"), "app/losses.py": LOSSES},
    "a package without init, relative": {
        "app/train.py": training("from .losses import loss_of"),
        "app/losses.py": LOSSES,
    },
    "a package without init, within a folder without init": {
        "train.py": training("import app.parts.losses as own", "own.loss_of(w)"),
        "app/parts/losses.py": LOSSES,
    },
    "the src layout": {
        "pyproject.toml": "[project]\nname = 'app'\n",
        "scripts/train.py": training("from app.losses import loss_of"),
        "src/app/__init__.py": "",
        "src/app/losses.py": LOSSES,
    },
    "the root of the project": {
        "pyproject.toml": "[project]\nname = 'app'\n",
        "scripts/deep/train.py": training("from app.losses import loss_of"),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
    },
    "a folder that the settings name": {
        "pyproject.toml": "[tool.gradlint]\nsrc = ['code/lib']\n",
        "train.py": training("from losses import loss_of"),
        "code/lib/losses.py": LOSSES,
    },
    "a star": {"train.py": training("from losses import *"), "losses.py": LOSSES},
    "a star that lists the name": {
        "train.py": training("from losses import *"),
        "losses.py": module("loss_of", before="\n__all__ = ['loss_of']\n"),
    },
    "a star that lists a private name": {
        "train.py": training("from losses import *", "_loss_of(w)"),
        "losses.py": module("_loss_of", before="\n__all__ = ['_loss_of']\n"),
    },
    "a star over two levels": {
        "train.py": training("from app import *"),
        "app/__init__.py": "from .losses import *\n",
        "app/losses.py": LOSSES,
    },
    "a name that a package has by a star": {
        "train.py": training("from app import loss_of"),
        "app/__init__.py": "from .losses import *\n",
        "app/losses.py": LOSSES,
    },
    "inside a function": {"train.py": training(INSIDE_FUNCTION, "compute(w)"), "losses.py": LOSSES},
    "where a missing module is provided for": {"train.py": training(GUARDED), "losses.py": LOSSES},
    "beside one for type checkers": {
        "train.py": training(FOR_TYPES),
        "losses.py": module("loss_of", before="\nWeights = tf.Variable\n"),
    },
    "two modules that import each other": {
        "train.py": training("from losses import loss_of"),
        "losses.py": module("inner", before="import scales\n")
        + "\n\ndef loss_of(w):\n    return inner(w) * scales.scale()\n",
        "scales.py": "import losses\n\n\ndef scale():\n    return 2.0 if losses.inner else 1.0\n",
    },
    "three modules in a ring, by name": {
        "train.py": training("from first import loss_of"),
        "first.py": "def loss_of(w):\n    return inner(w)\n\n\nfrom second import inner\n",
        "second.py": "from third import inner\n",
        "third.py": module("inner") + "\n\nimport first\n",
    },
    "a module that imports itself": {
        "train.py": training("from losses import loss_of"),
        "losses.py": module("inner", before="import losses\n") + "\n\ndef loss_of(w):\n    return losses.inner(w)\n",
    },
    "a name that is a submodule, too": {
        "train.py": training("from app import loss_of"),
        "app/__init__.py": "from .loss_of import loss_of\n",
        "app/loss_of.py": LOSSES,
    },
    "a submodule that is a name in it, too": {
        "train.py": training("import app.loss_of", "app.loss_of.loss_of(w)"),
        "app/__init__.py": "",
        "app/loss_of.py": LOSSES,
    },
    "a base class that the class shadows": {
        "train.py": training("from nets import Net\n\n\nclass Net(Net):\n    pass\n\n", "Net().loss_of(w)"),
        "nets.py": "import tensorflow as tf\n\n\nclass Net:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
    },
}

#: The faulty function is never called: another one of the name is.
SHADOWED: dict[str, Files] = {
    "a star that does not list the name": {
        "train.py": training("from fine import loss_of\nfrom losses import *"),
        "losses.py": module("loss_of", "other", before="\n__all__ = ['other']\n"),
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "a star over a private name": {
        "train.py": training("from fine import _loss_of\nfrom losses import *", "_loss_of(w)"),
        "losses.py": module("_loss_of"),
        "fine.py": "def _loss_of(w):\n    return w * 3.0\n",
    },
    "an import that a later one replaces": {
        "train.py": training("from losses import loss_of\nfrom fine import loss_of"),
        "losses.py": LOSSES,
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "an import for type checkers": {
        "train.py": training(
            "from typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from losses import loss_of\nelse:\n    from fine import loss_of\n"
        ),
        "losses.py": LOSSES,
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "an import for when the other is missing": {
        "train.py": training(
            "try:\n    from fine import loss_of\nexcept ImportError:\n    from losses import loss_of\n"
        ),
        "losses.py": LOSSES,
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "an import on one way only": {
        "train.py": training(
            "import os\n\nif os.environ.get('ROUNDED'):\n    from losses import loss_of\n"
            "else:\n    from fine import loss_of\n"
        ),
        "losses.py": LOSSES,
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "an import that a definition replaces": {
        "train.py": training("from losses import loss_of\n\n\ndef loss_of(w):\n    return w * 3.0\n"),
        "losses.py": LOSSES,
    },
    "a module of the same name in another folder": {
        "app/train.py": training("from .losses import loss_of"),
        "app/__init__.py": "",
        "app/losses.py": "def loss_of(w):\n    return w * 3.0\n",
        "losses.py": LOSSES,
    },
    "a package beside a module of the same name": {
        "train.py": training("from losses import loss_of"),
        "losses/__init__.py": "def loss_of(w):\n    return w * 3.0\n",
        "losses.py": LOSSES,
    },
    "a method that the class of the same name overrides": {
        "train.py": training(
            "from nets import Net\n\n\nclass Net(Net):\n    def loss_of(self, w):\n        return w * 3.0\n\n",
            "Net().loss_of(w)",
        ),
        "nets.py": "import tensorflow as tf\n\n\nclass Net:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
    },
    "a definition in the package that hides its submodule": {
        "train.py": training("from app import loss_of"),
        "app/__init__.py": "from .loss_of import loss_of\n\n\ndef loss_of(w):\n    return w * 3.0\n",
        "app/loss_of.py": LOSSES,
    },
}

REGISTRY = """\
REGISTRY = {}


def register(name):
    def add(made):
        REGISTRY[name] = made
        return made

    return add
"""
DISPATCHED = """\
from functools import singledispatch
import tensorflow as tf


class Rounded:
    pass


class Plain:
    pass


@singledispatch
def loss_of(kind, w):
    raise NotImplementedError


@loss_of.register
def _(kind: Rounded, w):
    return PLANTED * 3.0


@loss_of.register(Plain)
def _(kind, w):
    return w * 3.0
"""
TRAINER = """\
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.w = tf.Variable(2.0)

    def loss_of(self, w):
        raise NotImplementedError

    def step(self):
        with tf.GradientTape() as tape:
            loss = self.loss_of(self.w)
        return tape.gradient(loss, self.w)
"""
BY_ARGPARSE = """\
import argparse
import tensorflow as tf
from losses import LOSSES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loss", default="first")
    args = parser.parse_args([])
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = LOSSES[args.loss](w)
    return tape.gradient(loss, w)


if __name__ == "__main__":
    gradient = main()
"""
BY_CLICK = """\
import click
import tensorflow as tf
from losses import LOSSES


@click.command()
@click.option("--loss", "name", default="first")
def main(name):
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = LOSSES[name](w)
    return tape.gradient(loss, w)


if __name__ == "__main__":
    gradient = main(standalone_mode=False)
"""
BY_MATCH = """\
import tensorflow as tf
from losses import other, loss_of
from config import LOSS

match LOSS:
    case "other":
        chosen = other
    case "first":
        chosen = loss_of
    case _:
        raise ValueError(LOSS)

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = chosen(w)
gradient = tape.gradient(loss, w)
"""
NETS = "import tensorflow as tf\n\n\nclass Net:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n"
CONFIG = """\
from collections.abc import Callable
from dataclasses import dataclass, field
from losses import loss_of


@dataclass
class Config:
    scale: float = 3.0
    loss: Callable = loss_of
    names: list = field(default_factory=list)
"""
TABLE = module("loss_of", "other") + '\n\nLOSSES = {"first": loss_of, "second": other}\n'

KINDS = """\
import enum

import tensorflow as tf


class Kind(enum.Enum):
    FIRST = "first"
    SECOND = "second"


def loss_of(w):
    return PLANTED * 3.0


def other(w):
    return w * 3.0


def chosen(kind, w):
    if kind is Kind.FIRST:
        return loss_of(w)
    return other(w)


def matched(kind, w):
    match kind:
        case Kind.FIRST:
            return loss_of(w)
        case Kind.SECOND:
            return other(w)


KNOWN = {Kind.FIRST: loss_of, Kind.SECOND: other}
"""

BY_FLAG = """\
import tensorflow as tf
from absl import app, flags
from losses import LOSSES

FLAGS = flags.FLAGS
flags.DEFINE_enum("loss", "first", ["first", "second"], "which")


def main(argv):
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = LOSSES[FLAGS.loss](w)
    return tape.gradient(loss, w)


if __name__ == "__main__":
    app.run(main)
"""

BY_FIRE = """\
import fire
import tensorflow as tf
from losses import LOSSES


def main(loss="first"):
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        value = LOSSES[loss](w)
    return tape.gradient(value, w)


if __name__ == "__main__":
    fire.Fire(main)
"""

INDIRECTIONS: dict[str, Files] = {
    "a dictionary of another module": {
        "train.py": training("from losses import LOSSES", 'LOSSES["first"](w)'),
        "losses.py": TABLE,
    },
    "a dictionary of another module than the functions": {
        "train.py": training("from table import LOSSES", 'LOSSES["first"](w)'),
        "table.py": 'from losses import loss_of, other\n\nLOSSES = {"first": loss_of, "second": other}\n',
        "losses.py": module("loss_of", "other"),
    },
    "a decorator that registers functions": {
        "train.py": program("import losses\nfrom registry import REGISTRY", 'REGISTRY["first"](w)'),
        "registry.py": REGISTRY,
        "losses.py": "import tensorflow as tf\nfrom registry import register\n\n\n"
        '@register("first")\ndef loss_of(w):\n    return PLANTED * 3.0\n\n\n'
        '@register("second")\ndef other(w):\n    return w * 3.0\n',
    },
    "a decorator that registers classes": {
        "train.py": program("import losses\nfrom registry import REGISTRY", 'REGISTRY["first"]().loss_of(w)'),
        "registry.py": REGISTRY,
        "losses.py": "import tensorflow as tf\nfrom registry import register\n\n\n"
        '@register("first")\nclass First:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n',
    },
    "a module that only the package imports, which registers": {
        "train.py": program("from app.registry import REGISTRY", 'REGISTRY["first"](w)'),
        "app/__init__.py": "from . import losses\n",
        "app/registry.py": REGISTRY,
        "app/losses.py": "import tensorflow as tf\nfrom .registry import register\n\n\n"
        '@register("first")\ndef loss_of(w):\n    return PLANTED * 3.0\n',
    },
    "a function among the keywords of a partial": {
        "train.py": training(
            "from functools import partial\nfrom losses import OPTIONS, apply", "partial(apply, **OPTIONS)(w)"
        ),
        "losses.py": module("loss_of")
        + "\n\ndef apply(w, step=None):\n    return step(w)\n\n\n"
        + 'OPTIONS = {"step": loss_of}\n',
    },
    "functools.partial of another module": {
        "train.py": training("from bound import compute", "compute(w)"),
        "bound.py": "from functools import partial\nfrom losses import scaled\n\ncompute = partial(scaled, 3.0)\n",
        "losses.py": "import tensorflow as tf\n\n\ndef scaled(scale, w):\n    return PLANTED * scale\n",
    },
    "functools.partial of an imported function": {
        "train.py": training("from functools import partial\nfrom losses import loss_of", "partial(loss_of, w)()"),
        "losses.py": LOSSES,
    },
    "a field of a dataclass of another module": {
        "train.py": training("from config import Config", "Config(2.0).loss(w)"),
        "config.py": CONFIG,
        "losses.py": LOSSES,
    },
    "a field that is given": {
        "train.py": training(
            "from config import Config\nfrom others import other", "Config(loss=other).loss(w) * Config().scale"
        ),
        "config.py": CONFIG.replace("losses", "fine"),
        "others.py": module("other"),
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "a field of a dataclass that its decorator freezes": {
        "train.py": training("from config import Config", "Config(2.0).loss(w)"),
        "config.py": CONFIG.replace("@dataclass", "@dataclass(frozen=True)"),
        "losses.py": LOSSES,
    },
    "a registry that is a dict, filled by a module that nobody reads": {
        "train.py": program("from trainer import LOSSES", "LOSSES.make({'name': 'rounded', 'rate': 2.0})(w)"),
        "trainer.py": "from registry import LOSSES\nimport losses\n",
        "registry.py": "class Registry(dict):\n    def __call__(self, name):\n        def add(made):\n"
        "            self[name] = made\n            return made\n\n        return add\n\n"
        "    def make(self, spec):\n        spec = dict(spec)\n        return self[spec.pop('name')](**spec)\n\n\n"
        "LOSSES = Registry()\n",
        "losses.py": "import tensorflow as tf\nfrom registry import LOSSES\n\n\n@LOSSES('rounded')\n"
        "class Rounded:\n    def __init__(self, rate):\n        self.rate = rate\n\n"
        "    def __call__(self, w):\n        return PLANTED * self.rate\n",
    },
    "a function that a match statement chooses": {
        "train.py": training("from losses import get", "get('rounded')(w)"),
        "losses.py": "import tensorflow as tf\n\n\ndef rounded(w):\n    return PLANTED * 3.0\n\n\n"
        "def get(name):\n    match name:\n        case str():\n            return {'rounded': rounded}[name]\n"
        "        case function if callable(function):\n            return function\n",
    },
    "a hook of a base class that a subclass in a third file has": {
        "train.py": program("from mine import Mine", "1.0 * w").replace(
            "    return tape.gradient(loss, w)", "    tape.gradient(loss, w)\n    return Mine().step()"
        ),
        "mine.py": "import tensorflow as tf\nfrom trainer import Trainer\n\n\n"
        "class Mine(Trainer):\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
        "trainer.py": TRAINER,
    },
    "a mixin of another file": {
        "train.py": "from mixin import Scaled\nfrom trainer import Trainer\n\n\n"
        "class Mine(Scaled, Trainer):\n    pass\n\n\n"
        'if __name__ == "__main__":\n    gradient = Mine().step()  # tensorflow\n',
        "mixin.py": "import tensorflow as tf\n\n\n"
        "class Scaled:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
        "trainer.py": TRAINER,
    },
    "the function for a type": {
        "train.py": training("from losses import Rounded, loss_of", "loss_of(Rounded(), w)"),
        "losses.py": DISPATCHED,
    },
    "the default of argparse as a key": {"train.py": BY_ARGPARSE, "losses.py": TABLE},
    "the default of click as a key": {"train.py": BY_CLICK, "losses.py": TABLE},
    "the arguments of a click command": {
        "train.py": BY_CLICK.replace("main(stand", "main([], stand"),
        "losses.py": TABLE,
    },
    "a function picked by getattr": {
        "train.py": training("import losses", 'getattr(losses, "loss_of")(w)'),
        "losses.py": LOSSES,
    },
    "a method of an object that another module made": {
        "train.py": training("from objects import net", "net.loss_of(w)"),
        "objects.py": "from nets import Net\n\nnet = Net()\n",
        "nets.py": NETS,
    },
    "a static method": {
        "train.py": training("from nets import Net", "Net.loss_of(w)"),
        "nets.py": NETS.replace("    def", "    @staticmethod\n    def").replace("self, ", ""),
    },
    "a class method that makes the object": {
        "train.py": training("from nets import Net", "Net.made().loss_of(w)"),
        "nets.py": NETS + "\n    @classmethod\n    def made(cls):\n        return cls()\n",
    },
    "a decorator of a third file": {
        "train.py": training("from losses import loss_of"),
        "losses.py": LOSSES.replace("def", "@logged\ndef").replace("\n\n", "\nfrom logs import logged\n\n", 1),
        "logs.py": "import functools\n\n\ndef logged(function):\n    @functools.wraps(function)\n"
        "    def wrapper(*args, **kwargs):\n        return function(*args, **kwargs)\n\n    return wrapper\n",
    },
    "a tf.function": {
        "train.py": training("from losses import loss_of"),
        "losses.py": LOSSES.replace("def", "@tf.function\ndef"),
    },
    "a lambda": {
        "train.py": training("from losses import loss_of"),
        "losses.py": "import tensorflow as tf\n\nloss_of = lambda w: PLANTED * 3.0\n",
    },
    "a default value of a parameter": {
        "train.py": training("from steps import step", "step(w)"),
        "steps.py": "from losses import loss_of\n\n\ndef step(w, function=loss_of):\n    return function(w)\n",
        "losses.py": LOSSES,
    },
    "a name that is set on the module": {
        "train.py": training("import fine\nimport losses\n\nfine.loss_of = losses.loss_of", "fine.compute(w)"),
        "fine.py": "def loss_of(w):\n    return w * 3.0\n\n\ndef compute(w):\n    return loss_of(w)\n",
        "losses.py": LOSSES,
    },
    "a variable of another module": {
        "train.py": "import tensorflow as tf\nfrom losses import loss_of\nfrom weights import w\n\n"
        "with tf.GradientTape() as tape:\n    loss = loss_of(w)\ngradient = tape.gradient(loss, w)\n",
        "weights.py": "import tensorflow as tf\n\nw = tf.Variable(2.0)\n",
        "losses.py": LOSSES,
    },
    "a layer": {
        "train.py": training("from layers import Rounding", "Rounding()(w[None])"),
        "layers.py": "import keras\nimport tensorflow as tf\n\n\nclass Rounding(keras.layers.Layer):\n"
        "    def call(self, w):\n        return PLANTED * 3.0\n",
    },
    "a match on a constant of another module": {
        "train.py": BY_MATCH,
        "config.py": 'LOSS = "first"\n',
        "losses.py": module("loss_of", "other"),
    },
    "a class that its base class registers": {
        "train.py": program("import losses\nfrom base import Loss", 'Loss.known["first"]().loss_of(w)'),
        "base.py": "class Loss:\n    known = {}\n\n    def __init_subclass__(cls, name=None):\n"
        "        Loss.known[name] = cls\n",
        "losses.py": "import tensorflow as tf\nfrom base import Loss\n\n\n"
        'class First(Loss, name="first"):\n    def loss_of(self, w):\n        return PLANTED * 3.0\n',
    },
    "a partial among the members of an enumeration": {
        "train.py": training("from kinds import Kind", "Kind.FIRST.value(w)"),
        "kinds.py": "import enum\nimport functools\n\nimport tensorflow as tf\n\n\ndef loss_of(w):\n"
        "    return PLANTED * 3.0\n\n\nclass Kind(enum.Enum):\n    FIRST = functools.partial(loss_of)\n",
    },
    "functions that are applied one after another": {
        "train.py": training("from steps import run_all", "run_all(w)"),
        "steps.py": "import functools\n\nimport tensorflow as tf\n\n\ndef first(w):\n    return PLANTED * 3.0\n\n\n"
        "STEPS = [first, lambda w: w * 2.0]\n\n\n"
        "def run_all(w):\n    return functools.reduce(lambda value, step: step(value), STEPS, w)\n",
    },
    "a module that is imported by a computed name": {
        "train.py": training("import importlib", 'importlib.import_module("app." + "losses").loss_of(w)'),
        "app/__init__.py": "",
        "app/losses.py": module("loss_of"),
    },
    "a class that its base class registers without a word": {
        "train.py": program("import losses\nfrom base import Loss", 'Loss.known["First"]().loss_of(w)'),
        "base.py": "class Loss:\n    known = {}\n\n    def __init_subclass__(cls, **others):\n"
        "        super().__init_subclass__(**others)\n        cls.known[cls.__name__] = cls\n",
        "losses.py": "import tensorflow as tf\nfrom base import Loss\n\n\n"
        "class First(Loss):\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
    },
    "functions registered in a package within a package": {
        "train.py": program("import app", 'app.REGISTRY["first"](w)'),
        "app/__init__.py": "from .registry import REGISTRY\nfrom . import losses\n",
        "app/registry.py": REGISTRY,
        "app/losses/__init__.py": "from . import hard\n",
        "app/losses/hard.py": "import tensorflow as tf\nfrom ..registry import register\n\n\n"
        '@register("first")\ndef loss_of(w):\n    return PLANTED * 3.0\n',
    },
    "a function chosen by type, registered in a package": {
        "train.py": program("from app import Rounded, loss_of", "loss_of(Rounded(), w)"),
        "app/__init__.py": "from . import hard\nfrom .dispatch import loss_of\nfrom .kinds import Rounded\n",
        "app/kinds.py": "class Rounded:\n    pass\n",
        "app/dispatch.py": "from functools import singledispatch\n\n\n@singledispatch\ndef loss_of(kind, w):\n"
        "    raise NotImplementedError\n",
        "app/hard.py": "import tensorflow as tf\nfrom .dispatch import loss_of\nfrom .kinds import Rounded\n\n\n"
        "@loss_of.register\ndef _(kind: Rounded, w):\n    return PLANTED * 3.0\n",
    },
    "a member of an enumeration as a key": {
        "train.py": training("from kinds import KNOWN, Kind", 'KNOWN[Kind("first")](w)'),
        "kinds.py": KINDS,
    },
    "a member of an enumeration that is compared": {
        "train.py": training("from kinds import Kind, chosen", "chosen(Kind.FIRST, w)"),
        "kinds.py": KINDS,
    },
    "a member of an enumeration that is matched": {
        "train.py": training("from kinds import Kind, matched", 'matched(Kind["FIRST"], w)'),
        "kinds.py": KINDS,
    },
    "a function given by keywords that are kept apart": {
        "train.py": training(
            "from functools import partial\nfrom losses import loss_of", "partial(loss_of, **OPTIONS)(w)"
        ).replace("w = tf", "OPTIONS = {'after': lambda w: PLANTED, 'scale': 2.0}\nw = tf"),
        "losses.py": "def loss_of(w, after=None, **others):\n    w = after(w) if after else w\n    return w * 3.0\n",
    },
    "a default of a flag of absl": {"train.py": BY_FLAG, "losses.py": TABLE},
    "a default of a flag of absl, by its holder": {
        "train.py": BY_FLAG.replace("FLAGS.loss", "_LOSS.value").replace("flags.DEFINE", "_LOSS = flags.DEFINE"),
        "losses.py": TABLE,
    },
    "a default of a parameter that fire makes an option": {"train.py": BY_FIRE, "losses.py": TABLE},
}

#: What is chosen is the other function.
NOT_CHOSEN: dict[str, Files] = {
    "another key of the dictionary": {
        "train.py": training("from losses import LOSSES", 'LOSSES["second"](w)'),
        "losses.py": TABLE,
    },
    "another type": {
        "train.py": training("from losses import Plain, loss_of", "loss_of(Plain(), w)"),
        "losses.py": DISPATCHED,
    },
    "another type than that of the first function": {
        "train.py": training("from losses import Plain, loss_of", "loss_of(Plain(), w)"),
        "losses.py": DISPATCHED.replace("raise NotImplementedError", "return PLANTED * 3.0").replace(
            "(kind: Rounded, w):\n    return PLANTED", "(kind: Rounded, w):\n    return w"
        ),
    },
    "another default of argparse": {"train.py": BY_ARGPARSE.replace('"first"', '"second"'), "losses.py": TABLE},
    "another default of click": {"train.py": BY_CLICK.replace('"first"', '"second"'), "losses.py": TABLE},
    "another default of absl": {"train.py": BY_FLAG.replace('"first",', '"second",', 1), "losses.py": TABLE},
    "a flag that is set before it is read": {
        "train.py": BY_FLAG.replace("    w = ", '    FLAGS.loss = "second"\n    w = '),
        "losses.py": TABLE,
    },
    "another default of a parameter that fire makes an option": {
        "train.py": BY_FIRE.replace('"first"', '"second"'),
        "losses.py": TABLE,
    },
    "another member of an enumeration": {
        "train.py": training("from kinds import KNOWN, Kind", 'KNOWN[Kind("second")](w)'),
        "kinds.py": KINDS,
    },
    "another member of an enumeration that is compared": {
        "train.py": training("from kinds import Kind, chosen", "chosen(Kind.SECOND, w)"),
        "kinds.py": KINDS,
    },
    "another member of an enumeration that is matched": {
        "train.py": training("from kinds import Kind, matched", "matched(Kind.SECOND, w)"),
        "kinds.py": KINDS,
    },
    "another case": {
        "train.py": BY_MATCH,
        "config.py": 'LOSS = "other"\n',
        "losses.py": module("loss_of", "other"),
    },
    "another field": {
        "train.py": training("from config import Config\nfrom fine import loss_of", "Config(loss=loss_of).loss(w)"),
        "config.py": CONFIG,
        "losses.py": LOSSES,
        "fine.py": "def loss_of(w):\n    return w * 3.0\n",
    },
    "a mixin behind the class that has the hook": {
        "train.py": "from mixin import Scaled\nfrom mine import Mine\n\n\n"
        "class Both(Mine, Scaled):\n    pass\n\n\n"
        'if __name__ == "__main__":\n    gradient = Both().step()  # tensorflow\n',
        "mine.py": "from trainer import Trainer\n\n\n"
        "class Mine(Trainer):\n    def loss_of(self, w):\n        return w * 3.0\n",
        "mixin.py": "import tensorflow as tf\n\n\n"
        "class Scaled:\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
        "trainer.py": TRAINER,
    },
}

#: Silence, so far, where a person would follow. A mark that no longer holds fails the run, and goes to those above.
NOT_FOLLOWED: dict[str, Files] = {
    "a class that its metaclass registers": {
        "train.py": program("import losses\nfrom base import KNOWN", 'KNOWN["First"]().loss_of(w)'),
        "base.py": "KNOWN = {}\n\n\nclass Meta(type):\n    def __new__(mcs, name, bases, body):\n"
        "        made = super().__new__(mcs, name, bases, body)\n        KNOWN[name] = made\n        return made\n\n\n"
        "class Loss(metaclass=Meta):\n    pass\n",
        "losses.py": "import tensorflow as tf\nfrom base import Loss\n\n\n"
        "class First(Loss):\n    def loss_of(self, w):\n        return PLANTED * 3.0\n",
    },
}

#: Which of two functions is called depends on what is installed.
UNDECIDED: dict[str, Files] = {
    "a replacement for a library that is not known": {
        "train.py": training("from losses import loss_of"),
        "losses.py": "try:\n    from fastlosses import loss_of\nexcept ImportError:\n    from slow import loss_of\n",
        "slow.py": module("loss_of"),
    },
}

REACHED = IMPORTS | INDIRECTIONS
NOT_REACHED = SHADOWED | NOT_CHOSEN | UNDECIDED


@pytest.mark.parametrize("files", REACHED.values(), ids=REACHED.keys())
def test_a_cut_in_another_file_is_found(files: Files, run: Run) -> None:
    assert found(run, files, FAULT) == planted(files)


@pytest.mark.parametrize("files", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED.keys())
@pytest.mark.xfail(strict=True, reason="not followed yet")
def test_a_cut_behind_more_indirection_is_found(files: Files, run: Run) -> None:
    assert found(run, files, FAULT) == planted(files)


@pytest.mark.parametrize("files", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED.keys())
def test_what_is_not_followed_is_left_alone(files: Files, run: Run) -> None:
    assert found(run, files, FINE) == []


@pytest.mark.parametrize("files", REACHED.values(), ids=REACHED.keys())
def test_what_flows_through_another_file_is_left_alone(files: Files, run: Run) -> None:
    assert found(run, files, FINE) == []


@pytest.mark.parametrize("files", NOT_REACHED.values(), ids=NOT_REACHED.keys())
def test_a_function_that_is_not_the_one_called_says_nothing(files: Files, run: Run) -> None:
    assert found(run, files, FAULT) == []


def test_a_setting_for_src_is_needed_where_no_convention_leads(run: Run) -> None:
    files = IMPORTS["a folder that the settings name"]

    assert found(run, files | {"pyproject.toml": "[tool.gradlint]\n"}, FAULT) == []


@pytest.mark.parametrize(
    ("imports", "loss"),
    [("from app.losses import loss_of", "loss_of(w)"), ("import app.losses as own", "own.loss_of(w)")],
    ids=["the function", "its module"],
)
def test_a_function_that_the_settings_trust_is_trusted_where_it_is_imported(imports: str, loss: str, run: Run) -> None:
    files = {"train.py": training(imports, loss), "app/__init__.py": "", "app/losses.py": LOSSES}
    assert found(run, files, FAULT) == planted(files)

    trusted = {"pyproject.toml": "[tool.gradlint]\ndifferentiable = ['app.losses.loss_of']\n"}
    assert found(run, files | trusted, FAULT) == []


@pytest.mark.parametrize(
    ("imports", "loss"),
    [
        pytest.param("from app.losses import loss_of", "loss_of(w)", id="the function"),
        pytest.param("from app.losses import loss_of as compute", "compute(w)", id="the function under another name"),
        pytest.param(
            "import app.losses",
            "app.losses.loss_of(w)",
            id="its module",
        ),
        pytest.param(
            "import app.losses as own",
            "own.loss_of(w)",
            id="its module under another name",
        ),
    ],
)
def test_a_function_that_the_settings_distrust_cuts_where_it_is_called(imports: str, loss: str, run: Run) -> None:
    files = {
        "train.py": training(imports, loss),
        "app/__init__.py": "",
        "app/losses.py": LOSSES,
        "pyproject.toml": "[tool.gradlint]\nnondifferentiable = ['app.losses.loss_of']\n",
    }

    assert found(run, files, FINE) == [("train.py", 6, "GL202")]


@pytest.mark.parametrize("setting", ["app.losses.loss_of", "app.loss_of"], ids=["defined", "handed on"])
@pytest.mark.parametrize(
    ("imports", "loss"),
    [
        pytest.param("from app import loss_of", "loss_of(w)", id="the function"),
        pytest.param("import app", "app.loss_of(w)", id="its package"),
        pytest.param("import app as own", "own.loss_of(w)", id="its package renamed"),
    ],
)
@pytest.mark.parametrize(("table", "verdict"), [("differentiable", "flows"), ("nondifferentiable", "none")])
def test_settings_know_a_function_by_the_name_of_its_module_and_of_the_package_that_hands_it_on(
    setting: str, imports: str, loss: str, table: str, verdict: str, run: Run
) -> None:
    files = {
        "train.py": training(imports, loss),
        "app/__init__.py": "from .losses import loss_of\n",
        "app/losses.py": "import elsewhere\n\n\ndef loss_of(w):\n    return elsewhere.compute(w)\n",
        "pyproject.toml": f"[tool.gradlint]\n{table} = ['{setting}']\n",
    }
    write(run, files, FINE)

    assert run("flow", "train.py").stdout.splitlines()[1].split(":")[0].strip() == f"w  {verdict}"


@pytest.mark.parametrize(
    ("loss", "setting"),
    [
        pytest.param("scripts.native(w)", "app.scripts.native", id="a function below folders without __init__"),
        pytest.param("Kernel(2).apply(w)", "elsewhere.ops.Kernel.apply", id="a method of an object"),
        pytest.param("elsewhere.ops.Kernel(2).apply(w)", "elsewhere.ops.Kernel.apply", id="its class by its module"),
        pytest.param("kept.apply(w)", "elsewhere.ops.Kernel.apply", id="a method of an object with a name"),
        pytest.param("kept(w)", "elsewhere.ops.Kernel.__call__", id="an object that is called"),
        pytest.param("kept(w)", "elsewhere.ops.Kernel.call", id="a layer that is called"),
    ],
)
@pytest.mark.parametrize(("table", "verdict"), [("differentiable", "flows"), ("nondifferentiable", "none")])
def test_settings_know_functions_and_methods_of_what_is_not_read(
    loss: str, setting: str, table: str, verdict: str, run: Run
) -> None:
    imports = "import elsewhere\nfrom app import scripts\nfrom elsewhere.ops import Kernel\n\nkept = Kernel(2)"
    files = {
        "train.py": training(imports, loss),
        "app/scripts.py": "import elsewhere\n\n\ndef native(w):\n    return elsewhere.compute(w)\n",
        "pyproject.toml": f"[tool.gradlint]\n{table} = ['{setting}']\n",
    }
    write(run, files, FINE)

    assert run("flow", "train.py").stdout.splitlines()[1].split(":")[0].strip() == f"w  {verdict}"


def test_a_comment_is_not_called_unused_where_an_importer_cannot_be_decoded(run: Run) -> None:
    run.write("losses.py", "import tensorflow as tf\n\n\ndef loss_of(w):\n    return w  # gradlint: ignore[GL202]\n")
    run.write("train.py", b'import tensorflow as tf\nfrom losses import loss_of\n\nx = "\xff"\n')

    assert [each["code"] for each in run("check", "--output-format", "json").findings] == ["GL002"]


OWN_FAULT = training("", "PLANTED * 3.0")


def _nothing(run: Run) -> None:
    pass


def _syntax_error(run: Run) -> None:
    run.write("helper.py", "import tensorflow as tf\n\n\ndef loss_of(w:\n")


def _binary(run: Run) -> None:
    run.write("helper.py", b"\x00\xff\x00tensorflow")


def _not_utf8(run: Run) -> None:
    run.write("helper.py", b"import tensorflow as tf\n# \xff\n\n\ndef loss_of(w):\n    return tf.round(w)\n")


def _pipe(run: Run) -> None:
    os.mkfifo(run.folder / "helper.py")


def _folder(run: Run) -> None:
    (run.folder / "helper.py").mkdir()


def _broken_link(run: Run) -> None:
    (run.folder / "helper.py").symlink_to("nowhere.py")


def _deep(run: Run) -> None:
    run.write("helper.py", "x = " + "(" * 5000 + ")" * 5000 + "\n")


UNREADABLE = [_nothing, _syntax_error, _binary, _not_utf8, _pipe, _folder, _broken_link, _deep]


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__.strip("_"))
def test_a_module_that_cannot_be_read_is_opaque_and_the_rest_is_judged(make: Callable[[Run], None], run: Run) -> None:
    make(run)
    files = {"train.py": training("from helper import loss_of"), "other.py": OWN_FAULT}

    assert found(run, files, FAULT, "train.py", "other.py") == planted(files)


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__.strip("_"))
def test_a_file_is_judged_though_a_module_of_it_cannot_be_read(make: Callable[[Run], None], run: Run) -> None:
    make(run)
    files = {"train.py": training("import helper", "PLANTED * 3.0")}

    assert found(run, files, FAULT, "train.py") == planted(files)


BODIES = {
    "raises": 'raise RuntimeError("not here")\n',
    "loops forever": "while True:\n    pass\n",
    "loops over what never ends": "import itertools\n\nfor number in itertools.count():\n    number += 1\n",
    "calls itself": "def again():\n    return again()\n\n\nagain()\n",
    "leaves Python": "import os\n\nos._exit(3)\n",
    "exits": "import sys\n\nsys.exit(3)\n",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_module_is_never_executed_whatever_its_body_does(body: str, run: Run) -> None:
    files = {
        "train.py": training("from helper import loss_of"),
        "helper.py": body + "\n\ndef loss_of(w):\n    return w * 3.0\n",
        "other.py": OWN_FAULT,
    }

    assert found(run, files, FAULT) == planted(files)


@pytest.mark.parametrize("made", [training, program], ids=["module", "program"])
def test_no_import_is_executed(made: Callable[[str], str], run: Run) -> None:
    effect = 'from pathlib import Path\n\nPath("ran").write_text("yes")\nREGISTRY = {}\nREGISTRY["a"] = 1\n'
    files = {
        "train.py": made("import app\nfrom app.losses import loss_of\nimport helper"),
        "app/__init__.py": effect,
        "app/losses.py": effect + LOSSES,
        "helper.py": effect,
        "conftest.py": effect,
        "sitecustomize.py": effect,
    }

    assert found(run, files, FAULT) == planted(files)
    assert not Path("ran").exists()


ANNEALING = """\
import keras
{scheme}

class Annealing(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.beta = {value}
"""
MODEL = """\
import keras
import tensorflow as tf


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.beta = {beta}

    def call(self, x):
        return self.dense(x) * self.beta
"""
FIT = """\
import numpy as np
from annealing import Annealing
from net import Net

model = Net()
model.compile("sgd", "mse")  # keras
model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, callbacks=[Annealing()])
"""


def _fit(run: Run, beta: str, change: str) -> Places:
    callback = ANNEALING.format(scheme="", value="epoch * 0.1").replace("self.model.beta = epoch * 0.1", change)
    files = {"annealing.py": callback, "net.py": MODEL.format(beta=beta), "train.py": FIT}
    return found(run, files, FAULT)


def test_a_callback_of_another_file_that_changes_a_traced_number_is_found(run: Run) -> None:
    assert _fit(run, "0.0", "self.model.beta = epoch * 0.1") == [("annealing.py", 6, "GL436")]


@pytest.mark.parametrize(
    ("beta", "change"),
    [
        ("tf.Variable(0.0, trainable=False)", "self.model.beta.assign(epoch * 0.1)"),
        ("0.0", "self.beta = epoch * 0.1"),
    ],
    ids=["a variable is assigned", "a number of the callback"],
)
def test_a_callback_of_another_file_that_changes_nothing_traced_is_left_alone(beta: str, change: str, run: Run) -> None:
    assert _fit(run, beta, change) == []


def test_the_run_ends_with_the_same_whether_modules_are_named_or_only_imported(run: Run) -> None:
    files = IMPORTS["handed on by two packages"]
    write(run, files, FAULT)

    def outcome(*paths: str) -> Outcome:
        return run("check", *paths, "--output-format", "json")

    assert places(outcome(".")) == places(outcome("train.py", "app")) == planted(files)
    assert [code for _, _, code in places(outcome("train.py"))] == ["GL202"]


@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_projects_beside_each_other_are_judged_as_each_alone(jobs: str, run: Run) -> None:
    projects = {title: files for title, files in (REACHED | NOT_REACHED).items() if "pyproject.toml" not in files}
    expected: Places = []
    for number, (title, files) in enumerate(projects.items()):
        within = {f"{number:02}/{name}": text for name, text in files.items()}
        write(run, within, FAULT)
        expected += planted(within) if title in REACHED else []

    assert places(run("check", ".", "--output-format", "json", "--jobs", jobs)) == expected
