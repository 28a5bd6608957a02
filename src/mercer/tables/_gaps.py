"""Missing cells of a table: counted, and the rows that have some or nothing else."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.sources import ArrayBlocks, BlockSource, DenseSource

_ROWS = 4096  # looked at in one go


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """What is missing in n rows of c columns of a file: numbers, dates, then texts.

    Attributes
    ----------
    rows : int
        n, rows without a cell included.
    counts : array of int, (c,)
        Missing cells of every column, in rows that have a cell.
    empty : array of int
        Numbers of the rows without a cell.
    some : array of int
        Numbers of the rows, not empty, with a missing number or date.
    blank : array of int
        Numbers of the rows, not empty, with a missing text.
    texts : int
        How many of the last columns are texts: they are encoded, never filled.
    """

    rows: int
    counts: Array
    empty: Array
    some: Array
    blank: Array
    texts: int = 0

    @property
    def total(self) -> int:
        """Missing numbers and dates in rows that have a cell."""
        return int(self.counts[: len(self.counts) - self.texts].sum())

    @property
    def cells(self) -> int:
        """Numbers and dates, missing or not, of the rows that have a cell."""
        return (self.rows - len(self.empty)) * (len(self.counts) - self.texts)

    @property
    def partial(self) -> Array:
        """Numbers of the rows, not empty, with any missing cell."""
        return np.union1d(self.some, self.blank)


def gaps_of(
    rows: BlockSource | Array, levels: Mapping[str, Sequence[str]] | None = None
) -> Gaps:
    """Return what is missing; one walk where rows are read block by block.

    Parameters
    ----------
    rows : BlockSource or array of shape (n, p)
        NaN where a cell is missing; cells that a sparse row does not store are there.
    levels : mapping of str to sequence of str, or None
        Categories of the texts that the last columns were made of: 0 in all columns of one
        text says that it is missing.
    """
    source = rows if isinstance(rows, BlockSource) else ArrayBlocks(DenseSource(rows))
    p, sizes = source.shape[1], [len(found) for found in (levels or {}).values()]
    plain = p - sum(sizes)
    counts = np.zeros(plain + len(sizes), np.int64)
    empty, some, blank, at = list[Array](), list[Array](), list[Array](), 0
    if source.dtype.kind != "f" and source.counted and not sizes:
        return known_gaps(source.shape[0], counts)
    for block in source.blocks(max(1, min(_ROWS, (1 << 25) // (8 * p)))):
        if not sizes and _whole(block):
            at += block.shape[0]
            continue
        gone, absent = _gone(block, plain), _absent(block, plain, sizes)
        missing, lacking = _per_row(gone), _per_row(absent)
        nothing = missing + lacking == plain + len(sizes)
        there = np.flatnonzero(~nothing)
        counts[:plain] += np.asarray(gone[there].sum(axis=0)).reshape(-1)
        counts[plain:] += absent[there].sum(axis=0)
        empty.append(at + np.flatnonzero(nothing))
        some.append(at + np.flatnonzero((missing > 0) & ~nothing))
        blank.append(at + np.flatnonzero((lacking > 0) & ~nothing))
        at += block.shape[0]
    return Gaps(at, counts, _joined(empty), _joined(some), _joined(blank), len(sizes))


def _whole(block: Any) -> bool:
    """Tell whether no cell of a block is missing."""
    stored = block.data if scipy.sparse.issparse(block) else block
    return block.dtype.kind != "f" or not np.isnan(np.min(stored, initial=0.0))


def _gone(block: Any, plain: int) -> Any:
    """Return which of the first cells of a block are missing."""
    if scipy.sparse.issparse(block):
        marks = np.isnan(block.data).astype(np.int64)
        return scipy.sparse.csr_array((marks, block.indices, block.indptr), shape=block.shape)
    return np.isnan(block[:, :plain])


def _absent(block: Any, plain: int, sizes: Sequence[int]) -> Array:
    """Return which texts have no category in a row, (r, texts)."""
    out, start = np.zeros((block.shape[0], len(sizes)), bool), plain
    for text, size in enumerate(sizes):
        out[:, text] = ~block[:, start : start + size].any(axis=1)
        start += size
    return out


def _per_row(marks: Any) -> Array:
    return np.asarray(marks.sum(axis=1)).reshape(-1)


def known_gaps(rows: int, counts: Any, texts: int = 0) -> Gaps:
    """Return gaps that others have counted, where no row can be empty."""
    nothing = np.empty(0, np.int64)
    return Gaps(rows, np.asarray(counts, np.int64), nothing, nothing, nothing, texts)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.int64), *parts])
