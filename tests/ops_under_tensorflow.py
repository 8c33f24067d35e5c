"""Runs every spelling of every row of the table of operations, and prints what is not as the row says, as JSON.

A process of its own: pytest forks, and TensorFlow does not survive that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cache, reduce
from typing import Any

import numpy as np

from gradlint.ops.lookup import op_of
from gradlint.ops.op import Op, Role
from gradlint.ops.table import ROWS

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
SPACES = ("tf", "tf.math", "tf.nn", "tf.linalg", "tf.debugging", "tf.experimental.numpy", "keras.ops",
          "keras.activations", "keras.backend", "np")  # fmt: skip
X = np.array([[0.3, 0.8], [0.1, 0.6]], dtype=np.float32)
Y = np.array([[0.7, 0.2], [0.5, 0.9]], dtype=np.float32)
MASK = X > 0.5
#: What a row is called with, where that is not one array for each operand. One way for each kind of signature.
GIVEN: dict[str, tuple[Any, ...]] = {
    "add_n": ([X, Y],), "builtins.sum": ([X, Y],), "scalar_mul": (2.0, X), "where": (MASK, X, Y), "switch": (),
    "tensordot": (), "conv2d": (), "cast": (X, "float32"), "reshape": (X, (4, 1)), "expand_dims": (X, 0),
    "reverse": (), "[]": (), "slice": (), "gather": (X, [1, 0], 0), "embedding_lookup": (X, [1, 0]),
    "gather_nd": (X, [[1], [0]]), "take_along_axis": (X, np.array([[0], [1]]), 1), "boolean_mask": (X, [True, False]),
    "split": (X, 2), "unstack": (X,), "concat": ([X, Y], 0), "stack": ([X, Y],), "broadcast_to": (X, (3, 2, 2)),
    "pad": (X, [[1, 1], [0, 0]]), "tril": (X,), "l2_loss": (X,), "global_norm": ([X, Y],),
    "clip_by_value": (X, 0.2, 0.5), "clip_by_norm": (X, 0.5), "clip_by_global_norm": ([X, Y], 0.5),
    "logical_and": (MASK, ~MASK), "logical_or": (MASK, ~MASK), "logical_xor": (MASK, ~MASK), "logical_not": (MASK,),
    "acosh": (X + 2.0,), "tile": (), "tf.function": (), "reduce_all": (MASK,), "reduce_any": (MASK,), "read": (),
    "identity": (X,), "norm": (X,),
}  # fmt: skip
#: The same name with another signature or meaning than that of its row, though what a gradient sees of it is the same.
OTHERWISE = {
    "tf.ensure_shape": (X, (2, 2)), "tf.debugging.check_numerics": (X, "not finite"), "np.split": (X, 2),
    "tf.experimental.numpy.take": (X, [1, 0], 0), "tf.grad_pass_through": None, "tf.nn.bias_add": None,
    "tf.experimental.numpy.float32": (X,), "tf.experimental.numpy.float64": (X,), "np.float16": (X,),
    "tf.experimental.numpy.pad": (X, [[1, 1], [0, 0]], "constant"), "keras.ops.gelu": (X, False),
    "keras.activations.gelu": (X, False), "tf.linalg.l2_normalize": (X, 0), "builtins.round": None,
    "tf.experimental.numpy.round": None, "tf.experimental.numpy.around": None,
    "tf.experimental.numpy.transpose": (X,), "tf.linalg.normalize": None, "keras.ops.dot": (X, Y),
    "keras.ops.clip": (X, 0.2, 0.5), "tf.experimental.numpy.swapaxes": (X, 0, 1), "np.swapaxes": (X, 0, 1),
    "keras.ops.swapaxes": (X, 0, 1), "np.moveaxis": (X, 0, 1), "keras.ops.moveaxis": (X, 0, 1),
    "tf.experimental.numpy.moveaxis": (X, 0, 1), "np.clip": (X, 0.2, 0.5), "tf.linalg.matvec": None,
    "keras.ops.inner": None, "np.inner": None, "tf.experimental.numpy.inner": None, "keras.ops.tensordot": None,
    "tf.nn.normalize": None, "keras.ops.split": (X, 2), "tf.experimental.numpy.split": (X, 2),
    "tf.math.l2_normalize": (X, 0), "tf.nn.l2_normalize": (X, 0), "keras.ops.normalize": None,
    "keras.ops.power": (X, Y), "keras.ops.average_pool": None, "tf.math.in_top_k": None, "tf.nn.in_top_k": None,
    "keras.ops.in_top_k": None, "tf.math.top_k": None, "tf.nn.top_k": None, "keras.ops.top_k": None,
}  # fmt: skip
SKIPPED_ROLES = {Role.OTHER, Role.DRAW, Role.SHAPE, Role.LOSS, Role.SCATTER, Role.MAKE}


@cache
def roots() -> dict[str, Any]:
    import keras
    import tensorflow as tf

    return {"tf": tf, "keras": keras, "np": np}


def function_of(symbol: str) -> Callable[..., Any] | None:
    """The function of this name, or None where the library has none."""
    root, *names = symbol.split(".")
    found = reduce(lambda owner, name: getattr(owner, name, None), names, roots().get(root))
    return found if callable(found) and not isinstance(found, type) else None


def symbols(row: Op) -> Iterator[str]:
    for name in row.spelled:
        for symbol in [name] if "." in name else [f"{space}.{name}" for space in SPACES]:
            if function_of(symbol) is not None and op_of(symbol) is row:
                yield symbol


def arguments(row: Op, symbol: str) -> tuple[Any, ...] | None:
    given = OTHERWISE.get(symbol, GIVEN.get(row.name, (X, Y)[: row.operands]))
    return given or None


def numbers(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return [numbers(each) for each in result]
    return np.asarray(result)


def run(row: Op, symbol: str, given: tuple[Any, ...] | None = None) -> Any:
    function = function_of(symbol)
    assert function is not None
    return numbers(function(*(given if given is not None else arguments(row, symbol) or ())))


CHECKS: list[tuple[Callable[[Op], None], list[Op]]] = []


def check(rows: list[Op]) -> Callable[[Callable[[Op], None]], Callable[[Op], None]]:
    """What must hold of these rows."""

    def register(function: Callable[[Op], None]) -> Callable[[Op], None]:
        CHECKS.append((function, rows))
        return function

    return register


CALLED = [row for row in ROWS if row.role not in SKIPPED_ROLES]


def runnable(row: Op) -> list[str]:
    return [symbol for symbol in symbols(row) if arguments(row, symbol) is not None]


@check(CALLED)
def every_spelling_of_a_row_computes_the_same(row: Op) -> None:
    found = {symbol: run(row, symbol) for symbol in runnable(row)}

    first = next(iter(found.values()), None)
    assert {symbol: each for symbol, each in found.items() if not _same(first, each)} == {}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) or isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return a.shape == b.shape and np.allclose(a.astype(np.float64), b.astype(np.float64), atol=1e-5)


@check([row for row in CALLED if row.entrywise])
def entrywise_operations_have_a_diagonal_jacobian(row: Op) -> None:
    for symbol in runnable(row):
        given = arguments(row, symbol)
        assert given is not None
        place = next(i for i, each in enumerate(given) if isinstance(each, np.ndarray))
        changed = list(given)
        changed[place] = given[place].copy()
        changed[place][0, 0] = not changed[place][0, 0] if changed[place].dtype == bool else changed[place][0, 0] + 0.05
        before, after = run(row, symbol), run(row, symbol, tuple(changed))
        assert np.array_equal(before.reshape(-1)[1:], after.reshape(-1)[1:]), symbol


@check([row for row in CALLED if row.linear])
def linear_operations_are_linear(row: Op) -> None:
    for symbol in runnable(row):
        given = arguments(row, symbol)
        assert given is not None
        tensors = row.operands
        doubled = tuple(_scaled(each, 3.0) if i < tensors else each for i, each in enumerate(given))
        more = tuple(_moved(each) if i < tensors else each for i, each in enumerate(given))
        both = tuple(
            _sum(_scaled(a, 3.0), b) if i < tensors else a for i, (a, b) in enumerate(zip(given, more, strict=True))
        )
        one, other, together = (run(row, symbol, each) for each in (doubled, more, both))
        assert _same(_sum(one, other), together), symbol


def _scaled(value: Any, by: float) -> Any:
    return [_scaled(each, by) for each in value] if isinstance(value, list) else (value * by).astype(np.float32)


def _moved(value: Any) -> Any:
    return [_moved(each) for each in value] if isinstance(value, list) else value[::-1].copy()


def _sum(a: Any, b: Any) -> Any:
    return [_sum(x, y) for x, y in zip(a, b, strict=True)] if isinstance(a, list) else a + b


@check([row for row in CALLED if row.keeps_shape])
def operations_that_keep_the_shape_do(row: Op) -> None:
    for symbol in runnable(row):
        given = arguments(row, symbol)
        assert given is not None
        first = next(each for each in given if isinstance(each, np.ndarray))
        assert run(row, symbol).shape == first.shape, symbol


@check([row for row in CALLED if row.hands_on])
def what_hands_on_numbers_changes_none(row: Op) -> None:
    for symbol in runnable(row):
        made = run(row, symbol)
        assert np.allclose(np.sort(made.reshape(-1)), np.sort(X.reshape(-1)), atol=1e-3), symbol
        if row.role is Role.COPY:
            assert made.shape == X.shape, symbol


def problems() -> dict[str, dict[str, str]]:
    """By check and row: what is not so."""
    found: dict[str, dict[str, str]] = {}
    for function, rows in CHECKS:
        told = found.setdefault(function.__name__, {})
        for row in rows:
            try:
                function(row)
            except Exception as error:
                told[row.name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    print(json.dumps(problems()))
