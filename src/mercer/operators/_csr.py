"""Row blocks of a CSR matrix, without copies."""

from typing import Any

from mercer.arrays import Tiles

LONGEST = 4000  # rows of a block


def row_view(csr: Any, part: slice) -> Any:
    """Return a block of rows as a CSR matrix that shares `data` and `indices`."""
    low, high = int(csr.indptr[part.start]), int(csr.indptr[part.stop])
    pointers = csr.indptr[part.start : part.stop + 1] - low
    view = type(csr)((part.stop - part.start, csr.shape[1]), dtype=csr.dtype)
    view.data, view.indices, view.indptr = csr.data[low:high], csr.indices[low:high], pointers
    view.has_canonical_format = True
    return view


def sparse_tiles(csr: Any) -> Tiles:
    """Return row blocks of about 100,000 stored cells, at least two per thread."""
    n = csr.shape[0]
    blocks = max(1, min(csr.nnz // 100_000, 64))
    return Tiles(n, max(1, min(LONGEST, max(16, -(-n // blocks)), n)))
