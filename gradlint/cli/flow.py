"""`gradlint flow`: what is known of each gradient call of a file, and what was given up, where."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from gradlint.cli.completion import complete_files
from gradlint.cli.output import answer_option
from gradlint.cli.settings_options import config_options, tell
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Choices
    from gradlint.flow_report import GradientDecision, SourceDecision
    from gradlint.rule import Place


@click.command(short_help="Show what is known of each gradient call of a file.")
@click.argument("file", metavar="FILE[:LINE]", shell_complete=complete_files)
@answer_option
@config_options
def flow(file: str, output_format: str, choices: Choices) -> None:
    """Show, for each gradient call (or the one on LINE), whether each source gets a gradient.

    A source flows, is cut (why, and at which line), or is unknown because of a line that cannot be judged. The last
    line says which share was decided: silence of `gradlint check` about the rest means nothing.
    """
    from gradlint.config import Hierarchy
    from gradlint.merging import check_file
    from gradlint.text import printable

    path, row = _split_line(file)
    if not os.path.exists(path):
        raise RunError(f"{printable(path)}: no such file")
    if os.path.isdir(path):
        raise RunError(f"{printable(path)}: is a folder; `gradlint flow` takes one file")
    hierarchy = Hierarchy(choices, tell)
    settings = hierarchy.for_file(path)
    hierarchy.check_words()
    result = check_file(path, settings)
    for finding in result.findings:
        if finding.code in ("GL001", "GL002", "GL009"):
            raise RunError(f"{printable(path)}:{finding.place.row}: {printable(finding.message)}")
    decisions = result.decisions
    if row is not None:
        decisions = tuple(
            each for each in decisions if not each.filename and each.place.row <= row <= each.place.end_row
        )
        if not decisions:
            raise RunError(f"{printable(path)}:{row}: no gradient call on this line")
    if output_format == "json":
        import json

        click.echo(json.dumps(_as_json(path, decisions), indent=2))
    elif not result.parsed:
        click.echo(f"{printable(path)}: names neither TensorFlow nor Keras, so it was not analysed")
    else:
        click.echo(_as_text(path, decisions), nl=False)


def _split_line(file: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+):(\d+)", file)
    if match is None or os.path.exists(file):
        return file, None
    return match[1], int(match[2])


def _as_text(path: str, decisions: tuple[GradientDecision, ...]) -> str:
    from gradlint.report.wording import located
    from gradlint.text import printable

    lines = []
    for decision in decisions:
        place = decision.place
        inside = f" in `{decision.function}`" if decision.function else ""
        asked = f"{decision.asked} of `{decision.target}`" if decision.target else decision.asked
        lines.append(f"{decision.filename or path}:{located(place)}:{place.column}: {asked}{inside}")
        width = min(max((len(source.source) for source in decision.sources), default=0), 40)
        lines.extend(f"    {source.source:{width}}  {_verdict(source)}" for source in decision.sources)
    lines.append(_share(decisions))
    return "".join(f"{printable(line)}\n" for line in lines)


def _verdict(source: SourceDecision) -> str:
    if source.verdict is None:
        line = f" of {_line(source)}" if source.place else ""
        return f"unknown because{line}: {source.because}" if line else f"unknown: {source.because}"
    words = source.verdict.value
    if source.cause is not None:
        words += f": {source.cause.value}"
    if source.place is not None:
        words += f" at {_line(source)}"
    return f"{words} ({source.because})" if source.because else words


def _line(source: SourceDecision) -> str:
    """Where something was decided or given up: the line, of which cell or file."""
    place = source.place
    assert place is not None
    where = f"cell {place.cell} line {place.row}" if place.cell else f"line {place.row}"
    return f"{where} of {source.filename}" if source.filename else where


def _share(decisions: tuple[GradientDecision, ...]) -> str:
    from gradlint.flow_report import decided_share

    decided, total = decided_share(decisions)
    if not decisions:
        return "no gradient call"
    share = f" ({round(100 * decided / total)}%)" if total else ""
    return f"decided {decided} of {total} {'source' if total == 1 else 'sources'}{share}"


def _as_json(path: str, decisions: tuple[GradientDecision, ...]) -> dict[str, Any]:
    from gradlint.flow_report import decided_share

    decided, total = decided_share(decisions)
    return {
        "filename": path,
        "gradient_calls": [
            {
                "asked": decision.asked,
                "function": decision.function or None,
                "target": decision.target or None,
                "filename": decision.filename or path,
                **_range(decision.place),
                "sources": [_source_as_json(source) for source in decision.sources],
            }
            for decision in decisions
        ],
        "decided": decided,
        "sources": total,
    }


def _source_as_json(source: SourceDecision) -> dict[str, Any]:
    return {
        "source": source.source,
        "verdict": source.verdict.value if source.verdict else None,
        "cause": source.cause.value if source.cause else None,
        "because": source.because or None,
        "filename": source.filename or None,
        **_range(source.place),
    }


def _range(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"location": None, "end_location": None, "cell": None}
    return {
        "location": {"row": place.row, "column": place.column},
        "end_location": {"row": place.end_row, "column": place.end_column},
        "cell": place.cell or None,
    }
