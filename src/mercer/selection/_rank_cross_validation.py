"""Generalised cross-validation: how many axes missing cells are filled with."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.operators import Completion, CompletionRule, complete, first_basis, first_completion

_ROWS = 1000  # rows looked at: what the axes cost beside them is a small share from here on
_MOST = 30  # axes tried at most; beyond them a row of few cells no longer settles its place
_RISES = 3  # ranks in a row without a smaller value after which no other is tried
_SETTLED = 1e-3  # change at which a fit is good enough to be compared with another
_STEPS = 50  # of one fit at most


@final
@dataclasses.dataclass(frozen=True)
class RankChoice:
    """The rank and what it was chosen from.

    Attributes
    ----------
    rank : int
        The rank with the smallest value.
    values : tuple of float
        GCV(0), GCV(1), …, as far as it was looked.
    """

    rank: int
    values: tuple[float, ...]


def cross_validated_rank(
    rows: np.ndarray[Any, Any], most: int | None = None, weights: Any = None
) -> RankChoice:
    """Return the rank with the least generalised cross-validation [Josse2012]_.

    With N observed cells in n rows and p columns, and ŷ the shrunk fit of rank S,

        GCV(S) = N Σ_observed (y - ŷ)² / (N - p - S(n - 1 + p - S))².

    What is taken off N is what a fit of rank S can choose: p means, n - 1 free coordinates of
    each axis, and S(p - S) for the directions. Ranks are tried upwards, each begun where the
    one before ended, until three in a row are no better.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Incomplete rows with NaN, in units and scales that count alike. Of many rows some
        are looked at, evenly spaced.
    most : int or None
        Largest rank to try; at most min(30, p - 1, n - 2).
    weights : ndarray of shape (n,) or None
        Repeat counts: rows, cells and squares count so often.

    Notes
    -----
    Cost: about ten passes over 1,000 rows for every rank.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 10))
    >>> rows += 0.1 * rng.standard_normal(rows.shape)
    >>> rows[rng.random(rows.shape) < 0.2] = np.nan
    >>> cross_validated_rank(rows).rank
    2
    """
    rows, counts = _usable(rows, weights)
    n, p = float(np.sum(counts)), rows.shape[1]
    cells = float(np.sum(counts @ ~np.isnan(rows)))
    limit = max(min(_MOST, p - 1, int(n) - 2, _MOST if most is None else most), 0)
    values: list[float] = []
    here, basis = first_completion(np.zeros(p), 0), None
    for rank in range(limit + 1):
        freedom = cells - p - rank * (n - 1 + p - rank)
        if freedom <= 0 or len(values) - 1 - int(np.argmin(values or [0.0])) >= _RISES:
            break
        basis = _widened(basis, p, rank)
        rule = CompletionRule(rank, tol=_SETTLED, most=_STEPS)
        found = complete(lambda sums, _: sums.add(rows, counts), here, basis, rule)
        here, basis = found.completion, found.basis
        values.append(cells * _residual(here, rows, counts) / freedom**2)
        if values[-1] <= 1e-24 * values[0]:
            break  # nothing is left: a further axis has nothing to say
    return RankChoice(int(np.argmin(values)) if values else 0, tuple(values))


def spectral_rank(values: np.ndarray[Any, Any], total: float, n: float, p: int) -> RankChoice:
    """Return the rank that `cross_validated_rank` finds where no cell is missing.

    The shrunk fit of rank S then leaves Σ_{j>S} λ_j + Σ_{j≤S} s⁴/λ_j, s² its noise, so that the
    variances tell all; those that were not kept are known by the total.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Leading variances, descending, all dividing by the same count.
    total : float
        Sum of all of them.
    n : float
        Rows.
    p : int
        Columns.
    """
    found: list[float] = []
    for rank in range(max(min(_MOST, p - 1, int(n) - 2, len(values) - 1), 0) + 1):
        freedom = n * p - p - rank * (n - 1 + p - rank)
        kept = values[:rank]
        if freedom <= 0 or np.any(kept <= 0):
            break
        noise = CompletionRule(rank).noise_of(values[: rank + 1], total, n, p)
        left = max(total - float(np.sum(kept)), 0.0) + float(np.sum(noise**2 / kept))
        found.append(left * float(n) ** 2 * p / freedom**2)
    return RankChoice(int(np.argmin(found)) if found else 0, tuple(found))


def _usable(
    rows: np.ndarray[Any, Any], weights: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return evenly spaced rows about zero and of size one, less what has no cell; counts."""
    counts = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
    rows, counts = rows[counts > 0], counts[counts > 0]
    step = max(-(-len(rows) // _ROWS), 1)
    rows, counts = rows[::step], counts[::step]
    seen = ~np.isnan(rows)
    some = seen.any(axis=1)
    rows = np.asarray(rows[np.ix_(some, seen.any(axis=0))], np.float64)
    counts = counts[some]
    if rows.size == 0:
        return np.zeros((0, rows.shape[1])), np.zeros(0)
    # The middle of the range, not the mean: sums of huge cells would overflow.
    rows = rows - (0.5 * np.nanmin(rows, axis=0) + 0.5 * np.nanmax(rows, axis=0))
    size = float(np.nanmax(np.abs(rows)))
    return (rows / size if size > 0 else rows), counts


def _residual(
    completion: Completion, rows: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]
) -> float:
    """Return Σ_observed w(y - ŷ)², ŷ = mean + Vz."""
    left = rows - completion.mean - completion.scores(rows) @ completion.axes.T
    return float(counts @ np.nansum(left**2, axis=1))


def _widened(basis: Any, p: int, rank: int) -> Any:
    """Return the basis of the rank before with room for one axis more, where one is kept."""
    fresh = first_basis(p, rank)
    if fresh is None or basis is None:
        return fresh
    wide = np.hstack([basis, fresh[:, : max(fresh.shape[1] - basis.shape[1], 1)]])
    return np.linalg.qr(wide)[0]
