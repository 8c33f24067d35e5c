"""Symbols: the one dotted name of each library symbol, and what is known of whole libraries."""

from __future__ import annotations

#: Longest prefix first: what a module path is called here.
_PREFIXES = (
    ("tensorflow.compat.v1.keras", "keras"),
    ("tensorflow.compat.v2.keras", "keras"),
    ("tensorflow.python.keras", "keras"),
    ("tensorflow.optimizers", "keras.optimizers"),
    ("tf.optimizers", "keras.optimizers"),
    ("tensorflow.keras", "keras"),
    ("tensorflow.compat.v1", "tf"),
    ("tensorflow.compat.v2", "tf"),
    ("tensorflow", "tf"),
    ("tf.compat.v1.keras", "keras"),
    ("tf.compat.v2.keras", "keras"),
    ("tf.compat.v1", "tf"),
    ("tf.compat.v2", "tf"),
    ("tf.optimizers", "keras.optimizers"),
    ("tf.keras", "keras"),
    ("tf_keras", "keras"),
    ("keras.src", "keras"),
    ("keras.api", "keras"),
    ("keras._tf_keras.keras", "keras"),
    ("numpy", "np"),
)

#: Where a Keras symbol lives is not what it does: one home for each.
_HOMES = {
    "keras.Model": "keras.models.Model",
    "keras.Sequential": "keras.models.Sequential",
    "keras.Layer": "keras.layers.Layer",
    "keras.engine.base_layer.Layer": "keras.layers.Layer",
    "keras.layers.Input": "keras.Input",
    "keras.layers.InputLayer": "keras.layers.InputLayer",
    "keras.engine.training.Model": "keras.models.Model",
    "keras.losses.Loss": "keras.losses.Loss",
    "tf.python.eager.backprop.GradientTape": "tf.GradientTape",
    "tf.eager.GradientTape": "tf.GradientTape",
    "tf.contrib.eager.GradientTape": "tf.GradientTape",
    "tf.autodiff.GradientTape": "tf.GradientTape",
    "tf.custom_gradient": "tf.custom_gradient",
    "tf.function": "tf.function",
    "tf.def_function.function": "tf.function",
    "keras.ops.stop_gradient": "tf.stop_gradient",
    "keras.backend.stop_gradient": "tf.stop_gradient",
}

#: Libraries whose functions are known well enough to say that they hold on to nothing.
KNOWN_ROOTS = frozenset(
    "tf keras np math random time os sys logging json re collections functools itertools typing "
    "typing_extensions dataclasses contextlib abc copy operator warnings pathlib enum argparse "
    "scipy pandas matplotlib sklearn tqdm PIL cv2 absl seaborn datetime string inspect types "
    "shutil glob pickle csv gc threading unittest pytest builtins __future__ six click fire typer importlib".split()
)

#: Of those, the ones whose results are plain numbers, arrays and strings.
PLAIN_ROOTS = frozenset(
    "np math random time os sys logging json re scipy pandas matplotlib sklearn PIL cv2 absl seaborn "
    "datetime string inspect shutil glob pickle csv gc warnings pathlib argparse typing typing_extensions "
    "enum types abc __future__".split()
)

#: Of those, the ones that turn tensors into numbers, arrays and strings; the others hand on what they are given.
NUMBER_ROOTS = frozenset("np math scipy pandas matplotlib sklearn PIL cv2 seaborn json re string".split())


def canonical(name: str) -> str:
    """The one name of a symbol: `tensorflow.keras.layers.Dense` is `keras.layers.Dense`."""
    for prefix, short in _PREFIXES:
        if name == prefix or name.startswith(prefix + "."):
            name = short + name[len(prefix) :]
            break
    return _HOMES.get(name, name)


def is_known_library(name: str) -> bool:
    """Whether a dotted module name is that of a library that is known, whatever lies beside the file."""
    return canonical(name).split(".")[0] in KNOWN_ROOTS
