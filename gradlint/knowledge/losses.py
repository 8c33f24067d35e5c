"""Losses of Keras and TensorFlow: one name for each, whatever form it is given in, and what it takes."""

from __future__ import annotations

import re

_SHORT = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error", "bce": "binary_crossentropy", "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh",
}  # fmt: skip
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")

#: Losses that take the logarithm of probabilities, unless told that they are given logits.
OF_BINARY = frozenset({"binary_crossentropy", "binary_focal_crossentropy"})
OF_CLASSES = frozenset({"categorical_crossentropy", "categorical_focal_crossentropy"})
OF_SPARSE_CLASSES = frozenset({"sparse_categorical_crossentropy"})
CROSSENTROPIES = OF_BINARY | OF_CLASSES | OF_SPARSE_CLASSES
#: Functions of tf.nn that take logits.
OF_LOGITS = frozenset(
    "sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits softmax_cross_entropy_with_logits "
    "sparse_softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2".split()
)
#: Losses for which it matters which argument is the prediction.
LOPSIDED = CROSSENTROPIES | {"kl_divergence", "poisson", "categorical_hinge"}
REGRESSIONS = frozenset({"mean_squared_error", "mean_absolute_error", "huber", "log_cosh"})
#: Losses that take the logarithm of the prediction itself.
OF_POSITIVE = frozenset({"poisson", "mean_squared_logarithmic_error", "kl_divergence"})
#: What `compile` takes for a metric, and refuses as a loss in `fit`.
METRIC_NAMES = frozenset(
    "accuracy acc binary_accuracy categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy "
    "auc precision recall".split()
)


def loss_name(written: str) -> str:
    """The name of a loss, from a string, the name of a function or of a class."""
    name = written.rpartition(".")[2]
    if name in ("MSE", "MAE", "MAPE", "MSLE", "KLD", "BCE"):
        name = name.lower()
    elif name[:1].isupper():
        name = _WORD.sub("_", name.replace("KLD", "KlD")).lower()
    return _SHORT.get(name, name)
