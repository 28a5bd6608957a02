"""Shrinkage of the covariance within classes: a number, or that of Ledoit and Wolf."""

import numpy as np

from mercer.arrays import Array
from mercer.estimators._lda_within import Target, diagonal_of
from mercer.operators import GroupedRows, GroupMoments


def target_of(
    shrinkage: float | str | None, rows: GroupedRows, found: GroupMoments
) -> Target | None:
    """Return what W is shrunk to, or None where it is taken as it is.

    A number s: W ← (1 - s)W + s·(tr W/p)·I. ``"auto"``: the covariance of each class, its
    columns scaled to deviation one, is shrunk by the amount of [Ledoit2004]_ and scaled
    back; W is their sum by the sizes of the classes, as in scikit-learn.
    """
    if shrinkage is None or (shrinkage != "auto" and float(shrinkage) == 0):
        return None
    groups, p = found.means.shape
    total = float(np.sum(found.totals))
    if shrinkage == "auto":
        return _ledoit_wolf(rows, found, total / (total - groups))
    trace = float(np.sum(np.maximum(diagonal_of(found), 0.0))) / (total - groups)
    if trace == 0:
        return None  # nothing varies, and is refused as that
    s = float(shrinkage)
    return Target(np.full(groups, 1 - s), np.full(p, s * trace / p))


def _ledoit_wolf(rows: GroupedRows, found: GroupMoments, grow: float) -> Target | None:
    groups, p = found.means.shape
    shares, diagonal = np.ones(groups), np.zeros(p)
    weights = np.ones(rows.shape[0]) if rows.weights is None else rows.weights
    for group in range(groups):
        members = np.flatnonzero((rows.codes == group) & (weights > 0))
        cells = rows.members(members, group) - found.offsets[group]
        counts = weights[members]
        n = float(np.sum(counts))
        deviation = np.sqrt(counts @ cells**2 / n)
        deviation[deviation == 0] = 1.0
        amount, level = ledoit_wolf(cells / deviation, counts)
        shares[group] = 1 - amount
        diagonal += n / float(np.sum(found.totals)) * amount * level * deviation**2
    return None if np.all(shares == 1) else Target(shares, grow * diagonal)


def ledoit_wolf(centred: Array, counts: Array) -> tuple[float, float]:
    """Return the amount s of shrinkage, and μ = tr S/p, for rows with mean zero.

    With S = Σw·xxᵀ/n, n = Σw: β = (Σw‖x‖⁴/n - ‖S‖²_F)/(np), δ = (‖S‖²_F - pμ²)/p and
    s = min(β, δ)/δ [Ledoit2004]_. One column is not shrunk.

    Parameters
    ----------
    centred : ndarray of shape (m, p)
        Rows.
    counts : ndarray of shape (m,)
        Repeat counts w.
    """
    m, p = centred.shape
    n = float(np.sum(counts))
    rooted = np.sqrt(counts)[:, None] * centred
    product = rooted.T @ rooted if p <= m else rooted @ rooted.T
    frobenius = float(np.sum(product**2)) / n**2
    level = float(np.sum(rooted**2)) / n / p
    if p == 1:
        return 0.0, level
    fourth = float(counts @ np.sum(centred**2, axis=1) ** 2) / n
    beta = (fourth - frobenius) / (n * p)
    delta = (frobenius - p * level**2) / p
    beta = min(beta, delta)
    return (beta / delta if beta > 0 else 0.0), level
