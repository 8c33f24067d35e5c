"""Adding suppressions: a `# gradlint: ignore[...]` comment for every finding, where `suppress.py` will read it.

After the line that the finding starts on, or into the comment that is there; above the statement where no comment can
stand after that line, because it ends within a string or in a backslash.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradlint.deep_stack import on_deep_stack
from gradlint.errors import RunError
from gradlint.files.documents import SUFFIXES as DOCUMENT_SUFFIXES
from gradlint.files.edits import CannotEdit, Insertion, edited_notebook, edited_script
from gradlint.files.input_file import InputFile, UnreadableText, decode
from gradlint.files.notebooks import read_notebook, script_of
from gradlint.files.tree import first_within
from gradlint.files.whole import change_whole, identity
from gradlint.merging import FileResult
from gradlint.rule import Finding, Place
from gradlint.run_rules import ALWAYS_SELECTED
from gradlint.suppress import IGNORE, tokens_of

_CODING = re.compile(r"coding[:=]\s*[-\w.]")
_FORMATTED = re.compile(r"[bru]*f", re.IGNORECASE)
#: What newer Pythons make of strings with values in them.
_FORMAT_STARTS, _FORMAT_ENDS = (
    frozenset(getattr(tokenize, f"{kind}STRING_{end}", -1) for kind in "FT") for end in ("START", "END")
)


@dataclass(slots=True)
class Added:
    """What adding suppressions to the files of a run came to."""

    results: list[FileResult] = field(default_factory=list)
    """The results with the findings that are left: those that no comment can silence, or could not be written."""
    comments: int = 0
    files: int = 0
    notes: list[str] = field(default_factory=list)
    """A line for each file in which findings are left because no suppression is written there."""
    problems: list[str] = field(default_factory=list)
    """A line for each file that could not be changed."""


def check_reason(reason: str) -> str:
    """The reason as it is written after a suppression.

    Raises:
        RunError: it cannot stand in a comment.
    """
    text = reason.strip()
    if not text:
        raise RunError("--reason: is empty")
    if not text.isprintable():
        raise RunError("--reason: must be one line of printable text")
    if "#" in text or _CODING.search(text):
        raise RunError('--reason: must hold neither "#" nor what Python reads as the encoding of a file')
    return text


def add_ignores(results: Sequence[FileResult], paths: Sequence[str], reason: str = "") -> Added:
    """Write a suppression for each finding into the files, once into a file that has several names.

    A link that leads out of the `paths` of the run, or of the working folder, is not written through.
    """
    added = Added()
    by_file: dict[object, list[FileResult]] = {}
    for result in results:
        by_file.setdefault(identity(result.filename), []).append(result)
    left: dict[str, set[tuple[str, Place]]] = {}
    for same in by_file.values():
        one = _united(same)
        name = first_within((result.filename for result in same), paths)
        found = _add_to_one(replace(one, filename=name), reason, added) if name is not None else one.findings
        if name is None and _wanted(one.findings):
            added.problems.append(f"{one.filename}: is a link that leads out of the tree, and was left alone")
        still = {(finding.code, finding.place) for finding in found}
        left |= dict.fromkeys((result.filename for result in same), still)
    for result in results:
        findings = (each for each in result.findings if (each.code, each.place) in left[result.filename])
        added.results.append(replace(result, findings=tuple(findings)))
    return added


def _united(same: Sequence[FileResult]) -> FileResult:
    """What was found in one file under its several names; settings may differ between them."""
    findings = {(each.code, each.place): each for result in reversed(same) for each in result.findings}
    excerpts = {at: text for result in same for at, text in result.excerpts.items()}
    return replace(same[0], findings=tuple(findings.values()), excerpts=excerpts)


def _wanted(findings: Sequence[Finding]) -> bool:
    """Whether a comment can silence any of these."""
    return any(finding.code not in ALWAYS_SELECTED for finding in findings)


def _add_to_one(result: FileResult, reason: str, added: Added) -> Sequence[Finding]:
    """The findings that are left."""
    left: Sequence[Finding] = result.findings
    if result.filename.endswith(DOCUMENT_SUFFIXES) and left:
        added.notes.append(f"{result.filename}: suppressions are not written into documents")
    elif _wanted(left):
        try:
            left, comments = _add_to_file(result, reason)
            added.comments += comments
            added.files += bool(comments)
            if _wanted(left):
                added.notes.append(f"{result.filename}: suppressions are not written into docstrings")
        except (CannotEdit, UnreadableText) as error:
            added.problems.append(f"{result.filename}: {error}, and was left alone")
        except OSError as error:
            words = (error.strerror or str(error)).lower()
            added.problems.append(f"{result.filename}: cannot be written: {words}")
    return left


def _add_to_file(result: FileResult, reason: str) -> tuple[list[Finding], int]:
    """The findings that are left, and how many suppressions were written."""
    data = Path(result.filename).read_bytes()
    before = _read(data, result.filename)
    _check_unchanged(before, result)
    by_cell: dict[int, list[Finding]] = {}
    left: list[Finding] = []
    for finding in result.findings:
        if finding.code in ALWAYS_SELECTED:
            left.append(finding)
        else:
            by_cell.setdefault(finding.place.cell, []).append(finding)
    insertions: list[Insertion] = []
    comments = 0
    for cell, findings in by_cell.items():
        layout = _Layout.of(_python_of(before, cell), before.rows(cell))
        codes: dict[_Spot, set[str]] = {}
        for finding in findings:
            spot = layout.spot_for(finding)
            if spot is None:
                left.append(finding)
            else:
                codes.setdefault(spot, set()).add(finding.code)
        insertions += [layout.insertion(spot, sorted(found), reason, cell) for spot, found in codes.items()]
        comments += sum(map(len, codes.values()))
    if insertions:
        edited = (edited_notebook if before.cells else edited_script)(data, insertions)
        _check_same_code(before, _read(edited, result.filename))
        change_whole(result.filename, edited)
    return left, comments


def _read(data: bytes, filename: str) -> InputFile:
    if filename.endswith(".ipynb"):
        notebook = read_notebook(data, filename)
        if notebook is None:
            raise CannotEdit("is not a notebook in Python")
        return notebook.file
    return script_of(decode(data, filename))


def _python_of(file: InputFile, cell: int) -> str:
    return next(each.text for each in file.cells if each.number == cell) if cell else file.text


def _check_unchanged(file: InputFile, result: FileResult) -> None:
    """Places of findings mean nothing in a file that another program has written meanwhile."""
    for (cell, row), text in result.excerpts.items():
        rows = file.rows(cell)
        if row > len(rows) or rows[row - 1] != text:
            raise CannotEdit("has changed since it was judged")


def _check_same_code(before: InputFile, after: InputFile) -> None:
    """A last look: comments are all that may differ."""
    if on_deep_stack(_trees, before) != on_deep_stack(_trees, after):
        raise CannotEdit("would be other code with the suppressions")


def _trees(file: InputFile) -> list[str]:
    texts = [cell.text for cell in file.cells] if file.cells else [file.text]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [ast.dump(ast.parse(text)) for text in texts]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CannotEdit("cannot be parsed") from error


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a suppression goes: after the code of a row, into a comment that suppresses already, or above a row."""

    row: int
    column: int
    is_above: bool = False
    is_within: bool = False


@dataclass(frozen=True, slots=True)
class _Layout:
    """The lines of a file or cell: where comments can stand."""

    rows: list[str]
    """As they are written."""
    closed: frozenset[int]
    """Rows that a comment can follow."""
    firsts: dict[int, int]
    """For each row of a statement, its first one."""
    comments: dict[int, tokenize.TokenInfo]
    strings: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    """Where strings without values in them start and end, those of several rows."""

    @classmethod
    def of(cls, text: str, rows: list[str]) -> _Layout:
        closed: set[int] = set()
        firsts: dict[int, int] = {}
        comments: dict[int, tokenize.TokenInfo] = {}
        strings: list[tuple[tuple[int, int], tuple[int, int]]] = []
        formats: list[int] = []
        first = 0
        for token in tokens_of(text):
            row, last = token.start[0], token.end[0]
            if token.type in (tokenize.NEWLINE, tokenize.NL):
                if not formats:
                    closed.add(row)
                if token.type == tokenize.NEWLINE:
                    firsts |= dict.fromkeys(range(first, row + 1), first)
                    first = 0
                continue
            if token.type == tokenize.COMMENT:
                comments[row] = token
            elif token.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
                first = first or row
            if token.type in _FORMAT_STARTS:
                formats.append(row)
            elif token.type in _FORMAT_ENDS:
                formats.pop()
            elif token.type == tokenize.STRING and last > row and not _FORMATTED.match(token.string):
                strings.append((token.start, token.end))
        return cls(rows, frozenset(closed), firsts, comments, tuple(strings))

    def spot_for(self, finding: Finding) -> _Spot | None:
        """Where the suppression of a finding goes; None where it is in a docstring."""
        row, column = finding.place.row, finding.place.column - 1
        if any(start < (row, column) < end for start, end in self.strings):
            return None
        if row in self.comments and row not in self.firsts:  # a finding about a comment on a line of its own
            return self._in_comment(row) or self._after(row)
        first = self.firsts.get(row)
        if first is None:
            return None
        if row in self.closed:
            return self._in_comment(row) or self._after(row)
        return self._in_comment(first - 1, own_line=True) or _Spot(first, 0, is_above=True)

    def _in_comment(self, row: int, *, own_line: bool = False) -> _Spot | None:
        """Into the comment of the row that suppresses already."""
        comment = self.comments.get(row)
        if comment is None or (own_line and comment.line[: comment.start[1]].strip()):
            return None
        match = IGNORE.search(comment.string)
        if match is None:
            return None
        return _Spot(row, self._shift(row, comment) + match.end() - 1, is_within=True)

    def _after(self, row: int) -> _Spot:
        return _Spot(row, len(self.rows[row - 1].rstrip()))

    def _shift(self, row: int, comment: tokenize.TokenInfo) -> int:
        """Where the comment begins in the row as it is written: what IPython adds may have been taken out."""
        return len(self.rows[row - 1].rstrip()) - len(comment.string.rstrip())

    def insertion(self, spot: _Spot, codes: Sequence[str], reason: str, cell: int) -> Insertion:
        """The text to put in."""
        written = self.rows[spot.row - 1]
        told = f" -- {reason}" if reason else ""
        if spot.is_within and not reason:
            held = written[: spot.column].rpartition("[")[2].strip()
            return Insertion(
                cell, spot.row, spot.column, f"{', ' if held and held[-1] != ',' else ''}{', '.join(codes)}"
            )
        comment = f"# gradlint: ignore[{', '.join(codes)}]{told}"
        if spot.is_above:
            indent = written[: len(written) - len(written.lstrip())]
            return Insertion(cell, spot.row, 0, f"{indent}{comment}\n")
        return Insertion(cell, spot.row, len(written.rstrip()), f"  {comment}")
