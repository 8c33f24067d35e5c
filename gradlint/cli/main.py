"""The command `gradlint`: finds its subcommands when they are asked for, and ends every run in a decent way.

`--help` and `--version` are run by editors and hooks, so nothing but click is imported here (tests/test_imports.py).
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, TextIO

import click

from gradlint import __version__
from gradlint.errors import RunError

#: In the order of `--help`; the module of each is `gradlint.cli.<name>`, its function has the same name (`_` for `-`).
COMMANDS = ("check", "probe", "flow", "rule", "ops", "new-rule", "test-rule")

INTERRUPTED = 130  # 128 + SIGINT, as shells say it
PIPE_CLOSED = 141  # 128 + SIGPIPE

_OF_WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


class Commands(click.Group):
    """Loads a command when it is asked for; turns what ends a run early into one line and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(import_module(f"gradlint.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return result
        except RunError as error:
            from gradlint.text import printable

            click.echo(f"gradlint: {printable(str(error))}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("gradlint: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _silence(sys.stdout)
            ctx.exit(PIPE_CLOSED)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except OSError as error:  # also of `--help`, and of the line that was to tell another fault
            _silence_what_fails(sys.stdout)
            with suppress(OSError):
                click.echo(f"gradlint: {_words(error)}", err=True)
            _silence_what_fails(sys.stderr)
            sys.exit(2)


def _words(error: OSError) -> str:
    """What the system refused, on one line."""
    from gradlint.text import printable

    reason = error.strerror or str(error)
    reason = reason[:1].lower() + reason[1:]
    if error.filename is not None:
        return f"{printable(os.fsdecode(error.filename))}: {reason}"
    if error.errno in _OF_WRITING:  # nothing else is written to without a word about it: see `files/whole.py`
        return f"standard output: {reason}"
    try:
        os.getcwd()
    except OSError:
        return f"the working folder: {reason}"
    return reason


def _silence_what_fails(stream: TextIO | None) -> None:
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        _silence(stream)


def _silence(stream: TextIO | None) -> None:
    """Let what is left in the buffer go nowhere: to fail at it when Python ends would be told with a traceback."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Settings are read from gradlint.toml, or from [tool.gradlint] in pyproject.toml.",
)
@click.version_option(__version__, "-V", "--version", message="gradlint %(version)s")
def main() -> None:
    """Find where gradient flow is cut in TensorFlow 2 and Keras 3 training code.

    gradlint reads Python files without running them and says which variables get None, zero or an unwanted update,
    at which line, and why.
    """
