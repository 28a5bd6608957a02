"""Row blocks and column parts of a CSR matrix, without copies of the whole."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles

try:  # not public, and so not certain to stay: they add to what is there, `@` makes it anew
    from scipy.sparse._sparsetools import csc_matvecs, csr_matvecs
except ImportError:  # pragma: no cover
    csc_matvecs = csr_matvecs = None

LONGEST = 4000  # rows of a block


def assembled(
    like: Any, shape: tuple[int, int], data: Array, indices: Array, ends: Array
) -> Any:
    """Return a CSR matrix of the kind of `like` from three arrays that are not checked."""
    csr = type(like)(shape, dtype=data.dtype)
    csr.data, csr.indices, csr.indptr = data, indices, ends
    return csr


def in_dtype(csr: Any, dtype: Any) -> Any:
    """Return the matrix with its values in `dtype`; SciPy's astype would sort its columns."""
    data = csr.data.astype(dtype, copy=False)
    return assembled(csr, csr.shape, data, csr.indices, csr.indptr)


def row_view(csr: Any, part: slice) -> Any:
    """Return a block of rows as a CSR matrix that shares `data` and `indices`."""
    low, high = int(csr.indptr[part.start]), int(csr.indptr[part.stop])
    shape = (part.stop - part.start, csr.shape[1])
    ends = csr.indptr[part.start : part.stop + 1] - low
    view = assembled(csr, shape, csr.data[low:high], csr.indices[low:high], ends)
    view.has_canonical_format = True
    return view


def parted(csr: Any, part: slice, rank: Array, heavy: int) -> tuple[Any, Any]:
    """Return a block of rows as two CSR blocks: the columns of rank below `heavy`, the others.

    Columns are renumbered by `rank` (p,); those of the second block begin at zero. Cells of
    a row keep their order, so that their columns are not sorted.
    """
    low, high = int(csr.indptr[part.start]), int(csr.indptr[part.stop])
    indices = rank.take(csr.indices[low:high])
    ends = csr.indptr[part.start : part.stop + 1] - low
    shape = (part.stop - part.start, len(rank))
    block = assembled(csr, shape, csr.data[low:high], indices, ends)
    first = indices < heavy
    return _columns(block, first, 0, heavy), columns_from(block, heavy, ~first)


def columns_from(csr: Any, start: int, chosen: Array | None = None) -> Any:
    """Return the columns from `start` on; `chosen` tells which cells lie there, if known."""
    chosen = csr.indices >= start if chosen is None else chosen
    return _columns(csr, chosen, start, csr.shape[1] - start)


def _columns(csr: Any, chosen: Array, start: int, width: int) -> Any:
    places = np.flatnonzero(chosen)  # one search, then two gathers, beat two masks
    indices = csr.indices.take(places)
    indices -= start
    ends = np.searchsorted(places, csr.indptr).astype(csr.indptr.dtype)
    found = assembled(csr, (csr.shape[0], width), csr.data.take(places), indices, ends)
    found.has_sorted_indices = False
    return found


def stacked(blocks: list[Any]) -> Any:
    """Return CSR blocks below one another, their values in float64; the list is emptied."""
    like, width = blocks[0], blocks[0].shape[1]
    data = np.concatenate([block.data for block in blocks], dtype=np.float64)
    indices = np.concatenate([block.indices for block in blocks])
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    blocks.clear()
    ends = np.zeros(len(lengths) + 1, indices.dtype)
    np.cumsum(lengths, out=ends[1:])
    whole = assembled(like, (len(lengths), width), data, indices, ends)
    whole.has_sorted_indices = False
    return whole


def sparse_tiles(csr: Any) -> Tiles:
    """Return row blocks of about 100,000 stored cells, at least two per thread."""
    n = csr.shape[0]
    blocks = max(1, min(csr.nnz // 100_000, 64))
    return Tiles(n, max(1, min(LONGEST, max(16, -(-n // blocks)), n)))


def add_product(csr: Any, v: Array, out: Array) -> None:
    """Add the product of a CSR matrix (m, n) with V (n, b) to `out` (m, b), in place.

    All are float64, V and `out` in C order.
    """
    if csr_matvecs is None:
        out += csr @ v
        return
    assert out.flags.c_contiguous  # else the sums would go to a copy
    m, n = csr.shape
    flat = (v.reshape(-1), out.reshape(-1))
    csr_matvecs(m, n, v.shape[1], csr.indptr, csr.indices, csr.data, *flat)


def add_transposed(csr: Any, u: Array, out: Array) -> None:
    """Add the product of the transpose of a CSR matrix (m, n) with U (m, b) to `out` (n, b)."""
    if csc_matvecs is None:
        out += csr.T @ u
        return
    assert out.flags.c_contiguous  # else the sums would go to a copy
    m, n = csr.shape
    flat = (u.reshape(-1), out.reshape(-1))
    csc_matvecs(n, m, u.shape[1], csr.indptr, csr.indices, csr.data, *flat)
