"""Rows of weights p(x, ·) of new points to the rows of a fit."""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.operators import Searcher, Weighing

_BLOCK = 20_000  # points whose neighbours are looked up at a time


@final
@dataclasses.dataclass(frozen=True, eq=False)
class GraphRows:
    """The kernel of a graph between new points and the rows it was made of.

    Attributes
    ----------
    searcher : Searcher
        Holds the rows.
    weighing : Weighing
        How weights follow from distances.
    neighbours : int or None
        k; None with `radius` None joins all pairs.
    radius : float or None
        Then all rows within it count.
    loops : bool
        Whether a point is a neighbour of itself; otherwise a row at distance zero is left out.
    nearest : int
        σ of a new point, where weights are self-tuning, is its distance to this row.
    """

    searcher: Searcher
    weighing: Weighing
    neighbours: int | None
    radius: float | None
    loops: bool
    nearest: int

    def blocks(self, points: Any) -> Iterator[tuple[slice, Any]]:
        """Yield weights (m, n) of blocks of new points to all rows, an array or CSR."""
        if self.neighbours is None and self.radius is None:
            for part, apart in self.searcher.distances(points):
                weights = self.weighing.of_block(apart, self._own(points[part]))
                if not self.loops:
                    weights[np.arange(len(apart)), np.argmin(apart, axis=1)] *= (
                        np.min(apart, axis=1) > 0
                    )
                yield part, weights
            return
        for start in range(0, int(points.shape[0]), _BLOCK):
            part = slice(start, min(start + _BLOCK, int(points.shape[0])))
            lengths = self._lengths(points[part])
            if not self.loops:
                lengths = _without_self(lengths)
            yield part, self.weighing.applied(lengths, self._own(points[part]))

    def at(self, data: Any, rows: Array) -> "GraphRows":
        """Return the same kernel to some of the rows only; `data` holds all of them."""
        old, rule = self.searcher, self.weighing
        some = Searcher(data[rows], metric=old.metric, threads=old.threads, search=old.search)
        scales = None if rule.scales is None else rule.scales[rows]
        weighing = dataclasses.replace(rule, scales=scales)
        return dataclasses.replace(self, searcher=some, weighing=weighing)

    def _lengths(self, points: Any) -> Any:
        """Return distances of new points to their neighbours (m, n), zeros stored."""
        if self.radius is not None:
            return self.searcher.within(points, self.radius)
        assert self.neighbours is not None
        # A row of the fit is its own first neighbour: one more than k for every point.
        near = self.searcher.query(points, self.neighbours + 1)
        m, k = near.indices.shape
        ends = np.arange(m + 1) * k
        parts = (near.distances.ravel(), near.indices.ravel(), ends)
        return scipy.sparse.csr_matrix(parts, shape=(m, self.searcher.n))

    def _own(self, points: Any) -> Array | None:
        """Return σ (m,) of new points, where weights are self-tuning."""
        if self.weighing.scales is None:
            return None
        far = self.searcher.query(points, self.nearest + 1).distances[:, -1]
        return np.where(far > 0, far, self.weighing.scale)


def averaged(weights: Any, column: Array | None, functions: Array, first: int) -> Array:
    """Return Σ_j p(x, x_j)·f(x_j), p the weights divided by their sum, of shape (m, k).

    Parameters
    ----------
    weights : CSR matrix or array of shape (m, n)
        w(x, x_j).
    column : ndarray of shape (n,) or None
        Factors of the columns, such as q_j^-α.
    functions : ndarray of shape (n, k)
        f on the rows of the fit.
    first : int
        Number of the first point, for messages.
    """
    factor = np.ones(len(functions)) if column is None else column
    totals = np.asarray(weights @ factor).ravel()
    empty = np.flatnonzero(~(totals > 0))
    if empty.size:
        raise InputError(
            "a new point without a neighbour has no coordinates",
            got=f"row {first + int(empty[0])} weighs nothing to all {len(functions):,} rows"
            f" ({empty.size:,} such rows)",
            fix="leave such rows out, or fit with a larger scale, radius or more neighbours",
        )
    return np.asarray(weights @ (factor[:, None] * functions)) / totals[:, None]


def in_one_piece(weights: Any, labels: Array, count: int) -> Any:
    """Return the weights of each new point to the rows of one piece: where most of it lies.

    Parameters
    ----------
    weights : CSR matrix or array of shape (m, n)
        w(x, x_j).
    labels : ndarray of shape (n,)
        The piece of each row; rows with -1 have no coordinates, and count nowhere.
    count : int
        How many pieces there are.
    """
    csr = scipy.sparse.csr_matrix(weights)
    known = np.flatnonzero(labels >= 0)
    parts = (np.ones(len(known)), (known, labels[known]))
    each = csr @ scipy.sparse.csr_matrix(parts, shape=(len(labels), count))
    best = np.asarray(each.argmax(axis=1)).ravel()
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    keep = labels[csr.indices] == best[rows]
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=csr.shape[0]))])
    return scipy.sparse.csr_matrix((csr.data[keep], csr.indices[keep], ends), shape=csr.shape)


def _without_self(lengths: Any) -> Any:
    """Return the CSR matrix without the first zero of each row: the point itself."""
    rows = np.repeat(np.arange(lengths.shape[0]), np.diff(lengths.indptr))
    zero = np.flatnonzero(lengths.data == 0)
    first = zero[np.unique(rows[zero], return_index=True)[1]]
    keep = np.ones(lengths.nnz, bool)
    keep[first] = False
    counts = np.bincount(rows[keep], minlength=lengths.shape[0])
    parts = (
        lengths.data[keep],
        lengths.indices[keep],
        np.concatenate([[0], np.cumsum(counts)]),
    )
    return scipy.sparse.csr_matrix(parts, shape=lengths.shape)
