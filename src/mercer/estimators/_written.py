"""Coordinates written block by block; a file appears under its name only when complete."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError

Writer = Callable[[Array], None]


@contextmanager
def writer_of(path: Path, names: list[str]) -> Iterator[Writer]:
    """Hand out a function that appends rows (r, k); the kind of file is in its name.

    The rows go to a temporary file beside `path`, which takes its name at the end. An error
    on the way leaves what stood there before as it was.
    """
    kinds = {".npy": _npy, ".csv": _text, ".tsv": _text, ".parquet": _parquet}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            "the kind of file to write is not known by its name",
            got=f"out={path.name!r}",
            fix="use a name that ends in .npy, .csv, .tsv or .parquet",
        )
    if not path.parent.is_dir():
        raise InputError(
            "the folder to write to does not exist",
            got=str(path.parent),
            fix="make it first",
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
        kind(file, names, end) as write,
    ):
        yield write


@contextmanager
def _open(descriptor: int) -> Iterator[IO[bytes]]:
    """Give the file of a descriptor, which is closed by its owner."""
    file = os.fdopen(descriptor, "wb", closefd=False)
    try:
        yield file
        file.flush()
    finally:
        # What a failed write has left in the buffer must not be written again.
        with suppress(OSError):
            file.close()


@contextmanager
def _npy(file: IO[bytes], names: list[str], _suffix: str) -> Iterator[Writer]:
    """The header is written again at the end, when the number of rows is known."""
    rows, dtype = 0, np.dtype(np.float64)
    _npy_header(file, rows, len(names), dtype)

    def write(block: Array) -> None:
        nonlocal rows, dtype
        dtype = block.dtype if rows == 0 else dtype
        rows += block.shape[0]
        file.write(np.ascontiguousarray(block, dtype).data)

    yield write
    file.seek(0)
    _npy_header(file, rows, len(names), dtype)


def _npy_header(file: IO[bytes], rows: int, columns: int, dtype: Any) -> None:
    """Write a header of 128 bytes, whatever the number of rows."""
    shape = f"({rows}, {columns})"
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    file.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little"))
    file.write(text.ljust(117).encode("latin1") + b"\n")


@contextmanager
def _text(file: IO[bytes], names: list[str], suffix: str) -> Iterator[Writer]:
    """Numbers with all their digits, names in the first line."""
    import polars as pl

    between = "\t" if suffix == ".tsv" else ","

    def write(block: Array, header: bool = False) -> None:
        frame = pl.DataFrame({name: block[:, i] for i, name in enumerate(names)})
        file.write(frame.write_csv(separator=between, include_header=header).encode())

    write(np.empty((0, len(names))), header=True)
    yield write


@contextmanager
def _parquet(file: IO[bytes], names: list[str], _suffix: str) -> Iterator[Writer]:
    """One row group per block."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(
            "Parquet files are written block by block with pyarrow",
            got="pyarrow is not installed",
            fix="pip install pyarrow, or write .npy or .csv",
        ) from None
    writer: Any = None

    def write(block: Array) -> None:
        nonlocal writer
        table = pa.table({name: block[:, i] for i, name in enumerate(names)})
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema, write_page_checksum=True)
        writer.write_table(table)

    try:
        yield write
        if writer is None:
            write(np.empty((0, len(names))))
        writer.close()
    except BaseException:
        with suppress(Exception):  # or it would try again when it is forgotten
            writer.close()
        raise
