"""Landmark features: a table F whose products are the kernel, FFᵀ ≈ K."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.kernel._feature_table import FeatureTable, kept_type
from mercer.estimators.kernel._kernel_rows import (
    KernelRows,
    apart,
    as_known,
    replaced,
    sees_numbers,
)
from mercer.estimators.kernel._row_samples import spread_evenly
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import check_parameters, learned, publish, seed_of
from mercer.kernels import RBF, Kernel, as_kernel
from mercer.operators import SAMPLERS, choose
from mercer.sources import Source

_SAMPLE = 1000  # rows that settle a kernel


class LandmarkFeatures(FeatureTable):
    """Features f(x) = L⁻¹k_S(x) of m landmark rows S, K_SS = LLᵀ: f(x)ᵀf(y) ≈ k(x, y).

    Use it before a linear method that should see what the kernel sees, on more rows than a
    kernel matrix has room for. The landmarks are training rows, chosen so that little of the
    kernel is left over; `residual_trace_` says how much, and `novelty` how far a row is from
    all that the landmarks can express.

    Parameters
    ----------
    n_landmarks : int
        The most landmarks. Fewer are kept where others would add nothing.
    kernel : Kernel, str or callable
        See `mercer.kernels`; positive definite, or so on differences (cpd). For a cpd kernel
        f(x)ᵀf(y) ≈ k(x, y) - k(x, o) - k(o, y) + k(o, o), o a training row: distances and
        the centred matrix are the same.
    sampler : {"pivoted", "uniform", "kmeans++"} or array of int
        How landmarks are drawn: ∝ what is left of k(x, x) (randomly pivoted Cholesky),
        alike, ∝ the squared distance to the nearest one; or numbers of rows.
    tol : float or None
        Enough landmarks are chosen when the share of Σk(x, x) that is left is at most `tol`.
    random_state : int, RandomState, Generator or None
        Where the draws come from.

    Attributes
    ----------
    landmarks_ : array or CSR matrix of shape (m, p)
        S, in the order of the choice.
    landmark_indices_ : ndarray of shape (m,)
        Which training rows they are.
    factor_ : ndarray of shape (n, m)
        F, the features of the training rows.
    residual_ : ndarray of shape (n,)
        k(x, x) - ‖f(x)‖² ≥ 0 of the training rows.
    residual_trace_ : float
        t = Σ residual: no eigenvalue of K, centred or not, is off by more.
    kernel_ : Kernel
        The kernel with its parameters as numbers.
    n_landmarks_, n_samples_, n_features_in_ : int
        Landmarks, rows, columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LandmarkFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> model = LandmarkFeatures(40, kernel="rbf(lengthscale=2)").fit(X)
    >>> F = model.transform(X)
    >>> F.shape
    (200, 40)
    >>> bool(np.abs(F @ F.T - model.kernel_(X)).max() < 0.2)
    True
    """

    _given: Kernel

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, callable, HasMethods("block")],
        "sampler": [StrOptions(set(SAMPLERS)), "array-like"],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        *,
        kernel: Kernel | str | Any = RBF(),  # noqa: B008 - a frozen value
        sampler: Any = "pivoted",
        tol: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.sampler = sampler
        self.tol = tol
        self.random_state = random_state

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        own, nested = apart(params)
        if nested:
            own["kernel"] = replaced(own.get("kernel", self.kernel), nested)
        return super().set_params(**own)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: float32 is kept, sparse rows where the kernel can."""
        tags = super().__sklearn_tags__()
        kernel = as_known(self.kernel)
        tags.input_tags.sparse = not isinstance(kernel, Kernel) or kernel.takes_sparse
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks among the rows of X; a failed call changes nothing.

        n·m·(2p + 2m) flops, n·m numbers.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows. They are read and never written to.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        blank = clone(self)
        check_parameters(blank)
        source = blank._admit(X, reset=True)
        publish(self, blank._fitted(source))
        return self

    def _admit(self, X: Any, *, reset: bool) -> Source:
        """Return the source of X, checked."""
        kernel = as_kernel(self.kernel) if reset else self._given
        if reset:
            self._given, self._numeric = kernel, sees_numbers(kernel, X)
        source = KernelRows.admitted(self, kernel, X, reset=reset, numeric=self._numeric)
        refuse_bad_cells(source, getattr(self, "feature_names_in_", None))
        return source

    def _fitted(self, source: Source) -> dict[str, Any]:
        """Return the fitted attributes."""
        n = source.shape[0]
        frame = KernelRows.of(source, self._given, False, self._numeric, None)
        rows = frame.ready(source)
        seen = frame.kernel.resolve(rows[spread_evenly(n, None, _SAMPLE)])
        found = choose(
            seen,
            rows,
            self.n_landmarks,
            sampler=self.sampler,
            stop=0.0 if self.tol is None else float(self.tol),
            seed=seed_of(self.random_state),
        )
        if found.landmarks.m == 0:
            raise InputError(
                "no row can be a landmark",
                got=f"k(x, x) = 0 for all {n} rows, {seen!r}",
                fix="use another kernel, such as RBF, or rows that differ",
            )
        state = learned(self)
        return state | {
            "kernel_": self._given if frame.mapped(self._given) else seen,
            "landmarks_": found.landmarks.rows,
            "landmark_indices_": found.indices,
            "factor_": found.f.astype(kept_type(source), copy=False),
            "residual_": found.residual,
            "residual_trace_": found.trace,
            "n_landmarks_": found.landmarks.m,
            "n_samples_": n,
            "_frame": frame,
            "_marks": found.landmarks,
        }

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to X and return its features, the same as ``fit(X).transform(X)``."""
        return self.fit(X, y).factor_.copy()

    def transform(self, X: Any) -> Any:
        """Return the features F (n_samples, m): 2mp + m² flops a row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        return self._marks.features(self._frame.ready(source))[0].astype(
            kept_type(source), copy=False
        )

    def novelty(self, X: Any) -> Array:
        """Return r(x) = k(x, x) - ‖f(x)‖² ≥ 0 (n_samples,): how new a row is.

        It is the squared distance of φ(x) to the span of the landmarks, between 0 and k(x, x):
        near 0 for rows like those seen, near k(x, x) for rows unlike any.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        return np.asarray(self._marks.features(self._frame.ready(source))[1])

    @property
    def _n_features_out(self) -> int:
        return int(self.n_landmarks_)
