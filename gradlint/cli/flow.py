"""`gradlint flow`: what is known of each gradient call of a file or folder, and what was given up, where."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradlint.cli.completion import complete_files
from gradlint.cli.output import answer_option
from gradlint.cli.settings_options import config_options, tell
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Choices, Hierarchy
    from gradlint.flow_report import GradientDecision, SourceDecision
    from gradlint.rule import Place


@click.command(short_help="Show what is known of each gradient call of a file or folder.")
@click.argument("file", metavar="FOLDER|FILE[:LINE]", shell_complete=complete_files)
@answer_option
@config_options
def flow(file: str, output_format: str, choices: Choices) -> None:
    """Show, for each gradient call (or the one on LINE), whether each source gets a gradient.

    A source flows, is cut (why, and at which line), or is unknown because of a line that cannot be judged. The last
    line says which share was decided: silence of `gradlint check` about the rest means nothing. Of a folder, each call
    is shown once, with what is known from those who call it.
    """
    from gradlint.config import Hierarchy
    from gradlint.merging import check_file
    from gradlint.text import printable

    path, row = _split_line(file)
    if not os.path.exists(path):
        raise RunError(f"{printable(path)}: no such file")
    hierarchy = Hierarchy(choices, tell)
    if os.path.isdir(path):
        if row is not None:
            raise RunError(f"{printable(path)}: is a folder, which has no line {row}")
        click.get_current_context().exit(_show_folder(path, hierarchy, as_json=output_format == "json"))
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

        click.echo(json.dumps(_as_json(path, [(path, each) for each in decisions]), indent=2))
    elif not result.parsed:
        click.echo(f"{printable(path)}: names neither TensorFlow nor Keras, so it was not analysed")
    else:
        click.echo(_as_text(path, decisions), nl=False)


def _show_folder(folder: str, hierarchy: Hierarchy, *, as_json: bool) -> int:
    """Print what is known of the gradient calls in all files of a folder; 2 when one could not be judged."""
    from gradlint.files.discovery import discover
    from gradlint.flow_report import once
    from gradlint.report.closing import share
    from gradlint.run import check_found
    from gradlint.text import printable

    found = discover([folder], hierarchy)
    hierarchy.check_words()
    results = check_found(found, hierarchy, None)
    unjudged = [finding for each in results for finding in each.findings if finding.code in ("GL001", "GL002", "GL009")]
    for finding in unjudged:
        where = f"{printable(finding.filename)}:{finding.place.row}"
        click.echo(f"gradlint: {where}: {printable(finding.message)}", err=True)
    told = once((each.filename, decision) for each in results for decision in each.decisions)
    told.sort(key=lambda each: (each[0], each[1].place.order))
    decisions = [decision for _, decision in told]
    if as_json:
        import json

        click.echo(json.dumps(_as_json(folder, told), indent=2))
    else:
        lines = [line for name, decision in told for line in _lines(name, decision)]
        lines.append(share(decisions) or "no gradient call")
        click.echo("".join(f"{printable(line)}\n" for line in lines), nl=False)
    return 2 if unjudged or any(each.died for each in results) else 0


def _split_line(file: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+):(\d+)", file)
    if match is None or os.path.exists(file):
        return file, None
    return match[1], int(match[2])


def _as_text(path: str, decisions: tuple[GradientDecision, ...]) -> str:
    from gradlint.text import printable

    lines = [line for decision in decisions for line in _lines(decision.filename or path, decision)]
    lines.append(_share(decisions))
    return "".join(f"{printable(line)}\n" for line in lines)


def _lines(filename: str, decision: GradientDecision) -> Iterator[str]:
    from gradlint.report.wording import located

    place = decision.place
    inside = f" in `{decision.function}`" if decision.function else ""
    asked = f"{decision.asked} of `{decision.target}`" if decision.target else decision.asked
    yield f"{filename}:{located(place)}:{place.column}: {asked}{inside}"
    width = min(max((len(source.source) for source in decision.sources), default=0), 40)
    yield from (f"    {source.source:{width}}  {_verdict(source)}" for source in decision.sources)


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
    from gradlint.flow_report import decided_share, percent

    decided, total = decided_share(decisions)
    if not decisions:
        return "no gradient call"
    share = f" ({percent(decided, total)}%)" if total else ""
    return f"decided {decided} of {total} {'source' if total == 1 else 'sources'}{share}"


def _as_json(path: str, told: Sequence[tuple[str, GradientDecision]]) -> dict[str, Any]:
    from gradlint.flow_report import decided_share

    decided, total = decided_share(decision for _, decision in told)
    return {
        "filename": path,
        "gradient_calls": [
            {
                "asked": decision.asked,
                "function": decision.function or None,
                "target": decision.target or None,
                "filename": decision.filename or name,
                **_range(decision.place),
                "sources": [_source_as_json(source) for source in decision.sources],
            }
            for name, decision in told
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
