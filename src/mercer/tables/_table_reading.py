"""Reading a table: its numbers, its other columns, and the rows held where they are few."""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array, available_bytes, show_bytes
from mercer.errors import BudgetError, DataWarning, InputError
from mercer.sources import (
    BlockSource,
    KeptColumns,
    bad_cell_error,
    fingerprint_of,
    open_columns,
    scan,
)
from mercer.sources._scan import opener_of
from mercer.sources.files._plain_files import plain_file

HELD = 256e6  # bytes of rows up to which they are held in memory
_COPIES = 4  # of rows that are held: as read, without some, as a frame, in the fit
_ALLOWED = 0.8  # of the memory that is free
_BLOCK = 1 << 23  # bytes that are read in one go


def opened(path: Any, names: Sequence[str], reading: Mapping[str, Any]) -> BlockSource:
    """Return the source of these columns of numbers, in this order.

    Columns that are left out are not warned of: whoever looked at the table says so.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        if not open_columns(path, **reading).chooses:
            # Columns are numbers alike: all of them are read faster than a choice.
            source = _scanned(path, reading)
            at = {name: i for i, name in enumerate(names_of(source))}
            if list(at) == list(names):
                return source
            if source.nnz is not None and set(names) <= set(at):
                return KeptColumns(source, [at[name] for name in names])
        return _scanned(path, {**reading, "columns": list(names)})


def _scanned(path: Any, options: Mapping[str, Any]) -> BlockSource:
    source = scan(Path(path), **options)
    assert isinstance(source, BlockSource)  # a path is always read block by block
    return source


def known_options(path: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of `mercer.scan` that the kind of this file has."""
    path = plain_file(Path(path))
    module, function = opener_of(path)
    opener = getattr(import_module(f"mercer.sources.{module}"), function)
    known = inspect.signature(opener).parameters
    return {name: value for name, value in reading.items() if name in known}


def names_of(source: BlockSource) -> tuple[str, ...]:
    """Return the names of the columns; their places, from "0" on, where they have none."""
    return source.names or tuple(map(str, range(source.shape[1])))


def allowed_bytes(memory: float | None) -> float:
    """Return the memory that may be taken: as the user says, else 80 % of what is free."""
    return _ALLOWED * available_bytes() if memory is None else memory


def refuse_large(need: float, memory: float | None, what: str, of: str, fix: str) -> None:
    """Refuse what would take more memory than is allowed."""
    allowed = allowed_bytes(memory)
    if need > allowed:
        got = f"{of} take {show_bytes(need)}, {show_bytes(allowed)} allowed"
        raise BudgetError(what, got=got, fix=fix)


def held_rows(
    source: BlockSource, most: float | None = None, *, memory: float | None = None
) -> Array | None:
    """Return all rows (n, p) as floats, or None where they take more than `most` bytes.

    An infinite cell is refused by the place where it stands in the file.

    Parameters
    ----------
    source : BlockSource
        The rows.
    most : float or None
        None for 256 MB, or a quarter of the memory allowed where that is less.
    memory : float or None
        See `allowed_bytes`.
    """
    n, p = source.shape
    most = min(HELD, allowed_bytes(memory) / _COPIES) if most is None else most
    if source.nnz is not None or 8 * n * p > most:
        return None
    # Of rows that are counted one copy is enough; others are put together at the end.
    whole = np.empty((n if source.counted else 0, p), source.products)
    parts, counted, count = [whole], source.counted, 0
    for block in source.blocks(max(1, _BLOCK // (8 * p))):
        if block.dtype.kind == "f" and np.isinf(block).any():
            row, column = (int(i) for i in np.argwhere(np.isinf(block))[0])
            raise bad_cell_error(source.place(count + row, column), float(block[row, column]))
        start, count = count, count + len(block)
        if 8 * count * p > most:
            return None
        if not counted:
            parts.append(block.astype(source.products))
        elif count <= n:
            whole[start:count] = block
    if counted and count != n:
        raise InputError(
            "the file has changed since it was looked at",
            got=f"{source.label}: {count:,} rows, and {n:,} before",
            fix="let nothing write to it meanwhile",
        )
    return whole if counted else np.concatenate(parts)


def as_frame(rows: Array, names: Sequence[str]) -> Any:
    """Return rows (n, p) as a polars frame."""
    import polars as pl

    return pl.DataFrame(rows, schema=list(names), orient="row")


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    inside = path.rglob("*") if path.is_dir() else path.parent.glob(path.name)
    return sum(part.stat().st_size for part in inside if part.is_file())


def print_of(path: Path) -> str:
    """Return a text that changes when the file does."""
    return fingerprint_of([path] if path.exists() else sorted(path.parent.glob(path.name)))
