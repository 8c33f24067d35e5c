"""What all tests need: the same surroundings anywhere. And most: the command line in a folder of their own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from plain_environment import ASKING
from support import Run

# The first example imports modules, and machines are busy: how long one takes says nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def plain_surroundings() -> Iterator[None]:
    """A test asks for what it wants to see. Afterwards pytest finds its own wishes again, for the summary.

    What a shell starts in the background ignores interrupts, and so would what the tests start.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in ASKING:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("check", ...)` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path)
