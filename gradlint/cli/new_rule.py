"""`gradlint new-rule`: writes a rule file and its first fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradlint.cli.completion import complete_event, complete_files
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.new_rule import NewRule


def _list_events(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from gradlint.events import EVENTS
    from gradlint.new_rule import summary_of

    width = max(map(len, EVENTS))
    for name, event in sorted(EVENTS.items()):
        click.echo(f"{name:{width}}  {summary_of(event)}")
    ctx.exit()


@click.command(short_help="Write a rule of your own, with fixtures.")
@click.option(
    "--list-events",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_events,
    help="List events and exit.",
)
@click.argument("code")
@click.argument("name")
@click.option(
    "--event",
    metavar="EVENT",
    shell_complete=complete_event,
    help="What the rule subscribes to (default: GradientDecision, one per gradient call).",
)
@click.option(
    "--path",
    "folder",
    metavar="FOLDER",
    shell_complete=complete_files,
    default=".",
    show_default=True,
    help="Where the file is put.",
)
def new_rule(code: str, name: str, event: str | None, folder: str) -> None:
    """Write the rule CODE (as ACME001) called NAME (as no-hidden-models): its file, a faulty program and a look-alike.

    The file works as it is: `gradlint test-rule` passes, and what is left is to change what it says and decides.
    """
    from gradlint.events import EVENTS
    from gradlint.new_rule import DEFAULT_EVENT, NewRule
    from gradlint.own_rules import no_such_event

    event = event or DEFAULT_EVENT
    if event not in EVENTS:
        raise RunError(f"--event: {no_such_event(event)} (--list-events shows all)")
    _check(code, name)
    rule = NewRule(code, name, event)
    for path in _write(rule, Path(folder)):
        click.echo(path)
    for line in _next_steps(rule, Path(folder)):
        click.echo(line, err=True)


def _next_steps(rule: NewRule, folder: Path) -> tuple[str, ...]:
    """What is left to do; `gradlint check` would find the faults of the programs, which are there to be found."""
    file, programs = (folder / rule.path).as_posix(), (folder / "fixtures").as_posix()
    # Without a slash before its end, a pattern means folders of this name everywhere.
    pattern = f"{programs if '/' in programs else f'/{programs}'}/"
    return (
        f"Test it with `gradlint test-rule {file}`. In the settings, name it, and leave its programs out:",
        f'rules = ["{file}"]',
        f'extend-exclude = ["{pattern}"]',
    )


def _check(code: str, name: str) -> None:
    from gradlint.cli.named_rules import every_rule
    from gradlint.own_rules import complaint_about_code, complaint_about_name
    from gradlint.text import printable

    complaint = complaint_about_code(code) or complaint_about_name(name)
    taken = next((rule for rule in every_rule() if code == rule.code or name == rule.name), None)
    if not complaint and taken is not None:
        complaint = f"{code if code == taken.code else name}: taken by {taken.code} ({taken.name})"
    if complaint:
        raise RunError(f"new-rule: {printable(complaint)}")


def _write(rule: NewRule, folder: Path) -> list[str]:
    """Write all files or none."""
    texts = {folder / path: text for path, text in rule.texts().items()}
    for path in (*texts, folder / rule.fixtures):
        if path.exists():
            raise RunError(f"{path}: is there already")
    made: list[Path] = []
    try:
        for path, text in texts.items():
            for parent in reversed([each for each in path.parents if not each.exists()]):
                parent.mkdir()
                made.append(parent)
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink()
        raise RunError(f"{error.filename or folder}: {(error.strerror or str(error)).lower()}") from error
    return [str(path) for path in texts]
