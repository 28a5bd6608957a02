"""A kernel matrix that is never stored: its tiles are made again for every product."""

from typing import final

import numpy as np

from mercer.arrays import Array, Node, Side, task, tile
from mercer.operators._centred_kernel import CentredKernel, Sums, Walk


@final
class KernelTiles(CentredKernel):
    """The centred kernel matrix by tiles I ≤ J that live for one product.

    Y_I += K_IJ·V_J and Y_J += K_IJᵀ·V_I: half of the exponentials, no n×n array. Memory:
    the prepared rows, and 8nb bytes for each thread.

    Parameters
    ----------
    walk : Walk
        The tiles.
    sums : Sums
        What a walk over all of them has added up; see `kernel_tiles`.
    """

    def __init__(self, walk: Walk, sums: Sums) -> None:
        self.walk, self.sums, self.direction = walk, sums, walk.direction
        self.shape = (walk.n, walk.n)
        self.like = np.empty((0, 0))
        self.dtype = walk.dtype

    def times(self, v: Array) -> Array:
        """See `CentredKernel.times`: one walk over the tiles."""
        product = _Product(self.walk, v)
        self.walk.run(product.visit)
        return product.total()

    def entries(self, rows: Array, columns: slice) -> Array:
        """Return k[rows, columns] as the products see it, (s, c)."""
        walk = self.walk
        parts = [slice(int(row), int(row) + 1) for row in rows]
        made = [tile(walk.program, walk.side, walk.side, part, columns) for part in parts]
        found = np.concatenate(made)
        if walk.root is not None:
            found = found * walk.root[rows, None] * walk.root[columns]
        return np.asarray(found)


class _Product:
    """k·V summed tile by tile, a sum for each thread; the wide side last, as BLAS likes it."""

    def __init__(self, walk: Walk, v: Array) -> None:
        self.thin = np.ascontiguousarray(v.T, walk.dtype)
        self.sums = [np.zeros(self.thin.shape) for _ in range(walk.lanes.count)]

    def visit(self, lane: int, i: slice, j: slice, t: Array) -> None:
        """Take in one tile."""
        self.sums[lane][:, i] += self.thin[:, j] @ t.T
        if i != j:
            self.sums[lane][:, j] += self.thin[:, i] @ t

    def total(self) -> Array:
        """Return k·V (n, b) in float64."""
        first = self.sums[0]
        for other in self.sums[1:]:
            first += other
        return first.T


def kernel_tiles(
    program: Node, side: Side, weights: Array | None, first: Array
) -> tuple[KernelTiles, Array]:
    """Return the operator and A·`first` (n, b): one walk gives the sums and a product.

    Parameters
    ----------
    program, side, weights
        See `Walk`.
    first : ndarray of shape (n, b)
        A block that has no part along r.
    """
    walk = Walk(program, side, weights)
    product = _Product(walk, first)
    with task("kernel tiles"):
        sums = walk.summed(product.visit)
    op = KernelTiles(walk, sums)
    return op, op.project(product.total())
