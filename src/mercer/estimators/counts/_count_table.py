"""Counts: a table without negative cells, looked at once, and the names of its rows.

Margins: masses and inertias of it, and the operator between them.

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
from mercer.errors import BudgetError, DataWarning, InputError, warn
from mercer.estimators.walk._admission import (
    NAMED,
    listed,
    only_counts,
    refuse_bad_cells,
    text_names,
)
from mercer.operators import Framed
from mercer.sources import Source, plain_form, text_of

_CELLS = 1 << 17  # of a block that is looked at: it stays in the cache
_IN_RANGE = 300  # powers of two within which sums, roots and squares of counts are safe
_WORTH_LANES = 1e6  # cells below which starting threads costs more than it saves
_LEAST = 2.0**-1000  # a total below it cannot be divided by: the row counts as empty


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
    data = text_names(plain_form(data))
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
class Margins:
    """What a table of counts says beside its axes; empty rows and columns have mass zero.

    Attributes
    ----------
    total : float
        g, the sum of all cells, in units of 2^exponent of the counts.
    rows : ndarray of shape (m,)
        Masses r, which sum to one.
    columns : ndarray of shape (n,)
        Masses c, which sum to one.
    row_inertias : ndarray of shape (m,)
        Σ_j (p_ij - r_ic_j)²/(r_ic_j).
    column_inertias : ndarray of shape (n,)
        The same over i.
    weights : ndarray of shape (m,) or None
        What the counts of each row were multiplied by.
    """

    total: float
    rows: Array
    columns: Array
    row_inertias: Array
    column_inertias: Array
    weights: Array | None = None

    @property
    def inertia(self) -> float:
        """The total inertia: χ²/g."""
        return float(np.sum(self.row_inertias))


def framed(counts: Counts, weights: Array | None) -> tuple[Framed, Margins]:
    """Return D_r^-½(P - rcᵀ)D_c^-½ as an operator, and its margins.

    With totals R of rows and C of columns it is diag(√(w/R))·(N - Rcᵀ)·diag(C^-½): the table
    itself is neither divided nor copied. A weight multiplies the counts of its row.
    """
    R = counts.rows
    C = counts.columns if weights is None else _weighted(counts.table, weights)
    alive = (R > _LEAST) & (weights is None or weights > 0)
    level = np.where(alive, R, 0.0)
    mass = level if weights is None else weights * level
    total = float(np.sum(mass))
    _refuse_small(alive, C > _LEAST, total, counts)
    left = np.sqrt(_over(alive if weights is None else alive * weights, level))
    op = Framed(
        counts.table,
        left=left,
        right=np.sqrt(_over(C > _LEAST, C)),
        level=level,
        profile=np.where(C > _LEAST, C, 0.0) / total,
    )
    r = np.asarray(mass / total)
    inertias = (_sparse_squares if op.sparse else _squares)(op, r)
    return op, Margins(total, r, op.profile, *inertias, weights)


def _over(above: Array, below: Array) -> Array:
    """Return above / below (m,), and 0 where below is 0."""
    return np.asarray(np.divide(above, below, out=np.zeros(len(below)), where=below > 0))


def _weighted(table: Array, weights: Array) -> Array:
    if hasattr(table, "tocsr"):
        return np.asarray(table.T @ weights)
    total = np.zeros(table.shape[1])
    for part in Tiles(len(table), max(1, _CELLS // table.shape[1])):
        total += weights[part] @ table[part].astype(np.float64, copy=False)
    return total


def _lanes(op: Framed, tiles: Tiles) -> Lanes:
    return Lanes(min(thread_count(), len(tiles)) if op.cells > _WORTH_LANES else 1)


def _squares(op: Framed, masses: Array) -> tuple[Array, Array]:
    """Return the sums of the squared cells of A by row and by column."""
    if op.order == "F":  # along the memory
        turned = op.T
        assert isinstance(turned, Framed)
        return _squares(turned, masses)[::-1]
    m, n = op.shape
    tiles = Tiles(m, max(1, _CELLS // max(n, 1)))
    lanes = _lanes(op, tiles)
    rows, columns, factors = np.empty(m), np.zeros((lanes.count, n)), op.right**2
    space = np.empty((lanes.count, tiles.rows, n))

    def work(lane: int, parts: Iterator[slice]) -> None:
        for part in parts:
            a = op.half(part, space[lane])
            a *= a
            rows[part] = a @ factors
            columns[lane] += a.sum(axis=0)

    lanes.over(tiles, work)
    return rows, factors * columns.sum(axis=0)


def _sparse_squares(op: Framed, masses: Array) -> tuple[Array, Array]:
    """Return the same of a sparse table; a cell that is not stored adds r_ic_j."""
    m, n = op.shape
    lanes = _lanes(op, op.tiles)
    rows, columns = np.empty(m), np.zeros((2, lanes.count, n))

    def work(lane: int, parts: Iterator[slice]) -> None:
        for part in parts:
            csr, height = op.stored(part), part.stop - part.start
            i, j = np.repeat(np.arange(height), np.diff(csr.indptr)), csr.indices
            a = csr.data - op.level[part][i] * op.profile[j]
            a *= op.left[part][i]
            a *= op.right[j]
            a *= a
            seen = np.bincount(i, op.profile[j], height)
            rows[part] = np.bincount(i, a, height) + masses[part] * np.maximum(1 - seen, 0.0)
            columns[0, lane] += np.bincount(j, a, n)
            columns[1, lane] += np.bincount(j, masses[part][i], n)

    lanes.over(op.tiles, work)
    stored, seen = columns.sum(axis=1)
    return rows, stored + op.profile * np.maximum(1 - seen, 0.0)


def _refuse_small(rows: Array, columns: Array, total: float, counts: Counts) -> None:
    """Refuse tables without counts, and those of one row or one column."""
    m, n = counts.shape
    if not total > 0:
        raise InputError(
            "the table has no counts: its total is zero",
            got=f"X of shape {(m, n)}, every cell zero",
            fix="pass a table in which something was counted",
        )
    for kept, given, what, name in (
        (int(rows.sum()), m, "row", "n_samples"),
        (int(columns.sum()), n, "column", "n_features"),
    ):
        if kept < 2:
            empty = f", {given - kept} of them empty" if given > kept else ""
            raise InputError(
                f"a table of one {what} has no association to show",
                got=f"{name} = {given}{empty}, X of shape {(m, n)}",
                fix=f"pass at least two {what}s with counts; one {what} is a bar chart",
            )


def warn_empty(kept: Array, names: Sequence[str] | None, what: str) -> None:
    """Say which rows or columns have no counts and are left out."""
    empty = np.flatnonzero(~kept)
    if not len(empty):
        return
    shown = [repr(str(names[i])) if names is not None else str(i) for i in empty[:NAMED]]
    warn(
        f"{len(empty):,} {what}{'s have' if len(empty) > 1 else ' has'} no counts and"
        f" {'are' if len(empty) > 1 else 'is'} left out",
        got=f"{what} {listed(shown, len(empty))}",
        fix=f"drop empty {what}s before, to say that they should not be there",
        category=DataWarning,
    )


def projected(table: Array, totals: Array, profile: Array, standard: Array) -> Array:
    """Return principal coordinates (h/Σh - c)ᵀΓ of the rows h of a table, zero for empty ones.

    Parameters
    ----------
    table : ndarray or CSR matrix of shape (m, n)
        Counts.
    totals : ndarray of shape (m,)
        Their sums.
    profile : ndarray of shape (n,)
        Masses c of the columns at fit, which Γ is centred by: taken out for the digits.
    standard : ndarray of shape (n, k)
        Γ, zero for columns that were empty.
    """
    left = _over(np.ones(len(totals)), totals)
    frame = Framed(table, left=left, right=np.ones(len(profile)), level=totals, profile=profile)
    return frame.matmat(standard)


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
