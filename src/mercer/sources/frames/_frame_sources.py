"""Frames of pandas, polars, pyarrow and duckdb, lazy ones too.

Completed rows in the form in which they were given.

Frames that are computed when they are read: polars' lazy frames, relations of duckdb.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError, NotSupportedError
from mercer.sources._block_source import FileIds, Source
from mercer.sources._column_choice import choose_columns, text_of
from mercer.sources._in_memory import (
    ArrayBlocks,
    SparseSource,
    csr_of,
    dense_frame,
    ids_in_memory,
    plain_form,
)
from mercer.sources.files._file_source import ids_of, ids_within, matching
from mercer.sources.frames._numeric_columns import Cells, stored_types
from mercer.sources.frames._table_source import SLICE, TableSource, columns_at, readable, spread

_MARKED = 1024  # rows that a fingerprint looks at in one go


def is_lazy(data: Any) -> bool:
    """Tell whether `data` is a frame that is computed when it is read."""
    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)
    except DuplicateError:
        return False  # refused when it is opened


def open_frame(data: Any, *, columns: Any = None, drop: Any = None) -> Source | None:
    """Return the source of a frame, or None where `data` is no frame.

    Parameters
    ----------
    data : frame
        Of pandas, polars or pyarrow, or any other that narwhals holds in memory; or lazy: a
        polars LazyFrame or a duckdb relation, which is computed anew in every walk.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    frame = as_frame(data)
    if isinstance(frame, nw.DataFrame):
        sparse = csr_of(frame.to_native())
        if sparse is not None:
            return _open_sparse(sparse, frame.columns, columns, drop)
        return FrameSource(frame, columns, drop)
    if isinstance(frame, nw.LazyFrame):
        return open_lazy(frame, columns, drop)
    return None


def _open_sparse(rows: Any, names: Sequence[Any], columns: Any, drop: Any) -> ArrayBlocks:
    """Return the source of the cells (n, p) of a frame whose columns are all sparse."""
    label = "pandas frame of sparse columns"
    called = [text_of(name) for name in names]
    chosen = choose_columns(called, [None] * len(called), columns, drop, label)
    used = rows if chosen.names == tuple(called) else rows[:, list(chosen.at)]
    source = ArrayBlocks(SparseSource(used), chosen.names)
    source.label, source.dropped = label, chosen.dropped
    return source


def as_frame(data: Any) -> Any:
    """Return `data` as narwhals wraps it, or as it is where it is no frame."""
    data = plain_form(data)
    try:
        return nw.from_native(data, pass_through=True)
    except DuplicateError as error:
        said = " ".join(str(error).split())
        raise InputError(
            "column names must be unique",
            got=f"{type(data).__module__.split('.')[0]} frame: {said}",
            fix="rename the columns",
        ) from error


@final
class FrameSource(TableSource):
    """A frame in memory: every block is made from a slice of it, which copies nothing else."""

    def __init__(self, frame: "nw.DataFrame[Any]", columns: Any, drop: Any) -> None:
        self._frame = frame
        label = f"{frame.implementation.name.lower()} frame"
        seen = dense_frame(frame[:0].to_native())
        schema = nw.from_native(seen, eager_only=True).schema
        self._adopt(Cells(schema, stored_types(seen), columns, drop, label), len(frame))

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for at in range(start, self.shape[0], rows):
            yield self.cells.block(self._frame[at : at + rows].to_native())

    def files(self) -> FileIds:
        """See `Source.files`: those mapped where the columns lie."""
        return ids_in_memory(self._frame.to_native())

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: shape, names, and every cell."""
        digest = hashlib.sha256(repr((self.shape, self.names, str(self.dtype))).encode())
        for block in self._read(_MARKED, 0):
            digest.update(np.ascontiguousarray(block).tobytes())
        return digest.hexdigest()


def like_given(given: Any, rows: Any) -> Any:
    """Return rows (n, p) in the form of `given`, whose missing cells they fill.

    In a frame only columns with a missing cell are replaced, so that whole numbers, the order
    of the columns, and the index of pandas stay. Arrays, lists and sparse matrices come back
    as the rows are.
    """
    given = plain_form(given)
    frame = by_place(given)
    if not isinstance(frame, nw.DataFrame):
        return rows
    seen = as_frame(dense_frame(frame.to_native()))
    own = nw.get_native_namespace(frame)
    fresh = []
    for at, name in enumerate(frame.columns):
        column = seen[name]
        kind = column.dtype
        gaps = column.is_null().to_numpy()
        if kind.is_float():
            gaps = gaps | column.is_nan().fill_null(False).to_numpy()
        if gaps.any():
            dtype = kind if kind.is_float() else nw.Float64()
            cells = rows[:, [at]].toarray()[:, 0] if is_sparse(rows) else rows[:, at]
            cells = np.ascontiguousarray(cells)
            fresh.append(nw.new_series(name, cells, dtype, backend=own))
    return renamed(frame.with_columns(*fresh), given) if fresh else given


def by_place(given: Any) -> Any:
    """Return a frame as narwhals wraps it, columns of pandas called "0", "1", …; else as it is.

    Numbers, dates and tuples are names there that nobody else takes for names.
    """
    if hasattr(given, "set_axis") and hasattr(given, "columns"):
        given = given.set_axis([str(at) for at in range(given.shape[1])], axis=1)
    return as_frame(given)


def renamed(frame: "nw.DataFrame[Any]", given: Any) -> Any:
    """Return what was made of `by_place`, with the names of the columns that were given."""
    native = frame.to_native()
    return native.set_axis(given.columns, axis=1) if hasattr(given, "set_axis") else native


# How queries name their files: polars in its plan, duckdb in its SQL.
_SCANNED = re.compile(r"SCAN \[(.+)\]$", re.MULTILINE)
_QUOTED = re.compile("'((?:[^']|'')+)'")
_LAZY_MARKED = 64  # rows that a fingerprint looks at


def open_lazy(frame: "nw.LazyFrame[Any]", columns: Any, drop: Any) -> TableSource:
    """Return the source of a lazy frame. Its rows are counted, which may run its query."""
    native, kind = frame.to_native(), frame.implementation
    if kind not in {nw.Implementation.POLARS, nw.Implementation.DUCKDB}:
        raise NotSupportedError(
            "lazy frames of this library are not read",
            got=f"{kind.name.lower()}, {type(native).__name__}",
            fix="write it as Parquet, and scan that",
        )
    opener = PolarsSource if kind is nw.Implementation.POLARS else DuckdbSource
    with readable(opener.label, "its query"):
        schema = frame.collect_schema()
    return opener(native, schema, columns, drop)


@final
class PolarsSource(TableSource):
    """A lazy frame of polars, run anew in every walk; its order of rows must not change."""

    recognisable = False  # what a query gives is known only when it has run

    label = "polars lazy frame"
    rate = 2e8

    def __init__(self, lazy: Any, schema: Mapping[str, Any], columns: Any, drop: Any) -> None:
        import polars as pl

        self._lazy = lazy
        cells = Cells(schema, stored_types(lazy), columns, drop, self.label)
        with readable(self.label, "its query"):
            n = int(lazy.select(pl.len()).collect().item())
        self._adopt(cells, n)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        return self._whole(self._blocks(rows, start), start)

    def _blocks(self, rows: int, start: int) -> Iterator[Array]:
        every = range(len(self.names))
        with readable(self.label, "its query"):
            for frame in self._frames(rows, start):
                yield self.cells.block(frame, every)

    def _frames(self, rows: int, start: int) -> Iterator[Any]:
        chosen = columns_at(self._lazy, self.cells.at)
        if hasattr(chosen, "collect_batches"):  # since polars 1.34
            yield from chosen.slice(start).collect_batches(chunk_size=rows, maintain_order=True)
        else:
            yield from spread(self.cells.at, self._lazy, start, self.shape[0], rows)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: the query, the shape, and the first rows."""
        with readable(self.label, "its query"):
            head = columns_at(self._lazy, self.cells.at).head(_LAZY_MARKED).collect()
            query = self._lazy.explain(optimized=False)
        return _mark(query, self, self.cells.block(head, range(len(self.names))))

    def files(self) -> FileIds:
        """See `Source.files`: those that the query scans."""
        with readable(self.label, "its query"):
            scanned = _SCANNED.findall(self._lazy.explain(optimized=False))
        found = _ids_named(name for said in scanned for name in (said, *said.split(", ")))
        for said in scanned:
            if ", ... " in said:  # only the first of many is named: all beside it count
                first = Path(said.partition(", ... ")[0])
                found |= ids_of(first.parent.glob(f"*{first.suffix}"))
        return found


@final
class DuckdbSource(TableSource):
    """A relation of duckdb, run anew in every walk; one walk at a time."""

    recognisable = False  # what a query gives is known only when it has run

    label = "duckdb relation"
    rate = 1e8

    def __init__(
        self, relation: Any, schema: Mapping[str, Any], columns: Any, drop: Any
    ) -> None:
        cells = Cells(schema, stored_types(relation), columns, drop, self.label)
        kind = "FLOAT" if cells.dtype == np.float32 else "DOUBLE"
        quoted = ['"' + name.replace('"', '""') + '"' for name in cells.names]
        self._query = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name in quoted)
        self._relation = relation
        with readable(self.label, "its query"):
            n = int(relation.aggregate("count(*)").fetchall()[0][0])
        self._adopt(cells, n)

    def _asked(self) -> Any:
        """Return a new relation of the columns that are used: one holds but one result."""
        return self._relation.project(self._query)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        return self._whole(self._blocks(rows, start), start)

    def _blocks(self, rows: int, start: int) -> Iterator[Array]:
        try:
            import pyarrow as pa
        except ImportError:
            yield from self._slices(rows, start)
            return
        every = range(len(self.names))
        with readable(self.label, "its query"):
            relation = self._asked().limit(self.shape[0], start) if start else self._asked()
            # The first name is that of duckdb 1.4 and later.
            make = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            with make(rows) as reader:
                for batch in reader:
                    yield self.cells.block(pa.Table.from_batches([batch]), every)

    def _slices(self, rows: int, start: int) -> Iterator[Array]:
        """Yield blocks without pyarrow: every slice runs the query again up to its end."""
        step = max(rows, SLICE // (8 * len(self.names)))
        for at in range(start, self.shape[0], step):
            with readable(self.label, "its query"):
                found = self._asked().limit(step, at).fetchnumpy()
            yield self.cells.said(
                np.stack([np.ma.filled(c, np.nan) for c in found.values()], axis=1)
            )

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: the query, the shape, and the first rows."""
        with readable(self.label, "its query"):
            head = self._asked().limit(_LAZY_MARKED).fetchnumpy()
            query = self._asked().sql_query()
        rows = np.stack([np.ma.filled(c, np.nan) for c in head.values()], axis=1)
        return _mark(query, self, rows)

    def files(self) -> FileIds:
        """See `Source.files`: those that the text of the query names."""
        with readable(self.label, "its query"):
            quoted = _QUOTED.findall(self._relation.sql_query())
        return _ids_named(name.replace("''", "'") for name in quoted)


def _ids_named(names: Iterable[str]) -> FileIds:
    """Return the files of these names and patterns."""
    found: FileIds = frozenset()
    for path in map(Path, names):
        with contextlib.suppress(OSError, ValueError):  # text of a query need be no path
            found |= ids_within([path] if path.exists() else matching(path))
    return found


def _mark(query: str, source: TableSource, rows: Array) -> str:
    said = (query, source.shape, source.names, str(source.dtype))
    digest = hashlib.sha256(repr(said).encode())
    digest.update(np.ascontiguousarray(rows).tobytes())
    return digest.hexdigest()
