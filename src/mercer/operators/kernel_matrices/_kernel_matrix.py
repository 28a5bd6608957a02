"""A stored kernel matrix, built by symmetric tiles and centred by its products."""

from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Node, Side, Tiles, symmetric_times, task
from mercer.operators.kernel_matrices._centred_kernel import CentredKernel, KernelSums, TileWalk

_ROWS = 512  # of the stored matrix that are centred in one go
_LARGE = 4000  # rows from which a part of the matrix gives a first idea of its axes
_TASTE = 8  # one row in so many


@final
class KernelMatrix(CentredKernel):
    """The centred kernel matrix with k held as an array: 2n²b flops a product.

    Parameters
    ----------
    k : ndarray of shape (n, n)
        D_√w·K·D_√w, float64 or float32.
    direction : ndarray of shape (n,)
        r.
    sums : KernelSums
        Trace, Frobenius norm and k·r.
    """

    def __init__(self, k: Array, direction: Array, sums: KernelSums) -> None:
        self.k, self.direction, self.sums = k, direction, sums
        self.shape = (int(k.shape[0]), int(k.shape[0]))
        self.like = np.empty((0, 0))
        self.dtype = k.dtype

    def times(self, v: Array) -> Array:
        """See `CentredKernel.times`."""
        return symmetric_times(self.k, v)

    def rows_at(self, rows: Array) -> Callable[[slice], Array]:
        """Return what copies columns (s, c) of some rows of k, piece by piece."""
        return lambda columns: np.asarray(self.k[rows, columns])

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: every eighth row of a large matrix."""
        q = self.project(q)
        if self.shape[0] < _LARGE:
            return q
        few = np.ascontiguousarray(q[::_TASTE].T, self.dtype)
        return self.project(np.asarray((few @ self.k[::_TASTE]).T, np.float64))

    def dense(self) -> Array:
        """See `Operator.dense`."""
        return self._centred(self.k.astype(np.float64))

    def consume(self, below: float = 0.0) -> Array:
        """Return A - below·rrᵀ, written over the stored matrix where that is float64.

        A has the eigenvalue 0 along r, which carries no variance; `below` moves it away from
        the others, so that no solver mixes it with them.
        """
        k, self.k, self.consumed = self.k, None, True
        return self._centred(np.asarray(k, np.float64), below)

    def _centred(self, a: Array, below: float = 0.0) -> Array:
        for part in Tiles(self.shape[0], _ROWS):
            a[part] -= self._levels(part)
            if below:
                a[part] -= (below * self.direction[part])[:, None] * self.direction
        return a

    def _levels(self, part: slice) -> Array:
        """Return what centring takes from some rows: r·mᵀ + m·rᵀ with m = kr - ½(rᵀkr)r.

        As one product of two columns with two rows.
        """
        r = self.direction
        mean = self.sums.along - 0.5 * float(r @ self.sums.along) * r
        left = np.stack([r[part], mean[part]], axis=1)
        return np.asarray(left @ np.stack([mean, r]))

    def measured_squares(self) -> float:
        """Return ‖A‖²_F entry by entry: one reading of the matrix."""
        tiles, total = Tiles(self.shape[0], _ROWS), 0.0
        for part in tiles:
            rows = self.k[part] - self._levels(part)
            total += float(np.vdot(rows, rows))
        return total


def kernel_matrix(
    program: Node,
    side: Side,
    weights: Array | None = None,
    dtype: Any = np.float64,
) -> KernelMatrix:
    """Return the stored matrix of a program: tiles I ≤ J only, each written twice.

    One pass: n²p flops for a kernel of products or distances, and half the exponentials.
    Trace, Frobenius norm and k·r are summed on the way.

    Parameters
    ----------
    program : Node
        The kernel.
    side : Side
        The rows, prepared for it.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    dtype : dtype
        float64, or float32 to halve the memory.
    """
    walk = TileWalk(program, side, weights)
    k = np.empty((walk.n, walk.n), dtype)

    def store(_lane: int, i: slice, j: slice, t: Array) -> None:
        k[i, j] = t
        if i != j:
            k[j, i] = t.T

    with task("kernel matrix"):
        return KernelMatrix(k, walk.direction, walk.summed(store))


def given_kernel_matrix(k: Array) -> KernelMatrix:
    """Return the operator of a symmetric float64 matrix (n, n) that is there: no copy.

    One reading sums what certificates need.
    """
    n = int(k.shape[0])
    tiles, along = Tiles(n, _ROWS), np.empty(n)
    squares, largest = 0.0, 0.0
    direction = np.full(n, n**-0.5)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told later
        for number in range(len(tiles)):
            rows = k[tiles[number]]
            along[tiles[number]] = rows @ direction
            squares += float(np.vdot(rows, rows))
            largest = max(largest, float(rows.max()), -float(rows.min()))
    sums = KernelSums(along, squares, float(np.trace(k)), largest)
    return KernelMatrix(k, direction, sums)
