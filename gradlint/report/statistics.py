"""How many findings each rule has, in place of the findings: `--statistics`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from gradlint.merging import FileResult


def render_text(results: Sequence[FileResult]) -> str:
    """A line per rule that found something, the most frequent first."""
    counted = _counted(results)
    width = max((len(str(count)) for _, _, count in counted), default=0)
    return "".join(f"{count:>{width}}  {code}  {name}\n" for code, name, count in counted)


def render_json(results: Sequence[FileResult]) -> str:
    """The same as a list of objects."""
    return json.dumps([{"code": code, "name": name, "count": count} for code, name, count in _counted(results)]) + "\n"


def _counted(results: Sequence[FileResult]) -> list[tuple[str, str, int]]:
    counts = Counter((finding.code, finding.name) for result in results for finding in result.findings)
    return [(*key, count) for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
