"""Completing rows by expectation and maximisation: the steps, and how they are hurried on."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, eigh, qr, svd
from mercer.operators._centring import Centring
from mercer.operators._completion import Completion
from mercer.operators._completion_sums import CompletionSums

_WHOLE = 20  # columns per column of a basis up to which p×p sums are no dearer
_MORE = 8  # columns of a basis beyond the axes
_MEMORY = 6  # steps that an extrapolation looks back on
_WORSE = 1.0  # growth of the change at which an extrapolation is taken back
_FAILURES = 3  # extrapolations taken back after which steps stay plain
_NEAR = 0.1  # change below which steps are extrapolated: before, they may lead elsewhere
_SLOWEST = 0.999  # rate of plain steps that is believed
_ROUNDING = 1e-10  # of an objective, that it may fall by
_APART = 4.0  # times by which an extrapolation may change the noise


@final
@dataclasses.dataclass(frozen=True)
class Rule:
    """How a completion follows from the sums of a pass.

    Parameters
    ----------
    rank : int
        Axes k < p of the completion.
    expected : bool
        False: regularised iterative PCA, s² = (np/min(p, n-1)) Σ_{j>k}λ_j / ((n-1-k)(p-k)),
        at most λ_{k+1}. True: probabilistic PCA by maximum likelihood, s² = mean of λ_j, j>k.
    factor_of : function or None
        Maps variances (p,), dividing by n - 1 and in units of 4^exponent, and offsets (p,)
        to column factors (p,); None leaves the columns as they are.
    tol : float
        Change of mean and loadings, relative to the root of the total variance, at which
        the steps end.
    most : int
        Passes at most.
    held : ndarray of bool of shape (p,) or None
        Columns whose observed cells are all equal: they are filled with that value.
    rate : float or None
        Rate at which plain steps come nearer, as far as it is known before the first, where
        `tol` is a share of the sampling error: the steps then end where what is left to
        change is below it, and products on the way there are float32.
    compiled : bool
        Whether the rows are many enough for compiled loops.
    """

    rank: int
    expected: bool = False
    factor_of: Callable[[Array, Array], Array | None] | None = None
    tol: float = 1e-7
    most: int = 500
    held: Array | None = None
    rate: float | None = None
    compiled: bool = False

    def sums(
        self, completion: Completion, basis: Array | None = None, dtype: Any = np.float64
    ) -> CompletionSums:
        """Return the sums of no rows, to which those under a completion are added."""
        return CompletionSums(
            completion,
            basis,
            expected=self.expected,
            held=self.held,
            dtype=dtype,
            compiled=self.compiled,
        )

    def noise_of(self, leading: Array, trace: float, n: float, p: int) -> float:
        """Return s² from λ_1 … λ_{k+1}, dividing by n, and their total."""
        k = self.rank
        rest = max(trace - float(np.sum(leading[:k])), 0.0)
        if self.expected:
            return rest / (p - k)
        freedom = (n - 1 - k) * (p - k)
        cap = float(leading[k]) if len(leading) > k else 0.0
        found = n * p / min(p, n - 1) * rest / freedom if freedom > 0 else cap
        return max(min(found, cap), 0.0)


@final
@dataclasses.dataclass(frozen=True)
class Completed:
    """Where the steps ended.

    Attributes
    ----------
    completion : Completion
        The last one.
    passes : int
        Passes over the rows.
    change : float
        What the last pass changed, see `Rule.tol`.
    sums : CompletionSums
        Of the last pass, under the completion before the last.
    basis : ndarray of shape (p, b) or None
        The next basis, where there is one.
    objectives : tuple of float
        Log-likelihood of the observed cells at the start of each pass; zeros unless expected.
    rate : float
        By which a plain step brings two points nearer, as the last ones have shown.
    """

    completion: Completion
    passes: int
    change: float
    sums: CompletionSums
    basis: Array | None
    objectives: tuple[float, ...]
    rate: float = 0.0


def first_completion(origin: Array, exponent: int) -> Completion:
    """Return the completion by column means, from which the steps begin."""
    p = len(origin)
    centring = Centring(origin, np.zeros(p), exponent)
    return Completion(centring, np.zeros((p, 0)), np.zeros(0), 0.0)


def first_basis(p: int, rank: int) -> Array | None:
    """Return Q (p, b) to start from, or None where p×p sums are kept."""
    width = rank + _MORE
    if p <= _WHOLE * width:
        return None
    return np.asarray(qr(np.random.default_rng(0).standard_normal((p, width)))[0])


def complete(
    one_pass: Callable[[CompletionSums, int], Any],
    start: Completion,
    basis: Array | None,
    rule: Rule,
) -> Completed:
    """Return the fixed point of expectation and maximisation.

    ``one_pass(sums, number)`` walks all rows once and adds them to `sums`. Steps are
    extrapolated by Anderson's rule on (mean, loadings, s, ln f); where the change grows
    instead, the steps go on plainly from the best point so far. They end when what is left,
    change·ρ/(1 - ρ) with the rate ρ at which steps bring two points nearer, is below `tol`.
    """
    here, passes, left = start, 0, math.inf
    objectives, mixing = list[float](), Mixing()
    while True:
        short = _far(left, rule, passes) and _in_float32(here)
        sums = _summed(one_pass, here, basis, rule, passes + 1, short)
        passes += 1
        found, basis, trace = _maximised(sums, rule)
        objectives.append(sums.likelihood)
        fresh = here.axes.shape[1] != found.axes.shape[1]
        change = math.inf if fresh else _change(here, found, trace)
        # Under other factors, densities are those of other units.
        objective = 0.0 if found.centring.factor is not None else sums.likelihood
        after = found if fresh else mixing.next(here, found, objective, change)
        rate = min(max(mixing.rate, rule.rate or 0.0), _SLOWEST)
        left = change * rate / (1 - rate) if math.isfinite(change) else math.inf
        settled = (left if rule.rate is not None else max(left, change)) <= rule.tol
        if (settled and not short) or passes >= rule.most or rule.rank == 0 < passes - 1:
            told = tuple(objectives)
            return Completed(found, passes, change, sums, basis, told, mixing.rate)
        here = after


def _summed(
    one_pass: Callable[[CompletionSums, int], Any],
    here: Completion,
    basis: Array | None,
    rule: Rule,
    number: int,
    short: bool,
) -> CompletionSums:
    """Return the sums of one pass; where float32 does not hold them, those of another."""
    for dtype in (np.float32, np.float64) if short else (np.float64,):
        sums = rule.sums(here, basis, dtype)
        one_pass(sums, number)
        if np.isfinite(sums.second).all():
            break
    return sums


def _far(left: float, rule: Rule, passes: int) -> bool:
    """Tell whether the next pass, at the rate that is foreseen, will not be the last.

    From the third on steps are extrapolated, and do about the work of two plain ones.
    """
    return rule.rate is not None and left * rule.rate ** (1 if passes < 2 else 2) > rule.tol


def _in_float32(completion: Completion) -> bool:
    """Tell whether products in float32 say enough: no unit, and noise that is not tiny."""
    if completion.centring.exponent or not len(completion.values):
        return False
    top = float(completion.values[0])
    return 1e-20 < top < 1e20 and completion.noise > 1e-3 * top


def _maximised(sums: CompletionSums, rule: Rule) -> tuple[Completion, Array | None, float]:
    """Return the completion of the sums, the next basis and the total variance."""
    old, n = sums.completion.centring, sums.total
    p = len(sums.first)
    if sums.unknown.any():
        sums.spread_alone()
    mean = sums.first / n
    if rule.held is not None:
        mean[rule.held] = 0.0
    factor = np.ones(p) if old.factor is None else old.factor
    whole = sums.basis is None
    squares = np.diagonal(sums.second) if whole else sums.squares
    variances = np.maximum(squares / n - mean**2, 0.0)
    offset = sums.offset + mean / factor
    fresh = None
    if rule.factor_of is not None:
        fresh = rule.factor_of(variances / factor**2 * (n / (n - 1)), offset)
    ratio = (np.ones(p) if fresh is None else fresh) / factor
    trace = float(np.sum(variances * ratio**2))
    if sums.basis is None:
        scatter = (sums.second / n - np.outer(mean, mean)) * np.outer(ratio, ratio)
        values, axes = eigh(scatter)
        axes, after = np.array(axes[:, : rule.rank]), None
    else:
        values, axes = _ritz(sums.second / n - np.outer(mean, mean @ sums.basis), sums, ratio)
        after = axes
    values = np.maximum(values, 0.0)
    if rule.held is not None:
        axes[rule.held] = 0.0  # rounding, which a column without variance would blow up
    k = min(rule.rank, len(values))
    noise = rule.noise_of(values[: k + 1], trace, n, p)
    centring = Centring(old.origin, offset, old.exponent, fresh)
    kept = np.ascontiguousarray(axes[:, :k])
    return Completion(centring, kept, values[:k].copy(), noise), after, trace


def _ritz(product: Array, sums: CompletionSums, ratio: Array) -> tuple[Array, Array]:
    """Return the pairs of SQ(QᵀSQ)⁻¹QᵀS, S scaled by `ratio` on both sides."""
    assert sums.basis is not None
    inner = sums.basis.T @ product
    weights, turn = eigh(0.5 * (inner + inner.T))
    sound = weights > 1e-12 * max(float(weights[0]), 1e-300)
    factor = (ratio[:, None] * product) @ (turn[:, sound] / np.sqrt(weights[sound]))
    axes, spread, _ = svd(factor)
    return spread**2, axes


def _change(one: Completion, other: Completion, trace: float) -> float:
    """Return the distance of two completions relative to the root of the total variance."""
    if trace <= 0:
        return 0.0
    gap = _vector(other, one) - _vector(one, one)
    return float(np.linalg.norm(gap)) / math.sqrt(trace)


def _vector(completion: Completion, like: Completion) -> Array:
    """Return (mean, W, s, ln f) as one vector, W turned to lie as near as can be.

    Loadings are known up to a rotation, W ~ WR; R is the one that brings them nearest to
    those of `like`.
    """
    reference, loadings = like.loadings, completion.loadings
    if loadings.shape[1]:
        left, _, right = svd(loadings.T @ reference)
        loadings = loadings @ (left @ right)
    scale = 1.0 if like.centring.factor is None else like.centring.factor
    parts = [completion.centring.offset * scale, loadings.ravel()]
    parts.append(np.array([math.sqrt(completion.noise)]))
    factor = completion.centring.factor
    if factor is not None:
        parts.append(np.log(factor))
    return np.concatenate(parts)


def _from_vector(vector: Array, like: Completion, near: Completion) -> Completion:
    """Return the completion of a vector that `_vector` made, noise and factors near `near`."""
    p, k = like.axes.shape
    old = like.centring
    scale = 1.0 if old.factor is None else old.factor
    offset, rest = vector[:p] / scale, vector[p:]
    loadings, rest = rest[: p * k].reshape(p, k), rest[p * k :]
    root = math.sqrt(near.noise)
    noise = min(max(float(rest[0]), root / _APART), root * _APART) ** 2
    factor = near.centring.factor
    if factor is not None:
        factor = factor * np.exp(np.clip(rest[1:] - np.log(factor), -1.0, 1.0))
    axes, spread, _ = svd(loadings)
    centring = Centring(old.origin, offset, old.exponent, factor)
    return Completion(centring, axes, spread**2 + noise, noise)


@final
class Mixing:
    """Anderson's extrapolation: the combination of past steps with the least change."""

    def __init__(self) -> None:
        self._like: Completion | None = None
        self._before: list[Array] = []
        self._after: list[Array] = []
        self._best, self._highest = math.inf, -math.inf
        self._plain: Completion | None = None
        self._failures = 0
        self._rates: list[float] = []

    @property
    def rate(self) -> float:
        """‖F(x) - F(y)‖ / ‖x - y‖ of steps F at its largest, over the last points."""
        return max(self._rates[-3:], default=0.0)

    def next(
        self, here: Completion, found: Completion, objective: float, change: float
    ) -> Completion:
        """Return where to go on after the step from `here` to `found`.

        `objective` is what the steps raise, taken at `here`; where it has fallen, or the
        change has grown, `here` is given up for the last plain step. While the `change` is
        large, and after some failures, steps stay plain.
        """
        if self._like is None:
            self._like = found
        before, after = _vector(here, self._like), _vector(found, self._like)
        size = float(np.linalg.norm(after - before))
        self._compare(before, after)
        lower = objective < self._highest - _ROUNDING * abs(self._highest)
        if self._after and (lower or not size <= _WORSE * self._best):
            assert self._plain is not None
            self._before, self._after, self._best = [], [], math.inf
            self._failures += 1
            return self._plain
        self._plain, self._highest = found, objective
        self._best = min(size, self._best)
        self._before = [*self._before, before][-_MEMORY:]
        self._after = [*self._after, after][-_MEMORY:]
        early = change > _NEAR or self._failures >= _FAILURES
        if len(self._before) == 1 or early:
            return found
        gaps = [a - b for a, b in zip(self._after, self._before, strict=True)]
        steps = np.stack([gap - gaps[-1] for gap in gaps[:-1]], axis=1)
        moves = np.stack([a - after for a in self._after[:-1]], axis=1)
        share = np.linalg.lstsq(steps, gaps[-1], rcond=EPS**0.5)[0]
        return _from_vector(after - moves @ share, self._like, found)

    def _compare(self, before: Array, after: Array) -> None:
        """Note how much nearer a step has brought this point and the one before."""
        if self._before:
            apart = float(np.linalg.norm(before - self._before[-1]))
            if apart > 0:
                nearer = float(np.linalg.norm(after - self._after[-1]))
                self._rates.append(nearer / apart)
