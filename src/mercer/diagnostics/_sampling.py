"""Sampling error: how far variances would move with another sample of the same size."""

from typing import Any

import numpy as np


def sampling_error(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return SE_j = sd(z_j²)/√n, the standard error of each explained variance (k,).

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates of the training rows, centred and not whitened.
    """
    squares = np.asarray(scores, np.float64) ** 2
    return np.asarray(np.std(squares, axis=0, ddof=1) / np.sqrt(squares.shape[0]))
