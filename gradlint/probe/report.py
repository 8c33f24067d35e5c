"""`GradientReport`: what the gradients of a run did, per variable and per cause."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gradlint.merging import FileResult
from gradlint.probe.account import Account
from gradlint.probe.findings import code_of, layer_of, run_findings
from gradlint.probe.flow_error import GradientFlowError, shortened
from gradlint.probe.places import Line
from gradlint.probe.statics import joined_with_code
from gradlint.report import json as json_report
from gradlint.report.contents import Report
from gradlint.rule import Finding, Severity
from gradlint.verdicts import Cause, Verdict

_WIDEST_NAME = 40
_MOST_ROWS = 20
_WORST_FIRST = (
    Verdict.NAN,
    Verdict.NONE,
    Verdict.ZERO,
    Verdict.NOT_OBSERVABLE,
    Verdict.PARTIAL_ZERO,
    Verdict.FLOWS,
)


@dataclass(frozen=True, slots=True)
class VariableReport:
    """What one variable, or one tensor that was asked for, got from one gradient call."""

    path: str
    verdict: Verdict
    cause: Cause | None = None
    is_structural: bool = False
    """A zero that no numbers can change: in eager code it would be None."""
    op: str = ""
    """The type of the op that cuts."""
    layer: str = ""
    """The layer or name scope of that op, where the graph tells it."""
    cut: Line | None = None
    """Where flow ends, seen from the variable."""
    far_end: Line | None = None
    """The other end of the dead segment, next to the target."""
    asked: Line | None = None
    """Where the gradient was asked for."""
    shape: tuple[int | None, ...] = ()
    steps: int = 0
    first_nan: int | None = None
    """The first step, from 1, whose gradient was not finite."""
    largest: float = 0.0
    """The largest absolute entry over all steps, in the units of the loss per unit of the variable.

    Of more than 60 sources in a compiled step the norm alone is computed, and stands here: no entry is larger.
    """
    norm: float = 0.0
    """The Euclidean norm of the last finite gradient."""


@dataclass(frozen=True)
class GradientReport:
    """What the gradients of a run did.

    `variables` has an entry per source and gradient call, `findings` one per cause, joined with what the static
    analysis says of the same files, `notes` what could not be observed.
    """

    variables: tuple[VariableReport, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    account: Account | None = field(default=None, repr=False, compare=False)
    """All that was observed, ops and tapes included."""

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """By path: the worst verdict that the variable got anywhere."""
        found: dict[str, Verdict] = {}
        for entry in self.variables:
            known = found.get(entry.path)
            if known is None or _WORST_FIRST.index(entry.verdict) < _WORST_FIRST.index(known):
                found[entry.path] = entry.verdict
        return found

    def __getitem__(self, path: str) -> VariableReport:
        """The first entry of this path.

        Raises:
            KeyError: no gradient was asked for a variable of that path.
        """
        for entry in self.variables:
            if entry.path == path:
                return entry
        raise KeyError(f"no gradient was asked for {path!r}; there are {sorted(self.verdicts)}")

    def faults(self, allow: Sequence[str] = ()) -> tuple[Finding, ...]:
        """The errors and warnings, without those all of whose variables are allowed.

        `allow` takes the paths of variables, codes and names of rules, each with shell wildcards.
        """
        return tuple(
            finding
            for finding in self.findings
            if finding.severity is not Severity.INFO and is_of_run(finding) and not is_allowed(finding, allow)
        )

    def assert_flows(self, allow: Sequence[str] = ()) -> None:
        """Check that a gradient flows to every variable.

        Raises:
            GradientFlowError: it does not; the message has at most 15 lines and starts with the cause.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        faults = self.faults(allow)
        if faults:
            raise GradientFlowError(message_of(faults))

    def to_json(self) -> str:
        """The findings in the shape of `gradlint check --output-format json`."""
        return json_report.render(Report([FileResult("", self.findings)]))

    def __str__(self) -> str:
        """A table of at most a screen: faults first, then what flows."""
        lines = [self._summary()]
        lines.extend(f"  {_where(fault)}: {fault.name}: {fault.message}" for fault in self.faults()[:6])
        lines.extend(self._table(max(_MOST_ROWS - len(lines), 5)))
        lines.extend(f"note: {note}" for note in self.notes)
        return "\n".join(lines)

    def _summary(self) -> str:
        counts = {verdict: sum(entry.verdict is verdict for entry in self.variables) for verdict in _WORST_FIRST}
        parts = [f"{number} {verdict.value}" for verdict, number in counts.items() if number]
        return f"gradients of {len(self.variables)} sources: {', '.join(parts) or 'none was asked for'}"

    def _table(self, most: int) -> Iterable[str]:
        entries = sorted(self.variables, key=lambda entry: _WORST_FIRST.index(entry.verdict))
        width = min(max((len(entry.path) for entry in entries), default=0), _WIDEST_NAME)
        for entry in entries[:most]:
            at = f"  {_short(entry.cut)}" if entry.cut is not None else ""
            why = f"  {entry.cause.value}" if entry.cause is not None else ""
            number = f"{entry.largest:10.3g}" if entry.steps and entry.verdict is not Verdict.NONE else " " * 10
            yield f"  {entry.path[:_WIDEST_NAME]:{width}}  {entry.verdict.value:12}{number}{why}{at}"
        if len(entries) > most:
            yield f"  ... and {len(entries) - most} more"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(str(cell))}</td>"
                for cell in (
                    entry.path,
                    entry.verdict.value,
                    entry.cause.value if entry.cause else "",
                    entry.op,
                    _short(entry.cut),
                    f"{entry.largest:.3g}",
                )
            )
            + "</tr>"
            for entry in self.variables
        )
        head = "".join(f"<th>{name}</th>" for name in ("variable", "verdict", "cause", "op", "cut at", "largest"))
        return f"<p>{html.escape(self._summary())}</p><table><tr>{head}</tr>{rows}</table>"


def report_of(account: Account, more_files: Iterable[str] = ()) -> GradientReport:
    """The report of a watch that has ended."""
    variables = []
    for call in account.gradients.calls.values():
        for source in call.sources:
            cut = source.cut
            variables.append(
                VariableReport(
                    source.name,
                    source.verdict(),
                    cut.cause if cut else None,
                    source.structural,
                    cut.kind if cut else "",
                    layer_of(cut) if cut else "",
                    cut.line if cut else None,
                    cut.far_stack[0] if cut and cut.far_stack else None,
                    call.asked[0] if call.asked else None,
                    source.shape,
                    source.steps,
                    source.first_nan,
                    source.largest,
                    source.norm,
                )
            )
    findings = joined_with_code(run_findings(account), account, more_files)
    return GradientReport(tuple(variables), tuple(findings), tuple(account.notes), account)


def is_of_run(finding: Finding) -> bool:
    """Did the run make it, or confirm it?"""
    from gradlint.verdicts import Confirmation, Origin

    return finding.origin is Origin.RUN or finding.confirmation is Confirmation.CONFIRMED


def is_allowed(finding: Finding, allow: Sequence[str]) -> bool:
    """Is the rule, or is every variable of the finding, among these patterns?"""

    def matches(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in allow)

    if matches(finding.code) or matches(finding.name):
        return True
    return bool(finding.variables) and all(map(matches, finding.variables))


def message_of(findings: Sequence[Finding]) -> str:
    """At most 15 lines: of each finding the cause line, of the first one the way there."""
    lines = [f"{_where(findings[0])}: {findings[0].message}"]
    for step in findings[0].trace[:8]:
        lines.append(f"    {step.filename or findings[0].filename}:{step.place.row}  {step.message}")
    if findings[0].instead:
        lines.append(f"    instead: {findings[0].instead}")
    lines.extend(f"{_where(finding)}: {finding.message}" for finding in findings[1:])
    return shortened(lines)


def _where(finding: Finding) -> str:
    return f"{finding.filename}:{finding.place.row}"


def _short(line: Line | None) -> str:
    if line is None:
        return ""
    import os

    return f"{os.path.basename(line.filename)}:{line.row} `{code_of(line)}`"
