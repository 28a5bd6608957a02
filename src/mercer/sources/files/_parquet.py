"""Parquet: one file, a folder of files, or a pattern with *.

One Parquet file: its columns, its rows, and a walk over them.

pyarrow reads page by page and checks checksums, so it is taken where it is installed. A walk
over 200 MB in one row group then holds 20 MB. polars holds a row group, and slice by slice
it reads the group again every time.
"""

import logging
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.sources._block_source import FileIds
from mercer.sources.files._file_parts import FilePart, PartsSource, PolarsPart
from mercer.sources.files._file_source import PARQUET, fingerprint_of, ids_of, matching
from mercer.sources.frames._numeric_columns import Cells, check_twins
from mercer.sources.frames._table_source import readable

_KIND = "the Parquet file"
_BUFFER = 1 << 14  # bytes read at once per column
_PIECE = 1 << 22  # bytes of rows that are decoded in one go: pyarrow takes several times that
_PAGES = 3e6  # bytes that a reader of pages takes for a column at most
_SLICE = 4  # blocks that are read in one go, some columns after others
_COLUMNS, _DECODED = 4e6, 24.0  # bytes that these columns take, and a row of one
_METADATA = 14_000.0  # bytes that the description of a column takes
_MAGIC = b"PAR1"
# A page holds at most 2^31 equal values, and its header takes more than 16 bytes.
_MOST_ROWS = 2**27  # per byte of a file


def open_part(path: Path) -> FilePart:
    """Return the file, opened by pyarrow where it is installed, else by polars."""
    size = _check_ends(path)
    part: FilePart
    try:
        import pyarrow.parquet
    except ImportError:
        part = by_polars(path)
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
class PyarrowPart(FilePart):
    """A file read by pyarrow, page by page."""

    kind = _KIND

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
        """See `FilePart.read`: begins at the row group that holds row `start`."""
        with readable(self.path.name, _KIND), self._file() as file:
            for group, skip in self._from(start):
                yield from _by_pages(file, group, list(names), rows, skip)

    def _from(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield the row groups from row `start` on, and the rows that are passed over."""
        ends = np.cumsum(self._groups)
        first = int(np.searchsorted(ends, start, side="right"))
        for group in range(first, len(self._groups)):
            skip = start - int(ends[group - 1]) if group else start
            yield group, max(0, skip)

    def blocks(self, cells: Cells, rows: int, start: int) -> Iterator[Array]:
        """See `FilePart.blocks`: of a row group all pages, or some columns after others.

        A reader of pages holds one page of every column, which for wide tables is the whole
        row group. Where that is more than a few blocks, some rows are taken of one column
        after another; if need be the columns are read again for the next rows.
        """
        names = list(cells.names)
        with readable(self.path.name, _KIND), self._file() as file:
            for group, skip in self._from(start):
                count = self._groups[group]
                if count > _SLICE * rows and 8 * _SLICE * rows >= _PAGES:
                    piece = max(1, min(rows, _PIECE // (8 * len(names))))
                    for frame in _by_pages(file, group, names, piece, skip):
                        yield cells.block(frame, range(len(names)))
                        del frame
                    continue
                step = max(1, min(count, _SLICE * rows))
                for at in range(skip, count, step):
                    held = _by_columns(file, group, cells, slice(at, min(at + step, count)))
                    for first in range(0, len(held), rows):
                        # A copy, so that nothing keeps all of them alive.
                        yield held[first : first + rows].copy()
                    del held

    def reading_bytes(self, rows: int, columns: int) -> float:
        """See `FilePart.reading_bytes`: some blocks, and the cells of a few columns."""
        longest = max(self._groups, default=0)
        kept = 8.0 * min(longest, _SLICE * rows) * columns
        return kept + max(_COLUMNS, _DECODED * longest) + _METADATA * columns


def _by_pages(file: Any, group: int, names: list[str], rows: int, skip: int) -> Iterator[Any]:
    """Yield tables of a row group, all columns side by side, without its first rows."""
    import pyarrow as pa

    for batch in file.iter_batches(rows, row_groups=[group], columns=names):
        if skip < batch.num_rows:
            # A column "a" brings "a.b" along.
            yield pa.Table.from_batches([batch.slice(skip).select(names)])
        skip = max(0, skip - batch.num_rows)


def _by_columns(file: Any, group: int, cells: Cells, rows: slice) -> Array:
    """Return some rows of a row group as numbers, a few columns after others."""
    names, length = list(cells.names), rows.stop - rows.start
    count = file.metadata.row_group(group).num_rows
    few = int(max(1, _COLUMNS // max(1.0, _DECODED * count)))
    held = np.empty((length, len(names)), cells.dtype)
    for at in range(0, len(names), few):
        some = names[at : at + few]
        table = file.read_row_group(group, columns=some, use_threads=False).select(some)
        found = cells.floats(table.slice(rows.start, length), range(len(some)))
        held = held[: len(found)]  # fewer than announced: the walk says so at its end
        held[:, at : at + few] = found[: len(held)]
        del table  # or the next columns would be read beside these
    return cells.said(held)


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


def by_polars(path: Path) -> PolarsPart:
    """Return the file, opened by polars."""
    return PolarsPart(path, _KIND, "scan_parquet", glob=False, hive_partitioning=False)


def open_parquet(path: Path, *, columns: Any = None, drop: Any = None) -> "ParquetSource":
    """Return the rows of a Parquet file, of all files of a folder, or of a pattern.

    Parameters
    ----------
    path : Path
        A file; a folder, of which the files ``*.parquet`` are taken; or a pattern. Files
        follow each other by name, and must have the same columns in the same order.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    path = Path(path)
    parts = open_parts(path)
    label = path.name if len(parts) == 1 else f"{path.name} ({len(parts)} files)"
    return ParquetSource(parts, label, columns, drop, path if path.is_dir() else None)


def open_parts(path: Path) -> list[FilePart]:
    """Return the files meant, which have the same columns in the same order."""
    parts = [open_part(file) for file in _files(path)]
    for part in parts[1:]:
        _check_same(parts[0], part)
    return parts


def _files(path: Path) -> list[Path]:
    """Return the files meant, by name."""
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = sorted(path.iterdir())
        hive = [part for part in inside if part.is_dir() and "=" in part.name]
        if hive:
            raise NotSupportedError(
                "folders that hold a column in their names are not read",
                got=f"{path.name} holds {hive[0].name}",
                fix="pass a pattern for the files, or polars.scan_parquet(folder)",
            )
        deeper = next((p for p in inside if p.is_dir() and any(p.rglob("*.parquet"))), None)
        if deeper is not None:
            raise NotSupportedError(
                "folders inside a folder of Parquet files are not read",
                got=f"{path.name} holds {deeper.name}, with Parquet files in it",
                fix='pass a pattern for the files, such as "folder/**/*.parquet"',
            )
        found = [part for part in inside if part.suffix.lower() in PARQUET]
    else:
        found = matching(path)
    # Names that begin with _ or . are notes of the program that wrote the folder.
    found = [part for part in found if part.is_file() and part.name[0] not in "_."]
    if not found:
        raise InputError(
            "there is no Parquet file here",
            got=str(path),
            fix="check the folder, or the pattern",
        )
    return found


def _check_same(first: FilePart, part: FilePart) -> None:
    """Refuse a file whose columns are not those of the first, by name and order."""
    ours, theirs = list(first.schema), list(part.schema)
    if ours == theirs:
        return
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
    if at >= 0:
        said = f"column {at} is {theirs[at]!r}, and {ours[at]!r} in {first.path.name}"
    elif len(theirs) > len(ours):
        said = f"column {theirs[len(ours)]!r} is not in {first.path.name}"
    else:
        said = f"column {ours[len(theirs)]!r} of {first.path.name} is missing"
    raise InputError(
        "all Parquet files must have the same columns in the same order",
        got=f"{part.path.name}: {said}",
        fix="write the files alike, or scan them one by one",
    )


def _take_in(cells: Cells, part: FilePart) -> None:
    """Take in the types of one more file; refuse it where a used column holds no numbers."""
    types = list(part.schema.values())
    odd = cells.misfit(types, part.stored)
    if odd is not None:
        raise InputError(
            "a column must hold numbers in all Parquet files",
            got=f"{part.path.name}: {odd[0]!r} holds {odd[1]}",
            fix=f"leave the column out with drop={odd[0]!r}",
        )
    cells.widen(types)


@final
class ParquetSource(PartsSource):
    """Rows of Parquet files, one after another; a walk holds a batch and a page per column.

    Attributes
    ----------
    verified : bool
        Whether all files carry checksums, and these are checked on the way: damage that
        leaves a file readable is then found. Checking needs pyarrow.
    """

    def __init__(
        self,
        parts: list[FilePart],
        label: str,
        columns: Any,
        drop: Any,
        folder: Path | None = None,
    ) -> None:
        self._folder = folder
        cells = Cells(parts[0].schema, parts[0].stored, columns, drop, label)
        for part in parts[1:]:
            _take_in(cells, part)
        super().__init__(parts, cells)
        self.verified = all(part.verified for part in parts if part.rows)
        if not self.verified:
            logging.getLogger("mercer").info(
                "%s: no checksums, or no pyarrow to check them; damage may go unnoticed",
                label,
            )

    def _torn(self, got: str) -> InputError:
        return InputError(
            "the Parquet file does not hold the rows that its end announces",
            got=got,
            fix="write or fetch it again, and check that it is whole",
        )

    def files(self) -> FileIds:
        """See `Source.files`: a new file in a folder would be read with it the next time."""
        return super().files() | ids_of([] if self._folder is None else [self._folder])

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: also the names of the files."""
        return fingerprint_of(self._files(), self.names, [path.name for path in self._files()])
