"""Writing files whole or not at all: to a new file beside the old one, which then takes its place.

What cannot be replaced is written to: pipes, devices, files that are open already (`/dev/stdout`, `/dev/fd/3`: others
write there, too), and files that are mounted. So is an old file where a new one would not be the same to others (hard
links, an owner that cannot be given to it), or none can be made; it gets its contents back when that fails.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from typing import BinaryIO

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
        found = _stat(file)
        folder = os.path.dirname(os.path.realpath(file))
    except (OSError, ValueError) as error:
        raise _refused(what, file, error) from error
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise RunError(f"{what}: {printable(file)}: is a folder")
    if not os.path.basename(file):
        raise RunError(f"{what}: {printable(file)}: names a folder")
    if found is None and not os.path.isdir(folder):
        raise RunError(f"{what}: {printable(file)}: its folder does not exist")
    if not os.access(file if found is not None else folder, os.W_OK):
        raise RunError(f"{what}: {printable(file)}: permission denied")


def write_whole(files: Iterable[tuple[str, str]], what: str) -> None:
    """Write these texts, as UTF-8, to the files of these names: every one of them whole, or none.

    Raises:
        RunError: one cannot be written, and the others are as they were; it begins with `what`.
    """
    ready: list[_New] = []
    try:
        for file, text in files:
            try:
                ready.append(_New.beside(file, text.encode("utf-8", "backslashreplace")))
            except (OSError, ValueError) as error:
                raise _refused(what, file, error) from error
        ready.sort(key=lambda each: each.written is not None)  # what may fail comes first
        while ready:
            try:
                ready[0].put()
            except OSError as error:
                raise _refused(what, ready[0].file, error) from error
            del ready[0]
    finally:
        for each in ready:
            each.discard()


def change_whole(file: str, data: bytes) -> None:
    """Put these bytes into a file that is there; owner and permissions stay, and of a link what it leads to changes.

    Raises:
        OSError: it cannot be written, and is as it was.
    """
    if not os.access(os.path.realpath(file), os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    new = _New.beside(file, data)
    try:
        new.put()
    except BaseException:
        new.discard()
        raise


def _stat(file: str) -> os.stat_result | None:
    """What is known of the file; None where there is none yet."""
    try:
        return os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None


@dataclass(frozen=True, slots=True)
class _New:
    """New contents of a file, not put there yet."""

    file: str
    data: bytes
    written: str | None
    """The new file that takes the place of the old one; None when the old one is to be written to."""

    @classmethod
    def beside(cls, file: str, data: bytes) -> _New:
        """With a new file beside the old one, where that is possible."""
        if _open_file(file) is not None:
            return cls(file, data, None)
        path = os.path.realpath(file)
        folder = os.path.dirname(path)
        old = _stat(file)
        if old is not None and (not stat.S_ISREG(old.st_mode) or old.st_nlink > 1 or not os.access(folder, os.W_OK)):
            return cls(file, data, None)
        handle, written = tempfile.mkstemp(prefix=".gradlint-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as new:
                new.write(data)
            if old is not None and not _took_over(written, path, old):
                os.unlink(written)
                return cls(file, data, None)
            # After the owner, whose change takes some permissions away.
            os.chmod(written, stat.S_IMODE(old.st_mode) if old is not None else 0o666 & ~_umask())
        except BaseException:
            with suppress(OSError):
                os.unlink(written)
            raise
        return cls(file, data, written)

    def put(self) -> None:
        """Put the contents in their place."""
        if self.written is not None:
            try:
                os.replace(self.written, os.path.realpath(self.file))
            except OSError as error:
                if error.errno not in _NOT_REPLACEABLE or not os.path.isfile(self.file):
                    raise
                _overwrite(self.file, self.data)
                self.discard()
        elif (opened := _open_file(self.file)) is not None:
            with _appended(opened) as there:
                there.write(self.data)
        elif os.path.isfile(self.file):
            _overwrite(self.file, self.data)
        else:
            with open(self.file, "wb") as device:
                device.write(self.data)

    def discard(self) -> None:
        """Leave nothing behind."""
        if self.written is not None:
            with suppress(OSError):
                os.unlink(self.written)


def _took_over(new: str, path: str, old: os.stat_result) -> bool:
    """Whether the new file got the owner of the old one, and what else is attached to it, such as access lists."""
    try:
        mine = os.stat(new)
        if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
            os.chown(new, old.st_uid, old.st_gid)
        if sys.platform == "linux":
            for name in os.listxattr(path):
                os.setxattr(new, name, os.getxattr(path, name))
    except OSError as error:
        return error.errno == errno.ENOTSUP
    return True


def _overwrite(file: str, data: bytes) -> None:
    """Write into a file, or leave what was in it."""
    with open(file, "r+b", buffering=0) as opened:
        before = opened.read()
        try:
            _write_all(opened, data)
        except OSError:
            with suppress(OSError):
                _write_all(opened, before)
            raise


def _write_all(file: FileIO, data: bytes) -> None:
    file.seek(0)
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    file.truncate()


def _appended(opened: int | str) -> BinaryIO:
    """Such a file, to write behind what others wrote."""
    return open(os.dup(opened), "wb") if isinstance(opened, int) else open(opened, "ab")


def _open_file(file: str) -> int | str | None:
    """The file that is open already and that this is a name of: a descriptor of our own, or the path of another's."""
    path = os.path.abspath(file)
    for _ in range(_MOST_LINKS):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if found := _OPEN_FILE.fullmatch(path):
            return int(found["number"]) if found["process"] in (None, "self", str(os.getpid())) else path
        if not os.path.islink(path):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(what: str, file: str, error: Exception) -> RunError:
    words = getattr(error, "strerror", None) or str(error)
    return RunError(f"{what}: {printable(file)}: {words[:1].lower()}{words[1:]}")


def identity(file: str) -> object:
    """The same for all names of one file: links of either kind."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return os.path.realpath(file)
    return found.st_dev, found.st_ino
