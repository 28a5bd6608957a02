"""Coordinates block by block, and the table that is written of them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer.arrays import Array
from mercer.cli._beside import Beside
from mercer.estimators._written import text_writer, writer_of
from mercer.sources import BlockSource

_ROWS = 1 << 16  # of a block for methods that only take rows in memory


def coordinates(model: Any, rows: Any) -> Iterator[Array]:
    """Yield the coordinates of rows in memory or in a file, block by block.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : polars.DataFrame or BlockSource
        As `mercer.tables` makes them.
    """
    if hasattr(model, "_streamed"):
        yield from model._streamed(rows)
        return
    if not isinstance(rows, BlockSource):
        for at in range(0, rows.shape[0], _ROWS):
            yield model.transform(rows[at : at + _ROWS])
        return
    import polars as pl

    names = getattr(model, "feature_names_in_", None)
    for block in rows.blocks(_ROWS):
        named = None if names is None else pl.from_numpy(block, schema=list(names))
        yield model.transform(block if named is None else named)


def fit_coordinates(model: Any, rows: Any) -> Iterator[Array]:
    """Yield the coordinates of the rows of the fit.

    A map keeps them; what it says of the same rows as new ones may differ a little.

    Parameters
    ----------
    model : estimator
        Fitted to `rows`.
    rows : polars.DataFrame, CSR array or BlockSource
        As `mercer.tables` makes them.
    """
    for name in ("embedding_", "row_coordinates_"):
        found = getattr(model, name, None)
        if found is not None and len(found) == rows.shape[0]:
            yield found
            return
    yield from coordinates(model, rows)


def write_coordinates(
    path: Path | None, parts: Iterator[Array], names: list[str], beside: Beside, *, raw: bool
) -> int:
    """Write a table of coordinates with the columns beside them; return the number of rows.

    Parameters
    ----------
    path : Path or None
        The file; None writes CSV to stdout.
    parts : iterator of ndarray of shape (r, k)
        The coordinates.
    names : list of k str
        The names of the axes.
    beside : Beside
        What stands before them.
    raw : bool
        Whether text that a spreadsheet would calculate stays as it is.
    """
    if path is None:
        sys.stdout.flush()
        file = sys.stdout.buffer
        with text_writer(file, names, raw=raw) as write:
            done = _written(write, parts, beside)
        file.flush()
        return done
    with writer_of(path, names, raw=raw) as write:
        return _written(write, parts, beside)


def _written(write: Any, parts: Iterator[Array], beside: Beside) -> int:
    rows = 0
    for part in parts:
        write(part, beside.take(len(part)))
        rows += len(part)
    return rows
