"""Shortest paths for Isomap: from landmarks, and from new points through the graph."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, task
from mercer.operators import Graph, geodesics

_CELLS = 4_000_000  # distances that are held at once while new points are placed


def farthest(graph: Graph, m: int, seed: int) -> tuple[Array, Array]:
    """Return m points, each the farthest from those before, and their paths (m, n).

    The choice costs nothing beside the paths, which are needed anyway. Points at distance
    zero from a landmark are chosen last; where only such are left the choice ends.
    """
    n = graph.n
    at = np.empty(m, np.int64)
    at[0] = np.random.default_rng(seed).integers(n)
    found = np.empty((m, n))
    nearest = np.full(n, np.inf)
    with task("landmarks"):
        for i in range(m):
            found[i] = geodesics(graph, at[i : i + 1])[0]
            np.minimum(nearest, found[i], out=nearest)
            if i + 1 == m or float(nearest.max()) == 0.0:
                break
            at[i + 1] = int(np.argmax(nearest))
    return at[: i + 1], found[: i + 1]


def at_random(graph: Graph, m: int, seed: int) -> tuple[Array, Array]:
    """Return m points drawn alike, in the order of the rows, and their paths (m, n)."""
    at = np.sort(np.random.default_rng(seed).choice(graph.n, m, replace=False))
    return at, geodesics(graph, at)


def through(lengths: Any, indices: Array, distances: Array) -> Array:
    """Return shortest paths (r, n) of new points, each linked to k known ones.

    A search starts from every new point; edges lead from it to its neighbours and not back,
    so that paths go through known points only.

    Parameters
    ----------
    lengths : CSR matrix of shape (n, n)
        The graph of the known points, zeros stored.
    indices, distances : ndarray of shape (r, k)
        The links.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import dijkstra

    n, (r, k) = lengths.shape[0], indices.shape
    ends = np.concatenate([lengths.indptr, lengths.indptr[-1] + k * np.arange(1, r + 1)])
    data = np.concatenate([lengths.data, distances.ravel()])
    columns = np.concatenate([lengths.indices, indices.ravel()])
    whole = scipy.sparse.csr_matrix((data, columns, ends), shape=(n + r, n + r))
    return np.asarray(dijkstra(whole, directed=True, indices=np.arange(n, n + r)))[:, :n]


def by_landmarks(paths: Array, indices: Array, distances: Array) -> Array:
    """Return distances (r, m) of new points to m landmarks over their k neighbours.

    Parameters
    ----------
    paths : ndarray of shape (m, n)
        Shortest paths from the landmarks to all known points.
    indices, distances : ndarray of shape (r, k)
        The links of the new points.
    """
    found = np.full((len(indices), len(paths)), np.inf)
    for j in range(indices.shape[1]):
        np.minimum(found, paths[:, indices[:, j]].T + distances[:, j, None], out=found)
    return found


def tiles_of(rows: int, width: int) -> Tiles:
    """Return blocks of rows whose distances to `width` points may be held at once."""
    return Tiles(rows, max(1, min(rows, _CELLS // max(width, 1))))


def residual_variances(paths: Array, sources: Array, embedding: Array) -> Array:
    """Return 1 - R² (k,) between path lengths and straight distances on 1, 2, … k axes.

    Parameters
    ----------
    paths : ndarray of shape (s, n)
        Shortest paths from some points to all.
    sources : ndarray of shape (s,)
        Which points these are.
    embedding : ndarray of shape (n, k)
        The coordinates.
    """
    k, middle = embedding.shape[1], float(paths.mean())  # both are taken from about there
    sums = np.zeros((k, 5))
    for source, path in zip(sources, paths, strict=True):  # a row at a time: n numbers
        x, squared = path - middle, np.zeros(len(path))
        for axis in range(k):
            squared += (embedding[source, axis] - embedding[:, axis]) ** 2
            y = np.sqrt(squared) - middle
            sums[axis] += x.sum(), y.sum(), x @ x, y @ y, x @ y
    sx, sy, xx, yy, xy = sums.T
    xx, yy, xy = (
        s - a * b / paths.size for s, a, b in ((xx, sx, sx), (yy, sy, sy), (xy, sx, sy))
    )
    spread = yy > 1e-12 * xx
    return np.where(spread, np.maximum(1.0 - xy**2 / np.where(spread, xx * yy, 1.0), 0.0), 1.0)
