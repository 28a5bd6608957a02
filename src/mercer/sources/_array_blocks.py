"""An array in memory, walked block by block like a file."""

import hashlib
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.sources._base import Source
from mercer.sources._blocks import BlockSource

_HASHED = 4096  # rows that go into the fingerprint at a time


@final
class ArrayBlocks(BlockSource):
    """The rows of a source in memory, handed out in blocks without a copy.

    Parameters
    ----------
    source : Source
        Rows of an array or a CSR matrix.
    names : sequence of str or None
        Column names.
    """

    label = "an array"

    def __init__(self, source: Source, names: Any = None) -> None:
        self.held = source.array
        self.names = None if names is None else tuple(str(name) for name in names)
        self.shape, self.dtype, self.nnz = source.shape, source.dtype, source.nnz
        self._bytes = source.nbytes
        self.elsewhere = isinstance(self.held, np.memmap)  # else there is nothing to fetch

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self._bytes

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for at in range(start, self.shape[0], rows):
            yield self.held[at : at + rows]

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: as for an array that is not walked by blocks."""
        return super().place(row, column).removeprefix(f"{self.label}, ")

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: shape, type and every byte."""
        digest = hashlib.sha256(f"{self.shape} {self.dtype} {self.nnz}".encode())
        for at in range(0, self.shape[0], _HASHED):
            rows = self.held[at : at + _HASHED]
            parts = [rows.data, rows.indices, rows.indptr] if self.nnz is not None else [rows]
            for part in parts:
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()
