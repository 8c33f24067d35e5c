"""The same Python in another spelling gets the same verdicts: all fixtures rewritten, and judged in one run."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import python_respelled
from fixtures_under_tensorflow import FIXTURES, expectations
from python_respelled import REWRITINGS, Rewriting, respelled, rows_of
from support import Run

Verdicts = Counter[tuple[str, int]]  # code, and the row of the program where the statement begins

#: Programs of which a verdict is still lost or added by a rewriting, and why. This may only shrink.
_OUTER = "an outer product is told from a mask by how it is written"
_HOOK = "a method that returns a constant, for others to do better, is known by how it is written"
_LISTED = "whether an author lists a variable is read off the text"
KNOWN: dict[str, dict[str, str]] = {
    "in_main": {"GL412/temperature_forgotten_and_filtered.py": "only the module may look at a weight without using it"},
    "in_single_steps": {
        "GL307/average_written_into_copies.py": "the old number that is read for the new one is taken for a use",
        "GL607/variable_stacked_and_not_listed.py": _LISTED,
        "correct/kernel_mask_of_rows_and_columns.py": _OUTER,
    },
    "temporaries_inlined": {
        "GL404/column_mask_on_vector_gradient.py": _OUTER,
        "GL404/losses_of_column_times_valid_row.py": _OUTER,
        "GL404/mask_of_helper_for_column_gradient.py": _OUTER,
        "GL404/weights_of_examples_in_train_step.py": _OUTER,
    },
    "functions_aliased": {
        "GL610/features_drawn_once_under_names_of_kernels.py": "random features are told by the functions in the text",
        "open_code/only_hook_returns_zero.py": _HOOK,
    },
    "methods_bound": {
        "GL432/code_of_keras_model_replaced_between_tasks.py": _LISTED,
        "open_code/variables_listed_for_whoever_trains.py": _LISTED,
    },
}


@pytest.mark.parametrize("rewriting", REWRITINGS, ids=lambda each: each.__name__)
def test_a_program_in_another_spelling_gets_the_same_verdicts(rewriting: Rewriting, run: Run) -> None:
    differing = {}
    puts_together = rewriting is python_respelled.temporaries_inlined
    for name, verdicts in _verdicts(rewriting, run).items():
        before, after = map(_codes, verdicts) if puts_together else verdicts
        if before != after:
            differing[name] = f"lost {sorted(before - after)}, added {sorted(after - before)}"

    known = KNOWN.get(rewriting.__name__, {})
    assert {name: told for name, told in differing.items() if name not in known} == {}
    assert set(differing) == set(known), "mended: to be taken off the list"


def _verdicts(rewriting: Rewriting, run: Run) -> dict[str, tuple[Verdicts, Verdicts]]:
    """Of each fixture that the rewriting changes: what is expected, and what is found in the rewritten text."""
    before: dict[str, Verdicts] = {}
    after: dict[str, Verdicts] = {}
    rows: dict[str, dict[int, int]] = {}
    for path in sorted(FIXTURES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        rewritten = respelled(text, rewriting)
        if rewritten is not None:
            name = path.relative_to(FIXTURES).as_posix()
            run.write(name, rewritten[0])
            before[name], after[name], rows[name] = _expected(text), Counter(), rewritten[1]
    found = run("check", "--no-cache", "--output-format", "json", ".").findings
    for finding in found:
        name = Path(finding["filename"]).resolve().relative_to(run.folder.resolve()).as_posix()
        after[name][finding["code"], rows[name].get(finding["location"]["row"], 0)] = 1
    return {name: (before[name], after[name]) for name in before}


def _expected(text: str) -> Verdicts:
    tree = ast.parse(text)
    rows = rows_of(tree, tree)
    return Counter({(code, rows.get(row, 0)): 1 for row, code in expectations(text)})


def _codes(verdicts: Verdicts) -> Verdicts:
    counted: Verdicts = Counter()
    for code, _ in verdicts:
        counted[code, 0] += 1
    return counted
