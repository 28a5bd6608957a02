"""Completing rows by expectation and maximisation: the steps, and how they are hurried on.

Mixing: where completions go on after a step, and how far two of them are apart.

How slow the steps of a completion are, told from where its cells are missing.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, eigh, interruptible, leading_eigh, qr, quiet_blas, svd
from mercer.operators._centring import Centring
from mercer.operators.completion._completion_model import Completion, tiles_of
from mercer.operators.completion._completion_sums import CompletionSums
from mercer.operators.completion._expectation import Expectation

_MEMORY = 6  # steps that an extrapolation looks back on
_WORSE = 1.0  # growth of the change at which an extrapolation is taken back
_FAILURES = 3  # extrapolations taken back after which steps are plain for a while
_REST = 8  # such steps
_NEAR = 0.1  # change below which steps are extrapolated: before, they may lead elsewhere
_ROUNDING = 1e-10  # of an objective, that it may fall by
_LEAST = 1e-12  # of the spread of all columns together: one has none that is less
_APART = 4.0  # times by which an extrapolation may change the noise


def change(one: Completion, other: Completion, spread: Array) -> float:
    """Return how far two completions are apart.

    The root mean square over the columns of the distance of their means and loadings, each
    in units of its `spread` (p,): a column of small numbers counts as one of large ones.
    """
    if not np.any(spread):
        return 0.0
    unit = unit_of(spread)
    gap = _vector(other, one, unit) - _vector(one, one, unit)
    return float(np.linalg.norm(gap))


def unit_of(spread: Array) -> Array:
    """Return 1/(spread·√p) (p,); a column without any has that of all together."""
    whole = math.sqrt(float(np.mean(spread**2))) or 1.0
    return 1 / (np.where(spread > _LEAST * whole, spread, whole) * math.sqrt(len(spread)))


def _vector(completion: Completion, like: Completion, unit: Array) -> Array:
    """Return (mean, W, s, ln f) as one vector, W turned to lie as near as can be.

    Loadings are known up to a rotation, W ~ WR; R is the one that brings them nearest to
    those of `like`. Columns are multiplied by their `unit` (p,), s by that of all of them.
    """
    reference, loadings = like.loadings, completion.loadings
    if loadings.shape[1] and completion is not like:
        left, _, right = svd(loadings.T @ reference)
        loadings = loadings @ (left @ right)
    scale = 1.0 if like.centring.factor is None else like.centring.factor
    parts = [completion.centring.offset * scale * unit, (loadings * unit[:, None]).ravel()]
    parts.append(np.array([math.sqrt(completion.noise) * _whole_unit(unit)]))
    factor = completion.centring.factor
    if factor is not None:
        parts.append(np.log(factor) / math.sqrt(len(unit)))
    return np.concatenate(parts)


def _whole_unit(unit: Array) -> float:
    """Return the inverse root of the total variance."""
    return math.sqrt(len(unit)) / float(np.linalg.norm(1 / unit))


def _from_vector(vector: Array, like: Completion, near: Completion, unit: Array) -> Completion:
    """Return the completion of a vector that `_vector` made, noise and factors near `near`."""
    p, k = like.axes.shape
    old = like.centring
    scale = 1.0 if old.factor is None else old.factor
    offset, rest = vector[:p] / (scale * unit), vector[p:]
    loadings, rest = rest[: p * k].reshape(p, k) / unit[:, None], rest[p * k :]
    root, found = math.sqrt(near.noise), float(rest[0]) / _whole_unit(unit)
    noise = min(max(found, root / _APART), root * _APART) ** 2
    factor = near.centring.factor
    if factor is not None:
        moved = rest[1:] * math.sqrt(p) - np.log(factor)
        factor = factor * np.exp(np.clip(moved, -1.0, 1.0))
    axes, spread, _ = svd(loadings)
    centring = Centring(old.origin, offset, old.exponent, factor)
    return Completion(centring, axes, spread**2 + noise, noise)


@final
class Mixing:
    """Anderson's extrapolation: the combination of past steps with the least change."""

    def __init__(self) -> None:
        self._like: Completion | None = None
        self._unit = np.zeros(0)
        self._before: list[Array] = []
        self._after: list[Array] = []
        self._best, self._highest = math.inf, -math.inf
        self._plain: Completion | None = None
        self._failures, self._rested = 0, 0
        self._rates: list[float] = []

    @property
    def rate(self) -> float:
        """‖F(x) - F(y)‖ / ‖x - y‖ of steps F at its largest, over the last points."""
        return max(self._rates[-3:], default=0.0)

    def next(
        self,
        here: Completion,
        found: Completion,
        objective: float,
        change: float,
        spread: Array,
    ) -> Completion:
        """Return where to go on after the step from `here` to `found`.

        `objective` is what the steps raise, taken at `here`; where it has fallen, or the
        change has grown, `here` is given up for the last plain step. While the `change` is
        large, and after some failures, steps stay plain. Columns are compared in units of
        their `spread` (p,), as the first step has found it.
        """
        if self._like is None:
            self._like, self._unit = found, unit_of(spread)
        unit = self._unit
        before, after = _vector(here, self._like, unit), _vector(found, self._like, unit)
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
        if self._failures >= _FAILURES:
            self._rested += 1
            if self._rested >= _REST:
                self._failures, self._rested = 0, 0
        if len(self._before) == 1 or change > _NEAR or self._failures >= _FAILURES:
            return found
        gaps = [a - b for a, b in zip(self._after, self._before, strict=True)]
        steps = np.stack([gap - gaps[-1] for gap in gaps[:-1]], axis=1)
        moves = np.stack([a - after for a in self._after[:-1]], axis=1)
        share = np.linalg.lstsq(steps, gaps[-1], rcond=EPS**0.5)[0]
        return _from_vector(after - moves @ share, self._like, found, unit)

    def _compare(self, before: Array, after: Array) -> None:
        """Note how much nearer a step has brought this point and the one before."""
        if self._before:
            apart = float(np.linalg.norm(before - self._before[-1]))
            if apart > 0:
                nearer = float(np.linalg.norm(after - self._after[-1]))
                self._rates.append(nearer / apart)


_WHOLE = 20  # columns per column of a basis up to which p×p sums are no dearer
_MORE = 8  # columns of a basis beyond the axes
_SHORT = 4  # passes that may be float32: slow steps would not get below its rounding
_QUICK = 0.3  # rate below which steps are alike in all directions
_SLOWER = 2.0  # times what the rate says is left by extrapolation: what is slowest
_SLOWEST = 0.999  # rate of plain steps that is believed


@final
@dataclasses.dataclass(frozen=True)
class CompletionRule:
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
        Change of mean and loadings, each column relative to its spread, at which the steps
        end; the root mean square over all columns.
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
    rough : bool
        Whether steps on more rows will follow: then all products may be float32.
    apart : float
        What is left to change before the first step, as far as it is known.
    tol_of : function or None
        Maps what the first pass changes to the tolerance of steps that are quick: what they
        leave is well known.
    """

    rank: int
    expected: bool = False
    factor_of: Callable[[Array, Array], Array | None] | None = None
    tol: float = 1e-7
    most: int = 500
    held: Array | None = None
    rate: float | None = None
    compiled: bool = False
    rough: bool = False
    apart: float = math.inf
    tol_of: Callable[[float], float] | None = None

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
    moved : float
        What the first pass changed; infinite where it began without axes.
    settled : bool
        Whether what is left was below the tolerance when they ended.
    """

    completion: Completion
    passes: int
    change: float
    sums: CompletionSums
    basis: Array | None
    objectives: tuple[float, ...]
    rate: float = 0.0
    moved: float = math.inf
    settled: bool = True


def first_completion(origin: Array, exponent: int) -> Completion:
    """Return the completion by column means, from which the steps begin."""
    p = len(origin)
    centring = Centring(origin, np.zeros(p), exponent)
    return Completion(centring, np.zeros((p, 0)), np.zeros(0), 0.0)


def sums_width(p: int, rank: int) -> int:
    """Return the columns b of sums (p, b): p where whole ones are no dearer."""
    return rank + _MORE if p > _WHOLE * (rank + _MORE) else p


def first_basis(p: int, rank: int) -> Array | None:
    """Return Q (p, b) to start from, or None where p×p sums are kept."""
    width = sums_width(p, rank)
    if width == p:
        return None
    return np.asarray(qr(np.random.default_rng(0).standard_normal((p, width)))[0])


def complete(
    one_pass: Callable[[CompletionSums, int], Any],
    start: Completion,
    basis: Array | None,
    rule: CompletionRule,
) -> Completed:
    """Return the fixed point of expectation and maximisation.

    ``one_pass(sums, number)`` walks all rows once and adds them to `sums`. Steps are
    extrapolated by Anderson's rule on (mean, loadings, s, ln f); where the change grows
    instead, the steps go on plainly from the best point so far. They end when what is left,
    change·ρ/(1 - ρ) with the rate ρ at which steps bring two points nearer, is below `tol`.
    """
    here, passes, left = start, 0, rule.apart
    objectives, mixing = list[float](), Mixing()
    moved, rate = math.inf, rule.rate or 0.0
    tol = _tolerance(rule, rule.apart * (1 - rate), rate)
    while True:
        far = passes < _SHORT and _far(left, tol, rule, passes)
        short = (rule.rough or far) and _in_float32(here)
        sums = _summed(one_pass, here, basis, rule, passes + 1, short)
        passes += 1
        found, basis, spread = _maximised(sums, rule)
        objectives.append(sums.likelihood)
        fresh = not _alike(here, found)
        changed = math.inf if fresh else change(here, found, spread)
        # Under other factors, densities are those of other units.
        objective = 0.0 if found.centring.factor is not None else sums.likelihood
        moved = changed if passes == 1 else moved
        after = found if fresh else mixing.next(here, found, objective, changed, spread)
        rate = min(max(mixing.rate, rule.rate or 0.0), _SLOWEST)
        tol = _tolerance(rule, moved, rate)
        left = changed * rate / (1 - rate) if math.isfinite(changed) else math.inf
        left *= _SLOWER if passes > 2 and rule.rate is not None else 1.0
        settled = (left if rule.rate is not None else max(left, changed)) <= tol
        # Begun without axes, the third pass is the first to tell the rate.
        settled = settled and (rule.rough or not short) and (passes > 2 or moved < math.inf)
        settled = settled or rule.rank == 0 < passes - 1
        if settled or passes >= rule.most:
            told = tuple(objectives)
            return Completed(
                found, passes, changed, sums, basis, told, mixing.rate, moved, settled
            )
        here = after


def _alike(one: Completion, other: Completion) -> bool:
    """Tell whether two completions can be compared: the first has no axes, and no factors."""
    scaled = [each.centring.factor is not None for each in (one, other)]
    return one.axes.shape == other.axes.shape and scaled[0] == scaled[1]


def _summed(
    one_pass: Callable[[CompletionSums, int], Any],
    here: Completion,
    basis: Array | None,
    rule: CompletionRule,
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


def _tolerance(rule: CompletionRule, moved: float, rate: float) -> float:
    """Return the tolerance of steps of such a rate, the first of which has moved so far."""
    if rule.tol_of is None or rate >= _QUICK or not math.isfinite(moved):
        return rule.tol
    return rule.tol_of(moved)


def _far(left: float, tol: float, rule: CompletionRule, passes: int) -> bool:
    """Tell whether the next pass, at the rate that is foreseen, will not be the last.

    From the third on steps are extrapolated, and do about the work of two plain ones.
    """
    return rule.rate is not None and left * rule.rate ** (1 if passes < 2 else 2) > tol


def _in_float32(completion: Completion) -> bool:
    """Tell whether products in float32 say enough: no unit, and noise that is not tiny."""
    if completion.centring.exponent or not len(completion.values):
        return False
    top = float(completion.values[0])
    return 1e-20 < top < 1e20 and completion.noise > 1e-3 * top


def _maximised(
    sums: CompletionSums, rule: CompletionRule
) -> tuple[Completion, Array | None, Array]:
    """Return the completion of the sums, the next basis and the spread of the columns."""
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
    spread = np.sqrt(variances) * ratio
    trace = float(np.sum(spread**2))
    if sums.basis is None:
        scatter = (sums.second / n - np.outer(mean, mean)) * np.outer(ratio, ratio)
        with quiet_blas(p):
            values, axes = interruptible(
                lambda: leading_eigh(scatter, min(rule.rank + 1, p)), p
            )
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
    return Completion(centring, kept, values[:k].copy(), noise), after, spread


def _ritz(product: Array, sums: CompletionSums, ratio: Array) -> tuple[Array, Array]:
    """Return the pairs of SQ(QᵀSQ)⁻¹QᵀS, S scaled by `ratio` on both sides."""
    assert sums.basis is not None
    inner = sums.basis.T @ product
    weights, turn = eigh(0.5 * (inner + inner.T))
    sound = weights > 1e-12 * max(float(weights[0]), 1e-300)
    factor = (ratio[:, None] * product) @ (turn[:, sound] / np.sqrt(weights[sound]))
    axes, spread, _ = svd(factor)
    return spread**2, axes


_RIDGE = 1e-12  # of the largest, that keeps a direction without rows solvable
_LUCK = 1.5  # times that the worst column shows
_COORDINATES = 2.0  # f²√(k/o), as they move: o cells tell k of them
_COLUMNS = 64  # whose matrices are looked at: those with most information missing


def missing_information(completion: Completion, rows: Array, weights: Array | None) -> float:
    """Return the largest share of what is known of a column that its missing cells would tell.

    A step fits column j to the coordinates z of all rows, its missing cells being what the
    last step has put there. With z̃ = (1, z), the error of its mean and loadings is thereby
    multiplied by (Σz̃z̃ᵀ)⁻¹ Σ_{i: x_ij missing} z̃z̃ᵀ, whose largest eigenvalue ρ_j is the rate
    of the steps in that column. It is the share of missing cells where these are missing at
    random, and near one where the rows that have the cell do not show one of the axes.

    Of r rows that miss a share f at random, q directions show √f + √((1 - f)q/r), squared, in
    the place of f, and somewhat more in the worst of many columns. That much is taken off,
    the less the nearer ρ is to one.

    The coordinates move too, the more so the fewer cells o of a row tell k of them. That is
    counted as (1 - ρ)·2f²√(k/o) more, f the share of all cells that is missing: within 0.1
    of the rate for 5 to 75 % missing at random, and p/k from 6 to 20.

    Parameters
    ----------
    completion : Completion
        With k axes.
    rows : ndarray of shape (r, p)
        Some rows, NaN where a cell is missing.
    weights : ndarray of shape (r,) or None
        Repeat counts.
    """
    expectation, k, (r, p) = Expectation(completion), len(completion.values), rows.shape
    counts = np.ones(r) if weights is None else weights
    one, other = np.triu_indices(k + 1)
    gaps, sums = np.zeros((len(one), p)), np.zeros(len(one))
    for part in tiles_of(rows):
        found = expectation.of(rows[part], every=True, blend=False)
        near = np.ones((k + 1, part.stop - part.start))
        near[1:] = found.inner if k else near[1:]
        products = near[one] * near[other] * counts[part]
        gaps += products @ found.missing.astype(np.float64)
        sums += products.sum(axis=1)
    whole = _squares(sums)
    ridge = _RIDGE * float(np.max(np.diagonal(whole)))
    root = np.linalg.inv(np.linalg.cholesky(whole + ridge * np.eye(k + 1)))
    worst = _worst(gaps, root.T @ root)
    rates = np.linalg.eigvalsh(root @ _squares(gaps[:, worst].T) @ root.T)[:, -1]
    share = gaps[0, worst] / whole[0, 0]
    by_chance = np.sqrt(share) + _LUCK * np.sqrt((k + 1) / r * (1 - share))
    random = np.clip((1 - rates) / np.maximum(1 - share, _RIDGE), 0.0, 1.0)
    rate = float(np.clip(np.max(rates - (by_chance**2 - share) * random), 0.0, 1.0))
    mean = float(np.sum(gaps[0]) / (whole[0, 0] * p))
    seen = max(p * (1 - mean), 1.0)
    moved = min(_COORDINATES * mean**2 * float(np.sqrt(k / seen)), 1.0)
    return rate + (1 - rate) * moved


def _squares(packed: Array) -> Array:
    """Return symmetric matrices (..., q, q) of their upper triangles (..., q(q+1)/2)."""
    order = int(np.sqrt(2 * packed.shape[-1]))
    one, other = np.triu_indices(order)
    out = np.empty((*packed.shape[:-1], order, order))
    out[..., one, other] = packed
    out[..., other, one] = packed
    return out


def _worst(gaps: Array, inverse: Array) -> Array:
    """Return the columns with the largest traces of S⁻¹A, S⁻¹ given and A packed (q, p)."""
    one, other = np.triu_indices(len(inverse))
    traces = (inverse[one, other] * np.where(one == other, 1.0, 2.0)) @ gaps
    return np.argsort(-traces, kind="stable")[:_COLUMNS]
