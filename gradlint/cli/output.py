"""Where the report of a command goes: to a stream, or to the file that was named."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import click

from gradlint.errors import RunError

_PIECE = 1 << 14


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
