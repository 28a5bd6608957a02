"""Kernel PCA: principal components of rows seen through a kernel."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from mercer.arrays import Array
from mercer.diagnostics import linear_alignment
from mercer.errors import DataWarning, warn
from mercer.estimators._base import SpectralEstimator
from mercer.estimators._door import refuse_bad_cells
from mercer.estimators._indefinite import POLICIES
from mercer.estimators._kernel_back import KernelBack, as_known
from mercer.estimators._kernel_explain import KernelExplain
from mercer.estimators._kernel_projection import Projection
from mercer.estimators._kernel_rows import (
    KernelRows,
    feature_count,
    maps_at_the_door,
    most_components,
    spread_evenly,
)
from mercer.estimators._kernel_solve import (
    KernelFound,
    Task,
    needs_whole,
    solve,
)
from mercer.kernels import RBF, Kernel, Linear, Precomputed, as_kernel
from mercer.planning import KernelCost, Path, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source, scan

_LOOKED_THROUGH = 3000  # rows up to which an unknown kernel has all its eigenvalues found
_SAMPLE = 1000  # rows that settle a kernel
_ENOUGH = 50  # rows from which a large effective rank says something


class KernelPCA(KernelBack, KernelExplain, SpectralEstimator):
    """Principal components of φ(x), k(x, y) = φ(x)ᵀφ(y): K̃ = HKH = UΛUᵀ, Z = UΛ^½.

    Use it where structure is curved: rings, clusters of any shape, images. The plan chooses
    between explicit features (exact for any number of rows), LAPACK, and an iteration on
    the stored matrix; the result says how accurate it is.

    Parameters
    ----------
    n_components : int, float in (0, 1) or None
        Axes to keep; a share keeps as many as reach that part of the variance in feature
        space; None keeps all n.
    kernel : Kernel, str or callable
        See `mercer.kernels`; a string such as "rbf(lengthscale=2) + linear", "precomputed",
        or a function of two blocks of rows.
    standardize : bool
        Whether columns are divided by their standard deviation first.
    indefinite : {"raise", "clip", "flip", "shift"}
        What to do about negative eigenvalues. "raise" refuses a negative share above 1e-3
        and leaves smaller ones out; "clip" leaves them out; "flip" counts them by modulus;
        "shift" adds the lowest to all, and then ``transform(X)`` differs from
        ``fit_transform(X)``.
    tol : float or None
        Largest relative half-width of the certified interval of an eigenvalue; None is
        1e-6, and 1e-5 for float32 data.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        λ of K̃.
    explained_variance_ : ndarray of shape (k,)
        λ/(n - 1).
    explained_variance_ratio_ : ndarray of shape (k,)
        λ/tr K̃; |λ|/Σ|λ| where the matrix is indefinite.
    dual_ : ndarray of shape (n, k)
        B = UΛ^-½: a new row has coordinates Bᵀk_X(x) - c₀.
    kernel_ : Kernel
        The kernel with its parameters as numbers.
    effective_rank_ : float
        (tr K̃)²/‖K̃‖²_F, between 1 and n - 1.
    alignment_ : float or None
        Centred alignment with the linear kernel on at most 1000 rows of numbers.
    negative_share_ : float
        Σ|λ⁻|/Σ|λ|.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    X_fit_ : array of shape (n, p)
        The training rows as the kernel sees them.
    preimage_, preimage_errors_ : str and dict
        How `inverse_transform` finds rows, and the held-out error of every way to.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, rows, columns, and kept axes with variance above rounding.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> t = np.linspace(0, 2 * np.pi, 60)
    >>> rings = np.concatenate([np.c_[np.cos(t), np.sin(t)], 3 * np.c_[np.cos(t), np.sin(t)]])
    >>> model = KernelPCA(2, kernel="rbf(lengthscale=1)").fit(rings)
    >>> model.certificate_.met
    True
    >>> model.transform(rings).shape
    (120, 2)
    """

    _given: Kernel

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "kernel": [str, callable, HasMethods("block")],
        "standardize": ["boolean"],
        "indefinite": [StrOptions(set(POLICIES))],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "memory": [Interval(Real, 0, None, closed="neither"), str, None],
        "time": [Interval(Real, 0, None, closed="neither"), None],
        "device": [str, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int | float | None = 2,
        *,
        kernel: Kernel | str | Any = RBF(),  # noqa: B008 - a frozen value
        standardize: bool = False,
        indefinite: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.standardize = standardize
        self.indefinite = indefinite
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        nested = {name: params.pop(name) for name in list(params) if name[:8] == "kernel__"}
        super().set_params(**params)
        if nested:
            values = {name.removeprefix("kernel__"): value for name, value in nested.items()}
            self.kernel = as_kernel(self.kernel).with_params(**values)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a precomputed kernel is pairwise input."""
        tags = super().__sklearn_tags__()
        kernel = as_known(self.kernel)
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        tags.input_tags.sparse = not isinstance(kernel, Kernel) or kernel.takes_sparse
        return tags

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        kernel = as_kernel(self.kernel) if reset else self._given
        if reset:
            self._given, self._numeric = kernel, not maps_at_the_door(kernel, X)
        return KernelRows.admitted(self, kernel, X, reset=reset)

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        n, p = source.shape
        names = getattr(self, "feature_names_in_", None)
        refuse_bad_cells(source, names)
        self._frame = KernelRows.of(
            source, self._given, bool(self.standardize), self._numeric, weights
        )
        rows = self._frame.ready(source)
        self._seen = self._frame.kernel.resolve(rows[spread_evenly(n, weights, _SAMPLE)])
        self.kernel_ = self._seen if self._frame.numeric else self._given
        self.X_fit_ = rows
        return Problem(
            rows=n,
            cols=p,
            components=self._most_components(n),
            itemsize=source.products.itemsize,
            nnz=source.nnz,
            tol=self._tolerance(source),
            kernel=self._cost(rows),
            **self._resources(),
        )

    def _cost(self, rows: Any) -> KernelCost:
        n, p = rows.shape
        count = feature_count(self._seen, rows)
        per_entry = 4.0 * rows.nnz / n if hasattr(rows, "nnz") else 2.0 * p
        return KernelCost(
            flops=per_entry + 20.0,
            features=count,
            finite=count is not None and self._frame.finite(self._seen),
            whole=needs_whole(self._seen.flag, self.indefinite, n, _LOOKED_THROUGH),
        )

    def _most_components(self, n: int) -> int:
        """Return how many pairs are computed; faces have rules of their own."""
        return most_components(self.n_components, n)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, KernelFound]:
        wanted: Any = self.n_components
        shared = isinstance(wanted, Real) and not isinstance(wanted, Integral)
        return solve(
            Task(
                kernel=self._seen,
                rows=self.X_fit_,
                weights=weights,
                wanted=float(wanted) if shared else self._most_components(source.shape[0]),
                indefinite=self.indefinite,
                tol=self._tolerance(source),
                memory=self._budget(),
                time=self.time,
                seed=self._seed(),
            ),
            path,
        )

    # -- scale ------------------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: KernelFound, source: Source) -> dict[str, Any]:
        certificate = spectrum.certificate
        k = len(certificate.lower)
        values = np.maximum(spectrum.values[:k], 0.0)
        alive = values > certificate.zero_level
        signs = found.signs.directions(k)
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        scale = signs * alive / np.sqrt(np.where(alive, values, 1.0))
        root = self._frame.root
        rows = self._frame.kept(self.X_fit_, source)
        dual = np.asarray(root * spectrum.right[:, :k] * scale, dtype)
        fitted = {
            "eigenvalues_": values * signs,
            "explained_variance_": values / (found.total - 1),
            "explained_variance_ratio_": values / found.trace,
            "dual_": dual,
            "certificate_": certificate,
            "n_components_": k,
            "n_samples_": source.shape[0],
            "rank_": int(np.sum(alive)),
            "X_fit_": rows,
            "negative_share_": found.signs.negative_share,
            "effective_rank_": found.effective_rank,
            "alignment_": self._alignment(rows),
            "_level": found.level[:k],
            "_coordinates": np.asarray(found.coordinates[:, :k], dtype),
            "_engine": found.engine,
            "_phi": found.phi,
            "_projection": None if rows is None else Projection(self._seen, rows, dual),
            "_decoder": None,
        }
        self._warn_rank(fitted["effective_rank_"], source.shape[0])
        return fitted

    def _alignment(self, rows: Any) -> float | None:
        if isinstance(self.kernel_, Linear):
            return 1.0
        if rows is None or not self._frame.numeric:
            return None
        sample = spread_evenly(rows.shape[0], self._frame.weights, _SAMPLE)
        return linear_alignment(self._seen, rows[sample])

    def _warn_rank(self, rank: float, n: int) -> None:
        if n >= _ENOUGH and rank > n / 4 and self._frame.weights is None:
            warn(
                "the lengthscale is too short, or there is no low-dimensional structure",
                got=f"effective rank {rank:.0f} of {n} rows, {self.kernel_!r}",
                fix="choose a longer lengthscale, or fewer and better columns",
                category=DataWarning,
            )

    # -- project ----------------------------------------------------------------------

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        self.fit(X, y, **fit_params)
        found = self._coordinates.copy()
        unseen = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if unseen.size:  # rows of weight zero are projected as new rows are
            found[unseen] = self._project(self._admit(X, reset=False))[unseen]
        return found

    def _project(self, source: Source) -> Array:
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        return self._projected(self._frame.ready(source))

    def _projected(self, rows: Any) -> Array:
        """Return Bᵀk_X(x) - c₀."""
        if self._engine is not None:
            return self._through_features(rows)
        if isinstance(self.kernel_, Precomputed):
            products = np.asarray(rows @ self.dual_)
        else:
            products = self._projection.products(rows)
        return np.asarray(products - self._level, self.dual_.dtype)

    def _through_features(self, rows: Any) -> Array:
        found = self._engine._project(scan(self._phi(rows))).astype(
            self.dual_.dtype, copy=False
        )
        short = self.n_components_ - found.shape[1]
        return found if short <= 0 else np.pad(found, ((0, 0), (0, short)))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)
