"""Columns of several sources side by side.

A source without some of its columns, for kinds of files that have no choice of them.

A source without some of its rows.

Rows that pass through a feature map block by block: φ(X) is never held whole.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._block_source import Block, BlockSource, FileIds, Source, _even


@final
class WidenedSource(BlockSource):
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

    def reading_bytes(self, rows: int) -> float:
        """See `BlockSource.reading_bytes`: of all parts, and their rows."""
        return sum(part.reading_bytes(rows) for part in self.parts) + 8.0 * rows * self.shape[1]

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

    def files(self) -> FileIds:
        """See `Source.files`: those of all parts."""
        return frozenset().union(*(part.files() for part in self.parts))


class DerivedSource(BlockSource):
    """Abstract: the rows of another source, changed when they are read.

    Parameters
    ----------
    source : BlockSource
        The rows as they are; what else it says of itself is taken over.
    """

    def __init__(self, source: BlockSource) -> None:
        self.source, self.label, self.rate = source, source.label, source.rate
        self.names, self.dropped = source.names, source.dropped
        self.shape, self.dtype, self.nnz = source.shape, source.dtype, source.nnz
        self.counted, self.max_passes = source.counted, source.max_passes
        self.recognisable, self.elsewhere = source.recognisable, source.elsewhere

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: all of the other source is read."""
        return self.source.nbytes

    def reading_bytes(self, rows: int) -> float:
        """See `BlockSource.reading_bytes`: the rows of the other source, and these."""
        held = 0.0 if self.source.nnz is not None else 8.0 * rows * self.source.shape[1]
        return self.source.reading_bytes(rows) + held

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: where the cell stands in the other source."""
        return self.source.place(row, column)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: that of the other source."""
        return self.source.fingerprint()

    def _files(self) -> tuple[Path, ...]:
        return self.source._files()

    def files(self) -> FileIds:
        """See `Source.files`: those of the other source."""
        return self.source.files()


@final
class KeptColumns(DerivedSource):
    """Columns of a source, dense or sparse, chosen after they are read.

    Parameters
    ----------
    source : BlockSource
        All columns.
    at : sequence of int
        Places of those to keep, in the order in which they are handed out.
    """

    def __init__(self, source: BlockSource, at: Sequence[int]) -> None:
        super().__init__(source)
        self.at, self.walks = np.asarray(at, np.intp), source.walks
        n, p = source.shape
        every = source.names or tuple(map(str, range(p)))
        self.names = tuple(every[i] for i in at)
        chosen = set(at)
        others = tuple((every[i], "not asked for") for i in range(p) if i not in chosen)
        self.dropped, self.shape = (*source.dropped, *others), (n, len(at))
        self.nnz = None if source.nnz is None else round(source.nnz * len(at) / p)

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


@final
class KeptRows(DerivedSource):
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
        super().__init__(source)
        self.stop, self.walks = stop, source.walks
        self.out = np.asarray(out, np.int64).reshape(-1)
        self._before = self.out - np.arange(len(self.out))
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


_CHECK_ROWS = 1024  # rows mapped in one go when a bad cell is searched


class _Lazy:
    """What ``array[rows, columns]`` would be, made when asked for."""

    def __init__(self, phi: Callable[[Any], Array], rows: Any) -> None:
        self.phi, self.rows = phi, rows

    def __getitem__(self, key: tuple[Any, Any]) -> Array:
        rows, columns = key
        return np.asarray(self.phi(self.rows[rows]))[:, columns]


@final
class MappedSource(Source):
    """φ(X) of shape (n, D) for rows X in memory.

    Parameters
    ----------
    phi : function
        Takes rows and returns (r, D) numbers.
    rows : array of shape (n, p)
        X.
    """

    def __init__(self, phi: Callable[[Any], Array], rows: Any) -> None:
        first = np.asarray(phi(rows[:1]))
        self.array = _Lazy(phi, rows)
        self.shape = (int(rows.shape[0]), int(first.shape[1]))
        self.dtype = first.dtype

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`."""
        rows = np.arange(self.shape[0]) if among is None else np.asarray(among)
        rows = rows[:: max(1, -(-len(rows) // count))]
        return np.asarray(self.array[rows, slice(None)], dtype=self.products)

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`."""
        for start in range(0, self.shape[0], _CHECK_ROWS):
            block = self.array[slice(start, start + _CHECK_ROWS), slice(None)]
            bad = np.argwhere(~np.isfinite(block))
            if bad.size:
                row, column = (int(i) for i in bad[0])
                return start + row, column, float(block[row, column])
        return None
