"""`gradlint new-rule` and `gradlint test-rule`: from nothing to a rule that its fixtures hold still."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from choose_rule_examples import OF_DECISION, bare
from gradlint.events import EVENTS
from gradlint.new_rule import examples
from support import BROKEN, ROOT, Run, codes, places

PASSED = "ACME001 no-hidden-models: 2 programs, 1 of them faulty: as expected\n"


@pytest.fixture
def rule_file(run: Run) -> Run:
    """A project with a new rule in `tools/`."""
    assert run("new-rule", "ACME001", "no-hidden-models", "--path", "tools").exit_code == 0
    run.write("pyproject.toml", '[tool.gradlint]\nrules = ["tools/no_hidden_models.py"]\n')
    return run


FAULTY_FIXTURE = "tools/fixtures/ACME001/no_hidden_models.py"
LOOK_ALIKE = "tools/fixtures/ACME001/no_hidden_models_look_alike.py"


def test_a_new_rule_is_a_file_and_two_programs(run: Run) -> None:
    result = run("new-rule", "ACME001", "no-hidden-models", "--path", "tools")

    assert result.stdout.splitlines() == ["tools/no_hidden_models.py", FAULTY_FIXTURE, LOOK_ALIKE]
    assert result.stderr == (
        "Test it with `gradlint test-rule tools/no_hidden_models.py`. "
        "In the settings, name it, and leave its programs out:\n"
        'rules = ["tools/no_hidden_models.py"]\n'
        'extend-exclude = ["tools/fixtures/"]\n'
    )
    assert all((run.folder / path).is_file() for path in result.stdout.splitlines())


@pytest.mark.parametrize("folder", [".", "tools", "tools/more"])
def test_under_the_settings_that_it_names_a_new_rule_makes_no_check_fail(run: Run, folder: str) -> None:
    result = run("new-rule", "ACME001", "no-hidden-models", "--event", "ItemAssigned", "--path", folder)
    run.write("gradlint.toml", "".join(result.stderr.splitlines(keepends=True)[1:]))

    assert run("check").exit_code == run("check", "--add-ignore").exit_code == 0
    assert run("test-rule").exit_code == 0
    # What is called alike elsewhere is judged.
    run.write("tests/fixtures/a.py", BROKEN)
    assert codes(run("check", "--output-format", "json").stdout) == ["GL001"]


@pytest.mark.parametrize("event", EVENTS)
def test_a_new_rule_for_any_event_passes_its_test_at_once(run: Run, event: str) -> None:
    assert run("new-rule", "ACME001", "no-hidden-models", "--event", event).exit_code == 0

    result = run("test-rule", "no_hidden_models.py")

    assert (result.stdout, result.stderr, result.exit_code) == (PASSED, "", 0)
    page = run("rule", "no_hidden_models.py").stdout
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        f"## {heading}"
        for heading in (
            "What it does",
            "Why it matters",
            "What TensorFlow does",
            "Example",
            "Use instead",
            "Fix safety",
            "References",
        )
    ]
    assert "```python\n```" not in page


def test_the_settings_make_it_a_rule_like_any_other(rule_file: Run) -> None:
    assert rule_file("rule", "ACME001").stdout.startswith("# no-hidden-models (ACME001, warning, since 1.0)")
    assert places(rule_file("check", "tools/fixtures", "--output-format", "json")) == [(FAULTY_FIXTURE, 9, "ACME001")]


def test_nothing_is_overwritten(rule_file: Run) -> None:
    before = (rule_file.folder / FAULTY_FIXTURE).read_text()
    (rule_file.folder / "pyproject.toml").unlink()
    (rule_file.folder / "tools/no_hidden_models.py").unlink()

    result = rule_file("new-rule", "ACME001", "no-hidden-models", "--path", "tools", "--event", "ItemAssigned")

    assert (result.exit_code, result.stderr) == (2, f"gradlint: {FAULTY_FIXTURE}: is there already\n")
    assert not (rule_file.folder / "tools/no_hidden_models.py").exists()
    assert (rule_file.folder / FAULTY_FIXTURE).read_text() == before


def test_a_folder_that_cannot_be_made_is_told_and_nothing_is_left_behind(run: Run) -> None:
    run.write("taken/fixtures")

    result = run("new-rule", "ACME001", "no-hidden-models", "--path", "taken")

    assert (result.exit_code, result.stderr) == (2, "gradlint: taken/fixtures/ACME001: not a directory\n")
    assert [path.name for path in (run.folder / "taken").iterdir()] == ["fixtures"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["GL777", "own-rule"], "new-rule: GL777: codes GL... are gradlint's own"),
        (
            ["A1", "own-rule"],
            "new-rule: the code 'A1' is not of the form ABC001 (two or more capitals, three or more digits)",
        ),
        (
            ["ACME001", "Own"],
            "new-rule: the name 'Own' is not of the form no-gradient-here (small letters, digits, hyphens)",
        ),
        (["ACME001", "wrong-tape"], "new-rule: wrong-tape: taken by GL107 (wrong-tape)"),
        (
            ["ACME001", "own-rule", "--event", "ItemAsigned"],
            '--event: no event "ItemAsigned"; did you mean "ItemAssigned"? (--list-events shows all)',
        ),
        (["ACME001", "own-rule", "--event", "?"], '--event: no event "?" (--list-events shows all)'),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(run: Run, arguments: list[str], message: str) -> None:
    result = run("new-rule", *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: {message}\n")
    assert list(run.folder.iterdir()) == []


def test_a_code_that_the_settings_know_is_taken(rule_file: Run) -> None:
    assert rule_file("new-rule", "ACME001", "other").stderr == (
        "gradlint: new-rule: ACME001: taken by ACME001 (no-hidden-models)\n"
    )


@pytest.mark.parametrize("name", ["class", "rule"])
def test_a_name_that_python_has_another_use_for_works(run: Run, name: str) -> None:
    assert run("new-rule", "ACME001", name).exit_code == 0
    assert run("test-rule", f"{name}_.py").exit_code == 0


def test_events_are_listed(run: Run) -> None:
    lines = run("new-rule", "--list-events").stdout.splitlines()

    assert [line.split()[0] for line in lines] == sorted(EVENTS)
    assert all(line.endswith(".") and len(line.split()) > 2 for line in lines)


def test_what_is_missing_and_what_is_too_much_is_told_with_its_line(rule_file: Run) -> None:
    text = (rule_file.folder / FAULTY_FIXTURE).read_text()
    rule_file.write(LOOK_ALIKE, text.replace("  # expect: ACME001", ""))
    rule_file.write(FAULTY_FIXTURE, "# expect: ACME001\n" + text)

    result = rule_file("test-rule", "tools/no_hidden_models.py")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{FAULTY_FIXTURE}:1: ACME001 (no-hidden-models) is expected, and not found",
        f"{LOOK_ALIKE}:9: ACME001 (no-hidden-models) is found, and not expected: the gradient of `loss` is asked for "
        "`model.trainable_variables`, of which nothing is decided",
        "ACME001 no-hidden-models: 2 programs, 1 of them faulty: 2 faults",
    ]


def test_a_rule_is_expected_by_its_name_as_well(rule_file: Run) -> None:
    path = rule_file.folder / FAULTY_FIXTURE
    path.write_text(path.read_text().replace("expect: ACME001", "expect: GL101, no-hidden-models"))

    assert rule_file("test-rule", "ACME001").stdout == PASSED


def test_an_expected_rule_that_does_not_exist_is_told(rule_file: Run) -> None:
    rule_file.write(LOOK_ALIKE, "import tensorflow  # expect: ACM001\n")

    assert rule_file("test-rule", "no-hidden-models").stdout.splitlines()[0] == (
        f'{LOOK_ALIKE}:1: no rule "ACM001"; did you mean "ACME001" (no-hidden-models)?'
    )


def test_a_program_that_cannot_be_judged_is_a_fault(rule_file: Run) -> None:
    rule_file.write(LOOK_ALIKE, "import tensorflow\nx = (\n")

    result = rule_file("test-rule", "ACME001")

    assert result.exit_code == 1
    assert result.stdout.startswith(f"{LOOK_ALIKE}:2: GL001 (syntax-error): '(' was never closed")


def test_a_rule_that_fails_on_a_program_is_a_fault(rule_file: Run) -> None:
    path = rule_file.folder / "tools/no_hidden_models.py"
    path.write_text(path.read_text().replace("decision.sources", "decision.nothing"))

    first = rule_file("test-rule", "tools/no_hidden_models.py").stdout.splitlines()[0]

    assert first.startswith(f"{FAULTY_FIXTURE}:1: GL009 (internal-error): the rule ACME001 (no-hidden-models) failed")


def test_notebooks_are_fixtures_too(rule_file: Run) -> None:
    text = (rule_file.folder / FAULTY_FIXTURE).read_text()
    cells: list[dict[str, object]] = [
        {"cell_type": kind, "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for kind, source in (
            ("markdown", "A lesson"),
            ("code", "# expect: ACME001"),
            ("code", "%%bash\n# expect: ACME001"),
            ("code", text),
        )
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    rule_file.write("tools/fixtures/ACME001/lesson.ipynb", json.dumps(notebook))

    assert rule_file("test-rule", "ACME001").stdout.splitlines() == [
        "tools/fixtures/ACME001/lesson.ipynb:cell 2:1: ACME001 (no-hidden-models) is expected, and not found",
        "ACME001 no-hidden-models: 3 programs, 2 of them faulty: 1 fault",
    ]


def test_a_rule_without_a_faulty_program_or_a_look_alike_is_not_tested(rule_file: Run) -> None:
    (rule_file.folder / LOOK_ALIKE).unlink()
    assert rule_file("test-rule", "ACME001").stdout.splitlines()[0] == (
        "tools/fixtures/ACME001: no look-alike: a correct program in which ACME001 finds nothing"
    )

    rule_file.write(FAULTY_FIXTURE, "import tensorflow\n")
    assert rule_file("test-rule", "ACME001").stdout.splitlines()[0] == (
        "tools/fixtures/ACME001: no program in which ACME001 is expected"
    )


def test_what_the_settings_say_of_code_counts_and_what_they_say_of_rules_does_not(rule_file: Run) -> None:
    rule_file.write(
        "pyproject.toml",
        '[tool.gradlint]\nrules = ["tools/no_hidden_models.py"]\nselect = ["GL1"]\nexclude = ["fixtures/"]\n'
        'ignore = ["ACME001"]\n',
    )

    assert rule_file("test-rule", "ACME001").stdout == PASSED


def test_without_a_rule_all_rule_files_of_the_settings_are_tested(rule_file: Run) -> None:
    rule_file("new-rule", "ACME002", "no-items", "--event", "ItemAssigned", "--path", "tools")
    rule_file.write("pyproject.toml", '[tool.gradlint]\nrules = ["tools/no_hidden_models.py", "tools/no_items.py"]\n')

    assert rule_file("test-rule").stdout == PASSED + "ACME002 no-items: 2 programs, 1 of them faulty: as expected\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "test-rule: name a rule or a rule file; the settings name none"),
        (["nowhere.py"], "nowhere.py: no such file"),
        (["NOPE123"], 'no rule "NOPE123"'),
        (["GL001"], "GL001: has no fixtures; it is no rule about the code of a program"),
        (["GL101", "--fixtures", "here"], "here/GL101: no such folder; the programs of GL101 are looked for here"),
    ],
)
def test_nothing_to_test_is_an_error(run: Run, arguments: list[str], message: str) -> None:
    result = run("test-rule", *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: {message}\n")


def test_an_empty_folder_of_fixtures_is_an_error(rule_file: Run) -> None:
    for path in (FAULTY_FIXTURE, LOOK_ALIKE):
        (rule_file.folder / path).unlink()

    assert rule_file("test-rule", "ACME001").stderr == "gradlint: tools/fixtures/ACME001: no program for ACME001\n"


def test_fixtures_may_lie_elsewhere(rule_file: Run) -> None:
    (rule_file.folder / "tools/fixtures").rename(rule_file.folder / "programs")

    assert rule_file("test-rule", "ACME001", "--fixtures", "programs").stdout == PASSED


def test_rules_of_gradlint_are_tested_by_its_own_fixtures(run: Run) -> None:
    result = run("test-rule", "GL112", "tape-used-twice")

    assert result.exit_code == 0
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == [
        "GL112 watch-on-keras-variable",
        "GL109 tape-used-twice",
    ]


def test_the_examples_are_fixtures_of_gradlint() -> None:
    fixtures = {bare(path.read_text(encoding="utf-8")) for path in Path(ROOT, "fixtures").rglob("*.py")} | {
        *OF_DECISION
    }
    programs = [program for example in examples().values() for program in (example.faulty, example.look_alike)]

    assert [program for program in programs if bare(program) not in fixtures] == []  # run tools/choose_rule_examples.py


def test_a_code_whose_programs_are_there_already_is_taken(rule_file: Run) -> None:
    rule_file.write("pyproject.toml", "")

    result = rule_file("new-rule", "ACME001", "other-models", "--path", "tools")

    assert (result.exit_code, result.stderr) == (2, "gradlint: tools/fixtures/ACME001: is there already\n")
    assert not (rule_file.folder / "tools/other_models.py").exists()


def test_a_rule_is_tested_once_however_it_is_named(rule_file: Run) -> None:
    rule_file.write("pyproject.toml", "")
    file = "tools/no_hidden_models.py"

    assert rule_file("test-rule", "ACME001", file, "no-hidden-models", file).stdout == PASSED


@pytest.mark.parametrize(
    ("text", "message"),
    [("def (\n", "1: is no Python: invalid syntax"), (b"x = '\xff'\n", " cannot be read: byte 0xff is not UTF-8")],
)
def test_a_look_alike_that_is_no_python_is_a_fault_whatever_it_names(
    rule_file: Run, text: str | bytes, message: str
) -> None:
    rule_file.write(LOOK_ALIKE, text)

    result = rule_file("test-rule", "ACME001")

    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, f"{LOOK_ALIKE}:{message}")


def test_expectations_are_comments_and_not_what_a_string_holds(rule_file: Run) -> None:
    program = (rule_file.folder / LOOK_ALIKE).read_text()
    rule_file.write(LOOK_ALIKE, f'{program}NOTE = """\nx  # expect: ACME001\n"""\n')

    assert rule_file("test-rule", "ACME001").stdout == PASSED


def test_rules_behind_one_that_has_no_fixtures_are_tested_all_the_same(rule_file: Run) -> None:
    result = rule_file("test-rule", "GL001", "ACME001")

    assert (result.exit_code, result.stdout) == (2, PASSED)
    assert result.stderr == "gradlint: GL001: has no fixtures; it is no rule about the code of a program\n"
