"""What a command may import: `--help` next to nothing, the static half never TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import FAULTY, ROOT

HEAVY = ["ast", "concurrent.futures", "gradlint.engine", "gradlint.flow", "gradlint.rule", "json", "rich"]
FOREIGN = ["keras", "numpy", "tensorflow", "tf_keras"]


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that are loaded when the command has run."""
    program = (
        "import sys\n"
        "from gradlint.cli.main import main\n"
        "try:\n"
        "    main(sys.argv[1:], prog_name='gradlint')\n"
        "except SystemExit:\n"
        "    print('\\n'.join(['MODULES', *sys.modules]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.partition("MODULES\n")[2].split())


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["check", "--help"], ["probe", "--help"]], ids=" ".join
)
def test_help_and_version_import_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    bare = imported(tmp_path, "--no-such-option")  # what Python and click load themselves

    loaded = imported(tmp_path, *arguments)

    assert "gradlint.cli.main" in loaded
    assert sorted(loaded.intersection([*HEAVY, *FOREIGN]) - bare) == []
    assert sorted(bare.intersection(name for name in [*HEAVY, *FOREIGN] if "gradlint" in name or name == "rich")) == []


@pytest.mark.parametrize(
    "arguments",
    [["check", "train.py"], ["flow", "train.py"], ["rule", "--all"], ["check", "--output-format", "json", "."]],
    ids=" ".join,
)
def test_the_static_half_never_imports_tensorflow(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "train.py").write_text(FAULTY)

    loaded = imported(tmp_path, *arguments)

    assert "gradlint.rule" in loaded
    assert sorted(loaded.intersection([*FOREIGN, "rich"])) == []


def test_what_was_measured_is_shown_without_the_engine(tmp_path: Path) -> None:
    loaded = imported(tmp_path, "ops", "tf.math.round")

    assert "gradlint.knowledge.measured" in loaded
    assert sorted(loaded.intersection([*FOREIGN, "gradlint.engine", "gradlint.flow", "libcst", "rich"])) == []


def test_the_checked_code_is_never_imported_or_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{FAULTY}\nopen('was_run', 'w')\n")

    loaded = imported(tmp_path, "check", ".")

    assert "train" not in loaded
    assert not (tmp_path / "was_run").exists()
