"""How many axes missing cells are filled with."""

from numbers import Integral
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators._filling_start import few_of
from mercer.selection import cross_validated_rank, spectral_rank


def completion_rank(
    wanted: Any,
    shape: tuple[int, int],
    sample: Array | tuple[Array, float],
    *,
    standardize: bool = False,
    root_feature_weight: Array | None = None,
    weights: Array | None = None,
) -> int:
    """Return the rank k of a completion, at most p - 1 and n - 2.

    A share of variance, "mle" and None say how many axes are kept, not how many fill a cell
    well: then the number is cross-validated on the sample. It may be 0, which fills with means.

    Parameters
    ----------
    wanted : int, float, str or None
        `n_components` of the estimator; a whole number is taken at its word.
    shape : tuple of int
        Rows that count, and columns.
    sample : ndarray of shape (m, p) or tuple of ndarray and float
        Evenly spaced incomplete rows; of complete rows their leading variances and the total.
    standardize : bool
        Whether columns count by their spread.
    root_feature_weight : ndarray of shape (p,) or None
        What columns are multiplied by.
    weights : ndarray of shape (m,) or None
        Repeat counts of the sample.
    """
    n, p = shape
    most = max(min(p - 1, n - 2), 0)
    if isinstance(wanted, Integral) and not isinstance(wanted, bool):
        return min(int(wanted), most)
    if isinstance(sample, tuple):
        values, total = sample
        return min(spectral_rank(values, total, n, p).rank, most)
    few = few_of(sample)
    sample, weights = sample[few], None if weights is None else weights[few]
    factor = np.ones(p) if root_feature_weight is None else root_feature_weight
    if standardize:
        factor = factor * _spread_factor(sample, weights)
    return cross_validated_rank(sample * factor, most, weights).rank


def _spread_factor(sample: Array, weights: Array | None = None) -> Array:
    """Return what brings the observed cells of each column to spread one; 1 without spread."""
    seen = ~np.isnan(sample)
    counts = np.ones(len(sample)) if weights is None else weights
    count = counts @ seen
    count = np.where(count > 0, count, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        cells = np.where(seen, sample, 0.0)
        middle = counts @ (cells / count)
        gaps = np.where(seen, sample - middle, 0.0)
        size = np.max(np.abs(gaps), axis=0, initial=0.0)
        unit = np.where((size > 0) & np.isfinite(size), size, 1.0)
        spread = unit * np.sqrt(counts @ (gaps / unit) ** 2 / count)
        found = 1 / np.where(spread > 0, spread, 1.0)
    return np.where(np.isfinite(found), found, 1.0)
