"""Laws of T² and Q of new rows, with means from rows left out: for few rows and loose axes."""

import dataclasses
from typing import final

import numpy as np
import scipy.special

from mercer.arrays import Array, eigh

_SPLITS = 30
_OUT = 0.2  # of the rows, left out together
_NOTHING = 1e-12


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
    alive = values[:k] > _NOTHING * values[0]
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
        alive = values[:k] > _NOTHING * max(float(values[0]), 0.0)
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
