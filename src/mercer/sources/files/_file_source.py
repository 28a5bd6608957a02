"""What all kinds of binary files share: a name, a choice of columns, a fingerprint."""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._block_source import BlockSource
from mercer.sources._column_choice import choose_columns

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
