"""Which rules are on: codes, prefixes, names and ALL, wherever a person names rules.

The more specific word wins (`--select GL101 --ignore GL1` keeps GL101); of two equals, ignore wins. What the command
line says wins over what files say.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import ascii_letters, digits

from gradlint.own_rules import rules_under
from gradlint.rule import Rule, Severity, all_rules, kept_while_rules_stay
from gradlint.run_rules import ALWAYS_SELECTED

EVERYTHING = "ALL"
#: What is meant as a code, not as a name.
_CODE = re.compile(r"[A-Za-z]+[0-9]")


def find_rule(code_or_name: str) -> Rule | None:
    """The rule with this code or name."""
    return next((rule for rule in all_rules() if code_or_name in (rule.code, rule.name)), None)


def no_such_rule(word: str, rules: Sequence[Rule] | None = None) -> str:
    """One line about a word that names none of the rules (all that are known), with the nearest one that does, or what
    it may be the beginning of."""
    rules = all_rules() if rules is None else rules
    if word.upper() == EVERYTHING:
        return f'no rule "{word}"; here each rule is named by itself'
    codes = [rule.code for rule in rules]
    begun = [code for code in codes if word and code.startswith(word)]
    if begun:
        told = f"{len(begun)} codes begin with it, {begun[0]} is the first"
        return f'no rule "{word}"; {told if len(begun) > 1 else f"did you mean {begun[0]}?"}'
    nearest = nearest_rule(word, rules)
    if nearest is not None:
        meant, other = (nearest.code, nearest.name) if _CODE.match(word) else (nearest.name, nearest.code)
        return f'no rule "{word}"; did you mean "{meant}" ({other})?'
    letters = word[: len(word) - len(word.lstrip(ascii_letters))]
    families = _families(letters, codes)
    if families and word[: len(letters) + 1] not in families:
        return f'no rule "{word}"; codes begin with {", ".join(families)}'
    return f'no rule "{word}"'


def nearest_rule(word: str, rules: Sequence[Rule] | None = None) -> Rule | None:
    """The rule (of all that are known) that a word means which is misspelt; None where that is a guess."""
    rules = all_rules() if rules is None else rules
    if not _CODE.match(word):
        names = {rule.name: rule for rule in rules}
        near = difflib.get_close_matches(word.lower(), names, 1)
        return names[near[0]] if near else None
    misread = word[:2].upper() + word[2:].upper().replace("O", "0")  # the letter for the digit
    by_code = {rule.code: rule for rule in rules}
    if misread in by_code:
        return by_code[misread]
    letters, number = misread.rstrip(digits), misread.lstrip(ascii_letters)
    if not number.isdigit():
        return None
    same_number = {code.rstrip(digits): code for code in by_code if code.lstrip(ascii_letters) == number}
    if near := difflib.get_close_matches(letters, same_number, 1, cutoff=0.5):
        return by_code[same_number[near[0]]]
    # Another number is another rule, unless it is the last digit that differs, or one is too many.
    same_start = [code for code in by_code if misread.startswith(code[:-1])]
    return by_code[min(same_start, key=lambda code: abs(int(code[-1]) - int(number[-1])))] if same_start else None


def _families(letters: str, codes: Iterable[str]) -> list[str]:
    """The beginnings of the codes that have these letters: GL0, GL1 and so on."""
    return sorted({code[: len(letters) + 1] for code in codes if letters and code.rstrip(digits) == letters})


def complaint_about_selector(word: str, rules: tuple[Rule, ...]) -> str:
    """What is wrong with a word that is ALL or means some of the rules; empty for nothing."""
    if word.upper() == EVERYTHING != word:
        return f'no rule "{word}"; did you mean "{EVERYTHING}"?'
    return "" if any(_specificity(word, rule) for rule in rules) else no_such_rule(word, rules)


@kept_while_rules_stay
def selected_codes(select: tuple[str, ...], ignore: tuple[str, ...], rules: tuple[str, ...] = ()) -> frozenset[str]:
    """The codes of all rules that are on, of those in the files `rules` too. Without any `select` every rule is."""
    return frozenset(
        rule.code
        for rule in rules_under(rules)
        if _most_specific(select or (EVERYTHING,), rule) > _most_specific(ignore, rule)
        or (rule.code in ALWAYS_SELECTED and not _most_specific(ignore, rule))
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """The four lists that say which rules are on."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()

    @property
    def on(self) -> tuple[str, ...]:
        """The words that switch rules on."""
        return (*(self.select or (EVERYTHING,)), *self.extend_select) if self.extend_select else self.select

    @property
    def off(self) -> tuple[str, ...]:
        """The words that switch rules off."""
        return (*self.ignore, *self.extend_ignore)

    def over(self, said: Selection, rules: tuple[str, ...]) -> Selection:
        """These lists, in which what `said` adds to those of files is already, so that it counts more than they do.

        About a rule that it speaks of, its own more specific word decides, however specific the words of the files are.
        """
        codes = selected_codes(self.on, self.off, rules)
        said_on, said_off = (*said.select, *said.extend_select), said.off
        spoken = {rule: (_most_specific(said_on, rule), _most_specific(said_off, rule)) for rule in rules_under(rules)}
        wanted = {rule.code: on > off if on or off else rule.code in codes for rule, (on, off) in spoken.items()}
        missed = [(rule, on) for rule, (on, _) in spoken.items() if wanted[rule.code] and rule.code not in codes]

        def kept(words: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(word for word in words if not any(_specificity(word, rule) >= on for rule, on in missed))

        freed = replace(self, ignore=kept(self.ignore), extend_ignore=kept(self.extend_ignore))
        too_many = sorted(code for code in selected_codes(freed.on, freed.off, rules) if not wanted[code])
        return replace(freed, extend_ignore=(*freed.extend_ignore, *too_many))


@kept_while_rules_stay
def matching_codes(words: tuple[str, ...]) -> frozenset[str]:
    """The codes of the rules that any of the words means."""
    return frozenset(rule.code for rule in all_rules() if _most_specific(words, rule))


@kept_while_rules_stay
def severity_of(code: str, severities: tuple[tuple[str, Severity], ...]) -> Severity | None:
    """The severity that the most specific word for the rule gives it, the last of equal ones; None without any.

    ALL and prefixes do not mean the rules that say that a file was not judged: it must never look clean by the way.
    """
    rule = find_rule(code)
    if rule is None:
        return None
    ranked = [
        (_specificity(word, rule), place)
        for place, (word, _) in enumerate(severities)
        if code not in ALWAYS_SELECTED or word in (rule.code, rule.name)
    ]
    specificity, place = max(ranked, default=(0, 0))
    return severities[place][1] if specificity else None


def _most_specific(words: Iterable[str], rule: Rule) -> int:
    return max((_specificity(word, rule) for word in words), default=0)


def _specificity(word: str, rule: Rule) -> int:
    """0 when the word does not mean the rule, more the closer it describes it."""
    if word == rule.name:
        return len(rule.code) + 1
    if word == EVERYTHING:
        return 1
    # A prefix holds all letters of the code: `AB` is not one of ABC001.
    return len(word) + 1 if rule.code.startswith(word) and word.startswith(rule.code.rstrip(digits)) else 0
