"""What all kinds of files share: names, what they are by device and inode, a choice of columns.

No writer may take the place of a file that holds rows, whatever the name.
"""

import contextlib
import errno
import hashlib
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MercerError
from mercer.sources._block_source import BlockSource, FileId, FileIds
from mercer.sources._column_choice import choose_columns

PARQUET = (".parquet", ".pq")  # what is read in a folder, unless it is one of Zarr
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
_END = 1 << 16  # bytes at either end of a file that its fingerprint reads
_OTHER_KINDS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "time spans",
    "S": "text",
    "U": "text",
    "T": "text",
    "O": "Python objects",
    "V": "records",
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


def ids_within(paths: Iterable[Path]) -> FileIds:
    """Return which files and folders these are, with what is read in the folders."""
    found: FileIds = frozenset()
    for path in paths:
        found |= ids_of([path])
        if path.suffix == ".zarr":
            found |= ids_of(path.rglob("*"))
        elif path.is_dir():
            found |= ids_of(p for p in path.iterdir() if p.suffix.lower() in PARQUET)
    return found


def id_of_open(descriptor: int) -> FileIds:
    """Return which file an open descriptor is; pipes and terminals are none."""
    state = os.fstat(descriptor)
    return frozenset([(state.st_dev, state.st_ino)] if stat.S_ISREG(state.st_mode) else [])


class FileSource(BlockSource):
    """Abstract: a table in one file, or in one folder of chunks.

    Attributes
    ----------
    path : Path
        The file.
    key : str or None
        Which data set of the file.
    at : array of int or None
        Positions of the columns that are used, in their order; None for all.
    beside : tuple of Path
        Other files that belong to it.
    """

    path: Path
    key: str | None = None
    at: Any = None
    beside: tuple[Path, ...] = ()

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: also which data set and which columns."""
        columns = None if self.at is None else self.at.tolist()
        return fingerprint_of((self.path, *self.beside), self.key, columns)

    def _files(self) -> tuple[Path, ...]:
        return (self.path, *self.beside)

    def files(self) -> FileIds:
        """See `Source.files`."""
        return ids_within(self._files())

    def _choose(self, names: Sequence[str] | None, columns: Any, drop: Any) -> None:
        """Set shape, names and `at` from the columns asked for; `shape` is that of the file.

        Columns without names are called by their positions in the file.
        """
        n, p = self.shape
        if columns is None and drop is None:
            self.names = None if names is None else tuple(names)
            return
        every = [str(i) for i in range(p)] if names is None else names
        chosen = choose_columns(every, [None] * p, columns, drop, self.label)
        self.at = np.asarray(chosen.at, dtype=np.intp)
        self.names, self.dropped = chosen.names, chosen.dropped
        self.shape = (n, len(chosen.at))


def fingerprint_of(paths: Iterable[Path], *choices: Any) -> str:
    """Return the digest of size, time and both ends of each file, and of what was chosen."""
    digest = hashlib.sha256(repr(choices).encode())
    for path in paths:
        _add_file(digest, path)
    return digest.hexdigest()


def _add_file(digest: Any, path: Path) -> None:
    """Add size, time and both ends of a file; of a folder, those of every file in it."""
    if path.is_dir():
        for part in sorted(path.rglob("*")):
            if part.is_file():
                state = part.stat()
                name = part.relative_to(path).as_posix()
                digest.update(repr((name, state.st_size, state.st_mtime_ns)).encode())
        return
    state = path.stat()
    digest.update(repr((state.st_size, state.st_mtime_ns)).encode())
    with path.open("rb") as file:
        digest.update(file.read(_END))
        file.seek(max(0, state.st_size - _END))
        digest.update(file.read(_END))


def table_shape(shape: Sequence[int], label: str) -> tuple[int, int]:
    """Return (n, p) of a table, or refuse a shape that is none."""
    if len(shape) != 2:
        raise InputError(
            f"a table has two dimensions, this has {len(shape)}",
            got=f"{label}, shape {tuple(shape)}",
            fix="save it with one row per sample, X.reshape(n, -1)",
        )
    n, p = int(shape[0]), int(shape[1])
    if n < 1 or p < 1:
        raise InputError(
            "a table needs at least one row and one column",
            got=f"{label}, shape {(n, p)}",
            fix="check what wrote the file",
        )
    return n, p


def block_dtype(stored: np.dtype[Any], label: str) -> np.dtype[Any]:
    """Return the type in which cells of type `stored` are handed out, or refuse them.

    Byte order becomes the machine's, float16 becomes float32; the rest stays.
    """
    if stored.hasobject:
        raise InputError(
            "Python objects are not read: unpickling them can run code",
            got=f"{label}, type {stored}",
            fix="save numbers, X.astype(float)",
        )
    if stored.kind not in "fiub":
        raise InputError(
            "cells must be real numbers",
            got=f"{label} holds {_OTHER_KINDS.get(stored.kind, 'something else')} ({stored})",
            fix="save real numbers, one column each",
        )
    if stored == np.float16:
        return np.dtype(np.float32)
    if stored.itemsize > 8:
        raise InputError(
            "numbers longer than 8 bytes are not read",
            got=f"{label}, type {stored}",
            fix="save them as float64",
        )
    return stored.newbyteorder("=")


def native(block: Array, dtype: np.dtype[Any]) -> Array:
    """Return a block in the type handed out; in place where only the byte order differs."""
    if dtype == np.bool_:
        # A byte other than 0 and 1 is true too, and must count once.
        return block.view(np.uint8) != 0
    if block.dtype == dtype:
        return block
    if block.dtype.newbyteorder("=") == dtype:
        return block.byteswap(inplace=True).view(dtype)
    return block.astype(dtype)


@contextlib.contextmanager
def refusing(
    broken: tuple[type[Exception], ...], what: str, where: str, fix: str
) -> Iterator[None]:
    """Turn what a library raises for damaged files into three lines."""
    try:
        yield
    except InputError:
        raise
    except broken as error:
        raise InputError(what, got=f"{where}: {reason_of(error)}", fix=fix) from None


def reason_of(error: Exception) -> str:
    """Return the first line of what a library said, for the second line of a message."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:120]}"


def let_go(pages: Any) -> None:
    """Give back what was read of a mapped file or array, where the system takes it."""
    if hasattr(mmap, "MADV_DONTNEED"):
        getattr(pages, "_mmap", pages).madvise(mmap.MADV_DONTNEED)
