"""Bayesian principal components in closed form: evidence of each number of axes, their noise.

Rows x = Wz + ε with z ~ N(0, I), columns of W ~ N(0, I/α_j) and ε ~ N(0, σ²I), α_j by the
evidence (automatic relevance determination). The variational posterior is known in closed form
[Nakajima2013]_: it lies along the principal axes, and an axis whose variance noise explains as
well gets none at all.
"""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.selection._variances import Variances

_STEPS = 40  # of the search for the noise, each a third nearer
_GOLDEN = (np.sqrt(5) - 1) / 2
_ROUNDS = 60  # of the noise of columns
_STILL = 1e-3
_LEAST = 5e-3  # share of a column's variance that is noise, at least
_BY_NOISE = 0.5  # a stick of this length is broken off for each further axis


@final
@dataclasses.dataclass(frozen=True)
class AxisPosterior:
    """What the rows say of the number of axes.

    Attributes
    ----------
    evidence : ndarray of shape (m + 1,)
        A lower bound on ln p(rows|k) for k = 0, 1, …, by the variational posterior.
    probabilities : ndarray of shape (m + 1,)
        p(k|rows).
    noise : ndarray of shape (m + 1,)
        σ² for each k.
    """

    evidence: Array
    probabilities: Array
    noise: Array

    @property
    def k(self) -> int:
        """The number of the largest probability."""
        return int(np.argmax(self.probabilities))

    def interval(self, share: float = 0.95) -> tuple[int, int]:
        """Return the shortest run of numbers that holds this share of the probability."""
        order = np.argsort(-self.probabilities, kind="stable")
        held = np.cumsum(self.probabilities[order])
        few = order[: int(np.searchsorted(held, share - 1e-12)) + 1]
        return int(few.min()), int(few.max())


def axis_posterior(known: Variances, *, shrinking: bool = False) -> AxisPosterior:
    """Return the evidence and the probability of every number of axes.

    Parameters
    ----------
    known : Variances
        All eigenvalues.
    shrinking : bool
        Whether each further axis is half as probable before the rows are seen: a stick of
        which one half after the other is broken off, without an end. Otherwise all numbers
        are alike.
    """
    n, p = max(known.rows - 1.0, 1.0), known.columns  # the mean has taken a row
    squares = np.maximum(known.values, 0.0) * n
    total = max(known.total * n, float(np.sum(squares)))
    most = max(min(len(squares), p - 1, int(n) - 1), 0)
    bounds, noises = _best_noises(squares[:most], total, n, p)
    prior = np.arange(most + 1) * np.log(_BY_NOISE) if shrinking else np.zeros(most + 1)
    logs = bounds + prior
    shares = np.exp(logs - np.max(logs))
    return AxisPosterior(bounds, shares / np.sum(shares), noises)


def _best_noises(squares: Array, total: float, n: float, p: int) -> tuple[Array, Array]:
    """Return the largest bound on ln p and the σ² that has it, for 0 … m axes at once.

    A golden section of ln σ² between what all axes leave and what none does.
    """
    tiny = np.finfo(float).tiny
    left = total - np.append(0.0, np.cumsum(squares))
    low = np.log(np.maximum(np.maximum(left, 1e-12 * total), tiny) / (n * p)) - 1e-9
    high = np.full_like(low, np.log(max(total, tiny) / (n * p)))
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    fa, fb = _bounds(squares, total, n, p, a), _bounds(squares, total, n, p, b)
    for _ in range(_STEPS):
        lower = fa > fb  # the best lies below b
        high, low = np.where(lower, b, high), np.where(lower, low, a)
        kept, known = np.where(lower, a, b), np.where(lower, fa, fb)
        other = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        fresh = _bounds(squares, total, n, p, other)
        a, fa = np.where(lower, other, kept), np.where(lower, fresh, known)
        b, fb = np.where(lower, kept, other), np.where(lower, known, fresh)
    return np.maximum(fa, fb), np.exp((low + high) / 2)


def _bounds(squares: Array, total: float, n: float, p: int, log_noise: Array) -> Array:
    """Return -F = -½(np ln 2πσ² + Σs²/σ² + Σ_h Δ_h) for 0 … m axes [Nakajima2013]_.

    With y = s²/σ² and g = ½(y - n - p + √((y - n - p)² - 4np)), the product of the two
    factors, Δ = p ln(g/p + 1) + n ln(g/n + 1) - g. An axis without a real g costs as much as
    one at the edge.
    """
    noise = np.exp(log_noise)
    free = squares[None, :] / noise[:, None] - n - p
    root = free**2 - 4 * n * p
    alive = (free > 0) & (root > 0)
    g = np.where(alive, (free + np.sqrt(np.where(alive, root, 0.0))) / 2, np.sqrt(n * p))
    gain = np.tril(p * np.log1p(g / p) + n * np.log1p(g / n) - g, -1).sum(axis=1)
    whole = n * p * (np.log(2 * np.pi) + log_noise) + total / noise + gain
    return np.asarray(-0.5 * whole)


def signal_of(values: Array, noise: float, rows: float, columns: int) -> Array:
    """Return u = ‖w‖² of axes with eigenvalues λ, what noise adds to them taken away.

    λ = (σ² + u)(1 + γσ²/u) with γ = p/n: the axis has turned towards the noise, and λ counts
    that as its own. 0 where noise alone explains λ.
    """
    ratio = columns / rows
    free = np.asarray(values, np.float64) - noise * (1 + ratio)
    root = free**2 - 4 * ratio * noise**2
    alive = (free > 0) & (root > 0)
    return np.where(alive, (free + np.sqrt(np.where(alive, root, 0.0))) / 2, 0.0)


def noise_of(known: Variances, k: int) -> float:
    """Return σ² beside k axes: what of the total variance their signal leaves, over p."""
    n, p = known.rows, known.columns
    rest = max(known.total - float(np.sum(known.values[:k])), 0.0) / max(p - k, 1)
    for _ in range(_STEPS):
        u = signal_of(known.values[:k], rest, n, p)
        after = max(known.total - float(np.sum(u)), 0.0) / p
        if abs(after - rest) <= 1e-10 * max(rest, 1e-300):
            break
        rest = after
    return rest


def column_noise(covariance: Array, rows: float) -> tuple[Array, AxisPosterior]:
    """Return the noise variance of each column (p,), and the posterior in these units.

    Axes are found among columns in units of their noise, and take their share of each
    variance; what they leave is the noise. Again, until it is still.

    Parameters
    ----------
    covariance : ndarray of shape (p, p)
        Of the columns.
    rows : float
        How many rows are behind it.
    """
    own = np.maximum(np.diag(covariance).astype(np.float64), 0.0)
    whole = np.where(own > 0, own, 1.0)
    noise, p = whole.copy(), len(own)
    for _ in range(_ROUNDS):
        posterior, values, vectors = _in_units(covariance, noise, rows)
        k = posterior.k
        level = noise_of(Variances.of(values, rows=rows, columns=p), k) if k else 1.0
        u = signal_of(values[:k], level, rows, p)
        after = np.maximum(whole - noise * (vectors[:, :k] ** 2 @ u), _LEAST * whole)
        moved = float(np.max(np.abs(np.log(after / noise))))
        noise = after
        if moved < _STILL:
            break
    return noise, _in_units(covariance, noise, rows)[0]


def _in_units(
    covariance: Array, noise: Array, rows: float
) -> tuple[AxisPosterior, Array, Array]:
    """Return the posterior, eigenvalues and vectors of columns in units of their noise."""
    root = np.sqrt(noise)
    values, vectors = np.linalg.eigh(covariance / root[:, None] / root)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    possible = min(len(values), max(int(rows) - 1, 1))
    known = Variances.of(values[:possible], rows=rows, columns=len(values))
    return axis_posterior(known), values, vectors


def settled_noise(
    covariance: Array, rows: float, *, own: bool = False
) -> tuple[Array | None, AxisPosterior]:
    """Return the noise of each column (p,), None where even noise explains as much.

    The bound is of columns in units of their noise. Each unit is a number fitted, and costs
    ½ ln n.

    Parameters
    ----------
    covariance : ndarray of shape (p, p)
        Of the columns.
    rows : float
        How many rows are behind it.
    own : bool
        Whether each column has its own noise in any case.
    """
    p = len(covariance)
    values = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)
    possible = min(p, max(int(rows) - 1, 1))
    even = axis_posterior(Variances.of(values[:possible], rows=rows, columns=p))
    noise, posterior = column_noise(covariance, rows)
    unit = 0.5 * (rows - 1) * float(np.sum(np.log(noise)))
    gain = float(np.max(posterior.evidence)) - unit - float(np.max(even.evidence))
    if own or gain > 0.5 * (p - 1) * float(np.log(rows)):
        return noise, posterior
    return None, even


def bayesian_number(covariance: Array, rows: float) -> tuple[int, tuple[int, int]]:
    """Return the number of axes with the largest evidence, and those that hold 95 %."""
    posterior = settled_noise(covariance, rows)[1]
    return posterior.k, posterior.interval()
