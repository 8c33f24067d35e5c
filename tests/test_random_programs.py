"""Random programs, and what they once found: a claimed `none` is seen as None, a claimed `flows` never is.

The seeds are fixed, so a failure is a change of gradlint's. `python tests/random_programs.py SEED` prints a program.
A find that was a bug is kept as the least program that showed it, in `random_finds/`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from random_observation import Comparison, compare, judged, observed
from random_programs import program

FINDS = sorted((Path(__file__).parent / "random_finds").glob("*.py"))
SEEDS = range(120)
#: Below these the programs, or the analysis, have gone blind.
LEAST_ENDED = 0.9
LEAST_DECIDED = 0.9
CLAIMS = ("none", "flows")

_programs = {
    **{f"seed{seed}": program(seed) for seed in SEEDS},
    **{find.stem: find.read_text("utf-8") for find in FINDS},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Comparison, str | None]]:
    """Every program judged and run, with the exception that ended it."""
    folder = tmp_path_factory.mktemp("random")
    return {
        name: (compare(judged(_programs[name]), seen, ended=raises is None), raises)
        for name, seen, raises in observed(_programs.items(), folder)
    }


@pytest.mark.parametrize("name", _programs)
def test_every_verdict_is_what_tensorflow_does(name: str, runs: dict[str, tuple[Comparison, str | None]]) -> None:
    assert [str(each) for each in runs[name][0].disagreements] == [], f"\n{_programs[name]}"


def test_most_programs_end_and_most_of_their_sources_are_decided(
    runs: dict[str, tuple[Comparison, str | None]],
) -> None:
    random_runs = [run for name, run in runs.items() if name.startswith("seed")]
    ended = [comparison for comparison, raises in random_runs if raises is None]
    assert len(ended) >= LEAST_ENDED * len(random_runs)
    assert sum(each.decided for each in ended) >= LEAST_DECIDED * sum(each.sources for each in ended)
    verdicts = {verdict for each in ended for verdict, _ in each.claims}
    assert verdicts >= set(CLAIMS)


@pytest.mark.parametrize("find", FINDS, ids=lambda find: find.stem)
def test_a_find_says_what_it_is_about_and_runs_to_its_end(
    find: Path, runs: dict[str, tuple[Comparison, str | None]]
) -> None:
    assert ast.get_docstring(ast.parse(find.read_text("utf-8")))
    assert runs[find.stem][1] is None


def test_a_seed_always_gives_the_same_program() -> None:
    assert [program(seed) for seed in SEEDS] == [_programs[f"seed{seed}"] for seed in SEEDS]
