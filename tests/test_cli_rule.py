"""`gradlint rule`: the list of rules and their pages."""

from __future__ import annotations

import json

import pytest

from gradlint.rule import rules_of_gradlint
from support import Run


def test_a_rule_is_explained_by_code_and_by_name(run: Run) -> None:
    by_code, by_name = run("rule", "GL001"), run("rule", "syntax-error")

    assert by_code == by_name
    assert by_code.stdout.startswith("# syntax-error (GL001, error, since 0.1.0)\n\nA file is not valid Python")
    assert "## Use instead" in by_code.stdout


def test_without_a_name_each_rule_has_a_line(run: Run) -> None:
    lines = run("rule").stdout.splitlines()

    assert [line.split()[:2] for line in lines] == [[rule.code, rule.name] for rule in rules_of_gradlint()]


def test_all_explains_every_rule(run: Run) -> None:
    text = run("rule", "--all").stdout

    assert [line for line in text.splitlines() if line.startswith("# ")] == [
        f"# {rule.name} ({rule.code}, {rule.severity.value}, since {rule.since})" for rule in rules_of_gradlint()
    ]


def test_json_has_one_object_per_rule(run: Run) -> None:
    (rule,) = json.loads(run("rule", "GL003", "--output-format", "json").stdout)

    assert list(rule) == ["code", "name", "severity", "since", "summary", "page"]
    assert (rule["code"], rule["severity"]) == ("GL003", "warning")


def test_an_unknown_rule_gets_the_nearest_one(run: Run) -> None:
    result = run("rule", "GL0O1")

    assert (result.exit_code, result.stderr) == (
        2,
        'gradlint: no rule "GL0O1"; did you mean "GL001" (syntax-error)?\n',
    )


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("GL70", "9 codes begin with it, GL701 is the first"),
        ("GL9", "codes begin with GL0, GL1, GL2, GL3, GL4, GL5, GL6, GL7"),
        ("GL999", "codes begin with GL0, GL1, GL2, GL3, GL4, GL5, GL6, GL7"),
        ("ALL", "--all explains every rule"),
    ],
)
def test_the_beginning_of_codes_gets_no_made_up_neighbour(run: Run, word: str, words: str) -> None:
    assert run("rule", word).stderr == f'gradlint: no rule "{word}"; {words}\n'


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("GL0004", "GL004"),
        ("GL0O4", "GL004"),
        ("gl004", "GL004"),
        ("G004", "GL004"),
        ("GL008", "GL009"),
        ("invalid-supression", "invalid-suppression"),
        ("Invalid_Suppression", "invalid-suppression"),
        ("GL1x", ""),
        ("GL198", ""),
        ("E501", ""),
    ],
)
def test_only_what_may_well_be_meant_is_near_to_an_unknown_word(run: Run, word: str, near: str) -> None:
    told = run("rule", word).stderr

    assert told.startswith(f'gradlint: no rule "{word}"; did you mean "{near}" (' if near else "gradlint: no rule")
    assert ("did you mean" in told) is bool(near)


def test_every_page_has_the_fixed_headings() -> None:
    headings = [
        "What it does",
        "Why it matters",
        "What TensorFlow does",
        "Example",
        "Use instead",
        "Fix safety",
        "References",
    ]
    for rule in rules_of_gradlint():
        found = [line[3:] for line in rule.page.splitlines() if line.startswith("## ")]
        assert (rule.code, found) == (rule.code, headings)


def test_all_rules_and_one_of_them_is_a_contradiction(run: Run) -> None:
    result = run("rule", "--all", "NOPE")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "gradlint: --all: explains every rule; name none beside it, or leave it out: NOPE\n"
