"""Regularised iterative FAMD: missing numbers and categories, filled until nothing moves."""

import dataclasses
from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.errors import AccuracyWarning, warn
from mercer.estimators.mixed._mixed_axes import Filling, fuzzy
from mercer.estimators.mixed._mixed_frame import MixedFrame
from mercer.estimators.walk._operated_estimator import Operated
from mercer.operators import Framed
from mercer.solvers import Spectrum

_STEPS = 1000  # at most
_SETTLED = 1e-7  # of the root of the total inertia: what the cells of a last step may move

Solve = Callable[[Operated, int], Spectrum]


@dataclasses.dataclass(frozen=True, eq=False)
class FilledTable:
    """A completed table and how it came about.

    Attributes
    ----------
    frame : MixedFrame
        Means, deviations and shares of the completed table.
    operated : Operated
        Its operator, ready to be solved.
    filling : Filling
        The model of the last step.
    steps : int
        Steps that were made.
    """

    frame: MixedFrame
    operated: Operated
    filling: Filling
    steps: int


def operated(table: Array, frame: MixedFrame, masses: Array, weights: Array) -> Operated:
    """Return A = diag(√r)(T - 1·meansᵀ)diag(right) of a table T (n, p + J), and its inertia.

    Parameters
    ----------
    table : array or CSR array of shape (n, p + J)
        Numbers near mean 0 and deviation 1, and levels: 0, 1 or shares.
    frame : MixedFrame
        Says which columns are numbers, and whether they vary.
    masses : array of shape (n,)
        r.
    weights : array of shape (p + J,)
        Of the columns: their inertia is multiplied by it.
    """
    profile, second = _moments(table, masses)
    p = len(frame.spread)
    live = frame.live
    variance = np.maximum(second - profile**2, 0.0)
    own = variance[:p] if frame.scaled else np.ones(p)
    mass = np.where(live, np.append(own, profile[p:]), 1.0)
    right = np.where(live, np.sqrt(weights / np.maximum(mass, np.finfo(float).tiny)), 0.0)
    op = Framed(
        table, left=np.sqrt(masses), right=right, level=np.ones(table.shape[0]), profile=profile
    )
    inertias = variance * right**2
    return Operated(op, float(inertias.sum()), inertias, float(np.sum(second * right**2)))


def _moments(table: Array, masses: Array) -> tuple[Array, Array]:
    """Return means and means of squares (p + J,) of the columns."""
    if is_sparse(table):
        parts = (table.data**2, table.indices, table.indptr)
        squared = type(table)(parts, shape=table.shape)  # shares what tells where cells stand
        return np.asarray(table.T @ masses), np.asarray(squared.T @ masses)
    return masses @ table, np.einsum("i,ij,ij->j", masses, table, table, optimize=True)


def filled(
    table: Array,
    frame: MixedFrame,
    holes: Array,
    masses: Array,
    total: float,
    rank: int,
    solve: Solve,
) -> FilledTable:
    """Return the table with its gaps filled; `table` is written to.

    Every step takes means, deviations, shares and axes of the completed table, and from them
    what each missing cell is expected to be, given the others of its row.

    Parameters
    ----------
    table : array or CSR array of shape (n, p + J)
        From `table_of_cells`: gaps stand at their means.
    frame : MixedFrame
        The frame of the observed cells.
    holes : bool array of shape (n, given columns)
        Which cells are missing.
    masses : array of shape (n,)
        Of the rows.
    total : float
        Rows, weights counted.
    rank : int
        Axes that tell what is missing.
    solve : callable
        Leading pairs of an operator.
    """
    gaps = _Unobserved(table, frame, holes)
    rank = filling_rank(rank, total, frame.rank)
    ones = np.ones(frame.width)
    steps = 0
    while True:
        steps += 1
        asked = operated(table, frame, masses, ones)
        spectrum = solve(asked, rank + 1)
        own = _frame_now(frame, asked)
        filling = Filling(
            np.ascontiguousarray(spectrum.right[:, :rank]),
            np.maximum(spectrum.values[:rank], 0.0),
            noise(spectrum.values, asked.trace, rank, total, frame.rank),
            frame.owner,
        )
        moved = gaps.fill(asked.op, filling, own, masses)
        if moved <= _SETTLED * np.sqrt(asked.trace):
            break
        if steps == _STEPS:
            _warn_unsettled(moved, asked)
            break
    asked = operated(table, frame, masses, ones)
    return FilledTable(_frame_now(frame, asked), asked, filling, steps)


def _warn_unsettled(moved: float, asked: Operated) -> None:
    warn(
        f"missing cells still moved after {_STEPS} steps",
        got=f"by {moved:.1e} of {np.sqrt(asked.trace):.1e} in the last one",
        fix="ask for fewer components, or drop columns with most cells missing",
        category=AccuracyWarning,
    )


def noise(values: Array, trace: float, rank: int, n: float, p: int) -> float:
    """Return s² of what `rank` axes leave of p columns: Josse and Husson's estimate.

    Parameters
    ----------
    values : array of shape (k,)
        Leading eigenvalues; one more than `rank`, if there is one, is a bound.
    trace : float
        Sum of all eigenvalues.
    rank, n, p : int, float, int
        Axes, rows (weights counted) and columns that can vary by themselves.
    """
    free = (n - 1 - rank) * (p - rank)
    left = max(trace - float(np.sum(values[:rank])), 0.0)
    if free <= 0:
        return 0.0
    found = n * p / min(p, n - 1) * left / free
    return float(min(found, values[rank])) if len(values) > rank else found


def filling_rank(wanted: int, n: float, p: int) -> int:
    """Return how many axes may tell what is missing in n rows of p free columns."""
    return max(0, min(wanted, p - 1, int(n) - 2))


def _frame_now(frame: MixedFrame, asked: Operated) -> MixedFrame:
    """Return the frame of the completed table from that of the observed cells."""
    p, op = len(frame.spread), asked.op
    right = np.where(op.right > 0, op.right, 1.0)
    return dataclasses.replace(
        frame,
        offset=frame.offset + frame.spread * op.profile[:p],
        spread=frame.spread / right[:p],
        shares=np.where(frame.shares > 0, np.maximum(op.profile[p:], 0.0), 0.0),
    )


class _Unobserved:
    """The missing cells of a table, and where they are written."""

    def __init__(self, table: Array, frame: MixedFrame, holes: Array) -> None:
        self.table = table
        self.rows = np.flatnonzero(holes.any(axis=1))
        self.holes = holes[self.rows]
        self.sparse = is_sparse(table)
        self.at = {}
        for column in np.flatnonzero(self.holes.any(axis=0)):
            owned = np.flatnonzero(frame.owner == column)
            here = np.flatnonzero(self.holes[:, column])
            places = self._places(frame, int(column), here) if self.sparse else None
            self.at[int(column)] = (here, owned, places)

    def _places(self, frame: MixedFrame, column: int, here: Array) -> Array:
        """Return where the cells (c, levels) of a column of gaps stand among a CSR's data."""
        starts = self.table.indptr[self.rows[here]].astype(np.int64)[:, None]
        if not frame.kinds[column]:
            return np.asarray(starts + np.count_nonzero(~frame.kinds[:column]))
        q = int(np.count_nonzero(frame.kinds[:column]))
        sizes = np.diff(frame.starts)
        before = self.holes[here][:, np.flatnonzero(frame.kinds)[:q]]
        skipped = np.where(before, sizes[:q], 1).sum(axis=1)[:, None]
        return np.asarray(starts + len(frame.spread) + skipped + np.arange(sizes[q]))

    def _read(self, column: int) -> Array:
        here, owned, places = self.at[column]
        if places is not None:
            return np.asarray(self.table.data[places])
        return np.asarray(self.table[self.rows[here][:, None], owned])

    def _write(self, column: int, values: Array) -> None:
        here, owned, places = self.at[column]
        if places is not None:
            self.table.data[places] = values
        else:
            self.table[self.rows[here][:, None], owned] = values

    def fill(self, op: Framed, filling: Filling, own: MixedFrame, masses: Array) -> float:
        """Write what is expected into the gaps; return how far they moved, as analysed."""
        thin = op.right[:, None] * filling.axes
        part = self.table[self.rows]
        observed = np.asarray(part @ thin) - op.profile @ thin
        old = {}
        for column, (here, owned, _) in self.at.items():
            old[column] = self._read(column)
            y = old[column] - op.profile[owned]
            observed[here] -= y @ thin[owned]
        expected = fuzzy(filling, own, observed, self.holes)
        moved = 0.0
        for column, (here, owned, _) in self.at.items():
            values = expected[column]
            if not own.kinds[column]:
                scale = op.right[owned]
                unit = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1.0), 0.0)
                values = op.profile[owned] + values[:, None] * unit
            step = (values - old[column]) * op.right[owned]
            moved += float(masses[self.rows[here]] @ np.sum(step * step, axis=1))
            self._write(column, values)
        return float(np.sqrt(moved))
