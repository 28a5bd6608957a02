"""A source without some of its columns, for kinds of files that have no choice of them."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

import numpy as np

from mercer.sources._blocks import Block, BlockSource


@final
class KeptColumns(BlockSource):
    """Columns of a source, dense or sparse, chosen after they are read.

    Parameters
    ----------
    source : BlockSource
        All columns.
    at : sequence of int
        Places of those to keep, in the order in which they are handed out.
    """

    def __init__(self, source: BlockSource, at: Sequence[int]) -> None:
        self.source, self.at = source, np.asarray(at, np.intp)
        n, p = source.shape
        every = source.names or tuple(map(str, range(p)))
        self.names = tuple(every[i] for i in at)
        chosen = set(at)
        others = tuple((every[i], "not asked for") for i in range(p) if i not in chosen)
        self.dropped, self.label = (*source.dropped, *others), source.label
        self.shape, self.dtype, self.rate = (n, len(at)), source.dtype, source.rate
        self.nnz = None if source.nnz is None else round(source.nnz * len(at) / p)
        self.counted, self.max_passes = source.counted, source.max_passes
        self.recognisable, self.elsewhere = source.recognisable, source.elsewhere
        self.walks = source.walks

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: all columns are read."""
        return self.source.nbytes

    def _read(self, rows: int, start: int) -> Iterator[Block]:
        for block in self.source._read(rows, start):
            yield block[:, self.at]

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: where the cell stands among all columns."""
        return self.source.place(row, int(self.at[column]))

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: also which columns are kept."""
        mark = (self.source.fingerprint(), self.at.tolist())
        return hashlib.sha256(repr(mark).encode()).hexdigest()

    def _files(self) -> tuple[Path, ...]:
        return self.source._files()
