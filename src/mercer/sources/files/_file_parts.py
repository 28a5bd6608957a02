"""Files of typed columns: parts of which only the description has been read, and their rows."""

import abc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.sources._block_source import FileIds
from mercer.sources.files._file_source import fingerprint_of, ids_of
from mercer.sources.frames._numeric_columns import Cells
from mercer.sources.frames._table_source import TableSource, readable, spread

_FRAMES = 2.0  # a frame of the rows of a block, and what its library keeps


class FilePart(abc.ABC):
    """Abstract: a file of typed columns of which only the description has been read.

    Attributes
    ----------
    kind : str
        What messages call such a file.
    rate : float
        Bytes that are read per second, roughly.
    schema : mapping of str to type
        Names and narwhals types of the columns.
    stored : list of str
        Their types as the file calls them.
    rows : int
        As the description says.
    verified : bool
        Whether every page is checked against its checksum when it is read.
    """

    path: Path
    kind: str
    rate: float = 2e8
    schema: Mapping[str, Any]
    stored: list[str]
    rows: int
    verified: bool = False

    @abc.abstractmethod
    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield native frames of these columns, in order, of any length, from row `start`."""

    def blocks(self, cells: Cells, rows: int, start: int) -> Iterator[Array]:
        """Yield the rows as numbers, in order, of any length, from row `start`."""
        every = range(len(cells.names))
        for frame in self.read(cells.names, rows, start):
            with readable(self.path.name, self.kind):
                block = cells.block(frame, every)
            del frame  # or the next would be read beside it
            yield block
            del block

    def reading_bytes(self, rows: int, columns: int) -> float:
        """Return what is taken beside blocks of so many rows and columns."""
        return _FRAMES * 8.0 * min(rows, self.rows) * columns


@final
class PolarsPart(FilePart):
    """A file read by polars, slice by slice; checksums are not looked at.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        What messages call it.
    opener : str
        The function of polars that scans it, with its options.
    """

    def __init__(self, path: Path, kind: str, opener: str, **options: Any) -> None:
        import polars as pl

        self.path, self.kind = path, kind
        with readable(path.name, kind):
            self._lazy = getattr(pl, opener)(path, **options)
            schema = self._lazy.collect_schema()
            self.rows = int(self._lazy.select(pl.len()).collect().item())
        self.schema = nw.from_native(pl.DataFrame(schema=schema), eager_only=True).schema
        self.stored = [str(kind) for kind in schema.dtypes()]

    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """See `FilePart.read`."""
        with readable(self.path.name, self.kind):
            every = list(self.schema)
            at = [every.index(name) for name in names]
            yield from spread(at, self._lazy, start, self.rows, rows)


class PartsSource(TableSource):
    """Rows of files with the same columns, one after another.

    Parameters
    ----------
    parts : list of FilePart
        The files.
    cells : Cells
        The columns that are used, and how they become floats.
    """

    def __init__(self, parts: Sequence[FilePart], cells: Cells) -> None:
        self.parts, self.rate = parts, parts[0].rate
        self._ends = np.cumsum([part.rows for part in parts])
        self._adopt(cells, int(self._ends[-1]))

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        for number, part in enumerate(self.parts):
            begin = int(self._ends[number]) - part.rows
            if start < self._ends[number]:
                yield from self._part(part, rows, max(0, start - begin))

    def _part(self, part: FilePart, rows: int, start: int) -> Iterator[Array]:
        count = start
        for block in part.blocks(self.cells, rows, start):
            count += block.shape[0]
            yield block
            del block  # or the next piece would be read beside this one
        if count != part.rows:
            raise self._torn(
                f"{part.path.name}: {count:,} rows were read, {part.rows:,} announced"
            )

    def reading_bytes(self, rows: int) -> float:
        """See `BlockSource.reading_bytes`: of the part that takes most."""
        columns = len(self.names)
        return max(part.reading_bytes(rows, columns) for part in self.parts)

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: the file, and the row within it."""
        number = int(np.searchsorted(self._ends, row, side="right"))
        part = self.parts[min(number, len(self.parts) - 1)]
        inside = row - (int(self._ends[number - 1]) if number else 0)
        return f"{part.path.name}, row {inside}, column {column} ({self.names[column]!r})"

    def _files(self) -> tuple[Path, ...]:
        return tuple(part.path for part in self.parts)

    def files(self) -> FileIds:
        """See `Source.files`."""
        return ids_of(self._files())

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: of all files, and the columns that are used."""
        return fingerprint_of(self._files(), self.names)
