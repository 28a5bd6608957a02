"""Multiple correspondence analysis.

Missing categories filled: shares of levels where a cell should be.

Axes with equal eigenvalues: of all bases of their space, one by rule.
"""

import dataclasses
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, eigh
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.categories import _adjusted_inertias as adjusted
from mercer.estimators.categories import _indicator_table as indicator
from mercer.estimators.categories._category_cells import columns_of, note_columns, of_categories
from mercer.estimators.categories._category_codes import (
    Coded,
    Soft,
    Variable,
    coded,
    coded_again,
)
from mercer.estimators.categories._mca_fitted import (
    DRAWS,
    choice_of_axes,
    fitted_state,
    permuted,
)
from mercer.estimators.categories._supplementary_variables import (
    Placed,
    SupplementaryVariables,
    supplementary_variables,
)
from mercer.estimators.counts._count_map import inverse
from mercer.estimators.linear._pca_choice import warn_of
from mercer.estimators.mixed._mixed_axes import MixedAxes, fuzzy
from mercer.estimators.mixed._mixed_table import mixed
from mercer.estimators.walk._admission import held_rows, one_row, text_names
from mercer.estimators.walk._operated_estimator import Operated, OperatedEstimator
from mercer.estimators.walk._parameters import COUNT_OR_SHARE, RESOURCES
from mercer.planning import Path, Problem
from mercer.solvers import Spectrum


def filler_of(X: object, rank: int, weights: Array | None) -> MixedAxes:
    """Return the axes that tell what missing categories are expected to be.

    Regularised iterative MCA [Audigier2016]_: factor analysis of mixed data without numbers
    has the axes of multiple correspondence analysis.

    Parameters
    ----------
    X : frame or array of shape (n, Q)
        Rows with missing cells.
    rank : int
        Axes.
    weights : array of shape (n,) or None
        Repeat counts of the rows.
    """
    from mercer.estimators.mixed.famd import FAMD

    width = mixed(held_rows(X)).shape[1]
    model = FAMD(rank, categorical=range(width), missing="fill")
    found: MixedAxes = model.fit(X, sample_weight=weights)._axes
    return found


def softened(coded: Coded, X: object, filler: MixedAxes, unseen: str) -> Coded:
    """Return a coded table whose missing cells hold shares of levels, which sum to one.

    Parameters
    ----------
    coded : Coded
        The rows; missing cells have the code -1.
    X : frame or array of shape (n, Q)
        The same rows as they were given.
    filler : MixedAxes
        From `filler_of`.
    unseen : str
        "raise" or "passive".
    """
    table = mixed(held_rows(X), range(coded.shape[1]))
    holes = table.gaps()
    rows = np.flatnonzero(holes.any(axis=1))
    if rows.size == 0:
        return coded
    assert filler.filling is not None
    observed = filler.observed(table, unseen)[rows]
    expected = fuzzy(filler.filling, filler.frame, observed, holes[rows])
    soft = [Soft(at, rows[holes[rows, at]], shares) for at, shares in expected.items()]
    return dataclasses.replace(coded, soft=tuple(soft))


_TIE = 1e-6  # entries this close to the largest count as equal; the lowest index wins
_NEAR = 1e-9  # of the largest eigenvalue: closer ones are one


def settled(
    values: Array, right: Array, groups: Sequence[Sequence[int]], square: Array
) -> Array:
    """Return the vectors (J, k), those of equal eigenvalues replaced by a basis by rule.

    The space of a group has the projector P. The column Pe_j of largest norm is the first
    axis, and so on in what is left; so the same table gives the same axes, in whatever order
    its rows come, also where the group reaches beyond the axes asked for.

    Parameters
    ----------
    values, right : arrays of shape (k,) and (J, k)
        Leading pairs of AᵀA.
    groups : sequence of sequences of int
        Axes that cannot be told apart; k stands for one beyond.
    square : array of shape (J, J)
        AᵀA.
    """
    if not groups:
        return right
    every, vectors = eigh(square)
    found = right.copy()
    for group in groups:
        inside = [axis for axis in group if axis < len(values)]
        near = np.abs(every[:, None] - values[inside]) <= _NEAR * every[0]
        basis = vectors[:, near.any(axis=1)]
        if basis.shape[1] < len(inside):
            continue  # closer than the certificate can tell, and yet not equal
        for axis in inside:
            lengths = np.sum(basis**2, axis=1)
            first = int(np.argmax(lengths >= (1 - _TIE) * lengths.max()))
            along = basis[first] / np.sqrt(lengths[first])
            found[:, axis] = basis @ along
            basis = basis - np.outer(basis @ along, along)
    return found


_CODES = 8.0  # bytes of a cell: its code, and columns while they are read
_TIED = 2000  # levels up to which axes with equal eigenvalues are settled by rule


class MultipleCorrespondenceAnalysis(OperatedEstimator):
    r"""Axes of a table of categories: correspondence analysis of its indicator.

    Z (n, J) holds a one for the level of each of Q variables in every row. With masses w of
    the rows, shares p of the levels and masses c = p/Q,

        A = diag(√w/Q)·(Z - 1pᵀ)·diag(c^-½),   AᵀA = VΛVᵀ.

    Standard coordinates of levels are y = c^-½V, principal ones y√λ; a row lies at the mean
    of its levels, f = Σ_j (z_j/Q - c_j)·y_j. Z is never written down: AᵀA comes from counts
    of pairs of levels, exactly.

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto" or None
        Number of axes; or the share of inertia they must hold; or those larger than in tables
        whose columns are permuted (none is an answer); None keeps all.
    table : {"indicator", "burt", "adjusted", "joint"}
        Which inertias are reported: λ of the indicator; λ² of the Burt table; adjusted ones
        (Q/(Q - 1)·(λ - 1/Q))² for λ > 1/Q; or joint correspondence analysis, which fits the
        tables that cross two variables and leaves those that cross one with itself alone.
    correction : {"benzecri", "greenacre"} or None
        Adjusted inertias, as shares of their sum (Benzécri), or of the mean inertia of the
        tables that cross two variables (Greenacre, the smaller and the honest one).
    exclude : list of str or None
        Levels "variable=level" that make no axis (specific MCA). Their rows and masses stay.
    missing : {"raise", "level", "passive", "fill"}
        What to do about missing cells: refuse them and say where they are; give them a level
        of their own, "variable=missing"; let them make no axis, as excluded levels; or fill
        them with shares of levels by regularised iterative MCA.
    unseen : {"raise", "passive"}
        What `transform` does about a category that was not there at fit: name its row,
        column and value; or let it add nothing to the coordinates.
    tol : float or None
        Largest certified relative error of an eigenvalue; None is 1e-6.
    memory : int, str or None
        Bytes that fit may take, as a number, "4GB" or "4GiB"; None is 80 % of what is free.
    time : float or None
        Seconds that may be spent; the plan says when that means missing `tol`.
    device : None or "cpu"
        Where to compute.
    random_state : int, RandomState, Generator or None
        Seed of the iterative path and of permuted tables.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Inertias of the axes, as `table` and `correction` say.
    explained_variance_ratio_ : ndarray of shape (k,)
        Their shares of `total_inertia_`.
    total_inertia_ : float
        Of the table: (J - Q)/Q for the indicator with all levels.
    row_masses_, column_masses_ : ndarrays of shape (n,) and (J,)
        Masses, each summing to one where all levels count.
    row_coordinates_, column_coordinates_ : ndarrays of shape (n, k) and (J, k)
        Principal coordinates of rows and levels.
    row_standard_, column_standard_ : ndarrays of shape (n, k) and (J, k)
        Standard coordinates.
    row_contributions_, column_contributions_ : ndarrays of shape (n, k) and (J, k)
        Shares of the inertia of an axis; columns sum to one.
    row_cos2_, column_cos2_ : ndarrays of shape (n, k) and (J, k)
        Share of the squared distance of a point that an axis shows; of rows always in the
        space of the indicator.
    row_inertias_, column_inertias_ : ndarrays of shape (n,) and (J,)
        Parts of the inertia; those of levels sum to `total_inertia_`, those of rows to the
        inertia of the indicator.
    column_names_, variables_ : list of str
        Levels "variable=level" and variables that count; columns that do not vary do not.
    row_names_ : list of str or None
        Labels of the rows of a pandas frame.
    categories_ : list of ndarray
        The levels of every column, those that do not count too.
    variable_contributions_, eta2_ : ndarrays of shape (Q, k)
        Contributions and squared correlation ratios of the variables.
    v_tests_ : ndarray of shape (J, k)
        How many standard errors the rows of a level lie from the mean row.
    joint_ : Joint or None
        For table="joint": steps, whether they came to rest, and the share rebuilt.
    choice_ : Choice or None
        For "auto": the number, what other rules say, and how they differ in words.
    n_components_, n_samples_, n_features_in_ : int
        Axes kept, rows, columns.
    plan_ : Plan
        The path taken and the others.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.

    Notes
    -----
    Cost: nQ²/2 countings and an eigenproblem of order J; with very many levels a few passes
    over the nQ cells. Memory: codes of four bytes a cell, the indicator in sparse form, J²
    numbers, and the coordinates of the rows.

    Examples
    --------
    >>> import mercer
    >>> X = [["tea", "milk"], ["tea", "lemon"], ["coffee", "milk"], ["coffee", "none"]]
    >>> mca = mercer.MultipleCorrespondenceAnalysis(2).fit(X)
    >>> mca.eigenvalues_.round(3)
    array([0.854, 0.5  ])
    >>> mca.column_names_
    ['x0=coffee', 'x0=tea', 'x1=lemon', 'x1=milk', 'x1=none']
    """

    eigenvalues_: Array
    row_coordinates_: Array
    row_masses_: Array
    _variables: tuple[Variable, ...]

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [*COUNT_OR_SHARE, StrOptions({"auto"}), None],
        "table": [StrOptions({"indicator", "burt", "adjusted", "joint"})],
        "correction": [StrOptions({"benzecri", "greenacre"}), None],
        "exclude": ["array-like", None],
        "missing": [StrOptions({"raise", "level", "passive", "fill"})],
        "unseen": [StrOptions({"raise", "passive"})],
        **RESOURCES,
    }

    def __init__(
        self,
        n_components: int | float | str | None = 2,
        *,
        table: str = "indicator",
        correction: str | None = None,
        exclude: Any = None,
        missing: str = "raise",
        unseen: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.table = table
        self.correction = correction
        self.exclude = exclude
        self.missing = missing
        self.unseen = unseen
        super().__init__(tol, memory, time, device, random_state)

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Coded:  # type: ignore[override] # categories are no source
        """Return the coded table."""
        X = text_names(held_rows(X))
        columns, rows = columns_of(X)
        note_columns(self, X, reset=reset)
        if not reset:
            policies = {"missing": self._missing, "unseen": self._unseen}
            found = coded_again(columns, self._variables, **policies)
            if self._filler is None:
                return found
            return softened(found, X, self._filler, self._unseen)
        if len(columns[0].codes) < 2:
            raise one_row(f"n_samples = 1, X with {len(columns)} columns")
        self._given = X if self.missing == "fill" else None
        return dataclasses.replace(coded(columns, missing=self.missing), rows=rows)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        wanted = self.n_components
        if isinstance(wanted, bool) or (self.table == "joint" and wanted is None):
            raise InputError(
                "n_components must be a number here",
                got=f"n_components={wanted}, table={self.table!r}",
                fix="pass a whole number: joint axes are found for so many together",
            )
        if self.table == "joint" and self.correction is not None:
            raise InputError(
                "joint correspondence analysis needs no correction",
                got=f"table='joint', correction={self.correction!r}",
                fix="pass correction=None",
            )

    def _problem(self, source: Any, weights: Array | None = None) -> Problem:
        self._active = indicator.active_of(source, weights, self.exclude)
        n, q = source.shape
        asked = super()._problem(source, weights)
        costs = {"gram_flops": 8.0 * n * q * (q + 1), "held": _CODES * n * q}
        return dataclasses.replace(asked, **costs)

    def _shape(self, source: Coded) -> tuple[int, int, int | None]:
        n, q = source.shape
        return n, len(self._active.shares), n * q

    def _wanted(self, shape: tuple[int, int]) -> int:
        """Return how many pairs are found before the number is settled."""
        most = min(self._active.axes, *shape)
        if isinstance(self.n_components, Integral):
            return min(int(self.n_components), most)
        return most

    # -- operator and pairs -----------------------------------------------------------

    def _operator(self, source: Coded, weights: Array | None) -> Operated:
        filler = None
        if self.missing == "fill":
            wanted = self.n_components
            rank = int(wanted) if isinstance(wanted, Integral) else 2
            filler = filler_of(self._given, rank, weights)
            source = softened(source, self._given, filler, self.unseen)
            self._active = indicator.active_of(source, weights, self.exclude)
        indicator.warn_of_levels(self._active)
        made = indicator.Categories(self._active)
        made.settled["_filler"] = filler
        return made.operated()

    def _solve(
        self, source: Any, path: Path, weights: Array | None
    ) -> tuple[Spectrum, indicator.Categories]:
        spectrum, asked = super()._solve(source, path, weights)
        made: indicator.Categories = asked.found
        k = self._settled(spectrum, made)
        if self.table == "joint":
            square, found = adjusted.joint(made.square, made.active.owner, k)
            made.settled |= {"joint_square": square, "joint_": found}
            return adjusted.joint_pairs(square, k, self._tolerance(source), self._seed()), made
        certificate = spectrum.certificate
        if certificate.groups and len(spectrum.right) <= _TIED:
            right = settled(spectrum.values, spectrum.right, certificate.groups, made.square)
            spectrum = dataclasses.replace(spectrum, right=right)
        return dataclasses.replace(spectrum, certificate=certificate.first(k)), made

    def _settled(self, spectrum: Spectrum, made: indicator.Categories) -> int:
        """Return the number of axes from the spectrum."""
        values, q = spectrum.values, made.active.q
        kind = adjusted.kind_of(self.table, self.correction)
        adjusted.map_of(kind, q)  # refuses a single variable
        most = int(np.count_nonzero(values > spectrum.certificate.zero_level))
        if kind in ("benzecri", "greenacre"):
            most = min(most, adjusted.beyond_one(values, q))
        wanted = self.n_components
        if wanted == "auto":
            choice = choice_of_axes(values, made, self._seed())
            made.settled["choice_"] = choice
            return min(choice.k, most)
        if isinstance(wanted, Real) and not isinstance(wanted, Integral):
            ratio = adjusted.inertias(kind, values, made).ratio[:most]
            enough = np.cumsum(ratio) >= float(wanted) * (1 - 1e-12)
            return int(np.argmax(enough)) + 1 if enough.any() else most
        if wanted is not None and most < int(wanted):
            _warn_fewer(most, int(wanted), kind)
        return most

    # -- scale and project ------------------------------------------------------------

    def _scale(
        self, spectrum: Spectrum, found: indicator.Categories, source: Any
    ) -> dict[str, object]:
        choice = found.settled.get("choice_")
        if choice is not None:
            warn_of(choice, len(spectrum.certificate.lower))
        kind = adjusted.kind_of(self.table, self.correction)
        return fitted_state(spectrum, found, kind) | {
            "choice_": choice,
            "joint_": found.settled.get("joint_"),
            "n_samples_": source.shape[0],
            "_missing": self.missing,
            "_unseen": self.unseen,
            "_filler": found.settled["_filler"],
        }

    def _fitted(self, source: Any, weights: Array | None) -> dict[str, object]:
        state = super()._fitted(source, weights)
        state.pop("_active", None)
        state.pop("_given", None)
        return state

    def _project(self, source: Any) -> Array:
        indicator.warn_of_empty_rows(source, "is put at the mean of what it lacks")
        rows = indicator.along(source, self._standard, len(self.variables_), self._origin)
        return np.asarray(rows * self._stretch)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return self.fit(X, y, **fit_params).row_coordinates_.copy()

    # -- what follows from coordinates, masses and distances of the rows --------------

    @property
    def row_standard_(self) -> Array:
        """Standard coordinates of the rows (n, k): variance one on every axis."""
        return self.row_coordinates_ * inverse(self._stretch * np.sqrt(self._indicator_values))

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
        rows = self.row_coordinates_ * inverse(self._stretch)
        return np.minimum(rows**2 * inverse(self._distances)[:, None], 1.0)

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
        active = indicator.Active(none, None, self._total, self._counts, self._kept, varying)
        null = permuted(active, self._axes, draws, self._seed())
        band = np.quantile(null, [tail, 1 - tail], axis=0)
        return adjusted.map_of(self._kind, active.q)(band)

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
        rows = self.row_coordinates_ * inverse(self._stretch)
        placed = Placed(
            rows, self.row_masses_, self._total, self._indicator_values, self.eigenvalues_
        )
        return supplementary_variables(Y, placed)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: categories, text too; missing cells if a policy says."""
        return of_categories(super().__sklearn_tags__(), gaps=self.missing != "raise")


def _warn_fewer(most: int, wanted: int, kind: str) -> None:
    why = " with λ > 1/Q" if kind in ("benzecri", "greenacre") else ""
    if most == 0:
        warn(
            "no axis goes beyond what one variable alone brings: none is kept",
            got=f"n_components={wanted}, inertias by {kind!r}",
            fix='the variables say nothing of each other; see table="indicator" all the same',
            category=DataWarning,
        )
        return
    warn(
        f"the table has {most} axes{why}: all of them are kept",
        got=f"n_components={wanted}",
        fix=f"ask for at most {most}, or for None",
        category=DataWarning,
    )
