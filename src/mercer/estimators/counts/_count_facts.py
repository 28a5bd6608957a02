"""What may mislead on a map of counts: empty margins, an arch, a table in pieces."""

import dataclasses
from typing import final

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from mercer.arrays import Array, is_sparse
from mercer.errors import DataWarning, warn
from mercer.estimators.walk._admission import NAMED, listed

_FEW = 6  # points that a parabola does not fit by chance
_ARCH = 0.8  # share of axis 2 that axis 1 explains
_ONE = 1 - 1e-6  # inertia from which a table may be in pieces
_SURE = 5  # cells whose sums are no accident


@final
@dataclasses.dataclass(frozen=True, eq=False)
class TableFacts:
    """What was found in a table of counts beside its axes.

    Attributes
    ----------
    dropped_rows, dropped_columns : ndarray of int
        Those without counts (or with weight zero), which are in no result.
    whole : bool
        Whether every cell is a whole number; tests and ellipses are of counts.
    independent : bool
        Whether rows and columns are independent to rounding: there is no axis.
    arch : float or None
        Share of axis 2 that a parabola in axis 1 explains, of rows and of columns (where
        there are six or more) the smaller; above 0.8 axis 2 is not a second dimension.
    pieces : tuple of (int, int)
        Rows and columns of each block where the table falls apart into blocks that share
        no counts; empty for a table in one piece.
    """

    dropped_rows: Array
    dropped_columns: Array
    whole: bool
    independent: bool
    arch: float | None
    pieces: tuple[tuple[int, int], ...]


def arch_of(points: Array, masses: Array) -> float | None:
    """Return R² of axis 2 on a parabola in axis 1, weighted by mass; None for few points."""
    heavy = masses > 0
    if points.shape[1] < 2 or int(heavy.sum()) < _FEW:
        return None
    weight, (x, y) = masses[heavy] / masses.sum(), points[heavy, :2].T
    scale = float(np.max(np.abs(x), initial=0.0))
    if scale == 0 or not np.any(y):
        return None
    design = np.empty((3, len(x)))
    design[0], design[1] = 1.0, x / scale
    np.multiply(design[1], design[1], out=design[2])
    heavy_design = design * weight
    y = y - weight @ y
    slopes = np.linalg.lstsq(heavy_design @ design.T, heavy_design @ y, rcond=None)[0]
    left = y - slopes @ design
    whole = float(weight @ y**2)
    return None if whole == 0 else max(0.0, 1 - float(weight @ left**2) / whole)


def pieces_of(table: Array, inertia: float) -> tuple[tuple[int, int], ...]:
    """Return rows and columns of every connected part of the graph of cells with counts.

    A table in q pieces has q - 1 inertias that are 1, so that it is only looked at where the
    first is.

    Parameters
    ----------
    table : ndarray or CSR matrix of shape (m, n)
        Counts.
    inertia : float
        Of the first axis.
    """
    if inertia < _ONE:
        return ()
    csr = scipy.sparse.csr_array(table)
    m, n = csr.shape
    ends = np.concatenate([csr.indptr, np.full(n, csr.indptr[-1])])
    cells = (csr.data, csr.indices + m, ends)
    graph = scipy.sparse.csr_array(cells, shape=(m + n, m + n))
    graph.eliminate_zeros()
    _, label = connected_components(graph, directed=False)
    rows, columns = np.bincount(label[:m]), np.bincount(label[m:])
    size = min(len(rows), len(columns))
    rows, columns = rows[:size], columns[:size]
    joint = (rows > 0) & (columns > 0)  # an empty row or column is no piece
    found = sorted(zip(rows[joint].tolist(), columns[joint].tolist(), strict=True))[::-1]
    return tuple((int(i), int(j)) for i, j in found) if len(found) > 1 else ()


def totals_of(table: Array, rows: Array, columns: Array) -> tuple[bool, bool]:
    """Tell whether the last row, and the last column, are the sums of the others.

    Parameters
    ----------
    table : ndarray or CSR matrix of shape (m, n)
        Counts.
    rows, columns : ndarray of shape (m,) and (n,)
        Their totals.
    """
    m, n = table.shape
    if min(m, n) < 3:
        return False, False
    if is_sparse(table):
        below, beside = table[[-1]].toarray().ravel(), table[:, [-1]].toarray().ravel()
    else:
        below, beside = table[-1], table[:, -1]
    # In float64: twice a count of eight bits may be no number of eight bits.
    below, beside = below.astype(np.float64), beside.astype(np.float64)
    row = bool(np.allclose(2 * below, columns, rtol=1e-9, atol=0.0))
    column = bool(np.allclose(2 * beside, rows, rtol=1e-9, atol=0.0))
    if row and column:
        return True, True
    # In a small table one side may add up by chance.
    row = row and int(np.count_nonzero(columns)) >= _SURE
    return row, column and int(np.count_nonzero(rows)) >= _SURE


def warn_totals(table: Array, rows: Array, columns: Array) -> None:
    """Say that a table seems to hold its own totals: they would count everything twice."""
    row, column = totals_of(table, rows, columns)
    if row or column:
        where = " and ".join(["the last row"] * row + ["the last column"] * column)
        warn(
            "the table seems to hold its own totals, which are analysed as if they were counts",
            got=f"{where}: every cell is the sum of the others",
            fix="drop totals first: pd.crosstab(..., margins=False)",
            category=DataWarning,
        )


def warn_facts(facts: TableFacts) -> None:
    """Say what a reader of the map must know."""
    if facts.independent:
        warn(
            "rows and columns are independent: there are no axes",
            got="a total inertia that is rounding only; every row has the same profile",
            fix="there is nothing to map; look at the margins",
            category=DataWarning,
        )
    if facts.pieces:
        shown = [f"{m:,} x {n:,}" for m, n in facts.pieces[:NAMED]]
        warn(
            f"the table falls apart into {len(facts.pieces):,} blocks that share no counts",
            got=f"blocks of {listed(shown, len(facts.pieces))}; the first inertia is 1",
            fix="analyse each block on its own: the first axes only tell the blocks apart",
            category=DataWarning,
        )
    if facts.arch is not None and facts.arch > _ARCH:
        warn(
            "axis 2 is an arch: a parabola in axis 1, not a second dimension",
            got=f"axis 1 explains {facts.arch:.0%} of axis 2",
            fix="read the order along axis 1; look at axis 3 for something new",
            category=DataWarning,
        )
