"""`gradlint check --add-ignore`: its options, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.merging import FileResult

Command = TypeVar("Command", bound=Callable[..., None])


def add_ignore_options(command: Command) -> Command:
    """`--add-ignore` and `--reason`."""
    add = click.option(
        "--add-ignore", is_flag=True, help="Write a `# gradlint: ignore[...]` comment for every finding into the files."
    )
    why = click.option("--reason", metavar="TEXT", help="What --add-ignore writes behind each comment.")
    return add(why(command))


def check_options(paths: Sequence[str], *, add_ignore: bool, reason: str | None) -> str:
    """The reason to write, empty without one; done before anything is judged.

    Raises:
        RunError: the options make no sense together.
    """
    from gradlint.add_ignore import check_reason

    if not add_ignore:
        if reason is not None:
            raise RunError("--reason: goes with --add-ignore alone")
        return ""
    if "-" in paths:
        raise RunError("--add-ignore: standard input is no file that can be changed")
    return check_reason(reason) if reason is not None else ""


def write_ignores(results: Sequence[FileResult], paths: Sequence[str], reason: str) -> tuple[list[FileResult], bool]:
    """Write the comments; the results with the findings that are left, and whether every file could be changed."""
    from gradlint.add_ignore import add_ignores
    from gradlint.text import printable

    added = add_ignores(results, paths, reason)
    for line in (*added.notes, *added.problems):
        click.echo(f"gradlint: {printable(line)}", err=True)
    comments = "1 suppression" if added.comments == 1 else f"{added.comments} suppressions"
    files = "1 file" if added.files == 1 else f"{added.files} files"
    click.echo(f"gradlint: added {comments} to {files}", err=True)
    return added.results, not added.problems
