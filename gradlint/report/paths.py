"""Names of files as reports show them: seen from the working folder, or from the checkout of a forge."""

from __future__ import annotations

import os
from pathlib import PurePath
from urllib.parse import quote


def shown(filename: str) -> str:
    """The file as seen from the working folder where it lies in it, else as it was named."""
    if not os.path.isabs(filename):
        return filename
    return _inside(filename, os.getcwd()) or filename


def from_checkout(filename: str, checkout: str) -> str:
    """The file as a forge names it, with `/`: as seen from the checkout where it lies in it, whatever links lead there.

    A file that is a link is known by its own name.
    """
    seen = None
    if checkout:
        folder, name = os.path.split(os.path.abspath(filename))
        seen = _inside(os.path.join(os.path.realpath(folder), name), os.path.realpath(checkout))
    return (seen or shown(filename)).replace(os.sep, "/")


def as_uri(path: str) -> str:
    """The reference to a path that has `/`: relative, or `file://` where it is absolute."""
    data = path.encode("utf-8", "surrogateescape" if _is_from_file_system(path) else "surrogatepass")
    if PurePath(path).is_absolute():
        return "file://" + quote(b"/" + data.lstrip(b"/"), safe="/")
    return quote(data, safe="/")


def _inside(path: str, folder: str) -> str | None:
    start = os.path.join(folder, "")
    return os.path.relpath(path, folder) if path.startswith(start) and len(path) > len(start) else None


def _is_from_file_system(path: str) -> bool:
    return all("\udc80" <= each <= "\udcff" for each in path if "\ud800" <= each <= "\udfff")
