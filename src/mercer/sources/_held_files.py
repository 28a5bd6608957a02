"""Files by their names, and by what they are: device and inode, whatever the name.

Which files hold rows: no writer may take the place of one.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mercer.errors import InputError, MercerError

FileId: TypeAlias = tuple[int, int]  # device and inode: the same by every name and link
FileIds: TypeAlias = frozenset[FileId]

_MAPS = Path("/proc/self/maps")  # of Linux; elsewhere only NumPy's own maps are known
_OPEN = Path("/dev/fd")
_LONG = 300  # letters of a path that a message shows

# What to do where the system says no.
_WAYS_OUT = {
    errno.ENOSPC: "make room on the disk, or choose another place",
    errno.EDQUOT: "make room on the disk, or choose another place",
    errno.EFBIG: "choose a place where files may be that large",
    errno.EROFS: "choose a place that can be written to",
    errno.EACCES: "change who may write there, or choose another place",
    errno.EPERM: "change who may write there, or choose another place",
    errno.ENAMETOOLONG: "choose a shorter name, or a folder nearer the root",
    errno.ELOOP: "choose a name that is no link to itself",
}


class FileError(InputError, OSError):
    """The system does not let a file be read or written."""


class FileMemoryError(MercerError, MemoryError):
    """There is not enough memory for what a file holds, or will hold."""


def file_error(error: Exception, what: str, path: Path) -> MercerError:
    """Return in three lines what was said of a file by the system, or for want of memory."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    got = f"{shown_path(path)}: {reason}"
    if isinstance(error, MemoryError):
        return FileMemoryError(what, got=got, fix="free some memory, or use a larger machine")
    number = getattr(error, "errno", None)
    fix = _WAYS_OUT.get(number or 0, "check the name and the disk, or choose another place")
    made = FileError(what, got=got, fix=fix)
    made.errno, made.strerror, made.filename = number, reason, str(path)
    return made


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path on one line, its middle left out where it is very long."""
    text = os.fspath(path)
    text = text if text.isprintable() else repr(text)
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG // 2]} … {text[-_LONG // 4 :]} ({len(text):,} letters)"


def path_of(given: str | os.PathLike[str]) -> Path:
    """Return the path that was given, of a file that is there or can be.

    Open files, numbers and bytes are refused, and names that no file can have here.
    """
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            "A file is given by its path.",
            got=f"{type(given).__name__}: {str(given)[:60]}",
            fix='give text or a pathlib.Path, such as "model.mercer"',
        )
    path = Path(given)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # it may be made
    except (OSError, ValueError) as error:  # too long, a loop of links, an empty byte
        raise file_error(error, "no file can be reached by this name", path) from None
    return path


def matching(pattern: Path) -> list[Path]:
    """Return what a pattern stands for, by name."""
    base = pattern.parent
    while not base.is_dir():  # the pattern may begin in the name of a folder
        base = base.parent
    return sorted(base.glob(str(pattern.relative_to(base))))


def ids_of(paths: Iterable[str | os.PathLike[str]]) -> FileIds:
    """Return which files and folders these are; those that are not there are none."""
    found = set[FileId]()
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            state = Path(path).stat()
            found.add((state.st_dev, state.st_ino))
    return frozenset(found)


def id_of_open(descriptor: int) -> FileIds:
    """Return which file an open descriptor is; pipes and terminals are none."""
    state = os.fstat(descriptor)
    return frozenset([(state.st_dev, state.st_ino)] if stat.S_ISREG(state.st_mode) else [])


def ids_being_read() -> FileIds:
    """Return the files that this process has open for reading only."""
    found: FileIds = frozenset()
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        for number in [int(path.name) for path in _OPEN.iterdir()]:
            with contextlib.suppress(OSError):
                if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                    found |= id_of_open(number)
    return found


def ids_in_memory(rows: Any) -> FileIds:
    """Return the files that are mapped where an array, or the columns of a frame, lies."""
    arrays = [rows, *(getattr(rows, part, None) for part in ("data", "indices", "indptr"))]
    if hasattr(rows, "iloc"):
        columns = [rows.iloc[:, i] for i in range(rows.shape[1])]
        arrays = [np.asarray(one) for one in columns if isinstance(one.dtype, np.dtype)]
    names, places = set[str](), set[int]()
    for array in arrays:
        if callable(getattr(array, "data_ptr", None)):  # of torch
            places.add(array.data_ptr())
        while isinstance(array, np.ndarray):
            places.add(array.__array_interface__["data"][0])
            if isinstance(array, np.memmap) and array.filename is not None:
                names.add(os.fspath(array.filename))
            array = array.base
    return ids_of(names | _mapped(places))


def _mapped(places: set[int]) -> set[str]:
    """Return the files that are mapped at these places of memory."""
    found = set[str]()
    with contextlib.suppress(OSError):
        for line in _MAPS.read_text(errors="surrogateescape").splitlines() if places else ():
            span, _, _, _, inode, *name = line.split(maxsplit=5)
            low, high = (int(end, 16) for end in span.split("-"))
            if inode != "0" and name and any(low <= place < high for place in places):
                found.add(name[0])
    return found
