"""Writing files whole or not at all: to a new file beside the old one, which then takes its place."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from gradlint.errors import RunError


def check_writable(file: str, what: str) -> None:
    """Find out before the work whether a file could be written.

    Raises:
        RunError: it is a folder, its folder does not exist, or neither may be written to.
    """
    path = os.path.realpath(file)
    folder = os.path.dirname(path)
    try:
        mode = os.stat(path).st_mode if os.path.lexists(path) else None
    except (OSError, ValueError) as error:
        raise _refused(what, file, error) from error
    if mode is not None and stat.S_ISDIR(mode):
        raise RunError(f"{what}: {file}: is a folder")
    if mode is None and not os.path.isdir(folder):
        raise RunError(f"{what}: {file}: its folder does not exist")
    if not os.access(path if mode is not None else folder, os.W_OK):
        raise RunError(f"{what}: {file}: permission denied")


def write_whole(files: Iterable[tuple[str, str]], what: str) -> None:
    """Write these texts, as UTF-8, to the files of these names: every one of them whole, or none.

    Raises:
        RunError: one cannot be written; the others are as they were.
    """
    new: list[tuple[str, str]] = []
    try:
        for file, text in files:
            try:
                written = _written_beside(os.path.realpath(file), text.encode("utf-8", "backslashreplace"))
            except (OSError, ValueError) as error:
                raise _refused(what, file, error) from error
            if written is not None:
                new.append((written, file))
        while new:
            written, file = new[0]
            try:
                os.replace(written, os.path.realpath(file))
            except OSError as error:
                raise _refused(what, file, error) from error
            del new[0]
    finally:
        for written, _ in new:
            with suppress(OSError):
                os.unlink(written)


def _written_beside(path: str, data: bytes) -> str | None:
    """The new file; None when the old one is none that can be replaced (a pipe, a device) and was written to."""
    old = os.stat(path) if os.path.lexists(path) else None
    if old is not None and (not stat.S_ISREG(old.st_mode) or not os.access(os.path.dirname(path), os.W_OK)):
        with open(path, "wb") as device:
            device.write(data)
        return None
    handle, written = tempfile.mkstemp(prefix=".gradlint-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(written, stat.S_IMODE(old.st_mode) if old is not None else 0o666 & ~_umask())
    except BaseException:
        os.unlink(written)
        raise
    return written


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(what: str, file: str, error: Exception) -> RunError:
    words = getattr(error, "strerror", None) or str(error)
    return RunError(f"{what}: {file}: {words[:1].lower()}{words[1:]}")
