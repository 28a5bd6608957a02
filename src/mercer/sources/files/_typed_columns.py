"""Columns of any kind in Parquet and Arrow files, with the types that the file gives them."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

from mercer.sources._other_columns import FileColumns, Held
from mercer.sources._scan import scan
from mercer.sources.files import _arrow, _parquet
from mercer.sources.files._file_parts import FilePart
from mercer.sources.frames._numeric_columns import kind_in_words

_KINDS = {"text": "text", "categories": "text", "dates": "date", "only missing values": "empty"}


def open_parquet(path: Path) -> "TypedColumns":
    """Return the columns of a Parquet file, of a folder of them, or of a pattern."""
    return TypedColumns(path, _parquet.open_parts(path))


def open_arrow(path: Path) -> "TypedColumns":
    """Return the columns of an Arrow file."""
    return TypedColumns(path, [_arrow.open_part(path)])


@final
class TypedColumns(FileColumns):
    """Every column of a file whose columns have types; categories are read as text."""

    def __init__(self, path: Path, parts: Sequence[FilePart]) -> None:
        first = parts[0]
        self.path, self._parts = path, parts
        kinds = zip(first.schema.items(), first.stored, strict=True)
        self.schema = {name: _held(dtype, word) for (name, dtype), word in kinds}

    def numbers(self, names: Sequence[str]) -> Any:
        """See `FileColumns.numbers`."""
        return scan(self.path, columns=list(names))

    def _read(self, names: Sequence[str], rows: int, as_written: bool) -> Iterator[Any]:
        import polars as pl

        first: Any = None
        parts = (part.read(names, rows, 0) for part in self._parts)
        for native in itertools.chain.from_iterable(parts):
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
