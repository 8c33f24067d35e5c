"""How many findings each rule has, in place of the findings: `--statistics`. The closing lines tell what was decided.

SARIF, GitLab's and JUnit's reports have no room for counts, and an empty one would say that all is well: they are left
as they are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable

from gradlint.report import github, markdown
from gradlint.report.closing import decisions_of, share
from gradlint.report.contents import Report

Count = tuple[str, str, int]


def render_text(report: Report) -> str:
    """A line per rule that found something, the most frequent first, and the closing line."""
    return _lines(_counted(report)) + report.closing


def render_pylint(report: Report) -> str:
    """The lines alone."""
    return _lines(_counted(report))


def render_json(report: Report) -> str:
    """The same as a list of objects."""
    return json.dumps([_as_object(each) for each in _counted(report)]) + "\n"


def render_json_lines(report: Report) -> str:
    """The objects, one per line."""
    return "".join(f"{json.dumps(_as_object(each))}\n" for each in _counted(report))


def render_markdown(report: Report) -> str:
    """A table under the closing line."""
    rows = [[str(count), code, markdown.plain(name)] for code, name, count in _counted(report)]
    lines = ["### gradlint", "", *([report.closing.rstrip("\n"), ""] if report.closing else [])]
    if rows:
        lines += [*markdown.table(["count", "rule", "name"], rows), ""]
    return "".join(f"{line}\n" for line in lines)


def render_github(report: Report) -> str:
    """A notice per rule, and one about the gradient calls."""
    notices = [({"title": f"{code} {name}"}, _told(count)) for code, name, count in _counted(report)]
    if known := share(decisions_of(report.results)):
        notices.append(({"title": "gradlint"}, known))
    return "".join(f"{github.command('notice', about, text)}\n" for about, text in notices)


STATISTICS: dict[str, Callable[[Report], str]] = {
    "full": render_text,
    "concise": render_text,
    "grouped": render_text,
    "pylint": render_pylint,
    "json": render_json,
    "json-lines": render_json_lines,
    "markdown": render_markdown,
    "github": render_github,
}


def _told(count: int) -> str:
    return f"{count} finding" if count == 1 else f"{count} findings"


def _lines(counted: Iterable[Count]) -> str:
    counted = list(counted)
    width = max((len(str(count)) for _, _, count in counted), default=0)
    return "".join(f"{count:>{width}}  {code}  {name}\n" for code, name, count in counted)


def _as_object(counted: Count) -> dict[str, object]:
    code, name, count = counted
    return {"code": code, "name": name, "count": count}


def _counted(report: Report) -> list[Count]:
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    return [(*key, count) for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
