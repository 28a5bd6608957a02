"""NumPy's .npy files, and raw rows at an offset of any file."""

import io
import mmap
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._column_choice import Chosen
from mercer.sources.files._file_source import (
    FileSource,
    block_dtype,
    let_go,
    native,
    reason_of,
    refusing,
    table_shape,
)

# Version 3 is version 2 with names in UTF-8, and only records have names.
_LONGEST = 10_000  # bytes of a header: NumPy reads no more either
_HEADS: dict[Any, Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}
# What NumPy raises for heads that are no dictionary, or one with other contents.
_BROKEN_HEAD = (
    ValueError,
    TypeError,
    LookupError,
    SyntaxError,
    tokenize.TokenError,
    RecursionError,
    MemoryError,
)


@final
class RawSource(FileSource):
    """Rows of one type that stand one after the other, from a byte of a file on.

    Cell (i, j) stands at byte offset + (i p + j) w for w bytes a cell; where `fortran`, at
    offset + (j n + i) w. Rows are read straight into each block; in Fortran order each block
    is gathered from p places through a memory map. No more than one block is held.

    Parameters
    ----------
    path : Path
        The file.
    offset : int
        Byte of the first cell.
    shape : tuple of int
        (n, p) in the file.
    stored : dtype
        Of the cells in the file, with its byte order.
    fortran : bool
        Whether columns, not rows, stand one after the other.
    columns, drop : iterable of int, or None
        Columns to use, or not to use. All are read; the others are let go block by block.
    """

    def __init__(
        self,
        path: Path,
        offset: int,
        shape: tuple[int, ...],
        stored: np.dtype[Any],
        *,
        fortran: bool = False,
        columns: Chosen = None,
        drop: Chosen = None,
    ) -> None:
        self.path, self.label, self.offset = path, path.name, offset
        self.dtype = block_dtype(stored, self.label)
        self.shape = self.stored_shape = table_shape(shape, self.label)
        self.stored, self.fortran = stored, fortran
        n, p = self.stored_shape
        self.end = offset + n * p * stored.itemsize
        _check_size(path, self.end, f"shape {(n, p)} of {stored} from byte {offset:,}")
        self._choose(None, columns, drop)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: whole rows are read, whatever the columns."""
        return self.end - self.offset

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        return self._by_columns(rows, start) if self.fortran else self._by_rows(rows, start)

    def _by_rows(self, rows: int, start: int) -> Iterator[Array]:
        with self.path.open("rb", buffering=0) as file:
            yield from stored_rows(self, file, self.offset, self.stored, rows, start)

    def _by_columns(self, rows: int, start: int) -> Iterator[Array]:
        n, p = self.stored_shape
        _check_size(self.path, self.end, "what it held when it was opened")
        cells = np.memmap(self.path, self.stored, "r", self.offset, (n, p), "F")
        for at in range(start, n, rows):
            part = np.asarray(cells[at : at + rows])
            part = part if self.at is None else part[:, self.at]
            block = native(np.array(part, order="C"), self.dtype)
            let_go(cells)
            yield block


def open_npy(path: Path, *, columns: Chosen = None, drop: Chosen = None) -> RawSource:
    """Return the rows of a .npy file; only its header is read, and checked against its size.

    Parameters
    ----------
    path : path
        The file, with a two-dimensional array of real numbers.
    columns, drop : iterable of int, or None
        Positions of the columns to use, or not to use.
    """
    with path.open("rb") as file:
        shape, fortran, stored = npy_header(file, path.name)
        offset = file.tell()
    source = RawSource(path, offset, shape, stored, fortran=fortran, columns=columns, drop=drop)
    size = path.stat().st_size
    if size > source.end:
        raise InputError(
            "the file holds more than its header says",
            got=f"{path.name}, {size:,} bytes; the array ends at byte {source.end:,}",
            fix="save each array in a file of its own",
        )
    return source


def open_memmap(array: Any) -> RawSource | None:
    """Return the rows of a memory map, read from its file; None where that cannot be.

    It cannot where the array is not one piece of the file, or where what is written into it
    stays in memory (mode "c").
    """
    held = getattr(array, "_mmap", None)
    name = getattr(array, "filename", None)
    order = array.flags.c_contiguous or array.flags.f_contiguous
    if held is None or name is None or array.mode == "c" or array.ndim != 2 or not order:
        return None
    if not Path(name).exists():  # it was removed, and its cells are still mapped
        return None
    # A slice keeps the offset of the whole: where it begins is told by its address.
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    first = np.frombuffer(held, np.uint8, 1).__array_interface__["data"][0]
    offset = begin + array.__array_interface__["data"][0] - first
    if array.flags.writeable:
        array.flush()
    fortran = not array.flags.c_contiguous
    return RawSource(Path(name), offset, array.shape, array.dtype, fortran=fortran)


def npy_header(file: IO[bytes], label: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, Fortran order and type from the head of a .npy file."""
    try:
        version = np.lib.format.read_magic(file)
    except ValueError as error:
        raise InputError(
            "the file is not in NumPy's .npy format",
            got=f"{label}, {reason_of(error)}",
            fix="write it with numpy.save",
        ) from None
    what, where = "the header of the .npy file cannot be read", f"{label}, version {version}"
    fix = "write the file again with numpy.save"
    size = file.read(2 if version == (1, 0) else 4)
    length = int.from_bytes(size, "little")
    if length > _LONGEST:  # before memory is taken for it
        got = f"{where}: {length:,} bytes of header; at most {_LONGEST:,} are read"
        raise InputError(what, got=got, fix=fix)
    with refusing(_BROKEN_HEAD, what, where, fix), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # headers of Python 2 are read, with a word
        return _HEADS[version](io.BytesIO(size + file.read(length)))  # type: ignore[no-any-return]


def stored_rows(
    source: Any, file: Any, offset: int, stored: np.dtype[Any], rows: int, start: int
) -> Iterator[Array]:
    """Yield blocks of a source whose rows stand one by one from a byte of a file on."""
    n, p = source.stored_shape
    file.seek(offset + start * p * stored.itemsize)
    for at in range(start, n, rows):
        # Fresh for each block: the reader of blocks may still hold the one before.
        block = np.empty((min(rows, n - at), p), stored)
        fill(file, block, f"{source.label}, rows {at} to {at + len(block) - 1}")
        block = native(block, source.dtype)
        yield block if source.at is None else block[:, source.at]


def fill(file: Any, block: Array, where: str) -> None:
    """Read exactly the bytes of `block` from `file`, or refuse a file that ends before."""
    left = memoryview(block.reshape(-1).view(np.uint8))
    total = len(left)
    while len(left):
        got = file.readinto(left)
        if not got:
            raise InputError(
                "the file ends before its rows do",
                got=f"{where}: {total - len(left):,} of {total:,} bytes are there",
                fix="check what wrote the file, and that nothing writes to it now",
            )
        left = left[got:]


def _check_size(path: Path, needed: int, claim: str) -> None:
    size = path.stat().st_size
    if size < needed:
        raise InputError(
            "the file is shorter than its header says",
            got=f"{path.name}, {size:,} bytes; {claim} needs {needed:,}",
            fix="copy or write the file again: it is cut off, or its header is wrong",
        )
