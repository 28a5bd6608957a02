"""What a map of rows and columns says of each point: coordinates, contributions, quality.

Ellipses of points on a map of counts: tables drawn anew, projected as supplementary.
"""

import dataclasses
from typing import Any, final

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


class MapPoints:
    """Mixin: all that follows from masses, inertias and one kind of coordinates.

    Principal coordinates F = D_r^-½UΔ of rows are held, and standard ones Γ = D_c^-½V of
    columns, which project new rows; the others differ by the singular values Δ = √λ.
    """

    eigenvalues_: Array
    row_coordinates_: Array
    column_standard_: Array
    row_masses_: Array
    column_masses_: Array
    row_inertias_: Array
    column_inertias_: Array
    row_names_: list[str] | None
    column_names_: list[str]
    total_inertia_: float

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates (m, k) of the rows: Σ_i r_iφ_i² = 1 on every axis."""
        return self.row_coordinates_ * _inverse(np.sqrt(self.eigenvalues_))

    @property
    def column_coordinates_(self) -> Array:
        """Principal coordinates (n, k) of the columns: Σ_j c_jg_j² = λ."""
        return self.column_standard_ * np.sqrt(self.eigenvalues_)

    @property
    def row_contributions_(self) -> Array:
        """Shares (m, k) of the rows in the inertia of each axis; they sum to one."""
        return _contributions(self.row_masses_, self.row_coordinates_, self.eigenvalues_)

    @property
    def column_contributions_(self) -> Array:
        """Shares (n, k) of the columns in the inertia of each axis; they sum to one."""
        return np.asarray(self.column_masses_[:, None] * self.column_standard_**2)

    @property
    def row_cos2_(self) -> Array:
        """Shares (m, k) of each axis in the inertia of a row."""
        return _cos2(self.row_coordinates_, self.row_masses_, self.row_inertias_)

    @property
    def column_cos2_(self) -> Array:
        """Shares (n, k) of each axis in the inertia of a column."""
        return _cos2(self.column_coordinates_, self.column_masses_, self.column_inertias_)

    @property
    def row_quality_(self) -> Array:
        """Shares (m,) of the inertia of a row that the axes show together."""
        return np.asarray(self.row_cos2_.sum(axis=1))

    @property
    def column_quality_(self) -> Array:
        """Shares (n,) of the inertia of a column that the axes show together."""
        return np.asarray(self.column_cos2_.sum(axis=1))

    def map(self, scaling: str = "symmetric") -> tuple[Array, Array]:
        """Return points of rows (m, k) and columns (n, k) to draw in one map.

        Parameters
        ----------
        scaling : str
            With principal coordinates F, G, standard ones Φ, Γ, masses r, c and singular
            values σ: "symmetric" F, G; "rowprincipal" F, Γ; "colprincipal" Φ, G;
            "symbiplot" Φ√σ, Γ√σ; "rowgab" F, cΓ; "colgab" rΦ, G; "rowgreen" F, √c·Γ;
            "colgreen" √r·Φ, G. The last two are contribution biplots.
        """
        if scaling not in SCALINGS:
            raise InputError(
                f"there is no scaling {scaling!r}",
                got=f"scaling={scaling!r}",
                fix=f"take one of {', '.join(SCALINGS)}",
            )
        if scaling == "symbiplot":
            root = self.eigenvalues_**0.25
            return self.row_standard_ * root, self.column_standard_ * root
        power = {"gab": 1.0, "een": 0.5}.get(scaling[-3:], 0.0)
        rows, columns = self.row_coordinates_, self.column_coordinates_
        if scaling.startswith("row"):
            columns = self.column_masses_[:, None] ** power * self.column_standard_
        if scaling.startswith("col"):
            rows = self.row_masses_[:, None] ** power * self.row_standard_
        return np.asarray(rows), np.asarray(columns)

    def table(self, of: str = "rows", *, per_mille: bool = True) -> dict[str, list[Any]]:
        """Return one line for each point as columns, which any frame library takes.

        Name, mass, quality (qlt) and share of the total inertia (inr); for each axis the
        principal coordinate (k=1), the squared cosine (cor) and the contribution (ctr).

        Parameters
        ----------
        of : "rows" or "columns"
            Which points.
        per_mille : bool
            Whether numbers are thousandths, rounded, as such tables are printed.
        """
        if of not in ("rows", "columns"):
            raise InputError(
                "a table is of rows or of columns", got=f"of={of!r}", fix='pass of="rows"'
            )
        side = of.removesuffix("s")
        masses, inertias, points, cos2, shares = (
            getattr(self, f"{side}_{name}_")
            for name in ("masses", "inertias", "coordinates", "cos2", "contributions")
        )
        names = getattr(self, f"{side}_names_")
        total = self.total_inertia_ or 1.0
        made: dict[str, Any] = {"mass": masses, "qlt": cos2.sum(axis=1)}
        made["inr"] = inertias / total
        for axis in range(points.shape[1]):
            made[f"k={axis + 1}"] = points[:, axis]
            made[f"cor {axis + 1}"], made[f"ctr {axis + 1}"] = cos2[:, axis], shares[:, axis]
        if per_mille:
            made = {name: np.rint(1000 * cells).astype(int) for name, cells in made.items()}
        labels = [str(i) for i in range(len(masses))] if names is None else list(names)
        return {"name": labels, **{name: cells.tolist() for name, cells in made.items()}}


def _inverse(roots: Array) -> Array:
    """Return 1/σ (k,), and 0 for axes without inertia."""
    return np.asarray(np.divide(1.0, roots, out=np.zeros(len(roots)), where=roots > 0))


def _contributions(masses: Array, points: Array, values: Array) -> Array:
    return np.asarray(masses[:, None] * points**2 * _inverse(values))


def _cos2(points: Array, masses: Array, inertias: Array) -> Array:
    """Return squared cosines (m, k); a point at the centre has none."""
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
    model: MapPoints, table: Any, total: float, *, draws: int, level: float, seed: int
) -> Ellipses:
    """Return the ellipses of rows and columns by the multinomial bootstrap.

    Every draw has as many counts as the table, in its cells with its shares; its rows and
    columns are projected on the axes of the fit, which therefore do not turn.

    Parameters
    ----------
    model : MapPoints
        The fit.
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
    rows, columns = _Spread(model.row_coordinates_), _Spread(model.column_coordinates_)
    by_row, by_column = model.column_standard_, model.row_standard_
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


def kept_table(counts: Counts, kept: tuple[Array, Array], weights: Array | None) -> Any:
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


def _like(table: Any, cells: Array) -> Any:
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
