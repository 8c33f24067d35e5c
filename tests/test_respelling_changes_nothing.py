"""Other spellings of the same operations, and other names, change no verdict: all fixtures, a rewriting at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import respelling
from renaming import renamed
from rewritten_fixtures import differing

#: `mask * x` of booleans casts in silence, which is what GL210 tells of; every function refuses them.
OPERATOR_ALONE = {"GL210"}
#: Told by a name, which the finding says: a teacher.
TOLD_BY_NAME = {"GL425"}


@pytest.mark.parametrize(
    ("respell", "least"),
    [
        (respelling.operators_as_functions, 1000),
        (respelling.operators_of_math, 1000),
        (respelling.functions_of_keras, 1000),
        (respelling.functions_as_operators, 20),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_other_spellings_of_operations_change_nothing(
    respell: Callable[[str], str], least: int, tmp_path: Path
) -> None:
    assert differing(respell, tmp_path, least=least, without=OPERATOR_ALONE) == {}


def test_other_names_change_nothing(tmp_path: Path) -> None:
    assert differing(renamed, tmp_path, without=TOLD_BY_NAME) == {}
