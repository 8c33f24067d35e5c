"""Conventions: what code that cannot be seen does, as far as its name tells.

Only warnings rest on these; a conclusion that needs one is marked `assumed`. Judged on the packages
of `tests/ecosystem.py`: names that hand out what was kept must win over names that compute.
"""

from __future__ import annotations

import re

#: Methods that hand out NumPy arrays, of whatever has them: Keras models, wrappers of them, estimators.
PREDICTS = frozenset({"predict", "predict_on_batch"})
_GETTER = re.compile(
    r"(vars?(?![a-z])|variables?|weights?|params?|parameters?)$|"
    r"^_*(build|make|create|get|load|init|from|new|construct|restore|setup|fetch|pop|next|find|read|list)(_|$|[A-Z])|"
    r"^[A-Z]"
)
_COMPUTES = re.compile(
    r"loss(?!es)|criterion|objective|entropy|divergence|closure|(squared|absolute|log)_?error|"
    r"(^|_)(mse|mae|nll|elbo|kl|bce)($|_)|"
    r"^_*(model|net|network|critic|actor|discriminator|generator|encoder|decoder|policy|forward|call|estimator|"
    r"gen|disc|enc|dec|value|teacher|student|backbone|classifier|regressor|predictor|projector|embedder)\d*_*$|"
    r"_(model|net|network|critic|actor)$",
    re.I,
)
_LOSS = re.compile(
    r"^_*(loss|loss_?(fn|fun|func|function|object|obj|op)|criterion|objective|mse|bce|cross_?entropy)"
    r"(_fn|_fun|_func)?\d*_*$",
    re.I,
)


def hands_out_objects(name: str) -> bool:
    """Whether a call of this name hands out variables or objects rather than a freshly computed tensor."""
    return bool(_GETTER.search(name))


def counts_steps(name: str) -> bool:
    """Whether a parameter of this name says how far the training is."""
    return name in ("epoch", "step", "iteration", "global_step", "epoch_number", "step_number", "current_epoch")


def computes_now(name: str) -> bool:
    """Whether a call of this name computes a loss or a forward pass at that very moment."""
    return bool(_COMPUTES.search(name)) and not hands_out_objects(name)


def is_loss_object(name: str) -> bool:
    """Whether a callable of this name computes a loss from what it is given, and holds no model."""
    return bool(_LOSS.match(name))
