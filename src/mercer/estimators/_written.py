"""Coordinates written block by block; a file appears under its name only when complete."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError

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
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            with kind(file, names, path.suffix.lower()) as write:
                yield write
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _npy(file: IO[bytes], names: list[str], _suffix: str) -> Iterator[Writer]:
    """The header is written again at the end, when the number of rows is known."""
    rows, dtype = 0, np.dtype(np.float64)

    def write(block: Array) -> None:
        nonlocal rows, dtype
        if rows == 0:
            dtype = block.dtype
            _npy_header(file, 0, len(names), dtype)
        rows += block.shape[0]
        file.write(np.ascontiguousarray(block, dtype).tobytes())

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
    first = True

    def write(block: Array) -> None:
        nonlocal first
        frame = pl.DataFrame({name: block[:, i] for i, name in enumerate(names)})
        file.write(frame.write_csv(separator=between, include_header=first).encode())
        first = False

    yield write


@contextmanager
def _parquet(file: IO[bytes], names: list[str], _suffix: str) -> Iterator[Writer]:
    """One row group per block."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise NotSupportedError(
            "Parquet files are written block by block with pyarrow",
            got="pyarrow is not installed",
            fix="install pyarrow, or write .npy or .csv",
        ) from None
    writer: Any = None

    def write(block: Array) -> None:
        nonlocal writer
        table = pa.table({name: block[:, i] for i, name in enumerate(names)})
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema, write_page_checksum=True)
        writer.write_table(table)

    yield write
    if writer is not None:
        writer.close()
