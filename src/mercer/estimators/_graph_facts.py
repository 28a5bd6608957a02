"""What a graph of rows is like, in numbers that a reader can judge it by."""

import dataclasses
from typing import final

import numpy as np

from mercer.operators import Graph

_MOST = 50  # isolated points and sizes that are listed


@final
@dataclasses.dataclass(frozen=True)
class GraphFacts:
    """Facts of a graph.

    Attributes
    ----------
    points, edges : int
        Points, and edges between two of them, each counted once.
    pieces : tuple of int
        Sizes of the connected pieces, largest first; at most 50 are listed.
    piece_count : int
        How many pieces there are.
    isolated : tuple of int
        Numbers of the points without an edge; at most 50 are listed.
    isolated_count : int
        How many there are.
    fewest, typical, most : float
        Least, median and largest number of edges at a point.
    least_degree, largest_degree : float
        Range of the sums of weights, loops included.
    duplicates : int or None
        Rows that stand more than once; None where no lists of neighbours were made.
    scale : float or None
        σ of heat weights, otherwise the median length of an edge; None for given graphs.
    left_out : int
        Points outside the piece that was embedded.
    """

    points: int
    edges: int
    pieces: tuple[int, ...]
    piece_count: int
    isolated: tuple[int, ...]
    isolated_count: int
    fewest: float
    typical: float
    most: float
    least_degree: float
    largest_degree: float
    duplicates: int | None
    scale: float | None
    left_out: int = 0


def facts_of(graph: Graph, left_out: int = 0) -> GraphFacts:
    """Return the facts of a graph.

    Parameters
    ----------
    graph : Graph
        All of it, before a piece was chosen.
    left_out : int
        Points outside the piece that was embedded.
    """
    w = graph.weights
    loops = (w.diagonal() > 0).astype(np.int64)
    if isinstance(w, np.ndarray):
        counts = np.count_nonzero(w, axis=1) - loops
    else:
        counts = np.diff(w.indptr) - loops
    degrees = graph.degrees
    return GraphFacts(
        points=graph.n,
        edges=graph.edges,
        pieces=tuple(int(size) for size in graph.pieces.sizes[:_MOST]),
        piece_count=graph.pieces.count,
        isolated=tuple(int(i) for i in graph.isolated[:_MOST]),
        isolated_count=len(graph.isolated),
        fewest=float(np.min(counts)),
        typical=float(np.median(counts)),
        most=float(np.max(counts)),
        least_degree=float(np.min(degrees)),
        largest_degree=float(np.max(degrees)),
        duplicates=None if graph.neighbours is None else graph.neighbours.duplicates,
        scale=None if graph.weighing is None else graph.weighing.scale,
        left_out=left_out,
    )
