"""Coordinates written block by block; a file appears under its name only when complete.

Text that a spreadsheet must not take for a formula.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError
from mercer.estimators.walk._parameters import Kind

if TYPE_CHECKING:
    from polars import DataFrame

# What a formula begins with in some spreadsheet, also as wide letters; a line break or a tab
# in front is skipped by some.
_FIRST = "=+-@\t\r\n＝＋－＠"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"  # text that is a number is no formula


def harmless(text: str) -> str:
    """Return `text` with ' before it where a spreadsheet would calculate it.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-5"), harmless("a=b")
    ("'=1+1", '-5', 'a=b')
    """
    risky = text[:1] != "" and text[0] in _FIRST and not re.match(_NUMBER, text, re.ASCII)
    return "'" + text if risky else text


def harmless_columns(frame: "DataFrame") -> "DataFrame":
    """Return a polars frame whose text cells and names are harmless; numbers stay.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of any kind. Categories become text.
    """
    import polars as pl

    pattern = f"^[{re.escape(_FIRST)}]"
    made = []
    for name, kind in frame.schema.items():
        column = pl.col(name)
        if kind in (pl.Categorical, pl.Enum):
            column, kind = column.cast(pl.String), pl.String()
        if kind == pl.String:
            risky = column.str.contains(pattern) & ~column.str.contains(_NUMBER)
            column = pl.when(risky).then(pl.lit("'") + column).otherwise(column)
        made.append(column.alias(harmless(name)))
    return frame.select(made)


# Appends numbers (r, k), with r rows of other columns in front of them where there are some.
Writer: TypeAlias = Callable[..., None]


@contextmanager
def writer_of(path: Path, names: list[str], *, raw: bool = False) -> Iterator[Writer]:
    """Hand out a function that appends rows (r, k); the kind of file is in its name.

    The rows go to a temporary file beside `path`, which takes its name at the end. An error
    on the way leaves what stood there before as it was. The function takes as its second
    argument a polars frame of r rows: columns of any kind that stand before the numbers. They
    are the same for every block; .npy, which holds numbers alone, goes without them.

    Parameters
    ----------
    path : Path
        Ends in .npy, .csv, .tsv or .parquet.
    names : list of k str
        Names of the columns of numbers.
    raw : bool
        Whether text files get text as it is, also what a spreadsheet takes for a formula.
    """
    kind = kind_of_output(path)
    if not path.parent.is_dir():
        raise InputError(
            "the folder to write to does not exist", got=str(path.parent), fix="make it first"
        )
    if path.exists() and not path.is_file():
        raise InputError(
            "coordinates are written to a file",
            got=f"{path}, which is a folder, a pipe or a device",
            fix="choose another name",
        )
    from mercer.store import replacing

    end = path.suffix.lower()
    with (
        replacing(path.resolve()) as descriptor,
        _open(descriptor) as file,
        kind(file, names, end, raw) as write,
    ):
        yield write


def kind_of_output(path: Path) -> Callable[..., AbstractContextManager[Writer]]:
    """Return what writes the kind of file that the name of `path` says."""
    kinds = {".npy": _npy, ".csv": _text, ".tsv": _text, ".parquet": _parquet}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            "the kind of file to write is not known by its name",
            got=f"out={path.name!r}",
            fix="use a name that ends in .npy, .csv, .tsv or .parquet",
        )
    return kind


def text_writer(
    file: IO[bytes], names: list[str], *, raw: bool = False
) -> AbstractContextManager[Writer]:
    """Return the writer of CSV to an open file, such as stdout; see `writer_of`."""
    return _text(file, names, ".csv", raw)


def _joined(block: Array, names: list[str], beside: "DataFrame | None") -> "DataFrame":
    """Return a polars frame of the columns beside, where there are some, and the numbers."""
    import polars as pl

    numbers = {name: np.ascontiguousarray(block[:, i]) for i, name in enumerate(names)}
    if beside is None:
        return pl.DataFrame(numbers)
    return beside.with_columns(**{name: pl.Series(part) for name, part in numbers.items()})


@contextmanager
def _open(descriptor: int) -> Iterator[IO[bytes]]:
    """Give the file of a descriptor, which is closed by its owner."""
    from mercer.store import NewFile

    new = NewFile(descriptor)
    file = io.BufferedWriter(new)
    try:
        yield file
        file.flush()
    except Exception:
        if new.refused is not None:  # libraries that write to it say it in their own words
            raise new.refused from None
        raise
    finally:
        # What a failed write has left in the buffer must not be written again.
        with suppress(OSError):
            file.close()


@contextmanager
def _npy(
    file: IO[bytes], names: list[str], _suffix: str, _raw: bool = False
) -> Iterator[Writer]:
    """The header is written again at the end, when the number of rows is known."""
    rows, dtype = 0, np.dtype(np.float64)
    _npy_header(file, rows, len(names), dtype)

    def write(block: Array, _beside: "DataFrame | None" = None) -> None:
        nonlocal rows, dtype
        dtype = block.dtype if rows == 0 else dtype
        rows += block.shape[0]
        file.write(np.ascontiguousarray(block, dtype).data)

    yield write
    file.seek(0)
    _npy_header(file, rows, len(names), dtype)


def _npy_header(file: IO[bytes], rows: int, columns: int, dtype: Kind) -> None:
    """Write a header of 128 bytes, whatever the number of rows."""
    shape = f"({rows}, {columns})"
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little"))
    file.write(text.ljust(117).encode("latin1") + b"\n")


@contextmanager
def _text(
    file: IO[bytes], names: list[str], suffix: str, raw: bool = False
) -> Iterator[Writer]:
    """Numbers with all their digits, names in the first line; text that is no formula."""
    between = "\t" if suffix == ".tsv" else ","
    begun = False

    def write(block: Array, beside: "DataFrame | None" = None) -> None:
        nonlocal begun
        frame = _joined(block, names, beside)
        frame = frame if raw else harmless_columns(frame)
        frame.write_csv(file, separator=between, include_header=not begun)
        begun = True

    yield write
    if not begun:
        write(np.empty((0, len(names))))


@contextmanager
def _parquet(
    file: IO[bytes], names: list[str], _suffix: str, _raw: bool = False
) -> Iterator[Writer]:
    """One row group per block."""
    pq = parquet_library()
    writer: Any = None

    def write(block: Array, beside: "DataFrame | None" = None) -> None:
        nonlocal writer
        table = _joined(block, names, beside).to_arrow()
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema, write_page_checksum=True)
        writer.write_table(table.cast(writer.schema))

    try:
        yield write
        if writer is None:
            write(np.empty((0, len(names))))
        writer.close()
    except BaseException:
        with suppress(Exception):  # or it would try again when it is forgotten
            writer.close()
        raise


def parquet_library() -> Any:
    """Return what writes Parquet block by block; where it is missing, say how to get it."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(
            "Parquet files are written block by block with pyarrow",
            got="pyarrow is not installed",
            fix="pip install pyarrow, or write .npy or .csv",
        ) from None
    return pq
