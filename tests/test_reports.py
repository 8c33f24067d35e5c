"""The three formats, fixed on findings that are made up here; colours; text that must not drive a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradlint.merging import FileResult
from gradlint.report import REPORTS, summary
from gradlint.report.contents import Report
from gradlint.report.style import Style
from gradlint.rule import Finding, Place, Severity, Step
from gradlint.verdicts import Cause, Verdict
from support import BROKEN, Run, run_process

FINDING = Finding(
    Place(8, 9, 8, 26),
    "`temperature` gets None: `1.0 / temperature` is computed before the tape opens",
    instead="compute `1.0 / temperature` under `tape`",
    trace=(
        Step("`temperature` read here, no tape open", Place(8, 15, 8, 26)),
        Step("`tape` opened here", Place(10, 10, 10, 27)),
        Step("gradient of `loss` asked here", Place(12, 12, 12, 45)),
    ),
    verdict=Verdict.NONE,
    cause=Cause.OUTSIDE_TAPE,
    variables=("temperature",),
    severity=Severity.ERROR,
    code="GL102",
    name="derived-before-tape",
    filename="train.py",
)


def result_of(finding: Finding, excerpts: dict[int, str]) -> list[FileResult]:
    rows = {(finding.place.cell, row): text for row, text in excerpts.items()}
    return [FileResult(finding.filename, (finding,), excerpts=rows, parsed=True)]


RESULT = result_of(FINDING, {8: "scale = 1.0 / temperature"})


def at(place: Place, excerpts: dict[int, str], width: int | None = None) -> list[str]:
    """The lines of the full report between header and end, of a finding without trace."""
    finding = Finding(place, "message", severity=Severity.ERROR, code="GL102", name="n", filename="a.py")
    return REPORTS["full"](Report(result_of(finding, excerpts), Style(width=width))).splitlines()[1:-1]


def test_a_finding_about_a_comment_shows_its_line(run: Run) -> None:
    run.write("train.py", "import tensorflow as tf\nx = 1  # gradlint: ignore[GL202]\n")

    assert "    2 | x = 1  # gradlint: ignore[GL202]\n      |" in run("check", "train.py").stdout


def test_full_underlines_the_range_and_tells_the_trace_and_what_to_write_instead() -> None:
    assert REPORTS["full"](Report(RESULT)) == (
        "train.py:8:9: error GL102 derived-before-tape: "
        "`temperature` gets None: `1.0 / temperature` is computed before the tape opens\n"
        "    8 | scale = 1.0 / temperature\n"
        "      |         ^^^^^^^^^^^^^^^^^\n"
        "   trace    8  `temperature` read here, no tape open\n"
        "           10  `tape` opened here\n"
        "           12  gradient of `loss` asked here\n"
        "   instead  compute `1.0 / temperature` under `tape`\n"
        "\n"
    )


def test_concise_is_one_line() -> None:
    assert REPORTS["concise"](Report(RESULT)) == (
        "train.py:8:9: error GL102 derived-before-tape: "
        "`temperature` gets None: `1.0 / temperature` is computed before the tape opens\n"
    )


def test_json_has_the_keys_of_ruff_and_those_of_gradlint() -> None:
    (found,) = json.loads(REPORTS["json"](Report(RESULT)))

    assert found == {
        "code": "GL102",
        "message": FINDING.message,
        "filename": "train.py",
        "location": {"row": 8, "column": 9},
        "end_location": {"row": 8, "column": 26},
        "fix": None,
        "url": None,
        "name": "derived-before-tape",
        "severity": "error",
        "cell": None,
        "verdict": "none",
        "cause": "outside-tape",
        "variables": ["temperature"],
        "origin": "static",
        "confirmation": None,
        "fingerprint": None,
        "instead": FINDING.instead,
        "trace": found["trace"],
    }
    assert found["trace"][1] == {
        "message": "`tape` opened here",
        "filename": "train.py",
        "location": {"row": 10, "column": 10},
        "end_location": {"row": 10, "column": 27},
        "cell": None,
    }
    assert json.loads(REPORTS["json"](Report([]))) == []


def test_tabs_and_wide_characters_keep_the_marks_under_the_range() -> None:
    assert at(Place(1, 2, 1, 3), {1: "\tx = 1"}) == ["    1 |     x = 1", "      |     ^"]
    assert at(Place(1, 7, 1, 8), {1: "損失 = x"}) == ["    1 | 損失 = x", "      |         ^"]
    assert at(Place(1, 1, 1, 3), {1: "損失 = x"}) == ["    1 | 損失 = x", "      | ^^^^"]
    assert at(Place(1, 3, 1, 4), {1: "e\u0301x"}) == ["    1 | e\u0301x", "      |  ^"]


def test_each_line_of_a_range_is_underlined_and_a_long_range_is_cut_short() -> None:
    three = {1: "x = f(", 2: "    y,", 3: ")  # end"}
    assert at(Place(1, 5, 3, 2), three) == [
        "    1 | x = f(",
        "      |     ^^",
        "    2 |     y,",
        "      |     ^^",
        "    3 | )  # end",
        "      | ^",
    ]
    assert [line[:9] for line in at(Place(1, 1, 9, 2), {1: "f(", 2: "a,", 9: ")"})] == [
        "    1 | f",
        "      | ^",
        "    2 | a",
        "      | ^",
        "      | .",
        "    9 | )",
        "      | ^",
    ]


def test_a_long_line_is_shown_around_the_place() -> None:
    line, marks = at(Place(1, 5001, 1, 5004), {1: "a" * 5000 + "xyz" + "b" * 5000}, width=100)

    assert len(line) == 100
    start = marks.index("^")
    assert line[start : start + 3] == "xyz"
    assert marks.count("^") == 3


def test_an_empty_range_still_has_a_mark() -> None:
    assert at(Place(1, 3, 1, 3), {1: "ab"}) == ["    1 | ab", "      |   ^"]


def test_control_characters_of_names_and_lines_are_escaped(run: Run) -> None:
    run.write("a\x1b[31m\n.py", "import tensorflow\nx = '\x1b[2J' (\n")

    for output_format in ("full", "concise"):
        text = run("check", "--output-format", output_format).stdout
        assert "\x1b" not in text
        assert "a\\x1b[31m\\n.py:2:" in text


def test_names_that_are_not_utf_8_are_printed(tmp_path: Path) -> None:
    try:
        (tmp_path / "\udcff.py").write_text(BROKEN)
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")

    for output_format in ("full", "concise", "json"):
        result = run_process("check", "--output-format", output_format, folder=tmp_path)
        assert (result.exit_code, result.stderr) == (1, "")
        assert "udcff.py" in result.stdout


@pytest.mark.parametrize(
    ("severities", "words"),
    [
        ([Severity.ERROR], "Found 1 finding (1 error, 0 warnings).\n"),
        ([Severity.ERROR, Severity.ERROR, Severity.WARNING], "Found 3 findings (2 errors, 1 warning).\n"),
        ([Severity.INFO], "Found 1 finding (0 errors, 0 warnings, 1 hint).\n"),
    ],
)
def test_the_closing_line_counts_by_severity(severities: list[Severity], words: str) -> None:
    findings = tuple(Finding(Place(1, 1, 1, 1), "", severity=severity) for severity in severities)

    assert summary([FileResult("a.py", findings)]) == words


@pytest.mark.parametrize(
    ("environment", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colours_follow_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], colored: bool
) -> None:
    run.write("a.py", BROKEN)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert ("\x1b[" in run_process("check", folder=run.folder).stdout) == colored


def test_colours_never_reach_json_or_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    run.write("a.py", BROKEN)

    assert "\x1b" not in run("check", "--output-format", "json").stdout
    run("check", "--output-file", "report.txt")
    assert "\x1b" not in (run.folder / "report.txt").read_text()
