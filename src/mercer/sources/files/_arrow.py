"""Arrow files (.arrow, .ipc, .feather), in the file format and in the stream format."""

import itertools
import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError, NotSupportedError
from mercer.sources.files._file_parts import FilePart, PartsSource, PolarsPart
from mercer.sources.files._file_source import let_go
from mercer.sources.frames._numeric_columns import (
    Cells,
    check_twins,
    kind_in_words,
    stored_types,
)
from mercer.sources.frames._table_source import readable

Done = Callable[[], None]
_KIND = "the Arrow file"
_TOGETHER = 64  # columns that are read before their pages are given back
_WINDOW = 1 << 17  # bytes that looking at one cell of a mapped file may bring in


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
        with readable(path.name, _KIND), self._mapped() as (file, _):
            table = self._reader(file).schema.empty_table()
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
            return np.cumsum([0, *(batch.num_rows for batch, _ in self._batches([one]))])

    @contextmanager
    def _mapped(self) -> Iterator[tuple[Any, Done]]:
        """Open the file; also return what gives back the pages that have been read."""
        with self.path.open("rb") as file:
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with self._pyarrow.BufferReader(self._pyarrow.py_buffer(pages)) as opened:
            yield opened, partial(let_go, pages)

    def _reader(self, file: Any, fields: list[int] | None = None) -> Any:
        ipc = self._pyarrow.ipc
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        return (ipc.open_file if self._framed else ipc.open_stream)(file, options=options)

    @cached_property
    def _packed(self) -> bool:
        """Whether cells are packed: then batches are unpacked whole, else they are mapped."""
        with self._mapped() as (file, _):
            whole = file.read_buffer()
            file.seek(0)
            with self._reader(file) as reader:
                if not self._framed:
                    batch = next(iter(reader), None)
                else:
                    batch = reader.get_batch(0) if reader.num_record_batches else None
                columns = [] if batch is None else batch.columns
                buffers = [one for column in columns for one in column.buffers() if one]
            cells = [one.address - whole.address for one in buffers if one.size]
        return any(not 0 <= at < whole.size for at in cells)

    def _batches(self, fields: list[int], first: int = 0) -> Iterator[tuple[Any, Done]]:
        """Yield record batches with these fields (ascending), from batch `first` on."""
        # Mapped cells that are not asked for cost nothing, chosen ones are copied.
        chosen = fields if self._packed else None
        with self._mapped() as (file, done), self._reader(file, chosen) as reader:
            batches: Iterator[Any]
            if self._framed:
                batches = map(reader.get_batch, range(first, reader.num_record_batches))
            else:
                batches = itertools.islice(reader, first, None)
            for batch in batches:
                yield batch, done

    def _tables(
        self, names: Sequence[str], rows: int, start: int
    ) -> Iterator[tuple[Any, Done]]:
        """Yield tables of about `rows` rows, and what gives back the pages behind them."""
        first = int(np.searchsorted(self._ends[1:], start, side="right")) if start else 0
        skip = start - int(self._ends[first]) if start else 0
        every = list(self.schema)
        fields = sorted(every.index(name) for name in names)
        with readable(self.path.name, _KIND):
            for batch, done in self._batches(fields, first):
                batch.validate()
                # A reader hands fields out in the order of the file.
                table = self._pyarrow.Table.from_batches([batch]).select(list(names))
                for at in range(skip, batch.num_rows, rows):
                    yield table.slice(at, rows), done
                skip = 0

    def read(self, names: Sequence[str], rows: int, start: int) -> Iterator[Any]:
        """See `FilePart.read`: begins at the batch that holds row `start`."""
        for table, done in self._tables(names, rows, start):
            yield table
            done()

    def blocks(self, cells: Cells, rows: int, start: int) -> Iterator[Array]:
        """See `FilePart.blocks`: some columns after others, whose pages are given back."""
        names = list(cells.names)
        for table, done in self._tables(names, rows, start):
            with readable(self.path.name, _KIND):
                held = np.empty((table.num_rows, len(names)), cells.dtype)
                for at in range(0, len(names), _TOGETHER):
                    some = names[at : at + _TOGETHER]
                    held[:, at : at + _TOGETHER] = cells.floats(
                        table.select(some), range(len(some))
                    )
                    done()
            yield cells.said(held)
            del held

    def reading_bytes(self, rows: int, columns: int) -> float:
        """See `FilePart.reading_bytes`: a few columns of a block, mapped and as numbers."""
        few = min(columns, _TOGETHER)
        longest = int(np.max(np.diff(self._ends), initial=0))
        mapped = few * (8.0 * min(rows, longest) + _WINDOW)
        whole = 16.0 * columns * longest if self._packed else 0.0  # as stored, and unpacked
        return super().reading_bytes(rows, few) + mapped + whole
