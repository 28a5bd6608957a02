"""The Gram matrix of sparse columns: full columns as dense blocks, thin ones as they are.

Counts have few full columns and many thin ones. With the columns split into heavy H and
light L, XᵀX = [[HᵀH, HᵀL], [LᵀH, LᵀL]]: BLAS does the first, which holds most of the work,
sparse products do the rest. Where Numba is installed, a loop over all pairs of stored cells
takes half that time unless most columns are full.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, task, thread_count
from mercer.operators._compiled_gram import compiled_gram
from mercer.operators._csr import in_dtype, parted
from mercer.operators._light_pairs import add_pairs, mirror
from mercer.operators._sparse_split import EXACT, Sample, Split, is_whole

_STRIP = 256  # rows or columns that are moved at once
_STRIP_BYTES = 1600  # of a row of H that sparse columns are multiplied with at once


def sparse_gram(csr: Any, root: Array | None) -> tuple[Array, Tiles]:
    """Return XᵀWX (p, p) in float64 and the row blocks whose sums it is made of.

    Blocks of whole numbers whose sums stay below 2^24 are multiplied in float32, which is
    then exact and takes half the time; all others in float64.

    Parameters
    ----------
    csr : CSR array of shape (n, p)
        X; it is not densified but for the heavy columns of one block of rows at a time.
    root : ndarray of shape (n,) or None
        √w, the roots of the row weights.
    """
    n, p = csr.shape
    split = Split.of(Sample.of(csr), n, root is not None)
    if split.compiled:
        return compiled_gram(csr, root), Tiles(n, n)
    h, threads = split.heavy, split.lanes(thread_count())
    tiles = Tiles(n, split.block_rows(n, csr.nnz, threads))
    rank = np.empty(p, csr.indices.dtype)
    rank[split.order] = np.arange(p, dtype=rank.dtype)
    lanes = Lanes(threads)
    heavy = [_Heavy(p, h, tiles.rows, split.exact_rows > 0) for _ in range(threads)]
    total = np.zeros((p, p))
    turn = max(threads, int(split.held_cells(csr.nnz) / (tiles.rows * max(split.light, 1e-9))))
    with task("rows"):
        for start in range(0, len(tiles), turn):
            thin = _walk(csr, root, rank, tiles, range(start, len(tiles))[:turn], heavy, lanes)
            if h < p:
                add_pairs(total[h:, h:], thin, lanes)
    mirror(total[h:, h:])
    while heavy:
        sums = heavy.pop().sums
        total[:h, :h] += sums[:h]
        total[h:, :h] += sums[h:]
    total[:h, h:] = total[h:, :h].T
    _reorder(total, rank)
    return total, Tiles(n, n)


def _walk(
    csr: Any,
    root: Array | None,
    rank: Array,
    tiles: Tiles,
    wanted: range,
    heavy: list["_Heavy"],
    lanes: Lanes,
) -> list[Any]:
    """Add up the heavy part of the wanted blocks in the lanes; return their light parts."""
    thin = [None] * len(wanted)

    def work(lane: int, numbers: Iterator[int]) -> None:
        own = heavy[lane]
        for number in numbers:
            part = tiles[wanted[number]]
            full, light = parted(csr, part, rank, own.width)
            if root is not None:
                for block in (full, light):
                    block.data = block.data * np.repeat(root[part], np.diff(block.indptr))
            if own.width:
                own.add(full, light)
            thin[number] = light

    lanes.run(work, len(wanted))
    return thin


class _Heavy:
    """The sums XᵀH (p, h) of one lane, and the buffers they are made in.

    Parameters
    ----------
    columns, width, rows : int
        p, h and the most rows of a block.
    narrow : bool
        Whether float32 is tried. The first block that it cannot hold exactly ends that.
    """

    def __init__(self, columns: int, width: int, rows: int, narrow: bool) -> None:
        self.width, self.rows, self.narrow = width, rows, narrow
        self.sums = np.zeros((columns, width))
        self._make(np.float32 if narrow else np.float64)

    def _make(self, dtype: Any) -> None:
        self.dtype = dtype
        self.buffer = np.empty((self.rows, self.width), dtype)
        self.space = np.empty((self.width, self.width), dtype)

    def add(self, full: Any, light: Any) -> None:
        """Add [HᵀH; LᵀH] of one block of rows."""
        y, inner = self._inner(full)
        if self.narrow and not _is_exact(inner, full.data, light.data):
            self.narrow = False
            self._make(np.float64)
            y, inner = self._inner(full)
        self.sums[: self.width] += inner
        thin = in_dtype(light, self.dtype).T
        step = _STRIP_BYTES // y.itemsize
        for low in range(0, self.width, step):  # what is added to stays in the cache
            part = slice(low, min(low + step, self.width))
            self.sums[self.width :, part] += thin @ np.ascontiguousarray(y[:, part])

    def _inner(self, full: Any) -> tuple[Array, Array]:
        """Return H (r, h) and HᵀH (h, h), in the precision that is tried now."""
        y = self.buffer[: full.shape[0]]
        y[...] = 0
        in_dtype(full, self.dtype).toarray(out=y)
        # NumPy sees that both factors are one array and does half the work (?syrk).
        return y, np.matmul(y.T, y, out=self.space)


def _is_exact(inner: Array, full: Array, light: Array) -> bool:
    """Tell whether float32 products are exact, from HᵀH and the cells of H and L.

    All cells must be whole numbers. Every partial sum of Σ|x_i x_j| is then a whole number
    of at most ‖x_i‖‖x_j‖, and float32 holds those up to 2^24. Rounded sums of squares only
    grow, so that a computed ‖h_i‖² below 2^24 never passed it on the way; ‖l_i‖² is at most
    the sum over all of L.
    """
    wide = light.astype(np.float64)
    small = float(inner.diagonal().max()) < EXACT and float(wide @ wide) < EXACT
    return small and is_whole(full) and is_whole(light)


def _reorder(total: Array, rank: Array) -> None:
    """Put entry (rank_i, rank_j) in place (i, j), a strip at a time."""
    p = len(rank)
    for low in range(0, p, _STRIP):
        part = slice(low, low + _STRIP)
        total[:, part] = total[:, part].take(rank, axis=0)
    for low in range(0, p, _STRIP):
        part = slice(low, low + _STRIP)
        total[part] = total[part].take(rank, axis=1)
