"""Lookup: the row of a symbol, an operator or a method, and its operands among the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from gradlint.knowledge.measured import measured
from gradlint.ops.op import UNKNOWN_OP, Op
from gradlint.ops.table import ROWS

T = TypeVar("T")

#: Namespaces in which a name means something else than on arrays: text, sets, files, drawing on images, layers.
_NOT_OF_ARRAYS = ("tf.strings.", "tf.sets.", "tf.io.", "tf.data.", "tf.image.", "tf.audio.", "tf.config.", "tf.compat.",
                  "builtins.", "itertools.", "functools.", "operator.", "random.", "os.", "re.", "json.", "sys.",
                  "keras.utils.", "keras.regularizers.", "keras.optimizers.", "keras.initializers.", "keras.datasets.",
                  "keras.callbacks.", "matplotlib.", "PIL.", "tqdm.", "logging.")  # fmt: skip
_WHOLE = {name: row for row in ROWS for name in row.spelled if "." in name}
_LAST = {name: row for row in ROWS for name in row.spelled if "." not in name}


@cache
def op_of(symbol: str) -> Op:
    """The row of a library symbol (`tf.math.add`), an operator (`+`) or a method (`np.ndarray.sum`).

    A symbol without a row is an operation of its own, whatever it does: one object for each symbol.
    """
    if not symbol:
        return UNKNOWN_OP
    known = _WHOLE.get(symbol)
    if known is not None:
        return known
    space, _, name = symbol.rpartition(".")
    if not space or not symbol.startswith(_NOT_OF_ARRAYS):
        known = _LAST.get(name)
    return known if known is not None else Op(symbol)


#: Names of parameters, of functions that were not measured.
_NAMED = (
    ("x", "a", "x1", "input", "input_tensor", "inputs", "value", "tensor", "condition", "labels", "y_true", "params"),
    ("y", "b", "x2", "exponents", "filters", "kernel", "logits", "y_pred"),
    ("y",),
)


def operands_of(op: Op, symbol: str, positional: Sequence[T], keywords: Mapping[str, T]) -> tuple[T, ...]:
    """What a call gives to the operation, in its own order; nothing when some of it cannot be told."""
    if len(positional) >= op.operands:
        return tuple(positional[: op.operands])
    known = measured(symbol)
    parameters = known.parameters if known is not None else ()
    found = list(positional)
    for place in range(len(positional), op.operands):
        names = parameters[place : place + 1] or (_NAMED[place] if op.spelled else ())
        given = next((keywords[name] for name in names if name in keywords), None)
        if given is None:
            return ()
        found.append(given)
    return tuple(found)
