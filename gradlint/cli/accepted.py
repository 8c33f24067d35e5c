"""The options about the baseline, and what they do with the results of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from gradlint.cli.completion import complete_files
from gradlint.errors import RunError

if TYPE_CHECKING:
    from gradlint.baseline import Baseline
    from gradlint.coverage import Coverage
    from gradlint.merging import FileResult

#: Entries that are no longer found are named up to here: a file that was renamed may have thousands.
_MOST_NAMED = 20
Command = TypeVar("Command", bound=Callable[..., None])


def baseline_options(command: Command) -> Command:
    """`--baseline`, `--write-baseline` and `--prune-baseline`; their values are for `accepting`."""
    options = [
        click.option(
            "--baseline",
            multiple=True,
            callback=_only_one,
            metavar="FILE",
            shell_complete=complete_files,
            help="Leave out the findings that this file accepts, and name those fixed.",
        ),
        click.option(
            "--write-baseline",
            multiple=True,
            callback=_only_one,
            metavar="FILE",
            shell_complete=complete_files,
            help="Write a file that accepts all that is found now, and exit with 0.",
        ),
        click.option("--prune-baseline", is_flag=True, help="Remove what is fixed from the file of --baseline."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _only_one(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1:
        raise RunError(f"{param.opts[0]}: more than one file")
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Accepting:
    """What a run is to do with a baseline. Made before the run, so that a bad file ends it early."""

    baseline: Baseline | None = None
    writes: bool = False
    prunes: bool = False

    def apply(
        self, results: Sequence[FileResult], coverage: Coverage, *, failed: bool
    ) -> tuple[Sequence[FileResult], int]:
        """The results without what is accepted, and how much that was. A run that failed writes nothing.

        Raises:
            RunError: the baseline cannot be written.
        """
        if self.baseline is None:
            return results, 0
        if self.writes:
            return self._write(self.baseline, results, coverage, failed=failed)
        judgement = self.baseline.judge(results, coverage)
        file, gone = self.baseline.file, (*judgement.fixed, *judgement.unknown)
        lines = [f"fixed: {entry.place}" for entry in judgement.fixed]
        lines += [f"no such rule: {entry.place}" for entry in judgement.unknown]
        for line in lines[:_MOST_NAMED]:
            _note(f"{file}: {line}")
        if len(lines) > _MOST_NAMED:
            _note(f"{file}: ... and {len(lines) - _MOST_NAMED} more")
        if gone and self.prunes and not failed:
            self.baseline.without(gone).write("--prune-baseline")
            _note(f"{file}: {_entries(len(gone))} removed")
        elif gone:
            _note(f"{file}: {_entries(len(gone))} no longer found; --prune-baseline removes what is fixed")
        return judgement.results, judgement.accepted

    def _write(
        self, old: Baseline, results: Sequence[FileResult], coverage: Coverage, *, failed: bool
    ) -> tuple[Sequence[FileResult], int]:
        new = old.of_run(results, coverage)
        judgement = new.judge(results, coverage)
        if failed:
            _note(f"{new.file}: not written, because the run failed")
            return results, 0
        new.write("--write-baseline")
        _note(f"{new.file}: {_entries(len(new.entries))} written")
        return judgement.results, judgement.accepted


def accepting(
    baseline: str | None, write_baseline: str | None, prune_baseline: bool, *, has_nameless: bool = False
) -> Accepting:
    """What these options ask for, in a run that may judge standard input without a name.

    Raises:
        RunError: they contradict each other, a baseline cannot be read, or one cannot be written.
    """
    if baseline is not None and write_baseline is not None:
        raise RunError("--write-baseline: not together with --baseline")
    if prune_baseline and baseline is None:
        raise RunError("--prune-baseline: needs --baseline FILE")
    if write_baseline is not None and has_nameless:
        raise RunError("--write-baseline: standard input needs a name to be accepted; give it --stdin-filename")
    for option, file in (("--baseline", baseline), ("--write-baseline", write_baseline)):
        if file in ("", "-"):
            raise RunError(f"{option}: {'names no file' if not file else '-: a baseline has to be a file'}")
    if baseline is None and write_baseline is None:
        return Accepting()
    from gradlint.baseline import Baseline, read_baseline
    from gradlint.files.whole import check_writable

    if baseline is not None:
        read = read_baseline(baseline, "--baseline")
        if prune_baseline:
            check_writable(baseline, "--prune-baseline")
        return Accepting(read, prunes=prune_baseline)
    assert write_baseline is not None
    check_writable(write_baseline, "--write-baseline")
    # What is no baseline is not written over, and entries of files that the run leaves out are kept.
    is_new = not os.path.exists(write_baseline) or os.path.getsize(write_baseline) == 0
    if is_new:
        return Accepting(Baseline(write_baseline), writes=True)
    try:
        return Accepting(read_baseline(write_baseline, "--write-baseline"), writes=True)
    except RunError as error:
        raise RunError(f"{error}; remove the file to write a new one") from error


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _note(message: str) -> None:
    from gradlint.text import printable

    click.echo(f"gradlint: {printable(message)}", err=True)
