"""Resampled axes beside those of the fit: alignment, angles, and planes that are stable."""

import dataclasses
from typing import final

import numpy as np
import scipy.optimize

from mercer.arrays import Array

_LARGEST = 30.0  # degrees of the median angle up to which an axis has a name
_APART = 2.448  # standard errors that 1 in 20 pairs of equal variances exceeds: √(-2 ln 0.05)


@final
@dataclasses.dataclass(frozen=True)
class Plane:
    """Axes that are told apart from others, though perhaps not from each other.

    Attributes
    ----------
    axes : tuple of int
        Which, counted from 0.
    angle : float
        Median over the draws of the largest angle to the same of the draw, in degrees.
    stable : bool
        Whether that is 30 or less; where it is not, no other axis of the fit explains it.
    """

    axes: tuple[int, ...]
    angle: float
    stable: bool

    @property
    def name(self) -> str:
        """What it is called: PC1, or the plane of PC2 and PC3."""
        names = [f"PC{j + 1}" for j in self.axes]
        if len(names) == 1:
            return names[0]
        kind = "plane" if len(names) == 2 else "space"
        return f"the {kind} of {', '.join(names[:-1])} and {names[-1]}"


def matched(cosines: Array) -> tuple[Array, Array]:
    """Return which axis of a draw belongs to each of the fit (k,), and its sign (k,).

    The assignment has the largest Σ|cos|.

    Parameters
    ----------
    cosines : ndarray of shape (k, k)
        Of every axis of the fit with every axis of the draw.
    """
    _, order = scipy.optimize.linear_sum_assignment(-np.abs(cosines))
    chosen = cosines[np.arange(len(order)), order]
    return order, np.where(chosen < 0, -1.0, 1.0)


def rotated(loadings: Array, target: Array) -> Array:
    """Return loadings (p, k) turned to a target: LR with RᵀR = I that has the least ‖LR - T‖.

    R = UWᵀ of the singular value decomposition LᵀT = USWᵀ.
    """
    left, _, right = np.linalg.svd(loadings.T @ target)
    return np.asarray(loadings @ (left @ right))


def alike(variances: Array, along: Array) -> Array:
    """Tell which axes (k - 1,) cannot be told from the next by their variances.

    Two variances that are equal lie apart by chance, because axes are chosen so: the distance
    of their logarithms, in standard errors, exceeds 2.45 in one of twenty samples only
    (Rayleigh's law). Up to there they count as equal.

    Parameters
    ----------
    variances : ndarray of shape (k,)
        Of the fit, descending.
    along : ndarray of shape (draws, k)
        Variances of the draws along the axes of the fit.
    """
    logs = np.log(np.maximum(along, 1e-300))
    errors = np.std(np.diff(logs, axis=1), axis=0, ddof=1)
    apart = -np.diff(np.log(np.maximum(variances, 1e-300)))
    return np.asarray(apart < _APART * errors)


def planes(cosines: Array, same: Array | None = None) -> tuple[Plane, ...]:
    """Return axes merged into planes until all are stable, or nothing is left to merge.

    A group whose median angle exceeds 30 degrees takes in the neighbour with which its axes
    mix most, if they mix more with it than with what is outside the axes.

    Parameters
    ----------
    cosines : ndarray of shape (draws, k, k)
        Of the axes of the fit with those of every draw, both by descending variance.
    same : ndarray of bool of shape (k - 1,) or None
        Which axes are merged with the next from the start.
    """
    k = cosines.shape[1]
    groups: list[tuple[int, ...]] = []
    for j in range(k):
        joined = bool(j and same is not None and same[j - 1])
        groups[-1:] = [(*groups[-1], j)] if joined else [*groups[-1:], (j,)]
    mixing = np.median(cosines**2, axis=0) if k else np.zeros((0, 0))
    ended: set[tuple[int, ...]] = set()
    while True:
        angles = {group: _angle(cosines, group) for group in groups}
        loose = [g for g in groups if angles[g] > _LARGEST and g not in ended]
        if not loose:
            break
        worst = max(loose, key=lambda group: angles[group])
        at = groups.index(worst)
        near = [groups[i] for i in (at - 1, at + 1) if 0 <= i < len(groups)]
        shares = [_mixed(mixing, worst, other) for other in near]
        inside = _mixed(mixing, worst, worst)
        outside = len(worst) - inside - sum(shares)
        if not near or max(shares) <= max(outside, 0.0):
            ended.add(worst)
            continue
        other = near[int(np.argmax(shares))]
        groups = [g for g in groups if g not in (worst, other)]
        groups.append(tuple(sorted(worst + other)))
        groups.sort()
    return tuple(Plane(g, angles[g], angles[g] <= _LARGEST) for g in groups)


def _mixed(mixing: Array, one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return float(np.sum(mixing[np.ix_(one, other)]))


def _angle(cosines: Array, group: tuple[int, ...]) -> float:
    at = np.ix_(range(len(cosines)), group, group)
    least = np.linalg.svd(cosines[at], compute_uv=False)[:, -1]
    return float(np.median(np.degrees(np.arccos(np.minimum(least, 1.0)))))
