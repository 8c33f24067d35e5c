"""The page docs/commands.md, from the click commands: what `--help` says, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from gradlint.cli.main import main

_INTRODUCTION = "The same text as `gradlint COMMAND --help`. Every command takes `-h` and `--help`."


def reference() -> str:
    """The body of the page."""
    context = main.make_context("gradlint", [], resilient_parsing=True)
    parts = ["# Command reference", _INTRODUCTION, *_command(main, context)]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        inner = command.make_context(name, [], context, resilient_parsing=True)
        parts += [f"## gradlint {name}", *_command(command, inner)]
    return "\n\n".join(parts) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    yield inspect.cleandoc(command.help or "")
    help_option = command.get_help_option(context)
    rows = [
        _row(option, context)
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden and option is not help_option
    ]
    yield "\n".join(["| option | default | what it does |", "| --- | --- | --- |", *rows])
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        found = {name: command.get_command(context, name) for name in names}
        rows = [
            f"| [`gradlint {name}`](#gradlint-{name}) | {_cell(each.get_short_help_str(200))} |"
            for name, each in found.items()
            if each is not None
        ]
        yield "\n".join(["| command | what it does |", "| --- | --- |", *rows])
    if command.epilog:
        yield inspect.cleandoc(command.epilog)


def _row(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" `{_cell(option.make_metavar(context))}`"
    text = _cell(option.help or "")
    if option.envvar:
        variables = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar)
        text += f" Environment: {', '.join(f'`{each}`' for each in variables)}."
    return f"| {names}{value} | {_default(option, context)} | {text} |"


def _default(option: click.Option, context: click.Context) -> str:
    default = option.get_default(context, call=False)
    if option.is_flag or option.multiple or callable(default) or not isinstance(default, str | int | float):
        return ""
    return f"`{default}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
