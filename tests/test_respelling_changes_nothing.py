"""Other spellings of the same operations change no verdict: over all fixtures, a rewriting at a time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

import respelling
from support import ROOT

FIXTURES = ROOT / "fixtures"
EXPECT = re.compile(r"#\s*expect:\s*(GL\d{3}(?:\s*,\s*GL\d{3})*)")
#: `mask * x` of booleans casts in silence, which is what GL210 tells of; every function refuses them.
OPERATOR_ALONE = {"GL210"}
#: A spelling that applies to fewer programs than this is no test of anything.
LEAST = {"functions_as_operators": 20}


@pytest.mark.parametrize(
    "respell",
    [
        respelling.operators_as_functions,
        respelling.operators_of_math,
        respelling.functions_of_keras,
        respelling.functions_as_operators,
    ],
    ids=lambda each: each.__name__,
)
def test_verdicts_stay(respell: Callable[[str], str], tmp_path: Path) -> None:
    expected: dict[str, set[tuple[int, str]]] = {}
    for program in sorted(FIXTURES.rglob("*.py")):
        text = program.read_text(encoding="utf-8")
        respelt = respell(text)
        marks = {
            (row, code)
            for row, line in enumerate(text.splitlines(), start=1)
            for match in EXPECT.finditer(line)
            for code in re.split(r"\s*,\s*", match[1])
        }
        if respelt == text or {code for _, code in marks} & OPERATOR_ALONE:
            continue
        name = program.relative_to(FIXTURES).as_posix()
        expected[name] = marks
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(respelt, encoding="utf-8")
    assert len(expected) >= LEAST.get(respell.__name__, 1000)

    run = subprocess.run(
        [sys.executable, "-m", "gradlint", "check", "--isolated", "--output-format", "json", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for finding in json.loads(run.stdout):
        found[Path(finding["filename"]).as_posix()].add((finding["location"]["row"], finding["code"]))

    assert {name: found[name] for name, marks in expected.items() if found[name] != marks} == {}
