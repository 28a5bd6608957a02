"""Tables kept in chunks (HDF5, Zarr): rows are read by whole rows of chunks."""

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.sources.files._file_source import FileSource, native, refusing

_BROKEN = (OSError, ValueError, RuntimeError, LookupError, TypeError)
_SLAB = 1 << 26  # bytes of whole rows of chunks that are held at most


class ChunkedSource(FileSource):
    """Abstract: a two-dimensional data set that gives rows by slices.

    Chunks are unpacked whole, so rows are read up to the ends of chunks and none is unpacked
    twice. Where one row of chunks is larger than 64 MB, less is read at a time, and each
    chunk is unpacked as often as blocks cut it: tables in chunks of whole columns are slow.

    Attributes
    ----------
    chunk_rows : int
        Rows of a chunk; 1 where there are none.
    row_bytes : int
        Bytes of one stored row.
    unpacking : float
        What unpacking takes beside whole rows of chunks, as a share of their bytes.
    """

    chunk_rows: int = 1
    row_bytes: int
    unpacking: float = 0.0

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: whole rows are read, whatever the columns; unpacked."""
        return self.shape[0] * self.row_bytes

    def reading_bytes(self, rows: int) -> float:
        """See `BlockSource.reading_bytes`: two times the rows of some chunks, and unpacking."""
        if self.chunk_rows == 1:
            return 0.0
        first, last = next(spans(self.shape[0], rows, 0, self.chunk_rows, self.row_bytes))
        unpacked = max(last - first, min(self.chunk_rows, self.shape[0]))
        return self.row_bytes * (2.0 * (last - first) + self.unpacking * unpacked)

    @abc.abstractmethod
    def _dataset(self) -> contextlib.AbstractContextManager[Any]:
        """Open the data set for one walk."""

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        with self._dataset() as cells:
            for first, last in spans(
                self.shape[0], rows, start, self.chunk_rows, self.row_bytes
            ):
                where = f"{self.label}, rows {first} to {last - 1}"
                fix = "copy or write the file again: it is damaged"
                with refusing(_BROKEN, "rows of the file cannot be read", where, fix):
                    block = np.asarray(cells[first:last])
                block = native(block, self.dtype)
                yield block if self.at is None else block[:, self.at]


def spans(
    n: int, rows: int, start: int, chunk_rows: int, row_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield the rows (first, last) to read at a time, about `rows`, up to ends of chunks."""
    whole = -(-rows // chunk_rows) * chunk_rows
    if whole > rows and whole * row_bytes > _SLAB:
        whole = max(rows, _SLAB // row_bytes)
        chunk_rows = 1
    while start < n:
        last = min(n, start - start % chunk_rows + whole)
        yield start, last
        start = last
