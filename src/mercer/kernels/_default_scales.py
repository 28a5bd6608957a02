"""Default scales from a sample: the median distance, and the mean squared deviation."""

import math
from typing import Any

import numpy as np

from mercer.arrays import Array, Measure, as_numpy, is_sparse, prepare, tile
from mercer.errors import InputError

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

MOST_ROWS = 2000


def thinned(sample: Any) -> Any:
    """Return at most 2000 rows, evenly spaced."""
    n = sample.shape[0] if hasattr(sample, "shape") else len(sample)
    step = max(1, -(-n // MOST_ROWS))
    return sample if step == 1 else sample[::step]


def median_length(sample: Array, weights: Array | None = None) -> float:
    """Return ℓ with ℓ² = ½·median of ‖x_i-x_j‖² over pairs i < j, so that γ = 1/median.

    A median of zero falls to the mean of the squared distances that are not zero. With
    weights (n,) the pairs are those of rows that stand so many times.
    """
    d = _pairs(sample, "dist")
    unit = float(d.max(initial=0.0))  # no square overflows
    return unit * math.sqrt(0.5 * _middle((d / unit) ** 2 if unit > 0 else d, weights))


def median_of(sample: Array, kind: str, weights: Array | None = None) -> float:
    """Return the median over pairs i < j of a measure, or the mean of the non-zero ones."""
    return _middle(_pairs(sample, kind), weights)


def _pairs(sample: Array, kind: str) -> FloatArray:
    """Return the measure of every pair i < j of a sample."""
    program = Measure(kind)
    side = prepare(program, thinned(sample))
    if side.n < 2:
        raise InputError(
            "a lengthscale cannot be taken from fewer than two rows",
            got=f"{side.n} rows",
            fix="pass a number as lengthscale",
        )
    whole = slice(0, side.n)
    found = as_numpy(tile(program, side, side, whole, whole))
    return np.asarray(found[np.triu_indices(side.n, 1)], dtype=np.float64)


def _middle(values: FloatArray, weights: Array | None) -> float:
    """Return the median over pairs, or the mean of the non-zero values where it is zero."""
    counts = None if weights is None else _pair_counts(thinned(weights))
    middle = float(np.median(values)) if counts is None else _weighted_median(values, counts)
    if middle > 0:
        return middle
    apart = values > 0
    if not np.any(apart):
        raise InputError(
            "a lengthscale cannot be taken from rows that are all equal",
            got="a sample in which every distance is 0",
            fix="pass rows that differ, or a number as lengthscale",
        )
    shares = None if counts is None else counts[1:][apart]
    return float(np.average(values[apart], weights=shares))


def _pair_counts(weights: Array) -> FloatArray:
    """Return how many pairs are of a row with itself, Σw(w-1)/2, then w_iw_j for i < j."""
    w = np.asarray(weights, dtype=np.float64)
    one, two = np.triu_indices(len(w), 1)
    return np.append(np.sum(np.maximum(0.5 * w * (w - 1), 0.0)), w[one] * w[two])


def _weighted_median(values: FloatArray, counts: FloatArray) -> float:
    """Return the median of a zero and the values, each standing so many times."""
    values = np.append(0.0, values)
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(counts[order])
    # Half-way between two values the median is their mean, as of an even number of values.
    below, above = (np.searchsorted(ends, 0.5 * ends[-1], side) for side in ("left", "right"))
    return float(0.5 * (values[order[below]] + values[order[above]]))


def inverse_variance(sample: Array, weights: Array | None = None) -> float:
    """Return γ = 1/mean‖x-x̄‖² of a sample, of rows that stand so many times."""
    rows = thinned(sample)
    w = np.ones(rows.shape[0]) if weights is None else np.asarray(thinned(weights))
    rows = rows.toarray() if is_sparse(rows) else as_numpy(rows)
    rows = np.asarray(rows, dtype=np.float64)
    with np.errstate(over="ignore"):
        rows = rows - rows[np.argmax(w)]  # close to the mean first, then to the mean itself
        rows = rows - np.average(rows, axis=0, weights=w)
        spread = float(np.einsum("i,ij,ij->", w, rows, rows)) / float(w.sum())
    if not 1e-300 < spread < 1e300:
        raise InputError(
            "gamma cannot be taken from rows without a usable spread",
            got=f"a mean squared deviation of {spread:.3g}",
            fix="pass rows that differ, of moderate size, or a number as gamma",
        )
    return 1 / spread
