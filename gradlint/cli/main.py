"""The command `gradlint`: finds its subcommands when they are asked for, and ends every run in a decent way.

`--help` and `--version` are run by editors and hooks, so nothing but click is imported here (tests/test_imports.py).
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from gradlint import __version__
from gradlint.errors import RunError

#: In the order of `--help`; the module of each is `gradlint.cli.<name>`, its function has the same name (`_` for `-`).
COMMANDS = ("check", "probe", "flow", "rule", "ops", "new-rule", "test-rule")

INTERRUPTED = 130  # 128 + SIGINT, as shells say it
PIPE_CLOSED = 141  # 128 + SIGPIPE


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
            # What is left in the buffer must not be written when Python ends: that would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(PIPE_CLOSED)


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
