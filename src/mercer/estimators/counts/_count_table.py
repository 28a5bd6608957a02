"""Counts: a table without negative cells, looked at once, and the names of its rows.

Residuals of a table of counts from independence, cell by cell.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Tiles,
    binary_exponent,
    is_sparse,
    show_bytes,
    thread_count,
)
from mercer.errors import BudgetError, InputError
from mercer.estimators.walk._admission import only_counts, refuse_bad_cells, text_names, text_of
from mercer.sources import Source

_CELLS = 1 << 17  # of a block that is looked at: it stays in the cache
_IN_RANGE = 300  # powers of two within which sums, roots and squares of counts are safe


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """A table N (m, n), dense or CSR, with what one walk over it has found.

    Attributes
    ----------
    table : ndarray or CSR matrix of shape (m, n)
        N, or N·2^-exponent where its own numbers would leave the range of float64.
    rows : ndarray of shape (m,)
        Totals of the rows.
    columns : ndarray of shape (n,)
        Totals of the columns.
    exponent : int
        0 but for huge or tiny numbers.
    whole : bool
        Whether every cell is a whole number.
    names : list of str or None
        Of the rows.
    narrow : bool
        Whether the table was given in float32.
    """

    table: Array
    rows: Array
    columns: Array
    exponent: int
    whole: bool
    names: list[str] | None
    narrow: bool

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return int(self.table.shape[0]), int(self.table.shape[1])

    @property
    def nnz(self) -> int | None:
        """Stored cells of a sparse table."""
        return int(self.table.nnz) if is_sparse(self.table) else None


def named_rows(data: Any) -> tuple[Any, list[str] | None]:
    """Return a table and the names of its rows, or None where they have none.

    Names are the index of pandas, unless that only counts or is of whole numbers beside a
    first column of text; or else that first column, where others follow. It is then no part
    of the table.
    """
    data = text_names(data)
    frame = _frame_of(data)
    if frame is None:
        return data, None
    first = frame[:, 0]  # by place: names of pandas columns may be numbers
    named = frame.shape[1] > 1 and first.dtype in (nw.String, nw.Categorical, nw.Enum)
    index = getattr(data, "index", None)
    # Numbers that rows keep when others are left out are no names beside a column of them.
    numbered = named and getattr(getattr(index, "dtype", None), "kind", "") in "iu"
    if index is not None and not only_counts(index) and not numbered:
        return data, [text_of(label) for label in index]
    if not named:
        return data, None
    return frame[:, 1:].to_native(), [text_of(label) for label in first.to_list()]


def _frame_of(data: object) -> "nw.DataFrame[Any] | None":
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except ValueError:  # columns of one name: the door says which
        return None
    try:
        return frame if isinstance(frame, nw.DataFrame) and frame.shape[1] else None
    except ValueError:
        return None


def counts(
    source: Source, names: list[str] | None, columns: Sequence[str] | None = None
) -> Counts:
    """Return the counts of a source; negative, missing and infinite cells are refused by place.

    Parameters
    ----------
    source : DenseSource or SparseSource
        The table as the door let it in.
    names : list of str or None
        Of the rows.
    columns : sequence of str or None
        Names of the columns, for refusals.
    """
    table = source.array
    if is_sparse(table) and not table.has_canonical_format:
        table = table.copy()  # cells that stand twice are one count
        table.sum_duplicates()
    narrow, exponent = source.dtype == np.float32, 0
    rows, totals, least, most, whole = _looked(table)
    if not (least >= 0 and np.isfinite(most)):
        refuse_bad_cells(source, columns)
        _refuse_negative(table, names, columns)
    size = binary_exponent(most) if most > 0 else 0
    if abs(size) > _IN_RANGE or not np.isfinite(rows.sum()):
        exponent, table = size, _in_units(table, size)
        rows, totals, *_ = _looked(table)
    return Counts(table, rows, totals, exponent, whole, names, narrow)


def _looked(table: Array) -> tuple[Array, Array, float, float, bool]:
    """Return totals of rows and columns, least and largest cell, and whether all are whole."""
    if not is_sparse(table):
        if not np.isfortran(table):
            return _looked_at(table)
        columns, rows, *rest = _looked_at(table.T)  # as pandas keeps them
        return rows, columns, *rest
    m, n = table.shape
    with np.errstate(over="ignore", invalid="ignore"):
        data = table.data
        least, most = float(np.min(data, initial=0)), float(np.max(data, initial=0))
        rows, columns = table @ np.ones(n), table.T @ np.ones(m)
        return rows, columns, least, most, _whole(data)


def _looked_at(table: Array) -> tuple[Array, Array, float, float, bool]:
    """Return the same of rows that lie one after another."""
    (m, n), kind = table.shape, table.dtype.kind
    tiles = Tiles(m, max(1, _CELLS // max(n, 1)))
    lanes = Lanes(min(thread_count(), len(tiles)))
    rows, columns = np.empty(m), np.zeros((lanes.count, n))
    least, most = np.zeros(len(tiles)), np.ones(len(tiles))
    whole = np.ones(len(tiles), dtype=bool)

    @np.errstate(over="ignore", invalid="ignore")  # of the thread
    def work(lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            block = table[tiles[number]]
            rows[tiles[number]] = block.sum(axis=1, dtype=np.float64)
            columns[lane] += block.sum(axis=0, dtype=np.float64)
            # A missing cell makes both NaN, and minimum and maximum carry it on.
            if kind not in "ub":
                least[number] = block.min()
            if kind not in "iub":  # whole numbers of a machine are in range
                most[number], whole[number] = block.max(), _whole(block)

    lanes.run(work, len(tiles))
    with np.errstate(over="ignore", invalid="ignore"):
        totals = columns.sum(axis=0)
    return rows, totals, float(least.min()), float(most.max()), bool(whole.all())


def _whole(cells: Array) -> bool:
    """Tell whether all cells (…, ) are whole numbers, a block at a time."""
    if cells.dtype.kind in "iub":
        return True
    flat = cells.reshape(-1)
    return all(
        np.array_equal(flat[at : at + _CELLS], np.rint(flat[at : at + _CELLS]))
        for at in range(0, len(flat), _CELLS)
    )


def _in_units(table: Array, exponent: int) -> Array:
    """Return the table times 2^-exponent as float64: the one case in which it is copied."""
    if not is_sparse(table):
        return np.ldexp(np.asarray(table, np.float64), -exponent)
    made = table.astype(np.float64)
    made.data = np.ldexp(made.data, -exponent)
    return made


def _refuse_negative(
    table: Array, names: list[str] | None, columns: Sequence[str] | None
) -> None:
    """Name the first negative cell."""
    if is_sparse(table):
        at = int(np.flatnonzero(table.data < 0)[0])
        row = int(np.searchsorted(table.indptr, at, side="right")) - 1
        column, value = int(table.indices[at]), table.data[at]
    else:
        row, column = (int(i) for i in np.argwhere(table < 0)[0])
        value = table[row, column]
    shown = "" if names is None else f" ({names[row]!r})"
    title = "" if columns is None else f" ({str(columns[column])!r})"
    raise InputError(
        "Negative values in data: correspondence analysis is of counts or other amounts",
        got=f"{value} at row {row}{shown}, column {column}{title}",
        fix="pass counts, frequencies or amounts, none below zero; for signed numbers use PCA",
    )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Residuals:
    """How far the cells of a table are from their expected counts E = Rcᵀ.

    Attributes
    ----------
    standardised : ndarray of shape (m, n)
        Pearson's (N - E)/√E; the squares of a fitted table sum to χ².
    adjusted : ndarray of shape (m, n)
        The same over √((1 - r)(1 - c)): about standard normal where rows and columns are
        independent, so that beyond ±2 a cell deserves a look.
    """

    standardised: Array
    adjusted: Array


def residuals(counts: Counts, profile: Array, total: float, memory: int) -> Residuals:
    """Return the residuals of rows from the profile c (n,) of the columns at fit.

    Parameters
    ----------
    counts : Counts
        Rows.
    profile : ndarray of shape (n,)
        Masses c; cells of a column without mass have no residual.
    total : float
        g of the fit, in the units of the counts.
    memory : int
        Bytes that may be taken: two tables, and one on the way.
    """
    m, n = counts.shape
    if 24 * m * n > memory:
        raise BudgetError(
            "residuals of every cell do not fit the memory allowed; nothing was allocated",
            got=f"{m:,} x {n:,} cells, {show_bytes(24 * m * n)} of {show_bytes(memory)}",
            fix="pass some of the rows, or allow more `memory`",
        )
    table = counts.table.toarray() if counts.nnz is not None else counts.table
    expected = counts.rows[:, None] * profile
    root = np.sqrt(expected)
    found = np.zeros((m, n))
    np.subtract(table, expected, out=found, where=expected > 0)
    np.divide(found, root, out=found, where=root > 0)
    if counts.exponent:
        found = np.ldexp(found, counts.exponent // 2) * 2.0 ** (0.5 * (counts.exponent % 2))
    left = np.maximum(1 - counts.rows / total, 0.0)[:, None] * (1 - profile)
    np.sqrt(left, out=root)
    adjusted = np.divide(found, root, out=np.zeros((m, n)), where=root > 0)
    return Residuals(found, adjusted)
