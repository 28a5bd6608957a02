"""Arrow files (.arrow, .ipc, .feather), in the file format and in the stream format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError, NotSupportedError
from mercer.sources.files._file_source import fingerprint_of
from mercer.sources.frames._numeric_columns import Cells, check_twins, stored_types
from mercer.sources.frames._table_source import TableSource, readable, spread

_KIND = "the Arrow file"


def open_arrow(path: Path, *, columns: Any = None, drop: Any = None) -> TableSource:
    """Return the rows of an Arrow file; the stream format needs pyarrow.

    Parameters
    ----------
    path : Path
        A file of record batches.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    path = Path(path)
    framed = is_framed(path)
    try:
        import pyarrow.ipc
    except ImportError:
        if framed:
            return PolarsArrowSource(path, columns, drop)
        raise no_stream(path) from None
    return ArrowSource(path, framed, pyarrow, columns, drop)


def no_stream(path: Path) -> MissingExtraError:
    """Return the error of a stream that nobody here can read."""
    return MissingExtraError(
        "Arrow's stream format is read by pyarrow, which is not installed",
        got=path.name,
        fix="pip install pyarrow, or write Arrow's file format or Parquet",
    )


def empty_table(path: Path, framed: bool, pyarrow: Any) -> Any:
    """Return a pyarrow table with the columns of the file and no rows."""
    with (
        readable(path.name, _KIND),
        pyarrow.memory_map(str(path)) as file,
        _reader(file, framed, pyarrow, None) as reader,
    ):
        table = reader.schema.empty_table()
        check_twins(table.column_names, path.name)
        return table


def batches(
    path: Path, framed: bool, pyarrow: Any, fields: list[int], first: int = 0
) -> Iterator[Any]:
    """Yield record batches with these fields (ascending), from batch number `first` on."""
    with (
        pyarrow.memory_map(str(path)) as file,
        _reader(file, framed, pyarrow, fields) as reader,
    ):
        if framed:
            for number in range(first, reader.num_record_batches):
                yield reader.get_batch(number)
            return
        for number, batch in enumerate(reader):
            if number >= first:
                yield batch


def _reader(file: Any, framed: bool, pyarrow: Any, fields: list[int] | None) -> Any:
    ipc = pyarrow.ipc
    options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    return (ipc.open_file if framed else ipc.open_stream)(file, options=options)


def is_framed(path: Path) -> bool:
    """Tell Arrow's file format from its stream format; refuse what is neither."""
    with readable(path.name, _KIND), path.open("rb") as file:
        head = file.read(8)
    if head[:6] == b"ARROW1":
        return True
    if head[:4] == b"FEA1":
        raise NotSupportedError(
            "the first version of Feather is not read",
            got=path.name,
            fix="read it with pandas.read_feather, and write it again",
        )
    # A stream begins with a mark and the length of its schema, which is never negative.
    if len(head) < 8 or head[:4] != b"\xff\xff\xff\xff" or head[7] & 0x80:
        raise InputError(
            "this is no Arrow file",
            got=f"{path.name} " + (f"begins with {head!r}" if head else "is empty"),
            fix="check what wrote it, and its name's end",
        )
    return False


@final
class ArrowSource(TableSource):
    """Record batches of a mapped file; a walk holds one block, and one batch if packed."""

    rate = 5e8

    def __init__(self, path: Path, framed: bool, pyarrow: Any, columns: Any, drop: Any) -> None:
        self.path, self._framed, self._pyarrow = path, framed, pyarrow
        table = empty_table(path, framed, pyarrow)
        schema, stored = nw.from_native(table, eager_only=True).schema, stored_types(table)
        cells = Cells(schema, stored, columns, drop, path.name)
        with readable(path.name, _KIND):
            # One column is enough to count, and nothing of it is read unless it is packed.
            one = batches(path, framed, pyarrow, [cells.at[0]])
            counts = [batch.num_rows for batch in one]
        self._ends = np.cumsum([0, *counts])
        self._adopt(cells, int(self._ends[-1]))

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        return self._whole(self._blocks(rows, start), start)

    def _blocks(self, rows: int, start: int) -> Iterator[Array]:
        first = int(np.searchsorted(self._ends[1:], start, side="right"))
        skip = start - int(self._ends[first])
        every = range(len(self.names))
        # A reader hands fields out in the order of the file.
        fields = sorted(self.cells.at)
        order = [fields.index(i) for i in self.cells.at]
        with readable(self.label, _KIND):
            for batch in batches(self.path, self._framed, self._pyarrow, fields, first):
                batch.validate()
                table = self._pyarrow.Table.from_batches([batch]).select(order)
                for at in range(skip, batch.num_rows, rows):
                    yield self.cells.block(table.slice(at, rows), every)
                skip = 0

    def _files(self) -> tuple[Path, ...]:
        return (self.path,)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: the file, and the columns that are used."""
        return fingerprint_of([self.path], self.names)


@final
class PolarsArrowSource(TableSource):
    """The file format without pyarrow: slices, read by polars."""

    rate = 2e8

    def __init__(self, path: Path, columns: Any, drop: Any) -> None:
        import polars as pl

        self.path = path
        with readable(path.name, _KIND):
            self._lazy = pl.scan_ipc(path)
            empty = pl.DataFrame(schema=self._lazy.collect_schema())
            n = int(self._lazy.select(pl.len()).collect().item())
        schema = nw.from_native(empty, eager_only=True).schema
        self._adopt(Cells(schema, stored_types(empty), columns, drop, path.name), n)

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        return self._whole(self._blocks(rows, start), start)

    def _blocks(self, rows: int, start: int) -> Iterator[Array]:
        every = range(len(self.names))
        with readable(self.label, _KIND):
            for frame in spread(self.cells.at, self._lazy, start, self.shape[0], rows):
                yield self.cells.block(frame, every)

    def _files(self) -> tuple[Path, ...]:
        return (self.path,)

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`: the file, and the columns that are used."""
        return fingerprint_of([self.path], self.names)
