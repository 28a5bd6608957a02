"""Arrays and sparse matrices that are already in memory; nothing is copied.

An array in memory, walked block by block like a file.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, as_numpy, asarray_like, is_numpy, is_objects, namespace
from mercer.sources._block_source import BlockSource, Source, add_cells, bad_cell

_CHECK_ROWS = 4096  # rows looked at in one go when a bad cell is searched


def _spread(n: int, count: int, among: Any) -> Any:
    """Return at most `count` evenly spaced row numbers out of `n`, or out of `among`."""
    rows = np.arange(n) if among is None else np.asarray(among)
    return rows[:: max(1, -(-len(rows) // count))]


def in_memory(rows: Any) -> "DenseSource | SparseSource | ObjectSource":
    """Return the source of an array or a sparse matrix, memory maps included, as it is."""
    if is_objects(rows):
        return ObjectSource(rows)
    return SparseSource(rows.tocsr()) if hasattr(rows, "tocsr") else DenseSource(rows)


@final
class DenseSource(Source):
    """A two-dimensional array (n, p) of any library; integers stay integers until used."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        name = str(array.dtype).rsplit(".", maxsplit=1)[-1]  # "torch.float32", "float32"
        self.dtype = np.dtype(name) if not is_numpy(array) else array.dtype

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`."""
        rows = _spread(self.shape[0], count, among)
        if is_numpy(self.array):
            return np.asarray(self.array[rows, :], dtype=self.products)
        xp = namespace(self.array)
        return xp.take(self.array, asarray_like(rows, self.array, xp.int64), axis=0)

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`."""
        if self.dtype.kind != "f":
            return None
        xp = namespace(self.array)
        for start in range(0, self.shape[0], _CHECK_ROWS):
            block = self.array[start : min(start + _CHECK_ROWS, self.shape[0]), :]
            bad = ~as_numpy(xp.isfinite(block))
            if bad.any():
                row, column = (int(i) for i in np.argwhere(bad)[0])
                return start + row, column, float(block[row, column])
        return None


@final
class SparseSource(Source):
    """A SciPy CSR matrix or array (n, p)."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = array.dtype
        self.nnz = int(array.nnz)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        a = self.array
        return int(a.data.nbytes + a.indices.nbytes + a.indptr.nbytes)

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`."""
        rows = _spread(self.shape[0], count, among)
        return np.asarray(self.array[rows].toarray(), dtype=self.products)

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`."""
        return bad_cell(self.array)


@final
class ObjectSource(Source):
    """Things of any kind, (n,): a kernel makes numbers of them. They count as one column."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shape = (len(array), 1)
        self.dtype = array.dtype

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`; they stay what they are."""
        return self.array[_spread(self.shape[0], count, among)]

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`: there are no cells."""
        return None


_HASHED = 4096  # rows that go into the fingerprint at a time


@final
class ArrayBlocks(BlockSource):
    """The rows of a source in memory, handed out in blocks without a copy.

    Parameters
    ----------
    source : Source
        Rows of an array or a CSR matrix.
    names : sequence of str or None
        Column names.
    """

    label = "an array"

    def __init__(self, source: Source, names: Any = None) -> None:
        self.held = source.array
        self.names = None if names is None else tuple(str(name) for name in names)
        self.shape, self.dtype, self.nnz = source.shape, source.dtype, source.nnz
        self._bytes = source.nbytes
        self.elsewhere = isinstance(self.held, np.memmap)  # else there is nothing to fetch

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self._bytes

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for at in range(start, self.shape[0], rows):
            yield self.held[at : at + rows]

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: as for an array that is not walked by blocks."""
        return super().place(row, column).removeprefix(f"{self.label}, ")

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: shape, type and every byte."""
        digest = hashlib.sha256(f"{self.shape} {self.dtype} {self.nnz}".encode())
        for at in range(0, self.shape[0], _HASHED):
            add_cells(digest, self.held[at : at + _HASHED])
        return digest.hexdigest()
