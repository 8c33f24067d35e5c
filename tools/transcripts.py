"""Console blocks: `$ command` lines, each followed by all that the command prints.

They are written and compared by running the commands in a folder that holds the files of the page, or in the root of
the project where the comment above the block says `output of:`.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docs_blocks import ROOT, Block, blocks_of, pages, write_files
from plain_environment import plain_environment

#: Runs the words of a command in a folder and returns what it printed, both streams in their order.
Runner = Callable[[list[str], Path], str]

_SECONDS = re.compile(r"\bin \d+\.\d+s\b")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a transcript and what follows it there."""

    line: str
    output: str

    @property
    def words(self) -> list[str]:
        """As a shell reads the line, comments left out."""
        return shlex.split(self.line, comments=True)

    @property
    def needs_tensorflow(self) -> bool:
        """Does it run a program?"""
        return self.words[0] != "gradlint" or self.words[1] == "probe"


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block.

    Raises:
        ValueError: the block does not start with a command.
    """
    if not block.text.startswith("$ "):
        raise ValueError(f"{block.place}: a console block starts with `$ command`")
    parts = re.split(r"^\$ ", block.text, flags=re.M)[1:]
    return [Command(line, output) for line, _, output in (part.partition("\n") for part in parts)]


def fresh(block: Block, run: Runner) -> str:
    """The text of the block with what its commands print now.

    Raises:
        RuntimeError: a command fails; the message names the block.
    """
    try:
        with _folder_of(block) as folder:
            for earlier in _continued(block):
                for each in commands_of(earlier):
                    run(each.words, folder)
            printed = [(each.line, as_printed(run(each.words, folder), folder)) for each in commands_of(block)]
    except RuntimeError as error:
        raise RuntimeError(f"{block.place}: {error}") from error
    return "".join(f"$ {line}\n{output}" for line, output in printed)


def _continued(block: Block) -> list[Block]:
    """The transcripts before this one whose commands change what it finds, the first one first."""
    found: list[Block] = []
    above = [each for each in blocks_of(block.page) if each.language == "console" and each.row < block.row]
    while block.directive("continues") is not None:
        block = above.pop()
        found.insert(0, block)
    return found


def as_printed(output: str, folder: Path) -> str:
    """Without what differs from run to run and from machine to machine: seconds, and where the folder is."""
    return _SECONDS.sub("in 1.00s", output).replace(str(folder), "/project")


@contextlib.contextmanager
def _folder_of(block: Block) -> Iterator[Path]:
    if block.directive("output of") is not None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_files(block, folder)
        yield folder


def run_process(words: list[str], folder: Path) -> str:
    """Run `gradlint` or `pytest` of this environment in a process of its own.

    Raises:
        RuntimeError: gradlint ends with another status than 0 or 1.
    """
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**plain_environment(), **PLAIN, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if words[0] == "gradlint" and done.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(words)}: {done.stdout}")
    return done.stdout


#: No colours, no remarks of TensorFlow, no folders that pytest leaves behind.
PLAIN = {
    "NO_COLOR": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",  # both streams in their order
}


def needs_tensorflow(block: Block) -> bool:
    """Does any of its commands?"""
    return any(command.needs_tensorflow for command in commands_of(block))


def fresh_pages(*, with_tensorflow: bool = False) -> dict[Path, str]:
    """Every page with fresh transcripts; those that need TensorFlow only when asked for."""
    wanted = {}
    for page in pages():
        lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
        for block in reversed([each for each in blocks_of(page) if each.language == "console"]):
            if with_tensorflow or not needs_tensorflow(block):
                lines[block.row : block.end - 1] = [fresh(block, run_process)]
        wanted[page] = "".join(lines)
    return wanted
