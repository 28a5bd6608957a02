"""Limits of T² and Q for new rows, from rows that were left out of the axes."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, eigh
from mercer.errors import InputError

_FOLDS = 5
_REPEATS, _REPEATS_OF_MANY = 4, 2  # how often the rows are dealt into folds
_MANY = 500  # rows from which dealing them twice is enough
_NO_SPREAD = 1e-12  # of the largest variance: an axis that is not there


@final
@dataclasses.dataclass(frozen=True)
class HeldOut:
    """T² and Q of every row by axes found without it, once for each dealing into folds.

    Attributes
    ----------
    t2, q : ndarray of shape (r, n)
        Σ_j z_j²/λ_j over the k axes of the other folds, and the squared distance from their
        plane, as axes and variances of all rows would see a new row: variances of a part are
        brought to those of all rows axis by axis, and the error of the mean likewise.
    """

    t2: Array
    q: Array

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Return the values that new rows stay below with probability `level`.

        They are the values of rank level·(n + 1), averaged over the dealings: a new row is as
        likely to stand at any rank, whatever its distribution (cross-conformal ranks
        [Vovk2015]_). A rank beyond n has no value: fewer than level/(1 - level) rows, 19 for
        95 % and 99 for 99 %, give no limit, which is infinite then.
        """
        if not can_tell(self.t2.shape[1], level):
            return np.inf, np.inf
        t2, q = (
            float(np.mean([_at_rank(dealt, level) for dealt in dealings]))
            for dealings in (self.t2, self.q)
        )
        return t2, q


def can_tell(rows: int, level: float) -> bool:
    """Tell whether so many rows have a value at the rank of a limit: level·(n + 1) ≤ n."""
    return rows >= fewest_rows(level)


def fewest_rows(level: float) -> int:
    """Return level/(1 - level), rounded up: the rows that a limit for new rows takes."""
    return int(np.ceil(level / (1 - level) - 1e-9))


def held_out(
    table: Array, k: int, *, folds: int | None = None, repeats: int | None = None, seed: int = 0
) -> HeldOut:
    """Return T² and Q of every row, from axes and variances of the other folds.

    Nothing is assumed of the rows but that new ones are like them. Leaving out single rows
    would give nearly the same axes n times, and where axes are not determined the row that
    made one would never be seen along it; so a fifth is left out at a time, and the rows are
    dealt into folds more than once. Cost: an eigenvalue problem for each fold and dealing, of
    order min(n, p); 20 below 500 rows, 10 from there.

    Parameters
    ----------
    table : ndarray of shape (n, p)
        Rows, scaled where the fit scales.
    k : int
        Axes, fewer than the rows outside a fold.
    folds : int or None
        Parts that the rows are dealt into; n or more leaves out one row at a time. None is 5,
        or as many more as k axes need.
    repeats : int or None
        Dealings; None is 4 below 500 rows, 2 from there, and 1 where rows are left out alone.
    seed : int
        Of the dealings.
    """
    X = np.asarray(table, np.float64)
    n, p = X.shape
    spare = max(n - k - 1, 1)  # rows that may be missing
    folds = min(folds or max(_FOLDS, -(-n // spare)), n)
    least = n - -(-n // folds) if n else 0
    if not 1 <= k <= min(least - 1, p):
        raise InputError(
            "too few rows for axes without some of them",
            got=f"k = {k} axes, {n} rows in {folds} folds, {p} columns",
            fix=f"ask for at most {max(min(least - 1, p), 0)} axes",
        )
    if repeats is None:
        repeats = 1 if folds == n else _REPEATS if n < _MANY else _REPEATS_OF_MANY
    X = X - X.mean(axis=0)
    gram = X @ X.T if p > least else None
    rng = np.random.default_rng(seed)
    shares, q = np.empty((repeats, n, k)), np.empty((repeats, n))
    seen = np.zeros(k)
    for dealing in range(repeats):
        fold = rng.permutation(n) % folds
        for number in range(folds):
            inside, out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            shares[dealing, out], q[dealing, out], variances = _split(X, gram, inside, out, k)
            seen += variances / (repeats * folds)
    whole = _variances(X, gram)[:k]
    alive = whole > _NO_SPREAD * whole[0]
    factor = np.where(alive, seen / np.where(alive, whole, 1.0), 0.0)
    nearer = (1 + 1 / n) / (
        1 + 1 / (n - n / folds)
    )  # a mean of more rows is nearer to new ones
    return HeldOut(nearer * (shares @ factor), nearer * q if k < p else np.zeros_like(q))


def _split(
    table: Array, gram: Array | None, inside: Array, outside: Array, k: int
) -> tuple[Array, Array, Array]:
    """Return z_j²/λ_j (r, k) and Q (r,) of rows outside by axes of those inside, and λ (k,)."""
    if gram is None:
        mean = table[inside].mean(axis=0)
        kept, left = table[inside] - mean, table[outside] - mean
        values, axes = eigh(kept.T @ kept)
        squares, whole = (left @ axes[:, :k]) ** 2, np.sum(left**2, axis=1)
    else:
        within, across = gram[np.ix_(inside, inside)], gram[np.ix_(outside, inside)]
        middle, base = within.mean(axis=0), across.mean(axis=1)
        centre = float(middle.mean())
        values, left = eigh(within - middle - middle[:, None] + centre)
        about = (across - middle - base[:, None] + centre) @ left[:, :k]
        squares = about**2 / np.where(values[:k] > 0, values[:k], np.inf)
        whole = gram[outside, outside] - 2 * base + centre
    values = np.maximum(values[:k], 0.0)
    alive = values > _NO_SPREAD * max(float(values[0]), 0.0)
    squares = squares * alive
    variances = np.where(alive, values, 0.0) / (len(inside) - 1)
    away = np.maximum(whole - np.sum(squares, axis=1), 0.0)
    return squares / np.where(alive, variances, 1.0), away, variances


def _variances(table: Array, gram: Array | None) -> Array:
    """Return all variances, descending."""
    values = eigh(table.T @ table if gram is None else gram)[0]
    return np.maximum(values, 0.0) / (len(table) - 1)


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
