"""Correspondence analysis: a table of counts as a map of its rows and columns.

From the pairs of a table of counts to what is published of it.
"""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import EPS, Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.counts import _count_facts as notes
from mercer.estimators.counts import _count_map as maps
from mercer.estimators.counts import _count_table as tables
from mercer.estimators.counts import _independence as chance
from mercer.estimators.walk._admission import admit, held_rows
from mercer.estimators.walk._operated_estimator import Operated, OperatedEstimator
from mercer.estimators.walk._parameters import COUNT_OR_SHARE, RESOURCES
from mercer.selection import share
from mercer.solvers import Spectrum


def has_axes(margins: tables.Margins) -> bool:
    """Tell whether the inertia is more than rounding of P - rcᵀ can leave."""
    m, n = len(margins.rows), len(margins.columns)
    return margins.inertia > min(m, n) * (4 * EPS * max(m, n)) ** 2


def inertias_of(spectrum: Spectrum, most: int, total: float) -> Array:
    """Return at most `most` inertias; those at the level of rounding are zero."""
    values = np.maximum(spectrum.values[:most], 0.0)
    zero = spectrum.certificate.zero_level if total > 0 else np.inf
    return np.where(values > zero, np.minimum(values, 1.0), 0.0)


def unscaled(total: float, exponent: int) -> float:
    """Return total·2^exponent, or refuse counts whose sum is beyond the largest number."""
    with np.errstate(over="ignore"):
        found = float(np.ldexp(total, exponent))
    if np.isinf(found):
        raise InputError(
            "the counts are too large to be added up",
            got=f"a total of {total:.3g} times 2^{exponent}",
            fix="divide the table by a constant: the map stays what it is",
        )
    return found


def picked(names: list[str] | None, kept: Array) -> list[str] | None:
    """Return the names of rows that are kept."""
    if names is None or kept.all():
        return names
    return [names[i] for i in np.flatnonzero(kept)]


def kept_of(count: int, dropped: Array) -> Array:
    """Return which of `count` rows or columns are kept, bool."""
    kept = np.ones(count, bool)
    kept[dropped] = False
    return kept


def spread(values: Array, kept: Array) -> Array:
    """Return values of kept rows (m', …) in their places, zero elsewhere (m, …)."""
    if kept.all():
        return values
    out = np.zeros((len(kept), *values.shape[1:]))
    out[kept] = values
    return out


def judged(
    state: dict[str, Array],
    rows: Array,
    columns: Array,
    margins: tables.Margins,
    source: tables.Counts,
) -> dict[str, object]:
    """Return the test of independence and the facts, which are said where they mislead."""
    total, values = state["total_inertia_"], state["eigenvalues_"]
    r, c = state["row_masses_"], state["column_masses_"]
    column_points = state["column_standard_"] * np.sqrt(values)
    arches = [notes.arch_of(state["row_coordinates_"], r), notes.arch_of(column_points, c)]
    facts = notes.TableFacts(
        dropped_rows=np.flatnonzero(~rows),
        dropped_columns=np.flatnonzero(~columns),
        whole=source.whole,
        independent=total == 0,
        # One row far out bends a parabola as well; an arch is on both sides.
        arch=min((found for found in arches if found is not None), default=None),
        pieces=notes.pieces_of(source.table, float(values[0]) if len(values) else 0.0),
    )
    notes.warn_facts(facts)
    test = chance.independence(r, c, total, margins.total, source.exponent)
    return {"independence_": test, "facts_": facts}


def warn_centred(totals: Array, names: list[str] | None) -> None:
    """Say which new rows have no counts, and so no profile: they lie at the centre."""
    empty = np.flatnonzero(~(totals > 0))
    if len(empty):
        at = int(empty[0])
        name = "" if names is None else f" ({names[at]!r})"
        warn(
            "rows without counts have no profile; they are placed at the centre of the map",
            got=f"row {at}{name}: its total is zero; {len(empty):,} of {len(totals):,} rows",
            fix="drop empty rows first",
            category=DataWarning,
        )


def refuse_empty_columns(totals: Array) -> None:
    """Refuse supplementary columns without counts: they have no profile, and no place."""
    empty = np.flatnonzero(~(totals > 0))
    if len(empty):
        raise InputError(
            "a column without counts has no profile, and no place on the map",
            got=f"column {empty[0]}: its total is zero; {len(empty):,} such columns",
            fix="drop empty columns first",
        )


def warn_lost(lost: Array, dropped: Array, names: Sequence[str] | None) -> None:
    """Say that counts of new rows lie in columns that were empty at fit."""
    some = int(np.sum(lost > 0))
    if some:
        first = dropped[0] if names is None else repr(str(names[dropped[0]]))
        warn(
            "counts in columns that were empty at fit are left out: they have no place",
            got=f"{some:,} rows; {len(dropped):,} such columns, the first {first}",
            fix="fit on rows that have counts in these columns, or drop the columns",
            category=DataWarning,
        )


class _ColumnsBeside(BaseEstimator):
    """Stands in for an estimator at the door: supplementary columns have names of their own."""

    _fewest = 1


def beside(Y: object, rows: int) -> tables.Counts:
    """Return counts (rows, q) of columns that were not in the table of the fit."""
    data, names = tables.named_rows(Y)
    found = tables.counts(admit(_ColumnsBeside(), held_rows(data), reset=True), names)
    refuse_other_rows(found, rows)
    return found


def refuse_other_rows(found: tables.Counts, rows: int) -> None:
    """Refuse a table that has not the rows of the fit."""
    if found.shape[0] != rows:
        raise InputError(
            "the rows must be those of the fit",
            got=f"a table of shape {found.shape}, a fit of {rows:,} rows",
            fix=f"pass {rows:,} rows, in the order of the fit",
        )


_LOOKED_AT = 300  # axes that are found before their number is settled, at most


class CorrespondenceAnalysis(OperatedEstimator):
    r"""Rows and columns of a table of counts on one map, by what is not independence.

    With P = N/g, masses r and c of rows and columns, D_r^-½(P - rcᵀ)D_c^-½ = UΔVᵀ. Inertias
    are λ = δ², standard coordinates D_r^-½U and D_c^-½V, principal ones those times Δ, and
    χ² = g·Σλ. Distances between rows on the map are χ² distances between their profiles.

    Tables may be arrays, frames or SciPy sparse matrices, which are never densified. The
    names of rows are the index of a pandas frame, or a first column of text. Rows and
    columns without counts are left out, with a DataWarning that names them.

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto" or None
        Number of axes; or the share of inertia they must show; or those beyond what tables
        with independent rows and columns have (none is an answer); None keeps all with
        inertia. There are min(m, n) - 1 at most; fewer rows or columns give fewer axes.
    tol : float or None
        Largest certified relative error of an inertia; None is 1e-6.
    memory : int, str or None
        Bytes that fit may take, as a number, "4GB" or "4GiB"; None is 80 % of what is free.
    time : float or None
        Seconds that may be spent; the plan says when that means missing `tol`.
    device : None or "cpu"
        Where to compute.
    random_state : int, RandomState, Generator or None
        Start of the random numbers; the default gives the same bits every time.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Inertias λ, masses summing to one.
    explained_variance_ratio_ : ndarray of shape (k,)
        Shares of `total_inertia_`.
    total_inertia_, total_ : float
        χ²/g, and g.
    row_coordinates_, column_coordinates_ : ndarray of shape (m, k), (n, k)
        Principal coordinates. `row_standard_` and `column_standard_` are standard ones.
    row_masses_, column_masses_, row_inertias_, column_inertias_ : ndarray
        Masses sum to one, inertias to `total_inertia_`.
    row_contributions_, column_contributions_ : ndarray of shape (m, k), (n, k)
        Shares in the inertia of an axis; they sum to one.
    row_cos2_, column_cos2_, row_quality_, column_quality_ : ndarray
        Shares of a point that an axis, and all axes together, show.
    row_names_, column_names_ : list of str
        Names of the points; `row_names_` is None where rows have none.
    independence_ : Independence
        χ² test, Cramér's V, share of cells with an expected count below five.
    facts_ : TableFacts
        What was left out; an arch; a table in pieces.
    rank_ : int
        Axes whose inertia is not zero.
    choice_ : Choice
        How many axes and why, for n_components="auto".
    plan_, certificate_ : Plan, Certificate
        The path taken, and intervals that hold the inertias.
    n_components_, n_features_in_, n_samples_ : int
        k, and columns and rows of the table as given.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CorrespondenceAnalysis
    >>> eyes_by_hair = np.array([[68, 119, 26, 7], [15, 54, 14, 10],
    ...                          [5, 29, 14, 16], [20, 84, 17, 94]])
    >>> ca = CorrespondenceAnalysis(2).fit(eyes_by_hair)
    >>> ca.eigenvalues_.round(4).tolist()
    [0.2088, 0.0222]
    >>> round(ca.independence_.chi2, 1)
    138.3
    """

    eigenvalues_: Array
    row_coordinates_: Array
    column_standard_: Array
    row_masses_: Array
    column_masses_: Array
    row_inertias_: Array
    column_inertias_: Array

    _fewest: ClassVar[int] = 1  # one row is refused where it can be said better

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [*COUNT_OR_SHARE, StrOptions({"auto"}), None],
        **RESOURCES,
    }

    def __init__(
        self,
        n_components: int | float | str | None = 2,
        *,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        super().__init__(tol, memory, time, device, random_state)

    def _admit(self, X: Any, *, reset: bool) -> tables.Counts:  # type: ignore[override] # counts are no source
        data, names = tables.named_rows(X)
        source = admit(self, held_rows(data), reset=reset)
        return tables.counts(source, names, self._names)

    def _shape(self, source: tables.Counts) -> tuple[int, int, int | None]:
        if self.n_components == "auto":  # refused before anything is solved
            chance.affordable(
                *(int(np.sum(side > 0)) for side in (source.rows, source.columns))
            )
        return (*source.shape, source.nnz)

    def _wanted(self, shape: tuple[int, int]) -> int:
        most = max(min(shape) - 1, 1)
        if self.n_components == "auto":
            return min(most, _LOOKED_AT)
        wanted = self.n_components
        return min(int(wanted), most) if isinstance(wanted, Integral) else most

    def _operator(self, source: tables.Counts, weights: Array | None) -> Operated:
        op, margins = tables.framed(source, weights)
        notes.warn_totals(source.table, source.rows, source.columns)
        given = None if weights is None else weights > 0
        rows = margins.rows > 0
        tables.warn_empty(rows if given is None else rows | ~given, source.names, "row")
        tables.warn_empty(margins.columns > 0, self._names, "column")
        return Operated(op, margins.inertia, margins, margins.inertia + 1.0)

    def _scale(self, spectrum: Spectrum, found: Operated, source: Any) -> dict[str, object]:
        margins: tables.Margins = found.found
        rows, columns = margins.rows > 0, margins.columns > 0
        total = margins.inertia if has_axes(margins) else 0.0
        values = inertias_of(spectrum, int(min(rows.sum(), columns.sum())) - 1, total)
        k, settled = self._settle(values, total, margins, source.exponent)
        values = values[:k]
        standard = spectrum.right[:, :k] * (values > 0)
        standard *= np.where(columns, margins.columns, 1.0)[:, None] ** -0.5
        points = tables.projected(source.table, found.op.level, margins.columns, standard)
        state = {
            "eigenvalues_": values,
            "explained_variance_ratio_": values / (total or 1.0),
            "total_inertia_": total,
            "total_": unscaled(margins.total, source.exponent),
            "row_coordinates_": points if rows.all() else points[rows],
            "column_standard_": standard[columns],
            "row_masses_": margins.rows[rows],
            "column_masses_": margins.columns[columns],
            "row_inertias_": margins.row_inertias[rows] * (total > 0),
            "column_inertias_": margins.column_inertias[columns] * (total > 0),
            "row_names_": picked(source.names, rows),
            "column_names_": self._column_names(columns),
            "rank_": int(np.sum(values > 0)),
            "n_components_": k,
            "n_samples_": source.shape[0],
            "certificate_": spectrum.certificate.first(k),
            "_weights": margins.weights,
            **settled,
        }
        return state | judged(state, rows, columns, margins, source)

    def _settle(
        self, values: Array, total: float, margins: tables.Margins, exponent: int
    ) -> tuple[int, dict[str, object]]:
        """Return the number of axes, and what was found on the way to it."""
        if self.n_components == "auto":
            r, c = margins.rows[margins.rows > 0], margins.columns[margins.columns > 0]
            draws = chance.affordable(len(r), len(c))
            band = chance.null_band(
                r, c, unscaled(margins.total, exponent), draws=draws, seed=self._seed()
            )
            choice = chance.chosen(values, band, draws, (len(r), len(c)))
            chance.warn_of_none(choice)
            return choice.k, {"choice_": choice}
        if self.n_components is None:  # a row that stands twice makes no axis more
            return max(int(np.sum(values > 0)), 1), {}
        if isinstance(self.n_components, Integral):
            return len(values), {}
        assert isinstance(self.n_components, float)
        most = len(values)
        return min(share(values, self.n_components, total), most) if total else most, {}

    def _column_names(self, kept: Array) -> list[str]:
        names = self._names
        if names is None:
            names = [f"x{j}" for j in range(len(kept))]
        return [str(names[j]) for j in np.flatnonzero(kept)]

    def _project(self, source: Any) -> Array:
        standard, totals = self.column_standard_, source.rows
        masses, lost = self.column_masses_, self.facts_.dropped_columns
        if len(lost):
            kept = kept_of(source.shape[1], lost)
            standard, masses = spread(standard, kept), spread(masses, kept)
            totals = source.table @ kept.astype(np.float64)
            warn_lost(source.rows - totals, lost, self._names)
        warn_centred(totals, source.names)
        points = tables.projected(source.table, totals, masses, standard)
        return points.astype(np.float32) if source.narrow else points

    def transform(self, X: Any) -> Array:
        """Return principal coordinates of rows, of shape (n_samples, n_components).

        Those of the table come out as `row_coordinates_`; others are supplementary rows,
        (h/Σh)ᵀ times the standard coordinates of the columns.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of counts over the columns of the fit. A row without any lies at the centre,
            which a DataWarning says.
        """
        return super().transform(X)

    # -- what follows from masses, inertias and one kind of coordinates of each side ---

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates (m, k) of the rows: Σ_i r_iφ_i² = 1 on every axis."""
        return self.row_coordinates_ * maps.inverse(np.sqrt(self.eigenvalues_))

    @property
    def column_coordinates_(self) -> Array:
        """Principal coordinates (n, k) of the columns: Σ_j c_jg_j² = λ."""
        return self.column_standard_ * np.sqrt(self.eigenvalues_)

    @property
    def row_contributions_(self) -> Array:
        """Shares (m, k) of the rows in the inertia of each axis; they sum to one."""
        return maps.contributions(self.row_masses_, self.row_coordinates_, self.eigenvalues_)

    @property
    def column_contributions_(self) -> Array:
        """Shares (n, k) of the columns in the inertia of each axis; they sum to one."""
        return np.asarray(self.column_masses_[:, None] * self.column_standard_**2)

    @property
    def row_cos2_(self) -> Array:
        """Shares (m, k) of each axis in the inertia of a row."""
        return maps.squared_cosines(self.row_coordinates_, self.row_masses_, self.row_inertias_)

    @property
    def column_cos2_(self) -> Array:
        """Shares (n, k) of each axis in the inertia of a column."""
        return maps.squared_cosines(
            self.column_coordinates_, self.column_masses_, self.column_inertias_
        )

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
        if scaling not in maps.SCALINGS:
            raise InputError(
                f"there is no scaling {scaling!r}",
                got=f"scaling={scaling!r}",
                fix=f"take one of {', '.join(maps.SCALINGS)}",
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
        made: dict[str, Array] = {"mass": masses, "qlt": cos2.sum(axis=1)}
        made["inr"] = inertias / total
        for axis in range(points.shape[1]):
            made[f"k={axis + 1}"] = points[:, axis]
            made[f"cor {axis + 1}"], made[f"ctr {axis + 1}"] = cos2[:, axis], shares[:, axis]
        if per_mille:
            made = {name: np.rint(1000 * cells).astype(int) for name, cells in made.items()}
        labels = [str(i) for i in range(len(masses))] if names is None else list(names)
        return {"name": labels, **{name: cells.tolist() for name, cells in made.items()}}

    # -- what is asked of the map ----------------------------------------------------

    def supplementary_columns(self, Y: Any) -> Array:
        """Return principal coordinates (q, k) of columns that were not in the table.

        Parameters
        ----------
        Y : array, sparse matrix or frame of shape (n_samples, q)
            Counts of the rows of the fit, in their order.
        """
        check_is_fitted(self)
        given = beside(Y, self.n_samples_)
        kept = kept_of(self.n_samples_, self.facts_.dropped_rows)
        weights = kept.astype(np.float64) if self._weights is None else self._weights * kept
        standard = spread(self.row_standard_, kept) * weights[:, None]
        totals = np.asarray(given.table.T @ weights)
        refuse_empty_columns(totals)
        return np.asarray(given.table.T @ standard) / totals[:, None]

    def residuals(self, X: Any) -> tables.Residuals:
        """Return how far each cell of X is from independence, as a dense table.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, n)
            The table of the fit, or other rows over its columns.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        kept = kept_of(source.shape[1], self.facts_.dropped_columns)
        total = np.ldexp(self.total_, -source.exponent)
        return tables.residuals(
            source, spread(self.column_masses_, kept), total, self._budget()
        )

    def ellipses(self, X: Any, *, draws: int = 500, level: float = 0.95) -> maps.Ellipses:
        """Return where the points would lie in other samples, by the multinomial bootstrap.

        Tables with as many counts are drawn from the shares of X and projected on the axes
        of the fit as supplementary points. At most 5e8 cells are drawn in all.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The table of the fit: counts.
        draws : int
            Tables, at least two.
        level : float in (0, 1)
            Share of tables whose point an ellipse holds.
        """
        check_is_fitted(self)
        source, facts = self._admit(X, reset=False), self.facts_
        refuse_other_rows(source, self.n_samples_)
        kept = (
            kept_of(self.n_samples_, facts.dropped_rows),
            kept_of(self.n_features_in_, facts.dropped_columns),
        )
        table = maps.kept_table(source, kept, self._weights)
        principal = self.row_coordinates_, self.column_coordinates_
        standard = self.row_standard_, self.column_standard_
        seed = self._seed()
        return maps.ellipses(
            principal, standard, table, self.total_, draws=draws, level=level, seed=seed
        )

    def null_band(self, *, draws: int = chance.DRAWS, tail: float = 0.05) -> Array:
        """Return the band (2, r) of the largest inertia that chance leaves, axis by axis.

        Multinomial tables with independent rows and columns at the margins of the fit;
        r = min(m, n) - 1. An axis above the upper end, and all before it, show more than
        chance: these are kept by n_components="auto".

        Parameters
        ----------
        draws : int
            Tables; fewer are drawn where they are large.
        tail : float
            Share of the draws below the band, and above it.
        """
        check_is_fitted(self)
        r, c = self.row_masses_, self.column_masses_
        draws = chance.affordable(len(r), len(c), draws)
        return chance.null_band(r, c, self.total_, draws=draws, seed=self._seed(), tail=tail)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: counts are not negative."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
