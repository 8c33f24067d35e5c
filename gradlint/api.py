"""The command `gradlint check` as functions: the same findings, as values.

`check_paths` and `check_source` print nothing, change no setting of the process that outlives the call, and never
import or run what they judge. What is stable about them is written in docs/api.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import TypeAlias

from gradlint.config import Hierarchy, Settings, SettingsByFile
from gradlint.errors import RunError
from gradlint.files.discovery import discover
from gradlint.merging import check_bytes
from gradlint.rule import Finding
from gradlint.run import check_found
from gradlint.text import path_name, path_names, shown_path

Path: TypeAlias = "str | os.PathLike[str]"

#: PEP 263: what names the encoding of a file, in one of its first two lines.
_ENCODING = re.compile(r"\A((?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?)coding(?=[:=])")


def check_paths(
    paths: Path | Iterable[Path],
    *,
    settings: Settings | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
) -> tuple[Finding, ...]:
    """Judge files and folders.

    Returns what `gradlint check PATHS` reports, in its order (path, row, column, code). Without `settings`, those of
    the nearest configuration file hold for each file, as on the command line. Files are judged in this thread, on as
    many processes as `jobs` says, or on the `executor`: threads, processes or anything else with the interface of
    `concurrent.futures.Executor`. It is used through `submit` alone, never shut down, and left without work of ours.

    Raises:
        RunError: a path does not exist, a setting makes no sense, or a rule of one's own cannot be loaded. Files
            that cannot be read or parsed are findings (GL001, GL002).
        TypeError: an argument is not what its annotation says.
        ValueError: both `executor` and `jobs` are given, or `jobs` is less than 1.
    """
    if executor is not None and jobs is not None:
        raise ValueError("jobs and executor: give one of them")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: expected at least 1, got {jobs}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: expected a concurrent.futures.Executor, not {type(executor).__name__}")
    _check_settings(settings)
    names = path_names(paths)
    by_file: SettingsByFile = settings if settings is not None else Hierarchy()
    found = discover(names, by_file)
    if found.missing:
        raise RunError("; ".join(f"{shown_path(each.path)}: {each.reason}" for each in found.missing))
    results = check_found(found, by_file, jobs or 1, executor=executor)
    return tuple(finding for result in results for finding in result.findings)


def check_source(
    source: str | bytes, filename: Path = "<string>", *, settings: Settings | None = None
) -> tuple[Finding, ...]:
    """Judge a program that is at hand as text, or as the bytes of a file.

    Returns its findings, in the order row, column, code. `filename` is what they are reported under; its end says what
    the source is (`.ipynb` a notebook, anything else Python), and imports are looked for beside it: it need not exist.
    Without `settings`, those of the nearest configuration file above `filename` hold. In text, unlike in bytes, a
    comment that names an encoding has no meaning.

    Raises:
        RunError: a setting makes no sense, or a rule of one's own cannot be loaded. Source that is no Python is a
            finding (GL001).
        TypeError: an argument is not what its annotation says; of a file, `check_paths` takes the path.
    """
    if not isinstance(source, str | bytes | bytearray | memoryview):
        raise TypeError(f"source: expected the text or the bytes of a program, not {type(source).__name__}")
    _check_settings(settings)
    name = path_name(filename)
    if settings is None:
        settings = Hierarchy().for_file("" if name.startswith("<") else name)
    data = _encoded(source) if isinstance(source, str) else bytes(source)
    return check_bytes(data, name, settings).findings


def _check_settings(settings: object) -> None:
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings: expected a gradlint.Settings, not {type(settings).__name__}")


def _encoded(text: str) -> bytes:
    """As a file in UTF-8 would hold it. Its comment about an encoding, if any, is made one about nothing."""
    return _ENCODING.sub(r"\1c0ding", text).encode("utf-8", "surrogatepass")
