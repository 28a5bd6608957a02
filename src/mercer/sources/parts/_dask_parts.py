"""What is done where the chunks lie: they become the rows of a part, and work is done."""

import dataclasses
import uuid
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse

from mercer.arrays import Array, as_csr
from mercer.errors import InputError
from mercer.sources._in_memory import dense_frame
from mercer.sources._repeat_counts import Sum, joined_sums, sum_of
from mercer.sources.frames._numeric_columns import Cells, stored_types
from mercer.sources.parts._distributed_source import PartBlocks, checked_counts


@dataclasses.dataclass(frozen=True)
class Reader:
    """Turns the chunks of one part into its rows.

    Parameters
    ----------
    dtype : dtype
        Of the rows, as was announced.
    names, dropped, label
        See `SpreadSource`.
    columns : int
        How many there are.
    sparse : bool
        Whether rows are CSR arrays.
    cells : Cells or None
        The columns of a frame; None for arrays.
    found : tuple of str
        All columns that partitions of a frame must have, in order.
    blocks : tuple of int or None
        The first block of every part, where some parts have several.
    """

    dtype: np.dtype[Any]
    names: tuple[str, ...] | None
    dropped: tuple[tuple[str, str], ...]
    label: str
    columns: int
    sparse: bool = False
    cells: Cells | None = None
    found: tuple[str, ...] = ()
    blocks: tuple[int, ...] | None = None

    def part(self, number: int, first: int | None, pieces: list[list[Any]]) -> PartBlocks:
        """Return the rows of the pieces, one below the other; chunks stand side by side."""
        if self.cells is not None:
            held = self._cells(number, pieces[0][0])
        else:
            rows = [self._row(self._place(number, at), row) for at, row in enumerate(pieces)]
            held = rows[0] if len(rows) == 1 else _stacked(rows)
        return PartBlocks(held, number, first, self.names, dense=not self.sparse)

    def _place(self, number: int, below: int) -> str:
        """Return what messages call a row of chunks; `below` counts those of its part."""
        return (
            f"part {number}" if self.blocks is None else f"block {self.blocks[number] + below}"
        )

    def _row(self, place: str, chunks: list[Any]) -> Any:
        """Return the rows of chunks that stand side by side: an array, or a CSR array."""
        plain = [self._plain(place, chunk) for chunk in chunks]
        found = sum(chunk.shape[1] for chunk in plain)
        if found != self.columns:
            raise InputError(
                "a part has another number of columns than was announced",
                got=f"{place}: {found} columns, {self.columns} announced",
                fix="let every part of the collection have the same columns",
            )
        heights = [chunk.shape[0] for chunk in plain]
        if len(set(heights)) > 1:
            raise InputError(
                "chunks that stand side by side must have as many rows",
                got=f"{place}: {', '.join(map(str, heights))} rows",
                fix="let every chunk keep its rows",
            )
        sparse = self.sparse or any(map(scipy.sparse.issparse, plain))
        if sparse:
            whole = scipy.sparse.hstack(plain) if len(plain) > 1 else plain[0]
            return scipy.sparse.csr_array(whole)
        return plain[0] if len(plain) == 1 else np.concatenate(plain, axis=1)

    def _plain(self, place: str, chunk: Any) -> Any:
        """Return a chunk as NumPy or SciPy hold it, in the type that was announced."""
        if hasattr(chunk, "to_scipy_sparse"):  # of the library `sparse`
            chunk = chunk.to_scipy_sparse()
        if isinstance(chunk, np.ma.MaskedArray) and np.ma.is_masked(chunk):
            raise InputError(
                "masked cells have no value",
                got=f"{place}: {int(np.ma.getmaskarray(chunk).sum())} masked cells",
                fix="fill them: X.map_blocks(np.ma.filled, ...)",
            )
        array = chunk if scipy.sparse.issparse(chunk) else np.asarray(chunk)
        if array.ndim != 2:
            raise InputError(
                "a chunk must have rows and columns",
                got=f"{place}: a chunk of {array.ndim} dimensions",
                fix="let every chunk keep both dimensions",
            )
        if scipy.sparse.issparse(array):
            array = as_csr(array, f"{place}, ")
        if array.dtype == self.dtype:
            return array
        if not np.can_cast(array.dtype, self.dtype, "safe"):
            numbers = array.dtype.kind in "biuf"
            raise InputError(
                "a part holds another type than was announced",
                got=f"{place}: {array.dtype}, {self.dtype} announced",
                fix=f"announce it: X.map_blocks(..., dtype={str(array.dtype)!r})"
                if numbers
                else "let every chunk hold numbers: chunk.astype('float64')",
            )
        return array.astype(self.dtype)

    def _cells(self, number: int, native: Any) -> Array:
        """Return the cells of a partition; other columns than were announced are refused."""
        assert self.cells is not None
        native = dense_frame(native)
        frame = nw.from_native(native, eager_only=True)
        if tuple(map(str, frame.columns)) != self.found:
            raise InputError(
                "a partition has other columns than were announced",
                got=f"part {number}: {_listed(frame.columns)}; {_listed(self.found)} announced",
                fix="let every partition of the frame have the same columns, in the same order",
            )
        types, stored = list(frame.schema.values()), stored_types(native)
        odd = self.cells.misfit(types, stored, short=self.dtype == np.float32)
        if odd is not None and len(frame):
            raise InputError(
                "a column holds something else than was announced",
                got=f"part {number}, {odd[0]!r}: {odd[1]}",
                fix=f"convert it: X.astype({{{odd[0]!r}: 'float64'}})",
            )
        if not len(frame):
            return np.empty((0, self.columns), self.dtype)
        return self.cells.block(native)


@dataclasses.dataclass(frozen=True)
class PartMessages:
    """What parts say beside their result.

    Parameters
    ----------
    rows, stored : int
        How many rows, and stored cells of sparse ones.
    largest : int
        Bytes of the largest of them.
    weighed : pair of float or None
        Sum of their weights, as `sum_of` gives it.
    rounded : frozenset of str
        Columns with integers that were cut.
    result : object
        What the work makes of them.
    """

    rows: int
    stored: int
    largest: int
    weighed: Sum | None
    rounded: frozenset[str]
    result: Any

    def joined(self, other: Self, result: Any) -> Self:
        """Return what two neighbouring parts say."""
        weighed = None
        if self.weighed is not None and other.weighed is not None:
            weighed = self.weighed, other.weighed
        return dataclasses.replace(
            self,
            rows=self.rows + other.rows,
            stored=self.stored + other.stored,
            largest=max(self.largest, other.largest),
            weighed=None if weighed is None else joined_sums(*weighed),
            rounded=self.rounded | other.rounded,
            result=result,
        )


@dataclasses.dataclass(frozen=True)
class Step:
    """One task: the rows of a part, and the work on them."""

    work: Any
    reader: Reader

    def part(self, number: int, first: int | None, pieces: Any, weights: Any) -> PartMessages:
        """Return what one part says."""
        rows = self.reader.part(number, first, pieces)
        cells = self.reader.cells
        rounded = frozenset[str]() if cells is None else frozenset(cells.rounded(rows.held))
        counts = checked_counts(weights, rows)
        result = self.work.part(rows, counts)
        weighed = None if counts is None else sum_of(counts)
        return PartMessages(rows.shape[0], rows.nnz or 0, rows.nbytes, weighed, rounded, result)

    def merge(self, one: PartMessages, other: PartMessages) -> PartMessages:
        """Return what two neighbouring parts say."""
        return one.joined(other, self.work.merge(one.result, other.result))

    @property
    def ends(self) -> bool:
        """Whether something is left to do when all is merged."""
        return hasattr(self.work, "finish")

    def finish(self, told: PartMessages) -> PartMessages:
        """Return what all parts together say, with what the work makes of it."""
        return dataclasses.replace(told, result=self.work.finish(told.result))


@dataclasses.dataclass(frozen=True)
class MappedPart:
    """A function of the rows of a part that gives as many rows, (r, columns) or (r,)."""

    reader: Reader
    function: Any
    columns: int | None
    dtype: np.dtype[Any]
    firsts: tuple[int, ...] | None

    def __call__(self, number: int, pieces: list[list[Any]]) -> Array:
        """Return the rows of one part."""
        first = None if self.firsts is None else self.firsts[number]
        rows = self.reader.part(number, first, pieces)
        if rows.shape[0] == 0:
            return self.nothing
        return np.asarray(self.function(rows), self.dtype)

    def __dask_tokenize__(self) -> str:
        """Return a name of its own: the function may hold what Dask cannot compare."""
        return uuid.uuid4().hex

    @property
    def nothing(self) -> Array:
        """No rows, of the right type."""
        return np.empty((0,) if self.columns is None else (0, self.columns), self.dtype)


def _stacked(rows: list[Any]) -> Any:
    if any(map(scipy.sparse.issparse, rows)):
        return scipy.sparse.csr_array(scipy.sparse.vstack(rows, format="csr"))
    return np.concatenate(rows)


def _listed(names: Any) -> str:
    shown = ", ".join(repr(str(name)) for name in list(names)[:5])
    return shown + (", ..." if len(names) > 5 else "")
