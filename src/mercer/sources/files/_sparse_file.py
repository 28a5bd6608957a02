"""Sparse rows of a file: row pointers in memory, cells read in step with the rows."""

import abc
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array, available_bytes, check_places, check_pointers, show_bytes
from mercer.errors import BudgetError, InputError
from mercer.sources.files._file_source import FileSource, block_dtype, native

Cells = Callable[[int, int], tuple[Array, Array]]


class CsrSource(FileSource):
    """Abstract: compressed sparse rows, handed out as CSR arrays.

    Row i holds the cells indptr[i] to indptr[i + 1] - 1: value data[c] in column indices[c].
    In memory are the n + 1 row pointers and the cells of one block. Cells that stand twice in
    a row are summed. `nnz` counts the cells of the file, so before that.

    Attributes
    ----------
    indptr : array of int64, shape (n + 1,)
        Row pointers, checked.
    widths : tuple of int
        Bytes of one value and of one column number in the file.
    """

    indptr: Any
    widths: tuple[int, int] = (8, 4)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: values, column numbers and row pointers."""
        return int(self.nnz or 0) * sum(self.widths) + int(self.indptr.nbytes)

    @abc.abstractmethod
    def _cells(self) -> contextlib.AbstractContextManager[Cells]:
        """Return what reads values and column numbers of cells lo to hi - 1, in order."""

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        n, p = self.shape
        with self._cells() as read:
            for at in range(start, n, rows):
                ends = self.indptr[at : at + rows + 1]
                data, indices = read(int(ends[0]), int(ends[-1]))
                check_places(indices, p, ends, f"{self.label}, row", first=at)
                shape = (len(ends) - 1, p)
                data = native(data, data.dtype.newbyteorder("="))
                block = scipy.sparse.csr_array(
                    (data.astype(self.dtype, copy=False), indices, ends - ends[0]), shape=shape
                )
                block.sum_duplicates()
                yield block


@final
class HeldRows(CsrSource):
    """Sparse rows that had to be loaded whole, since the file holds them in another order.

    Here `nnz` counts the cells after those that stand twice are summed.
    """

    def __init__(self, path: Path, label: str, matrix: Any, key: str | None = None) -> None:
        matrix = matrix.tocsr()
        matrix.sum_duplicates()
        self.path, self.label, self.key = path, label, key
        self.shape, self.dtype, self.nnz = matrix.shape, matrix.dtype, int(matrix.nnz)
        self.indptr = matrix.indptr.astype(np.int64)
        self.data, self.indices = matrix.data, matrix.indices
        self.widths = (self.data.itemsize, self.indices.itemsize)

    @contextlib.contextmanager
    def _cells(self) -> Iterator[Cells]:
        # Copies: a block is the reader's own.
        yield lambda lo, hi: (self.data[lo:hi].copy(), self.indices[lo:hi].copy())


def cell_dtype(stored: np.dtype[Any], label: str) -> np.dtype[Any]:
    """Return the type of sparse values: floats stay, integers and booleans become float64."""
    dtype = block_dtype(stored, label)
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


def row_pointers(indptr: Array, n: int, nnz: int, label: str) -> Array:
    """Return row pointers as int64, or refuse those that do not cut `nnz` cells into n rows."""
    check_pointers(indptr, n, nnz, label, exact=True)
    return native(indptr, indptr.dtype.newbyteorder("=")).astype(np.int64, copy=False)


def check_cells(
    data: tuple[int, ...], indices: tuple[int, ...], kind: np.dtype[Any], label: str
) -> int:
    """Return the number of stored cells, or refuse values and numbers that do not pair."""
    if len(data) != 1 or data != indices or kind.kind not in "iu":
        raise InputError(
            "values and column numbers must be two lists of one length",
            got=f"{label}: data of shape {data}, indices of shape {indices} and type {kind}",
            fix="the file is damaged: write it again",
        )
    return int(data[0])


def refuse_what_does_not_fit(needed: int, label: str, kind: str) -> None:
    """Refuse to load `needed` bytes where that is more than half of the free memory."""
    free = available_bytes()
    if needed > free // 2:
        raise BudgetError(
            f"a sparse matrix in {kind} order must be loaded whole, and does not fit",
            got=f"{label}: {show_bytes(needed)}; {show_bytes(free)} are free",
            fix="save it by rows, X.tocsr()",
        )
