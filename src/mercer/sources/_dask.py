"""Dask arrays and frames, as rows in parts."""

import dataclasses
import math
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._cells import Cells, stored_types
from mercer.sources._dask_graph import run_tree
from mercer.sources._scan import is_spread
from mercer.sources._spread import PartBlocks, SpreadSource, Work, checked_counts

_FORECAST = 100_000  # rows of a part that Dask does not know the length of


def open_dask(data: Any, *, columns: Any = None, drop: Any = None) -> "DaskSource":
    """Return the source of a Dask array or frame; nothing is computed.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
        Any chunks, of rows and of columns, of known or unknown size; chunks of arrays or of
        SciPy sparse matrices.
    columns, drop : names or positions, or None
        For frames: columns to use, or not to use; None uses all that hold numbers.
    """
    if not hasattr(data, "chunks"):
        return _of_frame(data, columns, drop)
    if columns is not None or drop is not None:
        raise InputError(
            "columns of a Dask array are chosen by slices",
            got=f"columns={columns!r}, drop={drop!r}",
            fix="pass X[:, [0, 2]]",
        )
    return _of_array(data)


@final
class DaskSource(SpreadSource):
    """Rows of a Dask collection; a part is one row of its chunks.

    Parameters
    ----------
    collection : dask array or frame
        Where the rows are.
    reader : Reader
        Turns the chunks of a part into its rows, on a worker.
    shape : tuple of int
        (n, p); n is a forecast where `lengths` are unknown.
    lengths : tuple of int or None
        Rows of every part, where Dask knows them.
    nnz : int or None
        A forecast of stored cells where chunks are sparse.
    """

    def __init__(
        self,
        collection: Any,
        reader: "Reader",
        shape: tuple[int, int],
        lengths: tuple[int, ...] | None,
        nnz: int | None,
    ) -> None:
        self.collection, self.reader = collection, reader
        self.shape, self.dtype, self.nnz = shape, reader.dtype, nnz
        self.lengths, self.counted = lengths, lengths is not None
        self.names, self.dropped = reader.names, reader.dropped
        self.label = reader.label
        self.parts = int(
            collection.numblocks[0] if reader.cells is None else collection.npartitions
        )
        longest = max(lengths, default=0) if lengths else -(-shape[0] // max(1, self.parts))
        row = shape[1] * self.dtype.itemsize if nnz is None else 12.0 * nnz / max(1, shape[0])
        self.part_bytes = float(longest * row)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        cells = self.shape[0] * self.shape[1] if self.nnz is None else self.nnz
        return int(cells * (self.dtype.itemsize if self.nnz is None else 12))

    def chunks(self) -> list[list[Any]]:
        """Return the delayed chunks of every part, from left to right."""
        found = self.collection.to_delayed()
        return [list(np.atleast_1d(part)) for part in found]

    def reduce(self, work: Work, weights: Any = None, *, title: str = "rows") -> Any:
        """See `SpreadSource.reduce`."""
        self.walks += 1
        firsts = _firsts(self.lengths, self.parts)
        step = _Step(work, self.reader)
        lengths = None if self.lengths is None else list(self.lengths)
        rows, result = run_tree(step, self.chunks(), firsts, weights, lengths, title)
        self.shape, self.counted = (rows, self.shape[1]), True
        return result

    def weights_of(self, weights: Any) -> Any:
        """See `SpreadSource.weights_of`: a Dask array cut like the rows, or one in memory."""
        if weights is None:
            return None
        if is_spread(weights):
            return _dask_weights(weights, self)
        if self.lengths is None:
            raise InputError(
                "weights cannot be cut into parts of unknown length",
                got=f"{type(weights).__name__}, {self.label}",
                fix="pass a Dask array or series with the same parts as the rows",
            )
        counts = np.asarray(weights, dtype=np.float64)
        if counts.shape != (self.shape[0],):
            raise InputError(
                "sample_weight must hold one number per row",
                got=f"sample_weight of shape {counts.shape}, X with {self.shape[0]} rows",
                fix=f"pass an array of shape ({self.shape[0]},)",
            )
        return np.split(counts, np.cumsum(self.lengths)[:-1])

    def mapped(self, function: Any, columns: int, dtype: Any) -> Any:
        """See `SpreadSource.mapped`: a Dask array with the parts of the rows."""
        import dask
        import dask.array as da

        firsts = _firsts(self.lengths, self.parts)
        project = dask.delayed(_Step(_Mapped(function, columns, np.dtype(dtype)), self.reader))
        lengths = self.lengths or (math.nan,) * self.parts
        blocks = [
            da.from_delayed(
                dask.delayed(_rows_of_part)(project, number, firsts[number], chunks),
                (lengths[number], columns),
                dtype=dtype,
                meta=np.empty((0, columns), dtype),
            )
            for number, chunks in enumerate(self.chunks())
        ]
        return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


@dataclasses.dataclass(frozen=True)
class Reader:
    """Turns the chunks of one part into its rows.

    `cells` are the columns of a frame, None for arrays.
    """

    dtype: np.dtype[Any]
    names: tuple[str, ...] | None
    dropped: tuple[tuple[str, str], ...]
    label: str
    columns: int
    cells: Cells | None = None

    def rows(self, chunks: list[Any]) -> Any:
        """Return the rows of the chunks that stand side by side: an array, or a CSR array."""
        if self.cells is not None:
            return self.cells.block(chunks[0])
        if any(scipy.sparse.issparse(chunk) for chunk in chunks):
            whole = chunks[0] if len(chunks) == 1 else scipy.sparse.hstack(chunks)
            return scipy.sparse.csr_array(whole)
        parts = [np.asarray(chunk) for chunk in chunks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


@dataclasses.dataclass(frozen=True)
class _Step:
    """One task: the rows of a part, and the work on them. Returns (rows, result)."""

    work: Any
    reader: Reader

    def part(
        self, number: int, first: int | None, chunks: list[Any], weights: Any
    ) -> tuple[int, Any]:
        rows = PartBlocks(self.reader.rows(chunks), number, first, self.reader.names)
        if rows.shape[1] != self.reader.columns:
            raise InputError(
                "a part has another number of columns than was announced",
                got=f"part {number}: {rows.shape[1]} columns, {self.reader.columns} announced",
                fix="let every part of the collection have the same columns",
            )
        return rows.shape[0], self.work.part(rows, checked_counts(weights, rows))

    def merge(self, one: tuple[int, Any], other: tuple[int, Any]) -> tuple[int, Any]:
        return one[0] + other[0], self.work.merge(one[1], other[1])

    @property
    def ends(self) -> bool:
        return hasattr(self.work, "finish")

    def finish(self, found: tuple[int, Any]) -> tuple[int, Any]:
        return found[0], self.work.finish(found[1])


@dataclasses.dataclass(frozen=True)
class _Mapped:
    """A function of the rows of a part that gives as many rows."""

    function: Any
    columns: int
    dtype: np.dtype[Any]

    def part(self, rows: PartBlocks, weights: Array | None) -> Array:
        if rows.shape[0] == 0:
            return np.empty((0, self.columns), self.dtype)
        return np.asarray(self.function(rows), self.dtype)

    def merge(self, one: Any, other: Any) -> Any:
        raise NotImplementedError


def _rows_of_part(step: _Step, number: int, first: int | None, chunks: list[Any]) -> Array:
    return np.asarray(step.part(number, first, chunks, None)[1])


def _of_array(data: Any) -> DaskSource:
    if data.ndim != 2:
        raise InputError(
            "a Dask array must have rows and columns",
            got=f"an array of {data.ndim} dimensions",
            fix="reshape it: X.reshape(-1, 1) for one column",
        )
    if data.dtype.kind not in "fiub":
        raise InputError(
            "every cell must be a number",
            got=f"a Dask array of {data.dtype}",
            fix="convert it: X.astype(float)",
        )
    n, p = data.shape
    if math.isnan(p):
        raise InputError(
            "the number of columns must be known",
            got=f"a Dask array of shape {data.shape}",
            fix="call X.compute_chunk_sizes() first",
        )
    known = not any(math.isnan(c) for c in data.chunks[0])
    lengths = tuple(int(c) for c in data.chunks[0]) if known else None
    rows = int(n) if known else _FORECAST * data.numblocks[0]
    sparse = scipy.sparse.issparse(data._meta)
    nnz = max(1, int(0.1 * rows * p)) if sparse else None
    reader = Reader(data.dtype, None, (), "a Dask array", int(p))
    return DaskSource(data, reader, (rows, int(p)), lengths, nnz)


def _of_frame(data: Any, columns: Any, drop: Any) -> DaskSource:
    frame = nw.from_native(data._meta, eager_only=True)
    cells = Cells(frame.schema, stored_types(data._meta), columns, drop, "a Dask frame")
    p = len(cells.at)
    reader = Reader(cells.dtype, cells.names, cells.dropped, cells.label, p, cells)
    return DaskSource(data, reader, (_FORECAST * data.npartitions, p), None, None)


def _firsts(lengths: tuple[int, ...] | None, parts: int) -> list[int | None]:
    """Return the number of the first row of every part, or None where it is not known."""
    if lengths is None:
        return [None] * parts
    return [0, *(int(i) for i in np.cumsum(lengths)[:-1])]


def _dask_weights(weights: Any, source: DaskSource) -> list[Any]:
    found = np.atleast_1d(weights.to_delayed()).ravel().tolist()
    lengths = getattr(weights, "chunks", None)
    same = lengths is None or source.lengths is None or lengths[0] == source.lengths
    if same and len(found) == source.parts:
        return list(found)
    if source.lengths is not None and lengths is not None:
        return list(weights.rechunk((source.lengths,)).to_delayed().ravel())
    raise InputError(
        "weights must be cut into the same parts as the rows",
        got=f"{len(found)} parts of weights, {source.parts} of rows",
        fix="make both from the same frame, or rechunk one like the other",
    )
