"""The shell is offered commands, options, rules and files: asked as the scripts ask, and in bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradlint.rule import all_rules
from support import ROOT


@pytest.fixture
def gradlint(tmp_path: Path) -> Path:
    """The command as pip installs it: its name decides which variable it reads."""
    command = tmp_path / "gradlint"
    command.write_text(f"#!{sys.executable}\nfrom gradlint.cli.main import main\n\nmain()\n")
    command.chmod(0o755)
    return command


def ask(command: Path, **environment: str) -> str:
    """What it prints when a shell asks."""
    done = subprocess.run(
        [command],
        cwd=command.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def offered(command: Path, *words: str) -> list[tuple[str, str]]:
    """Kind and text of what bash is offered for the last word."""
    asked = {"_GRADLINT_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["gradlint", *words])}
    lines = (line.partition(",") for line in ask(command, **asked, COMP_CWORD=str(len(words))).splitlines())
    return [(kind, text) for kind, _, text in lines]


def texts(command: Path, *words: str) -> list[str]:
    return [text for _, text in offered(command, *words)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str, gradlint: Path) -> None:
    assert f"_GRADLINT_COMPLETE={shell}_complete" in ask(gradlint, _GRADLINT_COMPLETE=f"{shell}_source")


def test_commands_are_completed(gradlint: Path) -> None:
    assert texts(gradlint, "ch") == ["check"]


def test_options_are_completed(gradlint: Path) -> None:
    assert texts(gradlint, "check", "--exit") == ["--exit-zero"]


def test_values_of_options_are_completed(gradlint: Path) -> None:
    assert texts(gradlint, "check", "--output-format", "con") == ["concise"]


def test_rules_are_completed_by_code_and_by_name(gradlint: Path) -> None:
    assert texts(gradlint, "rule", "GL10") == [rule.code for rule in all_rules() if rule.code.startswith("GL10")]
    assert texts(gradlint, "rule", "forward-") == ["forward-outside-tape"]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_lists_of_rules_are_completed_behind_the_comma(option: str, gradlint: Path) -> None:
    assert texts(gradlint, "check", option, "GL101,late-") == ["GL101,late-mask"]
    assert texts(gradlint, "check", option, "AL") == ["ALL"]


def test_events_are_completed(gradlint: Path) -> None:
    assert texts(gradlint, "new-rule", "--event", "ItemA") == ["ItemAssigned"]


def test_rules_are_completed_behind_the_colon_of_a_pattern(gradlint: Path) -> None:
    assert texts(gradlint, "check", "--per-file-ignores", "tests/:GL101,late-") == ["tests/:GL101,late-mask"]
    assert offered(gradlint, "check", "--per-file-ignores", "te") == [("file", "te")]


def test_files_are_completed_behind_the_colon_of_a_format(gradlint: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in ("out.sarif", "out/a.sarif", "out/.hidden"):
        (tmp_path / name).touch()

    assert texts(gradlint, "check", "--output", "sarif:ou") == ["sarif:out/", "sarif:out.sarif"]
    assert texts(gradlint, "check", "--output", "sarif:out/") == ["sarif:out/a.sarif"]


def test_functions_are_completed(gradlint: Path) -> None:
    assert texts(gradlint, "ops", "tf.math.rou") == ["tf.math.round"]


@pytest.mark.parametrize(
    "words", [("check", "sr"), ("flow", "sr"), ("probe", "sr"), ("check", "-o", "sr")], ids=" ".join
)
def test_files_are_left_to_the_shell(words: tuple[str, ...], gradlint: Path) -> None:
    assert offered(gradlint, *words) == [("file", "sr")]


def test_bash_itself_completes_with_the_script(gradlint: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    script = ask(gradlint, _GRADLINT_COMPLETE="bash_source")
    asked = "COMP_WORDS=(gradlint rule derived-); COMP_CWORD=2; _gradlint_completion gradlint; echo ${COMPREPLY[@]}"

    done = subprocess.run(
        [bash, "--norc", "-c", f"{script}\n{asked}"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{gradlint.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("derived-before-tape\n", "")
