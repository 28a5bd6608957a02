"""What factor analysis finds: correlations of the columns, and their noise by likelihood.

The likelihood of p columns with k factors is that of Σ = LLᵀ + Ψ for their correlations R. For
a given Ψ the likeliest L is known [Lawley1971]_, so that only the p uniquenesses are searched.
"""

import dataclasses
import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeAlias, final

import numpy as np

from mercer.arrays import EPS, Array, as_numpy, eps_of, leading_eigh, single_threaded_blas
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.linear._summed_rows import as_moments
from mercer.estimators.walk._parameters import Kind
from mercer.operators import (
    LEAST_SPREAD,
    RunningMoments,
    block_length,
    fold,
    is_constant,
    rows_of,
    wrong_weights,
)
from mercer.sources import ArrayBlocks, BlockSource, in_memory

LEAST = 0.005  # of a column's variance that is noise, at least: the bound of R's factanal
_LEAST_LOG = math.log(LEAST)
_STARTS, _FEWEST = 32, 4  # guesses from which the likelihood is climbed
_CELLS = 2e7  # p³ of all starts together: of many columns there are fewer
_STACK = 5e4  # cells of the matrices that are looked at in one go
_SEARCH = 112.0  # bytes that are held per cell of those
CROWD = 600  # columns up to which threads would only wait for each other
_CLIMBS, _EXACT = 14, 10  # steps that all starts make, and those of them with all terms
_FLAT = 1e-9  # slope below which nothing is to be gained
_STEEP = 1e-7  # slope above which a start is followed further
_FARTHEST = 2.0  # of the logarithm of a uniqueness, in one step
_ROUNDS = 4  # in which columns are put to their bound, or taken off, one by one
_PLAIN = 1  # starts that are followed by L-BFGS-B alone: its steps lead to other minima
_POLISHED = 3  # starts that are followed to the end
_APART = 1e-6  # of the likelihood, by which two ends are different
_NEAR = 1e-3  # of the likelihood, by which a start is far from an end while it still climbs
_SAME = 1e-3  # of the logarithms of uniquenesses, within which two starts go the same way
_FEW = 12  # columns whose eigenproblems are solved together in no time
_EQUAL = 1e-11  # of F, within which it is at its floor
_RIDGE = 1e-7
_LAST = 30  # steps at the top, where only the slope tells the way


_End: TypeAlias = tuple[float, Array, int]  # F, ln Ψ, and the steps to there


@final
@dataclasses.dataclass(frozen=True)
class Correlations:
    """Correlations of columns, and what columns lose and are divided by to be compared.

    Attributes
    ----------
    matrix : ndarray of shape (p, p)
        R.
    mean, rest : ndarray of shape (p,)
        Means in float64, and what their rounding has left out.
    scale : ndarray of shape (p,)
        Standard deviations, of squares divided by n - 1.
    total : float or None
        n, or the sum of the weights; None where nobody knows.
    """

    matrix: Array
    mean: Array
    rest: Array
    scale: Array
    total: float | None


def correlations_of(
    source: BlockSource,
    weights: Array | None,
    size: float,
    refuse: Callable[[BlockSource, Array, int], None],
    constant: Callable[[Array], None],
) -> Correlations:
    """Return the correlations of the columns of some rows, from one pass over a file.

    Every column is counted in a power of two of its own, so that none is too large or too
    small beside the others; of rows in memory it is that of the largest cell, of a file that
    of the largest in the first block.

    Parameters
    ----------
    source : BlockSource
        The rows.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    size : float
        Bytes of a block.
    refuse : callable
        Names the bad cell of a block that begins at this row.
    constant : callable
        Refuses columns (p,) of bool that do not vary, if there is one.
    """
    p, length = source.shape[1], block_length(source, size)
    sums, low, high = RunningMoments(), np.full(p, np.inf), np.full(p, -np.inf)
    powers: Array | None = None
    if isinstance(source, ArrayBlocks):
        largest = np.zeros(p)
        for block in source.blocks(length):
            largest = np.maximum(largest, np.max(np.abs(_dense(block)), axis=0))
        powers = np.frexp(np.where(np.isfinite(largest), largest, 0.0))[1]

    def step(part: slice, block: Any) -> None:
        nonlocal powers, low, high
        rows = _dense(block)
        if not np.isfinite(rows).all():
            refuse(source, block, part.start)
        if weights is not None and part.stop > len(weights):
            raise wrong_weights(part.stop, len(weights))
        counts = None if weights is None else weights[part]
        if counts is not None and not np.all(counts > 0):
            rows, counts = rows[counts > 0], counts[counts > 0]
        if not len(rows):
            return
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
        if powers is None:
            powers = np.frexp(np.max(np.abs(rows), axis=0))[1]
        sums.add(rows_of(in_memory(np.ldexp(rows, -powers)), counts, np.float64))

    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        count = fold(source, length, sums, step, walk="correlations")
        if weights is not None and count != len(weights):
            raise wrong_weights(count, len(weights))
        assert powers is not None
        return _from_sums(sums, powers, low == high, source.dtype, constant)


def _dense(block: Any) -> Array:
    block = block.toarray() if hasattr(block, "toarray") else as_numpy(block)
    return np.asarray(block, np.float64)


def _from_sums(
    sums: RunningMoments,
    powers: Array,
    equal: Array,
    kind: Kind,
    constant: Callable[[Array], None],
) -> Correlations:
    moments = sums.moments()
    assert sums.origin is not None
    variances, offset = moments.variances, np.ldexp(sums.offset, sums.exponent)
    mean = sums.origin + offset
    if kind.kind in "iu" and np.any(np.abs(np.ldexp(mean, powers)) > 2.0**53):
        warn(
            "integers beyond 2^53 are rounded to float64",
            got=f"column {int(np.argmax(np.abs(np.ldexp(mean, powers))))}",
            fix="subtract a constant",
            category=DataWarning,
        )
    eps = eps_of(kind) if kind.kind == "f" else EPS
    unit = np.ldexp(np.sqrt(variances), sums.exponent)
    constant(equal | (is_constant(unit**2, eps * np.hypot(mean, unit)) & (unit > 0)))
    lost = np.flatnonzero(~np.isfinite(variances) | (variances < LEAST_SPREAD**2))
    if lost.size:
        raise InputError(
            "the cells of a column differ too much in size for sums of squares",
            got=f"column {lost[0]}, whose first rows are 10^150 times smaller than others",
            fix="pass the rows in memory, or in other units",
        )
    root = np.sqrt(variances)
    matrix = moments.scatter / (moments.total - 1) / root / root[:, None]
    rest = (sums.origin - mean) + offset
    np.fill_diagonal(matrix, 1.0)
    inside = np.clip(matrix, -1.0, 1.0)
    places = np.ldexp(mean, powers), np.ldexp(rest, powers), np.ldexp(unit, powers)
    return Correlations(inside, *places, moments.total)


def given_correlations(
    C: Any, mean: Any, n: int | None, constant: Callable[[Array], None]
) -> Correlations:
    """Return the correlations of a covariance matrix (p, p) that divides by n - 1."""
    shape = np.shape(C)
    width = shape[-1] if len(shape) == 2 else 0
    middle = np.zeros(width) if mean is None else mean
    covariance, middle = as_moments(C, middle, 2 if n is None else n)
    scale = np.sqrt(np.diagonal(covariance))
    constant(scale == 0)
    matrix = covariance / scale / scale[:, None]
    matrix = 0.5 * (matrix + matrix.T)
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -1e-8:
        raise InputError(
            "a covariance matrix has no negative eigenvalue",
            got=f"smallest eigenvalue {least:.3g} of the correlations",
            fix="pass the covariance of real data, not rounded to few digits",
        )
    return Correlations(matrix, middle, np.zeros(width), scale, n)


@final
@dataclasses.dataclass(frozen=True)
class Likeliest:
    """The uniquenesses of largest likelihood among those that were found.

    Attributes
    ----------
    noise : ndarray of shape (p,)
        Ψ, from `LEAST` to 1.
    value : float
        F = ln|Σ| + tr Σ⁻¹R, which is least there.
    slope : float
        Largest |∂F/∂ ln ψ_j| of the columns that are free to move.
    steps : int
        Steps from the best start to the end.
    ends : tuple of float
        F where several starts ended, least first: different maxima of the likelihood.
    """

    noise: Array
    value: float
    slope: float
    steps: int
    ends: tuple[float, ...]


def search_price(p: int) -> tuple[float, int]:
    """Return about how many bytes `likeliest` takes for p columns, and eigenproblems."""
    cells, starts = float(p) ** 2, _start_count(p)
    return _SEARCH * max(cells, min(starts * cells, _STACK)), 3 * starts * (_CLIMBS + 1)


def _start_count(p: int) -> int:
    return int(np.clip(_CELLS // p**3, _FEWEST, _STARTS))


def likeliest(
    R: Array, k: int, *, seed: int = 0, most: int = 1000, near: Array | None = None
) -> Likeliest:
    """Return the uniquenesses Ψ (p,) of largest likelihood for correlations R and k factors.

    With θ_i, v_i the leading pairs of Ψ^-½RΨ^-½, and L = Ψ^½V(Θ - I)^½ for those θ_i > 1,

        F(Ψ) = Σ_j (ln ψ_j + 1/ψ_j) - Σ_i (θ_i - 1 - ln θ_i),
        ∂F/∂ ln ψ_j = 1 - 1/ψ_j + Σ_i (θ_i - 1)v_ij².

    Dozens of starts make a few steps of Newton's method [Joreskog1967]_; the best go on by
    L-BFGS-B between the bounds. F has several minima, often where columns are at a bound: at
    last columns are put there or taken off one by one, as long as that helps.

    Parameters
    ----------
    R : ndarray of shape (p, p)
        Correlations; they may be singular.
    k : int
        Factors.
    seed : int
        Of the starts that are drawn.
    most : int
        Steps of L-BFGS-B from one start, at most.
    near : ndarray of shape (p,) or None
        Another start.
    """
    with single_threaded_blas() if len(R) <= CROWD else nullcontext():
        logs, floor = np.log(np.clip(_starts(R, k, seed, near), LEAST, 1.0)), _floor(R)
        some = logs[:: max(1, len(logs) // _PLAIN)][:_PLAIN]
        ends = [_minimum(R, k, start, most) for start in some]
        if ends[0][0] > floor:
            ends = _different(ends + _ends(R, k, logs, most, ends), len(R))
        for _ in range(_ROUNDS):
            least = ends[0][0]
            if least <= floor:
                break
            more = _ends(R, k, _turned_over(ends), most, ends)
            ends = _different(ends + more, len(R))
            if ends[0][0] > least - _APART * len(R):
                break
        value, best, steps = ends[0]
        best, value, slope = _at_rest(R, k, best)
    values = value, *(end[0] for end in ends[1:])
    return Likeliest(np.exp(best), value, slope, steps, values)


def _ends(R: Array, k: int, logs: Array, most: int, known: list[_End]) -> list[_End]:
    """Return where the best of some starts (s, p) end that have not come to a known end."""
    stack = max(1, int(_STACK // len(R) ** 2))
    floor, every = _floor(R), range(0, len(logs), stack)
    parts = [_climbed(R, k, logs[at : at + stack], floor) for at in every]
    values, slopes = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
    logs = np.concatenate([part[1] for part in parts])
    found, seen = list[_End](), [end[0] for end in known]
    for at in np.argsort(values, kind="stable"):
        value, there = float(values[at]), slopes[at] <= _STEEP
        if len(found) < _POLISHED and all(
            abs(value - other) > (_APART if there else _NEAR) * len(R) for other in seen
        ):
            found.append(
                (value, logs[at], _CLIMBS) if there else _minimum(R, k, logs[at], most)
            )
            seen += [value, found[-1][0]]
    return found


def _floor(R: Array) -> float:
    """Return what F cannot be below, ln|R| + p, and its rounding: no model fits better."""
    values = np.linalg.eigvalsh(R)
    if values[0] <= 4 * len(R) * EPS * values[-1]:
        return -math.inf
    return float(np.sum(np.log(values))) + len(R) * (1 + _EQUAL)


def _different(ends: list[_End], p: int) -> list[_End]:
    """Return ends by their F, those of the same F once."""
    ends = sorted(ends, key=lambda end: end[0])
    apart = np.diff([end[0] for end in ends], prepend=-np.inf) > _APART * p
    return [end for end, kept in zip(ends, apart, strict=True) if kept]


def _turned_over(ends: list[_End]) -> Array:
    """Return starts (s, p) beside the best ends: one column put to its bound, or taken off."""
    found = list[Array]()
    for _, logs, _ in ends[:_POLISHED]:
        held = logs <= _LEAST_LOG + 1e-9
        other = np.where(held, math.log(0.5), _LEAST_LOG)
        found.append(np.where(np.eye(len(logs), dtype=bool), other, logs))
    return np.concatenate(found)[: _start_count(len(found[0]))]


def _starts(R: Array, k: int, seed: int, near: Array | None) -> Array:
    """Return guesses (s, p) of Ψ.

    What other columns leave of each, less a little [Joreskog1967]_; what principal components
    leave; what up to k columns without noise leave of the others; and numbers drawn.
    """
    p = len(R)
    most = _start_count(p)
    inverse = np.diagonal(np.linalg.inv(R + 1e-6 * np.eye(p)))
    left = (1 - 0.5 * min(k / p, 1.0)) / inverse
    values, axes = leading_eigh(R, min(k, p))
    plain = [left, 1 - axes**2 @ values] + ([] if near is None else [near])
    quiet = _quiet(R, min(k, p - 1), max(1, most // 4))
    drawn = np.random.default_rng(seed).uniform(LEAST, 1.0, (most, p))
    return np.concatenate([plain, quiet, drawn])[:most]


def _quiet(R: Array, k: int, width: int) -> Array:
    """Return guesses (s, p) in which some columns, up to k, have no noise and are the factors.

    Of the others is left what those do not explain. The likelihood has maxima near such sets;
    for a set S, F is about ln|R_SS| + Σ ln(what is left of the others), which grows step by
    step from the best `width` sets of each size.
    """
    p = len(R)
    beam: list[tuple[frozenset[int], float, Array]] = [(frozenset(), 0.0, R)]
    found = list[Array]()
    for size in range(1, k + 1):
        options = dict[frozenset[int], tuple[float, int, int]]()
        for number, (held, volume, rest) in enumerate(beam):
            left = np.maximum(np.diagonal(rest), LEAST)
            after = np.log(np.maximum(left[:, None] - rest**2 / left, LEAST))
            after[[*held], :] = 0.0
            np.fill_diagonal(after, 0.0)
            value = volume + np.log(left) + np.sum(after, axis=0)
            value[[*held]] = np.inf
            for column in map(int, np.argsort(value, kind="stable")[:width]):
                options.setdefault(held | {column}, (float(value[column]), number, column))
        best = sorted(options.items(), key=lambda option: option[1][0])[:width]
        grown = []
        for held, (_, number, column) in best:
            _, volume, rest = beam[number]
            size_of = max(float(rest[column, column]), LEAST)
            rest = rest - np.outer(rest[:, column], rest[column] / size_of)
            grown.append((held, volume + math.log(size_of), rest))
            noise = np.maximum(np.diagonal(rest), LEAST)
            noise[[*held]] = LEAST
            found.append(noise)
        beam = grown
        found = found if size == k else found[: len(found) - len(best) + max(1, width // 4)]
    return np.array(found).reshape(-1, p)[::-1]


def _looked(
    R: Array, k: int, logs: Array, *, exact: bool = False
) -> tuple[Array, Array, Array]:
    """Return F (s,), its slope (s, p) and its curvature (s, p, p) by ln Ψ (s, p).

    With the leading pairs that θ_n > 1 has, P = Σ_n v_nv_nᵀ and m over all others it is

        diag(1/ψ) - Σ_n v_nv_nᵀ∘[θ_nP + Σ_m (θ_n - 1)(θ_n + θ_m)/(θ_n - θ_m)·v_mv_mᵀ],

    near (I - P)∘(I - P) where the model fits, which never is negative: that is returned unless
    it shall be `exact`.
    """
    p, top = logs.shape[1], min(k, logs.shape[1])
    half = np.exp(-0.5 * logs)
    scaled = R * half[:, :, None] * half[:, None, :]
    theta, axes = np.linalg.eigh(scaled)
    first, leading = theta[:, p - top :], axes[:, :, p - top :]
    extra = np.maximum(first, 1.0) - 1
    value = np.sum(logs + half**2, axis=1) - np.sum(extra - np.log1p(extra), axis=1)
    slope = 1 - half**2 + np.einsum("spk,sk->sp", leading**2, extra)
    if not exact:
        apart = np.eye(p) - leading @ leading.transpose(0, 2, 1)
        return value, slope, apart**2
    curve = half[:, :, None] ** 2 * np.eye(p)
    for n in range(p - top, p):
        own = np.maximum(theta[:, n, None], 1.0)  # one: no factor, and nothing to take off
        gap = own - theta
        rate = (own - 1) * (own + theta) / np.where(gap > 1e-12 * own, gap, np.inf)
        rate = np.where(theta > 1, np.where(np.arange(p) < p - top, rate, own), rate)
        rate *= own > 1
        axis = axes[:, :, n]
        inner = (axes * rate[:, None, :]) @ axes.transpose(0, 2, 1)
        curve -= inner * axis[:, :, None] * axis[:, None, :]
    return value, slope, curve


def _free(logs: Array, slope: Array) -> Array:
    """Tell which uniquenesses may move downhill: not out of their bounds."""
    held = (logs <= _LEAST_LOG + 1e-12) & (slope > 0)
    return ~(held | ((logs >= -1e-12) & (slope < 0)))


def _step(logs: Array, slope: Array, curve: Array) -> Array:
    """Return the steps (s, p) of Newton's method for what is free to move."""
    p = logs.shape[1]
    free = _free(logs, slope)
    both = free[:, :, None] & free[:, None, :]
    system = np.where(both, curve, 0.0) + (np.where(free, _RIDGE, 1.0)[:, :, None]) * np.eye(p)
    step = np.linalg.solve(system, np.where(free, -slope, 0.0)[:, :, None])[:, :, 0]
    return np.clip(step, -_FARTHEST, _FARTHEST)


def _slope_left(logs: Array, slope: Array) -> Array:
    """Return the largest slope (s,) of what is free to move."""
    return np.max(np.abs(np.where(_free(logs, slope), slope, 0.0)), axis=1)


def _climbed(R: Array, k: int, logs: Array, floor: float) -> tuple[Array, Array, Array]:
    """Return F (s,), ln Ψ (s, p) and the slope left (s,) after some steps from some starts.

    First with a curvature that cannot be negative, then with the exact one. A start that has
    come to the way of a better one goes no further, and none does where F is at its `floor`.
    """
    value, slope, curve = _looked(R, k, logs)
    ended = list[tuple[Array, Array, Array]]()
    reach = np.ones(len(logs))
    for turn in range(_CLIMBS):
        exact = turn + 1 >= _CLIMBS - _EXACT
        step = _step(logs, slope, curve)
        uphill = np.sum(step * slope, axis=1) > 0
        step = np.where(uphill[:, None], np.clip(-slope, -_FARTHEST, _FARTHEST), step)
        new = np.clip(logs + reach[:, None] * step, _LEAST_LOG, 0.0)
        at = _looked(R, k, new, exact=exact)
        better = at[0] < value
        reach = np.where(better, np.minimum(2 * reach, 1.0), 0.25 * reach)
        if exact and turn + 1 == _CLIMBS - _EXACT:  # of those that stay, too
            curve = _looked(R, k, logs, exact=True)[2]
        logs = np.where(better[:, None], new, logs)
        value, slope = np.where(better, at[0], value), np.where(better[:, None], at[1], slope)
        curve = np.where(better[:, None, None], at[2], curve)
        left = _slope_left(logs, slope)
        done = (left <= _FLAT) | (np.min(value) <= floor)
        if done.all():
            break
        if len(R) <= _FEW:  # a step of all costs no more than to tell them apart
            continue
        ended.append((value[done], logs[done], left[done]))
        on = ~done & _alone(value, logs, done)
        state = value, logs, slope, curve, reach
        value, logs, slope, curve, reach = (part[on] for part in state)
        if not len(logs):
            break
    ended.append((value, logs, _slope_left(logs, slope)))
    found = [np.concatenate(parts) for parts in zip(*ended, strict=True)]
    return found[0], found[1], found[2]


def _alone(value: Array, logs: Array, done: Array) -> Array:
    """Tell which starts (s,) are not where another is that is lower, or has ended there."""
    order = np.lexsort((value, ~done))
    near = np.max(np.abs(logs[order][:, None] - logs[order][None]), axis=2) <= _SAME
    found = np.empty(len(value), bool)
    found[order] = ~np.tril(near, -1).any(axis=1)
    return found


def _minimum(R: Array, k: int, logs: Array, most: int) -> _End:
    """Return F, ln Ψ and the steps where L-BFGS-B ends."""
    from scipy.optimize import minimize

    def at(place: Array) -> tuple[float, Array]:
        half = np.exp(-0.5 * place)
        theta, axes = leading_eigh(R * half * half[:, None], min(k, len(R)))
        extra = np.maximum(theta, 1.0) - 1
        value = float(np.sum(place + half**2) - np.sum(extra - np.log1p(extra)))
        return value, 1 - half**2 + axes**2 @ extra

    found = minimize(
        at,
        logs,
        jac=True,
        method="L-BFGS-B",
        bounds=[(_LEAST_LOG, 0.0)] * len(logs),
        options={"maxiter": most, "maxfun": 4 * most, "ftol": 1e-13, "gtol": 1e-6},
    )
    return float(found.fun), np.asarray(found.x), _CLIMBS + int(found.nit)


def _at_rest(R: Array, k: int, logs: Array) -> tuple[Array, float, float]:
    """Return ln Ψ where the slope is as small as rounding lets it be, F, and that slope.

    F is flat at its least value, so that its rounding stops the search early.
    """
    logs = logs[None]
    value, slope, curve = _looked(R, k, logs, exact=True)
    size = _slope_left(logs, slope)
    for _ in range(_LAST):
        new = np.clip(logs + _step(logs, slope, curve), _LEAST_LOG, 0.0)
        at = _looked(R, k, new, exact=True)
        smaller = _slope_left(new, at[1])
        if smaller >= 0.9 * size or at[0] > value + 1e-12 * (1 + np.abs(value)):
            break
        logs, slope, curve, size = new, at[1], at[2], smaller
    return logs[0], float(at[0][0] if smaller == size else value[0]), float(size[0])


def log_likelihood(value: float, known: Correlations) -> float | None:
    """Return ln L of all rows, their columns standardised; None where n is not known.

    -n/2·(p ln 2π + ln|Σ̂| + tr Σ̂⁻¹S) for S and Σ̂ that divide by n, as likelihood does.
    """
    n, p = known.total, len(known.scale)
    if n is None:
        return None
    return float(-0.5 * n * (p * np.log(2 * np.pi * (n - 1) / n) + value))


def degrees_of_freedom(p: int, k: int) -> int:
    """Return ((p - k)² - p - k)/2: correlations less the numbers that are fitted to them."""
    return ((p - k) ** 2 - p - k) // 2


def chi_square(value: float, known: Correlations, k: int) -> tuple[float, float] | None:
    """Return Bartlett's χ² of the model against any other covariance, and its chance.

    χ² = (n - 1 - (2p + 5)/6 - 2k/3)(F - ln|R| - p) [Bartlett1951]_. None where there is no
    degree of freedom, n is not known or small, or R is singular.
    """
    from scipy.special import chdtrc

    n, p = known.total, len(known.scale)
    dof = degrees_of_freedom(p, k)
    if n is None or dof <= 0 or n <= p:
        return None
    values, size = np.linalg.eigvalsh(known.matrix), n - 1 - (2 * p + 5) / 6 - 2 * k / 3
    if values[0] <= 4 * p * EPS * values[-1] or size <= 0:
        return None
    chi2 = size * max(value - float(np.sum(np.log(values))) - p, 0.0)
    return float(chi2), float(chdtrc(dof, chi2))
