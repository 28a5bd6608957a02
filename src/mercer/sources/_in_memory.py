"""Arrays and sparse matrices that are already in memory; nothing is copied.

An array in memory, walked block by block like a file.

What people pass that is neither an array nor a frame: read as one, or refused.
"""

import contextlib
import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import (
    Array,
    as_numpy,
    asarray_like,
    detached,
    is_numpy,
    is_objects,
    is_sparse,
    namespace,
)
from mercer.errors import InputTypeError
from mercer.sources._block_source import BlockSource, FileIds, Source, add_cells, bad_cell
from mercer.sources.files._file_source import ids_of

_MAPS = Path("/proc/self/maps")  # of Linux; elsewhere only NumPy's own maps are known
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
        if is_numpy(array):
            self.dtype = array.dtype
        else:  # "torch.float32", "float32"
            self.dtype = np.dtype(str(array.dtype).rsplit(".", maxsplit=1)[-1])

    def files(self) -> FileIds:
        """See `Source.files`: those that are mapped in memory."""
        return ids_in_memory(self.array)

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`."""
        if among is None and is_numpy(self.array):
            every = max(1, -(-self.shape[0] // count))
            some = self.array if every == 1 else np.array(self.array[::every])
            return np.asarray(some, self.products)
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

    def files(self) -> FileIds:
        """See `Source.files`: those that are mapped in memory."""
        return ids_in_memory(self.array)

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
        self._bytes, self._held_in = source.nbytes, source.files
        self.elsewhere = isinstance(self.held, np.memmap)  # else there is nothing to fetch

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self._bytes

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for at in range(start, self.shape[0], rows):
            yield self.held[at : at + rows]

    def files(self) -> FileIds:
        """See `Source.files`: those of the source in memory."""
        return self._held_in()

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: as for an array that is not walked by blocks."""
        return super().place(row, column).removeprefix(f"{self.label}, ")

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: shape, type and every byte."""
        digest = hashlib.sha256(f"{self.shape} {self.dtype} {self.nnz}".encode())
        for at in range(0, self.shape[0], _HASHED):
            add_cells(digest, self.held[at : at + _HASHED])
        return digest.hexdigest()


# What makes an object an array for NumPy; others it would walk cell by cell.
_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__", "to_numpy")
_FIX = "pass an array or a frame of these numbers"
_OTHERS = {  # by library: what holds the rows of such an object
    "anndata": "pass X.X, or call mercer.dropin.scanpy_pca(X), which writes obsm and varm",
    "mudata": "pass one table, X.mod[name].X",
    "xarray": "pass one table of two dimensions: X.data, or X[name].data",
    "h5py": "pass one table, X[name], or mercer.scan(path, key=name)",
    "zarr": "pass one table, X[name], or mercer.scan(path, key=name)",
}


def plain_form(data: Any) -> Any:
    """Return rows as arrays or frames that everything reads; others are refused by name.

    Tensors of torch come without their gradients, batches of Arrow as tables, tables of
    xarray as frames with the names of their columns. What NumPy would walk cell by cell, as
    it does with whatever can be indexed, is refused at once.
    """
    kind = type(data)
    if kind is np.ndarray:
        return data
    library = kind.__module__.partition(".")[0]
    if library == "pyarrow" and kind.__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([data])
    if library == "xarray" and getattr(data, "ndim", 0) == 2 and not _is_lazy(data):
        return data.to_pandas()
    if library in _OTHERS and (isinstance(data, Mapping) or not is_table_like(data)):
        raise other_object(data)
    return detached(data)


def is_table_like(data: Any) -> bool:
    """Tell whether NumPy makes an array of `data` without asking it for every cell."""
    if isinstance(data, Sequence | Number) or is_sparse(data):
        return True
    return any(hasattr(data, name) for name in _ARRAYS)


def other_object(data: Any, what: str = "X must be a table of numbers") -> InputTypeError:
    """Return the refusal of an object that is no table, and what of it to pass instead."""
    library = type(data).__module__.partition(".")[0]
    shape = getattr(data, "shape", None)
    fix = _OTHERS.get(library, _FIX)
    if isinstance(data, Mapping) and "data" in data:
        fix = 'pass its table, X["data"]'
    return InputTypeError(
        what,
        got=type(data).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else ""),
        fix=fix,
    )


def _is_lazy(data: Any) -> bool:
    graph = getattr(data, "__dask_graph__", None)
    return graph is not None and graph() is not None


def dense_frame(frame: Any) -> Any:
    """Return a frame of pandas with its sparse columns as dense ones; others as they are."""
    kinds: Any = frame.dtypes if hasattr(frame, "iloc") and hasattr(frame, "columns") else ()
    if not any(map(_is_sparse, kinds)):
        return frame
    sparse = {name: kind.subtype for name, kind in kinds.items() if _is_sparse(kind)}
    return frame.astype(sparse)


def csr_of(frame: Any) -> Any:
    """Return a frame of pandas as a CSR array, where every column is sparse and empty is zero.

    Of any other frame nothing, None. Cells are float32 where all are, else float64.
    """
    kinds = list(getattr(frame, "dtypes", ())) if hasattr(frame, "iloc") else []
    if not kinds or not all(_is_sparse(kind) and kind.fill_value == 0 for kind in kinds):
        return None
    if any(kind.subtype.kind not in "biuf" for kind in kinds):
        return None
    import scipy.sparse

    dtype = np.float32 if all(kind.subtype == np.float32 for kind in kinds) else np.float64
    columns = [frame.iloc[:, at].array for at in range(len(kinds))]
    data = [np.asarray(column.sp_values, dtype) for column in columns]
    places = [column.sp_index.to_int_index().indices for column in columns]
    ends = np.cumsum([0, *map(len, data)])
    whole = (np.concatenate(data), np.concatenate(places), ends)
    return scipy.sparse.csc_array(whole, shape=frame.shape).tocsr()


def _is_sparse(kind: Any) -> bool:
    """Tell whether a type of pandas is that of a sparse column, without importing pandas."""
    return type(kind).__name__ == "SparseDtype"


def ids_in_memory(rows: Any) -> FileIds:
    """Return the files that are mapped where an array, or the columns of a frame, lies."""
    parts = () if isinstance(rows, np.ndarray) else ("data", "indices", "indptr")
    arrays = [rows, *(getattr(rows, part, None) for part in parts)]  # those of a sparse matrix
    if hasattr(rows, "iloc") and type(rows).__module__.partition(".")[0] == "pandas":
        plain = [one for _, one in rows.items() if isinstance(one.dtype, np.dtype)]
        arrays = [np.asarray(one) for one in plain]
    names, places = set[str](), set[int]()
    for array in arrays:
        if hasattr(array, "data_ptr"):  # of torch
            with contextlib.suppress(RuntimeError):  # which is sparse
                places.add(array.data_ptr())
        while isinstance(array, np.ndarray):
            places.add(array.__array_interface__["data"][0])
            if isinstance(array, np.memmap) and array.filename is not None:
                names.add(os.fspath(array.filename))
            array = array.base
    return ids_of(names | _mapped(places))


def _mapped(places: set[int]) -> set[str]:
    """Return the files that are mapped at these places of memory."""
    found, known = set[str](), sorted(places)
    with contextlib.suppress(OSError):
        for line in _MAPS.read_text(errors="surrogateescape").splitlines() if places else ():
            span, _, _, _, inode, *name = line.split(maxsplit=5)
            low, high = (bisect_left(known, int(end, 16)) for end in span.split("-"))
            if inode != "0" and name and low < high:
                found.add(name[0])
    return found
