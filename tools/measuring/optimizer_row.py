"""The row of one optimizer class: which settings move masked-out entries when, and what else its constructor decides.

One 3x2 variable, loss sum((w-5)^2), learning rate 0.1, the gradient multiplied by a 0/1 mask, six steps. True is where
masked entries move: `from_start`, masked in all six steps; `late`, masked in the last three only; `alone`, late again,
with everything off that moves them without the setting.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import tensorflow as tf

from measuring.optimizer_classes import Shipped, identifiers

RATE, STEPS, LATE = 0.1, 6, 3
#: Far above rounding (an average of equal numbers is off by one bit), far below any true movement (0.0096).
MOVEMENT = 1e-5
#: Muon with `muon_c=0` is at 1e23 after three steps, where rounding alone keeps masked entries.
RUNAWAY = 100.0
#: Settings to try on every class; a constructor that does not take one raises, and the row goes without it.
SETTINGS: dict[str, dict[str, Any]] = {
    "momentum": {"momentum": 0.9},
    "nesterov": {"momentum": 0.9, "nesterov": True},
    "centered": {"centered": True},
    "amsgrad": {"amsgrad": True},
    "weight_decay": {"weight_decay": 0.01},
    "use_ema": {"use_ema": True, "ema_overwrite_frequency": 2},
    "gradient_accumulation_steps": {"gradient_accumulation_steps": 2},
    "clipnorm": {"clipnorm": 1.0},
    "global_clipnorm": {"global_clipnorm": 1.0},
    "clipvalue": {"clipvalue": 0.5},
    "loss_scale_factor": {"loss_scale_factor": 4.0},
    "l1_regularization_strength": {"l1_regularization_strength": 0.01},
    "l2_regularization_strength": {"l2_regularization_strength": 0.01},
    "l2_shrinkage_regularization_strength": {"l2_shrinkage_regularization_strength": 0.01},
}
ROW_MASK = np.array([[1, 1], [0, 0], [1, 1]], np.float32)
ENTRIES_MASK = np.array([[1, 0], [1, 1], [1, 1]], np.float32)
START = np.array([[1, 2], [3, 4], [5, 6]], np.float32)

Row = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A class and how to work with it."""

    shipped: Shipped
    signature: inspect.Signature
    keras_variable: bool = False  # it reads attributes that a tf.Variable lacks

    @property
    def wraps(self) -> str:
        """The parameter that takes another optimizer or a map of them, or empty."""
        required = [each for each in self.named if self.signature.parameters[each].default is inspect.Parameter.empty]
        return required[0] if required else ""

    @property
    def named(self) -> list[str]:
        """The parameters that have a name, in order."""
        return [
            each.name
            for each in self.signature.parameters.values()
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        ]

    @property
    def positional(self) -> list[str]:
        """The parameters that can be given by place, in order."""
        kinds = {name: self.signature.parameters[name].kind for name in self.named}
        return [name for name, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY]

    def made(self, **arguments: Any) -> Any:
        """An optimizer of the class; a wrapper has plain SGD inside."""
        if self.wraps:
            inner = import_module(f"{self.shipped.library}.optimizers").SGD(learning_rate=RATE)
            return self.shipped.cls((lambda variable: inner) if self.wraps == "optimizer_map" else inner, **arguments)
        return self.shipped.cls(**({"learning_rate": RATE} | arguments))

    def variable(self, **arguments: Any) -> Any:
        """A fresh variable, of the kind that the class can update."""
        return _library_variable("keras", **arguments) if self.keras_variable else tf.Variable(START, **arguments)


def row_of(shipped: Shipped) -> Row:
    """What is known of a class; raises what it raises where it cannot be used at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject = _subject(shipped)
        return {
            "library": shipped.library,
            "name": shipped.name,
            "symbols": list(shipped.symbols),
            "string_names": _string_names(shipped),
            "parameters": subject.positional,
            "defaults": _defaults(subject),
            "wraps": subject.wraps,
            "has_minimize": hasattr(shipped.cls, "minimize"),
            "accepts_lr": _succeeds(lambda: _with_lr(subject)),
            "needs_keras_variable": subject.keras_variable,
            "broadcasts_gradient": _broadcasts_gradient(subject),
            "unknown_variable_raises": _unknown_variable_raises(subject),
            "constraint_moves": _constraint_moves(subject),
            "exclude_from_weight_decay": _excludes_from_weight_decay(subject),
            "mixes_entries": _mixes_entries(subject),
            "settings": _settings(subject),
        }


def _subject(shipped: Shipped) -> Subject:
    subject = Subject(shipped, inspect.signature(shipped.cls))
    try:
        _masked(subject, {})
    except AttributeError as error:
        if "path" not in str(error):
            raise
        subject = Subject(shipped, subject.signature, keras_variable=True)
        _masked(subject, {})
    return subject


def _settings(subject: Subject) -> dict[str, Row]:
    """What each setting does, by name; `<parameter>_off` where 0 for a parameter stills what moves without it."""
    default = _verdicts(subject, {}, None)
    offs = _offs(subject, default)
    calm = _calm({"default": default} | offs)
    rows = {"default": default}
    for name, arguments in (SETTINGS | _flags(subject)).items():
        if _takes(subject, arguments):
            rows[name] = _verdicts(subject, arguments, calm)
    if not subject.wraps:
        rows["in_loss_scale_optimizer"] = _verdicts(subject, {}, calm, _loss_scale(subject.shipped.library))
    return rows | offs


def _flags(subject: Subject) -> dict[str, dict[str, bool]]:
    """Each yes-or-no parameter that is not tried anyway, with what its default is not."""
    found = {name: value for name, value in _defaults(subject).items() if isinstance(value, bool)}
    return {name: {name: not value} for name, value in found.items() if name not in SETTINGS}


def _offs(subject: Subject, default: Row) -> dict[str, Row]:
    """The numbers of which 0 makes masked entries stay, while the others go on moving."""
    rows: dict[str, Row] = {}
    base = _without_decay(subject)
    if base:
        rows["weight_decay_off"] = default = _verdicts(subject, base, None)
        if _takes(subject, {"weight_decay": None}):
            rows["weight_decay_none"] = _verdicts(subject, {"weight_decay": None}, None)
    for name, value in _defaults(subject).items():
        arguments = base | {name: 0}
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and value != 0
        if not is_number or name in ("learning_rate", "weight_decay") or not _takes(subject, arguments):
            continue
        verdicts = _verdicts(subject, arguments, None)
        stills = any(default[when] and not verdicts[when] for when in ("from_start", "late"))
        if stills and _masked(subject, arguments)[1]:
            rows[f"{name}_off"] = verdicts
    return rows


def _calm(rows: dict[str, Row]) -> dict[str, Any] | None:
    """The arguments with which no late mask moves anything, if there are any."""
    return next((row["arguments"] for row in rows.values() if not row["late"]), None)


def _verdicts(subject: Subject, arguments: dict[str, Any], calm: dict[str, Any] | None, wrapper: Any = None) -> Row:
    return {
        "arguments": arguments,
        "from_start": _masked(subject, arguments, wrapper=wrapper)[0],
        "late": _masked(subject, arguments, warm=LATE, wrapper=wrapper)[0],
        "alone": calm is not None and _masked(subject, calm | arguments, warm=LATE, wrapper=wrapper)[0],
    }


def _masked(
    subject: Subject, arguments: dict[str, Any], *, warm: int = 0, mask: Any = ROW_MASK, wrapper: Any = None
) -> tuple[bool, bool]:
    """Whether masked entries move, and whether the others do without running away."""
    optimizer = subject.made(**arguments)
    return _movements(optimizer if wrapper is None else wrapper(optimizer), subject.variable(), mask, warm)


def _movements(optimizer: Any, variable: Any, mask: Any, warm: int = 0) -> tuple[bool, bool]:
    for _ in range(warm):
        _step(optimizer, variable, 1.0)
    before = np.array(variable)
    for _ in range(STEPS - warm):
        _step(optimizer, variable, mask)
    change = np.abs(np.array(variable) - before)
    moved = ~(change <= MOVEMENT)  # NaN is a movement
    others = float(change[mask != 0].max())
    return bool(moved[mask == 0].any()), MOVEMENT < others < RUNAWAY


def _step(optimizer: Any, variable: Any, mask: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((_tensor(variable) - 5.0) ** 2)
        if scaled := getattr(optimizer, "scale_loss", None) or getattr(optimizer, "get_scaled_loss", None):
            loss = scaled(loss)
    gradients = [tape.gradient(loss, _handle(variable)) * mask]
    if hasattr(optimizer, "get_unscaled_gradients"):
        gradients = optimizer.get_unscaled_gradients(gradients)
    optimizer.apply_gradients(list(zip(gradients, [variable], strict=True)))


def _handle(variable: Any) -> Any:
    """The tf.Variable that a tape knows."""
    return variable if isinstance(variable, tf.Variable) else variable.value


def _tensor(variable: Any) -> Any:
    return tf.convert_to_tensor(_handle(variable))


def _library_variable(library: str, **arguments: Any) -> Any:
    """A variable as layers of the library make them: legacy Keras has none of its own."""
    if library != "keras":
        return tf.Variable(START, **arguments)
    import keras

    variable = keras.Variable(START, name="w")
    for name, value in arguments.items():
        setattr(variable, name, value)
    return variable


@cache
def _loss_scale(library: str) -> Any:
    return import_module(f"{library}.mixed_precision").LossScaleOptimizer


def _defaults(subject: Subject) -> dict[str, Any]:
    """The defaults that JSON can hold."""
    found = {name: subject.signature.parameters[name].default for name in subject.named}
    return {
        name: value for name, value in found.items() if value is None or isinstance(value, bool | int | float | str)
    }


def _string_names(shipped: Shipped) -> list[str]:
    return [word for word, cls in _got(shipped.library).items() if cls is shipped.cls]


@cache
def _got(library: str) -> dict[str, Any]:
    """The class that `optimizers.get` makes of each word."""
    get = import_module(f"{library}.optimizers").get
    found: dict[str, Any] = {}
    for word in identifiers(library):
        try:
            found[word] = type(get(word))
        except Exception:  # no optimizer of that name, or none without arguments: each library raises its own
            continue
    return found


def _takes(subject: Subject, arguments: dict[str, Any]) -> bool:
    """Whether the constructor takes the arguments."""
    return _succeeds(lambda: subject.made(**arguments))


def _succeeds(action: Callable[[], object]) -> bool:
    try:
        action()
    except Exception:  # each library raises its own for what it does not take
        return False
    return True


def _with_lr(subject: Subject) -> object:
    return subject.made(lr=RATE) if subject.wraps else subject.shipped.cls(lr=RATE)


def _broadcasts_gradient(subject: Subject) -> bool:
    """Whether a gradient of shape [2] updates a variable of shape [3, 2]."""
    variable = subject.variable()
    if not _succeeds(lambda: subject.made().apply_gradients([(tf.ones([2]), variable)])):
        return False
    return bool((np.array(variable) != START).all())


def _unknown_variable_raises(subject: Subject) -> bool:
    optimizer, first, second = subject.made(), subject.variable(), subject.variable()
    optimizer.apply_gradients([(tf.ones([3, 2]), first)])
    return not _succeeds(lambda: optimizer.apply_gradients([(tf.ones([3, 2]), second)]))


def _constraint_moves(subject: Subject) -> bool:
    """Whether a constraint moves masked entries, with everything else off that would."""
    library = subject.shipped.library
    constraint = import_module(f"{library}.constraints").UnitNorm(axis=1)
    return _movements(
        subject.made(**_without_decay(subject)), _library_variable(library, constraint=constraint), ROW_MASK
    )[0]


def _excludes_from_weight_decay(subject: Subject) -> bool | None:
    """Whether an excluded variable stays; None where there is no weight decay or nothing to exclude with."""
    arguments = SETTINGS["weight_decay"]
    if not hasattr(subject.shipped.cls, "exclude_from_weight_decay") or "weight_decay" not in subject.named:
        return None
    optimizer, variable = subject.made(**arguments), subject.variable()
    optimizer.exclude_from_weight_decay(var_list=[variable])
    return not _movements(optimizer, variable, ROW_MASK)[0]


def _mixes_entries(subject: Subject) -> bool:
    """Whether entries move from the start that are masked one by one, though whole rows stay."""
    arguments = _without_decay(subject)
    return not _masked(subject, arguments)[0] and _masked(subject, arguments, mask=ENTRIES_MASK)[0]


def _without_decay(subject: Subject) -> dict[str, Any]:
    return {"weight_decay": 0} if _defaults(subject).get("weight_decay") else {}
