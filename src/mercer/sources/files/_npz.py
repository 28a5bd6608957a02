"""NumPy's .npz archives: a sparse matrix of SciPy, or one dense table.

Zip archives of .npy members: sizes are checked before anything is unpacked.
"""

import contextlib
import dataclasses
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array, check_places, show_bytes
from mercer.errors import InputError
from mercer.sources._column_choice import Chosen
from mercer.sources.files import _sparse_file as csr
from mercer.sources.files._file_source import (
    FileSource,
    block_dtype,
    native,
    refusing,
    table_shape,
)
from mercer.sources.files._npy import fill, npy_header, stored_rows

_RATIO = 1000  # unpacked bytes for one packed byte that are believed ...
_FREE = 100_000_000  # ... once this many are unpacked
# What Python's zipfile and its unpackers raise for damaged archives.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
)


@final
@dataclasses.dataclass(frozen=True)
class Member:
    """One array of an archive, as its header describes it."""

    name: str
    offset: int  # of the first cell within the unpacked member
    shape: tuple[int, ...]
    fortran: bool
    stored: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the cells."""
        return math.prod(self.shape) * self.stored.itemsize


@final
class Archive:
    """The arrays of a .npz file, which is not kept open.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, path.name
        with self._refusing(), zipfile.ZipFile(path) as file:
            members = [i for i in file.infolist() if i.filename.endswith(".npy")]
        self.members = {i.filename.removesuffix(".npy"): i for i in members}

    def describe(self, name: str) -> Member:
        """Return an array's shape and type, checked against the size of its member."""
        if name not in self.members:
            raise InputError(
                f"there is no array {name!r} in the archive",
                got=f"{self.label}: {', '.join(map(repr, list(self.members)[:8])) or 'none'}",
                fix="choose one of these with key=, or write the file again",
            )
        info, label = self.members[name], f"{self.label}, array {name!r}"
        self._check_ratio(info, label)
        with self.open(name) as file:
            shape, fortran, stored = npy_header(file, label)
            found = Member(name, file.tell(), shape, fortran, stored)
        if min(shape, default=0) < 0 or found.offset + found.nbytes != info.file_size:
            raise InputError(
                "an array is not as long as its header says",
                got=f"{label}: {info.file_size:,} bytes; shape {shape} of {stored} needs "
                f"{found.offset + found.nbytes:,}",
                fix="write the file again: it is cut off, or its header is wrong",
            )
        return found

    def load(self, member: Member) -> Array:
        """Return a whole array."""
        order = "F" if member.fortran else "C"
        values = np.empty(member.shape, member.stored, order=order)  # type: ignore[call-overload]
        with self.open(member.name) as file:
            file.seek(member.offset)
            label = f"{self.label}, array {member.name!r}"
            # reshape in the order of the file is a view, so this fills `values`.
            fill(file, values.reshape(-1, order=order), label)
        return values

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member for reading; what the archive gets wrong is refused in three lines."""
        with (
            self._refusing(f", array {name!r}"),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self.members[name]) as file,
        ):
            yield file

    def _check_ratio(self, info: zipfile.ZipInfo, label: str) -> None:
        packed = min(info.compress_size, self.path.stat().st_size)
        if info.file_size > _FREE and info.file_size > _RATIO * packed:
            raise InputError(
                "an array is packed beyond belief: this may be a zip bomb",
                got=f"{label}: {show_bytes(packed)} would become {show_bytes(info.file_size)}",
                fix="if the file is yours, save it unpacked with numpy.savez",
            )

    def _refusing(self, where: str = "") -> contextlib.AbstractContextManager[None]:
        fix = "copy or write the file again: it is damaged, or no .npz file"
        return refusing(_BROKEN, "the archive cannot be read", f"{self.label}{where}", fix)


_SMALL = 4096  # bytes of the members that only describe a matrix


@final
class PackedRows(csr.CsrSource):
    """A CSR matrix written by `scipy.sparse.save_npz`; values and columns are read in step.

    A packed member cannot be entered in its middle: a walk that begins at a later row unpacks
    what stands before it.
    """

    def __init__(self, path: Path, archive: Archive, shape: tuple[int, int]) -> None:
        self.path, self.label, self._archive, self.shape = path, path.name, archive, shape
        self._values, self._numbers = archive.describe("data"), archive.describe("indices")
        self.dtype = csr.cell_dtype(self._values.stored, self.label)
        self.nnz = csr.check_cells(
            self._values.shape, self._numbers.shape, self._numbers.stored, self.label
        )
        self.indptr = _row_pointers(archive, shape[0], self.nnz)
        self.widths = (self._values.stored.itemsize, self._numbers.stored.itemsize)

    @contextlib.contextmanager
    def _cells(self) -> Iterator[csr.Cells]:
        with self._archive.open("data") as values, self._archive.open("indices") as numbers:

            def read(lo: int, hi: int) -> tuple[Array, Array]:
                return self._part(values, self._values, lo, hi), self._part(
                    numbers, self._numbers, lo, hi
                )

            yield read

    def _part(self, file: Any, member: Member, lo: int, hi: int) -> Array:
        part = np.empty(hi - lo, member.stored)
        begin = member.offset + lo * member.stored.itemsize
        if file.tell() != begin:
            file.seek(begin)
        fill(file, part, f"{self.label}, array {member.name!r}, cells {lo} to {hi - 1}")
        return native(part, member.stored.newbyteorder("="))


class _DenseMember(FileSource):
    """Abstract: a dense table (n, p) in an archive."""

    def __init__(
        self, path: Path, archive: Archive, member: Member, columns: Any, drop: Any
    ) -> None:
        self.path, self.key = path, member.name
        self.label = f"{path.name}, array {member.name!r}"
        self.dtype = block_dtype(member.stored, self.label)
        self.shape = self.stored_shape = table_shape(member.shape, self.label)
        self._archive, self._member = archive, member
        self._choose(None, columns, drop)


@final
class PackedTable(_DenseMember):
    """A dense table (n, p) in an archive, unpacked row by row."""

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: whole rows are read, whatever the columns; unpacked."""
        return self._member.nbytes

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        member = self._member
        with self._archive.open(member.name) as file:
            yield from stored_rows(self, file, member.offset, member.stored, rows, start)


@final
class HeldTable(_DenseMember):
    """A dense table that had to be loaded whole, since its columns stand one by one."""

    def __init__(
        self, path: Path, archive: Archive, member: Member, columns: Any, drop: Any
    ) -> None:
        super().__init__(path, archive, member, columns, drop)
        csr.refuse_what_does_not_fit(member.nbytes, self.label, "Fortran")
        self._table = native(archive.load(member), self.dtype)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for at in range(start, self.shape[0], rows):
            part = self._table[at : at + rows]
            yield np.array(part if self.at is None else part[:, self.at], order="C")


def open_npz(
    path: Path, *, key: str | None = None, columns: Chosen = None, drop: Chosen = None
) -> FileSource:
    """Return the rows of a .npz archive: a sparse matrix of SciPy, or a dense table.

    CSR and dense tables in C order are read block by block; CSC, COO and Fortran order are
    loaded whole, where they fit into half of the free memory.

    Parameters
    ----------
    path : path
        The file.
    key : str or None
        Which array, where there are several and they are no sparse matrix.
    columns, drop : iterable of int, or None
        Positions of the columns to use, or not to use; of dense tables only.
    """
    archive = Archive(path)
    if "format" not in archive.members:
        member = archive.describe(_only(archive) if key is None else key)
        kind = HeldTable if member.fortran else PackedTable
        return kind(path, archive, member, columns, drop)
    if key is not None or columns is not None or drop is not None:
        raise InputError(
            "a sparse matrix in an archive takes no options",
            got=f"{path.name}: key={key!r}, columns={columns!r}, drop={drop!r}",
            fix="choose its columns before it is saved, X[:, columns]",
        )
    order = _word(archive)
    if order not in {"csr", "csc", "coo"}:
        raise InputError(
            "sparse matrices are read in CSR, CSC and COO order",
            got=f"{path.name}: {order!r}",
            fix="save it by rows, X.tocsr()",
        )
    shape = _shape(archive)
    if order == "csr":
        return PackedRows(path, archive, shape)
    held = _by_columns if order == "csc" else _by_cells
    return csr.HeldRows(path, path.name, held(archive, shape))


def _only(archive: Archive) -> str:
    names = list(archive.members)
    if len(names) != 1:
        raise InputError(
            "the archive must hold one array, or say which with key=",
            got=f"{archive.label}: {len(names)} arrays"
            + "".join(f", {name!r}" for name in names[:8]),
            fix="pass key=" + (repr(names[0]) if names else "the name of an array"),
        )
    return names[0]


def _small(archive: Archive, name: str, kinds: str) -> Array:
    member = archive.describe(name)
    if member.nbytes > _SMALL or member.stored.kind not in kinds:
        raise InputError(
            f"the member {name!r} of a sparse matrix is not what SciPy writes",
            got=f"{archive.label}, array {name!r}: {member.stored} of shape {member.shape}",
            fix="write the file again with scipy.sparse.save_npz",
        )
    return archive.load(member)


def _word(archive: Archive) -> str:
    word = _small(archive, "format", "SU").reshape(-1)[:1].tolist()
    first = word[0] if word else ""
    return first.decode("latin-1") if isinstance(first, bytes) else str(first)


def _shape(archive: Archive) -> tuple[int, int]:
    sides = [int(side) for side in _small(archive, "shape", "iu").reshape(-1)]
    return table_shape(sides, archive.label)


def _row_pointers(archive: Archive, n: int, nnz: int) -> Array:
    member = archive.describe("indptr")
    if member.shape != (n + 1,):
        # Before it is unpacked: a shape that does not fit is told by the header alone.
        csr.row_pointers(np.empty((0,), member.stored), n, nnz, archive.label)
    return csr.row_pointers(archive.load(member), n, nnz, archive.label)


def _loaded(archive: Archive, names: tuple[str, ...], kind: str) -> tuple[list[Array], int]:
    """Return values and numbers, which must be lists of one length, and that length."""
    members = [archive.describe(name) for name in names]
    nnz = 0
    for member in members[1:]:
        nnz = csr.check_cells(members[0].shape, member.shape, member.stored, archive.label)
    csr.refuse_what_does_not_fit(3 * sum(m.nbytes for m in members), archive.label, kind)
    dtype = csr.cell_dtype(members[0].stored, archive.label)
    arrays = [archive.load(member) for member in members]
    arrays = [native(array, array.dtype.newbyteorder("=")) for array in arrays]
    return [arrays[0].astype(dtype, copy=False), *arrays[1:]], nnz


def _by_columns(archive: Archive, shape: tuple[int, int]) -> Any:
    (data, indices), nnz = _loaded(archive, ("data", "indices"), "CSC")
    ends = _row_pointers(archive, shape[1], nnz)
    check_places(indices, shape[0], ends, f"{archive.label}, by columns, column")
    return scipy.sparse.csc_array((data, indices, ends), shape=shape)


def _by_cells(archive: Archive, shape: tuple[int, int]) -> Any:
    (data, row, col), nnz = _loaded(archive, ("data", "row", "col"), "COO")
    each = np.arange(nnz + 1)
    check_places(row, shape[0], each, f"{archive.label}, row numbers, cell")
    check_places(col, shape[1], each, f"{archive.label}, column numbers, cell")
    return scipy.sparse.coo_array((data, (row, col)), shape=shape)
