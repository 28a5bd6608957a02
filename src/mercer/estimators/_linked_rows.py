"""Rows with their graph of neighbours, and what is done about one that falls into pieces."""

import dataclasses
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators._graph_facts import GraphFacts, facts_of
from mercer.operators import Graph, Searcher, graph, one_piece

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

    rows: Any
    searcher: Searcher
    graph: Graph
    facts: GraphFacts
    kept: Array | None = None

    def spread(self, own: Array, rows: Any, place: Callable[[Any], Array] | None) -> Array:
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


def linked(rows: Any, neighbours: int, components: str, metric: str = "euclidean") -> Linked:
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
