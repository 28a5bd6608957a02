"""A kernel matrix that is never stored: its tiles are made again for every product."""

import dataclasses
from collections.abc import Callable
from typing import final

import numpy as np

from mercer.arrays import Array, Given, Node, Side, prepare, task, tile
from mercer.operators.kernel_matrices._centred_kernel import (
    CentredKernel,
    KernelSums,
    TileWalk,
    take_out,
)


@final
class KernelTiles(CentredKernel):
    """The centred kernel matrix by tiles I ≤ J that live for one product.

    Y_I += K_IJ·V_J and Y_J += K_IJᵀ·V_I: half of the exponentials, no n×n array. Memory:
    the prepared rows, and 8nb bytes for each thread.

    Parameters
    ----------
    walk : TileWalk
        The tiles.
    sums : KernelSums
        What a walk over all of them has added up; see `kernel_tiles`.
    """

    def __init__(self, walk: TileWalk, sums: KernelSums) -> None:
        self.walk, self.sums, self.direction = walk, sums, walk.direction
        self.shape = (walk.n, walk.n)
        self.like = np.empty((0, 0))
        self.dtype = walk.dtype

    def times(self, v: Array) -> Array:
        """See `CentredKernel.times`: one walk over the tiles."""
        product = _TileProduct(self.walk, v)
        self.walk.run(product.visit)
        return product.total()

    def rows_at(self, rows: Array) -> Callable[[slice], Array]:
        """Return what makes columns (s, c) of some rows of k, as the products see them."""
        walk = self.walk
        other = None if isinstance(walk.program, Given) else walk.side
        few = prepare(walk.program, walk.side.rows[rows], other=other)

        def entries(columns: slice) -> Array:
            found = tile(walk.program, few, walk.side, slice(0, few.n), columns)
            if walk.root is not None:
                found = found * walk.root[rows, None] * walk.root[columns]
            return np.asarray(found)

        return entries


class _TileProduct:
    """k·V summed tile by tile, a sum for each thread; the wide side last, as BLAS likes it.

    V and the sums are cut as the tiles are, each piece in one place of memory.
    """

    def __init__(self, walk: TileWalk, v: Array) -> None:
        self.tiles, b = walk.tiles, v.shape[1]
        pieces = [*self.tiles]
        self.thin = [np.ascontiguousarray(v[piece].T, walk.dtype) for piece in pieces]
        shape = (walk.lanes.count, len(pieces), b, self.tiles.rows)
        self.sums = np.zeros(shape)

    def visit(self, lane: int, i: slice, j: slice, t: Array) -> None:
        """Take in one tile."""
        row, column = i.start // self.tiles.rows, j.start // self.tiles.rows
        self.sums[lane, row, :, : t.shape[0]] += self.thin[column] @ t.T
        if i != j:
            self.sums[lane, column, :, : t.shape[1]] += self.thin[row] @ t

    def total(self) -> Array:
        """Return k·V (n, b) in float64."""
        lanes, _, b, _ = self.sums.shape
        whole = np.empty((self.tiles.n, b))
        for number, part in enumerate(self.tiles):
            piece = self.sums[0, number, :, : part.stop - part.start]
            for lane in range(1, lanes):
                piece += self.sums[lane, number, :, : part.stop - part.start]
            whole[part] = piece.T
        return whole


def kernel_tiles(
    program: Node, side: Side, weights: Array | None, first: Array, *, pd: bool = False
) -> tuple[KernelTiles, Array]:
    """Return the operator and A·`first` (n, b): one walk gives the sums and a product.

    Parameters
    ----------
    program, side, weights
        See `TileWalk`.
    first : ndarray of shape (n, b)
        A block that has no part along r.
    pd : bool
        Whether the kernel is positive definite; less has then to be looked for.
    """
    walk = TileWalk(program, side, weights)
    r = walk.direction
    product = _TileProduct(walk, np.concatenate([first, r[:, None]], axis=1))
    with task("kernel tiles"):
        sums = walk.summed(product.visit, along=False, pd=pd)
    total = product.total()
    sums = dataclasses.replace(sums, along=total[:, -1].copy())
    return KernelTiles(walk, sums), take_out(total[:, :-1], r)
