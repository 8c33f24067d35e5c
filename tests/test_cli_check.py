"""`gradlint check`: exit status, choice of rules, output, processes, standard input, interruption."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradlint.config import Settings
from gradlint.engine import Judged, judge_file
from gradlint.flow.project import Project
from gradlint.rule import Finding, Place, Severity
from support import BROKEN, CLEAN, FAULTY, ROOT, Outcome, Run, check, codes, moved, places, run_process


def test_a_loss_before_the_tape_is_found_where_it_is_computed(run: Run) -> None:
    run.write("train.py", FAULTY)

    result = run("check", "train.py", "--output-format", "json")

    assert places(result) == [("train.py", 3, "GL101")]
    assert result.exit_code == 1


def test_a_loss_under_the_tape_is_clean(run: Run) -> None:
    run.write("train.py", CLEAN)

    result = run("check", "train.py")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "All checks passed. (1 file, 1 of them with TensorFlow or Keras)\n"
        "Decided 1 of 1 source (100%) in 1 gradient call.\n"
    )


@pytest.mark.parametrize("rows", [1, 7])
def test_lines_above_move_a_finding_and_change_nothing_else(rows: int) -> None:
    assert check("# note\n" * rows + FAULTY) == [moved(finding, rows) for finding in check(FAULTY)]


def test_a_file_without_tensorflow_is_not_even_parsed(run: Run) -> None:
    run.write("web.py", "x = (\n")

    result = run("check", "web.py")

    assert (result.exit_code, result.stdout) == (
        0,
        "Nothing to judge. (1 file, 0 of them with TensorFlow or Keras)\n",
    )


def test_a_missing_path_is_an_error_and_the_rest_is_judged(run: Run) -> None:
    run.write("broken.py", BROKEN)

    result = run("check", "broken.py", "nowhere.py", "--output-format", "json")

    assert result.exit_code == 2
    assert result.stderr == "gradlint: nowhere.py: no such file\n"
    assert codes(result.stdout) == ["GL001"]


def test_a_run_that_failed_does_not_say_that_all_checks_passed(run: Run) -> None:
    run.write("train.py", CLEAN)

    assert run("check", "train.py", "nowhere.py").stdout == ""


def test_a_folder_without_python_files_is_noted(run: Run) -> None:
    result = run("check")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "gradlint: no Python files in .\n")


def test_exit_zero_prints_findings_and_succeeds(run: Run) -> None:
    run.write("broken.py", BROKEN)

    result = run("check", "--exit-zero", "--output-format", "json")

    assert (result.exit_code, codes(result.stdout)) == (0, ["GL001"])


def test_exit_zero_does_not_hide_a_missing_path(run: Run) -> None:
    assert run("check", "nowhere.py", "--exit-zero").exit_code == 2


SUPPRESSES_NOTHING = "import keras\nx = 1  # gradlint: ignore[GL002]\ny = 2  # gradlint: ignore[GL0O2]\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["GL003", "GL004"]),
        (["--select", "GL003"], ["GL003"]),
        (["--select", "unused-suppression"], ["GL003"]),
        (["--select", "GL003,GL004"], ["GL003", "GL004"]),
        (["--select", "GL003", "--select", "GL004"], ["GL003", "GL004"]),
        (["--select", "GL0"], ["GL003", "GL004"]),
        (["--select", "ALL", "--ignore", "GL004"], ["GL003"]),
        (["--ignore", "invalid-suppression,GL003"], []),
        (["--select", "GL002,GL003", "--ignore", "GL0"], ["GL003"]),
        (["--select", "GL003", "--ignore", "GL003"], []),
        (["--ignore", "ALL"], []),
    ],
)
def test_rules_are_chosen_by_code_prefix_name_or_all(run: Run, options: list[str], expected: list[str]) -> None:
    run.write("a.py", SUPPRESSES_NOTHING)

    assert codes(run("check", "--output-format", "json", *options).stdout) == expected


def test_a_file_that_cannot_be_judged_is_reported_whatever_is_selected(run: Run) -> None:
    run.write("broken.py", BROKEN)

    assert codes(run("check", "--select", "GL003", "--output-format", "json").stdout) == ["GL001"]
    assert codes(run("check", "--ignore", "GL001", "--output-format", "json").stdout) == []


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("GL0O1", '--select: no rule "GL0O1"; did you mean "GL001" (syntax-error)?'),
        ("syntax-eror", '--select: no rule "syntax-eror"; did you mean "syntax-error" (GL001)?'),
        ("zzzzzzzz", '--select: no rule "zzzzzzzz"'),
    ],
)
def test_an_unknown_rule_ends_the_run_in_one_line(run: Run, word: str, complaint: str) -> None:
    result = run("check", "--select", word)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: {complaint}\n")


def test_an_unknown_option_ends_the_run(run: Run) -> None:
    result = run("check", "--no-such-option")

    assert result.exit_code == 2
    assert "--no-such-option" in result.stderr


def test_standard_input_is_judged_under_the_name_given(run: Run) -> None:
    result = run("check", "-", "--stdin-filename", "train.py", "--output-format", "json", stdin=BROKEN.encode())

    assert places(result) == [("train.py", 2, "GL001")]


@pytest.mark.parametrize("paths", [["-", "train.py"], ["-", "."], ["./train.py", "-"]], ids=" ".join)
def test_standard_input_takes_the_place_of_the_file_whose_name_it_has(run: Run, paths: list[str]) -> None:
    run.write("train.py", FAULTY)
    stdin = f"\n{FAULTY}".encode()

    result = run("check", *paths, "--stdin-filename", "train.py", "--output-format", "json", stdin=stdin)

    assert places(result) == [("train.py", 4, "GL101")]
    assert run("check", *paths, "--stdin-filename", "train.py", "--show-files", stdin=stdin).stdout == "train.py\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_files_import_what_stands_on_standard_input_under_the_name_of_a_module(run: Run, jobs: str) -> None:
    trainer = CLEAN.replace("tf\n", "tf\nfrom losses import loss_of\n", 1).replace("w * w", "loss_of(w)")
    for name in ("one.py", "two.py"):
        run.write(name, trainer)
    loss = "import tensorflow as tf\ndef loss_of(w):\n    return {}\n"
    run.write("losses.py", loss.format("w"))
    arguments = ("check", "-", ".", "--stdin-filename", "losses.py", "--jobs", jobs, "--output-format", "json")

    assert places(run(*arguments, stdin=loss.format("tf.round(w)").encode())) == [("losses.py", 3, "GL202")]

    run.write("losses.py", loss.format("tf.round(w)"))
    assert places(run(*arguments, stdin=loss.format("w").encode())) == []


def test_a_name_for_standard_input_is_enough_to_read_it(run: Run) -> None:
    run.write("other.py", BROKEN)

    result = run("check", "--stdin-filename", "train.py", "--output-format", "json", stdin=FAULTY.encode())

    assert places(result) == [("train.py", 3, "GL101")]


def test_a_name_for_standard_input_beside_other_paths_alone_ends_the_run(run: Run) -> None:
    result = run("check", "other.py", "--stdin-filename", "train.py", stdin=FAULTY.encode())

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "gradlint: --stdin-filename: names standard input, `-`, which is not among the paths\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("redirection", "words"),
    [("<&-", "is closed"), ("0> out.txt", "cannot be read: ")],
)
def test_standard_input_that_cannot_be_read_is_one_line(tmp_path: Path, redirection: str, words: str) -> None:
    command = f"{sys.executable} -m gradlint check - {redirection}"

    done = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"gradlint: -: standard input {words}")


def test_standard_input_without_a_name_is_called_by_its_dash(run: Run) -> None:
    assert places(run("check", "-", "--output-format", "json", stdin=BROKEN.encode())) == [("-", 2, "GL001")]


def test_the_report_goes_to_the_output_file(run: Run) -> None:
    run.write("broken.py", BROKEN)

    result = run("check", "broken.py", "--output-format", "json", "--output-file", "report.json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert codes((run.folder / "report.json").read_text()) == ["GL001"]


def test_an_output_file_that_cannot_be_written_ends_the_run(run: Run) -> None:
    result = run("check", "--output-file", "no/such/folder/report.json")

    complaint = "gradlint: --output-file: no/such/folder/report.json: its folder does not exist\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", complaint)


def test_statistics_count_findings_per_rule(run: Run) -> None:
    run.write("a.py", BROKEN)
    run.write("b.py", BROKEN)
    run.write("c.py", SUPPRESSES_NOTHING)

    result = run("check", "--statistics")

    assert result.stdout.splitlines() == [
        "2  GL001  syntax-error",
        "1  GL003  unused-suppression",
        "1  GL004  invalid-suppression",
        "Found 4 findings (2 errors, 2 warnings).",
    ]
    assert json.loads(run("check", "--statistics", "--output-format", "json").stdout)[0] == {
        "code": "GL001",
        "name": "syntax-error",
        "count": 2,
    }


def test_order_and_findings_do_not_depend_on_processes(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"f{number:02}.py").write_text(BROKEN if number % 3 else CLEAN)

    one, two = (
        run_process("check", "--jobs", jobs, "--output-format", "json", "--no-cache", folder=tmp_path)
        for jobs in ("1", "2")
    )

    assert one == two
    assert [each["filename"] for each in one.findings] == [f"f{n:02}.py" for n in range(40) if n % 3]


def test_hints_do_not_count_in_the_exit_status(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hint = Finding(Place(1, 1, 1, 2), "message", severity=Severity.INFO, code="GL707", name="hint", filename="a.py")
    monkeypatch.setattr("gradlint.run.judge_file", lambda path, *_: Judged(path, (hint,)))
    run.write("a.py", CLEAN)

    result = run("check", "--output-format", "concise")

    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "a.py:1:1: info GL707 hint: message")


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the patch reaches forked processes only")
def test_a_process_that_dies_is_a_finding_of_the_guilty_file_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def die_in_b(path: str, settings: Settings, project: Project) -> Judged:
        if path == "b.py":
            os._exit(9)
        return judge_file(path, settings, project)

    monkeypatch.setattr("gradlint.run.judge_file", die_in_b)
    for name in ("a.py", "b.py", "c.py", "d.py"):
        run.write(name, BROKEN)

    found = places(run("check", "--jobs", "2", "--output-format", "json"))

    assert found == [("a.py", 2, "GL001"), ("b.py", 1, "GL009"), ("c.py", 2, "GL001"), ("d.py", 2, "GL001")]


def test_python_m_gradlint_is_the_same_command(tmp_path: Path) -> None:
    assert run_process("--version", folder=tmp_path).stdout == "gradlint 0.1.0\n"


def test_a_closed_pipe_ends_the_run_quietly(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / f"a_rather_long_name_to_fill_the_pipe_{number:04}.py").write_text(BROKEN)
    process = subprocess.Popen(
        [sys.executable, "-m", "gradlint", "check"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None

    first = process.stdout.readline()
    process.stdout.close()

    assert "GL001" in first
    assert process.wait() == 141
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_closed_standard_output_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BROKEN)
    command = f'exec "{sys.executable}" -m gradlint check >&-'

    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_the_run_in_one_line(tmp_path: Path, jobs: str) -> None:
    os.mkfifo(tmp_path / "endless.py")  # reading it waits for a writer that never comes
    (tmp_path / "other.py").write_text(BROKEN)
    process = subprocess.Popen(
        [sys.executable, "-m", "gradlint", "check", "endless.py", "other.py", "--jobs", jobs],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=3)  # until it surely reads

    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate()

    assert (process.returncode, stdout, stderr) == (130, "", "gradlint: interrupted\n")


def test_help_names_every_option(run: Run) -> None:
    text = run("check", "--help").stdout

    for option in ("--select", "--ignore", "--output-format", "--output-file", "--exit-zero", "--jobs", "--no-cache"):
        assert option in text
    assert "--statistics" in text
    assert "--stdin-filename" in text


def test_names_in_complaints_are_told_on_one_line(run: Run) -> None:
    assert run("check", "--output", "bo\ngus").stderr.startswith('gradlint: --output: no format "bo\\ngus" (there are ')
    assert run("check", "").stderr == 'gradlint: "": no such file\n'


@pytest.mark.parametrize("name", ["page.md", "page.rst"])
def test_a_page_that_is_named_says_how_it_is_judged(run: Run, name: str) -> None:
    run.write(name, f"```python\n{FAULTY}```\n" if name.endswith("md") else "Nothing\n")
    told = f"gradlint: {name}: not judged: code in pages takes --include-docs\n"

    assert run("check", name) == Outcome(0, "", told)
    assert run("check", "-", "--stdin-filename", name, stdin=FAULTY.encode()) == Outcome(0, "", told)
    assert run("check", name, "--include-docs").stderr == ""
