"""Where the reports of a command go: to standard output, or to the files that were named, in one format each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from gradlint.cli.completion import complete_files, files_behind
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.report.contents import Report

#: In the order of `--help`; `gradlint.report.REPORTS` has the module of each.
FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "pylint",
    "markdown",
)
DEFAULT_FORMAT = "full"
#: Options of this module that take a value, for commands that read their arguments themselves.
WITH_VALUE = ("--output", "--output-format", "--output-file", "-o")
NOTHING_TAKEN: Mapping[str, str | None] = MappingProxyType({})

_STANDARD_OUTPUT = "-"
_SUMMARY = "GITHUB_STEP_SUMMARY"
_PIECE = 1 << 14
Command = TypeVar("Command", bound=Callable[..., None])


class _FormatOption(click.Option):
    """`--output-format`, whose variable counts only where no option names a format."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        return None if ctx.params.get("output") else super().resolve_envvar_value(ctx)


@dataclass(frozen=True, slots=True)
class Output:
    """One report that was asked for."""

    format: str
    file: str | None = None
    """None for standard output."""
    option: str = "--output"
    """The option that named the file, for complaints."""


def answer_option(command: Command) -> Command:
    """`--output-format` of the commands that answer a question, and report no findings."""
    return click.option(
        "--output-format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How the answer is printed.",
    )(command)


def output_options(command: Command) -> Command:
    """The options of every command that reports findings, in the order of `--help`.

    What they give is for `chosen_outputs`: all of them are empty unless they were given.
    """
    options = [
        click.option(
            "--output",
            multiple=True,
            metavar="FORMAT[:FILE]",
            shell_complete=_complete_format,
            help="Report in this format, to this file or to standard output. Repeatable: `--output sarif:out.sarif "
            "--output full`.",
        ),
        click.option(
            "--output-format",
            cls=_FormatOption,
            multiple=True,
            callback=_only_one,
            type=click.Choice(FORMATS),
            envvar="GRADLINT_OUTPUT_FORMAT",
            show_envvar=True,
            help=f"How findings are printed (default: {DEFAULT_FORMAT}).",
        ),
        click.option(
            "--output-file",
            "-o",
            multiple=True,
            callback=_only_one,
            metavar="FILE",
            shell_complete=complete_files,
            help="Write the report to this file, not to standard output.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _only_one(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1:
        raise RunError(f"{param.opts[0]}: given more than once; several reports take --output FORMAT:FILE")
    return values[0] if values else None


def chosen_outputs(
    output: Sequence[str],
    output_format: str | None,
    output_file: str | None,
    default_format: str = DEFAULT_FORMAT,
    taken: Mapping[str, str | None] = NOTHING_TAKEN,
) -> tuple[Output, ...]:
    """The reports to make. `default_format` is that of the settings, for when no option names one; `taken` are files
    that the run writes something else to, by option.

    Raises:
        RunError: a format that does not exist, a file that cannot be written, two reports for one place.
    """
    if output:
        for option, name in (("--output-format", "output_format"), ("--output-file", "output_file")):
            if click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise RunError(f"{option}: not together with --output, which takes FORMAT:FILE")
        outputs = tuple(map(_parsed, output))
    else:
        if output_file == "":
            raise RunError("--output-file: names no file")
        file = None if output_file == _STANDARD_OUTPUT else output_file
        outputs = (Output(output_format or default_format, file, "--output-file"),)
    _check_places(outputs, taken)
    return outputs


def write_reports(
    outputs: Sequence[Output], report: Report, *, statistics: bool = False, stdout: TextIO | None = None
) -> None:
    """Write the report in every format that was asked for: first all files, whole or not at all, then what is printed.

    Raises:
        RunError: a file cannot be written.
    """
    from dataclasses import replace

    from gradlint.files.whole import write_whole
    from gradlint.report import REPORTS
    from gradlint.report.statistics import STATISTICS
    from gradlint.report.style import PLAIN, style_for

    stream = stdout if stdout is not None else sys.stdout

    def rendered(output: Output) -> str:
        styled = replace(report, style=style_for(stream) if output.file is None else PLAIN)
        render = STATISTICS.get(output.format) if statistics else None
        return (render or REPORTS[output.format])(styled)

    files = [(output.file, _kept(output.file) + rendered(output)) for output in outputs if output.file is not None]
    write_whole(files, outputs[0].option)
    for output in outputs:
        if output.file is None:
            print_report(rendered(output), stdout)


def _kept(file: str) -> str:
    """What a file holds that a report is added to: the summary of a step of GitHub, to which others write as well."""
    summary = os.environ.get(_SUMMARY)
    if not summary or os.path.realpath(summary) != os.path.realpath(file):
        return ""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as old:
            text = old.read()
    except OSError:
        return ""
    return text if not text or text.endswith("\n") else f"{text}\n"


def check_judged(outputs: Sequence[Output], judged: Iterable[str], taken: Mapping[str, str | None]) -> None:
    """Look whether a report, or what `taken` says, would replace a file that is to be judged.

    Pages (Markdown, reStructuredText) may be reports of an earlier run.

    Raises:
        RunError: one would.
    """
    from gradlint.files.documents import SUFFIXES
    from gradlint.text import printable

    written = [(output.option, output.file) for output in outputs] + list(taken.items())
    existing: dict[tuple[int, int], str] = {}
    for option, file in written:
        with suppress(OSError, ValueError):
            if file is not None and not file.endswith(SUFFIXES):
                known = os.stat(file)
                existing[known.st_dev, known.st_ino] = f"{option}: {printable(file)}"
    if not existing:
        return
    for name in judged:
        with suppress(OSError, ValueError):
            known = os.stat(name)
            if told := existing.get((known.st_dev, known.st_ino)):
                raise RunError(f"{told}: is one of the files to judge")


def print_report(report: str, stream: TextIO | None = None) -> None:
    """In pieces: one large write to a pipe that closes half-way reports no error under PYTHONUNBUFFERED."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    report = report.encode(encoding, "backslashreplace").decode(encoding)  # whatever the locale of the terminal is
    for start in range(0, len(report), _PIECE):
        click.echo(report[start : start + _PIECE], file=stream, nl=False, color=True)  # the style decided about colours


def is_summarised(outputs: Sequence[Output]) -> bool:
    """Whether what is printed tells how many findings there are."""
    from gradlint.report import SUMMARISED

    return any(output.file is None and output.format in SUMMARISED for output in outputs)


def checkout_folder() -> str:
    """The folder that the forge names files from, when a job of it runs; empty otherwise."""
    return os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or ""


def _parsed(value: str) -> Output:
    from gradlint.text import printable

    name, colon, file = value.partition(":")
    if name not in FORMATS:
        near = get_close_matches(name, FORMATS, 1)
        hint = f'; did you mean "{near[0]}"?' if near else f" (there are {', '.join(FORMATS)})"
        raise RunError(f'--output: no format "{printable(name)}"{hint}')
    if colon and not file:
        raise RunError(f'--output: "{printable(value)}" names no file; "{name}" alone is standard output')
    return Output(name, None if file in ("", _STANDARD_OUTPUT) else file)


def _check_places(outputs: Sequence[Output], taken: Mapping[str, str | None]) -> None:
    from gradlint.files.whole import check_writable, identity
    from gradlint.text import printable

    printed = [output.format for output in outputs if output.file is None]
    if len(printed) > 1:
        raise RunError(f"--output: {printed[0]} and {printed[1]} both go to standard output; give one a file")
    seen = {identity(file): option for option, file in taken.items() if file is not None}
    for output in outputs:
        if output.file is None:
            continue
        check_writable(output.file, output.option)
        file = identity(output.file)
        if file in seen:
            raise RunError(f"--output: {seen[file]} and {output.format} both go to {printable(output.file)}")
        seen[file] = output.format


def _complete_format(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    name, colon, file = incomplete.partition(":")
    if colon and name in FORMATS:
        return files_behind(f"{name}:", file)
    return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]
