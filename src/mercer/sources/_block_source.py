"""A source: a table of numbers with a shape, a price per pass and a sample.

A `BlockSource` reads its rows block by block, and never holds them whole.
"""

import abc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mercer.arrays import Array, is_sparse, stacked
from mercer.errors import InputError

FileId: TypeAlias = tuple[int, int]  # device and inode: the same by every name and link
FileIds: TypeAlias = frozenset[FileId]


class Source(abc.ABC):
    """Numeric rows that can be walked `max_passes` times.

    A source owns no statistics and does no arithmetic: it says what there is, and hands
    out rows.
    """

    array: Any  # what holds the rows; None where they are read block by block
    shape: tuple[int, int]
    dtype: np.dtype[Any]  # as stored
    nnz: int | None = None  # stored cells of a sparse source
    max_passes: float = float("inf")

    @property
    def nbytes(self) -> int:
        """Bytes that one pass reads: those of dense rows, where a kind says nothing else."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    @abc.abstractmethod
    def sample(self, count: int, among: Any = None) -> Array:
        """Return at most `count` rows spread evenly over the whole, dense, as floats.

        `among` (row numbers, ascending) restricts the choice.
        """

    @abc.abstractmethod
    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """Return (row, column, value) of the first NaN or infinity, or None."""

    def files(self) -> FileIds:
        """Return the files and folders that hold the rows, as far as can be known."""
        return frozenset()

    @property
    def products(self) -> np.dtype[Any]:
        """The precision in which products of this data are exact enough: float32 stays."""
        return self.dtype if self.dtype == np.float32 else np.dtype(np.float64)


Block = Any  # an ndarray (r, p) of floats, integers or booleans, or a CSR array (r, p)

_LOOK = 1 << 22  # bytes of a block when rows are only looked at
_FILLED = 1 << 29  # bytes of a block for which space is set aside before its rows are there


class BlockSource(Source):
    """Abstract: rows of a file or a stream, handed out in blocks of a given length.

    A kind of file is `_read`, the attributes below, and where a row stands (`place`).

    Attributes
    ----------
    shape : tuple of int
        (n, p). Where `counted` is False, n is a forecast until one whole walk has ended.
    dtype : dtype
        Of the blocks: float32, float64, or an integer or boolean type; it does not change.
    nnz : int or None
        Stored cells (or a forecast) where blocks are CSR arrays; None for dense blocks.
    names : tuple of str or None
        Column names.
    dropped : tuple of (str, str)
        Columns of the file that are not used, and why.
    label : str
        What messages call it: a file's name, or "a stream of blocks".
    max_passes : float
        How often it can be walked.
    """

    array = None
    names: tuple[str, ...] | None = None
    dropped: tuple[tuple[str, str], ...] = ()
    label: str = "the data"
    counted: bool = True
    rate: float = 1e9  # bytes of the file that are read and parsed per second, roughly
    walks: int = 0  # begun so far
    recognisable: bool = True  # whether the fingerprint tells these rows from all others
    _stamps: tuple[tuple[int, ...], ...] | None = None  # of the files when they were opened
    elsewhere: bool = True  # whether another thread may fetch the blocks

    @abc.abstractmethod
    def _read(self, rows: int, start: int) -> Iterator[Block]:
        """Yield blocks in order, of any length, from row `start` on; about `rows` is best."""

    @abc.abstractmethod
    def fingerprint(self) -> str:
        """Return a text that changes when the rows do: size, time, first and last bytes."""

    def place(self, row: int, column: int) -> str:
        """Return where a cell stands, for people: file, line or row, and column."""
        name = "" if self.names is None else f" ({self.names[column]!r})"
        return f"{self.label}, row {row}, column {column}{name}"

    def blocks(self, rows: int, start: int = 0) -> Iterator[Block]:
        """Yield blocks of exactly `rows` rows, the last may be shorter, from row `start` on.

        However the file is laid out, the blocks are the same; `start` is a multiple of
        `rows`.
        """
        if self.walks >= self.max_passes:
            raise InputError(
                "the rows can be read only once",
                got=f"{self.label}, walked a second time",
                fix="write them to a file, or pass a function that makes the iterator anew",
            )
        self.walks += 1
        self.hold_files()
        count = start
        for block in _even(self._read(rows, start), rows):
            count += block.shape[0]
            yield block
        self.hold_files()
        self.shape, self.counted = (count, self.shape[1]), True

    def _files(self) -> tuple[Path, ...]:
        """Return the files that hold the rows, none for rows that come from elsewhere."""
        return ()

    def hold_files(self) -> None:
        """Refuse files that have changed since they were opened, or are gone.

        Headers were read then: other bytes under them would give numbers of no meaning, and
        a pass over other rows a mixture of both.
        """
        now = tuple(_stamp(path) for path in self._files())
        if self._stamps is None:
            self._stamps = now
        if now != self._stamps:
            raise InputError(
                "the file has changed since it was opened",
                got=f"{self.label}, another size or time of writing",
                fix="open it again, and let nothing write to it meanwhile",
            )

    def reading_bytes(self, rows: int) -> float:
        """Return the bytes taken beside blocks of so many rows while they are read."""
        del rows
        return 0.0

    @property
    def _few(self) -> int:
        """Rows to look at in one go: at most 4096, and about 4 MB of cells."""
        n, p = self.shape
        cells = p if self.nnz is None else -(-self.nnz // max(1, n))
        return max(1, min(4096, n, _LOOK // (8 * max(1, cells))))

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`: one walk."""
        n, kept, at = self.shape[0], list[Array](), 0
        step = max(1, -(-n // count))
        wanted = None if among is None else np.asarray(among)
        wanted = None if wanted is None else wanted[:: max(1, -(-len(wanted) // count))]
        for block in self.blocks(self._few):
            here = np.arange(at, at + block.shape[0])
            picked = here % step == 0 if wanted is None else np.isin(here, wanted)
            part = block[np.flatnonzero(picked)]
            kept.append(part.toarray() if is_sparse(part) else part)
            at += block.shape[0]
        return np.concatenate(kept)[:count].astype(self.products)

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`: one walk."""
        at = 0
        for block in self.blocks(self._few):
            found = bad_cell(block)
            if found is not None:
                return at + found[0], found[1], found[2]
            at += block.shape[0]
        return None

    def __repr__(self) -> str:
        n, p = self.shape
        about = "" if self.counted else "about "
        left = f", {len(self.dropped)} columns left out" if self.dropped else ""
        return f"<{type(self).__name__} {self.label}: {about}{n:,} x {p:,} {self.dtype}{left}>"


def add_cells(digest: Any, block: Block) -> None:
    """Let a digest take in all cells of a block, of a CSR array with their places."""
    parts = (block.data, block.indices, block.indptr) if is_sparse(block) else (block,)
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)


def bad_cell(block: Block) -> tuple[int, int, float] | None:
    """Return (row, column, value) of the first NaN or infinity of a block, or None."""
    if is_sparse(block):
        bad = np.flatnonzero(~np.isfinite(block.data))
        if bad.size == 0:
            return None
        row = int(np.searchsorted(block.indptr, bad[0], side="right")) - 1
        return row, int(block.indices[bad[0]]), float(block.data[bad[0]])
    if block.dtype.kind != "f":
        return None
    cells = np.argwhere(~np.isfinite(block))
    if cells.size == 0:
        return None
    row, column = (int(i) for i in cells[0])
    return row, column, float(block[row, column])


def bad_cell_error(place: str, value: float) -> InputError:
    """Return the refusal of a cell that is no finite number."""
    shown = "NaN" if np.isnan(value) else "infinity" if value > 0 else "-infinity"
    missing = "NaN" if np.isnan(value) else "inf"
    kind = MissingCellError if np.isnan(value) else InputError
    return kind(
        f"X contains {missing}; every cell must be a finite number",
        got=f"{shown} at {place}",
        fix="drop or impute such rows or columns first",
    )


class MissingCellError(InputError):
    """A cell is missing where every cell must be there."""

    @property
    def place(self) -> str:
        """Where the first of them stands."""
        return self.got.rpartition("NaN at ")[2]

    @property
    def counted(self) -> bool:
        """Whether the message counts all of them."""
        return "cells are missing" in self.what


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written again."""
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(
            "the file cannot be read any more",
            got=f"{path.name}: {error.strerror}",
            fix="put it back, or open another one",
        ) from None
    return state.st_size, state.st_mtime_ns, state.st_ino


def skipped(blocks: Iterator[Block], start: int) -> Iterator[Block]:
    """Yield the blocks without their first `start` rows: for kinds that cannot seek."""
    for block in blocks:
        if start >= block.shape[0]:
            start -= block.shape[0]
            continue
        yield block[start:] if start else block
        start = 0


def _even(blocks: Iterator[Block], rows: int) -> Iterator[Block]:
    """Yield the same rows in blocks of exactly `rows`; what has that length is not copied."""
    held = _BlockSpace(rows)
    for block in blocks:
        at, here = 0, block.shape[0]
        while held.count + here - at >= rows:
            take = rows - held.count
            if held.count == 0:
                yield block if take == here else block[at : at + take]
            else:
                held.add(block[at : at + take])
                yield held.taken()
            at += take
        if at < here:
            held.add(block[at:])
    if held.count:
        yield held.taken()


class _BlockSpace:
    """Rows that come in pieces, put where they will stand: a block exists only once.

    Pieces of sparse rows, and of blocks that may never be filled, are kept until the end.
    """

    def __init__(self, rows: int) -> None:
        self.rows, self.count = rows, 0
        self._parts: list[Block] = []
        self._whole: Any = None

    def add(self, part: Block) -> None:
        """Take some rows in: a copy, so that no large block, or its buffer, is kept alive."""
        sparse = is_sparse(part)
        if self.count == 0 and not sparse and self.rows * part[:1].nbytes <= _FILLED:
            self._whole = np.empty((self.rows, part.shape[1]), part.dtype)
        if self._whole is None:
            self._parts.append(part.copy())
        else:
            self._whole[self.count : self.count + part.shape[0]] = part
        self.count += part.shape[0]

    def taken(self) -> Block:
        """Return the block, and begin another."""
        if self._whole is None:
            found = stacked(self._parts)
        elif 2 * self.count < self.rows:
            found = self._whole[: self.count].copy()
        else:
            found = self._whole[: self.count]
        self.count, self._parts, self._whole = 0, [], None
        return found
