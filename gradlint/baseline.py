"""The baseline: findings that a project accepts for now, in a file that is kept with the code.

An entry is a fingerprint (`fingerprints.py`) whose path is seen from the folder of the baseline, so that the project
may lie anywhere and have settings in several folders. That a file could not be judged (GL001, GL002, GL009) is never
accepted: silence about it would mean nothing.

An entry is *fixed* when the run judged its file with its rule and did not find it, or when the file is gone. Of files
and rules that a run leaves out, nothing is said, nor of what was found through another file (one that calls a function,
say) when the run leaves out that one or another that uses its file (`coverage.py`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradlint.coverage import Coverage
from gradlint.errors import RunError
from gradlint.files.whole import write_whole
from gradlint.fingerprints import Fingerprint, is_in_docstring, relative_path, without_blanks
from gradlint.merging import FileResult
from gradlint.rule import Finding
from gradlint.run_rules import ALWAYS_SELECTED
from gradlint.text import printable

VERSION = 1
TOOL = "gradlint"

#: What nobody can read in an editor, or would be misled by; JSON itself escapes what is below a blank.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One accepted finding. Lines are equal that differ in blank space only."""

    path: str
    rule: str
    scope: str
    compared: str = field(repr=False)
    index: int
    line: str = field(compare=False)
    through: tuple[str, ...] = field(default=(), compare=False)
    """The other files that its trace leads through."""

    @property
    def without_index(self) -> tuple[str, ...]:
        """What entries share that differ in nothing but their number."""
        return self.path, self.rule, self.scope, self.compared

    @property
    def place(self) -> str:
        """Where it stood, for people."""
        return f"{self.path}: {self.rule}" + (f" in {self.scope}" if self.scope else "") + f": {self.line}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run says of a baseline: the results without what it accepts, and how many that were."""

    results: tuple[FileResult, ...]
    accepted: int
    fixed: tuple[Entry, ...]
    unknown: tuple[Entry, ...] = ()
    """Entries of rules that do not exist, in files that were judged."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings of a project, and the file that they stand in, as it was named."""

    file: str
    entries: frozenset[Entry] = frozenset()

    def judge(self, results: Sequence[FileResult], coverage: Coverage) -> Judgement:
        """Take what is accepted out of the results of a run."""
        found: set[Entry] = set()
        kept: list[FileResult] = []
        known = {entry.without_index for entry in self.entries}
        accepted = 0
        for result in results:
            remaining = []
            for finding in result.findings:
                entry, cause = self._entry_of(finding), self._cause_of(finding)
                if entry is not None and entry in self.entries:
                    found.add(entry)
                    accepted += 1
                elif cause is not None and cause.without_index in known:
                    accepted += 1
                else:
                    remaining.append(finding)
            is_whole = len(remaining) == len(result.findings)
            kept.append(result if is_whole else replace(result, findings=tuple(remaining)))
        missing = replace(self, entries=self.entries - found)._left_behind(results, coverage)
        names = {self._path(result.filename): result.filename for result in results}
        unknown = {each for each in missing if each.path in names and not coverage.knows(each.rule, names[each.path])}
        return Judgement(tuple(kept), accepted, tuple(sorted(missing - unknown)), tuple(sorted(unknown)))

    def of_run(self, results: Sequence[FileResult], coverage: Coverage) -> Baseline:
        """What to accept so that a run is clean: all that it found, and entries that it says nothing of."""
        entries = (self._entry_of(finding) for result in results for finding in result.findings)
        untold = self.entries - self._left_behind(results, coverage)
        return replace(self, entries=untold.union(entry for entry in entries if entry is not None))

    def without(self, entries: Iterable[Entry]) -> Baseline:
        """The baseline without these entries."""
        return replace(self, entries=self.entries.difference(entries))

    def write(self, option: str) -> None:
        """Write the file, whole or not at all.

        Raises:
            RunError: it cannot be written; the message begins with the option.
        """
        write_whole([(self.file, self.text())], option)

    def text(self) -> str:
        """The content of the file: JSON, sorted, an entry per line, so that changes of it can be read."""
        lines = ",\n".join(f"    {_as_json(entry)}" for entry in sorted(self.entries))
        body = f"[\n{lines}\n  ]" if lines else "[]"
        return f'{{\n  "version": {VERSION},\n  "tool": "{TOOL}",\n  "findings": {body}\n}}\n'

    @property
    def _folder(self) -> str:
        return os.path.dirname(os.path.realpath(self.file))

    def _entry_of(self, finding: Finding) -> Entry | None:
        """The entry that a finding would have; None when it may not have one."""
        known = finding.fingerprint
        if known is None or finding.code in ALWAYS_SELECTED:
            return None
        through = {self._path(step.filename) for step in finding.trace if step.filename}
        return replace(self._entry(known), through=tuple(sorted(through)))

    def _cause_of(self, finding: Finding) -> Entry | None:
        """The entry that the finding would have where its cause stands, in a file that the run leaves out."""
        known = finding.fingerprint
        return self._entry(known.cause) if known is not None and known.cause is not None else None

    def _entry(self, known: Fingerprint) -> Entry:
        path = self._path(known.filename)
        return Entry(path, known.code, known.scope, without_blanks(known.line), known.index, known.line)

    def _left_behind(self, results: Sequence[FileResult], coverage: Coverage) -> set[Entry]:
        """The entries that must have been found again, were they not fixed."""
        judged = {
            self._path(result.filename): result
            for result in results
            if not any(finding.code in ALWAYS_SELECTED for finding in result.findings)
        }
        named = {self._path(result.filename) for result in results}
        others = {path for entry in self.entries for path in (entry.path, *entry.through)} - named
        gone = {path for path in others if self._is_gone(path)}
        told = gone.union(judged)
        return {
            entry
            for entry in self.entries
            if entry.path in gone
            or (told.issuperset({entry.path, *entry.through}) and _is_told(entry, judged[entry.path], coverage))
        }

    def _path(self, filename: str) -> str:
        folder, name = os.path.split(os.path.abspath(filename))
        return relative_path(os.path.join(os.path.realpath(folder), name), self._folder)

    def _is_gone(self, path: str) -> bool:
        try:
            os.lstat(os.path.join(self._folder, path))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):  # a folder that cannot be read, say
            return False
        return False


def _is_told(entry: Entry, result: FileResult, coverage: Coverage) -> bool:
    """Whether the run over a file says of an entry of it that it is there, or that it is not."""
    if not coverage.knows(entry.rule, result.filename):
        return True
    if entry.rule not in coverage.rules(result.filename) - result.withheld:
        return False
    if is_in_docstring(entry.scope) and not coverage.includes_docs(result.filename):
        return False
    return not (entry.through and coverage.is_used_outside(result.filename))


def read_baseline(file: str, option: str) -> Baseline:
    """The baseline in this file.

    Raises:
        RunError: there is none that this version reads; the message begins with the option and names the file.
    """
    where = f"{option}: {printable(file)}"
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RunError(f"{where}: not UTF-8") from error
    except (OSError, ValueError) as error:
        words = "is a folder" if os.path.isdir(file) else getattr(error, "strerror", None) or str(error)
        words = "no such file" if isinstance(error, FileNotFoundError) else words
        raise RunError(f"{where}: {words[:1].lower()}{words[1:]}") from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise RunError(f"{where}:{error.lineno}: not JSON: {error.msg[:1].lower()}{error.msg[1:]}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where}: not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("tool") != TOOL:
        raise RunError(f"{where}: not a baseline of gradlint")
    if content.get("version") != VERSION or isinstance(content["version"], bool):
        version = json.dumps(content.get("version"))
        raise RunError(f"{where}: version {version}; this gradlint reads version {VERSION}")
    findings = content.get("findings")
    if not isinstance(findings, list):
        raise RunError(f'{where}: "findings" must be a list')
    return Baseline(file, frozenset(_read_entry(each, number, where) for number, each in enumerate(findings, 1)))


def _read_entry(content: Any, number: int, where: str) -> Entry:
    kinds: dict[str, type] = {"path": str, "rule": str, "scope": str, "line": str, "index": int}
    if not isinstance(content, dict):
        raise RunError(f"{where}: entry {number}: expected an object, got {json.dumps(content)[:40]}")
    for key, kind in kinds.items():
        value = content.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            expected = "a string" if kind is str else "a number"
            got = f"got {json.dumps(value)[:40]}" if key in content else "it is missing"
            raise RunError(f'{where}: entry {number}: "{key}": expected {expected}, {got}')
    if content["index"] < 0:
        raise RunError(f'{where}: entry {number}: "index": expected 0 or more, got {content["index"]}')
    line, through = content["line"], content.get("through", [])
    if not isinstance(through, list) or not all(isinstance(each, str) for each in through):
        raise RunError(f'{where}: entry {number}: "through": expected a list of strings')
    compared = without_blanks(line)
    return Entry(
        content["path"], content["rule"], content["scope"], compared, content["index"], line, tuple(sorted(through))
    )


def _as_json(entry: Entry) -> str:
    told: dict[str, object] = {
        "path": entry.path,
        "rule": entry.rule,
        "scope": entry.scope,
        "line": entry.line,
        "index": entry.index,
    }
    if entry.through:
        told["through"] = entry.through
    text = json.dumps(told, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
