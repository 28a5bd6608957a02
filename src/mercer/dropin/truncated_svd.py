"""TruncatedSVD with scikit-learn's signature: leading pairs of XᵀX, nothing subtracted."""

import dataclasses
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import EPS, Array, binary_exponent
from mercer.dropin.pca import completed
from mercer.errors import InputError
from mercer.estimators.linear._pca_paths import exact_exponent
from mercer.estimators.linear._principal_axes import warn_of_range
from mercer.estimators.walk._admission import admit_coordinates, held_rows, refuse_bad_cells
from mercer.estimators.walk._operated_estimator import features_from_samples
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.operators import (
    Centring,
    Dense,
    Moments,
    Rows,
    centred,
    gram_flops,
    rows_of,
    sparse_loading,
)
from mercer.planning import Path, Problem
from mercer.solvers import Floor, Goal, Spectrum
from mercer.sources import Source

_QUICK = 1e9  # n·p·min(n, p) up to which a direct path takes a fraction of a second
_C = 4.0  # units of rounding per row or column that an eigenvalue must exceed


@dataclasses.dataclass(frozen=True)
class _Found:
    """What is learned beside the pairs: the unit, and variances (1/n) in it."""

    exponent: int
    variances: Array
    total: float


class TruncatedSVD(SpectralEstimator):
    r"""Leading singular triplets of X as it is: XᵀX = VΣ²Vᵀ, Z = XV. Also called LSA.

    Change ``from sklearn.decomposition import TruncatedSVD`` to ``from mercer.dropin import
    TruncatedSVD`` and nothing else. The pairs are certified, whatever `algorithm` says.

    Parameters
    ----------
    n_components : int
        Number of axes; at most p, and below min(n, p) for "arpack".
    algorithm : {"randomized", "arpack"}
        No effect but on `tol` and on how many components are refused: the plan chooses.
    n_iter, n_oversamples : int
        No effect: passes are made until the tolerance is certified.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}
        No effect: blocks are always made orthonormal.
    random_state : int, RandomState or None
        Seed of the iterative path. None is the seed 0, so that results are repeatable.
    tol : float
        For "arpack": relative tolerance of the singular values; 0 stands for 1e-6 on their
        squares (1e-5 for float32 data).

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        V, orthonormal rows, the entry of largest modulus positive.
    singular_values_ : ndarray of shape (k,)
        Σ.
    explained_variance_ : ndarray of shape (k,)
        Variances of the coordinates, dividing by n: the mean is taken out of these alone.
    explained_variance_ratio_ : ndarray of shape (k,)
        Their shares of the variance of all columns.
    certificate_, plan_
        Of the eigenvalues Σ², as in `mercer.PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.dropin import TruncatedSVD
    >>> TruncatedSVD(1).fit(np.array([[3.0, 4.0], [3.0, 4.0]])).singular_values_.round(6)
    array([7.071068])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"arpack", "randomized"})],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _fewest = 1  # without centring one row is a direction
    memory = None
    time = None
    device = None

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the model to X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored; there for pipelines.
        """
        return super().fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return self.fit(X, y).transform(X)

    # -- describe ---------------------------------------------------------------------

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        n, p = source.shape
        k, most = self.n_components, min(n, p)
        if k > p or (self.algorithm == "arpack" and k >= most):
            bound = f"< min(n_samples, n_features)({most})" if k <= p else f"<= n_features({p})"
            raise InputError(
                f"n_components({k}) must be {bound}.",
                got=f"n_samples = {n}, n_features = {p}, algorithm={self.algorithm!r}",
                fix=f"ask for at most {p if self.algorithm == 'randomized' else most - 1}",
            )
        return self._problem_of(
            source,
            (n, p),
            min(k, most),
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            gram_flops=gram_flops(source),
            held=sparse_loading(source),
            allowed=("svd", "gram") if n * p * most <= _QUICK else ("svd", "gram", "krylov"),
        )

    def _tolerance(self, source: Source) -> float:
        if self.algorithm == "arpack" and self.tol:
            return 2 * float(self.tol)  # squares have twice the relative error
        return 1e-5 if source.products.itemsize == 4 else 1e-6

    def _seed(self) -> int:
        return 0 if self.random_state is None else super()._seed()

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, _Found]:
        products = np.float64 if path.products == 8 or path.name == "svd" else None
        whole = path.name == "gram"
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            rows, moments, level = self._read(source, products, whole)
        squares = moments.total * float(level @ level)
        diagonal = np.diagonal(moments.scatter) if whole else moments.scatter
        spread = float(np.sum(np.maximum(diagonal, 0.0)))
        k = min(self.n_components, *source.shape)
        unit = _C * max(source.shape) * EPS
        goal = Goal(
            k,
            self._tolerance(source),
            Floor(unit if path.name != "svd" else unit**2),
            (spread + squares) * (1 + unit),
            moments.error + 4 * EPS * squares if whole else 0.0,
            self._seed(),
            psd=True,
        )
        inner = centred(rows, Centring(rows.origin, moments.offset, rows.exponent))
        if whole:
            matrix = moments.scatter + np.outer(moments.total * level, level)
            spectrum = path.solver.solve(Dense(matrix, symmetric=True), goal)
        else:
            spectrum = _direct(source, rows.exponent, products, path, goal)
        scattered = inner.gram_matmat(spectrum.right)
        variances = np.einsum("ij,ij->j", spectrum.right, scattered) / moments.total
        found = _Found(rows.exponent, np.maximum(variances, 0.0), spread / moments.total)
        return spectrum.padded(k), found

    def _read(self, source: Source, products: Any, whole: bool) -> tuple[Rows, Moments, Array]:
        """Return the rows, their moments, and their mean in the unit of the rows."""
        rows, exponent = rows_of(source, None, products), None
        moments = rows.scatter() if whole else rows.moments()
        if not moments.in_range:
            refuse_bad_cells(source, self._names)
            exponent = exact_exponent(rows)
        far = binary_exponent(float(np.max(np.abs(rows.origin)))) + 1
        if far > max(240 if products is np.float64 else 28, rows.exponent):
            exponent = max(far, exponent or far)
        if exponent is not None:
            rows = rows_of(source, None, np.float64, exponent)
            moments = rows.scatter() if whole else rows.moments()
        level = np.ldexp(rows.origin.astype(np.float64), -rows.exponent) + moments.offset
        return rows, moments, level

    # -- scale and project ------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: _Found, source: Source) -> dict[str, Any]:
        values = np.maximum(spectrum.values, 0.0)
        alive = values > spectrum.certificate.zero_level
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        axes = np.ascontiguousarray(spectrum.right.T * alive[:, None], dtype)
        unit = found.exponent
        with np.errstate(over="ignore", under="ignore"):
            variances = np.ldexp(found.variances, 2 * unit)
            singular = np.ldexp(np.sqrt(values), unit)
        warn_of_range(variances, found.variances, found.variances > 0, unit)
        return {
            "components_": completed(axes, alive),
            "singular_values_": singular,
            "explained_variance_": variances,
            "explained_variance_ratio_": found.variances / (found.total or 1.0),
            "certificate_": spectrum.certificate.scaled(1.0, 2 * unit),
            "_exponent": unit,
        }

    def _project(self, source: Source) -> Array:
        axes = self.components_.T.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = _plain(source, self._exponent, None).scores(axes)
            scores = np.ldexp(scores, self._exponent) if self._exponent else scores
        if not np.isfinite(scores).all():
            refuse_bad_cells(source, self._names)
        return scores

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows (n, p) that have the coordinates X (n, k): ZVᵀ."""
        check_is_fitted(self)
        Z = admit_coordinates(held_rows(X), self._n_features_out)
        return np.asarray(Z @ self.components_.astype(Z.dtype))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def _plain(source: Source, exponent: int, products: Any) -> Any:
    """Return X·2^-exponent as an operator: rows about zero, centred about zero."""
    zero = np.zeros(source.shape[1])
    rows = rows_of(source, None, products, exponent, zero)
    return centred(rows, Centring(zero, zero, exponent))


def _direct(source: Source, exponent: int, products: Any, path: Path, goal: Goal) -> Spectrum:
    """Return the pairs of the data as an operator: by blockwise QR, or by block Krylov."""
    op = _plain(source, exponent, products)
    if path.name == "krylov" and source.shape[0] < source.shape[1]:
        return features_from_samples(op, path.solver.solve(op.T, goal))
    return path.solver.solve(op, goal)
