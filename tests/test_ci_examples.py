"""The files in docs/ci.md: what GitHub, GitLab and pre-commit publish about their formats accepts them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

FILES = dict(
    re.findall(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.S)
)
CHECKS = {
    ".github/workflows/gradlint.yml": ["check_jsonschema", "--builtin-schema", "vendor.github-workflows"],
    ".gitlab-ci.yml": [
        "check_jsonschema",
        *("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    ],
    ".pre-commit-config.yaml": ["pre_commit", "validate-config"],
}


def accepts(name: str, text: str, folder: Path) -> bool:
    path = folder / Path(name).name
    path.write_text(text)
    command = [sys.executable, "-m", *CHECKS[name], str(path)]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def test_each_file_is_checked() -> None:
    assert sorted(FILES) == sorted(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_the_published_schema_accepts_the_file(name: str, tmp_path: Path) -> None:
    assert accepts(name, FILES[name], tmp_path)


@pytest.mark.parametrize(
    ("name", "word", "wrong"),
    [
        (".github/workflows/gradlint.yml", "runs-on", "runs-at"),
        (".gitlab-ci.yml", "when: always", "when: ever"),
        (".pre-commit-config.yaml", "rev:", "revision:"),
    ],
)
def test_the_check_would_see_a_mistake(name: str, word: str, wrong: str, tmp_path: Path) -> None:
    assert word in FILES[name]
    assert not accepts(name, FILES[name].replace(word, wrong), tmp_path)
