"""Measured optimizers: what `tools/measure_optimizers.py` saw of each class, from `measured_optimizers.json`.

Rules about masked gradients and about optimizer calls ask here. Nothing is read before the first question; without
TensorFlow. What an optimizer does to a gradient's flow is no question for this module: it comes after the tape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

#: Other ways to write the same namespaces.
_SPELLINGS = (
    ("tf.", "tensorflow."),
    ("tensorflow.compat.v2.", "tensorflow."),
    ("keras.api.", "keras."),
)
_OFF = "_off"
_NONE = "_none"


@dataclass(frozen=True, slots=True)
class MeasuredSetting:
    """Whether masked entries move with these constructor arguments.

    `alone` is `late` with everything off that moves them without the setting, false where that cannot be had.
    """

    arguments: Mapping[str, object]
    from_start: bool  # masked in every step
    late: bool  # masked after some steps that were not
    alone: bool = False

    def moves(self, *, late: bool) -> bool:
        """The one or the other."""
        return self.late if late else self.from_start


@dataclass(frozen=True, slots=True)
class MeasuredOptimizer:
    """What was measured of one class. A wrapper was measured around plain SGD.

    `settings` has `default`, then what was tried by name; `<parameter>_off` where 0 stills what moves without it.
    """

    library: str  # keras or tf_keras
    name: str
    symbols: tuple[str, ...]
    string_names: tuple[str, ...]  # what `optimizers.get` of its library knows it by
    parameters: tuple[str, ...]  # what can be given by place, in the order of the signature
    defaults: Mapping[str, object]
    wraps: str  # the parameter that takes another optimizer or a map of them, or empty
    has_minimize: bool
    accepts_lr: bool
    needs_keras_variable: bool
    broadcasts_gradient: bool  # a smaller gradient updates a variable instead of raising
    unknown_variable_raises: bool
    constraint_moves: bool
    exclude_from_weight_decay: (
        bool | None
    )  # an excluded variable stays; None: no weight decay, or nothing to exclude with
    mixes_entries: bool  # entries masked one by one move from the start, though whole rows stay
    settings: Mapping[str, MeasuredSetting]

    @property
    def symbol(self) -> str:
        """The first of its names."""
        return self.symbols[0]

    def moves(self, settings: Mapping[str, object], *, late: bool) -> tuple[str, ...]:
        """The settings in force that make masked entries move, given what the constructor was given.

        What moves them without any setting is called `moments` where only a late mask lets it, `default` otherwise.
        A value that is no number is taken for one that moves nothing. What is inside a wrapper is not asked.
        """
        effective = {**self.defaults, **settings}
        bare = self.settings.get(f"weight_decay{_OFF}", self.settings["default"])
        stilled = any(not _is_on(effective[name]) and not off.moves(late=late) for name, off in self._stills())
        found = ["default" if bare.from_start else "moments"] if bare.moves(late=late) and not stilled else []
        seen: list[Mapping[str, object]] = []
        for name, setting in self._causes(late=late):
            in_force = all(_agrees(effective.get(each), wanted) for each, wanted in setting.arguments.items())
            if in_force and not any(part.keys() <= setting.arguments.keys() for part in seen):
                found.append(name)
                seen.append(setting.arguments)
        return tuple(found)

    def _stills(self) -> Iterator[tuple[str, MeasuredSetting]]:
        """The parameters of which 0 stills what moves by default, weight decay apart, which is a cause of its own."""
        for name, setting in self.settings.items():
            if name.endswith(_OFF) and name != f"weight_decay{_OFF}":
                yield name.removesuffix(_OFF), setting

    def _causes(self, *, late: bool) -> list[tuple[str, MeasuredSetting]]:
        """The settings that move something of themselves, few arguments first: `momentum` before `nesterov`."""
        bare = self.settings.get(f"weight_decay{_OFF}", self.settings["default"])
        part_of_default = {name for name, _ in self._stills()}
        found = [
            (name, setting)
            for name, setting in self.settings.items()
            if setting.arguments and not name.endswith((_OFF, _NONE))
            if not part_of_default & setting.arguments.keys()
            if (setting.from_start and not bare.from_start) or (late and setting.alone)
        ]
        return sorted(found, key=lambda each: len(each[1].arguments))


def optimizer_of(symbol: str) -> MeasuredOptimizer | None:
    """What was measured of a class, whichever of its public names it is called by; None when that is no name of any."""
    for written, table in _SPELLINGS:
        if symbol.startswith(written):
            symbol = table + symbol[len(written) :]
    return _by_symbol().get(symbol)


def optimizer_named(text: str) -> MeasuredOptimizer | None:
    """The class that `compile` and `optimizers.get` of Keras 3 make of a string; None when they raise."""
    return _by_string_name().get(text) or _by_string_name().get(text.lower())


def all_optimizers() -> tuple[MeasuredOptimizer, ...]:
    """Every class of the table, by symbol."""
    return tuple(_made(row) for row in _table()["optimizers"].values())


@cache
def _table() -> dict[str, Any]:
    import json

    table: dict[str, Any] = json.loads(Path(__file__).with_name("measured_optimizers.json").read_bytes())
    return table


@cache
def _by_symbol() -> dict[str, MeasuredOptimizer]:
    return {symbol: each for each in all_optimizers() for symbol in each.symbols}


@cache
def _by_string_name() -> dict[str, MeasuredOptimizer]:
    return {name: each for each in all_optimizers() if each.library == "keras" for name in each.string_names}


def _made(row: dict[str, Any]) -> MeasuredOptimizer:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    fields["settings"] = {name: MeasuredSetting(**each) for name, each in row["settings"].items()}
    return MeasuredOptimizer(**fields)


def _agrees(value: object, wanted: object) -> bool:
    """Whether a value does what the measured one does: any number but 0 is like any other."""
    return _is_on(value) if wanted else value is False


def _is_on(value: object) -> bool:
    return isinstance(value, int | float) and value != 0
