"""Arrow files (.arrow, .ipc, .feather), in the file format and in the stream format."""

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError, NotSupportedError
from mercer.sources.files._file_parts import FilePart, PartsSource, PolarsPart
from mercer.sources.frames._numeric_columns import (
    Cells,
    check_twins,
    kind_in_words,
    stored_types,
)
from mercer.sources.frames._table_source import readable

_KIND = "the Arrow file"


def open_arrow(path: Path, *, columns: Any = None, drop: Any = None) -> PartsSource:
    """Return the rows of an Arrow file; the stream format needs pyarrow.

    Parameters
    ----------
    path : Path
        A file of record batches.
    columns, drop : names or positions, or None
        Columns to use, or not to use; None uses all that hold numbers.
    """
    part = open_part(Path(path))
    return PartsSource([part], Cells(part.schema, part.stored, columns, drop, part.path.name))


def open_part(path: Path) -> FilePart:
    """Return the file, opened by pyarrow where it is installed, else by polars."""
    framed = is_framed(path)
    try:
        import pyarrow.ipc
    except ImportError:
        if framed:
            return PolarsPart(path, _KIND, "scan_ipc")
        raise MissingExtraError(
            "Arrow's stream format is read by pyarrow, which is not installed",
            got=path.name,
            fix="pip install pyarrow, or write Arrow's file format or Parquet",
        ) from None
    return ArrowPart(path, framed, pyarrow)


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
class ArrowPart(FilePart):
    """Record batches of a mapped file; a walk holds one block, and one batch if packed."""

    kind, rate = _KIND, 5e8

    def __init__(self, path: Path, framed: bool, pyarrow: Any) -> None:
        self.path, self._framed, self._pyarrow = path, framed, pyarrow
        with readable(path.name, _KIND), self._file() as file, self._reader(file) as reader:
            table = reader.schema.empty_table()
        check_twins(table.column_names, path.name)
        self.schema = nw.from_native(table, eager_only=True).schema
        self.stored = stored_types(table)

    @property
    def rows(self) -> int:  # type: ignore[override]
        """See `FilePart`: the batches say it."""
        return int(self._ends[-1])

    @cached_property
    def _ends(self) -> Array:
        """Where the batches end: a column of numbers is read, if it is packed."""
        kinds = map(kind_in_words, self.schema.values(), self.stored)
        one = next((at for at, kind in enumerate(kinds) if kind is None), 0)
        with readable(self.path.name, _KIND):
            return np.cumsum([0, *(batch.num_rows for batch in self._batches([one]))])

    def _file(self) -> Any:
        return self._pyarrow.memory_map(str(self.path))

    def _reader(self, file: Any, fields: list[int] | None = None) -> Any:
        ipc = self._pyarrow.ipc
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        return (ipc.open_file if self._framed else ipc.open_stream)(file, options=options)

    def _batches(self, fields: list[int], first: int = 0) -> Iterator[Any]:
        """Yield record batches with these fields (ascending), from batch `first` on."""
        with self._file() as file, self._reader(file, fields) as reader:
            if self._framed:
                yield from map(reader.get_batch, range(first, reader.num_record_batches))
            else:
                yield from itertools.islice(reader, first, None)

    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """See `FilePart.read`: begins at the batch that holds row `start`."""
        first = int(np.searchsorted(self._ends[1:], start, side="right")) if start else 0
        skip = start - int(self._ends[first]) if start else 0
        every = list(self.schema)
        fields = sorted(every.index(name) for name in names)
        with readable(self.path.name, _KIND):
            for batch in self._batches(fields, first):
                batch.validate()
                # A reader hands fields out in the order of the file.
                table = self._pyarrow.Table.from_batches([batch]).select(list(names))
                for at in range(skip, batch.num_rows, rows):
                    yield table.slice(at, rows)
                skip = 0
