"""Ellipses: where a normal cloud has a given share of its points, and where its mean lies."""

import numpy as np
from numpy.typing import ArrayLike

from mercer.diagnostics import outline
from mercer.errors import InputError

__all__ = ["ellipse"]


def ellipse(
    x: ArrayLike, y: ArrayLike, level: float = 0.95, *, of_mean: bool = False
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the outline of {u : (u - m)ᵀS⁻¹(u - m) = -2·ln(1 - level)}.

    m and S are mean and covariance of the points; the right side is the quantile of χ² with
    two degrees of freedom, in closed form. Two points, or points on a line, have no ellipse.
    With `of_mean` it is the region that holds the mean of the law with that confidence, by
    Hotelling's T²: the right side is (n - 1)/n·((1 - level)^(-2/(n - 2)) - 1).

    Parameters
    ----------
    x, y : array of shape (n,)
        The points.
    level : float in (0, 1)
        Share of a normal cloud inside, or confidence.
    of_mean : bool
        Whether it is drawn for the mean of the points instead of the points.

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
    covariance = np.cov(points)
    values = np.linalg.eigvalsh(covariance)
    if values[0] <= 1e-12 * values[1]:
        return None
    radius = np.sqrt(-2 * np.log1p(-level))
    if of_mean:
        n = points.shape[1]
        radius = np.sqrt((n - 1) / n * np.expm1(-2 / (n - 2) * np.log1p(-level)))
    line = outline(points.mean(axis=1), covariance, float(radius))
    return tuple(line[:, 0].tolist()), tuple(line[:, 1].tolist())
