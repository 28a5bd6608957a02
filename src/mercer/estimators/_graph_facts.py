"""What a graph of neighbours is like, and what is done about one that falls into pieces."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.operators import Graph, Searcher, graph, one_piece

COMPONENTS = ("raise", "largest")
_NAMED = 20  # isolated points whose numbers are kept


@final
@dataclasses.dataclass(frozen=True)
class GraphFacts:
    """The graph of neighbours in numbers.

    Attributes
    ----------
    points, edges : int
        Points, and edges between two of them.
    sizes : tuple of int
        Points of each connected piece, largest first; one number is what is hoped for.
    isolated : tuple of int
        The first points that have no edge, by number.
    least_degree, most_degree : int
        Fewest and most edges of a point: many edges at one point make it a hub.
    duplicates : int
        Points that have another one in the same place.
    longest_edge : float
        Length of the longest edge; one far longer than the others is a short cut.
    median_edge : float
        Length of an ordinary edge.
    left_out : int
        Points outside the piece that was embedded.
    """

    points: int
    edges: int
    sizes: tuple[int, ...]
    isolated: tuple[int, ...]
    least_degree: int
    most_degree: int
    duplicates: int
    longest_edge: float
    median_edge: float
    left_out: int = 0

    def __str__(self) -> str:
        """Return the facts in one line."""
        pieces = "one piece" if len(self.sizes) == 1 else f"{len(self.sizes):,} pieces"
        return (
            f"graph: {self.points:,} points, {self.edges:,} edges, {pieces},"
            f" {self.least_degree} to {self.most_degree} neighbours,"
            f" {self.duplicates:,} duplicates"
        )


def graph_facts(found: Graph, left_out: int = 0) -> GraphFacts:
    """Return the facts of a graph with lengths."""
    counts = np.diff(found.lengths.indptr)
    lengths = found.lengths.data
    return GraphFacts(
        points=found.n,
        edges=found.edges,
        sizes=tuple(int(size) for size in found.pieces.sizes),
        isolated=tuple(int(row) for row in found.isolated[:_NAMED]),
        least_degree=int(counts.min()),
        most_degree=int(counts.max()),
        duplicates=0 if found.neighbours is None else found.neighbours.duplicates,
        longest_edge=float(lengths.max(initial=0.0)),
        median_edge=float(np.median(lengths)) if len(lengths) else 0.0,
        left_out=left_out,
    )


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

    rows: Any
    searcher: Searcher
    graph: Graph
    facts: GraphFacts
    kept: Array | None = None


def linked(rows: Any, neighbours: int, components: str, metric: str = "euclidean") -> Linked:
    """Return rows with their graph; pieces are refused, or all but the largest left out.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, p)
        Finite rows.
    neighbours : int
        k < n; an edge joins a row to each of its k nearest others.
    components : {"raise", "largest"}
        What is done about several pieces.
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
        one_piece(found.pieces, 'take more neighbours, or components="largest"')
    if found.pieces.count == 1:
        return Linked(rows, searcher, found, graph_facts(found))
    kept = found.pieces.rows(0)
    if len(kept) <= neighbours:
        one_piece(found.pieces, "take more neighbours: no piece has enough rows")
    left_out = n - len(kept)
    warn(
        f"only the largest piece of the graph is embedded; {left_out:,} rows are placed by it",
        got=str(found.pieces),
        fix="take more neighbours, or embed each piece by itself",
        category=DataWarning,
    )
    facts = graph_facts(found, left_out)
    rows = rows[kept]
    searcher = Searcher(rows, metric=metric)
    found = graph(rows, neighbours, self_loops=False, searcher=searcher)
    return Linked(rows, searcher, found, facts, kept)
