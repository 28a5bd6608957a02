"""Principal component analysis."""

import dataclasses
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from mercer.arrays import Array, eps_of
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.linear._gaussian_density import GaussianDensity
from mercer.estimators.linear._pca_choice import (
    check_mle,
    choice_from,
    compares_again,
    looked_at,
    warn_of,
)
from mercer.estimators.linear._pca_paths import refuse_constant, solve
from mercer.estimators.linear._pca_recipe import Found, PCARecipe, decade, root_feature_weight
from mercer.estimators.linear._pca_stream import PCAStream
from mercer.estimators.missing._imputation import ImputedRows
from mercer.estimators.missing._missing_cells import MissingCells
from mercer.estimators.walk._admission import admit_coordinates, held_rows, refuse_bad_cells
from mercer.estimators.walk._parameters import RESOURCES, check_fitted
from mercer.estimators.walk._rows_in_parts import in_parts, rows_from_parts
from mercer.estimators.walk._source_estimator import counted_shape
from mercer.operators import centred, gram_flops, rows_of
from mercer.planning import Path, Problem
from mercer.selection import minka, share
from mercer.solvers import Spectrum, signs_of_sums
from mercer.sources import Source


class PCA(PCAStream, GaussianDensity, ImputedRows, MissingCells):
    r"""Directions of largest variance: leading eigenpairs of C = X̃ᵀX̃/(n-1).

    X̃ is the centred (standardised, weighted) data, C = VΛVᵀ, and the coordinates are
    Z = X̃V. Right on data far from the origin and on tiny or huge scales; every fit says
    which path it took (`plan_`) and how accurate it is (`certificate_`).

    Parameters
    ----------
    n_components : int, float in (0, 1), "auto", "mle" or None
        Number of axes; or the share of variance they must explain; or those beyond noise, by
        bi-cross-validation (none is an answer); or Minka's estimate; None keeps min(n, p).
    standardize : bool
        Divide each column by its standard deviation.
    whiten : bool or "zca"
        True scales the coordinates to variance one; "zca" turns them back into the
        directions of the features. Axes without variance are set to zero, never divided.
    feature_weight : array of shape (n_features,) or None
        Positive weights: squared deviations of feature j count weight_j times.
    tol : float or None
        Largest relative half-width of the certified interval of an eigenvalue; None is
        1e-6, and 1e-5 for float32 data.
    memory : int, str or None
        Bytes that fit may take, as a number, "4GB" or "4GiB"; None is 80 % of what is free.
    time : float or None
        Seconds that may be spent; the plan says when that means missing `tol`.
    device : None or "cpu"
        Where to compute.
    random_state : int, RandomState, Generator or None
        Seed of the iterative path. The default makes results repeatable.
    forget : float in (0, 1) or None
        For `partial_fit` only: share of its weight that a row loses with every later row, so
        that a row t rows back counts (1 - forget)^t, whatever the batches. Σw replaces n.
        It is read when a stream begins; `fit` counts all rows alike.
    missing : {"raise", "em", "ppca"}
        What to do about missing cells (NaN): refuse them and say where they are; fill them by
        regularised iterative PCA; or take the likeliest Gaussian of the observed cells.
    sign : {"largest", "factominer"}
        Which way an axis points: its largest entry, or the sum of its entries, is positive.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        Axes, rows of norm one, their signs by `sign`.
    explained_variance_ : ndarray of shape (k,)
        Eigenvalues λ, dividing by n - 1.
    explained_variance_ratio_ : ndarray of shape (k,)
        λ divided by the total variance of all features.
    inertia_ : ndarray of shape (k,)
        λ(n - 1)/n, dividing by n: the eigenvalues of FactoMineR, ade4 and prince.
    singular_values_ : ndarray of shape (k,)
        √((n - 1)λ).
    mean_ : ndarray of shape (p,)
        Column means, float64.
    scale_ : ndarray of shape (p,) or None
        What each column was divided by.
    noise_variance_ : float
        Mean of the min(n, p) - k variances left out.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with variance above rounding; the rows of
        `components_` beyond `rank_` are zero. After `partial_fit` also `n_samples_seen_`.
    choice_ : Choice or None
        For "auto": the number, what other rules say, and how they differ in words.
    plan_ : Plan
        The path taken and the others.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    n_missing_, missing_counts_, em_passes_, completion_
        Unless missing="raise": missing cells in all and per column (p,), passes that were
        made to fill them, and what fills those of new rows.

    Notes
    -----
    Cost: exact paths make one pass over the data and np² flops (np·n when n < p); the
    iterative path about eight passes of 4npb flops, b ≈ 10 + 0.6k. Extra memory is of the
    order of min(n, p)² or p·b, never a copy of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(n_components=2).fit(X + 1e8)
    >>> pca.explained_variance_ratio_.round(4)
    array([0.9924, 0.0076])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle", "auto"}),
            None,
        ],
        "standardize": ["boolean"],
        "whiten": ["boolean", StrOptions({"zca"})],
        "feature_weight": ["array-like", None],
        **RESOURCES,
        "forget": [Interval(Real, 0, 1, closed="neither"), None],
        "missing": [StrOptions({"raise", "em", "ppca"})],
        "sign": [StrOptions({"largest", "factominer"})],
    }
    sign: str = "largest"  # of faces that do not have it

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        standardize: bool = False,
        whiten: bool | str = False,
        feature_weight: Any = None,
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
        forget: float | None = None,
        missing: str = "raise",
        sign: str = "largest",
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.whiten = whiten
        self.feature_weight = feature_weight
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state
        self.forget = forget
        self.missing = missing
        self.sign = sign

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        p = source.shape[1]
        return Problem(
            rows=counted_shape(source, None)[0],
            cols=p,
            components=self._most_components(counted_shape(source, weights)),
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            gram_flops=gram_flops(source, weights is not None),
            tol=self._tolerance(source),
            compared=self.n_components == "auto" and compares_again(source),
            **self._reading(source),
            **self._resources(),
        )

    def _most_components(self, shape: tuple[int, int]) -> int:
        """Return how many pairs must be found before the number can be settled."""
        n, p = shape
        wanted = self.n_components
        if wanted == "auto":
            return looked_at(min(n, p))
        if isinstance(wanted, str):
            check_mle(n, p)
        if isinstance(wanted, bool):
            raise InputError(
                "n_components must be a number, not a truth value",
                got=f"n_components={wanted}",
                fix='pass a whole number, a share such as 0.95, "mle" or None',
            )
        if not isinstance(wanted, Integral):
            return min(n, p)
        if wanted > min(n, p):
            raise InputError(
                f"n_components={wanted} must be between 1 and min(n_samples, n_features)="
                f"{min(n, p)}",
                got=f"n_components={wanted}, X of "
                + (f"{p} columns" if wanted > p else f"shape {shape}"),
                fix=f"ask for at most {min(n, p)} components",
            )
        return int(wanted)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, Found]:
        recipe = PCARecipe(
            components=self._most_components(counted_shape(source, weights)),
            tol=self._tolerance(source),
            seed=self._seed(),
            standardize=bool(self.standardize),
            root_feature_weight=root_feature_weight(self.feature_weight, source.shape[1]),
            block_bytes=self._block_bytes(source),
            journal=self._journal,
            halved=self.n_components == "auto",
            whole=getattr(self, "_all_rules", False),
        )
        names = getattr(self, "feature_names_in_", None)
        spectrum, found = solve(
            source, path, weights, recipe, lambda: refuse_bad_cells(source, names)
        )
        refuse_constant(found, source)
        k = self._settle(spectrum, found, counted_shape(source, weights))
        return dataclasses.replace(spectrum, certificate=spectrum.certificate.first(k)), found

    def _settle(self, spectrum: Spectrum, found: Found, shape: tuple[int, int]) -> int:
        """Return the number of components from the whole spectrum."""
        wanted = self.n_components
        if wanted == "auto":
            choice = choice_from(spectrum.values, found, shape)
            found.settled["choice_"] = choice
            return min(choice.k, len(spectrum.values))
        if wanted == "mle":
            check_mle(*shape)  # the rows of a file are counted only now
            return minka(spectrum.values / (found.total - 1), found.total)
        if isinstance(wanted, Real) and not isinstance(wanted, Integral):
            return share(spectrum.values, float(wanted))
        return self._most_components(shape)

    def _unresolved(self, spectrum: Spectrum, found: Found) -> bool:
        """An axis is zero for certain only beyond the rows and columns that vary."""
        k = min(len(spectrum.certificate.lower), found.possible_rank)
        return bool(np.any(spectrum.values[:k] <= spectrum.certificate.zero_level))

    # -- scale ------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> dict[str, Any]:
        k = len(spectrum.certificate.lower)
        freedom = found.total - 1
        unit = found.centring.unit
        values = np.maximum(spectrum.values[:k], 0.0)
        level = spectrum.certificate.zero_level
        alive = values > level
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        with np.errstate(over="ignore", under="ignore"):
            variances = np.ldexp(values / freedom, 2 * unit)
            singular = np.ldexp(np.sqrt(values), unit)
            deviations = np.ldexp(np.sqrt(values / freedom), unit)
        left = max(min(int(found.total * (1 + 1e-12)), source.shape[1]) - k, 0)
        rest = max(found.trace - float(np.sum(values)), 0.0) if left else 0.0
        with np.errstate(over="ignore", under="ignore"):
            noise = float(np.ldexp(rest / freedom / max(left, 1), 2 * unit))
        if np.any(np.isinf(variances)) or np.any((variances == 0) & (values > level)):
            warn(
                "variances leave the range of float64",
                got=f"explained_variance_ of order 10^{decade(values[0] / freedom, unit)}",
                fix="divide the data by a constant; axes and ratios are right as they are",
                category=DataWarning,
            )
        choice = found.settled.get("choice_")
        if choice is not None:
            warn_of(choice, k)
        axes = spectrum.right[:, :k]
        if self.sign == "factominer":
            axes = axes * signs_of_sums(axes)
        return {
            "choice_": choice,
            # An axis without variance has no direction: its row is zero, not an invention.
            "components_": np.ascontiguousarray(axes.T * alive[:, None], dtype),
            "explained_variance_": variances,
            "inertia_": variances * (freedom / found.total),
            "explained_variance_ratio_": values / found.trace,
            "singular_values_": singular,
            "mean_": found.centring.mean,
            "scale_": found.centring.scale,
            "noise_variance_": noise,
            "n_components_": k,
            "n_samples_": source.shape[0],
            "rank_": int(np.sum(alive)),
            "certificate_": spectrum.certificate.scaled(1 / freedom, 2 * unit).rounded(
                eps_of(dtype) if dtype == np.float32 else 0.0
            ),
            "_stream": None,
            "_centring": found.centring,
            "_squares": spectrum.squares and spectrum.squares / found.trace / found.trace,
            "_whitened": self.whiten,
            "_deviations": deviations,
            "_unit_deviations": np.sqrt(values / freedom),
            "_alive": alive,
        }

    # -- project ----------------------------------------------------------------------

    def _project(self, source: Source) -> Array:
        if self._whitened is False:
            return self._scores(source)
        # In the unit of the fit: at the ends of the range √λ itself may have no digits left.
        scores = self._unit_scores(source)
        safe = np.where(self._alive, self._unit_deviations, 1.0)
        white = scores * np.where(self._alive, 1 / safe, 0.0).astype(scores.dtype)
        return white @ self.components_ if self._whitened == "zca" else white

    def _scores(self, source: Source) -> Array:
        """Return X̃V (n, k), not whitened."""
        scores, exponent = self._unit_scores(source), self._centring.unit
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(scores, exponent) if exponent else scores

    def _unit_scores(self, source: Source) -> Array:
        """Return X̃V (n, k) in the unit of the centring."""
        centring = self._centring
        axes = self.components_.T.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            rows = rows_of(source, exponent=centring.exponent, origin=centring.origin)
            scores = centred(rows, centring).scores(axes)
        if not np.isfinite(scores).all():
            refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        return scores

    def inverse_transform(self, X: Any) -> Any:
        """Return the rows that have the coordinates X: X̂ = (ZVᵀ)∘scale + mean.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Coordinates, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or a Dask array where X is one
        """
        check_fitted(self)
        if in_parts(X):
            return rows_from_parts(self, X, copy(self)._rows_from)
        return self._rows_from(held_rows(X))

    def _rows_from(self, X: Any) -> Array:
        """Return the rows of coordinates in memory."""
        Z = admit_coordinates(X, self._n_features_out)
        if self._whitened == "zca":
            Z = Z @ self.components_.T
        if self._whitened is not False:
            Z = Z * self._deviations.astype(Z.dtype)
        back = Z @ self.components_.astype(Z.dtype)
        if self.scale_ is not None:
            back = back * self.scale_.astype(Z.dtype)
        return (back + self.mean_).astype(Z.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_features_in_ if self._whitened == "zca" else self.n_components_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return "pca0", "pca1", …; for ZCA whitening the names of the features themselves."""
        if getattr(self, "_whitened", False) == "zca":
            from sklearn.utils.validation import _check_feature_names_in

            return _check_feature_names_in(self, input_features)
        return super().get_feature_names_out(input_features)

    @classmethod
    def from_covariance(cls, C: Any, mean: Any, n: int, **parameters: Any) -> Self:
        """Return the model of data known only by covariance (p, p), mean (p,) and row count.

        Parameters
        ----------
        C : array of shape (p, p)
            Covariance matrix, dividing by n - 1.
        mean : array of shape (p,)
            Column means.
        n : int
            Number of rows behind them, at least 2.
        **parameters
            As for `PCA`; `memory`, `time` and `device` have no effect.
        """
        from mercer.estimators.linear._from_covariance import fitted_from

        return fitted_from(cls(**parameters), C, mean, n)
