"""Alternatives: what to write in place of a function through which no gradient comes.

The entries are in `alternative_code.py`; `tests/test_measured_ops.py` runs each piece of code under TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradlint.knowledge.alternative_code import BY_NAME, BY_SYMBOL, OWN_ENTRIES
from gradlint.knowledge.measured import measured


@dataclass(frozen=True, slots=True)
class Alternative:
    """Code that lets gradients pass, and in a few words what it is."""

    code: str
    words: str

    def __str__(self) -> str:
        return f"write `{self.code}` ({self.words})"


def instead_of(symbol: str) -> str | None:
    """The same in words, for the `instead` of a finding."""
    found = alternative_to(symbol)
    return None if found is None else str(found)


def alternative_to(symbol: str) -> Alternative | None:
    """What to use in place of a function, or None where nothing is known or nothing is needed."""
    known = measured(symbol)
    if known is None:
        return None
    keras = known.symbol.startswith("keras.")
    space, _, name = known.symbol.rpartition(".")
    entry = BY_SYMBOL.get(known.symbol) or (None if space in OWN_ENTRIES else BY_NAME.get(name))
    if entry is None:
        return None
    tensorflow_code, words, *keras_code = entry
    code = keras_code[0] if keras and keras_code else tensorflow_code
    return Alternative(code.format(f=known.symbol, ops="keras.ops" if keras else "tf"), words)
