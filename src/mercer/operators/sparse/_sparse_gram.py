"""The Gram matrix of sparse columns: full columns as dense blocks, thin ones as they are.

Counts have few full columns and many thin ones. With the columns split into heavy H and
light L, XᵀX = [[HᵀH, HᵀL], [LᵀH, LᵀL]]: BLAS does the first, which holds most of the work,
sparse products do the rest. Where Numba is installed, a loop over all pairs of stored cells
takes half that time unless most columns are full.

Loops over the stored cells of sparse rows, in the form that Numba compiles.

Cells lie as in a CSR matrix: row i holds cells ends[i] to ends[i + 1], their columns rising.
Every index is unsigned: machine code then need not ask whether it counts from the end.

LᵀL of thin columns: one triangle of it, in strips that lanes share.

Sums over the stored cells of sparse rows, one after the other, in compiled loops.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, compiled, task, thread_count
from mercer.operators.sparse._csr_blocks import (
    columns_from,
    in_dtype,
    parted,
    row_view,
    stacked,
)
from mercer.operators.sparse._dense_columns import (
    EXACT,
    SparseSample,
    Split,
    held_cells,
    is_whole,
)


def add_columns(ends: Array, columns: Array, cells: Array, weights: Array, sums: Array) -> None:
    """Add Σw, Σwx and Σwx² (3, p) of the stored cells of rows with weights w (r,)."""
    for i in range(len(weights)):
        w = weights[i]
        for a in range(np.uint64(ends[i]), np.uint64(ends[i + 1])):
            j, x = columns[a], np.float64(cells[a])
            sums[0, j] += w
            sums[1, j] += w * x
            sums[2, j] += w * x * x


def add_cell_pairs(
    ends: Array,
    columns: Array,
    cells: Array,
    weights: Array,
    low: np.uint64,
    high: np.uint64,
    at: Array,
    total: Array,
) -> None:
    """Add rows `low` to `high` of the upper triangle of XᵀWX (p, p) to `total`.

    Two cells of a row are multiplied with those after them at a time, so that these are read
    half as often.

    Parameters
    ----------
    ends, columns, cells : ndarray
        The cells of r rows.
    weights : ndarray of shape (r,)
        w.
    low, high : uint64
        The strip of `total` that is added to: one that stays in the cache.
    at : ndarray of uint64 of shape (r,)
        Cells of each row before which all columns are below `low`; moved on to `high`.
    total : ndarray of shape (p, p)
        What is added to.
    """
    one = np.uint64(1)
    for i in range(len(at)):
        a, end, w = at[i], np.uint64(ends[i + 1]), weights[i]
        while a < end and columns[a] < low:
            a += one
        while a < end and columns[a] < high:
            first, x = total[columns[a]], cells[a] * w
            first[columns[a]] += x * cells[a]
            a += one
            if a < end and columns[a] < high:
                second, y = total[columns[a]], cells[a] * w
                for b in range(a, end):
                    j, z = columns[b], np.float64(cells[b])
                    first[j] += x * z
                    second[j] += y * z
                a += one
            else:
                for b in range(a, end):
                    first[columns[b]] += x * cells[b]
        at[i] = a


_STRIPS = 4  # more leave out more pairs, up to half of them, and copy more cells
_MOST_ENTRIES = 20_000_000  # of a strip of the product, which may be full: 240 MB


def add_light_pairs(total: Array, blocks: list[Any], lanes: Lanes) -> None:
    """Add the upper triangle of LᵀL (l, l), and some of what is below, to `total`.

    L is the stack of the CSR `blocks`. Strip I, …, of rows of LᵀL needs only the columns of L
    from I on. A strip belongs to one lane, so that the lanes write where no other does.
    """
    light = stacked(blocks)
    turned = light.T.tocsr()
    bounds = _bounds(turned.indptr, max(_STRIPS, 2 * lanes.count))
    order = _evenly(len(bounds) - 1, lanes.count)

    def work(_lane: int, strips: Iterator[int]) -> None:
        rest, start = light, 0
        for strip in strips:  # in the order of the columns, so that less is left each time
            low, high = bounds[strip], bounds[strip + 1]
            rest, start = columns_from(rest, low - start) if low > start else rest, low
            _add_rows(total[low:high, low:], row_view(turned, slice(low, high)) @ rest)

    lanes.over(order, work)


def mirror(total: Array) -> None:
    """Copy the upper triangle of a matrix onto the lower one, strip by strip."""
    step = 256
    for low in range(0, len(total), step):
        high = min(low + step, len(total))
        corner = total[low:high, low:high]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        total[high:, low:high] = total[low:high, high:].T


def _add_rows(total: Array, product: Any) -> None:
    """Add a CSR matrix to a dense one, a few rows at a time."""
    step = max(1, 250_000 // max(1, product.shape[1]))
    for low in range(0, product.shape[0], step):
        part = slice(low, min(low + step, product.shape[0]))
        total[part] += row_view(product, part).toarray()


def _bounds(ends: Array, count: int) -> list[int]:
    """Return where strips begin and end: `count` of about equally many cells, none empty.

    Strips with more entries than may be held at once are cut again.
    """
    size = len(ends) - 1
    wanted = np.linspace(0, ends[-1], count + 1)[1:-1]
    bounds = [0]
    for end in [*np.searchsorted(ends, wanted), size]:
        while end > bounds[-1]:
            longest = max(1, _MOST_ENTRIES // (size - bounds[-1]))
            bounds.append(min(int(end), bounds[-1] + longest))
    return bounds


def _evenly(strips: int, lanes: int) -> list[int]:
    """Return the strips in an order that gives each lane long and short ones.

    Strip i multiplies what strips i, i + 1, … hold, so the work falls from one to the next;
    lane j takes places j, j + lanes, …: every second row of them is turned round.
    """
    order = list[int]()
    for turn, low in enumerate(range(0, strips, lanes)):
        row = range(low, min(low + lanes, strips))
        order += row if turn % 2 == 0 else reversed(row)
    return order


_COMPILED_STRIP_BYTES = (
    2e6  # of the rows of XᵀX that are added to at a time: they stay in the cache
)
_NARROWEST = 32  # such rows: fewer would walk the cells too often
_CHUNK = 10_000_000  # cells that a strip is added up from before the next one
_LONGEST = 1_000_000  # rows, for each of which a lane keeps a place


def compiled_gram(csr: Any, root: Array | None) -> Array:
    """Return XᵀWX (p, p) in float64: products and sums are float64 whatever the cells are.

    A strip of rows of it belongs to one lane, so that the lanes share one matrix.

    Parameters
    ----------
    csr : CSR array of shape (n, p)
        X, in canonical format.
    root : ndarray of shape (n,) or None
        √w, the roots of the row weights.
    """
    n, p = csr.shape
    lanes, loop = Lanes(thread_count()), compiled(add_cell_pairs)
    ends, columns, cells = _unsigned(csr)
    tiles = Tiles(n, max(1, min(_LONGEST, int(_CHUNK * n / max(csr.nnz, 1)))))
    width = max(_NARROWEST, int(_COMPILED_STRIP_BYTES / (8 * p)))
    turns = -(-p // (width * lanes.count))
    strips = turns * lanes.count  # so that every lane has its own in every chunk
    width = -(-p // strips)
    total, squared = np.zeros((p, p)), None if root is None else root**2

    def work(_lane: int, numbers: Iterator[int]) -> None:
        at, chunk, rows, weights = np.zeros(0, np.uint64), -1, slice(0), np.zeros(0)
        for number in numbers:
            if number // strips != chunk:
                chunk = number // strips
                rows = tiles[chunk]
                at = ends[rows].astype(np.uint64)
                weights = _weights(squared, rows)
            low = np.uint64(width * (number % strips))
            mine = ends[rows.start : rows.stop + 1]
            loop(mine, columns, cells, weights, low, low + np.uint64(width), at, total)

    lanes.run(work, len(tiles) * strips)
    mirror(total)
    return total


def compiled_sums(csr: Any, weights: Array | None, tiles: Tiles, lanes: Lanes) -> Array:
    """Return Σw, Σwx and Σwx² (3, p) over the stored cells, block after block."""
    loop = compiled(add_columns)
    ends, columns, cells = _unsigned(csr)
    sums = np.zeros((lanes.count, 3, csr.shape[1]))

    def work(lane: int, parts: Iterator[slice]) -> None:
        for rows in parts:
            block = np.zeros(sums.shape[1:])
            mine = ends[rows.start : rows.stop + 1]
            loop(mine, columns, cells, _weights(weights, rows), block)
            sums[lane] += block

    lanes.over(tiles, work)
    return np.asarray(sums.sum(axis=0))


def _weights(weights: Array | None, rows: slice) -> Array:
    return np.ones(rows.stop - rows.start) if weights is None else weights[rows]


def _unsigned(csr: Any) -> tuple[Array, Array, Array]:
    """Return ends, columns and cells; float32 cells stay so, all others are float64."""
    kind = np.dtype(csr.indices.dtype.str.replace("i", "u"))
    narrow = csr.data.dtype == np.float32
    cells = csr.data if narrow else csr.data.astype(np.float64, copy=False)
    ends = csr.indptr.astype(csr.indices.dtype, copy=False)
    return ends.view(kind), csr.indices.view(kind), cells


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
    split = Split.of(SparseSample.of(csr), n, root is not None)
    if split.compiled:
        return compiled_gram(csr, root), Tiles(n, n)
    h, threads = split.heavy, split.lanes(thread_count())
    tiles = Tiles(n, split.block_rows(n, csr.nnz, threads))
    rank = np.empty(p, csr.indices.dtype)
    rank[split.order] = np.arange(p, dtype=rank.dtype)
    lanes = Lanes(threads)
    heavy = [_Heavy(p, h, tiles.rows, split.exact_rows > 0) for _ in range(threads)]
    total = np.zeros((p, p))
    turn = max(threads, int(held_cells(csr.nnz) / (tiles.rows * max(split.light, 1e-9))))
    with task("rows"):
        for start in range(0, len(tiles), turn):
            thin = _walk(csr, root, rank, tiles, range(start, len(tiles))[:turn], heavy, lanes)
            if h < p:
                add_light_pairs(total[h:, h:], thin, lanes)
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
