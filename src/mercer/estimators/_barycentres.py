"""Levels among rows with coordinates: barycentres, η² and v-tests."""

from typing import Any

import numpy as np

from mercer.arrays import Array


def barycentres(codes: Array, size: int, weights: Array, rows: Array) -> tuple[Array, Array]:
    """Return the weight (L,) and the mean row (L, k) of every level; NaN where it has none.

    Parameters
    ----------
    codes : int array of shape (n,)
        The level of each row, -1 for none.
    size : int
        L, the number of levels.
    weights : array of shape (n,)
        Of the rows.
    rows : array of shape (n, k)
        Coordinates.
    """
    at = codes + 1
    counts = np.bincount(at, weights, size + 1)[1:]
    sums = [np.bincount(at, weights * axis, size + 1)[1:] for axis in rows.T]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.stack(sums, axis=1) / counts[:, None] if sums else np.zeros((size, 0))
    return counts, means


def correlation_ratio(codes: Array, size: int, weights: Array, rows: Array) -> Array:
    """Return η² (k,): the share of the variance of each axis that lies between the levels.

    Rows without a level are left out. An axis without variance has η² = 0.

    Parameters
    ----------
    codes, size, weights, rows
        As for `barycentres`.
    """
    there = codes >= 0
    if not there.all():
        codes, weights, rows = codes[there], weights[there], rows[there]
    counts, means = barycentres(codes, size, weights, rows)
    used = counts > 0
    whole = float(np.sum(counts))
    if whole == 0:
        return np.full(rows.shape[1], np.nan)
    middle = counts[used] @ means[used] / whole
    between = counts[used] @ (means[used] - middle) ** 2
    within = weights @ (rows - middle) ** 2
    scale = weights @ rows**2
    flat = within <= 1e-14 * np.maximum(scale, np.finfo(float).tiny)
    safe = np.where(flat, 1.0, within)
    return np.where(flat, 0.0, np.minimum(between / safe, 1.0))


def v_tests(
    means: Array, counts: Array, total: float, variance: Array, middle: Any = 0.0
) -> Array:
    """Return how many standard errors each barycentre lies from the mean (L, k).

    v = (mean_j - mean)/√(s²·(n - n_j)/((n - 1)·n_j)), the mean of n_j rows drawn without
    replacement from n; s² divides by n. Beyond ±1.96 a level is not placed by chance. A level
    of all rows, or of none, has v = NaN.

    Parameters
    ----------
    means, counts
        Barycentres (L, k), and rows of each level (L,).
    total : float
        n, weights counted.
    variance : array of shape (k,)
        Variance s² of each axis.
    middle : array of shape (k,) or 0
        Mean of each axis.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (total - counts) / ((total - 1) * counts)
        found = (means - middle) / np.sqrt(spread[:, None] * variance)
    return np.where(np.isfinite(found), found, np.nan)
