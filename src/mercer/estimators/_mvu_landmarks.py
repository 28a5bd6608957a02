"""Landmarks for unfolding: who they are, whom they hold, and where the others go."""

from typing import Any

import numpy as np

from mercer.arrays import EPS, Array
from mercer.estimators._isomap_paths import farthest
from mercer.estimators._lle_weights import own_weights
from mercer.operators import Graph

_RIDGE = 1e-9  # of the mean diagonal: settles rows that their neighbours leave free


def landmark_edges(
    graph: Graph, m: int, neighbours: int, seed: int
) -> tuple[Array, tuple[Array, Array], Array]:
    """Return landmarks (m,), the ends of edges between them, and the points near each.

    Neighbours are near along the graph of all rows, so that few landmarks do not reach
    across a fold; the shortest tree is added, so that they hang together.

    Parameters
    ----------
    graph : Graph
        Of all rows, in one piece.
    m : int
        Landmarks, each the farthest from those before.
    neighbours : int
        Edges from each landmark, at least.
    seed : int
        Draws the first.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    places, paths = farthest(graph, m, seed)
    between, m = paths[:, places], len(places)
    between = np.maximum(between, between.T)
    apart = between + np.diag(np.full(m, np.inf))
    k = min(neighbours, m - 1)
    near = np.argpartition(apart, k - 1, axis=1)[:, :k]
    joined = csr_matrix(
        (np.ones(m * k), (np.repeat(np.arange(m), k), near.ravel())), shape=(m, m)
    )
    joined = joined + minimum_spanning_tree(between)
    either = (joined + joined.T).tocoo()
    upper = either.row < either.col
    ends = (either.row[upper].astype(np.int64), either.col[upper].astype(np.int64))
    return places, ends, np.argmin(paths, axis=0)


def extended(rows: Array, indices: Array, places: Array, values: Array, reg: float) -> Array:
    """Return Y (n, d) with given landmarks and least ‖(I - W)Y‖², as LLE places rows.

    W holds the barycentric weights of every row from its neighbours [Weinberger2005]_.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        All rows.
    indices : ndarray of shape (n, k)
        Neighbours of each.
    places : ndarray of shape (m,)
        Which rows are landmarks.
    values : ndarray of shape (m, d)
        Their coordinates.
    reg : float
        Penalty of the weights.
    """
    import scipy.sparse
    from scipy.sparse.linalg import splu

    n, k = indices.shape
    weights: Any = scipy.sparse.csr_matrix(
        (own_weights(rows, indices, reg).ravel(), indices.ravel(), np.arange(0, n * k + 1, k)),
        shape=(n, n),
    )
    left = (scipy.sparse.identity(n, format="csr") - weights).tocsc()
    free = np.ones(n, bool)
    free[places] = False
    found = np.empty((n, values.shape[1]))
    found[places] = values
    if free.any():
        open_, fixed = left[:, np.flatnonzero(free)], left[:, places]
        m = (open_.T @ open_).tocsc()
        ridge = max(_RIDGE * float(m.diagonal().mean()), EPS)
        m = m + ridge * scipy.sparse.identity(m.shape[0], format="csc")
        # The ridge draws towards the mean of the landmarks: the result moves as they do.
        middle = values.mean(axis=0)
        right = -(open_.T @ (fixed @ (values - middle)))
        found[free] = splu(m).solve(np.asarray(right)) + middle
    return found
