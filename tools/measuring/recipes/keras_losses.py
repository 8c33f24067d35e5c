"""keras.losses.* and keras.metrics.*: functions, loss classes (built without arguments, called) and metric classes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from measuring.recipe import Recipe
from measuring.recipes.short import VECTOR, fixed, floats, labels, recipe

PROBABILITIES = floats(3, 4, domain="unit")
SCORES = floats(3, 4)
SEQUENCES = floats(2, 5, 4)
LABELS = np.array([[1, 2], [2, 3]])
CLASSES = labels(0, 1, 3)
PAIRS, EMBEDDINGS = labels(0, 0, 1, 1, 2, 2), floats(6, 4)
SIGNS = fixed([[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, -1, 1]])
WITH_PROBABILITIES = (
    "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy dice "
    "kl_divergence tversky"
).split()
WITH_SCORES = (
    "categorical_hinge cosine_similarity hinge huber log_cosh mean_absolute_error mean_absolute_percentage_error "
    "mean_squared_error mean_squared_logarithmic_error poisson squared_hinge"
).split()
WITH_CLASSES = "sparse_categorical_crossentropy".split()
LOSS_CLASSES = {
    "BinaryCrossentropy": PROBABILITIES,
    "BinaryFocalCrossentropy": PROBABILITIES,
    "CategoricalCrossentropy": PROBABILITIES,
    "CategoricalFocalCrossentropy": PROBABILITIES,
    "CategoricalHinge": SCORES,
    "CosineSimilarity": SCORES,
    "Dice": PROBABILITIES,
    "Hinge": SCORES,
    "Huber": SCORES,
    "KLDivergence": PROBABILITIES,
    "LogCosh": SCORES,
    "MeanAbsoluteError": SCORES,
    "MeanAbsolutePercentageError": SCORES,
    "MeanSquaredError": SCORES,
    "MeanSquaredLogarithmicError": SCORES,
    "Poisson": SCORES,
    "SquaredHinge": SCORES,
    "Tversky": PROBABILITIES,
}


def built(loss: Any, y_true: Any, y_pred: Any) -> Any:
    """What an instance of a loss class returns."""
    return loss()(y_true, y_pred)


def updated(metric: Any, y_true: Any, y_pred: Any, **given: Any) -> Any:
    """What an instance of a metric class returns after one update."""
    instance = _instance(metric, **given)
    instance.update_state(y_true, y_pred)
    return instance.result()


def updated_with_values(metric: Any, values: Any) -> Any:
    """The same for metrics of one value."""
    instance = _instance(metric)
    instance.update_state(values)
    return instance.result()


@cache
def _instance(metric: Any, **given: Any) -> Any:
    """The same one for eager and traced code: metrics make variables, which a traced function must not do."""
    return metric(**given)


RECIPES: dict[str, list[Recipe]] = {
    f"keras.losses.{name}": [recipe(y_true=VECTOR, y_pred=VECTOR)] for name in WITH_SCORES
}
RECIPES |= {f"keras.losses.{name}": [recipe(y_true=PROBABILITIES, y_pred=PROBABILITIES)] for name in WITH_PROBABILITIES}
RECIPES |= {f"keras.losses.{name}": [recipe(y_true=CLASSES, y_pred=PROBABILITIES)] for name in WITH_CLASSES}
RECIPES |= {
    f"keras.losses.{name}": [recipe(call_with=built, y_true=shape, y_pred=shape)]
    for name, shape in LOSS_CLASSES.items()
}
RECIPES |= {
    "keras.losses.SparseCategoricalCrossentropy": [recipe(call_with=built, y_true=CLASSES, y_pred=PROBABILITIES)],
    "keras.losses.CategoricalGeneralizedCrossEntropy": [recipe(call_with=built, y_true=CLASSES, y_pred=PROBABILITIES)],
    "keras.losses.categorical_generalized_cross_entropy": [recipe(y_true=CLASSES, y_pred=PROBABILITIES, q=0.5)],
    "keras.losses.Circle": [recipe(call_with=built, y_true=PAIRS, y_pred=EMBEDDINGS)],
    "keras.losses.circle": [recipe(y_true=PAIRS, y_pred=EMBEDDINGS)],
    "keras.losses.CTC": [recipe(call_with=built, y_true=LABELS, y_pred=SEQUENCES)],
    "keras.losses.ctc": [recipe(y_true=LABELS, y_pred=SEQUENCES)],
    "keras.losses.Hinge": [recipe(call_with=built, y_true=SIGNS, y_pred=PROBABILITIES)],
    "keras.losses.SquaredHinge": [recipe(call_with=built, y_true=SIGNS, y_pred=PROBABILITIES)],
    "keras.losses.CategoricalHinge": [recipe(call_with=built, y_true=PROBABILITIES, y_pred=SCORES)],
    "keras.metrics.sparse_categorical_accuracy": [recipe(y_true=CLASSES, y_pred=PROBABILITIES)],
    "keras.metrics.sparse_top_k_categorical_accuracy": [recipe(y_true=CLASSES, y_pred=PROBABILITIES, k=2)],
    "keras.metrics.categorical_accuracy": [recipe(y_true=PROBABILITIES, y_pred=PROBABILITIES)],
    "keras.metrics.binary_accuracy": [recipe(y_true=PROBABILITIES, y_pred=PROBABILITIES)],
    "keras.metrics.top_k_categorical_accuracy": [recipe(y_true=PROBABILITIES, y_pred=PROBABILITIES, k=2)],
    "keras.metrics.concordance_correlation": [recipe(y_true=SCORES, y_pred=SCORES)],
    "keras.metrics.pearson_correlation": [recipe(y_true=SCORES, y_pred=SCORES)],
}
_GIVEN: dict[str, dict[str, Any]] = {
    "IoU": {"num_classes": 2, "target_class_ids": (0,)},
    "MeanIoU": {"num_classes": 2},
    "OneHotIoU": {"num_classes": 2, "target_class_ids": (0,)},
    "OneHotMeanIoU": {"num_classes": 2},
    "PrecisionAtRecall": {"recall": 0.5},
    "RecallAtPrecision": {"precision": 0.5},
    "SensitivityAtSpecificity": {"specificity": 0.5},
    "SpecificityAtSensitivity": {"sensitivity": 0.5},
}
RECIPES |= {
    f"keras.metrics.{name}": [
        recipe(
            call_with=updated,
            y_true=floats(3, 2, domain="unit"),
            y_pred=floats(3, 2, domain="unit"),
            **given,
        )
    ]
    for name, given in _GIVEN.items()
}
