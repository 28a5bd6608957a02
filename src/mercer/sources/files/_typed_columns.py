"""Columns of any kind in Parquet and Arrow files, with the types that the file gives them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import narwhals.stable.v2 as nw

from mercer.sources._other_columns import FileColumns, Held
from mercer.sources._scan import scan
from mercer.sources.files import _arrow
from mercer.sources.files._parquet import open_parts
from mercer.sources.frames._numeric_columns import kind_in_words, stored_types
from mercer.sources.frames._table_source import readable, spread

_KINDS = {"text": "text", "categories": "text", "dates": "date", "only missing values": "empty"}
_ARROW = "the Arrow file"

Reader = Callable[[Sequence[str], int], Iterator[Any]]


def open_parquet(path: Path) -> "TypedColumns":
    """Return the columns of a Parquet file, of a folder of them, or of a pattern."""
    parts = open_parts(path)

    def reader(names: Sequence[str], rows: int) -> Iterator[Any]:
        for part in parts:
            yield from part.read(names, rows, 0)

    return TypedColumns(path, parts[0].schema, parts[0].stored, reader)


def open_arrow(path: Path) -> "TypedColumns":
    """Return the columns of an Arrow file."""
    framed = _arrow.is_framed(path)
    try:
        import pyarrow.ipc
    except ImportError:
        if framed:
            return _by_polars(path)
        raise _arrow.no_stream(path) from None
    empty = _arrow.empty_table(path, framed, pyarrow)

    def reader(names: Sequence[str], rows: int) -> Iterator[Any]:
        at = sorted(empty.column_names.index(name) for name in names)
        with readable(path.name, _ARROW):
            for batch in _arrow.batches(path, framed, pyarrow, at):
                batch.validate()
                table = pyarrow.Table.from_batches([batch]).select(list(names))
                yield from (table.slice(i, rows) for i in range(0, table.num_rows, rows))

    schema = nw.from_native(empty, eager_only=True).schema
    return TypedColumns(path, schema, stored_types(empty), reader)


def _by_polars(path: Path) -> "TypedColumns":
    """Return the columns of an Arrow file where pyarrow is not installed."""
    import polars as pl

    with readable(path.name, _ARROW):
        lazy = pl.scan_ipc(path)
        empty = pl.DataFrame(schema=lazy.collect_schema())
        n = int(lazy.select(pl.len()).collect().item())

    def reader(names: Sequence[str], rows: int) -> Iterator[Any]:
        with readable(path.name, _ARROW):
            yield from spread([empty.columns.index(name) for name in names], lazy, 0, n, rows)

    schema = nw.from_native(empty, eager_only=True).schema
    return TypedColumns(path, schema, stored_types(empty), reader)


@final
class TypedColumns(FileColumns):
    """Every column of a file whose columns have types; categories are read as text."""

    def __init__(
        self, path: Path, schema: Mapping[str, Any], stored: Sequence[str], reader: Reader
    ) -> None:
        kinds = zip(schema.items(), stored, strict=True)
        self.path, self._reader = path, reader
        self.schema = {name: _held(dtype, word) for (name, dtype), word in kinds}

    def numbers(self, names: Sequence[str]) -> Any:
        """See `FileColumns.numbers`."""
        return scan(self.path, columns=list(names))

    def _read(self, names: Sequence[str], rows: int, as_written: bool) -> Iterator[Any]:
        import polars as pl

        first: Any = None
        for native in self._reader(names, rows):
            frame = native if isinstance(native, pl.DataFrame) else pl.from_arrow(native)
            assert isinstance(frame, pl.DataFrame)
            frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
            frame.columns = list(names)
            # Files of one table may differ in the type of a column: the first has the word.
            first = frame.schema if first is None else first
            yield frame if frame.schema == first else frame.cast(dict(first), strict=False)


def _held(dtype: Any, stored: str) -> Held:
    words = kind_in_words(dtype, stored)
    if words is not None:
        kind = _KINDS.get(words, "other")
        return Held(kind, words if kind == "other" or words == "categories" else "")
    if str(dtype) == "Boolean":
        return Held("flag")
    return Held("integer" if dtype.is_integer() else "number")
