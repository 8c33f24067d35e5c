"""What the shell offers where click cannot know it: rules, functions, and files.

Called only while a shell asks for completions, so that what is needed is imported then.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

_EVERYTHING = "ALL"


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders: the shell knows them."""
    return [CompletionItem(incomplete, type="file")]


def complete_rule(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules."""
    from gradlint.rule import all_rules

    return [
        CompletionItem(word, help=rule.summary)
        for words in ("code", "name")
        for rule in all_rules()
        if (word := getattr(rule, words)).startswith(incomplete)
    ]


def complete_rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The last word of a list with commas: codes and names of rules, and ALL."""
    before, comma, word = incomplete.rpartition(",")
    found = complete_rule(ctx, param, word)
    if _EVERYTHING.startswith(word):
        found.append(CompletionItem(_EVERYTHING, help="Every rule."))
    return [CompletionItem(f"{before}{comma}{item.value}", help=item.help) for item in found]


def complete_ignores(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Behind the colon of PATTERN:RULES, as `complete_rules`; files before it."""
    pattern, colon, rules = incomplete.rpartition(":")
    if not colon:
        return complete_files(ctx, param, incomplete)
    items = complete_rules(ctx, param, rules)
    return [CompletionItem(f"{pattern}:{item.value}", help=item.help) for item in items]


def complete_event(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of events."""
    from gradlint.events import EVENTS
    from gradlint.new_rule import summary_of

    return [
        CompletionItem(name, help=summary_of(event))
        for name, event in sorted(EVENTS.items())
        if name.startswith(incomplete)
    ]


def files_behind(before: str, incomplete: str) -> list[CompletionItem]:
    """Files and folders, for a shell that only knows those that a word begins with."""
    folder, start = os.path.split(incomplete)
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted((entry.name, entry.is_dir()) for entry in entries if entry.name.startswith(start))
    except OSError:
        return []
    hidden = start.startswith(".")
    return [
        CompletionItem(f"{before}{os.path.join(folder, name)}{os.sep if is_folder else ''}")
        for name, is_folder in found
        if hidden or not name.startswith(".")
    ]


def complete_symbol(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of measured functions."""
    from gradlint.knowledge.measured import all_measured

    names = {name for known in all_measured() for name in (known.symbol, *known.aliases)}
    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]
