"""`gradlint check`: judges files and prints findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gradlint.cli.completion import complete_files, complete_rules
from gradlint.cli.output import output_options, print_report, write_report
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Settings
    from gradlint.files.discovery import Unusable
    from gradlint.merging import FileResult

_RULES = "Codes (GL101), prefixes (GL1), names or ALL; comma-separated, repeatable."


@click.command(short_help="Judge files and folders.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", shell_complete=complete_files)
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    shell_complete=complete_rules,
    help=f"Apply only these rules. {_RULES}",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULES",
    shell_complete=complete_rules,
    help="Leave these rules out. Takes what --select takes.",
)
@output_options
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, in place of the findings.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: all cores, if it pays)."
)
@click.option("--no-cache", is_flag=True, help="Judge every file anew (there is no cache yet).")
@click.option("--include-docs", is_flag=True, help="Judge code in Markdown, reStructuredText and docstrings, too.")
@click.option("--stdin-filename", metavar="NAME", help="The name to report for standard input, given as `-`.")
def check(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    statistics: bool,
    exit_zero: bool,
    jobs: int | None,
    no_cache: bool,
    include_docs: bool,
    stdin_filename: str | None,
) -> None:
    """Judge Python files (default: those under the working folder) and print what is wrong with their gradients.

    `-` reads standard input. Exit status: 0 when nothing was found, 1 when there are errors or warnings, 2 when the
    run itself failed (bad option, missing path, unreadable settings); hints do not count.
    """
    from dataclasses import replace

    from gradlint.config import load_settings
    from gradlint.report import findings_of
    from gradlint.rule import Severity

    settings = load_settings(paths or (".",)).with_rules(
        _split_rules("--select", select), _split_rules("--ignore", ignore)
    )
    settings = replace(settings, include_docs=include_docs)
    results, missing = _results(paths or (".",), settings, jobs, stdin_filename or "-")
    report = _render(results, output_format, statistics=statistics, failed=bool(missing), to_file=bool(output_file))
    if output_file:
        write_report(output_file, report)
    else:
        print_report(report)
    found = any(finding.severity is not Severity.INFO for finding in findings_of(results))
    click.get_current_context().exit(2 if missing else int(found and not exit_zero))


def _split_rules(option: str, values: Sequence[str]) -> tuple[str, ...]:
    from gradlint.selection import check_selector

    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    for word in words:
        try:
            check_selector(word)
        except RunError as error:
            raise RunError(f"{option}: {error}") from error
    return words


def _results(
    paths: Sequence[str], settings: Settings, jobs: int | None, stdin_filename: str
) -> tuple[list[FileResult], Sequence[Unusable]]:
    """The results in their final order, and the paths that were asked for in vain (already complained about)."""
    from gradlint.cli.progress import Progress
    from gradlint.files.discovery import SUFFIXES, discover
    from gradlint.files.documents import SUFFIXES as DOCUMENT_SUFFIXES
    from gradlint.merging import FileResult
    from gradlint.run import check_files
    from gradlint.run_rules import unreadable
    from gradlint.selection import selected_codes
    from gradlint.text import printable

    suffixes = (*SUFFIXES, *DOCUMENT_SUFFIXES) if settings.include_docs else SUFFIXES
    found = discover([path for path in paths if path != "-"], settings.exclude, settings.root, suffixes)
    for unusable in found.missing:
        click.echo(f"gradlint: {printable(unusable.path)}: {unusable.reason}", err=True)
    with Progress(len(found.files)) as progress:
        standard_input = (sys.stdin.buffer.read(), stdin_filename) if "-" in paths else None
        results = check_files(found.files, settings, jobs, progress.advance, standard_input)
    for folder in found.unreadable:
        finding = unreadable(folder.reason, folder.path)
        if finding.code in selected_codes(settings.select, settings.ignore):
            results.append(FileResult(folder.path, (finding,)))
    if not results and not found.missing:
        click.echo(f"gradlint: no Python files in {', '.join(map(printable, paths))}", err=True)
    return sorted(results, key=lambda result: result.filename), found.missing


def _render(results: Sequence[FileResult], output_format: str, *, statistics: bool, failed: bool, to_file: bool) -> str:
    from gradlint.report import REPORTS, findings_of, summary
    from gradlint.report.statistics import render_json, render_text
    from gradlint.report.style import Style, wants_color

    if output_format == "json":
        return render_json(results) if statistics else REPORTS["json"](results, Style())
    style = Style(not to_file and wants_color(sys.stdout, os.environ))
    report = render_text(results) if statistics else REPORTS[output_format](results, style)
    # A run that judged nothing, or not everything, does not say that all is well.
    says_clean = not findings_of(results) and (failed or not results)
    return report if says_clean else report + summary(results)
