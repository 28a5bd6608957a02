"""Outlines: the ellipses that are drawn, whatever law gives their radius."""

import numpy as np

from mercer.arrays import Array

_CORNERS = 65  # of the closed line; the last is the first


def outline(centre: Array, covariance: Array, radius: float) -> Array:
    """Return corners (65, 2) of {u : (u - m)ᵀS⁻¹(u - m) = radius²}, a line where S has rank 1.

    Parameters
    ----------
    centre : ndarray of shape (2,)
        m.
    covariance : ndarray of shape (2, 2)
        S, positive semidefinite; what is below zero by rounding is zero.
    radius : float
        Of the circle that S turns and stretches.
    """
    values, axes = np.linalg.eigh(covariance)
    turns = np.linspace(0.0, 2 * np.pi, _CORNERS)
    circle = np.stack([np.cos(turns), np.sin(turns)])
    line = axes @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    return np.asarray(centre + radius * line.T)
