"""Test values of groups: how far their means and shares are from those of all rows.

Levels among rows with coordinates: barycentres, η² and v-tests.
"""

from typing import Any

import numpy as np
import scipy.sparse
from scipy import special

from mercer.arrays import Array
from mercer.operators import exact_means


def barycentres(codes: Array, size: int, weights: Array, rows: Array) -> tuple[Array, Array]:
    """Return the weight (L,) and the mean row (L, k) of every level; NaN where it has none.

    Parameters
    ----------
    codes : int array of shape (n,)
        The level of each row, -1 for none.
    size : int
        L, the number of levels.
    weights : array of shape (n,)
        Of the rows.
    rows : array of shape (n, k)
        Coordinates.
    """
    there = codes >= 0
    ends = np.concatenate([[0], np.cumsum(there)])
    # One reading of the rows adds them up, each where its level is.
    held = scipy.sparse.csc_array((weights[there], codes[there], ends), (size, len(codes)))
    counts = np.bincount(codes[there], weights[there], size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts, np.asarray(held @ rows) / counts[:, None]


def spread_of(weights: Array, rows: Array) -> Array:
    """Return Σ_i w_i(f_i - mean)² (k,) of each axis, 0 where that is rounding."""
    middle = weights @ rows / np.sum(weights)
    found = weights @ (rows - middle) ** 2
    scale = np.maximum(weights @ rows**2, np.finfo(float).tiny)
    return np.where(found <= 1e-14 * scale, 0.0, found)


def read_levels(
    codes: Array, size: int, weights: Array, rows: Array, spread: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return weights (L,) and means (L, k) of the levels, and η² (k,) of each axis.

    η² is the share of the variance of an axis that lies between the levels. Rows without a
    level are left out. An axis without variance has η² = 0.

    Parameters
    ----------
    codes, size, weights, rows
        As for `barycentres`.
    spread : array of shape (k,) or None
        `spread_of` all rows where it is known, for when every row has a level.
    """
    there = codes >= 0
    counts, means = barycentres(codes, size, weights, rows)
    used, whole = counts > 0, float(np.sum(counts))
    if whole == 0:
        return counts, means, np.full(rows.shape[1], np.nan)
    if spread is None or not there.all():
        spread = spread_of(weights[there], rows[there])
    middle = counts[used] @ means[used] / whole
    between = counts[used] @ (means[used] - middle) ** 2
    eta2 = np.minimum(between / np.where(spread > 0, spread, np.inf), 1.0)
    return counts, means, eta2


def v_tests(
    means: Array, counts: Array, total: float, variance: Array, middle: Any = 0.0
) -> Array:
    """Return how many standard errors each barycentre lies from the mean (L, k).

    v = (mean_j - mean)/√(s²·(n - n_j)/((n - 1)·n_j)), the mean of n_j rows drawn without
    replacement from n; s² divides by n. Beyond ±1.96 a level is not placed by chance. A level
    of all rows, or of none, has v = NaN.

    Parameters
    ----------
    means, counts
        Barycentres (L, k), and rows of each level (L,).
    total : float
        n, weights counted.
    variance : array of shape (k,)
        Variance s² of each axis.
    middle : array of shape (k,) or 0
        Mean of each axis.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (total - counts) / ((total - 1) * counts)
        found = (means - middle) / np.sqrt(spread[:, None] * variance)
    return np.where(np.isfinite(found), found, np.nan)


_ROUNDS = 60  # of a saddlepoint
_TERMS = 2000  # of a tail that are added up


def group_tests(values: Array, at: Array, groups: int) -> Array:
    """Return v of every group and column (groups, q): the mean against that of n_g random rows.

    v = (x̄_g - x̄)/√(s²/n_g·(n - n_g)/(n - 1)), s² dividing by n: a group is a sample without
    replacement, so that |v| > 2 is rare by chance [Lebart1995]_. Columns that do not vary, and
    a group of all rows, get 0. Missing cells are left out column by column.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        Numbers; NaN where missing.
    at : ndarray of shape (n,)
        Group of every row, from 0; -1 for none.
    groups : int
        How many there are.
    """
    values = np.asarray(values, np.float64)
    found = np.zeros((groups, values.shape[1]))
    for j, column in enumerate(values.T):
        there = np.isfinite(column) & (at >= 0)
        n = int(np.count_nonzero(there))
        if n >= 2:
            known = column[there]
            x = (known - exact_means(known, np.mean(known)))[:, None]
            counts, means = barycentres(at[there], groups, np.ones(n), x)
            found[:, j] = v_tests(means, counts, n, np.mean(x**2, axis=0))[:, 0]
    return np.nan_to_num(found)


_PLAIN = 1.2  # |v| up to which no p is small, whatever the law
_SKEWED = 0.02  # skewness of the mean of a group from which the normal law is not taken


def group_chances(values: Array, at: Array, groups: int) -> tuple[Array, Array]:
    """Return v and p of every group and column (groups, q): `group_tests`, and its chance.

    p is twice the chance that the mean of n_g rows drawn without replacement lies as far out
    on that side, by the saddlepoint of the draw [Robinson1982]_: a few rows of a column with
    a long tail have a mean beyond two standard errors in far more than one of 20 draws.

    Parameters
    ----------
    values, at, groups
        See `group_tests`.
    """
    values = np.asarray(values, np.float64)
    v = group_tests(values, at, groups)
    p = p_of(v)
    for g, j in np.argwhere(np.abs(v) > _PLAIN):
        there = np.isfinite(values[:, j]) & (at >= 0)
        x, inside = values[there, j], at[there] == g
        x = x - exact_means(x, np.mean(x))
        x = x / np.sqrt(np.mean(x**2))
        few = min(int(np.count_nonzero(inside)), int(np.count_nonzero(~inside)))
        if few and abs(float(np.mean(x**3))) > _SKEWED * np.sqrt(few):
            p[g, j] = min(2 * drawn_tail(np.sign(v[g, j]) * x, inside), 1.0)
    return v, p


def drawn_tail(x: Array, inside: Array) -> float:
    """Return P(Σ of m numbers drawn without replacement ≥ Σ of those inside), m of them.

    Each number is drawn with odds e^{α + λx}, α and λ such that m are drawn in the mean and
    their sum is the one seen; then Lugannani and Rice. One number has its rank; a sum that
    no draw exceeds has 1/C(n, m).

    Parameters
    ----------
    x : ndarray of shape (n,)
        Numbers of mean 0 and variance 1.
    inside : ndarray of bool of shape (n,)
        Which of them the sum is of.
    """
    n, m, total = len(x), int(np.count_nonzero(inside)), float(np.sum(x[inside]))
    if m == 1:
        return float(np.mean(x >= total))
    start = np.log(m / (n - m))
    tilt, level = 0.0, start
    for _ in range(_ROUNDS):
        share = special.expit(tilt * x + level)
        weight = share * (1 - share)
        off = np.array([np.sum(share) - m, share @ x - total])
        if np.max(np.abs(off)) < 1e-9 * m:
            break
        cross = float(weight @ x)
        curve = np.array([[np.sum(weight), cross], [cross, weight @ x**2]])
        if np.linalg.det(curve) <= 1e-12 * curve[0, 0] * curve[1, 1]:
            return float(np.exp(-_choose(n, np.array(m))))
        step = np.linalg.solve(curve, off)
        step *= min(1.0, 2.0 / np.max(np.abs(step[0] + step[1] * x)))
        level, tilt = level - float(step[0]), tilt - float(step[1])
    else:
        return float(np.exp(-_choose(n, np.array(m))))
    if tilt <= 1e-6:
        return 0.5
    gone = np.sum(np.logaddexp(0, tilt * x + level)) - n * np.logaddexp(0, start)
    far = np.sqrt(2 * max(tilt * total + (level - start) * m - float(gone), 1e-300))
    spread = np.sum(weight) * (weight @ x**2) - (weight @ x) ** 2
    root = tilt * np.sqrt(spread * n / (m * (n - m)))
    density = np.exp(-far * far / 2) / np.sqrt(2 * np.pi)
    tail = float(special.ndtr(-far) + density * (1 / root - 1 / far))
    return min(max(tail, float(np.exp(-_choose(n, np.array(m))))), 1.0)


def p_of(v: Array) -> Array:
    """Return the two-sided p of test values, by the normal law."""
    return np.asarray(2 * special.ndtr(-np.abs(v)))


def shares_tests(levels: Array, at: Array, kinds: int, groups: int) -> tuple[Array, Array]:
    """Return v and p of every group and level (groups, kinds), by the hypergeometric law.

    Of n rows K have the level and n_g are in the group; p is twice the smaller tail of the
    number that have both, v the normal number of that p, positive where the level is frequent.

    Parameters
    ----------
    levels : ndarray of shape (n,)
        Level of every row, from 0; -1 for missing.
    at : ndarray of shape (n,)
        Group of every row; -1 for none.
    kinds, groups : int
        How many levels and groups there are.
    """
    there = (levels >= 0) & (at >= 0)
    table = np.zeros((groups, kinds), np.int64)
    np.add.at(table, (at[there], levels[there]), 1)
    n, sizes, totals = int(table.sum()), table.sum(axis=1), table.sum(axis=0)
    p, frequent = np.ones(table.shape), table * n > np.outer(sizes, totals)
    for g, j in np.argwhere((sizes[:, None] > 0) & (totals[None, :] > 0)):
        drawn, those = int(sizes[g]), int(totals[j])
        tail = _tail(int(table[g, j]), n, those, drawn, above=bool(frequent[g, j]))
        p[g, j] = min(2 * tail, 1.0)
    size = -special.ndtri(np.maximum(p, 1e-300) / 2)
    return np.where(frequent, size, -size), p


def _tail(x: int, n: int, those: int, drawn: int, *, above: bool) -> float:
    """Return P(X ≥ x) or P(X ≤ x) for X ~ hypergeometric, x on that side of its mean.

    There the terms fall at least geometrically, so that 2,000 of them are all.
    """
    low, high = max(0, drawn + those - n), min(those, drawn)
    if above:
        i = np.arange(x, min(high, x + _TERMS) + 1)
    else:
        i = np.arange(max(low, x - _TERMS), x + 1)
    logs = _choose(those, i) + _choose(n - those, drawn - i) - _choose(n, np.array(drawn))
    return float(np.sum(np.exp(logs)))


def _choose(n: int, k: Array) -> Array:
    """Return log C(n, k)."""
    gone = special.gammaln(k + 1.0) + special.gammaln(n - k + 1.0)
    return np.asarray(special.gammaln(n + 1.0) - gone)


def false_shares(p: Array) -> Array:
    """Return q (m,): the share of false ones if all up to here were called true.

    q_i = min over j with p_j ≥ p_i of p_j·m/rank(p_j) [Benjamini1995]_.

    Parameters
    ----------
    p : ndarray of shape (m,)
        Chances.
    """
    p = np.clip(np.asarray(p, np.float64), 0.0, 1.0)
    order = np.argsort(p, kind="stable")
    ranked = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(ranked[::-1])[::-1]
    return np.minimum(q, 1.0)


def correlation_ratios(values: Array, at: Array, groups: int) -> tuple[Array, Array]:
    """Return η² of every column (q,), the share between groups, and p of its F test.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        Numbers without gaps.
    at : ndarray of shape (n,)
        Group of every row; -1 for none.
    groups : int
        How many there are.
    """
    there = at >= 0
    x = np.asarray(values, np.float64)[there]
    x = x - x.mean(axis=0)
    counts, _, share = read_levels(at[there], groups, np.ones(len(x)), x)
    used, n = int(np.count_nonzero(counts)), len(x)
    if used < 2 or n <= used:
        return share, np.ones(len(share))
    with np.errstate(divide="ignore"):
        f = share / (used - 1) / ((1 - share) / (n - used))
    return share, np.asarray(special.fdtrc(used - 1, n - used, f))


def correlations_tested(values: Array, scores: Array) -> tuple[Array, Array]:
    """Return r of every column with every axis (q, k), and p of the t test of each.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        Numbers; rows with NaN are left out column by column.
    scores : ndarray of shape (n, k)
        Coordinates.
    """
    r = np.zeros((values.shape[1], scores.shape[1]))
    p = np.ones_like(r)
    for j, column in enumerate(np.asarray(values, np.float64).T):
        there = np.isfinite(column)
        n = int(np.count_nonzero(there))
        if n < 3:
            continue
        x, z = column[there], np.asarray(scores, np.float64)[there]
        x = x - exact_means(x, np.mean(x))
        z = z - exact_means(z, z.mean(axis=0))
        size = np.linalg.norm(x) * np.linalg.norm(z, axis=0)
        alive = size > 1e-300
        r[j] = np.where(alive, np.clip(x @ z / np.where(alive, size, 1.0), -1, 1), 0.0)
        with np.errstate(divide="ignore"):
            t = r[j] * np.sqrt((n - 2) / np.maximum(1 - r[j] ** 2, 1e-300))
        p[j] = np.where(alive, 2 * special.stdtr(n - 2, -np.abs(t)), 1.0)
    return r, p
