"""What the static analysis says of the files that ran, joined with what the run showed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gradlint.config import SettingsByFile, load_settings
from gradlint.errors import RunError
from gradlint.merging import FileResult, check_file
from gradlint.probe.account import Account
from gradlint.probe.confirmation import judged, rows_of
from gradlint.probe.places import is_users
from gradlint.probe.sightings import Sightings
from gradlint.rule import Finding
from gradlint.verdicts import Confirmation, Verdict


def files_of(account: Account) -> list[str]:
    """The user's files that the run was seen in, in order."""
    stacks = [call.asked for call in account.gradients.calls.values()]
    stacks.extend(seen.made for seen in account.variables.seen.values())
    stacks.extend(layer.made for layer in account.layers.seen)
    names = {line.filename for stack in stacks for line in stack if is_users(line.filename)}
    return sorted(name for name in names if os.path.isfile(name) and name.endswith(".py"))


def judged_files(names: Iterable[str], settings: SettingsByFile | None = None) -> dict[str, FileResult]:
    """Of each file what `gradlint check` says of it, under these settings, else under those of its project."""
    results = {}
    for name in dict.fromkeys(names):
        try:
            if settings is not None:
                results[name] = check_file(name, settings.for_file(name))
            else:
                results[name] = _judged_once(name, os.getcwd(), os.stat(name).st_mtime_ns)
        except (RunError, OSError):
            continue
    return results


@lru_cache(maxsize=1024)
def _judged_once(name: str, _folder: str, _changed: int) -> FileResult:
    """The tests of a suite meet the same files again and again."""
    return check_file(name, load_settings([name]))


def joined_with_code(
    found: Sequence[Finding], account: Account, more_files: Iterable[str] = (), sightings: Sightings | None = None
) -> list[Finding]:
    """The static findings of the files that ran, each with its confirmation, and what only the run showed."""
    static = judged_files([*more_files, *files_of(account)])
    return joined(found, static.values(), account, sightings or Sightings({}))


def joined(
    found: Sequence[Finding], static: Iterable[FileResult], account: Account, sightings: Sightings
) -> list[Finding]:
    """The same, of files that were judged before."""
    told = [finding for result in static for finding in judged(result.findings, account, sightings)]
    return [*told, *(finding for finding in found if not _is_told(finding, told))]


def _is_told(finding: Finding, confirmed: Sequence[Finding]) -> bool:
    """Does a confirmed static finding say the same: the verdict, and the place of one on the way of the other?"""
    rows = rows_of(finding)
    for other in confirmed:
        if other.confirmation is not Confirmation.CONFIRMED:
            continue
        if other.verdict is not finding.verdict and (other.verdict, finding.verdict) != (Verdict.NONE, Verdict.ZERO):
            continue  # in a compiled graph None is seen as zero
        if _stands_on(finding, rows_of(other)) or _stands_on(other, rows):
            return True
    return False


def _stands_on(finding: Finding, rows: dict[str, set[int]]) -> bool:
    places = range(finding.place.row, finding.place.end_row + 1)
    return not rows.get(os.path.realpath(finding.filename), set()).isdisjoint(places)
