"""Rules that compare eigenvalues with a bound: the mean, sticks, a threshold, an edge.

Share of variance: the fewest components that explain at least a given part.
"""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.selection._variances import Variances

_TRACY_WIDOM = 0.9793  # 95 % quantile of the law of the largest eigenvalue of real noise
_HALVINGS = 60  # of an interval of length one: all digits of float64
_NODES = 4096  # of the integral of the Marchenko-Pastur law


def kaiser(known: Variances) -> int | None:
    """Return how many eigenvalues exceed their mean, Σλ/p [Kaiser1960]_.

    For standardised columns that is λ > 1. On noise about half of them do.
    """
    return known.leading(np.full(known.rank, known.total / known.columns))


def broken_stick(known: Variances) -> int | None:
    """Return how many leading eigenvalues exceed b_i = (Σλ/r)·Σ_{j=i…r} 1/j [Jackson1993]_.

    b_i is the mean length of the i-th longest of r pieces of a stick broken at random;
    r = min(n - 1, p).
    """
    return known.leading(stick(known.rank) * known.total)


def stick(pieces: int) -> Array:
    """Return the mean shares (r,) of the pieces of a stick broken at random, longest first."""
    inverse = 1 / np.arange(1, pieces + 1)
    return np.cumsum(inverse[::-1])[::-1] / pieces


def gavish_donoho(known: Variances) -> int | None:
    """Return how many singular values exceed ω(β)·median [Gavish2014]_.

    The best hard threshold for white noise of unknown size: ω(β) = λ*(β)/√μ_β, with
    λ*(β)² = 2(β + 1) + 8β/((β + 1) + √(β² + 14β + 1)), μ_β the median of the
    Marchenko-Pastur law, and β ≤ 1 the ratio of the sides of the centred table.
    """
    low, high = sorted((known.rows - 1, float(known.columns)))
    middle = (known.rank - 1) / 2  # place of the median among the singular values
    if len(known.values) <= np.ceil(middle):
        return None
    roots = np.sqrt(known.values[: known.rank])
    median = (roots[int(np.floor(middle))] + roots[int(np.ceil(middle))]) / 2
    return known.leading(np.full(known.rank, (hard_threshold(low / high) * median) ** 2))


def hard_threshold(ratio: float) -> float:
    """Return ω(β), in medians of the singular values, for sides of ratio β in (0, 1]."""
    best = 2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1))
    return float(np.sqrt(best / marchenko_pastur_median(ratio)))


def marchenko_pastur_median(ratio: float) -> float:
    """Return the median of the Marchenko-Pastur law of unit variance, β in (0, 1].

    Density √((b - x)(x - a))/(2πβx) on [a, b] = (1 ∓ √β)²; with x = a + (b - a)sin²t the
    integrand is smooth.
    """
    a, b = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    edges = np.linspace(0.0, np.pi / 2, _NODES + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    x = a + (b - a) * np.sin(middle) ** 2
    mass = np.cumsum((np.sin(middle) * np.cos(middle)) ** 2 / x)
    at = np.interp(0.5, mass / mass[-1], edges[1:])
    return float(a + (b - a) * np.sin(at) ** 2)


def noise_edge(known: Variances, columns: Array) -> int | None:
    """Return how many eigenvalues exceed the edge of uncorrelated noise [Dobriban2019]_.

    The noise has the variances h_j of the columns. With γ = p/(n - 1) and c in (0, 1/max h)
    such that γ·mean((hc/(1 - hc))²) = 1, its largest eigenvalue is near
    (1 + γ·mean(hc/(1 - hc)))/c, and is above `edge` in 5 % of tables. This is parallel
    analysis without draws; strong components raise h and can hide weak ones.

    Parameters
    ----------
    known : Variances
        Eigenvalues of the covariance matrix.
    columns : ndarray of shape (p,)
        Variances of the columns, as they were analysed.
    """
    return known.leading(np.full(known.rank, edge(columns, known.rows)))


def edge(columns: Array, rows: float) -> float:
    """Return the eigenvalue that noise with these column variances exceeds in 5 % of tables.

    Edge and scale are those of [ElKaroui2007]_: λ ≈ edge + n^(-2/3)·σ·TW₁ with
    σ³ = (1 + γ·mean((hc/(1 - hc))³))/c³.
    """
    h = np.asarray(columns, np.float64)
    largest = float(np.max(h, initial=0.0))
    if largest <= 0:
        return 0.0
    h, n = h / largest, rows - 1
    ratio = len(h) / n
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        c = (low + high) / 2
        with np.errstate(divide="ignore"):
            much = ratio * np.mean((h * c / (1 - h * c)) ** 2) > 1
        low, high = (low, c) if much else (c, high)
    c = low
    odds = h * c / (1 - h * c)
    top = (1 + ratio * np.mean(odds)) / c
    scale = np.cbrt(1 + ratio * np.mean(odds**3)) / c
    return float((top + n ** (-2 / 3) * scale * _TRACY_WIDOM) * largest)


def share(values: np.ndarray[Any, Any], wanted: float, total: float | None = None) -> int:
    """Return the least k with λ₁ + … + λ_k ≥ wanted·Σλ; r + 1 where r values are too few.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, descending: all of them, or the leading ones with `total`.
    wanted : float
        Share in (0, 1).
    total : float or None
        Sum of all eigenvalues; None is the sum of `values`.

    Examples
    --------
    >>> share(np.array([6.0, 3.0, 1.0]), 0.85)
    2
    """
    kept = np.cumsum(np.maximum(values, 0.0))
    whole = kept[-1] if total is None else total
    return int(np.searchsorted(kept, wanted * whole * (1 - 4e-16), side="left")) + 1
