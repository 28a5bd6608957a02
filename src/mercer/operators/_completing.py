"""Completing rows by expectation and maximisation: the steps, and how they are hurried on."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array, eigh, interruptible, leading_eigh, qr, quiet_blas, svd
from mercer.operators._centring import Centring
from mercer.operators._completion import Completion
from mercer.operators._completion_sums import CompletionSums
from mercer.operators._mixing import Mixing, change

_WHOLE = 20  # columns per column of a basis up to which p×p sums are no dearer
_MORE = 8  # columns of a basis beyond the axes
_SHORT = 4  # passes that may be float32: slow steps would not get below its rounding
_QUICK = 0.3  # rate below which steps are alike in all directions
_SLOWER = 2.0  # times what the rate says is left by extrapolation: what is slowest
_SLOWEST = 0.999  # rate of plain steps that is believed


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


def _tolerance(rule: Rule, moved: float, rate: float) -> float:
    """Return the tolerance of steps of such a rate, the first of which has moved so far."""
    if rule.tol_of is None or rate >= _QUICK or not math.isfinite(moved):
        return rule.tol
    return rule.tol_of(moved)


def _far(left: float, tol: float, rule: Rule, passes: int) -> bool:
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


def _maximised(sums: CompletionSums, rule: Rule) -> tuple[Completion, Array | None, Array]:
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
