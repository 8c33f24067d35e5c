"""The rules that words of the command line name: by code, by name, or by the rule file that they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.rule import Rule


def every_rule() -> list[Rule]:
    """Those of gradlint, of installed packages, and of the rule files that the settings of the working folder name."""
    from gradlint.config import load_settings
    from gradlint.own_rules import rule_files, rules_under

    return list(rules_under(rule_files(load_settings())))


def named_rules(words: Sequence[str]) -> list[Rule]:
    """The rules that the words name, in their order, each once. Files among the words make their rules known.

    Raises:
        RunError: a word names none, or a rule file cannot be loaded.
    """
    from gradlint.own_rules import load_rule_files

    files = [word for word in words if word.endswith(".py")]
    load_rule_files(files)
    return list(dict.fromkeys(rule for word in words for rule in _named(word, files)))


def _named(word: str, files: Sequence[str]) -> Sequence[Rule]:
    from gradlint.own_rules import rules_in_file
    from gradlint.rule import rules_of_gradlint
    from gradlint.selection import no_such_rule

    if word.endswith(".py"):
        return rules_in_file(word)

    def of_files() -> list[Rule]:
        return [rule for file in files for rule in rules_in_file(file)]

    # Settings that make no sense are no reason to leave a rule of gradlint unexplained.
    for rules in (rules_of_gradlint, of_files, every_rule):
        found = [rule for rule in rules() if word in (rule.code, rule.name)]
        if found:
            return found
    raise RunError(no_such_rule(word))
