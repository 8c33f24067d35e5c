"""`gradlint probe`: runs a program and joins what it did with what `gradlint check` says of its files."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from gradlint.cli.completion import complete_files
from gradlint.cli.output import WITH_VALUE, checkout_folder, chosen_outputs, output_options, write_reports
from gradlint.cli.settings_options import allow_rules_option, tell
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.config import Choices


class _Program(click.Command):
    """Everything behind `-m MODULE` belongs to the module, as with `python -m`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] != "--":
            if args[place] == "-m" and place + 1 < len(args):
                args = [*args[: place + 2], "--", *args[place + 2 :]]
                break
            place += 2 if args[place] in (*WITH_VALUE, "--allow-rules") else 1
        return super().parse_args(ctx, args)


@click.command(
    cls=_Program,
    short_help="Run a program and see what its gradients do.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("-m", "module", metavar="MODULE", help="Run this module, as `python -m` does.")
@output_options
@click.option(
    "--exit-on-findings", is_flag=True, help="Exit with 1 when the program ended well and there are findings."
)
@allow_rules_option
@click.option("--run-only", is_flag=True, help="Leave out what only the code shows.")
@click.argument("program", required=False, metavar="PROGRAM", shell_complete=complete_files)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def probe(
    module: str | None,
    output: tuple[str, ...],
    output_format: str | None,
    output_file: str | None,
    exit_on_findings: bool,
    run_only: bool,
    choices: Choices,
    program: str | None,
    arguments: tuple[str, ...],
) -> None:
    """Run PROGRAM (a script, or package.module:function) as `python` would, and report what its gradients did.

    Each finding of `gradlint check` in the files that ran is confirmed, refuted, or was not reached. The exit status is
    the program's own.
    """
    if module is not None and program is not None:
        arguments, program = (program, *arguments), None
    if module is None and program is None:
        raise RunError("probe: name a script, a module (-m) or package.module:function")
    from gradlint.config import Hierarchy

    target = module or program or ""
    settings = Hierarchy(choices, tell)
    default_format = settings.for_run([target] if os.path.exists(target) else []).output_format
    outputs = chosen_outputs(output, output_format, output_file, default_format)
    _check_target(target, is_module=module is not None)
    from gradlint.probe.joined import probe_program
    from gradlint.probe.program import print_error
    from gradlint.report import findings_of, summary
    from gradlint.report.contents import Report

    stdout = sys.stdout  # the program may put something else in its place
    outcome = probe_program(target, arguments, is_module=module is not None, run_only=run_only, settings=settings)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    if outcome.error is not None:
        print_error(outcome.error)
    for note in outcome.notes:
        click.echo(f"gradlint: {note}", err=True)
    status = outcome.status
    if status == 0 and exit_on_findings and outcome.has_findings:
        status = 1
    closing = summary(outcome.results) if findings_of(outcome.results) else "The run shows nothing to report.\n"
    report = Report(outcome.results, closing=closing, exit_code=status, checkout=checkout_folder())
    write_reports(outputs, report, stdout=sys.__stdout__ if stdout is None or stdout.closed else stdout)
    click.get_current_context().exit(status)


def _check_target(target: str, *, is_module: bool) -> None:
    from importlib.util import find_spec

    from gradlint.probe.program import is_function
    from gradlint.text import printable

    if find_spec("tensorflow") is None:
        raise RunError("probe: TensorFlow is not installed; `pip install tensorflow` (or tensorflow-cpu)")
    if is_module or is_function(target):
        return
    if not os.path.exists(target):
        raise RunError(f"{printable(target)}: no such file")
    if os.path.isdir(target) and not os.path.exists(os.path.join(target, "__main__.py")):
        raise RunError(f"{printable(target)}: is a folder without __main__.py")
