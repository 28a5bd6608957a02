"""The rivals for missing cells: each takes a table with NaN and returns it filled.

A rival fits and fills in one call, since its time is the time until the filled table stands.
All of them are asked for the same number of axes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Filler:
    """A named way to fill a table.

    Parameters
    ----------
    name : str
    package : str
        Distribution whose version is recorded.
    fill : callable (x, k) -> (filled, facts)
        `x` (n, p) with NaN where a cell is missing; `k` axes.
    slow : bool
        Runs in a process of its own, under the time limit, on one seed only.
    """

    name: str
    package: str
    fill: Callable[[Table, int], tuple[Table, dict[str, Any]]]
    slow: bool = False


def _mercer(method: str) -> Callable[[Table, int], tuple[Table, dict[str, Any]]]:
    def fill(x: Table, k: int) -> tuple[Table, dict[str, Any]]:
        from mercer import PCA

        model: Any = PCA(k, missing=method)  # type: ignore[call-arg]
        model.fit(x)
        return model.impute(x), {}

    return fill


def _statsmodels(x: Table, k: int) -> tuple[Table, dict[str, Any]]:
    """statsmodels' EM, its own defaults: columns standardised, tol_em 5e-8, 100 rounds."""
    from statsmodels.multivariate.pca import PCA

    model = PCA(x, ncomp=k, missing="fill-em")
    return np.asarray(model._adjusted_data), {}


def _iterative(ridge: bool) -> Callable[[Table, int], tuple[Table, dict[str, Any]]]:
    """Return scikit-learn's chained regressions, at most ten rounds, then its PCA.

    Its default, Bayesian ridge, looks for the penalty by an SVD of all rows; a plain ridge of
    penalty 1 solves the same regressions from their normal equations, many times faster.
    """

    def fill(x: Table, k: int) -> tuple[Table, dict[str, Any]]:
        from sklearn.decomposition import PCA
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer
        from sklearn.linear_model import Ridge

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ten rounds seldom meet its tolerance
            imputer = IterativeImputer(Ridge() if ridge else None, random_state=0)
            filled = imputer.fit_transform(x)
        PCA(k).fit(filled)
        return filled, {"rounds": int(imputer.n_iter_)}

    return fill


def _fancyimpute(x: Table, k: int) -> tuple[Table, dict[str, Any]]:
    """fancyimpute's SoftImpute with at most k axes, on columns centred by their means.

    Version 0.7.0 passes `force_all_finite` to scikit-learn, which calls it
    `ensure_all_finite` since 1.6 and has dropped the old name. The word is translated here:
    a renamed option is no reason to leave a rival out.
    """
    from fancyimpute import SoftImpute, soft_impute, solver
    from sklearn.utils import check_array

    def checked(array: Any, force_all_finite: bool = True) -> Any:
        return check_array(array, ensure_all_finite=force_all_finite)

    soft_impute.check_array = solver.check_array = checked
    mean = np.nanmean(x, axis=0)
    np.random.seed(0)  # noqa: NPY002 - it draws from NumPy's global generator
    model = SoftImpute(max_rank=k, verbose=False)
    return model.fit_transform(x - mean) + mean, {}


def _als(share: float) -> Callable[[Table, int], tuple[Table, dict[str, Any]]]:
    def fill(x: Table, k: int) -> tuple[Table, dict[str, Any]]:
        return soft_impute_als(x, k, share)

    return fill


def soft_impute_als(
    x: Table, k: int, share: float, *, thresh: float = 1e-5, rounds: int = 100
) -> tuple[Table, dict[str, Any]]:
    """Fill by alternating ridge regressions: softImpute-ALS of Hastie and others (2015).

    Minimises ½‖P_Ω(X - UDVᵀ)‖² + λ‖D‖₁ over rank k at most. One round sets D, V from
    B = D(D + λ)⁻¹UᵀX*, fills X* = P_Ω(X) + P_Ω^⊥(UDVᵀ), then sets D, U from X*V in the same
    way and fills again. It stops when the squared relative change of UDVᵀ is below `thresh`,
    as the R package does with its defaults (1e-5, 100 rounds).

    Parameters
    ----------
    x : ndarray of shape (n, p)
        Columns are centred by the means of their cells first.
    k : int
        Largest rank.
    share : float
        λ as a share of the largest singular value of the centred table filled with zeros.

    Notes
    -----
    Written for speed: the products are BLAS calls on whole tables, thin factors are made
    orthonormal through their k × k Gram matrix, and a fill is one masked copy.
    """
    hidden = np.isnan(x)
    mean = np.nanmean(x, axis=0)
    filled = x - mean
    np.copyto(filled, 0.0, where=hidden)
    fitted = np.empty_like(filled)
    ridge = share * float(np.sqrt(np.linalg.eigvalsh(filled.T @ filled)[-1]))
    rng = np.random.default_rng(0)
    u, _, _ = _thin(rng.standard_normal((x.shape[0], k)))
    d, v = np.ones(k), np.zeros((x.shape[1], k))
    done = 0
    for done in range(1, rounds + 1):  # noqa: B007
        before = u, d, v
        v, d, turn = _thin((u.T @ filled).T * (d / (d + ridge)))
        u = u @ turn
        np.matmul(u * d, v.T, out=fitted)
        np.copyto(filled, fitted, where=hidden)
        u, d, turn = _thin((filled @ v) * (d / (d + ridge)))
        v = v @ turn
        np.matmul(u * d, v.T, out=fitted)
        np.copyto(filled, fitted, where=hidden)
        if _change(before, (u, d, v)) < thresh:
            break
    u, d, turn = _thin(filled @ v)
    np.matmul(u * np.maximum(d - ridge, 0), (v @ turn).T, out=fitted)
    np.copyto(filled, fitted, where=hidden)
    filled += mean
    return filled, {"rounds": done, "lambda": ridge}


def _thin(a: Table) -> tuple[Table, Table, Table]:
    """Return the thin SVD (u, d, v) of a tall table through its small Gram matrix."""
    values, v = np.linalg.eigh(a.T @ a)
    d = np.sqrt(np.maximum(values[::-1], 0))
    v = v[:, ::-1]
    return a @ (v / np.maximum(d, 1e-300)), d, v


def _change(before: tuple[Table, Table, Table], after: tuple[Table, Table, Table]) -> float:
    """Return ‖UDVᵀ - U'D'V'ᵀ‖²/‖UDVᵀ‖² from the small factors."""
    (u, d, v), (w, e, z) = before, after
    size, cross = float(np.sum(d**2)), float(np.sum((d[:, None] * (u.T @ w) * e) * (v.T @ z)))
    return max(size + float(np.sum(e**2)) - 2 * cross, 0.0) / max(size, 1e-300)


FILLERS = {
    filler.name: filler
    for filler in (
        Filler("mercer-em", "mercer", _mercer("em")),
        Filler("mercer-ppca", "mercer", _mercer("ppca")),
        # Of 0, 0.01, 0.03, 0.1 and 0.2 these two hid the cells best, one at each noise.
        Filler("soft-impute-als-0.01", "numpy", _als(0.01)),
        Filler("soft-impute-als-0.03", "numpy", _als(0.03)),
        Filler("statsmodels-fill-em", "statsmodels", _statsmodels, slow=True),
        Filler("fancyimpute-soft-impute", "fancyimpute", _fancyimpute, slow=True),
        Filler("sklearn-iterative", "scikit-learn", _iterative(ridge=False), slow=True),
        Filler("sklearn-iterative-ridge", "scikit-learn", _iterative(ridge=True), slow=True),
    )
}
