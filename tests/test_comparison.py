"""The column of gradlint in docs/comparison.md is true: what it names exists, what it denies does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import click
import pytest

from gradlint.cli.main import main
from support import BROKEN, CLEAN, FAULTY, ROOT, Run

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
#: Words of a row that gradlint denies, and what would show that it has it after all.
DENIED = {
    "fixes": "--fix",
    "show a diff": "--diff",
    "watch": "--watch",
    "editors (LSP)": "server",
    "reported all the same": "--ignore-noqa",
}


def rows() -> Iterator[tuple[str, str]]:
    """The first two cells of every row of the tables."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] and set(cells[0]) != {"-"}:
            yield cells[0], cells[1]


def in_backticks(pattern: str) -> list[str]:
    """What the column writes in backticks and looks like this."""
    return [word for _, cell in rows() for word in re.findall(r"`([^`]+)`", cell) if re.fullmatch(pattern, word)]


@dataclass(frozen=True)
class CommandLine:
    """The commands and all of their options."""

    commands: tuple[str, ...]
    options: frozenset[str]
    formats: tuple[str, ...]


@pytest.fixture(scope="module")
def command_line() -> CommandLine:
    context = main.make_context("gradlint", [], resilient_parsing=True)
    options: list[click.Option] = []
    formats: tuple[str, ...] = ()
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        mine = [each for each in command.params if isinstance(each, click.Option)]
        options += mine
        for each in mine:
            if name == "check" and "--output-format" in each.opts and isinstance(each.type, click.Choice):
                formats = tuple(each.type.choices)
    return CommandLine(
        tuple(main.list_commands(context)), frozenset(name for each in options for name in each.opts), formats
    )


@pytest.mark.parametrize("option", in_backticks(r"--[\w-]+"))
def test_an_option_that_is_named_exists(option: str, command_line: CommandLine) -> None:
    assert option in command_line.options


@pytest.mark.parametrize("command", [word.split()[1] for word in in_backticks(r"gradlint [\w-]+")])
def test_a_command_that_is_named_exists(command: str, command_line: CommandLine) -> None:
    assert command in command_line.commands


@pytest.mark.parametrize("format_", dict(rows())["formats"].split(", "))
def test_a_format_that_is_named_exists(format_: str, command_line: CommandLine) -> None:
    assert format_ in command_line.formats


def test_no_format_is_left_out(command_line: CommandLine) -> None:
    assert set(command_line.formats) <= set(dict(rows())["formats"].split(", "))


@pytest.mark.parametrize("key", in_backticks(r"[a-z]+(-[a-z]+)*(?<!skip-file)(?<!noqa)"))
def test_a_key_that_is_named_is_a_setting(key: str, run: Run) -> None:
    run.write("train.py", CLEAN)
    complaints = []
    for name in ("no-such-key", key):
        run.write("pyproject.toml", f"[tool.gradlint]\n{name} = 1\n")
        complaints.append(run("check", ".").stderr.partition(f"{name}: ")[2].partition(";")[0].strip())

    assert complaints[0]
    assert complaints[1] != complaints[0]


@pytest.mark.parametrize("name", in_backticks(r"[a-z]+_[a-z_]+"))
def test_a_function_that_is_named_can_be_imported(name: str) -> None:
    import gradlint

    assert callable(getattr(gradlint, name))


@pytest.mark.parametrize("row", DENIED)
def test_what_is_denied_is_not_there(row: str, command_line: CommandLine) -> None:
    assert dict(rows())[row] == "-"
    assert DENIED[row] not in {*command_line.options, *command_line.commands}


def test_exit_statuses_are_as_stated(run: Run) -> None:
    assert dict(rows())["exit status"] == "0 clean, 1 found, 2 failed"
    run.write("clean.py", CLEAN)
    run.write("faulty.py", FAULTY)

    assert [run("check", name).exit_code for name in ("clean.py", "faulty.py", "missing.py")] == [0, 1, 2]


def test_a_file_with_a_syntax_error_is_a_finding_and_the_rest_is_judged(run: Run) -> None:
    assert dict(rows())["a file with a syntax error"] == "a finding, the rest is judged"
    run.write("broken.py", BROKEN)
    run.write("faulty.py", FAULTY)

    assert [each["code"] for each in run("check", ".", "--output-format", "json").findings] == ["GL001", "GL101"]


def test_a_file_in_latin_1_is_read(run: Run) -> None:
    assert dict(rows())["a file in latin-1 that says so"] == "read"
    run.write("old.py", f"# -*- coding: latin-1 -*-\n# caf\xe9\n{FAULTY}".encode("latin-1"))

    assert [each["code"] for each in run("check", "old.py", "--output-format", "json").findings] == ["GL101"]


def test_every_row_has_a_cell_for_every_linter() -> None:
    header = PAGE.splitlines()[next(n for n, line in enumerate(PAGE.splitlines()) if line.startswith("| |"))]
    tables = [line for line in PAGE.splitlines() if line.startswith("|")]

    assert header.split("|")[2].strip() == "gradlint"
    assert {line.count("|") for line in tables} == {header.count("|")}
