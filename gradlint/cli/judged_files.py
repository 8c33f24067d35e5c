"""Which files `gradlint check` judges, and under which settings: for the run, `--show-files` and `--show-settings`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import click

from gradlint.config import Hierarchy, SettingsByFile
from gradlint.files.discovery import Discovered, Excludes, Unusable, discover
from gradlint.files.documents import SUFFIXES as DOCUMENT_SUFFIXES
from gradlint.settings.shown import as_toml
from gradlint.text import printable, shown_path


@dataclass(frozen=True, slots=True)
class JudgedFiles:
    """The files of a run, in order, and what stands in the way of others."""

    discovered: Discovered
    standard_input: str | None
    """The name of standard input, when it is judged."""
    pages: tuple[str, ...] = ()
    """What was named and is not judged, since it is no Python, though code in it would be on request."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files to judge, sorted."""
        return self.discovered.files

    @property
    def names(self) -> tuple[str, ...]:
        """The files to judge, and standard input by its name."""
        return (*self.files, self.standard_input) if self.standard_input is not None else self.files

    @property
    def missing(self) -> tuple[Unusable, ...]:
        """The paths that were asked for in vain."""
        return self.discovered.missing


def files_of_run(
    paths: Sequence[str], settings: SettingsByFile, *, force_exclude: bool, stdin_filename: str
) -> JudgedFiles:
    """The files that the paths stand for; about paths that were asked for in vain, a line each on standard error.

    Raises:
        RunError: standard input has a name, and is not among the paths.
    """
    found = discover([path for path in paths if path != "-"], settings, force_exclude=force_exclude)
    for unusable in found.missing:
        click.echo(f"gradlint: {shown_path(unusable.path)}: {unusable.reason}", err=True)
    pages = [file for file in found.files if _is_passed_over(file, settings)]
    standard_input = stdin_filename if "-" in paths else None
    if standard_input is not None and _is_passed_over(standard_input, settings):
        pages.append(standard_input)
        standard_input = None
    for page in pages:
        click.echo(f"gradlint: {printable(page)}: not judged: code in pages takes --include-docs", err=True)
    if pages:
        found = replace(found, files=tuple(file for file in found.files if file not in pages))
    if standard_input not in (None, "-") and force_exclude and Excludes(settings).has(stdin_filename, is_folder=False):
        standard_input = None
    if standard_input not in (None, "-"):  # an editor's text of a file takes the place of what is on the disk
        name = os.path.abspath(stdin_filename)
        found = replace(found, files=tuple(each for each in found.files if os.path.abspath(each) != name))
    return JudgedFiles(found, standard_input, tuple(pages))


def _is_passed_over(file: str, settings: SettingsByFile) -> bool:
    """Whether a file is a page (Markdown, reStructuredText), and those are not judged."""
    return file.endswith(DOCUMENT_SUFFIXES) and not settings.for_file(file).include_docs


def show_files(found: JudgedFiles) -> None:
    """Print the files, a line each."""
    for name in sorted(found.names):
        click.echo(printable(name))


def show_settings(found: JudgedFiles, paths: Sequence[str], settings: Hierarchy) -> None:
    """Print the settings for the first file; where there is no file, those of the run."""
    if found.names:
        first = min(found.names)
        click.echo(as_toml(settings.for_file(first), first), nl=False)
    else:
        first = next((path for path in paths if os.path.exists(path)), ".")
        click.echo(as_toml(settings.for_run([first]), first), nl=False)
