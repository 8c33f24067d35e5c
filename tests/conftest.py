"""What most tests need: the command line in a folder of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from support import Run

# The first example imports modules, and machines are busy: how long one takes says nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("check", ...)` in an empty folder, without what the environment of the tests asks for."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "GRADLINT_CONFIG", "GRADLINT_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    return Run(tmp_path)
