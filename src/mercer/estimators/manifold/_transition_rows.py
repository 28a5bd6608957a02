"""Rows of weights p(x, ·) of new points to the rows of a fit."""

import dataclasses
from collections.abc import Iterator
from typing import final

import numpy as np
import scipy.sparse
from scipy.sparse import csr_matrix

from mercer.arrays import Array, Tiles
from mercer.errors import InputError
from mercer.operators import Neighbours, Searcher, Weighing

_PAIRS = 100_000  # points and rows beside them that are looked at, at a time
_WIDER = (4, 16)  # times k: how far rows are looked for that have the point in their own reach


@final
@dataclasses.dataclass(frozen=True, eq=False)
class GraphRows:
    """The kernel of a graph between new points and the rows it was made of.

    Two points are joined where their distance is within the reach of one of them, or of both;
    the reach of a point is the distance to its k-th neighbour among the rows. So the kernel is
    a function of any two points, and on the rows of the fit it is the graph itself, but for
    ties of distances. Rows of very long reach are looked for among 16k neighbours only.

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
        σ of a new point, where weights are self-tuning and all pairs joined, is its distance
        to this row.
    reach : ndarray of shape (n,) or None
        Distance of each row to its k-th neighbour.
    symmetric : {"union", "mutual", "mean"}
        Whether one reach counts, or both.
    """

    searcher: Searcher
    weighing: Weighing
    neighbours: int | None
    radius: float | None
    loops: bool
    nearest: int
    reach: Array | None = None
    symmetric: str = "union"

    def blocks(self, points: Array) -> Iterator[tuple[slice, Array]]:
        """Yield weights (m, n) of blocks of new points to all rows, an array or CSR."""
        if self.neighbours is None and self.radius is None:
            yield from self._whole(points)
            return
        for part in Tiles(int(points.shape[0]), max(1, _PAIRS // self._looked_at)):
            if self.radius is not None:
                yield part, self._within(points[part])
            else:
                yield part, self._nearest(points[part])

    @property
    def _looked_at(self) -> int:
        """Rows that a point is compared with at most."""
        n = self.searcher.n
        return n if self.neighbours is None else min(n, _WIDER[1] * self.neighbours + 1)

    def at(self, data: Array, rows: Array) -> "GraphRows":
        """Return the same kernel to some of the rows only; `data` holds all of them."""
        old, rule = self.searcher, self.weighing
        some = Searcher(data[rows], metric=old.metric, threads=old.threads, search=old.search)
        scales = None if rule.scales is None else rule.scales[rows]
        reach = None if self.reach is None else self.reach[rows]
        weighing = dataclasses.replace(rule, scales=scales)
        return dataclasses.replace(self, searcher=some, weighing=weighing, reach=reach)

    def _whole(self, points: Array) -> Iterator[tuple[slice, Array]]:
        for part, apart in self.searcher.distances(points):
            own = None
            if self.weighing.scales is not None:
                far = self.searcher.query(points[part], self.nearest + 1).distances[:, -1]
                own = np.where(far > 0, far, self.weighing.scale)
            weights = self.weighing.of_block(apart, own)
            if not self.loops:
                at = np.argmin(apart, axis=1)
                weights[np.arange(len(apart)), at] *= np.min(apart, axis=1) > 0
            yield part, weights

    def _within(self, points: Array) -> csr_matrix:
        lengths = self.searcher.within(points, float(self.radius or 0.0))
        own = None
        if self.weighing.scales is not None:
            far = np.asarray(lengths.max(axis=1).todense()).ravel()
            own = np.where(far > 0, far, self.weighing.scale)
        return self._weighed(lengths, own)

    def _nearest(self, points: Array) -> csr_matrix:
        k, n, reach = self.neighbours, self.searcher.n, self.reach
        assert k is not None
        assert reach is not None
        longest = float(np.max(reach))
        near = self.searcher.query(points, min(n, _WIDER[0] * k + 1))
        weights = self._joined(near, k, reach)
        if near.indices.shape[1] == n or self.symmetric == "mutual":
            return weights
        # Beyond the rows looked at there may be some that reach as far as the point.
        short = np.flatnonzero(near.distances[:, -1] < longest)
        if short.size:
            more = self.searcher.query(points[short], min(n, _WIDER[1] * k + 1))
            weights = _replaced(weights, short, self._joined(more, k, reach))
        return weights

    def _joined(self, near: Neighbours, k: int, reach: Array) -> csr_matrix:
        """Return the weights (m, n) of points to those of the rows that are joined to them."""
        distances, indices = near.distances, near.indices
        # A row of the fit is its own first neighbour: one more than k for every point.
        own = distances[:, min(k, distances.shape[1] - 1)]
        mine, theirs = distances <= own[:, None], distances <= reach[indices]
        keep = (mine & theirs) if self.symmetric == "mutual" else (mine | theirs)
        ends = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
        shape = (len(distances), self.searcher.n)
        lengths = csr_matrix((distances[keep], indices[keep], ends), shape=shape)
        scale = np.where(own > 0, own, self.weighing.scale)
        if self.symmetric == "mean":
            half = 0.5 * (mine.astype(np.float64) + theirs)[keep]
            part = csr_matrix((half, indices[keep], ends), shape=shape)
            return self._weighed(lengths, scale).multiply(part).tocsr()
        return self._weighed(lengths, scale)

    def _weighed(self, lengths: csr_matrix, own: Array) -> csr_matrix:
        return self.weighing.applied(lengths if self.loops else _without_self(lengths), own)


def averaged(weights: Array, column: Array | None, functions: Array, first: int) -> Array:
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


def in_one_piece(weights: Array, labels: Array, count: int) -> csr_matrix:
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
    csr = csr_matrix(weights)
    known = np.flatnonzero(labels >= 0)
    parts = (np.ones(len(known)), (known, labels[known]))
    each = csr @ csr_matrix(parts, shape=(len(labels), count))
    best = np.asarray(each.argmax(axis=1)).ravel()
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    keep = labels[csr.indices] == best[rows]
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=csr.shape[0]))])
    return csr_matrix((csr.data[keep], csr.indices[keep], ends), shape=csr.shape)


def _replaced(weights: csr_matrix, rows: Array, others: csr_matrix) -> csr_matrix:
    """Return the CSR matrix with some rows in place of its own."""
    order = np.arange(weights.shape[0])
    order[rows] = weights.shape[0] + np.arange(len(rows))
    return scipy.sparse.vstack([weights, others], format="csr")[order]


def _without_self(lengths: csr_matrix) -> csr_matrix:
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
    return csr_matrix(parts, shape=lengths.shape)
