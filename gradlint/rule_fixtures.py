"""Fixtures of one rule: programs in which each line to be found says so (`# expect: CODE`), held against what is found.

They lie in `fixtures/<CODE>/` beside the rule file. The rule is judged alone, under what the settings say of the code
(`src`, `keras`, functions to trust), and not under what they say of rules and files.
"""

from __future__ import annotations

import ast
import os
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradlint.config import Settings, load_settings
from gradlint.errors import RunError
from gradlint.files.discovery import SUFFIXES
from gradlint.files.input_file import UnreadableText, decode
from gradlint.files.notebooks import read_notebook, script_of
from gradlint.own_rules import file_of
from gradlint.process_wide import without_warnings
from gradlint.rule import Finding, Rule
from gradlint.run import check_files
from gradlint.selection import find_rule, no_such_rule
from gradlint.suppress import tokens_of
from gradlint.text import printable

_EXPECT = re.compile(r"#\s*expect:\s*([^\s,#]+(?:\s*,\s*[^\s,#]+)*)")

Row = tuple[int, int]  # cell (0 where there are none) and row


@dataclass(frozen=True, slots=True)
class FixtureFault:
    """One thing in which the fixtures and the rule differ. `row` is 0 where it is no line."""

    filename: str
    message: str
    row: int = 0
    cell: int = 0

    def __str__(self) -> str:
        cell = f"cell {self.cell}:" if self.cell else ""
        row = f"{cell}{self.row}:" if self.row else ""
        return printable(f"{self.filename}:{row} {self.message}")


@dataclass(frozen=True, slots=True)
class RuleTested:
    """What the fixtures of a rule showed."""

    rule: Rule
    programs: int
    faulty: int
    """Those in which something is expected."""
    faults: tuple[FixtureFault, ...]


def fixtures_of(rule: Rule) -> Path:
    """The folder of the fixtures of a rule, which need not exist.

    Raises:
        RunError: it is a rule of gradlint itself that has no programs, or is installed without them.
    """
    file = file_of(rule)
    if rule.is_own:
        return _shown(Path(file).parent / "fixtures" / rule.code)
    if rule.decide is None:
        raise RunError(f"{rule.code}: has no fixtures; it is no rule about the code of a program")
    folder = Path(os.path.realpath(file)).parents[2] / "fixtures" / rule.code
    if not folder.is_dir():
        raise RunError(f"{rule.code}: its fixtures are part of gradlint's source, and not installed")
    return _shown(folder)


def run_fixtures(rule: Rule, folder: Path) -> RuleTested:
    """Judge the programs in a folder by this rule.

    Raises:
        RunError: the folder is not there, or the settings of the rule's project make no sense.
    """
    if not folder.is_dir():
        raise RunError(f"{printable(str(folder))}: no such folder; the programs of {rule.code} are looked for here")
    files = sorted(str(path) for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not files:
        raise RunError(f"{printable(str(folder))}: no program for {rule.code}")
    results = check_files(files, _settings_for(rule), 1, lambda _: None)
    faults: list[FixtureFault] = []
    faulty = 0
    for result in results:
        expected = list(_expected(result.filename))
        rows = {row for row, word in expected if word in (rule.code, rule.name)}
        faulty += bool(rows)
        if not result.parsed and not result.findings:
            faults += _unread(result.filename)
        faults += sorted(
            [*_unknown(result.filename, expected), *_differences(rule, result.filename, rows, result.findings)],
            key=lambda fault: (fault.cell, fault.row),
        )
    if not faulty:
        faults.append(FixtureFault(str(folder), f"no program in which {rule.code} is expected"))
    if faulty == len(files):
        faults.append(FixtureFault(str(folder), f"no look-alike: a correct program in which {rule.code} finds nothing"))
    return RuleTested(rule, len(files), faulty, tuple(faults))


def _shown(folder: Path) -> Path:
    """The folder as seen from the working folder, when it lies in it."""
    relative = os.path.relpath(folder)
    return folder if relative.startswith("..") else Path(relative)


def _settings_for(rule: Rule) -> Settings:
    found = load_settings([file_of(rule)])
    return Settings(
        root=found.root,
        select=(rule.code,),
        src=found.src,
        keras=found.keras,
        differentiable=found.differentiable,
        nondifferentiable=found.nondifferentiable,
        rules=(rule.file,) if rule.file else (),
    )


def _expected(filename: str) -> Iterator[tuple[Row, str]]:
    """The lines with a comment that says what is to be found in them, and the rules that it names."""
    try:
        texts = _texts(Path(filename).read_bytes(), filename)
    except UnreadableText:
        return
    for cell, text in texts:
        for token in tokens_of(text):
            for match in _EXPECT.finditer(token.string) if token.type == tokenize.COMMENT else ():
                yield from (((cell, token.start[0]), word.strip()) for word in match[1].split(","))


def _texts(data: bytes, filename: str) -> list[tuple[int, str]]:
    """The Python of a script, or of each cell of a notebook with its number; all of a cell that is no Python.

    Raises:
        UnreadableText: it cannot be read.
    """
    if filename.endswith(".ipynb"):
        notebook = read_notebook(data, filename)
        if notebook is None:
            return []
        broken = {number for number, _ in notebook.broken}
        return [(cell.number, cell.source if cell.number in broken else cell.text) for cell in notebook.file.cells]
    return [(0, script_of(decode(data, filename)).text)]


def _unread(filename: str) -> Iterator[FixtureFault]:
    """What is wrong with a program that was not looked at, as it names neither TensorFlow nor Keras."""
    try:
        texts = _texts(Path(filename).read_bytes(), filename)
    except UnreadableText as error:
        yield FixtureFault(filename, f"cannot be read: {error.message}")
        return
    for cell, text in texts:
        try:
            with without_warnings:
                ast.parse(text)
        except SyntaxError as error:
            yield FixtureFault(filename, f"is no Python: {error.msg}", error.lineno or 1, cell)
        except (ValueError, RecursionError, MemoryError) as error:
            yield FixtureFault(filename, f"is no Python: {error}", 0, cell)


def _unknown(filename: str, expected: Sequence[tuple[Row, str]]) -> Iterator[FixtureFault]:
    for (cell, row), word in expected:
        if find_rule(word) is None:
            yield FixtureFault(filename, no_such_rule(word), row, cell)


def _differences(rule: Rule, filename: str, rows: set[Row], findings: Sequence[Finding]) -> Iterator[FixtureFault]:
    named = f"{rule.code} ({rule.name})"
    found = set()
    for finding in findings:
        place = finding.place
        if finding.code != rule.code:  # the program was not judged
            yield FixtureFault(filename, f"{finding.code} ({finding.name}): {finding.message}", place.row, place.cell)
            continue
        found.add((place.cell, place.row))
        if (place.cell, place.row) not in rows:
            message = f"{named} is found, and not expected: {finding.message}"
            yield FixtureFault(filename, message, place.row, place.cell)
    for cell, row in rows - found:
        yield FixtureFault(filename, f"{named} is expected, and not found", row, cell)
