"""Default scales from a sample: the median distance, and the mean squared deviation."""

import math
from typing import Any

import numpy as np

from mercer.arrays import Array, Measure, as_numpy, is_sparse, prepare, tile
from mercer.errors import InputError

MOST_ROWS = 2000


def thinned(sample: Any) -> Any:
    """Return at most 2000 rows, evenly spaced."""
    n = sample.shape[0] if hasattr(sample, "shape") else len(sample)
    step = max(1, -(-n // MOST_ROWS))
    return sample if step == 1 else sample[::step]


def median_length(sample: Array) -> float:
    """Return ℓ with ℓ² = ½·median of ‖x_i-x_j‖² over pairs i < j, so that γ = 1/median.

    A median of zero falls to the mean of the squared distances that are not zero.
    """
    d = _pairs(sample, "dist")
    unit = float(d.max(initial=0.0))  # no square overflows
    return unit * math.sqrt(0.5 * _middle((d / unit) ** 2 if unit > 0 else d))


def median_of(sample: Array, kind: str) -> float:
    """Return the median over pairs i < j of a measure, or the mean of the non-zero ones."""
    return _middle(_pairs(sample, kind))


def _pairs(sample: Array, kind: str) -> np.ndarray[Any, np.dtype[np.float64]]:
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


def _middle(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the median, or the mean of the non-zero values where it is zero."""
    middle = float(np.median(values))
    if middle > 0:
        return middle
    apart = values[values > 0]
    if apart.size == 0:
        raise InputError(
            "a lengthscale cannot be taken from rows that are all equal",
            got="a sample in which every distance is 0",
            fix="pass rows that differ, or a number as lengthscale",
        )
    return float(apart.mean())


def inverse_variance(sample: Array) -> float:
    """Return γ = 1/mean‖x-x̄‖² of a sample."""
    rows = thinned(sample)
    rows = rows.toarray() if is_sparse(rows) else as_numpy(rows)
    rows = np.asarray(rows, dtype=np.float64)
    with np.errstate(over="ignore"):
        rows = rows - rows[:1]  # close to the mean first, then to the mean itself
        rows = rows - rows.mean(axis=0)
        spread = float(np.einsum("ij,ij->", rows, rows)) / max(1, len(rows))
    if not 1e-300 < spread < 1e300:
        raise InputError(
            "gamma cannot be taken from rows without a usable spread",
            got=f"a mean squared deviation of {spread:.3g}",
            fix="pass rows that differ, of moderate size, or a number as gamma",
        )
    return 1 / spread
