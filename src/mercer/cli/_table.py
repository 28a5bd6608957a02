"""Read a file of numbers: .npy stays on disk, text goes through polars."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import InputError, NotSupportedError

__all__ = ["Table", "read"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Table:
    """What was read from a file.

    Parameters
    ----------
    X : array or frame of shape (n, p)
        The numeric columns.
    columns : tuple of str
        Names of the columns used; empty for files without names.
    left_out : tuple of str
        Names of the columns that are not numbers.
    missing : dict of str to int
        Empty cells of the columns used, where there are any.
    """

    X: Any
    columns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    missing: dict[str, int] = field(default_factory=dict)


def read(path: Path) -> Table:
    """Return the numbers of a .npy, .csv or .tsv file, and what was left out."""
    if not path.is_file():
        raise InputError("the file cannot be read", got=str(path), fix="check the path")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _npy(path)
    if suffix in _SEPARATORS:
        return _text(path, _SEPARATORS[suffix])
    raise NotSupportedError(
        "this kind of file is not read",
        got=f"{path.name} (suffix {suffix or 'none'})",
        fix="save the table as .npy, .csv or .tsv",
    )


def _npy(path: Path) -> Table:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise InputError(
            "the file is not a plain .npy array", got=f"{path}: {error}", fix="use numpy.save"
        ) from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(
            "a PCA needs a table of numbers",
            got=f"{path.name}: shape {X.shape}, dtype {X.dtype}",
            fix="save an array of shape (rows, columns)",
        )
    return Table(X)


def _text(path: Path, separator: str) -> Table:
    import polars as pl

    try:
        # Types are read off the whole file: a column that turns to text late is text.
        frame = pl.read_csv(path, separator=separator, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        first = str(error).strip().splitlines()[0]
        raise InputError(
            "the file is not a readable table",
            got=f"{path}: {first}",
            fix="check header, separator and encoding (UTF-8)",
        ) from error
    numeric = [n for n, t in frame.schema.items() if t.is_numeric() or t == pl.Boolean]
    left_out = tuple(n for n in frame.columns if n not in numeric)
    if not numeric or frame.height == 0:
        raise InputError(
            "the table has no column of numbers",
            got=f"{path.name}: {frame.height} rows, columns {', '.join(frame.columns)}",
            fix="give at least one numeric column and one row",
        )
    missing = {name: n for name in numeric if (n := frame[name].null_count())}
    return Table(frame.select(numeric), tuple(numeric), left_out, missing)
