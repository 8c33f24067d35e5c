"""Findings that are made up, for tests of how they are reported."""

from __future__ import annotations

from hypothesis import strategies as st

from gradlint.fingerprints import with_fingerprints
from gradlint.merging import FileResult
from gradlint.report.contents import Report
from gradlint.rule import Finding, Place, Severity, Step
from gradlint.verdicts import Cause, Verdict

FINDING = Finding(
    Place(8, 9, 8, 26),
    "`temperature` gets None: `1.0 / temperature` is computed before the tape opens",
    instead="compute `1.0 / temperature` under `tape`",
    trace=(
        Step("`temperature` read here, no tape open", Place(8, 15, 8, 26)),
        Step("`tape` opened here", Place(10, 10, 10, 27)),
        Step("gradient of `loss` asked here", Place(12, 12, 12, 45), "lib/steps.py"),
    ),
    verdict=Verdict.NONE,
    cause=Cause.OUTSIDE_TAPE,
    variables=("temperature",),
    severity=Severity.ERROR,
    code="GL102",
    name="derived-before-tape",
    filename="train.py",
)
LINE = "scale = 1.0 / temperature"


def report_of(*findings: Finding, scope: str = "") -> Report:
    """The report of a run that found these, each in its file."""
    results = []
    for name in dict.fromkeys(finding.filename for finding in findings):
        here = [finding for finding in findings if finding.filename == name]
        rows = {(finding.place.cell, finding.place.row): LINE for finding in here}
        scopes = dict.fromkeys(rows, scope)
        results.append(FileResult(name, with_fingerprints(here, name, ".", rows, scopes), (), rows, True))
    return Report(results)


#: What breaks reports: quotes, marks of every format, controls, lone surrogates, what XML cannot hold.
_MARKS = r"""a ' " % %0A :: : , ]]> <b> & | ` `` \ # [x](y) {0} - / .. </testcase> <!-- --> 😀 損失""".split()
_UNSEEN = [*" \n\r\t\x00\x7f\x85\u0301\u2028\u202e\ud800\udcff\ufffe\uffff", "\x1b[31m"]
NASTY = st.lists(st.sampled_from(_MARKS + _UNSEEN), max_size=8).map("".join)

PLACES = st.builds(
    lambda row, column, rows, columns, cell: Place(row, column, row + rows, column + columns, cell),
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 3),
)
FINDINGS = st.builds(
    Finding,
    PLACES,
    NASTY,
    st.none() | NASTY,
    st.lists(st.builds(Step, NASTY, PLACES, NASTY), max_size=2).map(tuple),
    st.none() | st.sampled_from(Verdict),
    st.none() | st.sampled_from(Cause),
    st.lists(NASTY, max_size=2).map(tuple),
    st.sampled_from(Severity),
    st.sampled_from(["GL001", "GL102", "GL203", "GL501"]),
    st.just("some-name"),
    NASTY.map(lambda name: f"{name}.py"),
)
REPORTS_OF_ANYTHING = st.lists(FINDINGS, max_size=4).map(lambda findings: report_of(*findings))
