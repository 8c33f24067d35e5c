"""Fingerprints: what stays of a finding while the code around it moves.

A fingerprint is made of the file, the rule, the qualified names of the functions and classes around the finding, the
text of its line, and its number among those that are equal so far. Rows, columns and the cells of a notebook are no
part of it, nor are blank space and comments. `merging.py` stamps them; `baseline.py` and reports compare them.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradlint.config import Settings
    from gradlint.rule import Finding

#: Of a longer line, this many characters are kept, and a hash of all of them.
_LONGEST = 200
_DIGITS = 32
_MARK = "#"
_OF_REPOSITORIES = (".git", ".hg")
_OF_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_DOCSTRING = "<docstring>"

#: Strings (open ones reach to the end of the line), comments, words, single other characters.
_PARTS = re.compile(
    r"""(?P<string>'''.*?(?:'''|$)|\"\"\".*?(?:\"\"\"|$)|'(?:\\.|[^'\\])*(?:'|\\?$)|"(?:\\.|[^"\\])*(?:"|\\?$))"""
    r"|(?P<comment>\#.*)|(?P<blank>\s+)|\w+|."
)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a finding is known by. `str()` of it is a hash of all that is compared."""

    path: str
    """The file as seen from the folder of its repository, or the like, with `/`."""
    code: str
    scope: str
    """The functions and classes around the finding, joined by dots; empty at the level of the module."""
    line: str
    """The first line of the finding, without comment and with single blanks."""
    index: int
    """The number of this one, from 0, among those of the file that are equal in all else."""
    filename: str = ""
    """The file as the run names it."""
    cause: Fingerprint | None = None
    """What it is known by where the change is to be made, when that is in a file that the run leaves out."""

    def __str__(self) -> str:
        parts = (self.path, self.code, self.scope, without_blanks(self.line), str(self.index))
        told = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hashlib.sha256(told).hexdigest()[:_DIGITS]


def with_fingerprints(
    findings: Iterable[Finding],
    filename: str,
    folder: str | os.PathLike[str],
    rows: Mapping[tuple[int, int], str],
    scopes: Mapping[tuple[int, int], str],
    about_comments: Container[str] = (),
) -> tuple[Finding, ...]:
    """The findings of one file, in order, each with its fingerprint. Rows and scopes are by cell and row.

    `about_comments` are the codes of findings that are known by the comment that they stand in. The fingerprint that a
    finding has already is that of its cause, in another file.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    stamped = []
    path = relative_path(filename, folder)
    for finding in findings:
        at = finding.place.cell, finding.place.row
        row, scope = rows.get(at, ""), scopes.get(at, "")
        line = comment_at(row, finding.place.column) if finding.code in about_comments else normalised(row)
        line = _shortened(line)
        key = finding.code, scope, without_blanks(line)
        known = Fingerprint(path, finding.code, scope, line, seen[key], filename, finding.fingerprint)
        stamped.append(replace(finding, fingerprint=known))
        seen[key] += 1
    return tuple(stamped)


def normalised(line: str) -> str:
    """The line without its comment, with one blank wherever it has some."""
    return "".join(" " if part["blank"] else part[0] for part in _parts(line)).strip()


def comment_at(line: str, column: int) -> str:
    """The comment that this column, from 1, stands in, up to the next one: `# noqa` behind it is another tool's."""
    start = max(line.rfind(_MARK, 0, column), 0)
    end = line.find(_MARK, start + 1)
    return " ".join(line[start : end if end > 0 else None].split())


def without_blanks(line: str) -> str:
    """What is compared of a normalised line: `x=f( y )` and `x = f(y)` are the same, `a b` and `ab` are not.

    Of a comment, which no normalised line of code begins with, all is compared.
    """
    if line.startswith(_MARK):
        return line
    written = ""
    waits = False
    for part in _parts(line):
        if part["blank"]:
            waits = True
            continue
        if waits and _is_word(written[-1:]) and _is_word(part[0][0]):
            written += " "
        written += part[0]
        waits = False
    return written


def _parts(line: str) -> Iterator[re.Match[str]]:
    return (part for part in _PARTS.finditer(line) if not part["comment"])


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _shortened(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    line = without_blanks(line)
    return f"{line[:_LONGEST]}... {hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def in_docstring(scope: str) -> str:
    """The scope of code in a docstring, given its scope there."""
    return f"{_DOCSTRING}.{scope}" if scope else _DOCSTRING


def is_in_docstring(scope: str) -> bool:
    """Whether this is the scope of code in a docstring."""
    return scope == _DOCSTRING or scope.startswith(f"{_DOCSTRING}.")


def folder_of_paths(filename: str, settings: Settings) -> str:
    """The folder that the path in a fingerprint is seen from, so that it does not depend on where a run is started.

    That of the repository, else of the settings, else of the project; where there is none of these, the working folder
    when the file lies in it, else the file's own.
    """
    folder = os.path.dirname(os.path.abspath(filename))
    around = [folder]
    while (parent := os.path.dirname(around[-1])) != around[-1]:
        around.append(parent)
    root = os.path.abspath(settings.root)
    found = _first_with(_OF_REPOSITORIES, around) or (root if settings.files else _first_with(_OF_PROJECTS, around))
    return found or (root if root in around else folder)


def _first_with(names: Sequence[str], folders: Sequence[str]) -> str | None:
    return next((each for each in folders if any(os.path.exists(os.path.join(each, name)) for name in names)), None)


def relative_path(filename: str, folder: str | os.PathLike[str]) -> str:
    """The file as seen from the folder, with `/`; its absolute name where it lies on another drive."""
    path = os.path.abspath(filename)
    with suppress(ValueError):
        path = os.path.relpath(path, folder)
    return path.replace(os.sep, "/")


def scopes_of(tree: ast.Module, rows: Sequence[int], rows_per_file: int) -> dict[int, str]:
    """The qualified scope of each of these rows; rows of the tree count modulo `rows_per_file`."""
    spans = list(_spans(tree, rows_per_file))
    found = {}
    for row in rows:
        around = [(first, name) for first, last, name in spans if first <= row <= last]
        found[row] = max(around)[1] if around else ""
    return found


def _spans(tree: ast.Module, rows_per_file: int) -> Iterator[tuple[int, int, str]]:
    """First row, last row and qualified name of each function and class; inner ones start later or are longer."""
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, scope = pending.pop()
        for child in _inner(node):
            name = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{scope}.{child.name}" if scope else child.name
                yield child.lineno % rows_per_file, (child.end_lineno or child.lineno) % rows_per_file, name
            pending.append((child, name))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a statement: expressions hold no named scope."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, name, None)
        if isinstance(inner, list):
            yield from inner
