"""JUnit XML, which nearly every CI shows: a suite per file, a failed test per finding.

A file without findings is a test that passed, so that no report is empty. What could not be judged (GL001, GL002,
GL009, a missing path) is an error, a hint is a skipped test: it does not make a run fail.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from gradlint.merging import FileResult
from gradlint.report.contents import Failure, Report
from gradlint.report.paths import shown
from gradlint.report.wording import details_of, located, message_of, severity_of, title_of, xml_text
from gradlint.rule import Finding
from gradlint.run_rules import ALWAYS_SELECTED


def render(report: Report) -> str:
    """The document, in ASCII: whatever the encoding of a terminal is, it stays well-formed."""
    root = ET.Element("testsuites", name="gradlint")
    for failure in report.failures:
        root.append(_failed(failure))
    for result in report.results:
        root.append(_suite(result))
    kinds = ["error"] * len(report.failures) + [_kind(finding) for finding in report.findings]
    root.set("tests", str(len(kinds) + sum(not result.findings for result in report.results)))
    root.set("failures", str(kinds.count("failure")))
    root.set("errors", str(kinds.count("error")))
    ET.indent(root)
    text = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _failed(failure: Failure) -> ET.Element:
    """A path that was asked for in vain, as a test that could not be run."""
    filename, message = xml_text(shown(failure.path)), xml_text(failure.reason)
    suite = ET.Element("testsuite", name=filename, tests="1", failures="0", errors="1", skipped="0", file=filename)
    case = ET.SubElement(suite, "testcase", name="gradlint", classname=filename)
    ET.SubElement(case, "error", type="error", message=message).text = f"{filename}: {message}"
    return suite


def _suite(result: FileResult) -> ET.Element:
    filename = xml_text(shown(result.filename))
    kinds = [_kind(finding) for finding in result.findings]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite = ET.Element("testsuite", name=filename, tests=str(max(len(kinds), 1)))
    for attribute, kind in counts.items():
        suite.set(attribute, str(kinds.count(kind)))
    suite.set("file", filename)
    if not kinds:
        ET.SubElement(suite, "testcase", name="gradlint", classname=filename)
    for kind, finding in zip(kinds, result.findings, strict=True):
        place = f"{located(finding.place)}:{finding.place.column}"
        case = ET.SubElement(suite, "testcase", name=xml_text(f"{title_of(finding)} {place}"), classname=filename)
        message = xml_text(message_of(finding))
        told = ET.SubElement(case, kind, type=severity_of(finding), message=message)
        told.text = "\n".join([f"{filename}:{place}: {message}", *map(xml_text, details_of(finding))])
    return suite


def _kind(finding: Finding) -> str:
    if finding.code in ALWAYS_SELECTED:
        return "error"
    return "skipped" if severity_of(finding) == "info" else "failure"
