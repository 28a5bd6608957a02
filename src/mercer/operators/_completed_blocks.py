"""Incomplete rows, handed out completed."""

from collections.abc import Iterator
from typing import Any, final

from mercer.operators._completion import Completion, empty_rows
from mercer.sources import BlockSource

_RATE = 4e8  # bytes that are completed per second, roughly


@final
class CompletedBlocks(BlockSource):
    """The blocks of a source with their missing cells filled, each when it is read.

    Parameters
    ----------
    source : BlockSource
        Rows with NaN where a cell is missing.
    completion : Completion
        What those cells are filled with.
    watch : bool
        Whether the numbers of rows with nothing observed are collected, in `empty`.
    """

    def __init__(
        self, source: BlockSource, completion: Completion, *, watch: bool = False
    ) -> None:
        self.watch, self.empty = watch, list[int]()
        self.source, self.completion = source, completion
        self.names, self.dropped, self.label = source.names, source.dropped, source.label
        self.shape, self.dtype, self.nnz = source.shape, source.dtype, source.nnz
        self.counted, self.max_passes = source.counted, source.max_passes
        self.recognisable, self.elsewhere = source.recognisable, source.elsewhere
        self.rate = min(source.rate, _RATE)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self.source.nbytes

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for block in self.source.blocks(rows, start):
            filled = self.completion.filled(block)
            if self.watch and filled is not block:
                self.empty += (start + empty_rows(block)).tolist()
            start += block.shape[0]
            yield filled

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: where the cell stands in the incomplete rows."""
        return self.source.place(row, column)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: that of the incomplete rows."""
        return self.source.fingerprint()
