"""Suppressions: comments that silence findings, read from tokens and applied once, at the end.

- `# gradlint: ignore[GL203, left-tensorflow]` after code: findings that start (or end) on that line;
- the same on a line of its own: findings that start in the next logical line;
- `# gradlint: skip-file` anywhere: the whole file;
- what follows the bracket says why: `# gradlint: ignore[GL203] -- the target network is frozen`;
- `# noqa` and `# noqa: GL203` after code: for people whose other tools read it. Codes of other tools are theirs,
  and words that name nothing silence nothing.

Capitals or not is all one but for codes and names. A file that could not be judged (GL001, GL002, GL009) must not look
clean by a comment that was meant for something else: of all comments, `skip-file` alone silences these.

Because they are applied to what was found, the ones that silence nothing are known (GL003), and so are the ones that
cannot be understood (GL004).
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from gradlint.observed_rules import OBSERVED
from gradlint.rule import Finding, Place, Rule
from gradlint.run_rules import ABOUT_COMMENTS, ALWAYS_SELECTED, invalid_suppression, unused_suppression
from gradlint.selection import find_rule, nearest_rule, no_such_rule

_DIRECTIVE = re.compile(r"#\s*gradlint\s*:\s*([^#]*)", re.IGNORECASE)
_CODES = r"ignore\s*\[([^\]#]*)\]"
_IGNORE = re.compile(_CODES, re.IGNORECASE)
_SKIP_FILE = re.compile(r"skip-file(?!\S)", re.IGNORECASE)
#: A comment that suppresses already, up to the bracket that ends its codes.
IGNORE = re.compile(rf"#\s*gradlint\s*:\s*{_CODES}", re.IGNORECASE)
#: Meant as one, and none.
_NO_COLON = re.compile(r"#\s*gradlint(?:\s+|\s*[-=]\s*)(?:ignore\b|skip-file\b|noqa\b)\S*", re.IGNORECASE)
#: Meant as one, and none: behind that of another tool, or at the end of a comment. In quotes, and within a sentence, it
#: is spoken about.
_NO_HASH = re.compile(rf"(?<=[^#\s])\s+(gradlint\s*:\s*{_CODES})(?P<last>(?=\s*(?:--|#|$)))?", re.IGNORECASE)
_OF_ANOTHER_TOOL = re.compile(r"#\s*(?:noqa|nosec|[a-z][\w-]*:)")
#: What people write who want something of a linter, but for its own words.
_WANTED = ("ignore", "skip", "skip-file", "noqa", "disable", "enable", "allow", "suppress", "off")
_HOLDS_CODES = re.compile(r"[\[=]|\bGL[0-9]")
_WORD = re.compile(r"[^\s,]+")
#: Codes that only gradlint gives out; shorter ones (GL08) are other tools'.
_OWN_CODE = re.compile(r"GL[0-9]{3,}")
_NOQA = re.compile(r"#\s*noqa(?!\w)(?P<colon>\s*:)?", re.IGNORECASE)
#: One of the words behind `noqa:`: a code of any tool, or perhaps a name.
_NOQA_WORD = re.compile(r"[\s,]*(?P<word>(?P<code>[A-Za-z]+[0-9]+(?!\w))|[A-Za-z][\w-]*)")
_BLANK = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})
#: Whether they silence nothing is not to be told: the first speak about comments, the others appear in runs alone.
_NEVER_UNUSED = ABOUT_COMMENTS | OBSERVED


@dataclass(frozen=True, slots=True)
class Suppression:
    """One code of one comment. `code` is empty for a bare `# noqa`, which silences every rule."""

    code: str
    word: str
    place: Place
    first_row: int
    last_row: int
    is_noqa: bool = False
    cell: int = 0

    def silences(self, finding: Finding) -> bool:
        if finding.code in ALWAYS_SELECTED:
            return False
        if not finding.code.startswith(self.code) or (finding.code != self.code and not self.is_noqa):
            return False
        place = finding.place
        return place.cell == self.cell and any(
            self.first_row <= row <= self.last_row for row in (place.row, place.end_row)
        )


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All suppressions of one file, and the comments that make no sense."""

    filename: str
    skip_file: bool = False
    entries: tuple[Suppression, ...] = ()
    invalid: tuple[Finding, ...] = ()

    def under(self, rules: Sequence[Rule]) -> Suppressions:
        """These where only some rules hold: comments may name one that other files have."""
        codes = {rule.code for rule in rules}
        foreign = tuple(each for each in self.entries if not each.is_noqa and each.code not in codes)
        if not foreign:
            return self
        told = (invalid_suppression(no_such_rule(each.word, rules), each.place, self.filename) for each in foreign)
        entries = tuple(each for each in self.entries if each not in foreign)
        return replace(self, entries=entries, invalid=(*self.invalid, *told))

    @property
    def places(self) -> Iterator[Place]:
        """Where something may be found about them."""
        yield from (entry.place for entry in self.entries if not entry.is_noqa)
        yield from (finding.place for finding in self.invalid)


def may_hold_suppressions(text: str) -> bool:
    """Whether the file is worth tokenizing: a search, because tokenizing costs more than parsing."""
    lowered = text.lower()
    return "gradlint" in lowered or "noqa" in lowered


def joined(parts: Sequence[Suppressions], filename: str) -> Suppressions:
    """The suppressions of the cells of one notebook."""
    entries = tuple(entry for part in parts for entry in part.entries)
    invalid = tuple(finding for part in parts for finding in part.invalid)
    return Suppressions(filename, any(part.skip_file for part in parts), entries, invalid)


def read_suppressions(text: str, filename: str, cell: int = 0, before: int | None = None) -> Suppressions:
    """The suppressions of a file, or of one cell of a notebook, those in rows `before` its syntax error."""
    skip_file = False
    entries: list[Suppression] = []
    invalid: list[Finding] = []
    for comment in _comments(text, cell):
        if before is not None and comment.row >= before:
            continue
        for directive in _DIRECTIVE.finditer(comment.text):
            body = directive[1].strip()
            if _SKIP_FILE.match(body):
                skip_file = True
            elif match := _IGNORE.match(directive[1]):
                _read_codes(comment, match, directive.start(1), filename, entries, invalid)
            elif (
                "gradlint" in directive[0]
                and not comment.text[: directive.start()].rstrip("#")[-1:].strip()
                and not _is_prose(body)
            ):  # else it is a sentence that begins with the name, or a part of a word or an address
                start, end = directive.span()
                invalid.append(
                    invalid_suppression(
                        f"`{body.split()[0] if body else ''}` is neither `ignore[...]` nor `skip-file`",
                        comment.place(start, start + len(comment.text[start:end].rstrip())),
                        filename,
                        instead="write `# gradlint: ignore[CODE]` or `# gradlint: skip-file`",
                    )
                )
        for almost in _NO_COLON.finditer(comment.text):
            invalid.append(
                invalid_suppression(
                    f"`{almost[0]}` lacks the colon after `gradlint`",
                    comment.place(*almost.span()),
                    filename,
                    instead="write `# gradlint: ignore[CODE]` or `# gradlint: skip-file`",
                )
            )
        for almost in _NO_HASH.finditer(comment.text):
            if almost["last"] is None and not _OF_ANOTHER_TOOL.match(comment.text):
                continue
            invalid.append(
                invalid_suppression(
                    f"`{almost[1]}` lacks a `#` of its own",
                    comment.place(*almost.span(1)),
                    filename,
                    instead=f"write `# {almost[1]}`",
                )
            )
        if not comment.own_line and (noqa := _NOQA.search(comment.text)):
            _read_noqa(comment, noqa, filename, entries, invalid)
    return Suppressions(filename, skip_file, tuple(entries), tuple(invalid))


def _is_prose(body: str) -> bool:
    """Whether what follows `gradlint:` is an address, or words of a person about it."""
    words = body.split()
    if not words or "://" in words[0]:
        return bool(words)
    is_long = len(words) > 2 and _HOLDS_CODES.search(body) is None
    return is_long and not get_close_matches(words[0].lower(), _WANTED, 1, cutoff=0.7)


def _nothing_is_missing() -> bool:
    return False


def apply_suppressions(
    findings: Sequence[Finding],
    suppressions: Suppressions,
    selected: frozenset[str],
    elsewhere: Sequence[Finding] = (),
    findings_are_missing: Callable[[], bool] = _nothing_is_missing,
) -> list[Finding]:
    """The findings that remain, with those about unused and invalid suppressions added.

    `elsewhere` are findings of other files whose traces lead through this one, as if they stood here: what would
    silence them is not unused. `findings_are_missing` says whether this file, or one that may lead to findings here,
    was not judged, or in part alone.
    """
    if suppressions.skip_file:
        return []
    kept, used = _silence(findings, suppressions.entries)
    used |= _silence(elsewhere, suppressions.entries)[1]
    unused = [
        unused_suppression(entry.word, entry.place, suppressions.filename)
        for entry in suppressions.entries
        if entry not in used and not entry.is_noqa and entry.code in selected and entry.code not in _NEVER_UNUSED
    ]
    if unused and findings_are_missing():
        unused = []
    about = [finding for finding in (*unused, *suppressions.invalid) if finding.code in selected]
    # A comment on a line of its own speaks for the next statement; about itself it can be told to be silent, too.
    explicit = [
        replace(entry, first_row=min(entry.first_row, entry.place.row), last_row=max(entry.last_row, entry.place.row))
        for entry in suppressions.entries
        if entry.code in ABOUT_COMMENTS
    ]
    return kept + _silence(about, explicit)[0]


def is_silenced(finding: Finding, suppressions: Suppressions) -> bool:
    """Whether a comment of its file silences the finding."""
    return suppressions.skip_file or any(entry.silences(finding) for entry in suppressions.entries)


def _silence(findings: Sequence[Finding], entries: Sequence[Suppression]) -> tuple[list[Finding], set[Suppression]]:
    kept: list[Finding] = []
    used: set[Suppression] = set()
    for finding in findings:
        silencing = [entry for entry in entries if entry.silences(finding)]
        used.update(silencing)
        if not silencing:
            kept.append(finding)
    return kept, used


def _read_codes(
    comment: _Comment,
    match: re.Match[str],
    offset: int,
    filename: str,
    entries: list[Suppression],
    invalid: list[Finding],
) -> None:
    words = list(_WORD.finditer(match[1]))
    start = offset + match.start(1)
    if not words:
        place = comment.place(offset + match.start(), offset + match.end())
        invalid.append(invalid_suppression("`ignore[]` names no rule", place, filename))
    for word in words:
        place = comment.place(start + word.start(), start + word.end())
        rule = find_rule(word[0])
        if rule is None:
            invalid.append(invalid_suppression(no_such_rule(word[0]), place, filename))
        else:
            entries.append(
                Suppression(rule.code, word[0], place, comment.first_row, comment.last_row, cell=comment.cell)
            )


def _read_noqa(
    comment: _Comment, noqa: re.Match[str], filename: str, entries: list[Suppression], invalid: list[Finding]
) -> None:
    """Every rule, or behind a colon those that are named; other words silence nothing, as for ruff."""

    def add(code: str, start: int, end: int) -> None:
        place = comment.place(start, end)
        entries.append(Suppression(code, code, place, comment.first_row, comment.last_row, True, comment.cell))

    if noqa["colon"] is None:
        add("", *noqa.span())
        return
    at = noqa.end()
    while (match := _NOQA_WORD.match(comment.text, at)) is not None:
        word, at = match["word"], match.end()
        rule = find_rule(word.upper() if match["code"] else word.lower())
        if match["code"] or rule is not None:
            add(rule.code if rule is not None else word.upper(), *match.span("word"))
        is_ours = _OWN_CODE.fullmatch(word.upper()) if match["code"] else _may_be_misspelt(word)
        if rule is None and is_ours:
            invalid.append(invalid_suppression(no_such_rule(word), comment.place(*match.span("word")), filename))
        if rule is None and not match["code"]:
            break  # the words of a person


def _may_be_misspelt(word: str) -> bool:
    """Whether a word that names no rule looks as if it should: in `noqa`, people write what they like."""
    return ("-" in word or word.upper().startswith("GL")) and nearest_rule(word) is not None


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment and the rows that it speaks for."""

    text: str
    row: int
    column: int
    own_line: bool
    first_row: int
    last_row: int
    cell: int = 0

    def place(self, start: int, end: int) -> Place:
        return Place(self.row, self.column + start, self.row, self.column + end, self.cell)


def _comments(text: str, cell: int) -> Iterator[_Comment]:
    """All comments; those on their own line are given out once the logical line below them has ended."""
    waiting: list[_Comment] = []
    in_line = False  # inside a logical line
    first_row = 0  # of the code that the waiting comments stand above
    for token in tokens_of(text):
        row = token.start[0]
        if token.type == tokenize.COMMENT:
            own_line = not token.line[: token.start[1]].strip()
            comment = _Comment(token.string, row, token.start[1] + 1, own_line, row, row, cell)
            if own_line:
                waiting.append(comment)
            else:
                yield comment
        elif token.type == tokenize.NEWLINE:
            yield from (replace(each, first_row=first_row, last_row=row) for each in waiting)
            waiting.clear()
            in_line, first_row = False, 0
        elif token.type not in _BLANK:
            if in_line and waiting and first_row == 0:
                # Above one line of an expression in brackets: that line is meant, not the whole statement.
                yield from (replace(each, first_row=row, last_row=row) for each in waiting)
                waiting.clear()
            elif not in_line:
                in_line = True
                first_row = row if waiting else 0
    yield from waiting


def tokens_of(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text; where it is no Python, those above."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return
