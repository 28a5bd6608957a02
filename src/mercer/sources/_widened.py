"""Columns of several sources side by side."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._blocks import BlockSource, _even


@final
class Widened(BlockSource):
    """[A B ...]: the rows of several dense sources with as many rows, put side by side.

    Parameters
    ----------
    parts : sequence of BlockSource
        All have names.
    """

    def __init__(self, parts: Sequence[BlockSource]) -> None:
        sparse = next((part for part in parts if part.nnz is not None), None)
        if sparse is not None:
            raise InputError(
                "nothing can be put beside sparse rows",
                got=f"{sparse.label}: {sparse.shape[1]:,} columns, stored without their zeros",
                fix="analyse the columns of numbers alone",
            )
        first = parts[0]
        self.parts, self.label = tuple(parts), first.label
        self.names = tuple(name for part in parts for name in part.names or ())
        self.dropped = first.dropped
        known = [part for part in parts if part.counted]
        self.counted = bool(known)
        self.shape = ((known or [first])[0].shape[0], len(self.names))
        self.dtype = np.result_type(*(part.products for part in parts))
        self.max_passes = min(part.max_passes for part in parts)
        self.recognisable = all(part.recognisable for part in parts)
        self.elsewhere = all(part.elsewhere for part in parts)
        seconds = sum(part.nbytes / part.rate for part in parts)
        self.rate = self.nbytes / seconds if seconds else first.rate

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: a file that is read for two parts counts twice."""
        return sum(part.nbytes for part in self.parts)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        walks = [_even(part._read(rows, start), rows) for part in self.parts]
        for blocks in zip_longest(*walks):
            heights = [0 if block is None else block.shape[0] for block in blocks]
            if len(set(heights)) > 1:
                raise InputError(
                    "columns of one table must have the same number of rows",
                    got=f"{self.label}: from row {start} on, {heights} rows side by side",
                    fix="let nothing write to the file meanwhile; write it again",
                )
            start += heights[0]
            wide = np.empty((heights[0], self.shape[1]), self.dtype)
            np.concatenate(blocks, axis=1, out=wide)
            yield wide

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: as the part has it."""
        for part in self.parts:
            if column < part.shape[1]:
                break
            column -= part.shape[1]
        return part.place(row, column)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: those of all parts."""
        marks = [part.fingerprint() for part in self.parts]
        return hashlib.sha256(repr(marks).encode()).hexdigest()

    def _files(self) -> tuple[Path, ...]:
        return tuple(path for part in self.parts for path in part._files())
