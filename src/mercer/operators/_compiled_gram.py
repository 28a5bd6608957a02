"""Sums over the stored cells of sparse rows, one after the other, in compiled loops."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, compiled, thread_count
from mercer.operators._cell_loops import add_columns, add_pairs
from mercer.operators._light_pairs import mirror

_STRIP_BYTES = 2e6  # of the rows of XᵀX that are added to at a time: they stay in the cache
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
    lanes, loop = Lanes(thread_count()), compiled(add_pairs)
    ends, columns, cells = _unsigned(csr)
    tiles = Tiles(n, max(1, min(_LONGEST, int(_CHUNK * n / max(csr.nnz, 1)))))
    width = max(_NARROWEST, int(_STRIP_BYTES / (8 * p)))
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

    def work(lane: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            rows, block = tiles[number], np.zeros(sums.shape[1:])
            mine = ends[rows.start : rows.stop + 1]
            loop(mine, columns, cells, _weights(weights, rows), block)
            sums[lane] += block

    lanes.run(work, len(tiles))
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
