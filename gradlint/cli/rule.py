"""`gradlint rule`: the pages of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gradlint.cli.completion import complete_rule
from gradlint.cli.output import answer_option
from gradlint.errors import RunError
from gradlint.text import printable

if TYPE_CHECKING:
    from gradlint.rule import Rule


@click.command(short_help="Explain rules.")
@click.argument("rules", nargs=-1, metavar="[CODE|NAME|FILE]...", shell_complete=complete_rule)
@click.option("--all", "every", is_flag=True, help="Explain every rule.")
@answer_option
def rule(rules: tuple[str, ...], every: bool, output_format: str) -> None:
    """Print the pages of the named rules, or of those in a rule file; without a name, a list of all rules.

    Rules of your own count where the settings of the working folder, or an installed package, name them.
    """
    from gradlint.cli.named_rules import every_rule, named_rules

    if every and rules:
        raise RunError(f"--all: explains every rule; name none beside it, or leave it out: {printable(rules[0])}")
    if "ALL" in rules:
        raise RunError('no rule "ALL"; --all explains every rule')
    chosen = every_rule() if every or not rules else named_rules(rules)
    if output_format == "json":
        import json

        click.echo(json.dumps([_as_json(each) for each in chosen], indent=2))
    elif rules or every:
        click.echo("\n\n".join(page_of(each) for each in chosen))
    else:
        width = max(len(each.name) for each in chosen)
        for each in chosen:
            click.echo(f"{each.code}  {each.name:{width}}  {each.severity.value:7}  {each.summary}")


def page_of(rule: Rule) -> str:
    """The page of a rule, as Markdown."""
    facts = f"{rule.code}, {rule.severity.value}, since {rule.since}"
    body = rule.page.strip().split("\n", 1)[1].strip() if "\n" in rule.page.strip() else ""
    return f"# {rule.name} ({facts})\n\n{rule.summary}\n\n{body}"


def _as_json(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "since": rule.since,
        "summary": rule.summary,
        "page": rule.page,
    }
