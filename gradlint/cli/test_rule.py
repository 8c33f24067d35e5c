"""`gradlint test-rule`: holds rules against their fixtures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradlint.cli.completion import complete_files
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.rule_fixtures import RuleTested


@click.command(short_help="Hold rules against their fixtures.")
@click.argument("rules", nargs=-1, metavar="[FILE|CODE|NAME]...", shell_complete=complete_files)
@click.option(
    "--fixtures",
    "folder",
    metavar="FOLDER",
    shell_complete=complete_files,
    help="Where the folders <CODE> with programs are (default: `fixtures` beside the rule's file).",
)
def test_rule(rules: tuple[str, ...], folder: str | None) -> None:
    """Judge the programs in fixtures/<CODE>/ beside a rule's file: what `# expect: CODE` marks must be found, no more.

    Without a rule, all those are tested whose files the settings of the working folder name. Exit status: 0 when all
    is as expected, 1 when it is not, 2 when there was nothing to test, for one of the rules at least.
    """
    from gradlint.cli.named_rules import every_rule, named_rules
    from gradlint.rule_fixtures import fixtures_of, run_fixtures

    chosen = named_rules(rules) if rules else [rule for rule in every_rule() if rule.file]
    if not chosen:
        raise RunError("test-rule: name a rule or a rule file; the settings name none")
    status = 0
    for rule in chosen:
        try:
            tested = run_fixtures(rule, Path(folder) / rule.code if folder else fixtures_of(rule))
        except RunError as error:  # the others are tested all the same
            click.echo(f"gradlint: {error}", err=True)
            status = 2
            continue
        for fault in tested.faults:
            click.echo(str(fault))
        click.echo(_summary(tested))
        status = status or int(bool(tested.faults))
    click.get_current_context().exit(status)


def _summary(tested: RuleTested) -> str:
    programs = f"{tested.programs} program{'s' * (tested.programs != 1)}, {tested.faulty} of them faulty"
    faults = f"{len(tested.faults)} fault{'s' * (len(tested.faults) != 1)}" if tested.faults else "as expected"
    return f"{tested.rule.code} {tested.rule.name}: {programs}: {faults}"
