"""Axes of resampled rows, from weighted sums: the rows are not copied, nor fitted anew."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, leading_eigh
from mercer.operators import exact_means

_PAIRS = 64  # columns up to which products of all pairs are laid out
_ROUNDING = 1e-13  # of sums of squares, relative to them
_BYTES = 16e6  # of such products that are held at a time

Weights = Callable[[slice], Array]


@final
@dataclasses.dataclass(frozen=True)
class Frame:
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


def by_columns(blocks: Iterator[Array], weights: Weights, draws: int, frame: Frame) -> Any:
    """Yield every draw from p×p sums of squares; one walk over the rows, draws·np² flops.

    Parameters
    ----------
    blocks : iterator of ndarray of shape (b, p)
        Rows about a mean near theirs.
    weights : function
        Repeat counts (draws, b) of rows that come next.
    draws : int
        How many.
    frame : Frame
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


def _solved(second: Array, first: Array, total: float, frame: Frame) -> Drawn:
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


def by_rows(table: Array, counts: Array, frame: Frame) -> Iterator[Drawn]:
    """Yield every draw from the n×n sums of products: for fewer rows than columns.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows about their mean.
    counts : ndarray of shape (draws, n)
        How often each row is drawn.
    frame : Frame
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
