"""How many axes of a kernel are beyond noise: beside shuffled tables, or from a matrix."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array, eigvalsh
from mercer.selection._choice import Choice, Rule
from mercer.selection._thresholds import broken_stick, kaiser, share
from mercer.selection._variances import Variances

SHUFFLED = "kernel parallel analysis"
WHITE = "white edge"
_TRACY_WIDOM = 2.0234  # 99 % quantile: several axes are tried one after another
_LEAST_SPREAD = 1e-4  # of the variance: shares that differ by less are alike
_NOTHING = 1e-13  # of the largest eigenvalue, for each row: an axis that is not there
_SHARE = 0.9
_COLUMNS = ("noise edge", "Gavish-Donoho", "Minka", "BIC", "AIC")


@final
@dataclasses.dataclass(frozen=True)
class Excess:
    """What the leading axes hold beyond those of shuffled tables.

    Attributes
    ----------
    k : int
        Axes with the largest excess; 0 where a shuffled table stands out as much.
    excess : ndarray of shape (m,)
        C_j less its mean over the shuffled tables, C_j the share of the variance that the
        first j axes hold.
    draws : int
        Shuffled tables.
    """

    k: int
    excess: Array
    draws: int


def kernel_shares(block: Array) -> Array:
    """Return max(λ_j, 0)/Σ|λ| (n,), descending, of HKH for a kernel matrix K (n, n)."""
    table = np.array(block, np.float64)
    table -= table.mean(axis=0)
    table -= table.mean(axis=1, keepdims=True)
    values = eigvalsh((table + table.T) / 2)
    whole = float(np.sum(np.abs(values)))
    rounding = len(values) * np.finfo(np.float64).eps * float(np.max(np.abs(block), initial=0))
    if not whole > rounding * len(values):
        return np.zeros(len(values))
    return np.asarray(np.maximum(values, 0.0) / whole)


def beyond_shuffled(seen: Array, drawn: Array) -> Excess:
    """Return how many axes hold more of the variance than those of shuffled tables.

    With C_j the share of the variance that the first j axes hold, the table stands out by
    T = max_j (C_j - mean)/sd, mean and sd over itself and all shuffled tables. If its T is
    the largest, k is the j of the largest C_j - mean; otherwise k is 0. Where columns are
    independent the table is one of d + 1 alike, so that some k > 0 is found in at most one
    of d + 1 cases.

    Sums are compared, not the eigenvalues one by one: a kernel may see a structure first in
    its third axis.

    Parameters
    ----------
    seen : ndarray of shape (m,)
        λ_j/tr K̃ of the table, descending.
    drawn : ndarray of shape (d, m)
        The same of tables whose columns were shuffled.

    Examples
    --------
    >>> seen = np.array([0.5, 0.3, 0.1, 0.1])
    >>> beyond_shuffled(seen, np.full((19, 4), 0.25)).k
    2
    """
    held = np.cumsum(np.concatenate([seen[None, :], drawn]), axis=1)
    spread = np.maximum(held.std(axis=0, ddof=1), _LEAST_SPREAD)
    standing = np.max((held - held.mean(axis=0)) / spread, axis=1)
    excess = held[0] - held[1:].mean(axis=0)
    found = standing[0] > np.max(standing[1:]) and np.max(excess) > _LEAST_SPREAD
    return Excess(int(np.argmax(excess)) + 1 if found else 0, excess, len(drawn))


def white_edge(shares: Array) -> int:
    """Return how many eigenvalues are above the edge of white noise [Patterson2006]_.

    K̃ is taken for XXᵀ of white noise with q columns. Where its rank is below n - 1 that is
    q. Otherwise the spectrum tells: q = (m + 1)S₁²/((m - 1)S₂ - S₁²) with S₁ = Σλ, S₂ = Σλ²
    over m - 1 eigenvalues. The largest, as a share of their mean, is compared with the 99 %
    quantile of the Tracy-Widom law about its edge. One that is above is taken out, and the
    next is tried; those that are twice the edge of the ones behind them go first.

    Parameters
    ----------
    shares : ndarray of shape (n,)
        All eigenvalues of K̃, descending, in any unit; one of them is zero by centring.
    """
    values = np.maximum(np.asarray(shares, np.float64), 0.0)[:-1]
    if not values.size or values[0] <= 0:
        return 0
    rank = int(np.sum(values > _NOTHING * len(values) * values[0]))
    full = rank == len(values)
    for k in range(_clear(values) if full else 0, rank):
        left = values[k:rank]
        columns = _columns(left) if full else float(len(left))
        if len(left) < 2 or columns is None:
            return k
        if left[0] <= _edge(columns, float(len(values) - k)) * float(np.sum(left)):
            return k
    return rank


def _clear(values: Array) -> int:
    """Return how many are twice the edge of those behind them: they would hide the others."""
    found = 0
    for j in range(1, len(values) // 4 + 1):
        columns, rest = _columns(values[j:]), values[j:]
        if columns is not None:
            edge = _edge(columns, float(len(rest))) * float(np.sum(rest))
            found = j if values[j - 1] > 2 * edge else found
    return found


def _columns(values: Array) -> float | None:
    """Return the number of columns that the spread of a full spectrum tells."""
    m, total = len(values) + 1, float(np.sum(values))
    spread = (m - 1) * float(np.sum(values**2)) - total**2
    if m < 4 or spread <= 1e-12 * total**2:  # all alike
        return None
    return max((m + 1) * total**2 / spread, 1.5)


def _edge(columns: float, rows: float) -> float:
    """Return the largest eigenvalue of white noise as a share of all, 99 % quantile.

    That of XXᵀ, whose trace is rows·columns, is about (√rows + √columns)².
    """
    root, other = np.sqrt(max(columns - 0.5, 0.5)), np.sqrt(rows + 0.5)
    scale = (root + other) * np.cbrt(1 / root + 1 / other)
    return float(((root + other) ** 2 + _TRACY_WIDOM * scale) / (columns * rows))


def choice_by_shuffling(shares: Array, found: Excess, how: str, seen: str) -> Choice:
    """Return the choice that shuffled tables decide, other rules beside it.

    Parameters
    ----------
    shares : ndarray of shape (n,)
        All λ_j/tr K̃ of the rows that were looked at, descending.
    found : Excess
        What decides.
    how : str
        What was done to the tables, such as "shuffled columns".
    seen : str
        What was looked at, such as "500 of 4,000 rows".
    """
    if found.k == 0:
        about = f"the axes hold no more than those of tables with {how}"
    else:
        axes = "it holds" if found.k == 1 else "they hold"
        more = f"{found.excess[found.k - 1]:.0%} of the variance"
        about = f"{axes} {more} beyond what as many axes of tables with {how} do"
    decides = Rule(SHUFFLED, found.k, about)
    white = Rule(WHITE, None, "for a matrix of products; smooth kernels exceed it on noise")
    return Choice(found.k, (decides, white, *_rules(shares)), np.ones(1), seen)


def choice_by_matrix(shares: Array, seen: str) -> Choice:
    """Return the choice where there is only a matrix: the edge of white noise decides."""
    k = white_edge(shares)
    alike = "more than white noise in feature space shows, which smooth kernels always have"
    decides = Rule(WHITE, k, alike if k else "no more than white noise in feature space shows")
    none = Rule(SHUFFLED, None, "needs rows whose columns can be shuffled")
    return Choice(k, (decides, none, *_rules(shares)), np.ones(1), seen)


def _rules(shares: Array) -> tuple[Rule, ...]:
    """Return what rules for tables say of a kernel; those that count columns cannot."""
    n = len(shares)
    known = Variances.of(shares[: n - 1], rows=n, columns=max(n - 1, 1))
    held = share(known.values, _SHARE, known.total) if known.total > 0 else 0
    return (
        *(Rule(name, None, "counts columns; features have none") for name in _COLUMNS),
        Rule("broken stick", broken_stick(known), "pieces of a broken stick; a rule of thumb"),
        Rule("Kaiser", kaiser(known), "above the mean; on noise many are"),
        Rule(f"{_SHARE:.0%} of variance", held, "says nothing of noise"),
    )
