"""LineSource: rows of a text file with one record per line."""

import abc
import copy
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._column_choice import ColumnChoice, choose_columns
from mercer.sources.files._file_source import FileSource
from mercer.sources.text._text_bytes import Chunks, TextFile
from mercer.sources.text._text_cells import Kind
from mercer.sources.text._text_lines import Lines, whole_lines

_HEAD = 1 << 20  # bytes that the columns are learned from
_LEAST = 1 << 17  # bytes that are parsed in one go at least
_BESIDE = 14.0  # bytes in memory for one that is parsed, measured
_OPENED = 10e6  # bytes that the head takes


class LineSource(FileSource):
    """Abstract: rows of float64 in a file with one record per line.

    A kind of file says where records begin (`_starts`), what they hold (`_values`), and which
    columns are read (`_take`).

    Attributes
    ----------
    kinds : dict of str to Kind
        What every column of the file holds.
    block_bytes : int
        Bytes that are read and parsed in one go at most: those of the rows of a block.
    """

    block_bytes = 1 << 20  # more only costs memory: 4 and 8 MB took longer
    dtype = np.dtype(np.float64)
    counted = False
    file: TextFile
    kinds: dict[str, Kind]
    quotes = True
    _warned = False

    @abc.abstractmethod
    def _take(self, chosen: ColumnChoice) -> None:
        """Take on a choice of columns."""

    def _pick(
        self, names: list[str], kinds: list[Kind], columns: Any, drop: Any, every: bool
    ) -> None:
        """Settle what columns hold, and which are read: with `every` all, whatever it is."""
        others = [None if every else kind.other for kind in kinds]
        chosen = choose_columns(names, others, columns, drop, self.label)
        self.kinds = dict(zip(names, kinds, strict=True))
        self._take(chosen)

    def narrowed(self, columns: Iterable[str]) -> Self:
        """Return the same file, not read again, with these columns, which hold numbers."""
        other = copy.copy(self)
        other._pick(list(self.kinds), list(self.kinds.values()), columns, None, False)
        other.shape = (self.shape[0], len(other.at))
        return other

    @abc.abstractmethod
    def _starts(self, lines: Lines) -> Array:
        """Return where in the bytes each record begins, an array of integers (r,)."""

    @abc.abstractmethod
    def _values(self, lines: Lines) -> Array:
        """Return the numbers of the chosen columns, (r, p); what is no number is refused."""

    @abc.abstractmethod
    def _options(self) -> tuple[Any, ...]:
        """Return what else decides how the file is read."""

    def _body(self, lines: Lines) -> Lines:
        """Return the lines without what stands before the first record."""
        return lines

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: the file as stored."""
        return self._nbytes

    def _open(self, file: TextFile) -> Lines:
        """Take the file and return its head; the forecast of rows needs `_forecast`."""
        self.file, self.path, self.label = file, file.path, file.label
        self._nbytes = file.nbytes
        chunks = Chunks(file, _HEAD)
        walk = whole_lines(chunks, self.quotes)
        parts = list(itertools.islice(walk, 1))
        while parts and sum(part.data.count(b"\n") for part in parts) < 3:
            more = next(walk, None)
            if more is None:
                break
            parts.append(more)
        if not parts:
            raise InputError(
                "the file is empty",
                got=f"{file.label}: {self._nbytes:,} bytes, no line of text",
                fix="check how it was written",
            )
        head = Lines(b"".join(part.data for part in parts), 1, parts[-1].cut)
        self._share = len(head.data) / chunks.given * chunks.packed / self._nbytes
        if next(walk, None) is None:
            self._share = 1.0
        walk.close()
        return head

    def _forecast(self, head: Lines) -> int:
        """Return about how many rows there are, by the records in the head."""
        records = max(1, len(self._starts(self._body(head))))
        self._row_bytes = len(head.data) / records
        return max(1, round(records / self._share))

    def _piece(self, rows: int) -> int:
        """Return the bytes that are parsed in one go for blocks of so many rows."""
        return int(min(self.block_bytes, max(_LEAST, rows * self._row_bytes)))

    def reading_bytes(self, rows: int) -> float:
        """See `BlockSource.reading_bytes`: text, where its fields stand, and their numbers."""
        return max(_OPENED, _BESIDE * max(self._piece(rows), self._row_bytes))

    def fingerprint(self) -> str:
        """See `FileSource.fingerprint`: also how the text is read."""
        return hashlib.sha256(
            repr((super().fingerprint(), self._options())).encode()
        ).hexdigest()

    def place(self, row: int, column: int) -> str:
        """Return file, line and column of a cell: the lines are counted again."""
        name = "" if self.names is None else repr(self.names[column])
        return f"{self.label}, line {self._line(row)}, column {name}"

    def _line(self, row: int) -> int:
        at = 0
        for lines in self._walk():
            starts = self._starts(lines)
            if row < at + len(starts):
                return lines.line_at(int(starts[row - at]))
            at += len(starts)
        return lines.line_at(len(lines.data))

    def _walk(self, size: int | None = None) -> Iterator[Lines]:
        for lines in whole_lines(Chunks(self.file, size or self.block_bytes), self.quotes):
            body = self._body(lines)
            if body.data:
                yield body

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for lines in self._walk(self._piece(rows)):
            if start:
                count = len(self._starts(lines))
                if start >= count:
                    start -= count
                    continue
            values = self._values(lines)[start:]
            start = 0
            if lines.cut:
                self._say_cut(lines)
            yield values

    def _say_cut(self, lines: Lines) -> None:
        if self._warned or lines.line_at(len(lines.data)) <= 2:
            return  # one line alone has no others to compare with
        self._warned = True
        warn(
            "the last line does not end with a newline: it may be cut",
            got=f"{self.label}, line {lines.line_at(len(lines.data)) - 1}",
            fix="compare it with the source; add a newline if it is whole",
            category=DataWarning,
        )
