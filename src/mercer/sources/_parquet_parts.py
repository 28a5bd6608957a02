"""One Parquet file: its columns, its rows, and a walk over them.

pyarrow reads page by page and checks checksums, so it is taken where it is installed. A walk
over 200 MB in one row group then holds 20 MB. polars holds a row group, and slice by slice
it reads the group again every time.
"""

import abc
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.errors import InputError
from mercer.sources._cells import check_twins
from mercer.sources._tables import readable, spread

_KIND = "the Parquet file"
_BUFFER = 1 << 14  # bytes read at once per column
_MAGIC = b"PAR1"
# A page holds at most 2^31 equal values, and its header takes more than 16 bytes.
_MOST_ROWS = 2**27  # per byte of a file


class Part(abc.ABC):
    """Abstract: a Parquet file of which only the footer has been read.

    Attributes
    ----------
    schema : mapping of str to type
        Names and narwhals types of the columns.
    stored : list of str
        Their types as the file calls them.
    rows : int
        As the footer says.
    verified : bool
        Whether every page is checked against its checksum when it is read.
    """

    path: Path
    schema: Mapping[str, Any]
    stored: list[str]
    rows: int
    verified: bool = False

    @abc.abstractmethod
    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """Yield native frames of these columns, in order, of any length, from row `start`."""


def open_part(path: Path) -> Part:
    """Return the file, opened by pyarrow where it is installed, else by polars."""
    size = _check_ends(path)
    part: Part
    try:
        import pyarrow.parquet
    except ImportError:
        part = PolarsPart(path)
    else:
        part = PyarrowPart(path, pyarrow.parquet)
    if not 0 <= part.rows <= size * _MOST_ROWS:
        raise InputError(
            "the Parquet file announces more rows than it can hold",
            got=f"{path.name} ({size:,} bytes) announces {part.rows:,} rows",
            fix="write or fetch it again, and check that it is whole",
        )
    return part


def _check_ends(path: Path) -> int:
    """Refuse what is no Parquet file by its first and last bytes; return its size."""
    with readable(path.name, _KIND):
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(max(0, size - 8))
            tail = file.read(8)
    if size < 12 or head != _MAGIC:
        begins = f"begins with {head!r}" if head else "is empty"
        encrypted = head == b"PARE"
        raise InputError(
            "encrypted Parquet files are not read" if encrypted else "this is no Parquet file",
            got=f"{path.name} ({size:,} bytes) {begins}",
            fix="decrypt it first" if encrypted else "check what wrote it, and its name's end",
        )
    if tail[4:] != _MAGIC or struct.unpack("<I", tail[:4])[0] > size - 12:
        raise InputError(
            "the Parquet file is cut short: its end, which describes it, is missing",
            got=f"{path.name} ({size:,} bytes) ends with {tail[4:]!r}",
            fix="fetch it again, or let the program that writes it finish",
        )
    return size


@final
class PyarrowPart(Part):
    """A file read by pyarrow, page by page."""

    def __init__(self, path: Path, parquet: Any) -> None:
        self.path, self._parquet = path, parquet
        with readable(path.name, _KIND), self._file() as file:
            arrow = file.schema_arrow
            meta = file.metadata
            self.rows = int(meta.num_rows)
            # No further: pyarrow ends the process when it describes a column of a broken file.
            self._groups = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
            check_twins(arrow.names, path.name)
            self.schema = nw.from_native(arrow.empty_table(), eager_only=True).schema
            self.stored = [str(kind) for kind in arrow.types]
            self._check_counts()
            self.verified = _has_checksum(path, len(_MAGIC))

    def _file(self) -> Any:
        return self._parquet.ParquetFile(
            self.path,
            buffer_size=_BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,
        )

    def _check_counts(self) -> None:
        """Refuse counts of rows that contradict each other."""
        if min(self._groups, default=0) < 0 or sum(self._groups) != self.rows:
            raise InputError(
                "the end of the Parquet file contradicts itself",
                got=f"{self.path.name} claims {self.rows:,} rows, and"
                f" {sum(self._groups):,} in {len(self._groups)} row groups",
                fix="write or fetch it again, and check that it is whole",
            )

    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """See `Part.read`: begins at the row group that holds row `start`."""
        import pyarrow as pa

        ends = np.cumsum(self._groups)
        first = int(np.searchsorted(ends, start, side="right"))
        skip = start - (int(ends[first - 1]) if first else 0)
        groups = list(range(first, len(self._groups)))
        if not groups:
            return
        with readable(self.path.name, _KIND), self._file() as file:
            wanted = list(names)
            for batch in file.iter_batches(rows, row_groups=groups, columns=wanted):
                if skip < batch.num_rows:
                    # A column "a" brings "a.b" along.
                    rest = batch.slice(skip).select(wanted)
                    yield pa.Table.from_batches([rest])
                skip = max(0, skip - batch.num_rows)


def _has_checksum(path: Path, start: int) -> bool:
    """Tell whether the page at byte `start` carries a checksum: the first is at byte 4.

    The header of a page is a Thrift structure: kind, two lengths and the checksum are its
    fields 1 to 4, each a byte 0x15 (the next field, a 32-bit integer) and a number of up to
    five bytes of which all but the last have the top bit set.
    """
    with path.open("rb") as file:
        file.seek(start)
        header = file.read(32)
    at = 0
    for _ in range(3):
        if header[at : at + 1] != b"\x15":
            return False
        at += 1
        while at < len(header) and header[at] & 0x80:
            at += 1
        at += 1
    return header[at : at + 1] == b"\x15"


@final
class PolarsPart(Part):
    """A file read by polars, slice by slice; checksums are not looked at."""

    def __init__(self, path: Path) -> None:
        import polars as pl

        self.path = path
        with readable(path.name, _KIND):
            self._lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            schema = self._lazy.collect_schema()
            self.rows = int(self._lazy.select(pl.len()).collect().item())
        self.schema = nw.from_native(pl.DataFrame(schema=schema), eager_only=True).schema
        self.stored = [str(kind) for kind in schema.dtypes()]

    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """See `Part.read`."""
        with readable(self.path.name, _KIND):
            every = list(self.schema)
            at = [every.index(name) for name in names]
            yield from spread(at, self._lazy, start, self.rows, rows)
