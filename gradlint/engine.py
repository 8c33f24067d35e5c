"""One file from bytes to findings: gate -> parse -> flow -> rules.

`judge_file` answers with a `Judged`, whatever a file holds: nothing is printed, and no state outlives a call but the
trees that the `Project` keeps. Findings may stand in other files, which the judged one imports; `merging.py` puts them
together with those of all files of a run, and applies suppressions. Runs over many files are `run.py`'s business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from gradlint.config import Settings
from gradlint.deep_stack import on_deep_stack
from gradlint.files.documents import SUFFIXES as DOCUMENT_SUFFIXES
from gradlint.files.documents import documents_of
from gradlint.files.input_file import InputFile, UnreadableText, decode
from gradlint.files.modules import ModuleFinder
from gradlint.files.notebooks import read_notebook, script_of
from gradlint.fingerprints import in_docstring, scopes_of
from gradlint.flow import FlowResult, analyse
from gradlint.flow.events import SourcesStarved, TermStarved
from gradlint.flow.project import Project
from gradlint.flow.sources import ROWS, Source
from gradlint.flow_report import GradientDecision
from gradlint.gate import passes_gate
from gradlint.own_rules import load_rule_files, rule_files, rules_under
from gradlint.process_wide import while_others_run, without_garbage_collection
from gradlint.rule import Finding, Place, Rule, Step, kept_while_rules_stay
from gradlint.run_rules import (
    ALWAYS_SELECTED,
    INTERNAL_ERROR,
    START,
    internal_error,
    rule_failed,
    stamped,
    syntax_error,
    too_deep,
    unreadable,
)
from gradlint.suppress import Suppressions, joined, may_hold_suppressions, read_suppressions

#: A range of more rows than this is shown by its first and last ones.
EXCERPT_ROWS = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """What judging one file showed, suppressions not applied. Every finding and every step names its file."""

    filename: str
    findings: tuple[Finding, ...] = ()
    decisions: tuple[GradientDecision, ...] = ()
    excerpts: dict[tuple[str, int, int], str] = field(default_factory=dict, hash=False)
    """The rows that the findings and their steps stand on, by file, cell and row: files may change."""
    scopes: dict[tuple[str, int, int], str] = field(default_factory=dict, hash=False)
    """The functions and classes around the first row of each of these, joined by dots, where there are any."""
    suppressions: dict[str, Suppressions] = field(default_factory=dict, hash=False)
    """The comments of this file, and of the others that findings stand in."""
    parsed: bool = False
    """False when the file stopped at the gate or could not be read."""
    in_part: bool = False
    """Whether anything kept it, or a part of it, from being judged: a fault in the file, in gradlint or in a rule."""
    followed: bool = False
    """Whether it holds code that has to do with training, and was followed."""
    died: bool = False
    """Whether the process that judged it ended before it was done."""


def project_for(settings: Settings, unsaved: Mapping[str, bytes] | None = None) -> Project:
    """The project of a run under these settings, nothing of it read yet; rules that they name by file are known then.

    `unsaved` holds what takes the place of the contents of some files, by absolute path.

    Raises:
        RunError: such a rule cannot be loaded.
    """
    load_rule_files(rule_files(settings))
    return Project.found_by(ModuleFinder(str(settings.root), settings.src), unsaved)


def judge_file(path: str | Path, settings: Settings, project: Project) -> Judged:
    """Judge the file at this path."""
    filename = str(path)
    try:
        # Unbuffered, and no Path: for the many files that stop at the gate this is most of the cost.
        with open(path, "rb", buffering=0) as file:
            data = file.readall()
    except FileNotFoundError:
        is_link = Path(path).is_symlink()
        reason = "broken symbolic link" if is_link else "no such file"
        return Judged(filename, (unreadable(reason, filename),), in_part=True)
    except (OSError, ValueError) as error:
        words = (getattr(error, "strerror", None) or str(error)).lower()
        return Judged(filename, (unreadable(words, filename),), in_part=True)
    return judge_bytes(data, filename, settings, project)


def judge_bytes(data: bytes, filename: str, settings: Settings, project: Project, *, is_asked: bool = False) -> Judged:
    """Judge the bytes of a file. Where `is_asked`, not even one that names no TensorFlow may be unreadable."""
    if not passes_gate(data) and not _may_start_training(data, filename, project):
        if not is_asked or filename.endswith(".ipynb") or _is_text(data, filename):
            return Judged(filename)
    broken: list[Finding] = []
    try:
        if filename.endswith(".ipynb"):
            notebook = read_notebook(data, filename)
            if notebook is None:
                return Judged(filename)
            file, broken = notebook.file, [_in_cell(*each, filename) for each in notebook.broken]
        else:
            file = script_of(decode(data, filename))
    except UnreadableText as error:
        finding = unreadable(error.message, filename, error.place, error.instead)
        return Judged(filename, (finding,) if finding.code in settings.selected else (), in_part=True)
    parts: list[Judged] = []
    if not filename.endswith(DOCUMENT_SUFFIXES):
        parts.append(on_deep_stack(_judge, file, settings, project, broken))
    if settings.include_docs and not file.cells:
        documents = documents_of(file.text, filename)
        judged = [on_deep_stack(_judge, each, settings, project, []) for each in documents]
        parts += judged if filename.endswith(DOCUMENT_SUFFIXES) else map(_in_docstring, judged)
    return parts[0] if len(parts) == 1 else _together(filename, parts)


def _is_text(data: bytes, filename: str) -> bool:
    try:
        decode(data, filename)
    except UnreadableText:
        return False
    return True


def _in_docstring(judged: Judged) -> Judged:
    """What code in a docstring showed, known by that: other runs may leave it out."""
    here = {at for at in judged.excerpts if at[0] == judged.filename}
    return replace(judged, scopes=judged.scopes | {at: in_docstring(judged.scopes.get(at, "")) for at in here})


def _together(filename: str, parts: Sequence[Judged]) -> Judged:
    """What a module and the code in its docstrings showed, as one."""
    comments: dict[str, list[Suppressions]] = {}
    for part in parts:
        for name, each in part.suppressions.items():
            comments.setdefault(name, []).append(each)
    return Judged(
        filename,
        tuple(finding for part in parts for finding in part.findings),
        tuple(decision for part in parts for decision in part.decisions),
        {key: text for part in parts for key, text in part.excerpts.items()},
        {key: scope for part in parts for key, scope in part.scopes.items()},
        {name: joined(each, name) for name, each in comments.items()},
        any(part.parsed for part in parts),
        any(part.in_part for part in parts),
        any(part.followed for part in parts),
    )


#: Files that are run as they are, by the names that people give them.
_STARTS = re.compile(r"(?:^|[_-])(?:train|main|run|experiment|finetune|test)(?:[_-]|\.py$)|\.ipynb$").search
#: Where scripts say that they are run: in the last bytes, or among the imports. All of a file would take too long.
_END = 2500


def _may_start_training(data: bytes, filename: str, project: Project) -> bool:
    """Whether a script that names neither TensorFlow nor Keras runs code of the project that trains."""
    if b"__main__" not in data[-_END:] and b"click" not in data[:_END] and _STARTS(os.path.basename(filename)) is None:
        return False
    try:
        if filename.endswith(".ipynb"):
            notebook = read_notebook(data, filename)
            text = notebook.file.text if notebook is not None else ""
        else:
            text = decode(data, filename).text
    except UnreadableText:
        return False
    return project.trained_names.leads_by_imports(os.path.abspath(filename), text)


def _in_cell(cell: int, error: SyntaxError, filename: str) -> Finding:
    """GL001 in a cell of a notebook."""
    finding = syntax_error(error, filename)
    return replace(finding, place=replace(finding.place, cell=cell))


def _judge(file: InputFile, settings: Settings, project: Project, broken: Sequence[Finding]) -> Judged:
    selected = settings.selected
    with without_garbage_collection:
        complaint, source = _parsed(file, project)
        if source is None:
            assert complaint is not None
            return _refused(file, complaint, broken, selected)
        try:
            flow = analyse(source, settings, project)
        except (RecursionError, MemoryError):
            flow, complaint = FlowResult(), too_deep(file.filename)
        except Exception as error:
            flow, complaint = FlowResult(), internal_error("the flow analysis", error, file.filename)
        files = _Files(file, source, flow.sources)
        found = list(_apply_rules(flow, files, file.filename, selected, rule_files(settings)))
        found += [*broken, complaint] if complaint is not None else broken
        findings = _distinct([finding for finding in found if finding.code in selected])
        decisions = tuple(files.decision(each) for each in flow.decisions)
        comments = files.suppressions(findings, broken)
        places = _places_by_file(findings, comments)
        rows, scopes = files.excerpts(places), files.scopes(places)
        in_part = any(finding.code in ALWAYS_SELECTED for finding in found)
        return Judged(
            file.filename,
            findings,
            decisions,
            rows,
            scopes,
            comments,
            parsed=True,
            in_part=in_part,
            followed=bool(flow.sources),
        )


def _refused(file: InputFile, complaint: Finding, broken: Sequence[Finding], selected: frozenset[str]) -> Judged:
    """A file that cannot be parsed: comments are read all the same."""
    name = file.filename
    comments = comments_of(file, [complaint, *broken])
    places = [complaint.place, *(comments.places if comments is not None else ())]
    rows = {(name, *at): line for at, line in excerpts_of(file, places).items()}
    found = (complaint,) if complaint.code in selected else ()
    return Judged(name, found, (), rows, suppressions={name: comments} if comments is not None else {}, in_part=True)


def _parsed(file: InputFile, project: Project) -> tuple[Finding | None, Source | None]:
    """The source, or the one finding that says why there is none."""
    try:
        return None, project.sources.parsed(file)
    except SyntaxError as error:
        return syntax_error(error, file.filename), None
    except (RecursionError, MemoryError):
        return too_deep(file.filename), None
    except ValueError as error:  # what older Pythons raise where newer ones raise SyntaxError
        return syntax_error(SyntaxError(str(error)), file.filename), None


class _Files:
    """The files that were judged together, by the numbers in places, under the names to report."""

    def __init__(self, entry: InputFile, source: Source, others: Mapping[int, Source]) -> None:
        absolute = os.path.isabs(entry.filename)
        self._names = {number: _shown(each.file.filename, absolute=absolute) for number, each in others.items()}
        self._names |= {source.number: entry.filename, 0: entry.filename}
        self._inputs = {self._names[number]: each.file for number, each in others.items()} | {entry.filename: entry}
        self._trees = {self._names[number]: each.tree for number, each in others.items()}
        self._trees[entry.filename] = source.tree
        self._entry = entry

    def check(self, finding: Finding) -> None:
        """Look at the places of a finding: a rule of one's own may have made them up.

        Raises:
            ValueError: there is no such place.
        """
        for place in (finding.place, *(step.place for step in finding.trace)):
            begin, end = (place.row, place.column), (place.end_row, place.end_column)
            if min(*begin, *end) < 1 or end < begin:
                raise ValueError("place: rows and columns count from 1, and no place ends before it begins")
            file = self._inputs.get(self._names.get(place.file, ""))
            numbers = {cell.number for cell in file.cells} or {0} if file is not None else ()
            if file is None or place.cell not in numbers or place.end_row > len(file.rows(place.cell)):
                raise ValueError(f"place: not in the file: row {place.row}, column {place.column}")

    def placed(self, finding: Finding) -> Finding:
        """The finding with the name of its file, and of those of its steps."""
        steps = tuple(
            Step(step.message, replace(step.place, file=0), self._names[step.place.file]) for step in finding.trace
        )
        filename = self._names[finding.place.file]
        return replace(finding, place=replace(finding.place, file=0), filename=filename, trace=steps)

    def decision(self, decision: GradientDecision) -> GradientDecision:
        """The decision with the names of its file, and of those where something was given up."""
        asked = self._names[decision.place.file]
        told = []
        for each in decision.sources:
            if each.place is None:
                told.append(each)
                continue
            there = self._names[each.place.file]
            filename = "" if there == asked else there
            told.append(replace(each, place=replace(each.place, file=0), filename=filename))
        filename = "" if asked == self._entry.filename else asked
        return replace(decision, place=replace(decision.place, file=0), sources=tuple(told), filename=filename)

    def excerpts(self, places_by_file: Mapping[str, Sequence[Place]]) -> dict[tuple[str, int, int], str]:
        """The rows that reports may show of what stands at these places."""
        return {
            (name, *at): text
            for name, places in places_by_file.items()
            for at, text in excerpts_of(self._inputs[name], places).items()
        }

    def scopes(self, places_by_file: Mapping[str, Sequence[Place]]) -> dict[tuple[str, int, int], str]:
        """The qualified scopes that these places are in."""
        found = {}
        for name, places in places_by_file.items():
            rows = {(place.cell, place.row): self._inputs[name].row_of(place) for place in places}
            scopes = scopes_of(self._trees[name], list(rows.values()), ROWS)
            found.update({(name, *at): scopes[row] for at, row in rows.items() if scopes[row]})
        return found

    def suppressions(self, findings: Sequence[Finding], broken: Sequence[Finding]) -> dict[str, Suppressions]:
        """The comments of the judged file, some cells of which may be `broken`, and of the others in which something
        was found."""
        entry = self._entry.filename
        names = dict.fromkeys([entry, *(finding.filename for finding in findings)])
        read = {name: comments_of(self._inputs[name], broken if name == entry else ()) for name in names}
        return {name: comments for name, comments in read.items() if comments is not None}


def _places_by_file(findings: Sequence[Finding], comments: Mapping[str, Suppressions]) -> dict[str, list[Place]]:
    """Where these findings and their steps stand, and the comments, about which something may be found later."""
    places = {name: list(each.places) for name, each in comments.items()}
    for finding in findings:
        places.setdefault(finding.filename, []).append(finding.place)
        for step in finding.trace:
            places.setdefault(step.filename, []).append(step.place)
    return places


def comments_of(file: InputFile, errors: Sequence[Finding] = ()) -> Suppressions | None:
    """The suppressions of a file, above its syntax errors, cell by cell in a notebook; None where there are none.

    A cell for another language has no Python, and so no comments.
    """
    if not may_hold_suppressions(file.text) and not any(may_hold_suppressions(cell.source) for cell in file.cells):
        return None
    # Of what is too deep to be read nobody says where it begins.
    ends = {error.place.cell: error.place.row for error in errors if error.place != START}
    if not file.cells:
        return read_suppressions(file.text, file.filename, before=ends.get(0))
    parts = ((cell, cell.source if cell.number in ends else cell.text) for cell in file.cells)
    return joined(
        [read_suppressions(text, file.filename, cell.number, ends.get(cell.number)) for cell, text in parts],
        file.filename,
    )


def _shown(filename: str, *, absolute: bool) -> str:
    """A file as reports name it: seen from the working folder when it lies in it, unless names are absolute."""
    path = os.path.abspath(filename)
    inside = path.startswith(os.path.join(os.getcwd(), ""))
    return os.path.relpath(path) if inside and not absolute else path


def _apply_rules(
    flow: FlowResult, files: _Files, filename: str, selected: frozenset[str], own: tuple[str, ...]
) -> Iterator[Finding]:
    takers = _rules_by_event(selected, own)
    events: Sequence[object] = [*flow.events, *flow.decisions] if GradientDecision in takers else flow.events
    failed: set[str] = set()
    for event in events:
        for rule in takers.get(type(event), ()):
            assert rule.decide is not None
            try:
                with while_others_run if rule.is_own else nullcontext():
                    finding = rule.decide(event)
                if finding is not None:
                    finding = stamped(rule, finding, filename)
                    if rule.is_own:
                        files.check(finding)
                    finding = files.placed(_explained(finding, event))
            except (Exception, SystemExit) as error:
                finding = rule_failed(rule, error, filename) if rule.code not in failed else None
                failed.add(rule.code)
            if finding is not None:
                yield finding


def _explained(finding: Finding, event: object) -> Finding:
    """The finding with the verdict, the cause and the sources of its event, where the rule left them to it."""
    if not isinstance(event, SourcesStarved | TermStarved):
        return finding
    return replace(
        finding,
        verdict=finding.verdict or event.verdict,
        cause=finding.cause or event.cut.cause,
        variables=finding.variables or tuple(source.name for source in event.sources),
    )


@kept_while_rules_stay
def _rules_by_event(selected: frozenset[str], own: tuple[str, ...]) -> dict[type, list[Rule]]:
    takers: dict[type, list[Rule]] = {}
    for rule in rules_under(own):
        if rule.event is not None and rule.code in selected:
            takers.setdefault(rule.event, []).append(rule)
    return takers


def _distinct(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first finding per rule and place; of failures, which all stand at the start of the file, each."""
    first: dict[tuple[str, str, Place, str], Finding] = {}
    for finding in findings:
        failure = finding.message if finding.code == INTERNAL_ERROR.code else ""
        first.setdefault((finding.code, finding.filename, finding.place, failure), finding)
    return tuple(first.values())


def excerpts_of(file: InputFile, places: Sequence[Place]) -> dict[tuple[int, int], str]:
    """The rows that reports of findings at these places of one file show, by cell and number."""
    lines = {cell: file.rows(cell) for cell in {place.cell for place in places}}
    return {
        (place.cell, row): lines[place.cell][row - 1]
        for place in places
        for row in shown_rows(place)
        if row is not None and row <= len(lines[place.cell])
    }


def shown_rows(place: Place) -> list[int | None]:
    """The rows of a range that a report shows, None where it leaves some out."""
    rows = range(place.row, place.end_row + 1)
    if len(rows) <= EXCERPT_ROWS:
        return list(rows)
    return [*rows[:2], None, rows[-1]]
