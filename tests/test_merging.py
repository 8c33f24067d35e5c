"""Findings whose cause stands in another file than the gradient call: where they are told, once, and how."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from support import Run, places

LOSSES = """\
import tensorflow as tf


def loss_of(w):
    return tf.round(w) * 3.0{comment}
"""
TRAIN = """\
import tensorflow as tf
from losses import loss_of

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = loss_of(w)
tape.gradient(loss, w){comment}
"""
TRAINERS = ["first.py", "second.py", "third.py"]
FILES = ["losses.py", *TRAINERS]
SUPPRESSED = "  # gradlint: ignore[GL202]"


@pytest.fixture
def project(run: Run) -> Run:
    """Three trainers that import one loss function, which rounds what it is given."""
    return written(run)


def written(run: Run, at_cause: str = "", at_effect: str = "") -> Run:
    run.write("losses.py", LOSSES.format(comment=at_cause))
    for name in TRAINERS:
        run.write(name, TRAIN.format(comment=at_effect))
    return run


def report(run: Run, *arguments: str) -> str:
    return run("check", *arguments, "--output-format", "json").stdout


def test_an_editors_text_is_judged_with_the_programs_that_lead_to_its_file(run: Run) -> None:
    faulty = "import tensorflow as tf\n\n\ndef loss_of(w):\n    return tf.round(w) * 3.0\n"
    run.write("package/model.py", faulty)
    run.write(
        "package/train.py",
        "import tensorflow as tf\nfrom model import loss_of\nw = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n"
        "    loss = loss_of(w)\ntape.gradient(loss, w)\n",
    )

    def told(text: str, *paths: str) -> list[tuple[str, int, str]]:
        name = ("-", "--stdin-filename", "package/model.py", "--output", "json")
        return places(run("check", *name, *paths, stdin=text.encode()))

    for paths in ((), ("package/train.py",), ("package",)):
        assert told(faulty, *paths) == [("package/model.py", 5, "GL202")]
        assert told(f"# more\n{faulty}", *paths) == [("package/model.py", 6, "GL202")]
        assert told(faulty.replace("tf.round(w)", "w"), *paths) == []
    run.write("package/model.py", faulty.replace("tf.round(w)", "w"))
    assert told(faulty) == [("package/model.py", 5, "GL202")]


def test_a_cause_that_three_files_lead_to_is_one_finding_where_it_stands(project: Run) -> None:
    (finding,) = project("check", ".", "--output-format", "json").findings

    assert (finding["filename"], finding["code"]) == ("losses.py", "GL202")
    assert finding["location"] == {"row": 5, "column": 12}
    assert finding["end_location"] == {"row": 5, "column": 23}
    assert [(step["filename"], step["location"]["row"], step["message"]) for step in finding["trace"]] == [
        ("first.py", 4, "`w` made here"),
        ("first.py", 5, "`tape` opened here"),
        ("losses.py", 5, "`tf.round(w)` computed here"),
        ("losses.py", 5, "`tf.round(w) * 3.0` computed from it here"),
        ("first.py", 7, "gradient asked here"),
        ("second.py", 7, "also gradient asked here"),
        ("third.py", 7, "also gradient asked here"),
    ]


def test_of_many_files_that_lead_to_a_cause_a_few_are_named(project: Run) -> None:
    for number in range(20):
        project.write(f"trainer{number:02}.py", TRAIN.format(comment=""))

    (finding,) = project("check", ".", "--output-format", "json").findings

    also = [step["filename"] for step in finding["trace"] if step["message"].startswith("also ")]
    assert also == ["second.py", "third.py", "trainer00.py"]


def test_where_the_file_of_the_cause_is_not_named_the_finding_stands_in_the_one_that_is(project: Run) -> None:
    (finding,) = project("check", "second.py", "--output-format", "json").findings

    assert (finding["filename"], finding["code"], finding["location"]["row"]) == ("second.py", "GL202", 7)
    assert [step["filename"] for step in finding["trace"]] == [
        "second.py",
        "second.py",
        "losses.py",
        "losses.py",
        "second.py",
    ]


def test_each_named_file_that_leads_to_a_cause_that_is_not_named_has_its_own_finding(project: Run) -> None:
    outcome = project("check", "third.py", "first.py", "--output-format", "json")

    assert places(outcome) == [("first.py", 7, "GL202"), ("third.py", 7, "GL202")]


def test_the_file_of_the_cause_alone_has_what_the_files_that_lead_there_show(project: Run) -> None:
    assert places(project("check", "losses.py", "--output-format", "json")) == [("losses.py", 5, "GL202")]


def test_a_fault_that_the_other_file_shows_on_its_own_is_told_there_and_once(run: Run) -> None:
    alone = (
        LOSSES.format(comment="")
        + """

def own():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = loss_of(w)
    return tape.gradient(loss, w)


own()
"""
    )
    written(run)
    run.write("losses.py", alone)

    assert places(run("check", ".", "--output-format", "json")) == [("losses.py", 5, "GL202")]
    assert places(run("check", "losses.py", "--output-format", "json")) == [("losses.py", 5, "GL202")]
    assert run("check", "first.py").exit_code == 0


def test_two_causes_in_one_file_are_two_findings(project: Run) -> None:
    other = "\n\ndef other_of(w):\n    return tf.floor(w) * 3.0\n"
    project.write("losses.py", LOSSES.format(comment="") + other)
    project.write("third.py", TRAIN.format(comment="").replace("loss_of", "other_of"))

    outcome = project("check", ".", "--output-format", "json")

    assert places(outcome) == [("losses.py", 5, "GL202"), ("losses.py", 9, "GL202")]
    assert [finding["trace"][-1]["filename"] for finding in outcome.findings] == ["second.py", "third.py"]


@pytest.mark.parametrize("names", list(permutations(FILES)), ids=" ".join)
def test_the_order_of_the_named_files_changes_nothing(names: tuple[str, ...], project: Run) -> None:
    assert report(project, *names) == report(project, ".")


@pytest.mark.parametrize("paths", [["."], FILES, ["./losses.py", "./first.py", "third.py", "second.py"]], ids=" ".join)
@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_the_number_of_processes_changes_nothing(jobs: str, paths: list[str], project: Run) -> None:
    assert report(project, *paths, "--jobs", jobs) == report(project, ".")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_is_named_twice_is_told_once(jobs: str, project: Run) -> None:
    assert report(project, ".", "losses.py", "first.py", "--jobs", jobs) == report(project, ".")


def test_absolute_names_are_told_as_absolute(project: Run) -> None:
    names = [str(project.folder / name) for name in FILES]

    (finding,) = project("check", *names, "--output-format", "json").findings

    assert finding["filename"] == names[0]
    assert {step["filename"] for step in finding["trace"]} == set(names)


def test_from_another_folder_files_are_named_as_seen_from_there(project: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.folder / "below").mkdir()
    monkeypatch.chdir(project.folder / "below")

    assert places(project("check", "..", "--output-format", "json")) == [("../losses.py", 5, "GL202")]


@pytest.mark.parametrize(
    "paths",
    [["."], ["losses.py", "first.py"], ["first.py", "losses.py"], ["first.py"], TRAINERS],
    ids=" ".join,
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_comment_at_the_cause_silences_it_whoever_is_named(paths: list[str], jobs: str, run: Run) -> None:
    written(run, at_cause=SUPPRESSED)

    assert json.loads(report(run, *paths, "--jobs", jobs)) == []


def test_skip_file_in_the_file_of_the_cause_silences_it_whoever_is_named(run: Run) -> None:
    written(run, at_cause="\n\n# gradlint: skip-file")

    assert json.loads(report(run, ".")) == json.loads(report(run, "first.py")) == []


def test_a_comment_at_the_cause_is_not_called_unused_where_the_files_that_lead_there_are_not_named(run: Run) -> None:
    written(run, at_cause=SUPPRESSED)

    assert json.loads(report(run, "losses.py")) == []


def test_a_comment_at_the_effect_silences_the_finding_that_stands_there(run: Run) -> None:
    written(run, at_effect=SUPPRESSED)

    assert json.loads(report(run, "first.py")) == []


def test_a_comment_at_the_effect_does_not_silence_the_cause(run: Run) -> None:
    written(run, at_effect=SUPPRESSED)

    assert places(run("check", ".", "--output-format", "json")) == [("losses.py", 5, "GL202")]


def test_concise_output_names_the_file_of_the_cause(project: Run) -> None:
    lines = project("check", ".", "--output-format", "concise").stdout.splitlines()

    assert lines == [
        "losses.py:5:12: error GL202 non-differentiable-operation: `w` gets None: `tf.round(w)` has no gradient",
        "Found 1 finding (1 error, 0 warnings).",
        "Decided 3 of 3 sources (100%) in 3 gradient calls.",
    ]


def test_full_output_names_the_file_of_each_step_in_another_one(project: Run) -> None:
    lines = project("check", ".").stdout.splitlines()

    assert lines[1:10] == [
        "    5 |     return tf.round(w) * 3.0",
        "      |            ^^^^^^^^^^^",
        "   trace first.py:4  `w` made here",
        "         first.py:5  `tape` opened here",
        "            5  `tf.round(w)` computed here",
        "            5  `tf.round(w) * 3.0` computed from it here",
        "         first.py:7  gradient asked here",
        "         second.py:7  also gradient asked here",
        "         third.py:7  also gradient asked here",
    ]


def test_a_comment_is_not_called_unused_where_a_file_that_leads_there_is_no_python(run: Run) -> None:
    run.write("losses.py", LOSSES.format(comment=SUPPRESSED))
    run.write("first.py", f"{TRAIN.format(comment='')}x = )\n")

    assert places(run("check", "--output-format", "json")) == [("first.py", 8, "GL001")]

    run.write("first.py", TRAIN.format(comment="").replace("loss_of(w)", "w * w"))
    assert places(run("check", "--output-format", "json")) == [("losses.py", 5, "GL003")]


def test_full_output_of_the_effect_names_the_file_of_the_cause(project: Run) -> None:
    lines = project("check", "first.py").stdout.splitlines()

    assert lines[1:8] == [
        "    7 | tape.gradient(loss, w)",
        "      | ^^^^^^^^^^^^^^^^^^^^^^",
        "   trace    4  `w` made here",
        "            5  `tape` opened here",
        "         losses.py:5  `tf.round(w)` computed here",
        "         losses.py:5  `tf.round(w) * 3.0` computed from it here",
        "            7  gradient asked here",
    ]


def test_where_the_file_of_the_cause_is_excluded_the_findings_stand_in_those_that_lead_there(project: Run) -> None:
    project.write("pyproject.toml", "[tool.gradlint]\nexclude = ['losses.py']\n")

    outcome = project("check", ".", "--output-format", "json")

    assert places(outcome) == [(name, 7, "GL202") for name in TRAINERS]


def test_a_rule_that_is_ignored_is_ignored_in_every_file(project: Run) -> None:
    assert json.loads(report(project, ".", "--ignore", "GL202")) == []
    assert json.loads(report(project, "first.py", "--ignore", "GL202")) == []


def test_standard_input_leads_to_a_cause_in_a_named_file(project: Run) -> None:
    outcome = project(
        "check",
        "-",
        "losses.py",
        "--stdin-filename",
        "typed.py",
        "--output-format",
        "json",
        stdin=TRAIN.format(comment="").encode(),
    )

    (finding,) = outcome.findings
    assert (finding["filename"], finding["location"]["row"]) == ("losses.py", 5)
    assert [step["filename"] for step in finding["trace"]][-1] == "typed.py"


def test_standard_input_alone_has_the_finding_of_what_it_imports(project: Run) -> None:
    stdin = TRAIN.format(comment="").encode()

    outcome = project("check", "-", "--stdin-filename", "typed.py", "--output-format", "json", stdin=stdin)

    assert places(outcome) == [("typed.py", 7, "GL202")]


def test_statistics_count_a_shared_cause_once(project: Run) -> None:
    counted = json.loads(project("check", ".", "--statistics", "--output-format", "json").stdout)

    assert [(each["code"], each["count"]) for each in counted] == [("GL202", 1)]


def flow_line(run: Run, name: str) -> str:
    return run("flow", name).stdout.splitlines()[1].strip()


def test_flow_names_the_other_file_where_it_gave_up(project: Run) -> None:
    project.write("losses.py", "from elsewhere import unseen\n\n\ndef loss_of(w):\n    return unseen(w)\n")

    assert flow_line(project, "first.py").startswith("w  unknown because of line 5 of losses.py: ")


def test_flow_names_the_other_file_where_the_cut_is(project: Run) -> None:
    assert flow_line(project, "first.py") == "w  none: non-differentiable at line 5 of losses.py"


def test_flow_names_the_other_file_in_json(project: Run) -> None:
    decided = json.loads(project("flow", "first.py", "--output-format", "json").stdout)

    (source,) = decided["gradient_calls"][0]["sources"]
    assert (source["filename"], source["location"]["row"]) == ("losses.py", 5)


def test_flow_names_no_file_for_a_line_of_the_file_itself(run: Run) -> None:
    run.write(
        "train.py", TRAIN.format(comment="").replace("from losses import loss_of", "from elsewhere import loss_of")
    )

    assert flow_line(run, "train.py").startswith("w  unknown because of line 6: ")


def test_the_settings_of_the_file_of_the_cause_say_how_severe_it_is_wherever_it_is_told(run: Run) -> None:
    run.write("other/losses.py", LOSSES.format(comment=""))
    run.write("other/gradlint.toml", '[severity]\nGL2 = "info"\n')
    run.write("gradlint.toml", '[severity]\nGL2 = "warning"\nGL003 = "info"\n')
    run.write("train.py", TRAIN.format(comment="  # gradlint: ignore[GL101]").replace("losses", "other.losses"))

    def severities(*paths: str) -> list[tuple[str, str, str]]:
        found = run("check", *paths, "--output-format", "json").findings
        return [(each["filename"], each["code"], each["severity"]) for each in found]

    assert severities() == [("other/losses.py", "GL202", "info"), ("train.py", "GL003", "info")]
    assert severities("train.py") == [("train.py", "GL202", "info"), ("train.py", "GL003", "info")]
