"""Effects: what a library symbol does to the gradients of its arguments.

The engine asks `effect_of(symbol)` and knows no symbol itself. Everything under `tf`, `keras.ops`
and their likes that is not listed lets gradients pass; what does not was seen to return `None`
for every float argument under TensorFlow 2.21.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gradlint.verdicts import Cause


@dataclass(frozen=True, slots=True)
class Effect:
    """`cause` is None where gradients pass. `fresh`: the result does not depend on the arguments' values."""

    cause: Cause | None = None
    fresh: bool = False


FLOWS = Effect()
FRESH = Effect(fresh=True)
_CUT = Effect(Cause.NON_DIFFERENTIABLE)
_INTEGER = Effect(Cause.INTEGER)

_NON_DIFFERENTIABLE = frozenset(
    "floor ceil round rint sign_bit argmax argmin argsort searchsorted one_hot equal not_equal greater less "
    "greater_equal less_equal logical_and logical_or logical_not logical_xor is_finite is_inf is_nan isfinite isinf "
    "isnan reduce_any reduce_all any all count_nonzero in_top_k zeros_like ones_like shape size rank shape_n "
    "floordiv floor_divide floor_div truncatediv confusion_matrix bincount histogram_fixed_width "
    "histogram_fixed_width_bins "
    "where_indices unique unique_with_counts bucketize as_string strings_to_hash_bucket non_max_suppression "
    "edit_distance matrix_rank invert_permutation trunc digitize nonzero isclose".split()
)
_INTEGER_NAMES = frozenset("to_int32 to_int64 saturate_cast bitcast".split())
_FRESH_NAMES = frozenset(
    "zeros ones eye range linspace_like placeholder arange empty zeros_initializer ones_initializer "
    "SeedGenerator set_seed executing_eagerly get_logger set_random_seed".split()
)
_DISCRETE = frozenset(
    "categorical stateless_categorical multinomial binomial stateless_binomial randint shuffle".split()
)
_STOPPED = frozenset({"tf.stop_gradient", "tf.nondifferentiable_batch_function"})
_ACCURACY = frozenset(
    "binary_accuracy categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy "
    "sparse_top_k_categorical_accuracy accuracy".split()
)

_SHORT_LOSSES = frozenset({"MSE", "MAE", "MAPE", "MSLE", "KLD"})

#: Namespaces whose functions take tensors and return tensors.
OPERATION_SPACES = (
    "tf.math.",
    "tf.nn.",
    "tf.linalg.",
    "tf.image.",
    "tf.signal.",
    "tf.sparse.",
    "tf.ragged.",
    "tf.random.",
    "tf.bitwise.",
    "tf.sets.",
    "tf.strings.",
    "tf.audio.",
    "tf.quantization.",
    "tf.experimental.numpy.",
    "tf.python.ops.",
    "tf.losses.",
    "tf.initializers.",
    "tf.raw_ops.",
    "tf.debugging.",
    "keras.ops.",
    "keras.layers.",  # the lower-case ones: add, concatenate, dot ...
    "keras.backend.",
    "keras.activations.",
    "keras.losses.",
    "keras.metrics.",
    "keras.random.",
    "keras.utils.",
)


@cache
def effect_of(symbol: str) -> Effect | None:
    """The effect of calling a library function, or None when it is not an operation on tensors."""
    space, _, name = symbol.rpartition(".")
    if symbol in _STOPPED:
        return Effect(Cause.STOPPED)
    if (name[:1].isupper() and name not in _SHORT_LOSSES) or name.startswith("_"):
        return None
    if space != "tf" and not symbol.startswith(OPERATION_SPACES):
        return None
    if name in _DISCRETE and ("random" in space or space in ("tf", "tf.compat.v1")):
        return Effect(Cause.DISCRETE_SAMPLE)
    if name in _NON_DIFFERENTIABLE or name in _ACCURACY:
        return _CUT
    if name in _INTEGER_NAMES or space.startswith("tf.strings") or space.startswith("tf.bitwise"):
        return _INTEGER
    if name in _FRESH_NAMES:
        return FRESH
    return FLOWS
