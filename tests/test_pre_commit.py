"""The hook `gradlint`, as pre-commit itself installs and runs it: from a repository, without TensorFlow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import CLEAN, FAULTY, ROOT

MEGABYTE = 1_000_000
#: The number that is promised for the environment of the hook.
MOST_MEGABYTES = 60

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "A lesson"},
        {"cell_type": "code", "metadata": {}, "source": FAULTY, "outputs": [], "execution_count": None},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def committed(folder: Path) -> str:
    """Make a repository of the folder, and return its one commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--no-verify", "--message", "All of it")
    return git(folder, "rev-parse", "HEAD").strip()


def clone_of_project(folder: Path) -> str:
    """A repository with what git sees of this working tree, changes included."""
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        source, target = ROOT / name, folder / name
        if name and (source.is_file() or source.is_symlink()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return committed(folder)


@dataclass(frozen=True)
class Hook:
    """A repository that uses the hook, and the folder in which pre-commit keeps the environment."""

    repository: Path
    home: Path
    rev: str
    source: Path

    def __call__(self, *files: str, hook: str = "") -> subprocess.CompletedProcess[str]:
        """`pre-commit run` over these files, with lines of YAML for the hook."""
        config = f"repos:\n- repo: {self.source}\n  rev: {self.rev}\n  hooks:\n  - id: gradlint\n{hook}"
        (self.repository / ".pre-commit-config.yaml").write_text(config)
        git(self.repository, "add", "--all")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--color=never", *(["--files", *files] if files else ["-a"])],
            cwd=self.repository,
            env={**environment, "PRE_COMMIT_HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def environment(self) -> Path:
        """The virtual environment of the hook."""
        (found,) = self.home.glob("repo*/py_env-*")
        return found


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Hook:
    """The hook from a copy of this working tree, in a repository with a correct program."""
    folder = tmp_path_factory.mktemp("hook")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(folder / "wheels"),
        "click",
    ]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("pre-commit installs from the package index, which cannot be reached")
    source, repository = folder / "gradlint", folder / "repository"
    rev = clone_of_project(source)
    repository.mkdir()
    (repository / "correct.py").write_text(CLEAN)
    (repository / "notes.md").write_text("# Notes\n")
    committed(repository)
    return Hook(repository, folder / "home", rev, source)


def test_the_hook_judges_scripts_and_notebooks(hook: Hook) -> None:
    assert "Passed" in hook().stdout
    assert "(no files to check)Skipped" in hook("notes.md").stdout

    (hook.repository / "train.py").write_text(FAULTY)
    (hook.repository / "lesson.ipynb").write_text(json.dumps(NOTEBOOK))
    failed = hook(hook="    args: [--output-format, concise]\n")

    assert failed.returncode == 1
    assert [line.partition(" ")[0] for line in failed.stdout.splitlines() if "GL101" in line] == [
        "lesson.ipynb:cell",
        "train.py:3:8:",
    ]
    assert "- exit code: 1" in failed.stdout
    assert hook("correct.py").returncode == 0


def test_a_setting_that_makes_no_sense_fails_the_hook(hook: Hook) -> None:
    failed = hook("correct.py", hook="    args: [--select, GL1O1]\n")

    assert "- exit code: 2" in failed.stdout
    assert 'gradlint: --select: no rule "GL1O1"; did you mean "GL101" (forward-outside-tape)?' in failed.stdout


def test_the_environment_of_the_hook_is_small_whole_and_without_tensorflow(hook: Hook, tmp_path: Path) -> None:
    hook("correct.py")
    files = [path for path in hook.environment.rglob("*") if path.is_file() and not path.is_symlink()]
    installed = {path.name.split("-")[0].lower() for path in hook.environment.rglob("*.dist-info")}

    assert {"gradlint_tf", "click", "rich"} <= installed
    assert installed & {"tensorflow", "tensorflow_cpu", "keras", "tf_keras", "numpy", "libcst"} == set()
    assert sum(path.stat().st_blocks * 512 for path in files) < MOST_MEGABYTES * MEGABYTE
    for arguments in (["new-rule", "ACME001", "own-rule"], ["test-rule", "own_rule.py"]):
        command = [str(hook.environment / "bin" / "gradlint"), *arguments]
        subprocess.run(command, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True, check=True)


def test_pre_commit_accepts_the_description_of_the_hook() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]

    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
