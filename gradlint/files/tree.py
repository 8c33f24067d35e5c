"""The tree that a run was asked to judge: which files really lie in it, and which are links that lead out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence


def first_within(names: Iterable[str], paths: Sequence[str]) -> str | None:
    """Of several names of one file the first that leads out of nothing, in a run over these paths."""
    return next((name for name in names if not _leads_out(name, paths)), None)


def is_within(path: str, folder: str) -> bool:
    """Whether a path is this one, or inside of it; both absolute."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(os.path.join(folder, ""))


def _leads_out(name: str, paths: Sequence[str]) -> bool:
    """Whether a link on the way to a file leads out of the folders that it seems to be in: those that were named, and
    the working folder; with none of them around it, its own."""
    seeming, real = os.path.abspath(name), os.path.realpath(name)
    around = {os.path.abspath(path) for path in paths if os.path.isdir(path)} | {os.getcwd()}
    folders = [each for each in around if is_within(seeming, each)] or [os.path.dirname(seeming)]
    return not all(is_within(real, os.path.realpath(each)) for each in folders)
