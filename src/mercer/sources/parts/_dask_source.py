"""Dask arrays and frames, as rows in parts.

Dask collections made of a function of the rows of every part; nothing is computed.
"""

import dataclasses
from functools import cached_property
from importlib import import_module
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from mercer.arrays import one_thread, unheard
from mercer.errors import InputError
from mercer.sources._in_memory import dense_frame
from mercer.sources._repeat_counts import refuse_sum
from mercer.sources.frames._numeric_columns import (
    Cells,
    check_twins,
    stored_types,
    warn_rounded,
)
from mercer.sources.parts import _dask_chunks as chunked
from mercer.sources.parts._dask_cluster import workers
from mercer.sources.parts._dask_graph import run_tree
from mercer.sources.parts._dask_parts import MappedPart, PartMessages, Reader, Step
from mercer.sources.parts._distributed_source import SpreadSource, Work


def mapped_array(made: MappedPart, collection: Any, names: Any) -> Any:
    """Return a Dask array with the row chunks of an array; with names, a frame of it."""
    dask, da = import_module("dask"), import_module("dask.array")
    shared = dask.delayed(made, traverse=False, pure=False)  # sent once, not with every task
    numbers = da.arange(collection.numblocks[0], chunks=1)
    found = da.blockwise(
        _of_chunks,
        "i" if made.columns is None else "ik",
        collection,
        "ij",
        numbers,
        "i",
        made=shared,
        new_axes={} if made.columns is None else {"k": made.columns},
        dtype=made.dtype,
        meta=made.nothing,
        align_arrays=False,
        name="mercer-rows-" + dask.base.tokenize(collection, shared.key),
    )
    if names is None:
        return found
    return import_module("dask.dataframe").from_dask_array(found, columns=list(names))


def mapped_frame(made: MappedPart, collection: Any, names: Any) -> Any:
    """Return a Dask frame with the partitions and the index of a frame; or its array."""
    import pandas as pd

    columns = range(made.columns or 0) if names is None else list(names)
    empty = collection._meta.index[:0]
    if made.columns is None:
        meta: Any = pd.Series(made.nothing, index=empty)
    else:
        meta = pd.DataFrame(made.nothing, index=empty, columns=columns)
    found = collection.map_partitions(
        _of_partition, made, list(columns), meta=meta, enforce_metadata=False
    )
    return found.to_dask_array() if names is None else found


def _of_chunks(chunks: Any, number: Any, *, made: MappedPart) -> Any:
    with one_thread(), unheard():
        side_by_side = chunks if isinstance(chunks, list) else [chunks]
        return made(int(np.ravel(number)[0]), [side_by_side])


def _of_partition(
    native: Any, made: MappedPart, columns: list[Any], *, partition_info: Any = None
) -> Any:
    import pandas as pd

    number = 0 if partition_info is None else int(partition_info["number"])
    with one_thread(), unheard():
        rows = made(number, [[native]])
    if made.columns is None:
        return pd.Series(rows, index=native.index)
    return pd.DataFrame(rows, index=native.index, columns=columns)


_FORECAST = 100_000  # rows at most of a part that Dask does not know the length of
_USUAL = 64e6  # and its bytes
_FILLED = 0.05  # share of cells stored in sparse chunks, before they are counted
_STORED = 12.0  # bytes of a stored cell


def open_dask(data: Any, *, columns: Any = None, drop: Any = None) -> "DaskSource":
    """Return the source of a Dask array or frame; nothing is computed.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
        Any chunks, of rows and of columns, of known or unknown size; chunks of NumPy arrays
        or of sparse ones.
    columns, drop : names or positions, or None
        For frames: columns to use, or not to use; None uses all that hold numbers.
    """
    if not isinstance(getattr(data, "ndim", 0), int):  # everything of a Delayed is delayed
        raise InputError(
            "a delayed object does not say how many rows and columns it has",
            got=f"a Dask {type(data).__name__}",
            fix="pass dask.array.from_delayed(x, shape=(n, p), dtype=float)",
        )
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
    """Rows of a Dask collection; a part is one row of its chunks, or some that are small.

    Parameters
    ----------
    collection : dask array or frame
        Where the rows are.
    reader : Reader
        Turns the chunks of a part into its rows, on a worker.
    lengths : tuple of int or None
        Rows of every row of chunks, where Dask knows them.
    """

    def __init__(
        self, collection: Any, reader: Reader, lengths: tuple[int, ...] | None
    ) -> None:
        self.collection, self.reader = collection, reader
        self.dtype, self.names, self.dropped = reader.dtype, reader.names, reader.dropped
        self.label, self.counted = reader.label, lengths is not None
        pieces = _pieces(collection)
        p = reader.columns
        row = p * (_STORED * _FILLED if reader.sparse else self.dtype.itemsize)
        if lengths is None:
            self.groups = [slice(i, i + 1) for i in range(pieces)]
            self.lengths, longest = None, max(1, int(min(_FORECAST, _USUAL // max(row, 1))))
        else:
            self.groups = chunked.grouped(lengths, row, p)
            self.lengths = tuple(sum(lengths[group]) for group in self.groups)
            longest = max(self.lengths)
        self.parts = len(self.groups)
        rows = longest * pieces if self.lengths is None else sum(self.lengths)
        self.shape = (rows, p)
        self.nnz = max(1, int(_FILLED * rows * p)) if reader.sparse else None
        self.part_bytes = float(longest * row)
        self.sized = lengths is not None and not reader.sparse
        self._pieces = lengths

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return super().nbytes if self.nnz is None else int(_STORED * self.nnz)

    @cached_property
    def chunks(self) -> list[list[list[Any]]]:
        """The delayed chunks of every part: one below the other, and side by side."""
        return chunked.delayed_parts(self.collection, self.groups)

    def reduce(self, work: Work, weights: Any = None, *, title: str = "rows") -> Any:
        """See `SpreadSource.reduce`."""
        self.walks += 1
        joined = self.groups if self.groups[-1].stop > self.parts else None
        firsts = None if joined is None else tuple(group.start for group in joined)
        step = Step(work, dataclasses.replace(self.reader, blocks=firsts))
        chunks, counts = (self.chunks, None) if weights is None else weights.parts
        told = run_tree(step, chunks, counts, self.lengths, title, joined)
        if self.counted and told.rows != self.shape[0]:
            raise InputError(
                "the chunks hold another number of rows than was announced",
                got=f"{told.rows:,} rows, {self.shape[0]:,} announced",
                fix="call X.compute_chunk_sizes(), or announce the right chunks",
            )
        self._learn(told)
        if told.weighed is not None and told.rows > 1:  # fewer rows are refused as such
            refuse_sum(told.weighed[0], f"{told.rows} rows")
        return told.result

    def _learn(self, told: PartMessages) -> None:
        """Take over what a pass has counted."""
        if told.rounded and self.walks == 1:
            warn_rounded(self.label, sorted(told.rounded))
        self.shape, self.counted = (told.rows, self.shape[1]), True
        self.nnz = None if self.nnz is None else told.stored
        if not self.sized:
            self.part_bytes, self.sized = float(max(1, told.largest)), True

    def workers(self) -> dict[str, Any]:
        """See `SpreadSource.workers`."""
        return workers()

    def weights_of(self, weights: Any) -> Any:
        """See `SpreadSource.weights_of`: a Dask array cut like the rows, or one in memory."""
        if weights is None:
            return None
        fitting = chunked.fitting_weights(weights, self.groups, self.lengths, self.label)
        return chunked.PartedWeights(self, fitting)

    def mapped(self, function: Any, columns: int | None, dtype: Any, names: Any = None) -> Any:
        """See `SpreadSource.mapped`: a Dask array or frame with the chunks of the rows."""
        firsts = None
        if self._pieces is not None:
            firsts = (0, *(int(i) for i in np.cumsum(self._pieces)))
        made = MappedPart(self.reader, function, columns, np.dtype(dtype), firsts)
        if self.reader.cells is not None:
            return mapped_frame(made, self.collection, names)
        return mapped_array(made, self.collection, names)


def _pieces(collection: Any) -> int:
    blocks = getattr(collection, "numblocks", None)
    return int(collection.npartitions if blocks is None else blocks[0])


def _of_array(data: Any) -> DaskSource:
    label = "a Dask array"
    if data.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {data.ndim}D array instead",
            got=f"{label} of shape {data.shape}",
            fix="Reshape your data: X.reshape(-1, 1) for one column",
        )
    sparse = scipy.sparse.issparse(data._meta) or hasattr(data._meta, "to_scipy_sparse")
    if not sparse and not isinstance(data._meta, np.ndarray):
        raise InputError(
            "chunks must be NumPy arrays or sparse matrices",
            got=f"{label} with chunks of {type(data._meta).__module__}",
            fix="bring them to the CPU: X.map_blocks(...)",
        )
    dtype = np.dtype(data.dtype).newbyteorder("=")
    if dtype.kind not in "fiub" or (dtype.kind == "f" and dtype.itemsize not in (4, 8)):
        kind = "float64" if dtype.kind in "fO" else "float"
        real = "analyse real and imaginary parts as columns of their own"
        raise InputError(
            "every cell must be a number that float64 or float32 holds",
            got=f"{label} of {data.dtype}",
            fix=real if dtype.kind == "c" else f"convert it: X.astype({kind!r})",
        )
    if not chunked.known(data.shape[1:]):
        raise InputError(
            "the number of columns must be known",
            got=f"{label} of shape {data.shape}",
            fix="call X.compute_chunk_sizes() first",
        )
    p = int(data.shape[1])
    data = data if sparse or p == 0 else chunked.cut_anew(data)
    lengths = tuple(int(c) for c in data.chunks[0]) if chunked.known(data.chunks[0]) else None
    return DaskSource(data, Reader(dtype, None, (), label, p, sparse), lengths)


def _of_frame(data: Any, columns: Any, drop: Any) -> DaskSource:
    label = "a Dask frame"
    if getattr(data, "ndim", 0) != 2:
        kind = type(data).__name__
        raise InputError(
            "a Dask collection must have rows and columns",
            got=f"a Dask {kind.lower()}",
            fix="use X.to_frame()" if kind == "Series" else "pass a Dask array or frame",
        )
    check_twins([str(name) for name in data.columns], label)
    empty = dense_frame(data._meta)
    frame = nw.from_native(empty, eager_only=True)
    cells = Cells(frame.schema, stored_types(empty), columns, drop, label).silent()
    reader = Reader(
        cells.dtype,
        cells.names,
        cells.dropped,
        label,
        len(cells.at),
        cells=cells,
        found=tuple(str(name) for name in frame.columns),
    )
    return DaskSource(data, reader, None)
