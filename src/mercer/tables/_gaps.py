"""Missing cells of a table: counted, and the rows that have some or nothing else."""

import dataclasses
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.sources import ArrayBlocks, BlockSource, DenseSource

_ROWS = 4096  # looked at in one go


@final
@dataclasses.dataclass(frozen=True)
class Gaps:
    """What is missing in n rows of p columns.

    Attributes
    ----------
    rows : int
        n, rows without a cell included.
    counts : array of int, (p,)
        Missing cells of every column, in rows that have a cell.
    empty : array of int
        Numbers of the rows without a cell.
    some : array of int
        Numbers of the rows, not empty, with a missing cell.
    encoded : int
        How many of the last columns are categories, which have no missing cells.
    """

    rows: int
    counts: Array
    empty: Array
    some: Array
    encoded: int = 0

    @property
    def total(self) -> int:
        """Missing cells in rows that have a cell."""
        return int(self.counts.sum())

    @property
    def cells(self) -> int:
        """Cells of the rows that have a cell, categories not counted."""
        return (self.rows - len(self.empty)) * (len(self.counts) - self.encoded)


def gaps_of(rows: BlockSource | Array, encoded: int = 0) -> Gaps:
    """Return what is missing; one walk where rows are read block by block.

    Parameters
    ----------
    rows : BlockSource or array of shape (n, p)
        NaN where a cell is missing; cells that a sparse row does not store are there.
    encoded : int
        How many of the last columns are categories: 0 in all of them says nothing of a row.
    """
    source = rows if isinstance(rows, BlockSource) else ArrayBlocks(DenseSource(rows))
    p = source.shape[1]
    counts, empty, some, at = np.zeros(p, np.int64), list[Array](), list[Array](), 0
    for block in source.blocks(max(1, min(_ROWS, (1 << 25) // (8 * p)))):
        gone = _gone(block, p - encoded)
        if gone is not None:
            missing = np.asarray(gone.sum(axis=1)).reshape(-1)
            nothing = missing == p - encoded
            if encoded:
                nothing &= ~block[:, p - encoded :].any(axis=1)
            there = gone[np.flatnonzero(~nothing)]
            counts[: p - encoded] += np.asarray(there.sum(axis=0)).reshape(-1)
            empty.append(at + np.flatnonzero(nothing))
            some.append(at + np.flatnonzero((missing > 0) & ~nothing))
        at += block.shape[0]
    return Gaps(at, counts, _joined(empty), _joined(some), encoded)


def _gone(block: Any, plain: int) -> Any:
    """Return which of the first cells of a block are missing, None where none is."""
    stored = block.data if scipy.sparse.issparse(block) else block
    if block.dtype.kind != "f" or (plain and not np.isnan(np.min(stored, initial=0.0))):
        return None
    if stored is block:
        return np.isnan(block[:, :plain])
    marks = np.isnan(stored).astype(np.int64)
    return scipy.sparse.csr_array((marks, block.indices, block.indptr), shape=block.shape)


def known_gaps(rows: int, counts: Any, encoded: int = 0) -> Gaps:
    """Return gaps that others have counted, where no row can be empty."""
    nothing = np.empty(0, np.int64)
    return Gaps(rows, np.asarray(counts, np.int64), nothing, nothing, encoded)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.int64), *parts])
