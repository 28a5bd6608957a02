"""Sampling error: how far variances would move with another sample of the same size."""

from typing import Any

import numpy as np


def sampling_error(
    scores: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """Return SE_j = sd(z_j²)/√n, the standard error of each explained variance (k,).

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Coordinates of the training rows, centred and not whitened.
    weights : ndarray of shape (n,) or None
        Repeat counts: Σw replaces n.
    """
    squares = np.asarray(scores, np.float64) ** 2
    if weights is None:
        return np.asarray(np.std(squares, axis=0, ddof=1) / np.sqrt(squares.shape[0]))
    total = float(np.sum(weights))
    about = squares - np.average(squares, axis=0, weights=weights)
    variance = np.asarray(weights, np.float64) @ about**2 / (total - 1)
    return np.asarray(np.sqrt(variance / total))
