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
_LAZY = "a generator that has a name counts as unknown"
_WORDS = "what is worth running is decided by words of the text"
_ANNOTATED = "an annotated assignment is not looked at like another one"
_OUTER = "an outer product of gradients is told from a mask by how it is written"
_HOOK = "a method that returns a constant, for others to do better, is known by how it is written"
KNOWN: dict[str, dict[str, str]] = {
    "in_main": {"GL412/temperature_forgotten_and_filtered.py": "only the module may look at a weight without using it"},
    "in_single_steps": {
        "GL201/generator_function_yields_numpy.py": _LAZY,
        "GL201/triplets_in_python_lists.py": _LAZY,
        "GL204/distribution_stopped_by_helper_for_several.py": _LAZY,
        "GL205/parameters_replaced_in_named_tuple.py": _LAZY,
        "GL307/average_written_into_copies.py": "the old number that is read for the new one is taken for a use",
        "GL411/pairs_counted_before_apply.py": _LAZY,
        "GL440/losses_of_each_layer_added_by_loop.py": _LAZY,
        "correct/fisher_information_of_gradient.py": _OUTER,
    },
    "temporaries_inlined": {
        "GL404/column_mask_on_vector_gradient.py": _OUTER,
        "GL404/losses_of_column_times_valid_row.py": _OUTER,
        "GL404/mask_of_helper_for_column_gradient.py": _OUTER,
        "GL404/weights_of_examples_in_train_step.py": _OUTER,
    },
    "annotated": {
        "GL205/clipped_by_loop_name.py": _ANNOTATED,
        "GL205/gradients_added_to_loop_name.py": _ANNOTATED,
        "GL205/name_of_element_bound_to_step.py": _ANNOTATED,
        "GL205/target_entries_blended_by_loop_name.py": _ANNOTATED,
        "GL205/target_network_blended_by_loop_name.py": _ANNOTATED,
        "GL402/clipped_list_of_helper_never_read.py": _ANNOTATED,
        "GL402/masked_gradient_never_read.py": _ANNOTATED,
        "GL402/pruned_gradients_of_tf_function_never_read.py": _ANNOTATED,
        "GL402/unscaled_gradients_never_read.py": _ANNOTATED,
        "GL442/train_step_without_optimizer.py": _ANNOTATED,
        "GL602/pooled_convolution_not_read.py": _ANNOTATED,
        "GL602/second_layer_skipped.py": _ANNOTATED,
        "correct/each_array_of_weights_scaled.py": _ANNOTATED,
        "correct/lazy_terms_made_before_tape.py": _ANNOTATED,
    },
    "functions_aliased": {
        "GL110/tf_gradients_at_top_level.py": _WORDS,
        "GL110/tf_gradients_in_method.py": _WORDS,
        "open_code/only_hook_returns_zero.py": _HOOK,
        "situations/tf_gradients_in_eager_method_faulty.py": _WORDS,
    },
    "methods_bound": {
        "GL302/centre_moved_by_row_that_helper_returns.py": _WORDS,
        "GL434/loss_minimized_by_sgd.py": _WORDS,
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
