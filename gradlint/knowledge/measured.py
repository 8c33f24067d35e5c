"""Measured functions: what `tools/measure_ops.py` saw of each public function, from `measured_ops.json`.

The flow engine and `gradlint ops` ask here. Nothing is read before the first question, and a symbol becomes objects
when it is asked for; without TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from gradlint.verdicts import Verdict

#: Other ways to write the same namespaces, the longest first.
_SPELLINGS = (
    ("tensorflow.compat.v2.", "tf."),
    ("tensorflow.", "tf."),
    ("tf.compat.v2.", "tf."),
    ("tf.keras.", "keras."),
    ("keras.api.", "keras."),
    ("tf.losses.", "keras.losses."),
    ("tf.metrics.", "keras.metrics."),
)
_NEAR = 3


class DtypeClass(Enum):
    """What kind of numbers an output holds."""

    FLOAT = "float"
    COMPLEX = "complex"
    INTEGER = "integer"
    BOOL = "bool"
    STRING = "string"
    NUMPY = "numpy"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class MeasuredArgument:
    """What became of one watched argument.

    `name` is the parameter, with an element (`xs[0]`, `sp_input.values`) and, in brackets, what was special about the
    call (`x (to int32)`). `also` is the same argument by its place (`arg0`), where it is known by that name too.
    """

    name: str
    verdict: Verdict
    op: str = ""
    note: str = ""
    outputs: tuple[Verdict, ...] = ()
    graph: Verdict | None = None  # under tf.function, where that differs
    also: str = ""

    @property
    def parameter(self) -> str:
        """The name without element and brackets."""
        return self.name.split(" ", 1)[0].split("[", 1)[0].removesuffix(".values")


@dataclass(frozen=True, slots=True)
class MeasuredSymbol:
    """What was measured of one function. `missing` is why nothing was, or empty."""

    symbol: str
    aliases: tuple[str, ...] = ()
    arguments: tuple[MeasuredArgument, ...] = ()
    outputs: tuple[DtypeClass, ...] = ()
    parameters: tuple[str, ...] = ()  # what can be given by place, in the order of the signature
    missing: str = ""

    def verdict_of(self, parameter: str | int) -> Verdict | None:
        """The verdict of a parameter by name or place, or None where it was not measured or hangs on its value.

        Elements of a list and special calls count with it: `x (to int32)` and `x (to float16)` together say nothing.
        """
        if isinstance(parameter, int):
            if parameter >= len(self.parameters):
                return None
            parameter = self.parameters[parameter]
        rows = [each for each in self.arguments if each.parameter == parameter]
        plain = [each for each in rows if "(" not in each.name] or rows
        verdicts = {each.verdict for each in plain}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def version(self) -> str:
        """Of what was measured."""
        versions = _table()["versions"]
        tensorflow = f"tensorflow {versions['tensorflow']}"
        return f"keras {versions['keras']}, {tensorflow}" if self.symbol.startswith("keras.") else tensorflow


def measured(symbol: str) -> MeasuredSymbol | None:
    """What was measured of a function, whichever of its names it is called by; None when that is no name of any."""
    canonical = _canonical().get(spelled(symbol))
    return None if canonical is None else _made(canonical)


def spelled(symbol: str) -> str:
    """A symbol in the spelling of the table: `tf.math.round`, `keras.ops.sum`."""
    for written, table in _SPELLINGS:
        if symbol.startswith(written):
            symbol = table + symbol[len(written) :]
    return symbol


def all_measured() -> tuple[MeasuredSymbol, ...]:
    """Every function of the table that could be measured, by symbol."""
    return tuple(_made(symbol) for symbol in _table()["symbols"])


def by_ending(word: str) -> tuple[str, ...]:
    """The symbols of all functions with a name that ends in these parts: `ops.sum`, `binary_crossentropy`."""
    found = {symbol for name, symbol in _canonical().items() if name.endswith(f".{word}")}
    return tuple(sorted(found))


def near_matches(symbol: str) -> tuple[str, ...]:
    """Names that a person may have meant, the nearest first."""
    import difflib

    word = spelled(symbol)
    space, _, last = word.rpartition(".")
    same = [name for name in _canonical() if name.rpartition(".")[2] == last]
    near = difflib.get_close_matches(word, _canonical(), _NEAR, 0.75)
    inside = [f"{space}.{name}" for name in difflib.get_close_matches(last, _names_in(space), _NEAR, 0.6)]
    found: dict[str, str] = {}  # one name per function
    for name in (*_by_likeness(word, same), *inside, *near):
        found.setdefault(_canonical()[name], name)
    return tuple(found.values())[:_NEAR]


def _by_likeness(word: str, names: list[str]) -> list[str]:
    import difflib

    return sorted(names, key=lambda name: (-difflib.SequenceMatcher(None, word, name).ratio(), name))


def _names_in(space: str) -> list[str]:
    return [name.rpartition(".")[2] for name in _canonical() if name.rpartition(".")[0] == space]


@cache
def _table() -> dict[str, Any]:
    import json

    table: dict[str, Any] = json.loads(Path(__file__).with_name("measured_ops.json").read_bytes())
    return table


@cache
def _canonical() -> dict[str, str]:
    """The symbol of each name."""
    table = _table()
    names = {symbol: symbol for symbol in (*table["symbols"], *table["missing"])}
    for symbol, row in table["symbols"].items():
        for alias in row.get("aliases", ()):
            names[alias] = symbol
    return names


@cache
def _made(symbol: str) -> MeasuredSymbol:
    table = _table()
    if symbol in table["missing"]:
        return MeasuredSymbol(symbol, missing=table["missing"][symbol])
    row = table["symbols"][symbol]
    more = row.get("more", {})
    arguments = tuple(_argument(name, verdict, more.get(name, {})) for name, verdict in row["arguments"].items())
    return MeasuredSymbol(
        symbol,
        tuple(row.get("aliases", ())),
        arguments,
        tuple(DtypeClass(each) for each in row["outputs"]),
        tuple(row["parameters"]),
    )


def _argument(name: str, verdict: str, more: dict[str, Any]) -> MeasuredArgument:
    graph = more.get("graph")
    return MeasuredArgument(
        name,
        Verdict(verdict),
        more.get("op", ""),
        more.get("note", ""),
        tuple(Verdict(each) for each in more.get("outputs", ())),
        None if graph is None else Verdict(graph),
        more.get("also", ""),
    )
