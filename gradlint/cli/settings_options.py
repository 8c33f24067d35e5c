"""Options of the command line that say which settings hold: shared by the commands that judge files.

Imports click alone: `--help` of every command passes through here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gradlint.cli.completion import complete_files, complete_ignores, complete_rules
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Choices

_RULES = "Codes (GL101), prefixes (GL1), names or ALL; comma-separated, repeatable."
_LISTS = ("select", "ignore", "extend-select", "extend-ignore", "exclude", "extend-exclude")
_PER_FILE = "per-file-ignores"

_CONFIG = (
    click.option(
        "--config",
        multiple=True,
        metavar='FILE|"KEY = VALUE"',
        shell_complete=complete_files,
        help="A configuration file to read in place of those of the project, or one setting as TOML; repeatable.",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)
_ALLOWED = click.option(
    "--allow-rules",
    multiple=True,
    metavar="PATH",
    shell_complete=complete_files,
    help="Run these rule files, or those that this settings file or the settings in this folder name, though they are "
    "not those of the working folder; repeatable.",
)
_CHOICE = (
    click.option(
        "--select",
        multiple=True,
        metavar="RULES",
        shell_complete=complete_rules,
        help=f"Apply only these rules. {_RULES}",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULES",
        shell_complete=complete_rules,
        help="Leave these rules out. Takes what --select takes; repeatable.",
    ),
    click.option(
        "--extend-select",
        multiple=True,
        metavar="RULES",
        shell_complete=complete_rules,
        help="Apply these rules beside the selected ones; repeatable.",
    ),
    click.option(
        "--extend-ignore",
        multiple=True,
        metavar="RULES",
        shell_complete=complete_rules,
        help="Leave these out, too; the same as --ignore, repeatable.",
    ),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="PATTERN:RULES",
        shell_complete=complete_ignores,
        help="Leave these rules out in files that the pattern matches; repeatable.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Pass over these files and folders, in place of those of the settings. As in .gitignore; comma-separated, "
        "repeatable.",
    ),
    click.option(
        "--extend-exclude",
        multiple=True,
        metavar="PATTERN",
        help="Pass over these beside the excluded ones; comma-separated, repeatable.",
    ),
    click.option("--force-exclude", is_flag=True, help="Exclude paths that are named on the command line, too."),
    click.option("--include-docs", is_flag=True, help="Judge code in Markdown, reStructuredText and docstrings, too."),
)
_SHOWING = (
    click.option("--show-settings", is_flag=True, help="Print the settings for the first file, and judge nothing."),
    click.option("--show-files", is_flag=True, help="Print the files that would be judged, and judge none."),
)

Command = Callable[..., Any]


def config_options(command: Command) -> Command:
    """`--config`, `--isolated` and `--allow-rules`; the command takes `choices: Choices`."""
    return _collected(command, (*_CONFIG, _ALLOWED))


def allow_rules_option(command: Command) -> Command:
    """`--allow-rules` alone; the command takes `choices: Choices`."""
    return _collected(command, (_ALLOWED,))


def settings_options(command: Command) -> Command:
    """The options above, those that choose rules and files, and `--show-settings` and `--show-files`.

    The command takes `choices: Choices`, `force_exclude`, `show_settings` and `show_files`.
    """
    return _collected(command, (*_CHOICE, *_CONFIG, _ALLOWED, *_SHOWING))


def _collected(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    @functools.wraps(command)
    def with_choices(**values: Any) -> Any:
        return command(choices=_choices(values), **values)

    wrapped: Command = with_choices
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _choices(values: dict[str, Any]) -> Choices:
    """Take what is about settings out of the values of a command's options."""
    from gradlint.config import Choices

    flags: dict[str, object] = {}
    for key in _LISTS:
        given = values.pop(key.replace("-", "_"), ())
        if given:
            flags[key] = [word for value in given for word in _words(value)]
            if not flags[key]:  # a variable that is not set: silence would mean all rules
                raise RunError(f"--{key}: names no {'pattern' if key.endswith('exclude') else 'rule'}")
    if pairs := values.pop(_PER_FILE.replace("-", "_"), ()):
        flags[_PER_FILE] = _per_file(pairs)
    if values.pop("include_docs", False):
        flags["include-docs"] = True
    config, isolated = values.pop("config", ()), values.pop("isolated", False)
    return Choices(config, isolated, flags, values.pop("allow_rules"))


def tell(line: str) -> None:
    """Tell on standard error what settings have to say."""
    click.echo(f"gradlint: {line}", err=True)


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _per_file(pairs: tuple[str, ...]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in pairs:
        pattern, colon, rules = pair.rpartition(":")
        if not colon or not pattern.strip() or not _words(rules):
            raise RunError(f"--{_PER_FILE}: expected PATTERN:RULES, got {pair!r}")
        table.setdefault(pattern.strip(), []).extend(_words(rules))
    return table
