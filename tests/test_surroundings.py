"""What the system refuses, and how Python was started: no traceback, no code of the checked project, equal findings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gradlint.run import MANY_FILES
from support import CLEAN, FAULTY, ROOT, Outcome, Run, codes, run_process

COMMAND = [sys.executable, "-m", "gradlint"]


def environment() -> dict[str, str]:
    """Of a process that finds gradlint."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "--exit-zero"], ["check", "clean.py"], ["--help"], ["check", "--help"], ["rule", "--all"]],
    ids=" ".join,
)
def test_standard_output_that_cannot_be_written_is_told_in_one_line(
    run: Run, arguments: list[str], unbuffered: str
) -> None:
    run.write("clean.py", CLEAN)

    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            env={**environment(), "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert (done.returncode, done.stderr) == (2, b"gradlint: standard output: no space left on device\n")


def test_a_complaint_that_cannot_be_written_fails_the_run(run: Run) -> None:
    run.write("clean.py", CLEAN)

    with open("/dev/full", "wb") as full:
        for output in (subprocess.PIPE, full):
            command = [*COMMAND, "check", "nowhere.py"]
            assert subprocess.run(command, env=environment(), stdout=output, stderr=full, check=False).returncode == 2


def test_a_working_folder_that_was_deleted_is_told_in_one_line(tmp_path: Path) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'

    def told(*arguments: str) -> Outcome:
        command = ["sh", "-c", script, "sh", *COMMAND, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    assert told("check") == Outcome(2, "", "gradlint: the working folder: no such file or directory\n")
    assert told("--version").exit_code == 0


@pytest.mark.parametrize("limit", [10, 12, 16, 24])
def test_where_there_are_no_files_for_more_processes_one_judges_all(run: Run, limit: int) -> None:
    for number in range(MANY_FILES):
        run.write(f"m{number}.py", FAULTY)

    done = subprocess.run(
        [*COMMAND, "check", "--jobs", "4", "--output", "json"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)),
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert codes(done.stdout) == ["GL101"] * MANY_FILES


@pytest.mark.parametrize("arguments", [["check", "--output", "sarif"], ["rule"], ["rule", "GL101"], ["rule", "--all"]])
def test_python_without_docstrings_knows_the_pages_of_rules(run: Run, arguments: list[str]) -> None:
    run.write("train.py", FAULTY)

    stripped = run_process(*arguments, folder=run.folder, PYTHONOPTIMIZE="2")

    assert (
        "The loss, or the forward pass that leads to it, is computed while its tape is not recording" in stripped.stdout
    )
    assert stripped == run_process(*arguments, folder=run.folder)


@pytest.mark.parametrize("name", ["typing", "importlib", "contextlib", "click", "errno", "re"])
def test_a_module_of_the_checked_project_is_not_run(run: Run, name: str) -> None:
    run.write(f"{name}.py", "print('executed')\nraise SystemExit(5)\n")
    run.write("train.py", FAULTY)

    outcome = run_process("check", "train.py", "--output", "json", folder=run.folder)

    assert (outcome.exit_code, codes(outcome.stdout), outcome.stderr) == (1, ["GL101"], "")
