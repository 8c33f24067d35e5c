"""Every fenced block of README and docs/ is held to what it says: programs run, transcripts are what commands print,
settings are accepted, command lines parse.

What a comment above a block can say is told in `tools/docs_blocks.py`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from docs_blocks import LANGUAGES, ROOT, Block, Program, all_blocks, programs, write_files
from docs_children import has_tests
from gradlint.cli.main import main
from support import Run
from tensorflow_children import answers
from transcripts import Runner, commands_of, fresh, needs_tensorflow, run_process

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BLOCKS = all_blocks()
PROGRAMS = list(programs())
TRANSCRIPTS = [block for block in BLOCKS if block.language == "console"]
_NAMED_CODE = re.compile(r"\b[A-Z]{2,}\d{3,}\b")

Look = Callable[[Program], tuple[str, str]]


def of_language(language: str) -> list[Any]:
    return [pytest.param(block, id=block.place) for block in BLOCKS if block.language == language]


def prepared(program: Program, folder: Path) -> None:
    """The program and the files that its page has named above it."""
    write_files(program.block, folder)
    path = folder / program.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program.text, encoding="utf-8")


@pytest.fixture(scope="module")
def end_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Look:
    """How programs ended: all that were selected run together; under pytest-xdist each when it is asked for."""
    pytest.importorskip("tensorflow")
    together = "PYTEST_XDIST_WORKER" not in os.environ
    selected = {
        program.block.place
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.originalname == test_a_program_ends_as_it_says.__name__
        and isinstance(program := item.callspec.params["program"], Program)
    }
    ends: dict[str, tuple[str, str]] = {}

    def run(chosen: list[Program]) -> None:
        work = []
        for program in chosen:
            folder = tmp_path_factory.mktemp("page")
            prepared(program, folder)
            work.append({"folder": str(folder), "program": program.name, "place": program.block.place})
        for answer in answers("docs_children", work):
            ends[answer.work["place"]] = json.loads(answer.text) if answer.text else (answer.problem, "")

    def look(program: Program) -> tuple[str, str]:
        if program.block.place not in ends:
            run([each for each in PROGRAMS if each.block.place in selected] if together else [program])
        kind, words = ends[program.block.place]
        return kind, words

    return look


@pytest.mark.parametrize("program", [pytest.param(each, id=each.block.place) for each in PROGRAMS])
def test_a_program_ends_as_it_says(program: Program, end_of: Look) -> None:
    fails = program.block.directive("fails") is not None
    stated = "TestsFailed" if fails else program.block.directive("raises") or ""

    kind, words = end_of(program)

    assert (kind, words if kind != stated else "") == (stated, "")


@pytest.mark.parametrize("program", [pytest.param(each, id=each.block.place) for each in PROGRAMS])
def test_gradlint_finds_in_a_program_what_its_comments_name_and_nothing_else(
    program: Program, run: Run, tmp_path: Path
) -> None:
    prepared(program, tmp_path)
    named = [
        (row, code)
        for row, line in enumerate(program.text.splitlines(), 1)
        for code in _NAMED_CODE.findall(line.partition("  # ")[2])
    ]

    findings = run("check", program.name, "--output-format", "json").findings
    found = sorted((each["location"]["row"], each["code"]) for each in findings)

    codes = program.block.directive("finds")
    assert [code for _, code in found] == codes.split() if codes else found == sorted(named)


@pytest.mark.parametrize("block", [pytest.param(b, id=b.place) for b in TRANSCRIPTS if not needs_tensorflow(b)])
def test_a_transcript_is_what_the_commands_print(block: Block) -> None:
    assert fresh(block, run_process) == block.text


@pytest.mark.parametrize("block", [pytest.param(b, id=b.place) for b in TRANSCRIPTS if needs_tensorflow(b)])
def test_a_transcript_of_a_run_is_what_the_commands_print(block: Block) -> None:
    pytest.importorskip("tensorflow")

    def run_in_child(words: list[str], folder: Path) -> str:
        (answer,) = answers("docs_children", [{"folder": str(folder), "words": words}])
        return answer.text or answer.problem

    runner: Runner = run_in_child
    assert fresh(block, runner) == block.text


@pytest.mark.parametrize("block", of_language("python"))
def test_python_is_python(block: Block) -> None:
    ast.parse(textwrap.dedent(block.text))
    source = block.directive("from")
    if source is not None:
        assert block.text in (ROOT / source).read_text(encoding="utf-8")


@pytest.mark.parametrize("block", of_language("toml"))
def test_settings_are_accepted(block: Block, run: Run, tmp_path: Path) -> None:
    if "gradlint" in tomllib.loads(block.text).get("tool", {}):
        write_files(block, tmp_path)
        run.write("pyproject.toml", block.text)
        run.write("train.py", "import tensorflow as tf\n")

        done = run("check", ".")

        assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("block", of_language("yaml"))
def test_yaml_is_yaml(block: Block) -> None:
    assert yaml.safe_load(block.text)


@pytest.mark.parametrize("block", of_language("json"))
def test_json_is_json(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", of_language("bash"))
def test_command_lines_name_commands_and_options_that_exist(block: Block) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        words = words[: next((place for place, word in enumerate(words) if word in ("<", ">", "|", "&&")), len(words))]
        if words[:1] == ["gradlint"]:
            parse(words[1:])
        elif words[:1] == ["make"]:
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
            assert set(words[1:]) <= set(targets)
        elif words[:1] == ["python"] and words[1].endswith(".py"):
            assert (ROOT / words[1]).is_file()


def parse(words: list[str]) -> None:
    """Parse the command line without running it; click raises on what does not exist."""
    context = main.make_context("gradlint", [], resilient_parsing=True)
    command = main.get_command(context, words[0])
    if command is None:
        raise click.UsageError(f"no command {words[0]}")
    command.make_context(words[0], words[1:], click.Context(main))


def test_every_block_names_a_language_that_is_held_to_something() -> None:
    assert [f"{block.place}: {block.language!r}" for block in BLOCKS if block.language not in LANGUAGES] == []


def test_transcripts_start_with_a_command() -> None:
    assert all(commands_of(block) for block in TRANSCRIPTS)


def test_fragments_stay_few() -> None:
    whole = [each for each in BLOCKS if each.language == "python" and "rules" not in each.page.parts]
    fragments = [each.place for each in whole if each.is_fragment]

    assert len(fragments) <= len(whole) / 5, fragments


def test_programs_with_tests_are_seen() -> None:
    assert has_tests("def test_it(gradient_probe):\n    pass\n")
    assert not has_tests("def train():\n    pass\n")
