"""Shortest paths in a graph from some of its points, by compiled loops where they pay."""

from collections.abc import Iterator

import numpy as np

from mercer.arrays import (
    Array,
    Lanes,
    Tiles,
    can_compile,
    compiled,
    loading_bytes,
    thread_count,
)
from mercer.errors import InputError
from mercer.operators.graphs._graph import Graph, one_piece

_WORTH_LOADING = 1.2e7  # pairs of points from which Numba is loaded for them
_TOGETHER = 16  # sources whose paths are found side by side: two vectors of the processor
_NEAR = 100  # points that are looked at for each source of such a group
_CROWDED = 4  # one source in so many points: fewer have no neighbours to go with


def geodesics(graph: Graph, sources: Array) -> Array:
    """Return shortest paths from some points to all, of shape (s, n).

    s·n numbers and O(s·n·log n) operations; never n² unless all points are sources. By
    SciPy's Dijkstra, or from most points by groups of neighbours, whose paths reach the others
    in nearly one order. Both give the same bits: d_v is the least of d_u + l_uv in float64.

    Parameters
    ----------
    graph : Graph
        With lengths, in one piece.
    sources : array of shape (s,)
        Numbers of the points to start from.
    """
    if graph.lengths is None:
        raise InputError(
            "paths need the lengths of the edges",
            got="a graph of weights alone",
            fix="make it of rows, or of a matrix of lengths",
        )
    one_piece(graph.pieces, "take more neighbours, or work on one piece at a time")
    at, n, edges = np.asarray(sources, np.int64), graph.n, graph.lengths
    worth = len(at) * n >= _WORTH_LOADING or not loading_bytes()
    if worth and _CROWDED * len(at) >= n and can_compile():
        return _by_groups(edges, at)
    from scipy.sparse.csgraph import dijkstra

    # The matrix holds both directions already: walking it as directed saves a transpose.
    return np.asarray(dijkstra(edges, directed=True, indices=at))


def _by_groups(edges: Array, sources: Array) -> Array:
    """Return shortest paths (s, n) from groups of sources that lie near each other."""
    # Unsigned: machine code need not ask if a place counts from the end.
    table = edges.indptr.astype(np.uint64), edges.indices.astype(np.uint64), edges.data
    place = np.full(edges.shape[0], -1)
    place[sources] = np.arange(len(sources))
    order = place[compiled(near_each_other)(*table, place >= 0)]
    found, loop = np.empty((len(sources), edges.shape[0])), compiled(reach_all)
    tiles = Tiles(len(order), _TOGETHER)

    def work(_lane: int, parts: Iterator[slice]) -> None:
        for part in parts:
            rows = order[part]
            loop(*table, sources[rows], rows, found)

    Lanes(min(thread_count(), len(tiles))).over(tiles, work)
    doubled = np.flatnonzero(place[sources] != np.arange(len(sources)))
    found[doubled] = found[place[sources[doubled]]]
    return found


def near_each_other(ends: Array, places: Array, lengths: Array, wanted: Array) -> Array:
    """Return the points that are wanted, so ordered that most groups of sixteen lie together.

    Of those not yet taken, the nearest to the first.
    """
    n = len(ends) - 1
    order, count, left = np.empty(n, np.int64), 0, wanted.copy()
    keys, points = np.empty(len(lengths) + 1), np.empty(len(lengths) + 1, np.int64)
    out, seen = np.full(n, np.inf), np.empty(len(lengths) + 1, np.int64)
    for start in range(n):
        if not left[start]:
            continue
        out[start], keys[0], points[0], size = 0.0, 0.0, start, 1
        seen[0], touched, got, settled = start, 1, 0, 0
        while size > 0 and got < _TOGETHER and settled < _TOGETHER * _NEAR:
            near, point = keys[0], points[0]
            size -= 1
            _sink(keys, points, size)
            if near > out[point]:
                continue
            settled += 1
            if left[point]:
                left[point], order[count] = False, point
                count += 1
                got += 1
            for e in range(ends[point], ends[point + 1]):
                far = near + lengths[e]
                if far < out[places[e]]:
                    out[places[e]] = far
                    _rise(keys, points, size, far, places[e])
                    size += 1
                    seen[touched] = places[e]
                    touched += 1
        for i in range(touched):
            out[seen[i]] = np.inf
    return order[:count]


def reach_all(
    ends: Array, places: Array, lengths: Array, sources: Array, rows: Array, out: Array
) -> None:
    """Write the shortest paths from at most sixteen sources to all points into rows of `out`.

    Dijkstra from the first tells the order in which it reaches the points. In that order each
    hands its distances on, and again where some became shorter after it had.
    """
    n, together = out.shape[1], len(sources)
    order = _settled(ends, places, lengths, sources[0])
    found, waiting, count = np.full((n, _TOGETHER), np.inf), np.zeros(n, np.uint8), 0
    for s in range(together):
        found[sources[s], s] = 0.0
        count += 1 - waiting[sources[s]]
        waiting[sources[s]] = 1
    while count > 0:
        for i in range(n):
            point = order[i]
            if waiting[point] == 0:
                continue
            waiting[point] = 0
            count -= 1
            for e in range(ends[point], ends[point + 1]):
                shorter = _handed_on(found, point, places[e], lengths[e])
                if shorter > 0 and waiting[places[e]] == 0:
                    waiting[places[e]] = 1
                    count += 1
    for s in range(together):
        for i in range(n):
            out[rows[s], i] = found[i, s]


def _handed_on(found: Array, here: int, there: int, length: float) -> int:
    """Take the ways through one point where they are shorter; return how many are."""
    shorter = 0
    for s in range(_TOGETHER):
        far = found[here, s] + length
        less = far < found[there, s]
        found[there, s] = far if less else found[there, s]
        shorter += less
    return shorter


def _settled(ends: Array, places: Array, lengths: Array, source: int) -> Array:
    """Return all points in the order of their distance from one: Dijkstra, with a heap.

    A point that is reached by a shorter way enters the heap once more; what is left of the
    longer ones is passed over.
    """
    n = len(ends) - 1
    keys, points = np.empty(len(lengths) + 1), np.empty(len(lengths) + 1, np.int64)
    out, order, count = np.full(n, np.inf), np.empty(n, np.int64), 0
    out[source], keys[0], points[0], size = 0.0, 0.0, source, 1
    while size > 0:
        near, point = keys[0], points[0]
        size -= 1
        _sink(keys, points, size)
        if near > out[point]:
            continue
        order[count] = point
        count += 1
        for e in range(ends[point], ends[point + 1]):
            far = near + lengths[e]
            if far < out[places[e]]:
                out[places[e]] = far
                _rise(keys, points, size, far, places[e])
                size += 1
    return order


def _sink(keys: Array, points: Array, size: int) -> None:
    """Put the last of the heap, at `size`, in the place of the first, and let it sink."""
    key, point, at, child = keys[size], points[size], 0, 1
    while child < size:
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], points[at] = keys[child], points[child]
        at, child = child, 2 * child + 1
    keys[at], points[at] = key, point


def _rise(keys: Array, points: Array, size: int, key: float, point: int) -> None:
    """Put one more into the heap, at `size`, and let it rise."""
    at = size
    while at > 0 and keys[(at - 1) // 2] > key:
        keys[at], points[at] = keys[(at - 1) // 2], points[(at - 1) // 2]
        at = (at - 1) // 2
    keys[at], points[at] = key, point
