"""What a map of rows and columns says of each point: contributions, squared cosines.

Ellipses of points on a map of counts: tables drawn anew, projected as supplementary.
"""

import dataclasses
from typing import final

import numpy as np
import scipy.sparse
from scipy.special import chdtri

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.counts._count_table import Counts

SCALINGS = (
    "symmetric",
    "rowprincipal",
    "colprincipal",
    "symbiplot",
    "rowgab",
    "colgab",
    "rowgreen",
    "colgreen",
)
_AT_CENTRE = 1e-24  # squared distances up to which a point has no direction


def inverse(values: Array) -> Array:
    """Return 1/v, and 0 where v is 0: an axis without inertia has no coordinates."""
    return np.asarray(np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0))


def contributions(masses: Array, points: Array, values: Array) -> Array:
    """Return shares m·f²/λ (m, k) of points in the inertia of each axis; they sum to one."""
    return np.asarray(masses[:, None] * points**2 * inverse(values))


def squared_cosines(points: Array, masses: Array, inertias: Array) -> Array:
    """Return the shares (m, k) of axes in the inertia of points; one at the centre has none."""
    apart = inertias > _AT_CENTRE * masses
    part = masses[:, None] * points**2
    share = np.divide(part, inertias[:, None], out=np.zeros(part.shape), where=apart[:, None])
    return np.asarray(np.minimum(share, 1.0))


_CELLS = 5e8  # that may be drawn
_COUNTABLE = 2.0**62  # counts up to which tables can be drawn


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Ellipses:
    """Where points of a map would lie in other samples of the same size.

    The ellipse of a point p on axes a, b holds x with (x - p)ᵀS⁻¹(x - p) ≤ radius², S the
    covariance of the point on these axes.

    Attributes
    ----------
    row_centres, column_centres : ndarray of shape (m, k), (n, k)
        Principal coordinates as fitted.
    row_covariances, column_covariances : ndarray of shape (m, k, k), (n, k, k)
        Of the points in the tables drawn.
    level : float
        Share of tables whose point lies in its ellipse.
    radius : float
        √ of the quantile of χ² with two degrees of freedom at that level.
    draws : int
        Tables drawn.
    """

    row_centres: Array
    row_covariances: Array
    column_centres: Array
    column_covariances: Array
    level: float
    radius: float
    draws: int


class _Spread:
    """Sums of squared deviations of points from where they were fitted, draw by draw."""

    def __init__(self, centres: Array) -> None:
        self.centres = centres
        self.count = np.zeros(len(centres))
        self.sum = np.zeros(centres.shape)
        self.square = np.zeros((*centres.shape, centres.shape[1]))

    def add(self, sums: Array, totals: Array) -> None:
        """Take in points sums / totals; those without counts are not in this draw."""
        there = totals > 0
        apart = sums / np.where(there, totals, 1.0)[:, None] - self.centres
        apart[~there] = 0.0
        self.count += there
        self.sum += apart
        self.square += apart[:, :, None] * apart[:, None, :]

    def covariances(self) -> Array:
        """Return the covariance (m, k, k) of every point; zero for one that was never drawn."""
        count = np.maximum(self.count, 1.0)[:, None, None]
        mean = self.sum / count[:, :, 0]
        spread = self.square - count * mean[:, :, None] * mean[:, None, :]
        return np.asarray(spread / np.maximum(count - 1, 1.0))


def ellipses(
    principal: tuple[Array, Array],
    standard: tuple[Array, Array],
    table: Array,
    total: float,
    *,
    draws: int,
    level: float,
    seed: int,
) -> Ellipses:
    """Return the ellipses of rows and columns by the multinomial bootstrap.

    Every draw has as many counts as the table, in its cells with its shares; its rows and
    columns are projected on the axes of the fit, which therefore do not turn.

    Parameters
    ----------
    principal, standard : pairs of arrays of shape (m, k) and (n, k)
        Coordinates of rows and columns at fit.
    table : ndarray or CSR matrix of shape (m, n)
        Its table, without what is empty.
    total : float
        Counts of each draw; rounded.
    draws, level, seed
        Tables drawn, the level, and the seed.
    """
    cells = np.asarray(table.data if is_sparse(table) else table, np.float64).ravel()
    _refuse(len(cells), draws, total, level)
    rng, shares = np.random.default_rng(seed), cells / cells.sum()
    rows, columns = map(_Spread, principal)
    by_column, by_row = standard
    for _ in range(draws):
        drawn = _like(table, rng.multinomial(round(total), shares).astype(np.float64))
        rows.add(drawn @ by_row, np.asarray(drawn.sum(axis=1)))
        columns.add(drawn.T @ by_column, np.asarray(drawn.sum(axis=0)))
    return Ellipses(
        row_centres=rows.centres,
        row_covariances=rows.covariances(),
        column_centres=columns.centres,
        column_covariances=columns.covariances(),
        level=level,
        radius=float(np.sqrt(chdtri(2, 1 - level))),
        draws=draws,
    )


def kept_table(counts: Counts, kept: tuple[Array, Array], weights: Array | None) -> Array:
    """Return the table of a fit without what is empty, its rows times their weights."""
    rows, columns = kept
    table = counts.table
    if not rows.all():
        table = table[rows]
    if not columns.all():
        table = table[:, columns]
    if weights is None:
        return table
    by = weights[rows]
    return (
        scipy.sparse.diags_array(by).tocsr() @ table
        if is_sparse(table)
        else by[:, None] * table
    )


def _like(table: Array, cells: Array) -> Array:
    if not is_sparse(table):
        return cells.reshape(table.shape)
    return type(table)((cells, table.indices, table.indptr), shape=table.shape)


def _refuse(cells: int, draws: int, total: float, level: float) -> None:
    if draws < 2 or not 0 < level < 1:
        raise InputError(
            "ellipses need two draws or more, and a level between 0 and 1",
            got=f"draws={draws}, level={level}",
            fix="pass draws=500 and level=0.95, or leave them out",
        )
    if cells * draws > _CELLS:
        raise NotSupportedError(
            "ellipses of a table of this size are not drawn",
            got=f"{draws:,} draws of {cells:,} cells; at most {_CELLS:.0e} are drawn",
            fix=f"ask for {max(int(_CELLS // cells), 1):,} draws or fewer, or merge rows first",
        )
    if not 2 <= round(total) <= _COUNTABLE:
        raise InputError(
            "ellipses are of counts, which can be drawn again",
            got=f"a table with a total of {total:g}",
            fix="pass the counts themselves; shares say nothing of the size of the sample",
        )
