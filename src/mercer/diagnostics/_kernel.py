"""Two numbers that say what a kernel makes of the data."""

from typing import Any

import numpy as np

from mercer.kernels import Kernel, cka

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
    return float(trace**2 / squares) if squares > 0 else 0.0


def linear_alignment(kernel: Kernel, rows: Any) -> float | None:
    """Return the centred alignment of a kernel with the linear one on at most 1000 rows.

    Near 1 the kernel sees what PCA sees; None where the rows do not vary.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or sparse matrix of shape (n, p)
        The rows; of more than 1000 every few are taken.
    """
    sample = rows[:: max(1, -(-rows.shape[0] // _SAMPLE))]
    wide = sample.toarray() if hasattr(sample, "toarray") else sample
    wide = np.asarray(wide, np.float64)
    about = wide - wide.mean(axis=0)
    if not np.any(about):
        return None
    return float(cka(kernel.block(sample), about @ about.T))
