"""Linear discriminant analysis: the axes along which classes lie apart."""

import dataclasses
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.groups import _canonical_axes as solving
from mercer.estimators.groups._class_checks import LooksAtClasses
from mercer.estimators.groups._class_labels import Labels, TellsClasses, labels_of, priors_of
from mercer.estimators.walk._admission import refuse_bad_cells, text_names
from mercer.estimators.walk._callbacks import followed
from mercer.estimators.walk._parameters import COUNT, RESOURCES, check_fitted, publish
from mercer.estimators.walk._spectral_estimator import counts_of
from mercer.operators import (
    Centring,
    GroupedRows,
    GroupMoments,
    centred,
    in_levels,
    refuse_lost,
    rows_of,
)
from mercer.planning import Path, PathEndedError, Problem
from mercer.solvers import Spectrum, signs_of
from mercer.sources import Source

_PASSING = (
    "_labels",
    "_grouped",
    "_powers",
    "_journal",
)  # what a fit needs and a model does not
_APART = 1e-6  # share of the differences between means, outside the range, that is told


class LinearDiscriminantAnalysis(TellsClasses, LooksAtClasses):
    r"""Axes w that spread class means most, wᵀBw, for rows that spread by wᵀWw = 1 in a class.

    W is the pooled covariance within classes (dividing by n - G), T whitens it (TᵀWT = I),
    and the axes are T·V from the SVD of √(nπ_g/(G - 1))·(mean_g - x̄)T = U diag(σ)Vᵀ. No
    difference of large squares is formed: every class has its own origin.

    Use it where rows have known classes: to see them apart (`transform`), to say how far
    (`tests_`, `permutation`), by which columns (`structure_`), and to predict them.

    Parameters
    ----------
    n_components : int or None
        Axes that `transform` returns; at most, and by default, min(G - 1, p). Predictions
        use all of them.
    shrinkage : float in [0, 1], "auto" or None
        s in W ← (1 - s)W + s·(tr W/p)·I; "auto" finds it for each class by the formula of
        [Ledoit2004]_; None takes W as it is, through its range where it is singular.
    priors : array of shape (G,) or None
        Probabilities of the classes, in the order of their labels; None takes their shares
        of the rows.
    tol : float or None
        Largest certified relative error of an eigenvalue; None is 1e-6.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Labels, sorted.
    class_counts_, priors_ : ndarray of shape (G,)
        Rows (Σw) of each class, and its probability.
    means_ : ndarray of shape (G, p)
        Class means; `xbar_` (p,) is Σπ_g·mean_g.
    scalings_ : ndarray of shape (p, k)
        Axes w with wᵀWw = 1, as MASS has them; scikit-learn's are √(n/(n - G)) longer.
    eigenvalues_ : ndarray of shape (k,)
        σ²: variance between by variance within, along each axis.
    explained_variance_ratio_ : ndarray of shape (k,)
        σ²/Σσ², the "proportion of trace".
    centres_ : ndarray of shape (G, k)
        Class means in the coordinates of `transform`.
    structure_, structure_within_ : ndarray of shape (p, k)
        Correlations of columns with axes, over all rows, and pooled within classes.
    tests_ : WilksTests or None
        Sequential tests; None with shrinkage, or where W is singular.
    coef_, intercept_ : ndarray of shape (G, p) and (G,), or (1, p) and (1,)
        The same as `decision_function` as weights of columns.
    within_rank_ : int
        Rank of W.
    certificate_ : Certificate
        Intervals that hold the eigenvalues; axes that cannot be told apart.
    n_components_, n_samples_, n_features_in_ : int
        k, n and p.
    plan_ : Plan
        The path taken and the others.

    Notes
    -----
    Cost: one pass and np² operations for tall data, p×p numbers; with fewer rows than
    columns n²p, and two copies of the centred rows. Sparse rows are made dense a few at a
    time. Probabilities are those of normal classes with the maximum-likelihood covariance
    W·(n - G)/n, as in scikit-learn; predict() of MASS takes W.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearDiscriminantAnalysis
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[-0.8, -1], [0.5, 2]])
    array(['a', 'b'], dtype='<U1')
    >>> model.transform(X).shape
    (6, 1)
    """

    _labels: Labels
    _grouped: GroupedRows | None = None
    _powers: Array | None = None  # of units of columns, where these lie far apart
    _usual_tol = 1e-6

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [COUNT, None],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "priors": ["array-like", None],
        **RESOURCES,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        shrinkage: float | str | None = None,
        priors: Any = None,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.priors = priors
        super().__init__(tol, memory, time, device, random_state)

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fit the model to rows X with classes y.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows in memory; they are never written to.
        y : array of shape (n_samples,)
            The class of every row: text, whole numbers or booleans.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts: weight 2 is the same as the row standing twice.

        Returns
        -------
        self
        """
        blank = clone(self)
        blank._check_parameters()
        source = blank._admit(X, reset=True)
        weights = counts_of(sample_weight, source)
        blank._labels = labels_of(y, source.shape[0], weights, type(self).__name__)
        blank._refuse_more(source.shape[1])
        fitted = followed(self, X, y, lambda: blank._fitted(source, weights))
        publish(self, {k: v for k, v in fitted.items() if k not in _PASSING})
        return self

    def _admit(self, X: Any, *, reset: bool) -> Source:
        return super()._admit(text_names(X), reset=reset)

    def _refuse_more(self, p: int) -> None:
        most = min(len(self._labels.classes) - 1, p)
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                "n_components cannot be larger than min(n_features, n_classes - 1)",
                got=f"n_components={self.n_components}, {p} columns,"
                f" {len(self._labels.classes)} classes",
                fix=f"ask for at most {most}",
            )

    # -- plan -------------------------------------------------------------------------

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        n, p = source.shape
        paths = ("svd", "gram") if n >= p else ("svd",)
        return self._problem_of(source, (n, p), min(n, p), allowed=paths)  # all of W

    # -- operator and pairs -----------------------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, solving.Between]:
        found, powers = in_levels(source, lambda rows: self._solved(rows, path, weights))
        self._powers = powers
        return found

    def _solved(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, solving.Between]:
        if self._grouped is None or self._grouped.given is not source:
            groups = len(self._labels.classes)
            self._grouped = GroupedRows(source, self._labels.codes, groups, weights)
        moments, white = self._whitened(self._grouped, source, path)
        if path.then is not None and white.rank < white.possible:
            raise PathEndedError("sums of squares cannot tell which columns are collinear")
        priors = priors_of(self.priors, moments.totals, self._labels.classes)
        found = solving.between(moments, white, priors)
        return solving.canonical(found, self._tolerance(source)), found

    def _whitened(
        self, rows: GroupedRows, source: Source, path: Path
    ) -> tuple[GroupMoments, solving.Whitened]:
        """Return class sums and the coordinates that whiten W, along one path."""
        auto, groups, gram = self.shrinkage == "auto", rows.groups, path.name == "gram"
        with np.errstate(over="ignore", invalid="ignore"):  # bad cells are named below
            moments = rows.moments(whole=gram and not auto)
        if not np.isfinite(moments.raw).all() or not np.isfinite(moments.means).all():
            refuse_bad_cells(source, self._names)
        if auto or self.shrinkage is None:  # a number looks at columns as they are
            refuse_lost(rows.vanished(solving.diagonal_of(moments)))
        constant = solving.constant_within(rows, moments)
        if np.all(constant):
            raise InputError(
                "no column varies within the classes: there is no spread to compare with",
                got=f"{len(constant)} columns, each constant in every class",
                fix="pass columns that differ between rows of the same class",
            )
        target = solving.target_of(self.shrinkage, rows, moments)
        if gram and auto:  # a class counts less where its covariance is shrunk more
            shares = np.ones(groups) if target is None else target.shares
            less = rows.moments(shares=shares)
            moments = dataclasses.replace(moments, scatter=less.scatter, raw=less.raw)
            if target is not None:
                target = dataclasses.replace(target, shares=np.ones(groups))
        return moments, solving.whitened(rows, moments, path.name, target, constant)

    # -- scale ------------------------------------------------------------------------

    def _scale(
        self, spectrum: Spectrum, found: solving.Between, source: Source
    ) -> dict[str, object]:
        grouped, white = self._grouped, found.white
        assert grouped is not None
        totals, groups = found.moments.totals, len(found.priors)
        n, powers = float(np.sum(totals)), 0 if self._powers is None else self._powers
        unit = np.broadcast_to(grouped.exponent + powers, (source.shape[1],))
        k = self.n_components or min(groups - 1, source.shape[1])
        values = np.maximum(spectrum.values, 0.0)
        alive = values > spectrum.certificate.zero_level
        axes = white.basis @ (spectrum.right * alive)
        inside = white.image @ (spectrum.right * alive)
        signs = signs_of(axes * np.sqrt(white.variances)[:, None])  # the unit is no matter
        axes, inside = axes * signs, inside * signs
        shown, seen = _padded(axes, k), _padded(inside, k)
        total = float(np.sum(values))
        structure, within = solving.structure_of(found, shown, seen)
        with np.errstate(over="ignore", invalid="ignore"):
            fitted = self._rule(found, axes, n, unit)
            scalings = np.ldexp(shown, -unit[:, None])
        _refuse_range(scalings, fitted["coef_"])
        self._tell_singular(white)
        return fitted | {
            "classes_": self._labels.classes,
            "class_counts_": totals,
            "priors_": found.priors,
            "means_": np.ldexp(grouped.placed(found.moments.offsets), powers),
            "scalings_": scalings,
            "eigenvalues_": _padded(values[None, :], k)[0],
            "explained_variance_ratio_": _padded(values[None, :] / (total or 1.0), k)[0],
            "centres_": found.apart @ shown,
            "structure_": structure,
            "structure_within_": within,
            "tests_": solving.wilks_of(found) if self.shrinkage is None else None,
            "within_rank_": white.rank,
            "certificate_": spectrum.padded(k).certificate.first(k),
            "n_components_": k,
            "n_samples_": source.shape[0],
            "_dtype": np.float32 if source.products.itemsize == 4 else np.float64,
        }

    def _rule(
        self, found: solving.Between, axes: Array, n: float, unit: Array
    ) -> dict[str, Any]:
        """Return what classifies new rows: centring, axes, and class means along them."""
        grouped, groups = self._grouped, len(found.priors)
        assert grouped is not None
        ratio = n / (n - groups)  # the covariance of the densities divides by n
        centres = found.apart @ axes
        with np.errstate(divide="ignore"):
            level = np.log(found.priors) - 0.5 * ratio * np.sum(centres**2, axis=1)
        centring = Centring(np.asarray(grouped.origin), found.centre, grouped.exponent)
        centring = centring.unlevelled(self._powers)
        mean = centring.mean
        weights = ratio * centres @ np.ldexp(axes, -unit[:, None]).T
        shift = level - weights @ mean
        if groups == 2:
            weights, shift = weights[1:] - weights[:1], shift[1:] - shift[:1]
        return {
            "coef_": weights,
            "intercept_": shift,
            "xbar_": mean,
            "_centring": centring,
            "_axes": axes,
            "_rates": ratio * centres,
            "_levels": level,
        }

    def _tell_singular(self, white: solving.Whitened) -> None:
        """Say which differences between classes were not looked at."""
        lost = white.possible - white.rank
        still = np.flatnonzero(white.splitting)
        if white.outside <= _APART and not lost and not still.size:
            return
        names = self._names
        shown = [f"{j}" if names is None else repr(str(names[j])) for j in still[:5]]
        parts = [f"rank {white.rank} of {len(white.constant)} columns"]
        if white.possible < int(np.sum(~white.constant)):
            parts.append("more columns than rows within classes")
        if shown:
            parts.append(f"constant in each class, but not the same: {', '.join(shown)}")
        if lost:
            parts.append(f"{lost} columns are combinations of others")
        if white.outside > _APART:
            parts.append(f"{100 * white.outside:.2g} % of the differences lie outside")
        warn(
            "the covariance within classes is singular; axes are looked for in its range, and"
            " differences between classes outside it are left out",
            got="; ".join(parts),
            fix='pass shrinkage="auto" or a number, or fewer columns',
            category=DataWarning,
        )

    # -- project ----------------------------------------------------------------------

    def _scores(self, source: Source) -> Array:
        """Return the coordinates (n, q) on all axes, float64."""
        centring = self._centring
        with np.errstate(invalid="ignore", over="ignore"):
            rows = rows_of(source, None, np.float64, centring.exponent, centring.origin)
            scores = centred(rows, centring).scores(self._axes)
        if not np.isfinite(scores).all():
            refuse_bad_cells(source, self._names)
        return np.asarray(scores)

    def _project(self, source: Source) -> Array:
        scores = self._scores(source)
        return _padded(scores, self.n_components_).astype(self._dtype, copy=False)

    def _decisions(self, X: Any) -> Array:
        scores = self._scores(self._admit(X, reset=False))
        return np.asarray(scores @ self._rates.T + self._levels)

    def classes_at(self, Z: Any) -> Array:
        """Return the most probable class (m,) at points given by canonical coordinates.

        For the regions of a map: axes that are not given are at zero.

        Parameters
        ----------
        Z : array of shape (m, j)
            Coordinates on the first j ≤ k axes.
        """
        check_fitted(self)
        points = np.asarray(Z, np.float64)
        if points.ndim != 2 or points.shape[1] > self.n_components_:
            raise InputError(
                f"points have coordinates on at most {self.n_components_} axes",
                got=f"an array of shape {points.shape}",
                fix="pass columns of what transform returned",
            )
        points = _padded(points, self._axes.shape[1])
        return np.asarray(
            self.classes_[np.argmax(points @ self._rates.T + self._levels, axis=1)]
        )


def _padded(block: Array, k: int) -> Array:
    """Return the first k columns of a block; those it does not have are zero."""
    short = max(k - block.shape[1], 0)
    return np.ascontiguousarray(np.pad(block[:, :k], ((0, 0), (0, short))))


def _refuse_range(*found: Array) -> None:
    """Refuse axes whose entries, one over a deviation, are beyond the largest number."""
    if not all(np.isfinite(each).all() for each in found):
        raise InputError(
            "columns vary too little for axes in their units",
            got="an axis with entries beyond 1.8e308, one over a deviation",
            fix="multiply the data by a constant",
        )
