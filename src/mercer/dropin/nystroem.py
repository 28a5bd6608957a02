"""Nystroem with scikit-learn's signature, attributes and conventions."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Tiles, as_rows, svd
from mercer.dropin._kernel_rules import kernel_of
from mercer.errors import DataWarning, InputError
from mercer.estimators.kernel._feature_table import FeatureTable, kept_type
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.walk._parameters import check_parameters, learned, publish
from mercer.kernels import (
    ChiSquared,
    Constant,
    Function,
    Kernel,
    Laplacian,
    NegativeChiSquared,
    Precomputed,
)

# Names that scikit-learn's pairwise kernels have, with the parameters each one takes.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "additive_chi2": (),
    "chi2": ("gamma",),
    "cosine": (),
    "laplacian": ("gamma",),
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
_LEAST = 1e-12  # singular values of K_SS below are raised to it, as in scikit-learn
_BLOCK = 4096  # rows widened at a time


class Nystroem(FeatureTable):
    """Features K_XS·K_SS^-½ of m rows S drawn alike, behind scikit-learn's signature.

    Change ``from sklearn.kernel_approximation import Nystroem`` to ``from mercer.dropin
    import Nystroem`` and nothing else: the same rows are drawn for the same `random_state`,
    and the numbers agree to rounding. New code should use `mercer.LandmarkFeatures`, which
    draws better rows, drops those that add nothing and says what is left over.

    Parameters
    ----------
    kernel : str or callable
        "additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly" or "polynomial",
        "rbf", "sigmoid", "precomputed" (a square matrix, with n_components = n); or a
        function of two rows that returns a number. Kernels of `mercer.kernels` and of
        `sklearn.gaussian_process.kernels` are taken as they are.
    gamma : float or None
        γ; None is 1 for "chi2" and 1/p for the others.
    coef0 : float or None
        Constant term of "poly" and "sigmoid"; None is 1.
    degree : float or None
        Exponent of "poly"; None is 3.
    kernel_params : dict or None
        Further arguments of a function.
    n_components : int
        m, the number of rows and of features; at most n are taken.
    random_state : int, RandomState or None
        Where the rows are drawn from.
    n_jobs : int or None
        No effect: the threads that are there are used.

    Attributes
    ----------
    components_ : array or CSR matrix of shape (m, p)
        S.
    component_indices_ : ndarray of shape (m,)
        Which training rows they are.
    normalization_ : ndarray of shape (m, m)
        K_SS^-½.
    n_features_in_ : int
        Columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.dropin import Nystroem
    >>> X = np.arange(12.0).reshape(6, 2) / 10
    >>> Nystroem(gamma=1.0, n_components=3, random_state=0).fit_transform(X).shape
    (6, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({*_PARAMETERS, "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "coef0": [Interval(Real, None, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left"), None],
        "kernel_params": [dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the rows and take the root of their kernel matrix: m³ flops.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training rows, or the kernel matrix if it is precomputed.
        y : None
            Ignored; there for pipelines.

        Returns
        -------
        self
        """
        blank = clone(self)
        check_parameters(blank)
        source = blank._admit(X, reset=True)
        n = source.shape[0]
        kernel = self._kernel(source.shape[1])
        m = min(self.n_components, n)
        if self.n_components > n:
            warnings.warn(
                "n_components > n_samples. This is not possible. n_components was set to"
                " n_samples, which results in inefficient evaluation of the full kernel.\n"
                f"  got: n_components={self.n_components}, {n} rows\n"
                f"  fix: ask for at most {n} components",
                DataWarning,
                stacklevel=2,
            )
        # The user's generator moves on, as scikit-learn's does.
        picked = check_random_state(self.random_state).permutation(n)[:m]
        basis = source.array[picked]
        root = _inverse_root(_square(kernel, basis))
        state = learned(blank)
        fitted = {
            "components_": basis,
            "component_indices_": picked,
            "normalization_": root.astype(kept_type(source)),
            "_kernel_seen": kernel,
            "_root": root,
            "_n_features_out": m,
        }
        publish(self, state | fitted)
        return self

    def transform(self, X: Any) -> Array:
        """Return k(X, S)·K_SS^-½ of shape (n_samples, m).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows, or their kernel values with the training rows.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        rows = as_rows(source.array)
        if isinstance(self._kernel_seen, Precomputed):
            return np.asarray(rows @ self._root.T, kept_type(source))
        back = Projection(self._kernel_seen, _wide(self.components_), self._root.T)
        out = np.empty((source.shape[0], self._root.shape[0]), kept_type(source))
        for part in Tiles(source.shape[0], _BLOCK):
            out[part] = back.products(_wide(rows[part]))
        return out

    def _kernel(self, p: int) -> Kernel:
        """Return the kernel that name and parameters mean for p columns."""
        own = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        own = {name: value for name, value in own.items() if value is not None}
        given = dict(self.kernel_params or {})
        name = self.kernel
        if not isinstance(name, str) or name == "precomputed":
            if own:
                raise InputError(
                    "Don't pass gamma, coef0 or degree to Nystroem if using a callable or"
                    " precomputed kernel",
                    got=", ".join(f"{key}={value}" for key, value in own.items()),
                    fix="pass arguments of the function as kernel_params",
                )
            return kernel_of(name, 1.0, 3, 1.0, given)
        known = {key: v for key, v in (given | own).items() if key in _PARAMETERS[name]}
        gamma = known.get("gamma")
        if gamma is None:
            gamma = 1.0 if name == "chi2" else 1.0 / p
        if name == "additive_chi2":
            return NegativeChiSquared()
        if name == "chi2":
            return ChiSquared(gamma) if gamma > 0 else Constant(1.0)
        if name == "laplacian":
            return Laplacian(1.0 / gamma) if gamma > 0 else Constant(1.0)
        name = "poly" if name == "polynomial" else name
        return kernel_of(name, gamma, known.get("degree", 3), known.get("coef0", 1), None)


def _square(kernel: Kernel, rows: Any) -> Array:
    """Return the kernel matrix of rows (m, p) in float64, (m, m)."""
    m = rows.shape[0]
    if isinstance(kernel, Precomputed):
        if rows.shape[1] != m:
            raise InputError(
                "Precomputed metric requires shape (n_queries, n_indexed). A precomputed"
                " matrix needs n_components = n_samples",
                got=f"n_components={m}, a matrix with {rows.shape[1]} columns",
                fix="ask for as many components as there are rows",
            )
        square = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.array(square, np.float64)
    wide = _wide(rows)
    if not isinstance(kernel, Function):
        return np.asarray(kernel.block(wide))
    # A user's function is asked once for each pair.
    found = np.empty((m, m))
    for i in range(m):
        found[i, i:] = kernel.block(wide[i : i + 1], wide[i:])[0]
        found[i:, i] = found[i, i:]
    return found


def _inverse_root(square: Array) -> Array:
    """Return K^-½ = U S^-½ Vᵀ of the singular values S, none below 1e-12."""
    u, s, v = svd(square)
    return np.asarray(u / np.sqrt(np.maximum(s, _LEAST)) @ v)


def _wide(rows: Any) -> Any:
    """Return rows in float64: noise of float32 would be multiplied by up to 10⁶."""
    rows = as_rows(rows)
    return rows if rows.dtype == np.float64 else rows.astype(np.float64)
