"""Reports: findings as text or data, one module per format. They know findings and nothing of how they were made.

Every `render` takes a `Report` and returns the whole text, ending in a line end, or "".
"""

from __future__ import annotations

from collections.abc import Callable

from gradlint.report import (
    concise,
    full,
    github,
    gitlab,
    grouped,
    json,
    json_lines,
    junit,
    markdown,
    pylint,
    sarif,
)
from gradlint.report.closing import findings_of, not_shown, summary
from gradlint.report.contents import Report

Render = Callable[[Report], str]

REPORTS: dict[str, Render] = {
    "full": full.render,
    "concise": concise.render,
    "grouped": grouped.render,
    "json": json.render,
    "json-lines": json_lines.render,
    "sarif": sarif.render,
    "github": github.render,
    "gitlab": gitlab.render,
    "junit": junit.render,
    "pylint": pylint.render,
    "markdown": markdown.render,
}
#: The formats that end, or begin, with the closing line.
SUMMARISED = frozenset({"full", "concise", "grouped", "markdown"})

__all__ = ["REPORTS", "SUMMARISED", "Render", "findings_of", "not_shown", "summary"]
