"""Margins: masses and inertias of a table of counts, and the operator between them."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, thread_count
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.counts._count_table import Counts
from mercer.operators import Framed

_CELLS = 1 << 17  # of a block that is written down
_WORTH_LANES = 1e6  # cells below which starting threads costs more than it saves
_LEAST = 2.0**-1000  # a total below it cannot be divided by: the row counts as empty
_NAMED = 5  # rows or columns that are named


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
    total, tiles = np.zeros(table.shape[1]), Tiles(len(table), max(1, _CELLS // table.shape[1]))
    for number in range(len(tiles)):
        total += weights[tiles[number]] @ table[tiles[number]].astype(np.float64, copy=False)
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
    shown = [repr(str(names[i])) if names is not None else str(i) for i in empty[:_NAMED]]
    more = f" and {len(empty) - _NAMED:,} more" if len(empty) > _NAMED else ""
    warn(
        f"{len(empty):,} {what}{'s have' if len(empty) > 1 else ' has'} no counts and"
        f" {'are' if len(empty) > 1 else 'is'} left out",
        got=f"{what} {', '.join(shown)}{more}",
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
