"""Limits of T² and Q for new rows, from rows that were left out of the axes."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, eigh
from mercer.errors import InputError

_FOLDS = 20
_NOTHING = 1e-12  # of the largest variance: an axis that is not there


@final
@dataclasses.dataclass(frozen=True)
class HeldOut:
    """T² and Q of every row, by axes found without it.

    Attributes
    ----------
    t2, q : ndarray of shape (n,)
        Σ_j z_j²/λ_j over the k axes, and the squared distance from their plane.
    """

    t2: Array
    q: Array

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Return the values that new rows stay below with probability `level`.

        They are the values of rank level·(n + 1): a new row is as likely to stand at any
        rank. With fewer than level/(1 - level) rows they are the largest values, which
        1 of n + 1 new rows exceeds.
        """
        return _at_rank(self.t2, level), _at_rank(self.q, level)


def held_out(table: Array, k: int, *, folds: int = _FOLDS, seed: int = 0) -> HeldOut:
    """Return T² and Q of every row, from axes and variances of the other folds.

    The laws of new rows hold for k = p (T²) and n ≥ 100p (Q) only; this holds for rows of
    any distribution, as far as axes of n(1 - 1/folds) rows are like those of n.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows, scaled where the fit scales.
    k : int
        Axes, fewer than the rows outside a fold.
    folds : int
        How often axes are found; n or more leaves out one row at a time.
    seed : int
        Of the folds.
    """
    X = np.asarray(table, np.float64)
    n, p = X.shape
    folds = min(folds, n)
    least = n - -(-n // folds)
    if not 1 <= k <= min(least - 1, p):
        raise InputError(
            "too few rows for axes without some of them",
            got=f"k = {k} axes, {n} rows in {folds} folds, {p} columns",
            fix=f"ask for at most {max(min(least - 1, p), 0)} axes",
        )
    fold = np.random.default_rng(seed).permutation(n) % folds
    t2, q = np.empty(n), np.empty(n)
    for number in range(folds):
        out = fold == number
        t2[out], q[out] = _without(X[~out], X[out], k)
    return HeldOut(t2, q)


def _without(inside: Array, outside: Array, k: int) -> tuple[Array, Array]:
    """Return T² and Q of the rows outside by k axes of those inside."""
    mean = inside.mean(axis=0)
    kept, left = inside - mean, outside - mean
    variances, axes = _leading(kept, k)
    squares = (left @ axes) ** 2
    alive = variances > _NOTHING * variances[0]
    t2 = squares @ np.where(alive, 1 / np.where(alive, variances, 1), 0.0)
    return t2, np.maximum(np.sum(left**2, axis=1) - np.sum(squares, axis=1), 0.0)


def _leading(table: Array, k: int) -> tuple[Array, Array]:
    """Return k variances (k,) and axes (p, k) of centred rows, by the smaller Gram matrix."""
    n, p = table.shape
    if p <= n:
        values, axes = eigh(table.T @ table)
        return np.maximum(values[:k], 0.0) / (n - 1), axes[:, :k]
    values, left = eigh(table @ table.T)
    values = np.maximum(values[:k], 0.0)
    safe = np.where(values > 0, values, 1.0)
    return values / (n - 1), (table.T @ left[:, :k]) / np.sqrt(safe)


def _at_rank(values: Array, level: float) -> float:
    """Return the value at rank r = level·(n + 1) among n ordered values.

    Between ranks j and j + 1 it lies a share (n - j)(r - j)/(n + 1 - r) of the way: a tail
    that falls like e^-x then leaves 1 - level above it in the mean, also for few values.
    """
    ordered, n = np.sort(values), len(values)
    rank = level * (n + 1)
    j = int(rank)
    if j < 1 or j >= n:
        return float(ordered[0 if j < 1 else -1])
    part = (n - j) * (rank - j) / (n + 1 - rank)
    return float(ordered[j - 1] + part * (ordered[j] - ordered[j - 1]))
