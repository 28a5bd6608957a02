"""Medians, spreads and cut-offs of numbers with repeat counts, of which half may be wrong."""

import dataclasses
import math

import numpy as np
from scipy.special import chdtr, chdtri, ndtri

from mercer.arrays import Array

NORMAL = 1.482602218505602  # 1/Φ⁻¹(3/4): what makes a MAD a standard deviation
_MANY = 0.25  # share of rows beyond a cut-off from which the median is no longer trusted
_TIE = 1e-12  # of Σcounts: half of equal fractions is half, whatever their sum is rounded to


def upper_median(values: Array, counts: Array) -> float:
    """Return the least value with more than half of Σcounts at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    at = int(np.searchsorted(reached, reached[-1] / 2 * (1 + _TIE), side="right"))
    return float(values[order[min(at, len(order) - 1)]])


def medians(values: Array, counts: Array) -> Array:
    """Return the medians (b,) of columns (n, b), as if row i stood counts_i times."""
    found = np.empty(values.shape[1])
    held = counts > 0
    kept = counts[held]
    for j in range(values.shape[1]):
        column = values[held, j]
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(kept[order])
        half = reached[-1] / 2
        last = len(order) - 1
        low = min(int(np.searchsorted(reached, half * (1 - _TIE), side="left")), last)
        high = min(int(np.searchsorted(reached, half * (1 + _TIE), side="right")), last)
        found[j] = 0.5 * column[order[low]] + 0.5 * column[order[high]]
    return found


def median_and_deviation(values: Array, counts: Array) -> tuple[Array, Array]:
    """Return medians (b,) and 1.4826·median|x - median| (b,) of columns (n, b)."""
    middle = medians(values, counts)
    return middle, NORMAL * medians(np.abs(values - middle), counts)


def shortest_half(values: Array, counts: Array) -> tuple[float, float]:
    """Return the middle of the shortest interval with more than half the rows, and its spread.

    The spread is that of normal rows. Unlike the median, the middle does not move when 40 %
    of the rows go to one side.
    """
    held = counts > 0
    order = np.argsort(values[held], kind="stable")
    y, c = values[held][order], counts[held][order]
    before = np.concatenate([[0.0], np.cumsum(c)])
    half = before[-1] / 2 * (1 + _TIE)
    ends = np.searchsorted(before[1:], before[:-1] + half, side="right")
    starts = np.flatnonzero(ends < len(y))
    lengths = y[ends[starts]] - y[starts]
    best = int(np.argmin(lengths))
    middle = 0.5 * y[starts[best]] + 0.5 * y[ends[starts[best]]]
    return float(middle), float(NORMAL * lengths[best] / 2)


@dataclasses.dataclass(frozen=True)
class Orthogonal:
    """Orthogonal distances of the clean rows: d^⅔ ~ N(middle, spread²) (Wilson-Hilferty).

    Parameters
    ----------
    middle, spread : float
        Of d^⅔.
    level : float
        Share of clean rows below the cut-off.
    floor : float
        Distance below which there is nothing but rounding.
    """

    middle: float
    spread: float
    level: float
    floor: float

    @classmethod
    def of(cls, distance: Array, counts: Array, level: float, floor: float) -> "Orthogonal":
        """Return the law of the clean half or more of these distances (n,).

        Median and MAD read many outliers as spread; the shortest half does not, but is
        noisier. It is taken where it leaves out more than a quarter of the rows.
        """
        y = np.cbrt(distance) ** 2
        law = cls(*shortest_half(y, counts), level, floor)
        beyond = float(np.sum(counts[distance > law.cutoff])) / float(np.sum(counts))
        if beyond > _MANY:
            return law
        middle, spread = median_and_deviation(y[:, None], counts)
        return cls(float(middle[0]), float(spread[0]), level, floor)

    @property
    def cutoff(self) -> float:
        """(middle + spread·Φ⁻¹(level))^{3/2}, or the floor."""
        found = self.middle + self.spread * float(ndtri(self.level))
        return float(max(found**1.5, self.floor))

    @property
    def square(self) -> float:
        """Mean of d²: middle³ + 3·middle·spread²; zero where there is only rounding."""
        if self.middle**1.5 <= self.floor:
            return 0.0
        return self.middle**3 + 3 * self.middle * self.spread**2

    @property
    def consistency(self) -> float:
        """Mean of d² over that of the rows below the cut-off, for normal d^⅔."""
        if self.square == 0 or self.cutoff == self.floor:
            return 1.0
        m, s, z = self.middle, self.spread, float(ndtri(self.level))
        h = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / self.level
        below = m**3 - 3 * m * m * s * h + 3 * m * s * s * (1 - z * h) - s**3 * (z * z + 2) * h
        return self.square / below if below > 0 else 1.0


def score_cutoff(axes: int, level: float) -> float:
    """Return the root of the χ² quantile: what `level` of the score distances stay below."""
    return math.sqrt(float(chdtri(axes, 1 - level))) if axes else 0.0


def score_consistency(axes: int, level: float) -> float:
    """Return level/F_{k+2}(χ²_k quantile): what cutting there takes from a variance."""
    if not axes:
        return 1.0
    return level / float(chdtr(axes + 2, chdtri(axes, 1 - level)))
