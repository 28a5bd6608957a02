"""What a map of rows and columns says of each point: coordinates, contributions, quality."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError

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
