"""Where reports go: several at once, files that are written whole or not at all, exit status by severity."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradlint.engine import Judged
from gradlint.rule import Finding, Place, Severity
from support import BROKEN, CLEAN, FAULTY, ROOT, Outcome, Run, codes, run_process


def test_one_run_writes_several_reports(run: Run) -> None:
    run.write("train.py", FAULTY)

    outcome = run("check", "--output", "sarif:out.sarif", "--output", "json:out.json", "--output", "concise")

    assert outcome.exit_code == 1
    assert outcome.stdout.splitlines()[1:] == [
        "Found 1 finding (1 error, 0 warnings).",
        "Decided 1 of 1 source (100%) in 1 gradient call.",
    ]
    assert codes((run.folder / "out.json").read_text()) == ["GL101"]
    log = json.loads((run.folder / "out.sarif").read_text())
    assert log["runs"][0]["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_reports_for_files_alone_print_nothing(run: Run) -> None:
    run.write("train.py", FAULTY)

    assert run("check", "--output", "full:report.txt") == Outcome(1, "", "")
    assert "Found 1 finding" in (run.folder / "report.txt").read_text()


def test_a_dash_is_standard_output(run: Run) -> None:
    run.write("train.py", FAULTY)

    for options in (["--output", "json:-"], ["--output-format", "json", "-o", "-"]):
        assert codes(run("check", *options).stdout) == ["GL101"]
    assert sorted(os.listdir(run.folder)) == ["train.py"]


def test_the_environment_names_a_format_for_when_no_option_does(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADLINT_OUTPUT_FORMAT", "json")
    run.write("train.py", FAULTY)

    assert codes(run("check").stdout) == ["GL101"]
    assert run("check", "--output-format", "pylint").stdout.startswith("train.py:3: [GL101]")
    assert run("check", "--output", "pylint").stdout.startswith("train.py:3: [GL101]")


def test_the_name_of_a_file_may_hold_colons(run: Run) -> None:
    run.write("train.py", FAULTY)

    run("check", "--output", "json:a:b.json")

    assert codes((run.folder / "a:b.json").read_text()) == ["GL101"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--output", "sarf"], '--output: no format "sarf"; did you mean "sarif"?'),
        (
            ["--output", "xyz:out"],
            '--output: no format "xyz" (there are full, concise, grouped, json, json-lines, sarif, github, gitlab, '
            "junit, pylint, markdown)",
        ),
        (["--output", "json:"], '--output: "json:" names no file; "json" alone is standard output'),
        (
            ["--output", "full", "--output", "json"],
            "--output: full and json both go to standard output; give one a file",
        ),
        (["--output", "full:x", "--output", "json:./x"], "--output: full and json both go to ./x"),
        (["--output", "json:one", "--output", "sarif:other"], "--output: json and sarif both go to other"),
        (["-o", "x", "-o", "y"], "--output-file: given more than once; several reports take --output FORMAT:FILE"),
        (["--output-format", "json", "--output-format", "full"], "--output-format: given more than once; several "),
        (["--output", "json:x", "--write-baseline", "x"], "--output: --write-baseline and json both go to x"),
        (["--output", "json", "--output-format", "full"], "--output-format: not together with --output, which takes "),
        (["--output", "json", "-o", "x"], "--output-file: not together with --output, which takes FORMAT:FILE"),
        (["--output", "json:folder"], "--output: folder: is a folder"),
        (["-o", "folder"], "--output-file: folder: is a folder"),
        (["--output", "json:no/such/x"], "--output: no/such/x: its folder does not exist"),
        (["--output", "json:new/"], "--output: new/: names a folder"),
        (["--output", "json:folder/"], "--output: folder/: is a folder"),
        (["-o", ""], "--output-file: names no file"),
        (["-o", "new/"], "--output-file: new/: names a folder"),
        (["-o", "train.py", "train.py"], "--output-file: train.py: is one of the files to judge"),
        (["-o", "./train.py"], "--output-file: ./train.py: is one of the files to judge"),
        (["--output", "json:folder/../train.py", "."], "--output: folder/../train.py: is one of the files to judge"),
        (["--write-baseline", "empty.py"], "--write-baseline: empty.py: is one of the files to judge"),
        (["--output", "\x1b[31mred\nx"], '--output: no format "\\x1b[31mred\\nx" (there are full, '),
        (["--output", "json:a\nb", "--output", "full:a\nb"], "--output: json and full both go to a\\nb"),
        (["--output", "json:train.py/x"], "--output: train.py/x: its folder does not exist"),
        (["--output", "json:a\0b"], "--output: a\\x00b: "),
        (["--output", f"json:{'x' * 300}"], f"--output: {'x' * 300}: file name too long"),
    ],
)
def test_outputs_that_cannot_be_end_the_run_in_one_line_before_it_judges(
    run: Run, options: list[str], complaint: str
) -> None:
    run.write("train.py", FAULTY)
    run.write("empty.py", "")
    os.link(run.write("one"), run.folder / "other")
    (run.folder / "folder").mkdir()

    outcome = run("check", *options)

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"gradlint: {complaint}")
    assert outcome.stderr.count("\n") == 1
    assert sorted(os.listdir(run.folder)) == ["empty.py", "folder", "one", "other", "train.py"]
    assert (run.folder / "train.py").read_text() == FAULTY


@pytest.mark.parametrize("file", ["locked/new.json", "locked.json"])
def test_a_place_without_write_permission_ends_the_run_before_it_judges(run: Run, file: str) -> None:
    (run.folder / "locked").mkdir(mode=0o500)
    run.write("locked.json").chmod(0o400)
    if os.access(run.folder / file, os.W_OK) or os.access(run.folder / "locked", os.W_OK):
        pytest.skip("root may write everywhere")

    outcome = run("check", "--output", f"json:{file}", "nowhere.py")

    assert outcome == Outcome(2, "", f"gradlint: --output: {file}: permission denied\n")


def test_when_the_disk_is_full_old_reports_stay_and_none_is_left_half_written(run: Run) -> None:
    run.write("train.py", FAULTY)
    run.write("old.json", "old")

    outcome = run("check", "--output", "json:old.json", "--output", "sarif:/dev/full")

    assert outcome == Outcome(2, "", "gradlint: --output: /dev/full: no space left on device\n")
    assert (run.folder / "old.json").read_text() == "old"
    assert sorted(os.listdir(run.folder)) == ["old.json", "train.py"]


def test_devices_and_pipes_are_written_to_and_stay_what_they_are(run: Run) -> None:
    run.write("train.py", FAULTY)

    assert run("check", "--output", "json:/dev/null").exit_code == 1
    assert Path("/dev/null").is_char_device()
    told = run_process("check", "--output", "json:/dev/stderr", folder=run.folder)
    assert codes(told.stderr) == ["GL101"]


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/3", "link"])
@pytest.mark.parametrize("redirected", [">", ">>"])
def test_a_log_that_is_open_already_is_written_to_and_not_replaced(run: Run, place: str, redirected: str) -> None:
    run.write("train.py", FAULTY)
    run.write("log", "older\n")
    (run.folder / "link").symlink_to("/dev/stdout")
    gradlint = f"'{sys.executable}' -m gradlint check train.py --output pylint:{place} --output json:other.json"
    script = f"(echo before; {gradlint} 3>&1; echo after) {redirected} log"

    subprocess.run(["sh", "-c", script], cwd=run.folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)

    lines = (run.folder / "log").read_text().splitlines()
    assert lines[: -3 or None] == (["older"] if redirected == ">>" else [])
    assert (lines[-3], lines[-2][:12], lines[-1]) == ("before", "train.py:3: ", "after")


def test_a_file_that_is_mounted_is_written_in_its_place(run: Run) -> None:
    run.write("train.py", FAULTY)
    run.write("outside.json", "old" * 1000)
    run.write("report.json", "")
    enter = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    mount = "mount --bind outside.json report.json"
    if shutil.which("unshare") is None or subprocess.run([*enter, mount], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")

    command = [*enter, f'{mount} && exec "$@"', "sh", sys.executable, "-m", "gradlint", "check", "-o", "report.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "--output-format", "json"], env=environment, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (1, b"")
    assert codes((run.folder / "outside.json").read_text()) == ["GL101"]
    assert sorted(os.listdir(run.folder)) == ["outside.json", "report.json", "train.py"]


def test_a_page_that_an_earlier_run_wrote_is_written_again(run: Run) -> None:
    run.write("train.py", FAULTY)

    for _ in range(2):
        assert run("check", "--include-docs", "--output", "markdown:report.md").exit_code == 1


def test_the_summary_of_a_step_keeps_what_others_wrote(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("train.py", FAULTY)
    summary = run.write("summary.md", "# Tests\n\npassed")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    run("check", "--output", "markdown:summary.md", "--output", "markdown:other.md")

    report = (run.folder / "other.md").read_text()
    assert report.startswith("### gradlint\n")
    assert summary.read_text() == f"# Tests\n\npassed\n{report}"


def test_a_format_of_the_environment_that_is_none_counts_where_no_option_names_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADLINT_OUTPUT_FORMAT", "sarf")
    run.write("train.py", FAULTY)

    assert run("check", "--output", "json").exit_code == 1
    assert run("check", "--output-format", "json").exit_code == 1
    outcome = run("check")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "GRADLINT_OUTPUT_FORMAT" in outcome.stderr


def test_a_link_and_the_mode_of_an_old_report_stay(run: Run) -> None:
    run.write("train.py", FAULTY)
    real = run.write("real.json", "old")
    real.chmod(0o640)
    (run.folder / "link.json").symlink_to("real.json")

    run("check", "--output", "json:link.json")

    assert (run.folder / "link.json").is_symlink()
    assert codes(real.read_text()) == ["GL101"]
    assert real.stat().st_mode & 0o777 == 0o640


def test_an_old_report_stays_one_file_with_its_hard_links(run: Run) -> None:
    run.write("train.py", BROKEN)
    run.write("real.json", "x" * 10_000)
    (run.folder / "other.json").hardlink_to(run.folder / "real.json")

    run("check", "--output", "json:real.json")

    assert codes((run.folder / "other.json").read_text()) == ["GL001"]


def test_a_new_report_has_the_mode_of_any_new_file(run: Run) -> None:
    run("check", "--output", "json:new.json")
    usual = run.write("usual")

    assert (run.folder / "new.json").stat().st_mode == usual.stat().st_mode


def test_files_are_written_although_nobody_reads_standard_output(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAULTY)
    process = subprocess.Popen(
        [sys.executable, "-m", "gradlint", "check", "--output", "json:out.json", "--output", "full"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate()

    assert (process.returncode, stderr) == (141, b"")
    assert codes((tmp_path / "out.json").read_text()) == ["GL101"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("output_format", ["full", "json", "junit", "markdown", "github", "sarif"])
def test_any_encoding_of_a_terminal_can_show_a_report(run: Run, encoding: str, output_format: str) -> None:
    run.write("train.py", re.sub(r"\bw\b", "損失", FAULTY))

    outcome = run_process("check", "--output", output_format, folder=run.folder, PYTHONIOENCODING=encoding)

    assert (outcome.exit_code, outcome.stderr) == (1, "")


@pytest.mark.parametrize(
    ("severity", "failing"),
    [
        (Severity.ERROR, {None, "error", "warning", "info"}),
        (Severity.WARNING, {None, "warning", "info"}),
        (Severity.INFO, {"info"}),
    ],
)
def test_the_fail_level_decides_from_which_severity_a_run_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch, severity: Severity, failing: set[str | None]
) -> None:
    finding = Finding(Place(1, 1, 1, 2), "message", severity=severity, code="GL101", name="made-up", filename="a.py")
    monkeypatch.setattr("gradlint.run.judge_file", lambda path, *_: Judged(path, (finding,)))
    run.write("a.py", CLEAN)

    for level in (None, "error", "warning", "info"):
        options = [] if level is None else ["--fail-level", level]
        assert run("check", *options).exit_code == (1 if level in failing else 0), level
        assert run("check", *options, "--statistics").exit_code == (1 if level in failing else 0), level
        assert run("check", *options, "--exit-zero").exit_code == 0


def test_a_fail_level_that_is_none_ends_the_run(run: Run) -> None:
    outcome = run("check", "--fail-level", "fatal")

    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "fatal" in outcome.stderr


def test_a_file_that_is_named_absolutely_is_shown_from_the_working_folder_and_kept_in_json(run: Run) -> None:
    file = str(run.write("sub/broken.py", BROKEN))

    for output_format in ("full", "concise", "pylint", "grouped"):
        assert run("check", file, "--output", output_format).stdout.startswith("sub/broken.py:")
    assert run("check", file, "--output", "json").findings[0]["filename"] == file


def test_a_file_outside_of_the_working_folder_keeps_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(run.write("broken.py", BROKEN))
    (run.folder / "sub").mkdir()
    monkeypatch.chdir(run.folder / "sub")

    assert run("check", file, "--output", "concise").stdout.startswith(f"{file}:2:5: ")
    assert run("check", "../broken.py", "--output", "concise").stdout.startswith("../broken.py:2:5: ")


def test_formats_complete_in_a_shell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GRADLINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gradlint check --output j")
    monkeypatch.setenv("COMP_CWORD", "3")

    assert run().stdout.split() == ["plain,json", "plain,json-lines", "plain,junit"]


def test_the_environment_has_no_say_where_outputs_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("a.py", FAULTY)
    monkeypatch.setenv("GRADLINT_OUTPUT_FORMAT", "bogus")

    assert run("check", "--output", "concise").exit_code == 1
    assert run("check", "--output-format", "concise").exit_code == 1
    assert (run("check").exit_code, "GRADLINT_OUTPUT_FORMAT" in run("check").stderr) == (2, True)
