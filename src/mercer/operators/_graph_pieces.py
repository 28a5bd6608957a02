"""Pieces of a graph: which points hang together, how many, and which stand alone."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError

_SHOWN = 6  # sizes and points that a message names


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Pieces:
    """The connected pieces of a graph, largest first.

    Attributes
    ----------
    labels : ndarray of shape (n,), int32
        The piece of each point; 0 is the largest.
    sizes : ndarray of shape (pieces,)
        Points of each piece, descending.
    isolated : ndarray
        Points without an edge to another.
    """

    labels: Array
    sizes: Array
    isolated: Array

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self.sizes)

    def rows(self, piece: int) -> Array:
        """Return the numbers of the points of one piece."""
        return np.flatnonzero(self.labels == piece)

    def __str__(self) -> str:
        """Return the sizes and the isolated points in one sentence."""
        if self.count == 1:
            return f"one piece of {self.sizes[0]:,} points"
        text = f"{self.count:,} pieces of {_first(self.sizes)} points"
        if len(self.isolated):
            text += f"; {len(self.isolated):,} isolated: rows {_first(self.isolated)}"
        return text


def pieces_of(weights: Any) -> Pieces:
    """Return the connected pieces of a symmetric CSR matrix; loops join nothing."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(weights, directed=False)
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    labels = rank[labels].astype(np.int32)
    sizes = sizes[order]
    return Pieces(labels, sizes, np.flatnonzero(sizes[labels] == 1))


def one_whole(n: int) -> Pieces:
    """Return the pieces of a graph on n points that is known to hang together."""
    none = np.zeros(0, np.int64) if n > 1 else np.zeros(1, np.int64)
    return Pieces(np.zeros(n, np.int32), np.array([n]), none)


def one_piece(pieces: Pieces, fix: str) -> None:
    """Refuse a graph in several pieces, naming their sizes and the isolated points."""
    if pieces.count > 1:
        raise InputError("the graph falls into pieces", got=str(pieces), fix=fix)


def _first(numbers: Array) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:_SHOWN])
    return shown + (", ..." if len(numbers) > _SHOWN else "")
