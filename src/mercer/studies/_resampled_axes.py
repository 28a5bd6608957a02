"""Axes of resampled rows, from weighted sums: the rows are not copied, nor fitted anew.

Resampled axes beside those of the fit: alignment, angles, and planes that are stable.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np
import scipy.optimize

from mercer.arrays import Array, leading_eigh
from mercer.operators import exact_means

_PAIRS = 64  # columns up to which products of all pairs are laid out
_ROUNDING = 1e-13  # of sums of squares, relative to them
_BYTES = 16e6  # of such products that are held at a time

Weights = Callable[[slice], Array]


@final
@dataclasses.dataclass(frozen=True)
class DrawFrame:
    """How rows are analysed, in every draw.

    Attributes
    ----------
    standardize : bool
        Whether columns are divided by their standard deviation, that of the draw.
    root : ndarray of shape (p,)
        Square roots of the feature weights; one where there are none.
    axes : ndarray of shape (k, p)
        Axes of all rows.
    """

    standardize: bool
    root: Array
    axes: Array

    @property
    def k(self) -> int:
        """Number of axes."""
        return len(self.axes)


@final
@dataclasses.dataclass(frozen=True)
class Drawn:
    """One resampled fit.

    Attributes
    ----------
    axes : ndarray of shape (k, p)
        Its axes.
    variances : ndarray of shape (k,)
        λ, dividing by Σw - 1.
    along : ndarray of shape (k,)
        Variances along the axes of all rows.
    total : float
        Sum of all variances.
    """

    axes: Array
    variances: Array
    along: Array
    total: float


def by_groups(counts: Array, groups: Array, draws: int, seed: int) -> Array:
    """Return how often each row is drawn, (draws, n), where groups are drawn as a whole.

    Parameters
    ----------
    counts : ndarray of shape (n,)
        Repeat counts w of the rows.
    groups : ndarray of int of shape (n,)
        Which group, from 0.
    draws, seed : int
        How many, and which.
    """
    chosen = multinomial(np.ones(int(np.max(groups)) + 1), draws, seed)
    return np.asarray(chosen[:, groups] * counts)


def multinomial(counts: Array, draws: int, seed: int) -> Array:
    """Return how often each row is drawn, (draws, n): Σw rows, with chances w/Σw.

    Draw d has its own stream of random numbers, so that more draws repeat the first ones.

    Parameters
    ----------
    counts : ndarray of shape (n,)
        Repeat counts w of the rows.
    draws, seed : int
        How many, and which.
    """
    chances = counts / np.sum(counts)
    size = round(float(np.sum(counts)))
    found = np.empty((draws, len(counts)), np.uint32)
    for d in range(draws):
        found[d] = np.random.default_rng([seed, d]).multinomial(size, chances)
    return found


class Poisson:
    """Repeat counts by Poisson's law: rows need not be counted before, nor held.

    Draw d has its own stream of random numbers, used in the order of the rows: blocks of any
    length give the same draws. Σw is n in the mean.
    """

    def __init__(self, draws: int, seed: int, counts: Array | None = None) -> None:
        self.streams = [np.random.default_rng([seed, d]) for d in range(draws)]
        self.counts = counts

    def __call__(self, rows: slice) -> Array:
        """Return the counts (draws, b) of the next rows."""
        size = rows.stop - rows.start
        mean: Any = 1.0 if self.counts is None else self.counts[rows]
        return np.stack([stream.poisson(mean, size) for stream in self.streams])


def by_columns(blocks: Iterator[Array], weights: Weights, draws: int, frame: DrawFrame) -> Any:
    """Yield every draw from p×p sums of squares; one walk over the rows, draws·np² flops.

    Parameters
    ----------
    blocks : iterator of ndarray of shape (b, p)
        Rows about a mean near theirs.
    weights : function
        Repeat counts (draws, b) of rows that come next.
    draws : int
        How many.
    frame : DrawFrame
        How they are analysed.
    """
    p = len(frame.root)
    totals, firsts = np.zeros(draws), np.zeros((draws, p))
    seconds = np.zeros((draws, p, p))
    start = 0
    for block in blocks:
        step = max(1, int(_BYTES / (8 * p * (p if p <= _PAIRS else 1))))
        for at in range(0, len(block), step):
            x = block[at : at + step]
            w = weights(slice(start, start + len(x))).astype(np.float64)
            start += len(x)
            totals += np.sum(w, axis=1)
            firsts += w @ x
            _add(seconds, w, x)
    for d in range(draws):
        yield _solved(seconds[d], firsts[d], totals[d], frame)


def _add(seconds: Array, w: Array, x: Array) -> None:
    """Add Σ w_di x_i x_iᵀ to every draw."""
    p = x.shape[1]
    if p <= _PAIRS:
        pairs = (x[:, :, None] * x[:, None, :]).reshape(len(x), p * p)
        seconds += (w @ pairs).reshape(-1, p, p)
        return
    for d in range(len(w)):
        at = np.flatnonzero(w[d])
        rows = x[at] * np.sqrt(w[d, at])[:, None]
        seconds[d] += rows.T @ rows


def _solved(second: Array, first: Array, total: float, frame: DrawFrame) -> Drawn:
    """Return the leading axes of one draw from its sums."""
    covariance = (second - np.outer(first, first / total)) / (total - 1)
    if frame.standardize:
        variances = np.diagonal(covariance)
        # A rare value that was not drawn leaves a constant column, of which rounding is left.
        flat = variances * (total - 1) <= _ROUNDING * np.diagonal(second)
        factor = _factor(np.where(flat, 0.0, variances)) * frame.root
        covariance = covariance * np.outer(factor, factor)
    values, axes = leading_eigh(covariance, frame.k)
    along = np.sum((frame.axes @ covariance) * frame.axes, axis=1)
    return Drawn(axes.T, np.maximum(values, 0.0), along, float(np.trace(covariance)))


def by_rows(table: Array, counts: Array, frame: DrawFrame) -> Iterator[Drawn]:
    """Yield every draw from the n×n sums of products: for fewer rows than columns.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows about their mean.
    counts : ndarray of shape (draws, n)
        How often each row is drawn.
    frame : DrawFrame
        How they are analysed.
    """
    gram = None if frame.standardize else table @ table.T
    for weights in counts:
        at = np.flatnonzero(weights)
        w = weights[at].astype(np.float64)
        total = float(np.sum(w))
        rows = table[at]
        if gram is None:
            about = rows - exact_means(rows, w @ rows / total)
            factor = _factor(w @ about**2 / (total - 1)) * frame.root
            yield _dual(about * factor, None, w, frame.axes)
        else:
            yield _dual(rows, gram[np.ix_(at, at)], w, frame.axes)


def _dual(rows: Array, gram: Array | None, w: Array, known: Array) -> Drawn:
    """Return the leading axes of rows with weights, from their products with each other."""
    total, root, k = float(np.sum(w)), np.sqrt(w), len(known)
    scores = rows @ known.T
    along = w @ (scores - w @ scores / total) ** 2 / (total - 1)
    products = rows @ rows.T if gram is None else gram
    share = products @ (w / total)
    middle = float(w @ share) / total
    centred = products - share[:, None] - share[None, :] + middle
    matrix = centred * np.outer(root, root) / (total - 1)
    values, left = leading_eigh(matrix, min(k, len(w)))
    values = np.maximum(values, 0.0)
    alive = values > 1e-14 * max(float(np.max(values, initial=0.0)), 1e-300)
    # Columns of `left` are orthogonal to √w, so that the mean need not be taken out of rows.
    scaled = left * root[:, None] / np.sqrt(np.where(alive, values, 1.0) * (total - 1))
    scaled -= (w / total)[:, None] * np.sum(scaled, axis=0)
    axes = (rows.T @ (scaled * alive)).T
    missing = k - len(values)
    if missing > 0:
        axes = np.concatenate([axes, np.zeros((missing, axes.shape[1]))])
        values = np.concatenate([values, np.zeros(missing)])
    return Drawn(axes, values, along, float(np.trace(matrix)))


def _factor(variances: Array) -> Array:
    alive = variances > 0
    return np.where(alive, 1 / np.sqrt(np.where(alive, variances, 1.0)), 0.0)


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


def planes(
    cosines: Array, same: Array | None = None, most: float = _LARGEST
) -> tuple[Plane, ...]:
    """Return axes merged into planes until all are stable, or nothing is left to merge.

    A group whose median angle exceeds 30 degrees takes in the neighbour with which its axes
    mix most, if they mix more with it than with what is outside the axes.

    Parameters
    ----------
    cosines : ndarray of shape (draws, k, k)
        Of the axes of the fit with those of every draw, both by descending variance.
    same : ndarray of bool of shape (k - 1,) or None
        Which axes are merged with the next from the start.
    most : float
        Degrees, instead of 30.
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
        loose = [g for g in groups if angles[g] > most and g not in ended]
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
    return tuple(Plane(g, angles[g], angles[g] <= most) for g in groups)


def _mixed(mixing: Array, one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return float(np.sum(mixing[np.ix_(one, other)]))


def _angle(cosines: Array, group: tuple[int, ...]) -> float:
    at = np.ix_(range(len(cosines)), group, group)
    least = np.linalg.svd(cosines[at], compute_uv=False)[:, -1]
    return float(np.median(np.degrees(np.arccos(np.minimum(least, 1.0)))))
