"""Where the report of a command goes: to a stream, or to the file that was named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeVar

import click

from gradlint.cli.completion import complete_files
from gradlint.errors import RunError

_PIECE = 1 << 14
Command = TypeVar("Command", bound=Callable[..., None])


def output_options(command: Command) -> Command:
    """The options of every command that reports findings: `--output-format` and `--output-file`."""
    to_file = click.option(
        "--output-file",
        "-o",
        metavar="FILE",
        shell_complete=complete_files,
        help="Write the report to this file, not to standard output.",
    )
    in_format = click.option(
        "--output-format",
        type=click.Choice(["full", "concise", "json"]),
        default="full",
        show_default=True,
        help="How findings are printed.",
    )
    return in_format(to_file(command))


def print_report(report: str, stream: TextIO | None = None) -> None:
    """In pieces: one large write to a pipe that closes half-way reports no error under PYTHONUNBUFFERED."""
    for start in range(0, len(report), _PIECE):
        click.echo(report[start : start + _PIECE], file=stream, nl=False, color=True)  # the style decided about colours


def write_report(output_file: str, report: str) -> None:
    """Write it to the file.

    Raises:
        RunError: the file cannot be written.
    """
    try:
        Path(output_file).write_text(report, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RunError(f"--output-file: {output_file}: {(error.strerror or str(error)).lower()}") from error
