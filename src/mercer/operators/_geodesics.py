"""Geodesic distances: shortest paths along the edges of a graph."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.operators._graph import Graph
from mercer.operators._graph_pieces import one_piece


def geodesics(graph: Graph, sources: Any) -> Array:
    """Return shortest paths from some points to all, of shape (s, n), by Dijkstra.

    s·n numbers and O(s·n·log n) operations; never n² unless all points are sources.

    Parameters
    ----------
    graph : Graph
        With lengths, in one piece.
    sources : array of shape (s,)
        Numbers of the points to start from.
    """
    from scipy.sparse.csgraph import dijkstra

    if graph.lengths is None:
        raise InputError(
            "paths need the lengths of the edges",
            got="a graph of weights alone",
            fix="make it of rows, or of a matrix of lengths",
        )
    one_piece(graph.pieces, "take more neighbours, or work on one piece at a time")
    at = np.asarray(sources, np.int64)
    # The matrix holds both directions already: walking it as directed saves a transpose.
    return np.asarray(dijkstra(graph.lengths, directed=True, indices=at))
