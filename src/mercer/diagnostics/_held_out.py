"""Limits of T² and Q for new rows, from rows that were left out of the axes.

Laws of T² and Q of new rows, with means from rows left out: for few rows and loose axes.
"""

import dataclasses
from typing import final

import numpy as np
import scipy.special

from mercer.arrays import Array, eigh
from mercer.errors import InputError

_SPLITS = 30
_OUT = 0.2  # of the rows, left out together
_NO_SPREAD = 1e-12


@final
@dataclasses.dataclass(frozen=True)
class LeftOutLaw:
    """Scaled F laws whose means are those of rows left out.

    Attributes
    ----------
    t2_mean, q_mean : float
        Mean T² and Q of rows left out, variances taken as those of all rows.
    t2_freedom, q_freedom : float
        Directions that they are spread over, as if alike: (Σw)²/Σw².
    rows : int
        n.
    """

    t2_mean: float
    t2_freedom: float
    q_mean: float
    q_freedom: float
    rows: int

    def limits(self, level: float) -> tuple[float, float]:
        """Return the values that normal new rows stay below with probability `level`.

        T²: mean·F(a, n + 2(a - 1)); Q: mean·F(b, nb/2). The second number is what the
        variances, and the mean of Q, are known from.
        """
        a, b, n = self.t2_freedom, self.q_freedom, self.rows
        t2 = self.t2_mean * float(scipy.special.fdtri(a, n + 2 * (a - 1), level))
        q = self.q_mean * float(scipy.special.fdtri(b, n * b / 2, level))
        return t2, q


def left_out_law(table: Array, k: int, seed: int) -> LeftOutLaw:
    """Return the law of new rows from 30 splits, each with a fifth of the rows left out.

    Leaving out single rows gives nearly the same axes n times, and where axes are not
    determined the row that made one is never seen along it: its limits are then too low.
    Splits find other axes each time.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows about their mean, scaled where the fit scales.
    k : int
        Axes.
    seed : int
        Of the splits.
    """
    n, p = table.shape
    inside = max(n - max(1, round(_OUT * n)), k + 2)
    rng = np.random.default_rng(seed)
    gram = table @ table.T if p > inside else None
    along, away = np.zeros(k), list[Array]()
    for _ in range(_SPLITS):
        order = rng.permutation(n)
        squares, rest = _split(table, gram, order[:inside], order[inside:], k)
        along += np.mean(squares, axis=0) / _SPLITS
        away.append(rest)
    far = np.concatenate(away)
    values = _variances(table, gram)
    fewer = (1 + 1 / n) / (1 + 1 / inside)  # a mean of more rows is nearer to new ones
    alive = values[:k] > _NO_SPREAD * values[0]
    weights = fewer * along * alive / np.where(alive, values[:k], 1.0)
    spread = _freedom(values[k : min(n - 1, p)], n - 1 - k, p - k)
    mean = float(np.mean(far))
    seen = float(np.var(far)) / (2 * mean * mean) if mean > 0 else 0.0
    return LeftOutLaw(
        float(np.sum(weights)),
        float(np.sum(weights) ** 2 / (np.sum(weights**2) or 1.0)) or 1.0,
        fewer * mean,
        2 / (1 / spread + seen),
        n,
    )


def _split(
    table: Array, gram: Array | None, inside: Array, outside: Array, k: int
) -> tuple[Array, Array]:
    """Return squared coordinates (r, k) and Q (r,) of rows outside by axes of those inside."""
    if gram is None:
        mean = table[inside].mean(axis=0)
        kept, left = table[inside] - mean, table[outside] - mean
        axes = eigh(kept.T @ kept)[1][:, :k]
        squares, whole = (left @ axes) ** 2, np.sum(left**2, axis=1)
    else:
        within, across = gram[np.ix_(inside, inside)], gram[np.ix_(outside, inside)]
        middle, base = within.mean(axis=0), across.mean(axis=1)
        centre = float(middle.mean())
        values, left = eigh(within - middle - middle[:, None] + centre)
        alive = values[:k] > _NO_SPREAD * max(float(values[0]), 0.0)
        about = (across - middle - base[:, None] + centre) @ (left[:, :k] * alive)
        squares = about**2 / np.where(alive, values[:k], 1.0)
        whole = gram[outside, outside] - 2 * base + centre
    return squares, np.maximum(whole - np.sum(squares, axis=1), 0.0)


def _variances(table: Array, gram: Array | None) -> Array:
    """Return all variances, descending."""
    values = eigh(table.T @ table if gram is None else gram)[0]
    return np.maximum(values, 0.0) / (len(table) - 1)


def _freedom(rest: Array, rows: int, columns: int) -> float:
    """Return (Σλ)²/Σλ² of the true variances left out, at most `columns`.

    Σλ̂² of a sample is larger than Σλ² by (Σλ)²/rows in the mean, which is taken out.
    """
    first, second = float(np.sum(rest)), float(np.sum(rest**2))
    if first <= 0 or rows < 2:
        return float(max(columns, 1))
    true = (second - first**2 / rows) * rows**2 / ((rows - 1) * (rows + 2))
    return first**2 / max(true, first**2 / max(columns, 1))


def turned(variances: Array, k: int, rows: int) -> float:
    """Return the mean square sine by which another sample would turn the last axis away.

    Σ_{j>k} λ_kλ_j/(n(λ_k - λ_j)²), what sampling adds to the gaps taken out as for normal
    rows; infinite where a gap is no more than that.

    Parameters
    ----------
    variances : ndarray of shape (r,)
        All variances, descending.
    k : int
        Axes kept.
    rows : int
        n.
    """
    last, rest = float(variances[k - 1]), np.asarray(variances[k:], np.float64)
    gaps = (last - rest) ** 2 - (2 * last**2 + 2 * rest**2 + 4 * last * rest) / rows
    if np.any(gaps <= 0):
        return float("inf") if rest.size and last > 0 else 0.0
    return float(np.sum(last * rest / rows / gaps))


_FOLDS = 20
_SINGLE = 100  # rows below which each is left out alone
_LOOSE = 200  # rows below which axes that are not determined need a law
_DETERMINED = 0.3  # mean square sine up to which the plane of the axes is determined
_NOTHING = 1e-12  # of the largest variance: an axis that is not there


@final
@dataclasses.dataclass(frozen=True)
class HeldOut:
    """T² and Q of every row, by axes found without it.

    Attributes
    ----------
    t2, q : ndarray of shape (n,)
        Σ_j z_j²/λ_j over the k axes, and the squared distance from their plane.
    axes : int
        k where rows were left out one by one, 0 otherwise.
    law : LeftOutLaw or None
        For fewer than 200 rows: what limits are taken from where ranks say too little.
    determined : bool
        Whether the rows determine the plane of the axes.
    """

    t2: Array
    q: Array
    axes: int = 0
    law: LeftOutLaw | None = None
    determined: bool = True

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Return the values that new rows stay below with probability `level`.

        They are the values of rank level·(n + 1): a new row is as likely to stand at any
        rank. A new row at the limit would itself be among the rows that give variances: of
        rows left out alone T² counts as T²(1 - T²/(k(n + T²))), since the new row and the
        one left out share 1/k of their direction in the mean. Below 200 rows, where axes are
        not determined or no value has that rank, the limits are those of normal rows, with
        means from rows left out. With fewer than level/(1 - level) rows and no law they are
        the largest values, which 1 of n + 1 new rows exceeds.
        """
        if self.by_law(level):
            assert self.law is not None
            return self.law.limits(level)
        t2, n = self.t2, len(self.t2)
        if self.axes:
            t2 = t2 * (1 - t2 / (self.axes * (n + t2)))
        return _at_rank(t2, level), _at_rank(self.q, level)

    def by_law(self, level: float) -> bool:
        """Tell whether the limits are from the law."""
        no_rank = level * (len(self.t2) + 1) >= len(self.t2)
        return self.law is not None and (no_rank or not self.determined)


def held_out(table: Array, k: int, *, folds: int | None = None, seed: int = 0) -> HeldOut:
    """Return T² and Q of every row, from axes and variances of the other folds.

    The laws of new rows hold for k = p (T²) and n ≥ 100p (Q) only; this holds for rows of
    any distribution where the axes are determined, or rows are many. Cost: an eigenvalue
    problem for each fold, of order min(n, p), and 30 more below 200 rows.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows, scaled where the fit scales.
    k : int
        Axes, fewer than the rows outside a fold.
    folds : int or None
        How often axes are found; n or more leaves out one row at a time. None is n below
        100 rows, and 20 from there.
    seed : int
        Of the folds.
    """
    X = np.asarray(table, np.float64)
    n, p = X.shape
    folds = min(folds or (n if n < _SINGLE else _FOLDS), n)
    least = n - -(-n // folds) if n else 0
    if not 1 <= k <= min(least - 1, p):
        raise InputError(
            "too few rows for axes without some of them",
            got=f"k = {k} axes, {n} rows in {folds} folds, {p} columns",
            fix=f"ask for at most {max(min(least - 1, p), 0)} axes",
        )
    X = X - X.mean(axis=0)
    fold = np.random.default_rng(seed).permutation(n) % folds
    t2, q = np.empty(n), np.empty(n)
    for number in range(folds):
        out = fold == number
        t2[out], q[out] = _without(X[~out], X[out], k)
    alone = k if folds == n else 0
    if n >= _LOOSE or n < k + 4 or not np.any(X):
        return HeldOut(t2, q, alone)
    values = _leading(X, min(n - 1, p))[0]
    loose = turned(values, k, n) > _DETERMINED
    return HeldOut(t2, q, alone, left_out_law(X, k, seed), not loose)


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
