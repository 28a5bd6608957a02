"""The Gram matrix of sparse columns: full columns as dense blocks, thin ones as they are.

Counts have few full columns and many thin ones. With the columns split into heavy H and
light L, XᵀX = [[HᵀH, HᵀL], [LᵀH, LᵀL]]: BLAS does the first, which holds most of the work,
sparse products do the rest.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from mercer.arrays import Array, Lanes, Tiles, thread_count
from mercer.operators._csr import LONGEST, row_view
from mercer.sources import BlockSource, Source, SparseSource

# What one multiply-add costs in flops of a dense symmetric product, measured on one core.
_THIN = 25.0  # sparse times dense
_PAIR = 400.0  # sparse times sparse
_CHOICES = 64  # numbers of heavy columns that are compared
_TILE_BYTES = 8e6  # of the dense block of the heavy columns
_WIDE = 3000  # columns above which a lane's own sums cost too much memory
_HELD = 2_000_000  # light cells that are multiplied in one go


@dataclasses.dataclass(frozen=True)
class Split:
    """Which columns are multiplied as dense ones, and what the product costs.

    Parameters
    ----------
    order : ndarray of shape (p,)
        Columns by falling number of stored cells.
    heavy : int
        How many of the first of them are dense.
    flops : float
        Cost of the Gram matrix, in flops of a dense symmetric product.
    """

    order: Array
    heavy: int
    flops: float

    @classmethod
    def of(cls, shares: Array, n: int) -> "Split":
        """Return the cheapest split of columns (p,) with these shares of stored cells.

        Cells of different columns are taken as independent: a row then meets μ² + μ pairs
        of light cells, μ being the sum of the light shares.
        """
        order = np.argsort(-shares, kind="stable")
        p = len(shares)
        left = np.append(np.cumsum(shares[order][::-1])[::-1], 0.0)  # light cells per row
        heavy = np.unique(np.linspace(0, p, _CHOICES + 1).astype(int))
        mu = left[heavy]
        dense = heavy.astype(np.float64) ** 2
        flops = n * (dense + 2 * heavy + _THIN * mu * heavy + _PAIR * (mu**2 + mu))
        best = int(np.argmin(flops))
        return cls(order, int(heavy[best]), float(flops[best]))


def column_shares(csr: Any, most_rows: int = 4000) -> Array:
    """Return the share of stored cells of each column (p,), on evenly spaced rows."""
    n, p = csr.shape
    sample = csr[:: max(1, n // most_rows)]
    return np.bincount(sample.indices, minlength=p) / max(1, sample.shape[0])


def gram_flops(source: Source) -> float | None:
    """Return the cost of the Gram matrix of sparse data, None for dense data (np²)."""
    n, p = source.shape
    if isinstance(source, BlockSource) and source.nnz is not None:  # as if evenly filled
        return Split.of(np.full(p, source.nnz / max(n * p, 1)), n).flops
    if not isinstance(source, SparseSource):
        return None
    return Split.of(column_shares(source.array), source.shape[0]).flops


def gram_bytes(nnz: int, p: int, threads: int) -> float:
    """Return the most that `sparse_gram` takes."""
    lanes = threads if p <= _WIDE else 1
    return (
        8.0 * p * p * (1 + 4.5 * lanes) + 48.0 * min(nnz, lanes * _HELD) + lanes * _TILE_BYTES
    )


def sparse_gram(csr: Any, root: Array | None) -> tuple[Array, Tiles]:
    """Return XᵀWX (p, p) in float64 and the row blocks whose sums it is made of.

    Parameters
    ----------
    csr : CSR array of shape (n, p)
        X; it is not densified but for the heavy columns of one block of rows at a time.
    root : ndarray of shape (n,) or None
        √w, the roots of the row weights.
    """
    n, p = csr.shape
    split = Split.of(column_shares(csr), n)
    h = split.heavy
    tiles = Tiles(n, max(1, min(n, LONGEST, max(64, int(_TILE_BYTES // (8 * max(h, 1)))))))
    lanes = Lanes(min(thread_count(), len(tiles)) if split.flops > 2e7 and p <= _WIDE else 1)
    rank = np.empty(p, csr.indices.dtype)
    rank[split.order] = np.arange(p, dtype=rank.dtype)
    totals = np.zeros((lanes.count, p, p))

    def work(lane: int, numbers: Iterator[int]) -> None:
        total, thin = totals[lane], list[Any]()
        buffer, space = np.empty((tiles.rows, h)), np.empty((h, h))
        for number in numbers:
            part = _relabelled(csr, tiles[number], rank, root)
            full, light = _parted(part, h)
            thin.append(light)
            if h:
                y = buffer[: part.shape[0]]
                y[...] = 0.0
                full.toarray(out=y)
                total[:h, :h] += np.matmul(y.T, y, out=space)
                total[h:, :h] += light.T @ y
            if sum(block.nnz for block in thin) > _HELD:
                _add_pairs(total[h:, h:], thin)
        _add_pairs(total[h:, h:], thin)

    lanes.run(work, len(tiles))
    ranked = totals[0]
    for other in totals[1:]:
        ranked += other
    ranked[:h, h:] = ranked[h:, :h].T
    return ranked[np.ix_(rank, rank)], Tiles(n, n)


def _add_pairs(total: Array, thin: list[Any]) -> None:
    """Add LᵀL of the blocks L that were kept, and let go of them."""
    if thin:
        light = scipy.sparse.vstack(thin, format="csr")
        thin.clear()
        total += (light.T.tocsr() @ light).toarray()


def _relabelled(csr: Any, rows: slice, rank: Array, root: Array | None) -> Any:
    """Return a block of rows in float64, its columns numbered by their fullness."""
    part = row_view(csr, rows)
    part.indices = rank[part.indices]
    part.has_sorted_indices = False
    part.data = part.data.astype(np.float64)
    if root is not None:
        part.data *= np.repeat(root[rows], np.diff(part.indptr))
    return part


def _parted(part: Any, heavy: int) -> tuple[Any, Any]:
    """Return the first `heavy` columns and the others, both as CSR blocks."""
    first = part.indices < heavy
    before = np.concatenate([[0], np.cumsum(first)]).astype(part.indptr.dtype)
    full = before[part.indptr]
    r, p = part.shape
    kind = type(part)
    other = ~first
    return (
        kind((part.data[first], part.indices[first], full), shape=(r, heavy)),
        kind(
            (part.data[other], part.indices[other] - heavy, part.indptr - full),
            shape=(r, p - heavy),
        ),
    )
