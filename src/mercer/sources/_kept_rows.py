"""A source without some of its rows."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.sources._blocks import Block, BlockSource


@final
class KeptRows(BlockSource):
    """The rows of a source but for those left out, and none from a given one on.

    Row i here is row i + (rows left out before it) there: i + #{j : out[j] - j <= i}.

    Parameters
    ----------
    source : BlockSource
        All rows.
    out : array of int
        Numbers of the rows to leave out, ascending.
    stop : int or None
        The number of the row at which to stop, as if the file ended there.
    rows : int or None
        How many rows the source has, where somebody has counted them.
    """

    def __init__(
        self, source: BlockSource, out: Any = (), stop: int | None = None, *, rows: Any = None
    ) -> None:
        self.source, self.stop = source, stop
        self.out = np.asarray(out, np.int64).reshape(-1)
        self._before = self.out - np.arange(len(self.out))
        self.names, self.dropped, self.label = source.names, source.dropped, source.label
        self.dtype, self.rate = source.dtype, source.rate
        self.max_passes, self.walks = source.max_passes, source.walks
        self.recognisable, self.elsewhere = source.recognisable, source.elsewhere
        self.counted = source.counted or rows is not None
        n = source.shape[0] if rows is None else int(rows)
        upto = n if stop is None else min(n, stop)
        kept = upto - int(np.searchsorted(self.out, upto))
        self.shape = (kept if self.counted else max(1, kept), source.shape[1])
        self._share = self.shape[0] / max(1, n)
        self.nnz = None if source.nnz is None else round(source.nnz * self._share)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: rows that are left out are read too."""
        cut = 1.0 if self.stop is None else min(1.0, self.stop / max(1, self.source.shape[0]))
        return round(self.source.nbytes * cut)

    def rows_there(self, rows: Any) -> Array:
        """Return the numbers that rows have in the source."""
        rows = np.asarray(rows, np.int64)
        return rows + np.searchsorted(self._before, rows, side="right")

    def _read(self, rows: int, start: int) -> Iterator[Block]:
        at = int(self.rows_there(start))
        for block in self.source._read(rows, at):
            end = at + block.shape[0]
            if self.stop is not None and end > self.stop:
                block = block[: max(0, self.stop - at)]
            first, last = np.searchsorted(self.out, (at, end))
            if last > first:
                stay = np.ones(block.shape[0], bool)
                gone = self.out[first:last] - at
                stay[gone[gone < len(stay)]] = False
                block = block[np.flatnonzero(stay)]
            if block.shape[0]:
                yield block
            at = end
            if self.stop is not None and at >= self.stop:
                return

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: where the cell stands in the file."""
        return self.source.place(int(self.rows_there(row)), column)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: also which rows are left out."""
        digest = hashlib.sha256(repr((self.source.fingerprint(), self.stop)).encode())
        digest.update(self.out.tobytes())
        return digest.hexdigest()

    def _files(self) -> tuple[Path, ...]:
        return self.source._files()
