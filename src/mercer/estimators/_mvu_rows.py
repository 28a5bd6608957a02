"""Rows that stand in one place are one point; the edges of a graph become bars."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array, eigh
from mercer.errors import InputError
from mercer.operators import Graph, Searcher
from mercer.solvers import Bars

_NEAR = 1e-6  # of an ordinary distance: rows closer than that are one point
_ROUNDS = 20
_ZERO = 1e-15  # of the largest eigenvalue: what is below is rounding


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """The different places where rows stand.

    Attributes
    ----------
    rows : ndarray of shape (q,)
        A row of each place, ascending.
    place : ndarray of shape (n,)
        The place of each row.
    counts : ndarray of shape (q,)
        How many rows stand there.
    """

    rows: Array
    place: Array
    counts: Array


def places_of(rows: Array) -> Places:
    """Return the places of rows (n, p): those a millionth of an ordinary distance apart merge.

    An edge of length zero would leave no kernel that is positive definite, and rows that
    stand many times would have no neighbours but themselves.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    _, kept, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = np.asarray(place).ravel()
    for _ in range(_ROUNDS):
        if len(kept) < 2:
            raise InputError(
                "all rows stand in one place: there is nothing to unfold",
                got=f"n_samples = {len(rows)}, every row the same",
                fix="pass rows that differ",
            )
        near = Searcher(rows[kept]).own(1)
        far = near.distances[:, 0]
        close = np.flatnonzero(far <= _NEAR * np.median(far))
        if not len(close):
            break
        links = csr_matrix(
            (np.ones(len(close)), (close, near.indices[close, 0])), (len(kept), len(kept))
        )
        _, group = connected_components(links, directed=False)
        _, first = np.unique(group, return_index=True)
        place, kept = group[place], kept[first]
    order = np.argsort(kept)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    place = rank[place]
    return Places(kept[order], place, np.bincount(place, minlength=len(kept)))


def edges_of(graph: Graph) -> tuple[Array, Array, Array]:
    """Return first ends, second ends and lengths (e,) of the edges, each once."""
    import scipy.sparse

    upper = scipy.sparse.triu(graph.lengths, 1).tocoo()
    return upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data


def bars_of(
    ends: tuple[Array, Array], lengths: Array, masses: Array, slack: float
) -> tuple[Bars, float]:
    """Return bars in units of their root mean square length, and that unit.

    Parameters
    ----------
    ends : two ndarrays of shape (e,)
        The points that each bar joins.
    lengths : ndarray of shape (e,)
        All positive; of any size, the squares are taken in units.
    masses : ndarray of shape (n,)
        Rows at each point.
    slack : float
        See `Bars`.
    """
    longest = float(lengths.max())
    unit = longest * float(np.sqrt(np.mean((lengths / longest) ** 2)))
    weights = np.asarray(masses, np.float64)
    return Bars(*ends, (lengths / unit) ** 2, weights / weights.mean(), slack), unit


def factor_of(kernel: Array) -> Array:
    """Return F (n, r) with FFᵀ = K but for eigenvalues below rounding, largest column first."""
    values, vectors = eigh(kernel)
    kept = int(np.sum(values > _ZERO * values[0]))
    found: Any = vectors[:, :kept] * np.sqrt(values[:kept])
    return np.ascontiguousarray(found)


def snapped(distances: Array) -> Array:
    """Return distances (m, k), nearest first, with zero for rows that stand at a known place.

    A row is there where it is a millionth as far from the place as from the next one: rows so
    near were one point when the places were found.
    """
    found = distances.copy()
    if found.shape[1] > 1:
        found[found[:, 0] <= _NEAR * found[:, 1], 0] = 0.0
    return found
