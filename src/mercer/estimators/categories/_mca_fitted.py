"""The fitted attributes of multiple correspondence analysis.

How many axes of categories are beyond chance: tables whose columns are permuted.
"""

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, eigvalsh
from mercer.diagnostics import read_levels, spread_of, v_tests
from mercer.errors import NotSupportedError
from mercer.estimators.categories._adjusted_inertias import beyond_one, inertias, map_of, mapped
from mercer.estimators.categories._category_codes import Coded, Variable
from mercer.estimators.categories._indicator_table import Active, Categories, along, distances
from mercer.estimators.categories._supplementary_variables import (
    Placed,
    SupplementaryVariables,
    supplementary_variables,
)
from mercer.selection import Choice, Rule
from mercer.solvers import Spectrum

DRAWS = 39
_FEW_DRAWS = 20
_LEVEL = 0.95
_PAIRS = 1e7  # pairs of cells to count beyond which fewer tables are drawn
_ROWS = 5e6
_ORDER = 3000


def choice_of_axes(values: Array, made: Categories, seed: int) -> Choice:
    """Return how many eigenvalues exceed those of permuted columns, by rank.

    Every column is shuffled on its own: shares stay, association goes. The i-th eigenvalue is
    held against the 95 % quantile of the i-th of the tables drawn; absolute ones, for shares
    of the inertia only say how it is spread.

    Parameters
    ----------
    values : array of shape (k,)
        Leading eigenvalues of the indicator.
    made : Categories
        The matrix.
    seed : int
        Of the draws.
    """
    null = permuted(made.active, made.active.axes, None, seed)
    edge = np.quantile(null, _LEVEL, axis=0)
    known = values[: len(edge)]
    below = np.flatnonzero(known <= edge[: len(known)] * (1 + 1e-9))
    k = int(below[0]) if len(below) else len(known)
    q = made.active.q
    rules = (
        Rule("permuted columns", k, "larger than with every column permuted on its own"),
        Rule("above 1/Q", beyond_one(values, q), "more than one variable alone brings"),
    )
    n = made.active.coded.shape[0]
    return Choice(k, rules, np.ones(1), f"all {n:,} rows, {len(null)} draws")


def permuted(active: Active, axes: int, draws: int | None, seed: int) -> Array:
    """Return eigenvalues (draws, axes) of tables with the same counts of levels, permuted.

    Parameters
    ----------
    active : Active
        Counts of the levels, weights counted; codes and weights are not looked at.
    axes : int
        Eigenvalues of each table.
    draws : int or None
        Tables; None is 39, and 20 where a table is large.
    seed : int
        Of the draws.
    """
    rows = round(active.total)
    if rows > _ROWS or len(active.shares) > _ORDER:
        raise NotSupportedError(
            "so large a table is not permuted",
            got=f"{rows:,} rows, {len(active.shares):,} levels",
            fix="pass a number as n_components, or fit a sample of the rows first",
        )
    rng = np.random.default_rng(seed)
    columns = _written(active, rows)
    if draws is None:
        draws = DRAWS if rows * len(columns) ** 2 <= _PAIRS else _FEW_DRAWS
    counts = Coded(columns.T, active.coded.variables).shares(np.ones(rows))
    base = dataclasses.replace(
        active,
        weights=None,
        total=float(rows),
        counts=counts,
        kept=active.kept & (counts > 0),
    )
    found = np.zeros((draws, axes))
    for draw in range(draws):
        codes = np.stack([rng.permutation(column) for column in columns]).T
        table = dataclasses.replace(base, coded=Coded(codes, active.coded.variables))
        values = eigvalsh(Categories(table).square)[:axes]
        found[draw, : len(values)] = np.maximum(values, 0.0)
    return found


def _written(active: Active, rows: int) -> Array:
    """Return the codes (Q, N) of every variable, each level as often as it counts.

    Weights are repeat counts; cells without a level come last, as -1.
    """
    ends = active.coded.offsets
    columns = np.full((len(ends) - 1, rows), -1, np.int32)
    for at, column in enumerate(columns):
        marks = np.round(np.cumsum(active.counts[ends[at] : ends[at + 1]])).astype(int)
        levels = np.repeat(np.arange(len(marks)), np.diff(marks, prepend=0))[:rows]
        column[: len(levels)] = levels
    return columns


class RowsOfCategories:
    """Mixin: numbers about rows that follow from their coordinates, and variables among them.

    Nothing of the size of the rows is held but coordinates, masses and distances.
    """

    row_coordinates_: Array
    row_masses_: Array
    eigenvalues_: Array
    _indicator_values: Array
    _stretch: Array
    _distances: Array
    _total: float
    _variables: tuple[Variable, ...]
    _kept: Array
    _counts: Array
    _axes: int
    _kind: str

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates of the rows (n, k): variance one on every axis."""
        return self.row_coordinates_ * _inverse(self._stretch * np.sqrt(self._indicator_values))

    @property
    def row_contributions_(self) -> Array:
        """Contributions w·f²/λ of the rows to the axes (n, k)."""
        return self.row_masses_[:, None] * self.row_standard_**2

    @property
    def row_inertias_(self) -> Array:
        """Inertias w·d² of the rows (n,) in the indicator."""
        return self.row_masses_ * self._distances

    @property
    def row_cos2_(self) -> Array:
        """Shares f²/d² of the squared distance of each row that an axis shows (n, k)."""
        rows = self.row_coordinates_ * _inverse(self._stretch)
        return np.minimum(rows**2 * _inverse(self._distances)[:, None], 1.0)

    @property
    def categories_(self) -> list[Array]:
        """The levels of every column; a last one None stands for missing cells."""
        return [
            np.append(v.values.astype(object), [None]) if v.gap else v.values
            for v in self._variables
        ]

    def null_band(self, *, draws: int = DRAWS, tail: float = 0.05) -> Array:
        """Return the band (2, r) of eigenvalues where no variable says a thing of another.

        Tables with the same counts of levels, every column permuted on its own; by rank, on
        the scale of `eigenvalues_`. Axes above the band are not chance.

        Parameters
        ----------
        draws : int
            Tables that are drawn.
        tail : float
            Share of the draws below the band, and above it.
        """
        check_is_fitted(self)
        sizes = [len(variable) for variable in self._variables]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        varying = np.bincount(owner, self._kept, minlength=len(sizes)) > 0
        none = Coded(np.empty((0, len(sizes)), np.int32), self._variables)
        active = Active(none, None, self._total, self._counts, self._kept, varying)
        seed = self._seed()  # type: ignore[attr-defined]
        null = permuted(active, self._axes, draws, seed)
        band = np.quantile(null, [tail, 1 - tail], axis=0)
        return map_of(self._kind, active.q)(band)

    def supplementary(self, Y: Any) -> SupplementaryVariables:
        """Return where variables that made no axis lie.

        Parameters
        ----------
        Y : frame or array of shape (n_samples, ·)
            Columns for the rows of the fit, in their order. Numbers get correlations with the
            axes; text, bools and categories get coordinates, v-tests and η². Cells may be
            missing.
        """
        check_is_fitted(self)
        rows = self.row_coordinates_ * _inverse(self._stretch)
        placed = Placed(
            rows, self.row_masses_, self._total, self._indicator_values, self.eigenvalues_
        )
        return supplementary_variables(Y, placed)


def fitted_state(spectrum: Spectrum, made: Categories, kind: str) -> dict[str, Any]:
    """Return the fitted attributes from the leading pairs of AᵀA.

    Parameters
    ----------
    spectrum : Spectrum
        Pairs; as many are kept as the certificate has.
    made : Categories
        The matrix.
    kind : str
        Which inertias: see `kind_of`.
    """
    k = len(spectrum.certificate.lower)
    active, masses, q = made.active, made.active.masses, made.active.q
    values = np.maximum(spectrum.values[:k], 0.0)
    values = np.where(values > spectrum.certificate.zero_level, values, 0.0)
    right = np.asarray(spectrum.right[:, :k]) * (values > 0)
    found = inertias(kind, values, made)
    standard = right / np.sqrt(masses)[:, None]
    columns = standard * np.sqrt(found.eigenvalues)
    whole = np.zeros((len(active.kept), k))
    whole[active.kept] = standard
    origin = masses @ standard
    # Where every level of a variable counts, its part of the origin is rounding only.
    rows = along(active.coded, whole, q, origin)
    stretch = np.ones(k)
    if kind in ("benzecri", "greenacre"):
        stretch = np.sqrt(found.eigenvalues) * _inverse(np.sqrt(values))
    share = found.ratio
    joint = made.settled.get("joint_")
    if joint is not None and share.sum() > 0:
        share = joint.share * found.eigenvalues / found.eigenvalues.sum()
    weights = active.masses_of_rows
    return {
        "eigenvalues_": found.eigenvalues,
        "explained_variance_ratio_": share,
        "total_inertia_": found.total,
        "n_components_": k,
        "row_masses_": weights,
        "column_masses_": masses,
        "row_coordinates_": rows * stretch,
        "column_coordinates_": columns,
        "column_standard_": standard,
        "column_contributions_": right**2,
        "column_cos2_": _shares(masses[:, None] * columns**2, found.squares),
        "column_inertias_": found.levels,
        "column_names_": active.labels,
        "row_names_": None if active.coded.rows is None else list(active.coded.rows),
        "variables_": active.names,
        "variable_contributions_": _by_variable(right**2, active.owner, q),
        "certificate_": mapped(spectrum.certificate, values, map_of(kind, q)),
        **_tests(made, rows),
        "_variables": active.coded.variables,
        "_standard": whole,
        "_origin": origin,
        "_stretch": stretch,
        "_indicator_values": values,
        "_distances": distances(active),
        "_total": active.total,
        "_kept": active.kept,
        "_counts": active.counts,
        "_axes": active.axes,
        "_kind": kind,
    }


def _tests(made: Categories, rows: Array) -> dict[str, Array]:
    """Return η² of the variables and v-tests of the levels."""
    active = made.active
    weights = active.masses_of_rows
    variance, spread = weights @ rows**2, spread_of(weights, rows)
    ends = active.coded.offsets
    eta2, tests = [], np.full((len(active.kept), rows.shape[1]), np.nan)
    for at in np.flatnonzero(active.varying).tolist():
        codes, size = active.coded.codes[:, at], len(active.coded.variables[at])
        shares, means, ratio = read_levels(codes, size, weights, rows, spread)
        eta2.append(ratio)
        found = v_tests(means, shares * active.total, active.total, variance)
        tests[ends[at] : ends[at + 1]] = found
    return {"eta2_": np.array(eta2), "v_tests_": tests[active.kept]}


def _by_variable(parts: Array, owner: Array, q: int) -> Array:
    found = np.zeros((q, parts.shape[1]))
    np.add.at(found, owner, parts)
    return found


def _shares(parts: Array, squares: Array) -> Array:
    return np.minimum(parts * _inverse(squares)[:, None], 1.0)


def _inverse(values: Array) -> Array:
    """Return 1/v, and 0 where v is 0: an axis without inertia has no coordinates."""
    return np.where(values > 0, 1 / np.where(values > 0, values, 1.0), 0.0)
