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

#: What is called so is meant to stay as it is.
_STAYS = re.compile(
    r"(?:^|[_.\W])(?:teacher|target|ema(?:_|$)|frozen|pretrain|base|backbone|random|fixed|proj|freq|noise|codes?(?:_|$)|"
    r"codebook|hash|mask|centroid|prior|old(?:_|$)|reference|perceptual|feature|extractor|vgg|basis|anchor|bins|edges)",
    re.I,
)
#: What a weight is called that a loss is to train.
_TO_TRAIN = re.compile(
    r"(?:^|[_.\W])(?:(?:w|W|b|pos|scale)(?![a-zA-Z])|weights?|kernel|bias|embedding|table|position|gamma|beta|alpha|"
    r"matrix|query|key|value|gate|proto|center|cluster)",
)
#: What is called so is trained by nobody but its own training: it says what others are to compute.
_TEACHER = re.compile(
    r"(?:^|_)(?:teacher|ema|momentum_(?:encoder|net|model)|frozen|target_(?:net|network|q|critic|actor|policy))(?:_|$)"
)
#: What is called so holds numbers that no loss is to change.
_KEPT_NUMBERS = re.compile(
    r"anchor|mask|mean|std|var$|count|step|total|state|hidden|buffer|freq|index|grid|prior|const", re.I
)
#: What is run for each batch is called so.
_STEP = re.compile(r"step|batch|update|iteration", re.I)
#: What stands for another network by plan: gradients of a copy move the original (A3C, first-order MAML).
_OF_ANOTHER = re.compile(
    r"copy|clone|fast|local|worker|target|old|inner|task|global|meta|adapt|shadow|server|client|master", re.I
)
#: Parts that a text names at most one of: gradients of the one are none of the other.
_ROLES = re.compile(r"student|teacher|generator|discriminator|critic|actor|encoder|decoder|policy|value|gen|disc", re.I)
#: A number that a graph keeps on purpose: how often it was traced.
_COUNTS_TRACES = re.compile(r"trac|compil|retrac|call", re.I)
#: A test of which library is installed.
_VERSIONS = re.compile(r"version|keras_?v?[23]|is_keras|legacy|hasattr|tf_?v?[12]\b", re.I)
#: What is called so is there to train, even where nothing in sight is applied.
_TRAINS = re.compile(r"train|update|optimi[sz]e|learn|fit", re.I)
#: What is called so asks for gradients to look at them.
_LOOKS = re.compile(r"^test|check|bench|profile|debug|inspect|trace|warm", re.I)
_PREDICTIONS = frozenset("y_pred y_hat yhat pred preds prediction predictions logits y_pred_ probs".split())
_TARGETS = frozenset("y_true y_target labels label target targets y_true_ ground_truth y_batch_true".split())


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


def stays_as_it_is(name: str) -> bool:
    """Whether what is called so is meant to stay as it is."""
    return bool(_STAYS.search(name))


def is_to_be_trained(name: str) -> bool:
    """Whether a weight of this name is one that a loss is to train."""
    return bool(_TO_TRAIN.search(name))


def is_teacher(name: str) -> bool:
    """Whether what is called so says what another network is to compute."""
    return bool(_TEACHER.search(name))


def keeps_numbers(name: str) -> bool:
    """Whether a variable of this name holds numbers that no loss is to change."""
    return bool(_KEPT_NUMBERS.search(name))


def is_run_per_batch(name: str) -> bool:
    """Whether a function of this name is run for each batch."""
    return bool(_STEP.search(name))


def stands_for_another(text: str) -> bool:
    """Whether a network that is called so stands for another one by plan."""
    return bool(_OF_ANOTHER.search(text))


def roles_in(text: str) -> list[str]:
    """The parts that are named in a text: student, critic ..."""
    return [each.lower() for each in _ROLES.findall(text)]


def counts_tracings(text: str) -> bool:
    """Whether a number of this name counts how often a function was traced."""
    return bool(_COUNTS_TRACES.search(text))


def names_version(text: str) -> bool:
    """Whether a test asks which library is installed."""
    return bool(_VERSIONS.search(text))


def trains(name: str) -> bool:
    """Whether a function of this name is there to train."""
    return bool(_TRAINS.search(name))


def looks_at_gradients(name: str) -> bool:
    """Whether a function of this name asks for gradients to look at them."""
    return bool(_LOOKS.search(name))


def is_prediction(name: str) -> bool:
    """Whether a value of this name is what a model computed."""
    return name in _PREDICTIONS


def is_target(name: str) -> bool:
    """Whether a value of this name is what a model is to compute."""
    return name in _TARGETS
