"""What `gradlint flow` says of each construct of Python and TensorFlow, and that TensorFlow says the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flow_programs import Program, all_programs, flow
from observer import Observation, observe
from support import Run

PROGRAMS = all_programs()


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_flow_says_what_is_marked(program: Program, run: Run) -> None:
    said = flow(run, program.text)

    assert said
    assert {(each.cut, each.cause) for each in said if each.verdict == "none"} == program.cuts
    assert {each.row for each in said if each.verdict == "unknown"} == program.undecided


@pytest.fixture(scope="module")
def seen_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Program], Observation]:
    """All programs are run together; under pytest-xdist each when it is asked for."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("programs")
    paths = {program: folder / f"{number}.py" for number, program in enumerate(PROGRAMS)}
    for program, path in paths.items():
        path.write_text(program.text, encoding="utf-8")
    together: dict[Path, Observation] = {}

    def seen(program: Program) -> Observation:
        if "PYTEST_XDIST_WORKER" in os.environ:
            return dict(observe([paths[program]]))[paths[program]]
        if not together:
            together.update(observe(paths.values()))
        return together[paths[program]]

    return seen


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_tensorflow_says_what_is_marked(program: Program, seen_in: Callable[[Program], Observation]) -> None:
    seen = seen_in(program)

    assert seen.raises is None, seen.message
    assert bool(seen.none) is program.starves
    assert seen.flows or program.starves
