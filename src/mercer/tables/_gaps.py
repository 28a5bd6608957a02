"""Missing cells of a table: counted, and the rows that have some or nothing else."""

import dataclasses
from typing import Any, final

import numpy as np

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
    """

    rows: int
    counts: Array
    empty: Array
    some: Array

    @property
    def total(self) -> int:
        """Missing cells in rows that have a cell."""
        return int(self.counts.sum())

    @property
    def cells(self) -> int:
        """Cells of the rows that have a cell."""
        return (self.rows - len(self.empty)) * len(self.counts)


def gaps_of(rows: BlockSource | Array, encoded: int = 0) -> Gaps:
    """Return what is missing; one walk where rows are read block by block.

    Parameters
    ----------
    rows : BlockSource or array of shape (n, p)
        Dense rows, NaN where a cell is missing.
    encoded : int
        How many of the last columns are categories: 0 in all of them says nothing of a row.
    """
    source = rows if isinstance(rows, BlockSource) else ArrayBlocks(DenseSource(rows))
    p = source.shape[1]
    counts, empty, some, at = np.zeros(p, np.int64), list[Array](), list[Array](), 0
    plain = p - encoded
    for block in source.blocks(max(1, min(_ROWS, (1 << 25) // (8 * p)))):
        gone = np.isnan(block[:, :plain]) if block.dtype.kind == "f" else _none(block, plain)
        nothing = gone.all(axis=1)
        if encoded:
            nothing &= ~block[:, plain:].any(axis=1)
        counts[:plain] += np.count_nonzero(gone[~nothing], axis=0)
        empty.append(at + np.flatnonzero(nothing))
        some.append(at + np.flatnonzero(gone.any(axis=1) & ~nothing))
        at += len(block)
    return Gaps(at, counts, _joined(empty), _joined(some))


def no_gaps(rows: int, counts: Any) -> Gaps:
    """Return gaps that others have counted, where no row can be empty."""
    nothing = np.empty(0, np.int64)
    return Gaps(rows, np.asarray(counts, np.int64), nothing, nothing)


def _none(block: Array, plain: int) -> Array:
    return np.zeros((len(block), plain), bool)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.int64), *parts])
