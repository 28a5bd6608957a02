"""Chances: how likely a change as large as this is where nothing has changed."""

from collections.abc import Sequence

import numpy as np
import scipy.special as special

from mercer.arrays import Array
from mercer.studies.drifting._rows_after import After
from mercer.studies.drifting._rows_before import Before

_RARE = 0.3  # fourth moment, in rows, from which few rows give a column its variance
_MANY = 1_000_000  # rows from which counts are taken for normal


def holm(chances: Array) -> Array:
    """Return chances corrected for their number, step by step [Holm1979]_.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(chances, np.float64)
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(len(p), 0, -1)
    found = np.empty_like(p)
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found


def column_shifts(known: Before, new: After) -> tuple[Array, Array, Array]:
    """Return shifts of the columns (p,) in standard deviations and errors, and their chances.

    t = (mean now - mean then)/(s√(1/n + 1/m)) with s of the new rows: Student's law with
    m - 1 degrees of freedom, exact for normal rows. A column to which one
    row or none gives all its variance, as rare counts may have it, is measured by its
    deviation at fit where that is larger.
    """
    s: Array = np.sqrt(new.variances)
    then = known.nearly if known.deviations is None else known.deviations
    rare = (s == 0) | (new.fourths > max(_RARE * new.rows, 9.0))
    s = np.asarray(np.where(rare, np.maximum(s, then), s))
    shift = new.shift
    alive = s > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        in_sd = np.where(alive, shift / np.where(alive, s, 1.0), _far(shift))
    t = in_sd / np.sqrt(1 / known.rows + 1 / new.rows)
    chances = 2 * special.stdtr(new.rows - 1, -np.abs(t))
    return in_sd, t, np.where(np.isfinite(t), chances, 0.0)


def _far(shift: Array) -> Array:
    return np.where(shift == 0, 0.0, np.copysign(np.inf, shift))


def column_spreads(new: After, deviations: Array, rows: float) -> Array:
    """Return the chances (p,) of the ratios of standard deviations.

    s²/s₀² by Snedecor's F law with 2(m-1)/(κ-1) and 2(n-1)/(κ-1) degrees of freedom, κ the
    fourth moment of the columns, 3 for normal rows.
    """
    worth = 2 / (new.fourth - 1)
    before = deviations**2
    both = (before > 0) & (new.variances > 0)
    ratio = np.where(both, new.variances / np.where(before > 0, before, 1.0), 1.0)
    found = two_sided(ratio, worth * (new.rows - 1), worth * (rows - 1))
    return np.where(both | ((before == 0) & (new.variances == 0)), found, 0.0)


def two_sided(ratio: Array | float, first: float, second: float) -> Array:
    """Return the chance of a ratio of variances this far from one, on either side."""
    above = special.fdtrc(first, second, ratio)
    below = special.fdtr(first, second, ratio)
    return np.asarray(np.minimum(2 * np.minimum(above, below), 1.0))


def plane_shift(known: Before, new: After) -> tuple[float, float, int]:
    """Return Hotelling's T² of the mean within the plane, its chance, and the axes it saw.

    T² = d'S⁻¹d/(1/n + 1/m) with d the mean and S the covariance of the new coordinates:
    k(m-1)/(m-k)·F(k, m-k), exact for normal rows. With few rows only the first m/2 axes.
    """
    m = new.rows
    k = min(known.k, m // 2)
    if k == 0:
        return 0.0, 1.0, 0
    d, covariance = (known.axes @ new.shift)[:k], new.along[:k, :k]
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    turned = np.linalg.pinv(covariance / np.outer(scale, scale), hermitian=True)
    statistic = float((d / scale) @ turned @ (d / scale)) / (1 / known.rows + 1 / m)
    chance = float(special.fdtrc(k, m - k, statistic * (m - k) / (k * (m - 1))))
    return statistic, chance, k


def outside_shift(known: Before, new: After) -> tuple[float, float]:
    """Return the shift of the mean outside the plane, as F, and its chance [Dempster1958]_.

    F = ‖r̄‖²/((1/n + 1/m)·E‖r‖²) with h and h(m-1) degrees of freedom, h = (Σλ)²/Σλ² outside.
    """
    if not new.rest > 0:
        return 0.0, 1.0
    r = new.shift - (known.axes @ new.shift) @ known.axes
    statistic = float(r @ r) / ((1 / known.rows + 1 / new.rows) * new.rest)
    h = freedom(new)
    return statistic, float(special.fdtrc(h, h * (new.rows - 1), statistic))


def freedom(new: After) -> float:
    """Return (Σλ)²/Σλ² outside the plane: how many directions share what is there."""
    return float(max(new.rest**2 / new.rest_squares, 1.0)) if new.rest_squares > 0 else 1.0


def total_change(known: Before, new: After, bias: float) -> tuple[float, float]:
    """Return the ratio of total variances, now to then, and its chance.

    F law with 2m/c² and 2n/c² degrees of freedom, c² = Var‖x̃‖²/(E‖x̃‖²)². `bias` is what
    dividing by deviations of the fit adds.
    """
    ratio = new.total / known.total / bias
    worth = 2 / new.spread
    chance = two_sided(ratio, worth * (new.rows - 1), worth * (known.rows - 1))
    return new.total / known.total, float(chance)


def captured_change(new: After, least: float, most: float, rows: float) -> float:
    """Return the chance that the plane holds this share of the variance.

    Student's law of log(E‖z‖²/E‖r‖²) with m - 1 degrees of freedom, against the nearest share
    between `least` and `most`.
    """
    held = new.total - new.rest
    if min(held, new.rest, least, 1 - most) <= 0:
        return 1.0
    nearest = min(max(held / new.total, least), most)
    away = np.log(held / new.rest) - np.log(nearest / (1 - nearest))
    t = away / np.sqrt(new.swing * (1 / new.rows + 1 / rows))
    return float(2 * special.stdtr(new.rows - 1, -abs(t)))


def axis_spreads(
    known: Before,
    new: After,
    groups: Sequence[tuple[int, ...]],
    range_: tuple[Array, Array],
    bias: float,
) -> tuple[Array, Array]:
    """Return ratios of variances along groups of axes, now to expected, and their chances.

    F law with 2m/c² and 2n/c² degrees of freedom, c² = Var(Σz_j²)/(ΣE z_j²)² over a group.
    `range_` are the least and the largest variances (k,) that are expected.
    """
    ratios, chances = np.ones(len(groups)), np.ones(len(groups))
    for number, group in enumerate(groups):
        at = np.ix_(group, group)
        now = float(np.trace(new.along[at]))
        low, high = (bias * float(np.sum(part[list(group)])) for part in range_)
        if not (now > 0 and low > 0):
            continue
        ratios[number] = now / min(max(now, low), high)
        normal = 2 * float(np.sum(new.along[at] ** 2)) / now**2
        worth = 2 / max(float(np.sum(new.crossed[at])) / now**2 - 1, normal)
        freedoms = worth * (new.rows - 1), worth * (known.rows - 1)
        chances[number] = two_sided(ratios[number], *freedoms)
    return ratios, chances


def turns(known: Before, new: After) -> Array:
    """Return the chance (k,) that each axis covaries with what is outside the plane.

    F = ‖cov(z_j, r)‖²/((1/n + 1/m)·E z_j²‖r‖²) with h and h(m-1) degrees of freedom. Axes of
    a fit are wrong by chance, and covariances in their frame are then of size √(λ_jλ_l/n),
    however near the variances are.
    """
    size = np.sum(new.across**2, axis=1)
    alive = (new.turned > 0) & (new.rest > 0)
    safe = np.where(alive, new.turned, 1.0) * (1 / known.rows + 1 / new.rows)
    h = freedom(new)
    return np.where(alive, special.fdtrc(h, h * (new.rows - 1), size / safe), 1.0)


def twists(known: Before, new: After) -> Array:
    """Return the chance (k, k) that pairs of axes covary: the same, one degree of freedom."""
    alive = new.crossed > 0
    safe = np.where(alive, new.crossed, 1.0) * (1 / known.rows + 1 / new.rows)
    return np.where(alive, special.fdtrc(1, new.rows - 1, new.along**2 / safe), 1.0)


def alarms_chance(count: int, rows: int, rate: float, before: float) -> float:
    """Return the chance of `count` alarms or more among m rows.

    The rate at a limit that n rows have set follows Beta((n+1)·rate, (n+1)(1-rate)): counts
    are Beta-binomial, wider than binomial where n is not far above m.
    """
    if count == 0:
        return 1.0
    a, b = (before + 1) * rate, (before + 1) * (1 - rate)
    if rows > _MANY:
        spread = rate * (1 - rate) * (rows + before + 1) / (rows * (before + 2))
        return float(special.ndtr((rate - (count - 0.5) / rows) / np.sqrt(spread)))
    x = np.arange(count, rows + 1)
    log = (
        special.gammaln(rows + 1)
        - special.gammaln(x + 1)
        - special.gammaln(rows - x + 1)
        + special.betaln(x + a, rows - x + b)
        - special.betaln(a, b)
    )
    return float(min(np.sum(np.exp(log)), 1.0))
