"""Two numbers that say what a kernel makes of the data."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, as_numpy, binary_exponent
from mercer.kernels import Kernel

_ROWS = 128  # of a matrix that are made at a time
_SAMPLE = 1000  # rows that the alignment is taken from


def effective_rank(trace: float, squares: float) -> float:
    """Return (tr K̃)²/‖K̃‖²_F: 1 for one direction, n - 1 where all are alike.

    Parameters
    ----------
    trace : float
        tr K̃.
    squares : float
        ‖K̃‖²_F.

    Examples
    --------
    >>> effective_rank(4.0, 8.0)
    2.0
    """
    return float(trace * (trace / squares)) if squares > 0 else 0.0


def linear_alignment(kernel: Kernel, rows: Any, weights: Array | None = None) -> float | None:
    """Return the centred alignment of a kernel with the linear one on at most 1000 rows.

    Near 1 the kernel sees what PCA sees; None where the rows do not vary, or the kernel does
    not tell them apart.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or sparse matrix of shape (n, p)
        The rows; of more than 1000 every few are taken.
    weights : ndarray of shape (n,) or None
        How often each of them stands in the data; None is once.
    """
    step = max(1, -(-rows.shape[0] // _SAMPLE))
    sample = rows[::step]
    wide = sample.toarray() if hasattr(sample, "toarray") else sample
    wide = np.asarray(wide, np.float64)
    # The alignment has no unit, and squares of the rows themselves may leave the range.
    wide = np.ldexp(wide, -binary_exponent(float(np.max(np.abs(wide), initial=0.0))))
    about = wide - wide.mean(axis=0)
    if not np.any(about):
        return None
    if sample.dtype == np.float32:  # whose products may be past its numbers
        sample = sample.astype(np.float64)
    seen = np.asarray(as_numpy(kernel.block(sample)), np.float64)
    if not np.isfinite(seen).all() or np.ptp(seen) == 0:
        return None
    if weights is None:
        return _along(_centred(np.require(seen, None, "W")), about)
    w = weights[::step]
    return _cosine(_repeated(seen, w), _repeated(about @ about.T, w))


def _repeated(matrix: Array, weights: Array) -> Array:
    """Return D_w^½(I - 1πᵀ)K(I - π1ᵀ)D_w^½, which has the products of repeated rows.

    K is centred at the heaviest row first: else what light rows have would be lost beside it.
    """
    one = int(np.argmax(weights))
    near = matrix - matrix[[one]]
    near = near - near[:, [one]]  # in two steps, so that this row and column are zeros
    shares, root = weights / weights.sum(), np.sqrt(weights / weights.max())
    level = near @ shares
    near = near - level[:, None] - level[None] + shares @ level
    return np.asarray(root[:, None] * near * root)


def _centred(matrix: Array) -> Array:
    """Return HKH, written over the matrix; the grand mean goes first, against cancellation."""
    matrix -= matrix.mean()
    matrix -= matrix.mean(axis=0)
    matrix -= matrix.mean(axis=1)[:, None]
    return matrix


def _along(matrix: Array, about: Array) -> float | None:
    """Return the cosine of a matrix, which is overwritten, and ZZᵀ, made in part."""
    sizes = [float(max(m.max(), -m.min())) for m in (matrix, about)]
    if min(sizes) == 0:
        return None
    matrix /= sizes[0]
    about = about / sizes[1]
    inner = squares = 0.0
    for part in Tiles(len(about), _ROWS):
        linear = about[part] @ about.T
        inner += float(np.vdot(matrix[part], linear))
        squares += float(np.vdot(linear, linear))
    return inner / float(np.linalg.norm(matrix) * np.sqrt(squares))


def _cosine(one: Array, two: Array) -> float | None:
    """Return the cosine of two matrices, which are overwritten."""
    for matrix in (one, two):
        size = float(max(matrix.max(), -matrix.min()))
        if size == 0:
            return None
        matrix /= size
    return float(np.vdot(one, two) / (np.linalg.norm(one) * np.linalg.norm(two)))
