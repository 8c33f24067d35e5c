"""Comments that silence findings, and comments that should and do not.

A finding of GL101 is made up for every call of `fault`, so that these tests hold whatever the rules are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

import gradlint.engine
from gradlint.config import Settings
from gradlint.flow import FlowResult
from gradlint.flow.project import Project
from gradlint.flow.sources import Source
from gradlint.rule import Finding, Place, Rule, Severity, tell_that_rules_changed
from support import check

pytestmark = pytest.mark.usefixtures("_every_call_of_fault_is_one")


class Called:
    """The event: `fault(...)` is called."""

    def __init__(self, call: ast.Call) -> None:
        self.place = Place(call.lineno, call.col_offset + 1, call.end_lineno or 0, (call.end_col_offset or 0) + 1)


def analyse(source: Source, settings: Settings, project: Project) -> FlowResult:
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    return FlowResult(
        [Called(call) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "fault"], []
    )


RULES = (
    Rule("GL101", "first-fault", Severity.ERROR, "0", "", Called, lambda event: Finding(event.place, "first")),
    Rule("GL102", "second-fault", Severity.ERROR, "0", "", Called, lambda event: Finding(event.place, "second")),
)


@pytest.fixture
def _every_call_of_fault_is_one(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from gradlint import run_rules, selection

    about_comments = (run_rules.UNUSED_SUPPRESSION, run_rules.INVALID_SUPPRESSION, run_rules.SYNTAX_ERROR)
    monkeypatch.setattr(selection, "all_rules", lambda: (*about_comments, *RULES))
    for module in (gradlint.engine, selection):
        monkeypatch.setattr(module, "rules_under", lambda _: (*about_comments, *RULES))
    monkeypatch.setattr(gradlint.engine, "analyse", analyse)
    tell_that_rules_changed()
    yield
    tell_that_rules_changed()


def found(body: str, settings: Settings | None = None) -> list[tuple[int, str]]:
    """Row (that of the first line of the body is 1) and code of each finding."""
    return [(finding.place.row, finding.code) for finding in check(body + "\nimport keras\n", settings)]


BOTH = [(1, "GL101"), (1, "GL102")]


def test_without_a_comment_both_findings_are_there() -> None:
    assert found("fault()") == BOTH


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# gradlint: ignore[GL101]", [(1, "GL102")]),
        ("# gradlint: ignore[first-fault]", [(1, "GL102")]),
        ("# gradlint: ignore[GL101, second-fault]", []),
        ("#gradlint:ignore [GL101,GL102]", []),
        ("# gradlint: ignore[GL101] the target network is frozen", [(1, "GL102")]),
        ("# gradlint: ignore[GL101] -- gradlint ignores it", [(1, "GL102")]),
        ("# type: ignore  # gradlint: ignore[GL101]", [(1, "GL102")]),
        ("# Gradlint: Ignore[GL101]", [(1, "GL102")]),
        ("# gradlint: ignore[GL101]  # gradlint: ignore[GL102]", []),
        ("# noqa", []),
        ("# NoQA", []),
        ("# NOQA: gl101", [(1, "GL102")]),
        ("# noqa: E501, GL101,GL102", []),
        ("# noqa: E501 GL101", [(1, "GL102")]),
        ("# noqa: GL1", []),
        ("# noqa: first-fault", [(1, "GL102")]),
        ("# noqa:E501,First-Fault second-fault", []),
        ("# noqa: GL101 as the other one is meant", [(1, "GL102")]),
        ("# noqa GL101", []),
        ("# noqa: E501", BOTH),
        ("# noqa: something else", BOTH),
        ("# noqa: a well-known thing, GL101", BOTH),
        ("# noqa:", BOTH),
        ("# ruff: noqa", BOTH),
        ("# noqalify", BOTH),
        ("# noqa: GL08", BOTH),
        ("# https://example.org/#gradlint: docs", BOTH),
        ("# Gradlint: see the docs", BOTH),
        ("# gradlint: see the docs", BOTH),
        ("# gradlint: https://example.org", BOTH),
        ("# Use gradlint: ignore[GL101] to silence it", BOTH),
        ("# not `gradlint: ignore[GL101]`", BOTH),
    ],
)
def test_a_comment_after_code_speaks_for_its_line(comment: str, left: list[tuple[int, str]]) -> None:
    assert found(f"fault()  {comment}") == left
    assert found(f"fault()  {comment}\nfault()")[-2:] == [(2, "GL101"), (2, "GL102")]


@pytest.mark.parametrize("row", [1, 3])
def test_in_a_statement_of_several_lines_the_first_and_the_last_line_of_the_finding_count(row: int) -> None:
    lines = ["fault(", "    1,", ")"]
    lines[row - 1] += "  # gradlint: ignore[GL101, GL102]"

    assert found("\n".join(lines)) == []


def test_a_comment_on_its_own_line_speaks_for_the_next_statement() -> None:
    comment = "# gradlint: ignore[GL101, GL102]\n"

    assert found(comment + "x = [\n  fault(),\n  fault(),\n]") == []
    assert found(comment + "\n# another\nx = fault()") == []
    assert found(comment + "x = 1\nfault()")[-2:] == [(3, "GL101"), (3, "GL102")]
    assert found("if x:\n    # gradlint: ignore[GL101, GL102]\n    fault()") == []
    assert found("# gradlint: ignore[GL101]\n# gradlint: ignore[GL102]\nfault()") == []


def test_a_comment_on_its_own_line_within_brackets_speaks_for_the_next_line() -> None:
    body = "x = [\n    # gradlint: ignore[GL101, GL102]\n    fault(),\n    fault(),\n]"

    assert found(body) == [(4, "GL101"), (4, "GL102")]


@pytest.mark.parametrize(
    "comment", ["gradlint: ignore[GL001]", "gradlint: ignore[syntax-error]", "noqa", "noqa: GL001", "noqa: GL"]
)
def test_no_comment_at_a_line_silences_that_the_file_could_not_be_judged(comment: str) -> None:
    assert found(f"x = )  # {comment}") == [(1, "GL001")]


def test_skip_file_silences_the_whole_file() -> None:
    assert found("fault()\nx = 1  # gradlint: ignore[GL9]\n# gradlint: skip-file") == []
    assert found("fault()\n# GRADLINT: SKIP-FILE") == []


def test_comments_count_above_a_syntax_error_alone() -> None:
    assert found("# gradlint: skip-file\nx = )") == []
    for below in ("x = )\n# gradlint: skip-file", "x = )  # gradlint: skip-file", "x = (\n# gradlint: skip-file"):
        assert found(below) == [(1, "GL001")]
    assert found("x = 1  # gradlint: off\ny = )\nz = 1  # gradlint: off") == [(1, "GL004"), (2, "GL001")]


def test_text_in_strings_is_no_comment() -> None:
    assert found('fault("# gradlint: ignore[GL101, GL102]")') == BOTH
    assert found('"""\n# gradlint: skip-file\n"""\nfault()') == [(4, "GL101"), (4, "GL102")]


def test_a_code_that_silences_nothing_is_reported_at_its_place() -> None:
    (finding,) = check("import keras\nx = 1  # gradlint: ignore[GL101]\n")

    assert (finding.code, finding.place) == ("GL003", Place(2, 27, 2, 32))
    assert finding.message == "`GL101` suppresses nothing here"
    assert found("fault()  # gradlint: ignore[GL101, GL102]\nx = 1  # gradlint: ignore[GL102]") == [(2, "GL003")]


def test_a_comment_at_the_end_of_the_file_silences_nothing() -> None:
    assert [each.code for each in check("import keras\n# gradlint: ignore[GL101]\n")] == ["GL003"]


def test_in_a_file_that_could_not_be_judged_no_comment_is_called_unused() -> None:
    comment = "y = 1  # gradlint: ignore[GL101]"

    assert found(f"{comment}\nx = )") == [(2, "GL001")]
    assert found(f"{comment}\nx = )", Settings(ignore=("GL001",))) == []


def test_an_unused_noqa_is_not_reported() -> None:
    assert found("x = 1  # noqa: GL101") == []


def test_a_code_that_is_switched_off_is_not_called_unused() -> None:
    assert found("x = 1  # gradlint: ignore[GL101]", Settings(ignore=("GL101",))) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# gradlint: ignore[GL1O1]", 'no rule "GL1O1"; did you mean "GL101" (first-fault)?'),
        ("# gradlint: ignore[first-falt]", 'no rule "first-falt"; did you mean "first-fault" (GL101)?'),
        ("# gradlint: ignore[ALL]", 'no rule "ALL"; here each rule is named by itself'),
        ("# gradlint: ignore[]", "`ignore[]` names no rule"),
        ("# gradlint: ignore", "`ignore` is neither `ignore[...]` nor `skip-file`"),
        ("# gradlint: off", "`off` is neither `ignore[...]` nor `skip-file`"),
        ("# gradlint ignore[GL101]", "`# gradlint ignore[GL101]` lacks the colon after `gradlint`"),
        ("# gradlint-ignore[GL101]", "`# gradlint-ignore[GL101]` lacks the colon after `gradlint`"),
        ("# GRADLINT-IGNORE[GL101]", "`# GRADLINT-IGNORE[GL101]` lacks the colon after `gradlint`"),
        ("# type: ignore gradlint: ignore[GL101]", "`gradlint: ignore[GL101]` lacks a `#` of its own"),
        ("# noqa: E501, GL109", 'no rule "GL109"; did you mean "GL102" (second-fault)?'),
        ("# noqa: first-falt", 'no rule "first-falt"; did you mean "first-fault" (GL101)?'),
        ("# noqa: E501, first-falt", 'no rule "first-falt"; did you mean "first-fault" (GL101)?'),
        ("# noqa: GL1O1", 'no rule "GL1O1"; did you mean "GL101" (first-fault)?'),
        ("# gradlint: ignroe[GL101]", "`ignroe[GL101]` is neither `ignore[...]` nor `skip-file`"),
        ("# gradlint: disable=GL101 for now", "`disable=GL101` is neither `ignore[...]` nor `skip-file`"),
        ("# gradlint: skpi this file", "`skpi` is neither `ignore[...]` nor `skip-file`"),
        ("# frozen gradlint: ignore[GL101]", "`gradlint: ignore[GL101]` lacks a `#` of its own"),
        ("# frozen gradlint: ignore[GL101] -- yes", "`gradlint: ignore[GL101]` lacks a `#` of its own"),
        ("# type: ignore gradlint: ignore[GL101] as it is", "`gradlint: ignore[GL101]` lacks a `#` of its own"),
        ("# gradlint: ignore[GL101", "`ignore[GL101` is neither `ignore[...]` nor `skip-file`"),
    ],
)
def test_a_comment_that_makes_no_sense_is_reported_and_silences_nothing(comment: str, message: str) -> None:
    findings = check(f"import keras\nfault()  {comment}\n")

    assert sorted((each.code, each.message) for each in findings) == [
        ("GL004", message),
        ("GL101", "first"),
        ("GL102", "second"),
    ]


def test_reports_about_comments_can_be_silenced_by_name() -> None:
    assert found("# gradlint: ignore[GL101, GL003]\nx = 1") == []
    assert found("# gradlint: ignore[GL101, GL003]") == []
    assert found("x = 1  # gradlint: ignore[GL101, GL003]") == []
    assert found("x = 1  # gradlint: ignore[GL1O1, invalid-suppression]") == []
