"""Ellipses of concentration: where a normal cloud has a given share of its points."""

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError

__all__ = ["ellipse"]

_CORNERS = 65


def ellipse(
    x: ArrayLike, y: ArrayLike, level: float = 0.95
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the outline of {u : (u - m)ᵀS⁻¹(u - m) = -2·ln(1 - level)}.

    m and S are mean and covariance of the points; the right side is the quantile of χ² with
    two degrees of freedom, in closed form. Two points, or points on a line, have no ellipse.

    Parameters
    ----------
    x, y : array of shape (n,)
        The points.
    level : float in (0, 1)
        Share of a normal cloud inside.

    Returns
    -------
    (x, y) or None
        A closed line of 65 corners.
    """
    if not 0 < level < 1:
        raise InputError(
            "the level of an ellipse lies between 0 and 1",
            got=f"level={level}",
            fix="pass 0.95, say",
        )
    points = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    if points.shape[1] < 3:
        return None
    values, axes = np.linalg.eigh(np.cov(points))
    if values[0] <= 1e-12 * values[1]:
        return None
    turns = np.linspace(0.0, 2 * np.pi, _CORNERS)
    circle = np.stack([np.cos(turns), np.sin(turns)])
    radius = np.sqrt(-2 * np.log1p(-level))
    outline = points.mean(axis=1)[:, None] + radius * axes @ (np.sqrt(values)[:, None] * circle)
    return tuple(map(float, outline[0])), tuple(map(float, outline[1]))
