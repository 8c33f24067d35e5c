"""`gradlint check`: judges files and prints findings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from gradlint.cli.accepted import accepting, baseline_options
from gradlint.cli.add_ignore import add_ignore_options, check_options, write_ignores
from gradlint.cli.completion import complete_files
from gradlint.cli.output import (
    check_judged,
    checkout_folder,
    chosen_outputs,
    is_summarised,
    output_options,
    write_reports,
)
from gradlint.cli.settings_options import settings_options, tell
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.cli.judged_files import JudgedFiles
    from gradlint.config import Choices, SettingsByFile
    from gradlint.merging import FileResult
    from gradlint.report.contents import Failure
    from gradlint.rule import Severity


@click.command(short_help="Judge files and folders.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", shell_complete=complete_files)
@settings_options
@output_options
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, in place of the findings.")
@baseline_options
@click.option(
    "--fail-level",
    type=click.Choice(["error", "warning", "info"]),
    help="Exit with 1 when there are findings of this severity or a higher one (default: as the settings say, else "
    "warning).",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: all cores, if it pays)."
)
@add_ignore_options
@click.option("--no-cache", is_flag=True, help="Judge every file anew (there is no cache yet).")
@click.option(
    "--stdin-filename",
    metavar="NAME",
    help="The name to report for standard input, which is read for the path `-`, and when no path is given.",
)
def check(
    paths: tuple[str, ...],
    choices: Choices,
    force_exclude: bool,
    show_settings: bool,
    show_files: bool,
    output: tuple[str, ...],
    output_format: str | None,
    output_file: str | None,
    statistics: bool,
    baseline: str | None,
    write_baseline: str | None,
    prune_baseline: bool,
    fail_level: str | None,
    exit_zero: bool,
    jobs: int | None,
    add_ignore: bool,
    reason: str | None,
    no_cache: bool,
    stdin_filename: str | None,
) -> None:
    """Judge Python files (default: those under the working folder) and print what is wrong with their gradients.

    `-` reads standard input, in place of the file that --stdin-filename names. Exit status: 0 when nothing was found,
    1 when there are errors or warnings, 2 when the run itself failed (bad option, missing path, unreadable settings);
    hints do not count unless --fail-level is info.
    """
    from gradlint.cli import judged_files
    from gradlint.config import Hierarchy
    from gradlint.coverage import Coverage
    from gradlint.report import findings_of, not_shown, summary
    from gradlint.report.contents import Failure, Report
    from gradlint.rule import Severity
    from gradlint.text import printable

    if show_files and show_settings:
        raise RunError("--show-files: not together with --show-settings")
    paths = paths or ((".",) if stdin_filename is None else ("-",))
    if stdin_filename is not None and "-" not in paths:
        raise RunError("--stdin-filename: names standard input, `-`, which is not among the paths")
    why = check_options(paths, add_ignore=add_ignore, reason=reason)
    settings = Hierarchy(choices, tell)
    named = [stdin_filename if path == "-" and stdin_filename else path for path in paths]
    of_run = settings.for_run(named if paths == ("-",) else paths)
    files = {"--baseline": baseline, "--write-baseline": write_baseline}
    outputs = chosen_outputs(output, output_format, output_file, of_run.output_format, files)
    is_nameless = "-" in paths and not stdin_filename
    baseline_use = accepting(baseline, write_baseline, prune_baseline, has_nameless=is_nameless)
    found = judged_files.files_of_run(
        paths, settings, force_exclude=force_exclude, stdin_filename=stdin_filename or "-"
    )
    settings.check_words()
    check_judged(outputs, found.names, files)
    status = 2 if found.missing else 0
    if show_files or show_settings:
        if show_files:
            judged_files.show_files(found)
        else:
            judged_files.show_settings(found, paths, settings)
        click.get_current_context().exit(status)
    judged = _results(found, settings, jobs)
    failures = (*(Failure(each.path, each.reason) for each in found.missing), *_deaths(judged))
    status = 2 if failures else 0
    coverage = Coverage(settings, [result.filename for result in judged])
    results, accepted = baseline_use.apply(judged, coverage, failed=bool(failures))
    if add_ignore:
        results, is_complete = write_ignores(results, paths, why)
        status = status if is_complete else 2
    if not results and not found.missing and not found.pages:
        excluded = " that are not excluded" if found.discovered.excluded else ""
        click.echo(f"gradlint: no Python files in {', '.join(map(printable, paths))}{excluded}", err=True)
    if accepted and not is_summarised(outputs):
        click.echo(f"gradlint: {not_shown(accepted)}", err=True)
    level = Severity(fail_level) if fail_level else _strictest(settings.for_run([path]).fail_level for path in named)
    fails = any((finding.severity or Severity.ERROR).is_at_least(level) for finding in findings_of(results))
    # A run that judged nothing, or not everything, does not say that all is well.
    says_clean = not findings_of(results) and (bool(found.missing) or not results)
    report = Report(
        results,
        closing="" if says_clean else summary(results, accepted),
        exit_code=status or int(fails and not exit_zero and write_baseline is None),
        failures=failures,
        checkout=checkout_folder(),
    )
    write_reports(outputs, report, statistics=statistics)
    click.get_current_context().exit(report.exit_code)


def _deaths(judged: Iterable[FileResult]) -> Iterator[Failure]:
    """The files that a process died over; about each a line on standard error."""
    from gradlint.report.contents import Failure
    from gradlint.text import printable

    for each in judged:
        if each.died:
            yield (failure := Failure(each.filename, "the process that judged it ended early"))
            click.echo(f"gradlint: {printable(str(failure))}", err=True)


def _strictest(levels: Iterable[Severity]) -> Severity:
    """One of several folders does not decide that faults in the others do not count."""
    from gradlint.rule import Severity

    return max(levels, key=list(Severity).index)


def _read_standard_input() -> bytes:
    """What standard input holds.

    Raises:
        RunError: it is closed, or cannot be read.
    """
    if sys.stdin is None:
        raise RunError("-: standard input is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise RunError(f"-: standard input cannot be read: {(error.strerror or str(error)).lower()}") from error


def _results(found: JudgedFiles, settings: SettingsByFile, jobs: int | None) -> list[FileResult]:
    """The results in their final order."""
    from gradlint.cli.progress import Progress
    from gradlint.run import check_found, freeze_what_stays

    name = found.standard_input
    standard_input = (_read_standard_input(), name) if name is not None else None
    freeze_what_stays()
    with Progress(len(found.files)) as progress:
        return check_found(found.discovered, settings, jobs, progress.advance, standard_input)
