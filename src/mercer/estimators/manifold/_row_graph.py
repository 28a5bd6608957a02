"""Rows with their graph of neighbours, and what is done about one that falls into pieces.

What a graph of rows is like, in numbers that a reader can judge it by.
"""

import dataclasses
from collections.abc import Callable
from typing import final

import numpy as np

from mercer.arrays import Array, give_back
from mercer.errors import DataWarning, InputError, warn
from mercer.operators import Graph, Searcher, graph, one_piece

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


COMPONENTS = ("raise", "largest", "place")


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Linked:
    """Rows with their graph of neighbours, in one piece.

    Attributes
    ----------
    rows : array or CSR matrix of shape (n, p)
        The rows of the graph.
    searcher : Searcher
        Finds neighbours among them.
    graph : Graph
        In one piece.
    facts : GraphFacts
        Of the graph of all rows.
    kept : ndarray of shape (n,) or None
        Which rows these are, where others were left out.
    """

    rows: Array
    searcher: Searcher
    graph: Graph
    facts: GraphFacts
    kept: Array | None = None

    def spread(self, own: Array, rows: Array, place: Callable[[Array], Array] | None) -> Array:
        """Return coordinates of all rows from those of the piece (n, k).

        Parameters
        ----------
        own : ndarray of shape (n, k)
            Coordinates of the piece.
        rows : array or CSR matrix of shape (N, p)
            All rows.
        place : callable or None
            Places rows outside the piece; None leaves them at NaN.
        """
        if self.kept is None:
            return own
        found = np.full((int(rows.shape[0]), own.shape[1]), np.nan)
        found[self.kept] = own
        if place is not None:
            others = np.ones(len(found), bool)
            others[self.kept] = False
            found[others] = place(rows[others])
        return found


def linked(rows: Array, neighbours: int, components: str, metric: str = "euclidean") -> Linked:
    """Return rows with their graph; pieces are refused, or the largest is taken.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, p)
        Finite rows.
    neighbours : int
        k < n; an edge joins a row to each of its k nearest others.
    components : {"raise", "largest", "place"}
        What is done about several pieces: they are refused, or the largest is taken and the
        rows outside it have NaN, or are placed by it.
    metric : str
        See `Searcher`.
    """
    n = int(rows.shape[0])
    if neighbours >= n:
        raise InputError(
            f"a row has only {n - 1} others: so many neighbours it cannot have",
            got=f"neighbours = {neighbours}, n_samples = {n}, n_features = {rows.shape[1]}",
            fix=f"take neighbours={max(1, min(10, n - 1))}, or more rows",
        )
    searcher = Searcher(rows, metric=metric)
    found = graph(rows, neighbours, self_loops=False, searcher=searcher)
    if components == "raise":
        fix = 'take more neighbours, or components="largest" or "place"'
        one_piece(found.pieces, fix)
    give_back()  # what the search has used, before a matrix is made
    if found.pieces.count == 1:
        return Linked(rows, searcher, found, facts_of(found))
    kept = found.pieces.rows(0)
    if len(kept) <= neighbours:
        one_piece(found.pieces, "take more neighbours: no piece has enough rows")
    left_out = n - len(kept)
    warn(
        f"only the largest piece of the graph is embedded; {left_out:,} rows "
        + ("are placed by it" if components == "place" else "have NaN"),
        got=str(found.pieces),
        fix="take more neighbours, or embed each piece by itself",
        category=DataWarning,
    )
    facts = facts_of(found, left_out)
    rows = rows[kept]
    searcher = Searcher(rows, metric=metric)
    found = graph(rows, neighbours, self_loops=False, searcher=searcher)
    return Linked(rows, searcher, found, facts, kept)
