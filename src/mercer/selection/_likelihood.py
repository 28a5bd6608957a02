"""Information criteria of probabilistic PCA: AIC and BIC.

Minka's evidence for the dimension of probabilistic PCA, all dimensions at once.
"""

from typing import Any

import numpy as np
import scipy.special

from mercer.arrays import Array
from mercer.selection._variances import Variances


def log_likelihoods(known: Variances) -> Array:
    """Return the largest ln p(X|k) of probabilistic PCA for k = 0 … [Tipping1999]_.

    With l_i = λ_i(n - 1)/n and v_k = Σ_{i>k} l_i/(p - k), zeros counted:
    ln p = -(n/2)(Σ_{i≤k} ln l_i + (p - k) ln v_k + p ln 2π + p). It ends before k = p, at
    the last eigenvalue known, and where no variance is left.
    """
    n, p = known.rows, known.columns
    values = known.values * (n - 1) / n
    most = min(len(values), p - 1)
    kept = np.concatenate([[0.0], np.cumsum(values)])[: most + 1]
    total = known.total * (n - 1) / n
    tail = total - kept
    usable = (tail > 1e-12 * total) & np.concatenate([[True], values[:most] > 0])
    end = len(tail) if usable.all() else int(np.argmin(usable))
    k = np.arange(end)
    logs = np.concatenate([[0.0], np.cumsum(np.log(values[: max(end - 1, 0)]))])[:end]
    noise = (p - k) * np.log(tail[:end] / (p - k))
    return np.asarray(-n / 2 * (logs + noise + p * np.log(2 * np.pi) + p))


def ppca_parameters(columns: int, k: Array) -> Array:
    """Return how many numbers the model fits: p + 1 + pk - k(k - 1)/2."""
    return np.asarray(columns * k - k * (k - 1) / 2 + 1 + columns)


def aic(known: Variances) -> int | None:
    """Return the k of least -2 ln p + 2m, m numbers fitted; None if it may lie beyond.

    With less than two rows for each column it is the first minimum.
    """
    return _least(known, 2.0)


def bic(known: Variances) -> int | None:
    """Return the k of least -2 ln p + m ln n, m numbers fitted; None if it may lie beyond.

    With less than two rows for each column it is the first minimum.
    """
    return _least(known, float(np.log(known.rows)))


def _least(known: Variances, price: float) -> int | None:
    likelihoods = log_likelihoods(known)
    if not len(likelihoods):
        return 0
    costs = (
        price * ppca_parameters(known.columns, np.arange(len(likelihoods))) - 2 * likelihoods
    )
    best = _first_least(costs) if known.rows < 2 * known.columns else int(np.argmin(costs))
    ended = best == len(costs) - 1 and not known.complete
    return None if ended and best > 0 else best


def _first_least(costs: Array) -> int:
    """Return the first k behind which costs rise.

    With few rows for the columns the likelihood grows without bound as k nears n - 1, where
    no noise is left: behind the first minimum costs fall again, whatever the rows are.
    """
    rising = np.flatnonzero(np.diff(costs) > 0)
    return int(rising[0]) if rising.size else len(costs) - 1


_BLOCK = 64  # numbers of components whose curvature is taken at a time


def minka(values: np.ndarray[Any, Any], n_samples: float) -> int:
    """Return the number of components with the largest Laplace evidence [Minka2000]_.

    For k = 1 … p - 1 with noise v_k = Σ_{i>k} λ_i/(p - k):
    ln p(D|k) ≈ ln p(U) - (n/2)Σ_{i≤k} ln λ_i - (n/2)(p - k) ln v_k + ((m + k)/2) ln 2π
    - ½ ln|A| - (k/2) ln n, m = pk - k(k + 1)/2.

    Parameters
    ----------
    values : ndarray of shape (p,)
        All eigenvalues of the covariance matrix, descending.
    n_samples : float
        Number of samples, more than p.

    Notes
    -----
    The double sum in ln|A| is taken once, as cumulative sums of a (p, p) table: O(p²)
    instead of one O(p²) loop per k. One column leaves no k: 0, as in scikit-learn.
    """
    n, p = float(n_samples), len(values)
    if p < 2:  # no k to choose from
        return 0
    values = np.maximum(values, 0.0)
    ranks = np.arange(1, p)  # k
    tail = np.maximum(np.cumsum(values[::-1])[::-1][1:], 0.0)  # Σ_{i>k} λ_i
    noise = tail / (p - ranks)
    tiny = np.finfo(np.float64).eps * max(float(values[0]), np.finfo(np.float64).tiny)
    usable = values[:-1] > tiny  # zero noise is no obstacle: such a k explains all there is
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.maximum(values, tiny))
        half = (p - np.arange(p)) / 2.0
        prior = np.cumsum(scipy.special.gammaln(half) - np.log(np.pi) * half)[: p - 1]
        prior = prior - ranks * np.log(2.0)
        kept = -np.cumsum(logs)[: p - 1] * n / 2
        rest = -np.log(np.maximum(noise, tiny)) * n * (p - ranks) / 2
        m = p * ranks - ranks * (ranks + 1) / 2.0
        volume = np.log(2 * np.pi) * (m + ranks) / 2
        evidence = prior + kept + rest + volume - _curvature(values, noise, n, tiny) / 2
        evidence -= ranks * np.log(n) / 2
    evidence = np.where(usable & np.isfinite(evidence), evidence, -np.inf)
    return int(ranks[int(np.argmax(evidence))])


def _curvature(
    values: np.ndarray[Any, Any], noise: np.ndarray[Any, Any], n: float, tiny: float
) -> np.ndarray[Any, Any]:
    """Return ln|A_k| for every k: pairs i ≤ k < j see the noise, pairs i < j ≤ k each other."""
    p = len(values)
    inverse = 1 / np.maximum(values, tiny)
    gaps = np.log(np.maximum(values[:, None] - values[None, :], tiny)) + np.log(n)  # i < j
    pairs = gaps + np.log(np.maximum(inverse[None, :] - inverse[:, None], np.finfo(float).tiny))
    inside = np.cumsum(np.sum(np.triu(pairs, 1), axis=0))  # all pairs i < j ≤ k
    # Σ_{i≤k<j} of the gaps: row k comes in, column k goes out.
    across = np.cumsum(np.sum(np.triu(gaps, 1), axis=1) - np.sum(np.triu(gaps, 1), axis=0))
    out = inside[: p - 1] + across[: p - 1]
    least = np.finfo(float).tiny
    sharp = 1 / np.maximum(noise, tiny)
    for start in range(0, p - 1, _BLOCK):  # i ≤ k, some k at a time
        k = np.arange(start, min(start + _BLOCK, p - 1))
        factor = np.log(np.maximum(sharp[k, None] - inverse[None, : k[-1] + 1], least))
        inside_k = np.arange(k[-1] + 1)[None, :] <= k[:, None]
        out[k] += (p - 1 - k) * np.sum(factor * inside_k, axis=1)
    return np.asarray(out)
