"""Information criteria of probabilistic PCA: AIC and BIC."""

import numpy as np

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
