"""`gradlint check`: judges files and prints findings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gradlint.cli.accepted import accepting, baseline_options
from gradlint.cli.output import (
    DEFAULT_FORMAT,
    checkout_folder,
    chosen_outputs,
    is_summarised,
    output_options,
    write_reports,
)
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Settings
    from gradlint.files.discovery import Unusable
    from gradlint.merging import FileResult

DEFAULT_FAIL_LEVEL = "warning"
_RULES = "Codes (GL101), prefixes (GL1), names or ALL; comma-separated, repeatable."


@click.command(short_help="Judge files and folders.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option("--select", multiple=True, metavar="RULES", help=f"Apply only these rules. {_RULES}")
@click.option("--ignore", multiple=True, metavar="RULES", help="Leave these rules out. Takes what --select takes.")
@output_options
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, in place of the findings.")
@baseline_options
@click.option(
    "--fail-level",
    type=click.Choice(["error", "warning", "info"]),
    help=f"Exit with 1 when there are findings of this severity or a higher one (default: {DEFAULT_FAIL_LEVEL}).",
)
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
    no_cache: bool,
    include_docs: bool,
    stdin_filename: str | None,
) -> None:
    """Judge Python files (default: those under the working folder) and print what is wrong with their gradients.

    `-` reads standard input. Exit status: 0 when nothing was found, 1 when there are errors or warnings, 2 when the
    run itself failed (bad option, missing path, unreadable settings); hints do not count unless --fail-level is info.
    """
    from dataclasses import replace

    from gradlint.config import load_settings
    from gradlint.report import findings_of, not_shown, summary
    from gradlint.report.contents import Report
    from gradlint.rule import Severity, at_least
    from gradlint.selection import selected_codes

    settings = load_settings(paths or (".",)).with_rules(
        _split_rules("--select", select), _split_rules("--ignore", ignore)
    )
    settings = replace(settings, include_docs=include_docs)
    files = {"--baseline": baseline, "--write-baseline": write_baseline}
    outputs = chosen_outputs(output, output_format, output_file, DEFAULT_FORMAT, files)
    failing = at_least(fail_level or DEFAULT_FAIL_LEVEL)
    baseline_use = accepting(baseline, write_baseline, prune_baseline)
    found, missing = _results(paths or (".",), settings, jobs, stdin_filename or "-")
    selected = selected_codes(settings.select, settings.ignore)
    results, accepted = baseline_use.apply(found, lambda filename: selected, failed=bool(missing))
    if accepted and not is_summarised(outputs):
        click.echo(f"gradlint: {not_shown(accepted)}", err=True)
    fails = any((finding.severity or Severity.ERROR) in failing for finding in findings_of(results))
    # A run that judged nothing, or not everything, does not say that all is well.
    says_clean = not findings_of(results) and (bool(missing) or not results)
    report = Report(
        results,
        closing="" if says_clean else summary(results, accepted),
        exit_code=2 if missing else int(fails and not exit_zero and write_baseline is None),
        failures=tuple(f"{each.path}: {each.reason}" for each in missing),
        checkout=checkout_folder(),
    )
    write_reports(outputs, report, statistics=statistics)
    click.get_current_context().exit(report.exit_code)


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
