"""Which rules are on: codes, prefixes, names and ALL, wherever a person names rules.

The more specific word wins (`--select GL101 --ignore GL1` keeps GL101); of two equals, ignore wins. What the command
line says wins over what files say.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from string import digits

from gradlint.own_rules import rules_under
from gradlint.rule import Rule, Severity, all_rules, kept_while_rules_stay
from gradlint.run_rules import ALWAYS_SELECTED

EVERYTHING = "ALL"


def find_rule(code_or_name: str) -> Rule | None:
    """The rule with this code or name."""
    return next((rule for rule in all_rules() if code_or_name in (rule.code, rule.name)), None)


def no_such_rule(word: str, rules: Sequence[Rule] | None = None) -> str:
    """One line about a word that names none of the rules (all that are known), with the nearest one that does, or what
    it may be the beginning of."""
    rules = all_rules() if rules is None else rules
    if word.upper() == EVERYTHING:
        return f'no rule "{word}"; did you mean "{EVERYTHING}"?'
    codes = [rule.code for rule in rules]
    begun = [code for code in codes if word and code.startswith(word)]
    if begun:
        return f'no rule "{word}"; {len(begun)} codes begin with it, {begun[0]} is the first'
    letters = word.rstrip(digits)
    if len(word) <= len(letters) + 1 and (families := _families(letters, codes)):
        return f'no rule "{word}"; codes begin with {", ".join(families)}'
    known = {rule.code: rule for rule in rules} | {rule.name: rule for rule in rules}
    near = difflib.get_close_matches(word, known, 5) or difflib.get_close_matches(word.upper(), known, 5)
    misread = word[:2] + word[2:].upper().replace("O", "0")  # the letter for the digit
    near = [misread] if misread in known else near
    if not near:
        return f'no rule "{word}"'
    # Codes differ in single characters: of equally close ones, the one that agrees in more places.
    nearest = max(
        near, key=lambda each: (_closeness(word, each), sum(a == b for a, b in zip(word, each, strict=False)))
    )
    other = known[nearest].name if nearest == known[nearest].code else known[nearest].code
    return f'no rule "{word}"; did you mean "{nearest}" ({other})?'


def _families(letters: str, codes: Iterable[str]) -> list[str]:
    """The beginnings of the codes that have these letters: GL0, GL1 and so on."""
    return sorted({code[: len(letters) + 1] for code in codes if letters and code.rstrip(digits) == letters})


def _closeness(word: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, word).ratio()


def complaint_about_selector(word: str, rules: tuple[Rule, ...]) -> str:
    """What is wrong with a word that is ALL or means some of the rules; empty for nothing."""
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
