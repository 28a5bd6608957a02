"""The null of independence: the χ² test, and inertias of tables whose rows say nothing."""

import dataclasses
from typing import final

import numpy as np
from scipy.special import chdtrc

from mercer.arrays import Array, eigvalsh
from mercer.errors import DataWarning, InputError, NotSupportedError, warn
from mercer.selection import Choice, Rule, noise_quantiles

DRAWS = 199
_LEAST = 19  # draws without which there is no 95 % quantile
_SECONDS = 30.0  # that draws may take
_CELL, _FLOP = 4e-8, 4e-10  # seconds of a cell that is drawn, and of a multiplication
_COUNTABLE = 2.0**53
_LEVEL = 0.95


@final
@dataclasses.dataclass(frozen=True)
class Independence:
    """The test whether rows and columns of a table are independent.

    Attributes
    ----------
    chi2 : float
        g times the total inertia.
    dof : int
        (m - 1)(n - 1).
    p_value : float
        Chance of so large a χ² where they are independent; it means something for counts.
    cramer_v : float
        √(inertia / (min(m, n) - 1)), between 0 and 1.
    expected_below_5 : float
        Share of cells whose expected count is below five; above a fifth the law of χ² is
        doubtful.
    """

    chi2: float
    dof: int
    p_value: float
    cramer_v: float
    expected_below_5: float


def independence(
    r: Array, c: Array, inertia: float, total: float, exponent: int
) -> Independence:
    """Return the test for masses r (m,) and c (n,) of rows and columns that are not empty."""
    m, n = len(r), len(c)
    dof = (m - 1) * (n - 1)
    with np.errstate(over="ignore"):
        chi2 = float(np.ldexp(total * inertia, exponent))
        level = float(np.ldexp(5.0 / total, -exponent))
    below = np.searchsorted(np.sort(c), level / r, side="left")
    return Independence(
        chi2=chi2,
        dof=dof,
        p_value=float(chdtrc(dof, chi2)) if np.isfinite(chi2) else 0.0,
        cramer_v=float(np.sqrt(min(inertia / (min(m, n) - 1), 1.0))),
        expected_below_5=float(below.sum()) / (m * n),
    )


def null_band(
    r: Array, c: Array, total: float, *, draws: int, seed: int, tail: float = 0.05
) -> Array:
    """Return the band (2, k) of the largest inertia that chance leaves, axis by axis.

    Tables are drawn from the multinomial law with chances r_ic_j and `total` counts, and
    each is analysed with its own margins: their first inertias are the band of axis 1.
    Behind i axes that are none of chance, chance has (m - 1 - i)(n - 1 - i) dimensions left,
    and its largest inertia is smaller as (√(m-1-i) + √(n-1-i))². Inertias compared by rank
    instead would call the first of chance behind a real one real. Beyond 2^53 counts the
    limit of the law is used: (m - 1)(n - 1) standard normal numbers, over g.

    Parameters
    ----------
    r, c : ndarray of shape (m,), (n,)
        Masses, none zero.
    total : float
        Counts.
    draws, seed : int
        Tables that are drawn, and the seed.
    tail : float
        Share of the draws below the band, and above it.
    """
    m, n = len(r), len(c)
    left = np.arange(min(m, n) - 1)
    size = (np.sqrt(m - 1 - left) + np.sqrt(n - 1 - left)) ** 2
    first = _first(r, c, total, draws, seed, tail)
    return np.asarray(first[:, None] * (size / size[0]))


def _first(r: Array, c: Array, total: float, draws: int, seed: int, tail: float) -> Array:
    """Return quantiles (2,) of the first inertia under independence."""
    m, n = len(r), len(c)
    if total > _COUNTABLE:
        band = noise_quantiles(m, np.ones(n - 1), draws=draws, seed=seed, tail=tail)
        return np.asarray(band[:, 0] * (m - 1) / total)
    if round(total) < 2:
        raise InputError(
            "the null of independence needs counts",
            got=f"a table with a total of {total:g}",
            fix="multiply shares by the number of cases, or ask for a number of components",
        )
    rng = np.random.default_rng(seed)
    drawn = [_largest(_table(rng, round(total), r, c)) for _ in range(draws)]
    return np.asarray(np.quantile(drawn, [tail, 1 - tail]))


def _table(rng: np.random.Generator, total: int, r: Array, c: Array) -> Array:
    """Return a table whose rows and columns are independent: totals of rows, then each row."""
    rows = rng.multinomial(total, r / r.sum())
    return np.asarray(rng.multinomial(rows, c / c.sum()))


def _largest(table: Array) -> float:
    """Return the first inertia of a dense table."""
    R, C = table.sum(axis=1), table.sum(axis=0)
    table, R, C = table[R > 0][:, C > 0], R[R > 0], C[C > 0]
    expected = np.outer(R, C / C.sum())
    a = (table - expected) / np.sqrt(expected * C.sum())
    return max(float(eigvalsh(a @ a.T if len(a) < a.shape[1] else a.T @ a)[0]), 0.0)


def affordable(m: int, n: int, draws: int = DRAWS) -> int:
    """Return how many tables (m, n) may be drawn, at most `draws`; refuse where too few."""
    each = max(m * n, 1) * (_CELL + _FLOP * min(m, n))  # a table may be empty
    most = int(min(draws, _SECONDS / each))
    if most < _LEAST:
        raise NotSupportedError(
            "tables of this size are not drawn to find the null of independence",
            got=f"{m:,} x {n:,} cells; {_LEAST} tables would take about {_LEAST * each:,.0f} s",
            fix="ask for a number of components, or merge rows and columns into fewer",
        )
    return most


def chosen(values: Array, band: Array, draws: int, shape: tuple[int, int]) -> Choice:
    """Return how many leading inertias exceed the upper end of the band."""
    upper = band[1, : len(values)]
    failed = np.flatnonzero(values <= upper)
    k = int(failed[0]) if failed.size else len(values)
    decides = Rule(
        "null of independence", k, f"inertia above {_LEVEL:.0%} of tables without association"
    )
    seen = f"{draws:,} tables of {shape[0]:,} x {shape[1]:,} at the margins observed"
    return Choice(k, (decides,), np.ones(1), seen)


def warn_of_none(choice: Choice) -> None:
    """Say that no axis is kept."""
    if choice.k == 0:
        warn(
            "no axis beyond independence: no axis is kept",
            got=choice.reason,
            fix="ask for a number of components to look at axes all the same",
            category=DataWarning,
        )
