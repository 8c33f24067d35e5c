"""Writing files whole or not at all: to a new file beside the old one, which then takes its place.

What cannot be replaced is written to: pipes, devices, files that are open already (`/dev/stdout`, `/dev/fd/3`: others
write there, too), and files that are mounted.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from gradlint.errors import RunError
from gradlint.text import printable

_OPEN_FILE = re.compile(r"(?:/proc/(?P<process>\w+)(?:/task/\w+)?|/dev)/fd/(?P<number>\d+)")
_MOST_LINKS = 40
#: What the system says when a file is mounted, or its folder lets nobody replace it.
_NOT_REPLACEABLE = frozenset({errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES})


def check_writable(file: str, what: str) -> None:
    """Find out before the work whether a file could be written.

    Raises:
        RunError: it is a folder, its folder does not exist, or there is no permission; it begins with `what`.
    """
    if not file:
        raise RunError(f"{what}: names no file")
    try:
        mode = _mode(file)
        folder = os.path.dirname(os.path.realpath(file))
    except (OSError, ValueError) as error:
        raise _refused(what, file, error) from error
    if mode is not None and stat.S_ISDIR(mode):
        raise RunError(f"{what}: {printable(file)}: is a folder")
    if not os.path.basename(file):
        raise RunError(f"{what}: {printable(file)}: names a folder")
    if mode is None and not os.path.isdir(folder):
        raise RunError(f"{what}: {printable(file)}: its folder does not exist")
    if not os.access(file if mode is not None else folder, os.W_OK):
        raise RunError(f"{what}: {printable(file)}: permission denied")


def write_whole(files: Iterable[tuple[str, str]], what: str) -> None:
    """Write these texts, as UTF-8, to the files of these names: every one of them whole, or none.

    Raises:
        RunError: one cannot be written, and the others are as they were; it begins with `what`.
    """
    ready: list[tuple[str, str]] = []
    try:
        for file, text in files:
            try:
                written = _written_beside(file, text.encode("utf-8", "backslashreplace"))
            except (OSError, ValueError) as error:
                raise _refused(what, file, error) from error
            if written is not None:
                ready.append((written, file))
        while ready:
            written, file = ready[0]
            try:
                os.replace(written, os.path.realpath(file))
            except OSError as error:
                if error.errno not in _NOT_REPLACEABLE or not os.path.exists(file):
                    raise _refused(what, file, error) from error
                _copy_into(written, file, what)
                os.unlink(written)
            del ready[0]
    finally:
        for written, _ in ready:
            with suppress(OSError):
                os.unlink(written)


def _mode(file: str) -> int | None:
    """What kind of file it is, and its permissions; None where there is none yet."""
    try:
        return os.stat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _written_beside(file: str, data: bytes) -> str | None:
    """The new file; None when the old one cannot be replaced (a pipe, a device) and was written to."""
    mode = _mode(file)
    opened = _open_file(file)
    if opened is not None:
        with open(opened, "wb" if isinstance(opened, int) else "ab") as there:  # neither truncates
            there.write(data)
        return None
    path = os.path.realpath(file)
    folder = os.path.dirname(path)
    if mode is not None and (not stat.S_ISREG(mode) or not os.access(folder, os.W_OK)):
        with open(file, "wb") as device:
            device.write(data)
        return None
    handle, written = tempfile.mkstemp(prefix=".gradlint-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(data)
        os.chmod(written, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
    except BaseException:
        os.unlink(written)
        raise
    return written


def _open_file(file: str) -> int | str | None:
    """The file that is open already and that this is a name of: a descriptor of our own, or the path of another's."""
    path = os.path.abspath(file)
    for _ in range(_MOST_LINKS):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if found := _OPEN_FILE.fullmatch(path):
            return os.dup(int(found["number"])) if found["process"] in (None, "self", str(os.getpid())) else path
        if not os.path.islink(path):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def _copy_into(written: str, file: str, what: str) -> None:
    try:
        with open(written, "rb") as new, open(file, "wb") as old:
            old.write(new.read())
    except OSError as error:
        raise _refused(what, file, error) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(what: str, file: str, error: Exception) -> RunError:
    words = getattr(error, "strerror", None) or str(error)
    return RunError(f"{what}: {printable(file)}: {words[:1].lower()}{words[1:]}")
