"""Levels among rows with coordinates: barycentres, η² and v-tests."""

from typing import Any

import numpy as np
import scipy.sparse

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
    there = codes >= 0
    ends = np.concatenate([[0], np.cumsum(there)])
    # One reading of the rows adds them up, each where its level is.
    held = scipy.sparse.csc_array((weights[there], codes[there], ends), (size, len(codes)))
    counts = np.bincount(codes[there], weights[there], size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts, np.asarray(held @ rows) / counts[:, None]


def spread_of(weights: Array, rows: Array) -> Array:
    """Return Σ_i w_i(f_i - mean)² (k,) of each axis, 0 where that is rounding."""
    middle = weights @ rows / np.sum(weights)
    found = weights @ (rows - middle) ** 2
    scale = np.maximum(weights @ rows**2, np.finfo(float).tiny)
    return np.where(found <= 1e-14 * scale, 0.0, found)


def read_levels(
    codes: Array, size: int, weights: Array, rows: Array, spread: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return weights (L,) and means (L, k) of the levels, and η² (k,) of each axis.

    η² is the share of the variance of an axis that lies between the levels. Rows without a
    level are left out. An axis without variance has η² = 0.

    Parameters
    ----------
    codes, size, weights, rows
        As for `barycentres`.
    spread : array of shape (k,) or None
        `spread_of` all rows where it is known, for when every row has a level.
    """
    there = codes >= 0
    counts, means = barycentres(codes, size, weights, rows)
    used, whole = counts > 0, float(np.sum(counts))
    if whole == 0:
        return counts, means, np.full(rows.shape[1], np.nan)
    if spread is None or not there.all():
        spread = spread_of(weights[there], rows[there])
    middle = counts[used] @ means[used] / whole
    between = counts[used] @ (means[used] - middle) ** 2
    eta2 = np.minimum(between / np.where(spread > 0, spread, np.inf), 1.0)
    return counts, means, eta2


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
