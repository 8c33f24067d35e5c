"""`gradlint check`: judges files and prints findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gradlint.cli.add_ignore import add_ignore_options, check_options, write_ignores
from gradlint.cli.output import output_options, print_report, write_report
from gradlint.cli.settings_options import settings_options

if TYPE_CHECKING:
    from gradlint.cli.judged_files import JudgedFiles
    from gradlint.config import Choices, SettingsByFile
    from gradlint.merging import FileResult


@click.command(short_help="Judge files and folders.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@settings_options
@output_options
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, in place of the findings.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: all cores, if it pays)."
)
@add_ignore_options
@click.option("--no-cache", is_flag=True, help="Judge every file anew (there is no cache yet).")
@click.option("--stdin-filename", metavar="NAME", help="The name to report for standard input, given as `-`.")
def check(
    paths: tuple[str, ...],
    choices: Choices,
    force_exclude: bool,
    show_settings: bool,
    show_files: bool,
    output_format: str | None,
    output_file: str | None,
    statistics: bool,
    exit_zero: bool,
    jobs: int | None,
    add_ignore: bool,
    reason: str | None,
    no_cache: bool,
    stdin_filename: str | None,
) -> None:
    """Judge Python files (default: those under the working folder) and print what is wrong with their gradients.

    `-` reads standard input. Exit status: 0 when nothing was found, 1 when there are errors or warnings, 2 when the
    run itself failed (bad option, missing path, unreadable settings); hints do not count.
    """
    from gradlint.cli import judged_files
    from gradlint.config import Hierarchy
    from gradlint.report import findings_of
    from gradlint.rule import Severity
    from gradlint.text import printable

    paths = paths or (".",)
    why = check_options(paths, add_ignore=add_ignore, reason=reason)
    settings = Hierarchy(choices)
    found = judged_files.files_of_run(
        paths, settings, force_exclude=force_exclude, stdin_filename=stdin_filename or "-"
    )
    status = 2 if found.missing else 0
    if show_files or show_settings:
        if show_files:
            judged_files.show_files(found)
        else:
            judged_files.show_settings(found, paths, settings)
        click.get_current_context().exit(status)
    of_run = settings.for_run([stdin_filename] if paths == ("-",) and stdin_filename else paths)
    results = _results(found, settings, jobs)
    if add_ignore:
        results, is_complete = write_ignores(results, why)
        status = status if is_complete else 2
    if not results and not found.missing:
        click.echo(f"gradlint: no Python files in {', '.join(map(printable, paths))}", err=True)
    report = _render(
        results,
        output_format or of_run.output_format,
        statistics=statistics,
        failed=bool(found.missing),
        to_file=bool(output_file),
    )
    if output_file:
        write_report(output_file, report)
    else:
        print_report(report)
    severities = {finding.severity or Severity.ERROR for finding in findings_of(results)}
    counts = any(each.is_at_least(of_run.fail_level) for each in severities)
    click.get_current_context().exit(status or int(counts and not exit_zero))


def _results(found: JudgedFiles, settings: SettingsByFile, jobs: int | None) -> list[FileResult]:
    """The results in their final order."""
    from gradlint.cli.progress import Progress
    from gradlint.run import check_found, freeze_what_stays

    name = found.standard_input
    standard_input = (sys.stdin.buffer.read(), name) if name is not None else None
    freeze_what_stays()
    with Progress(len(found.files)) as progress:
        return check_found(found.discovered, settings, jobs, progress.advance, standard_input)


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
