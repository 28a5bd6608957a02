"""Columns that are not analysed, row by row beside those that are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.tables._reading import other_rows


def kept_frames(
    path: Any,
    names: Sequence[str],
    rows: int,
    reading: Mapping[str, Any],
    *,
    out: Array,
    stop: int | None,
) -> Iterator[Any]:
    """Yield polars frames of exactly `rows` rows, the last may be shorter, of any columns.

    Parameters
    ----------
    path : path
        The file.
    names : sequence of str
        Columns of any kind; cells of delimited text come as they are written.
    rows : int
        Rows of a frame.
    reading : mapping
        Options of `mercer.scan`.
    out : array of int
        Rows to leave out, ascending.
    stop : int or None
        The number of the row at which to stop.
    """
    import polars as pl

    held, count, at = list[Any](), 0, 0
    for frame in other_rows(path, names, rows, reading, as_written=True):
        if stop is not None and at + frame.height > stop:
            frame = frame.head(max(0, stop - at))
        first, last = np.searchsorted(out, (at, at + frame.height))
        at += frame.height
        if last > first:
            stay = np.ones(frame.height, bool)
            stay[out[first:last] - (at - frame.height)] = False
            frame = frame.filter(pl.Series(stay))
        held.append(frame)
        count += frame.height
        if count >= rows:
            joined = pl.concat(held)
            yield joined.head(rows)
            held, count = [joined.slice(rows)], count - rows
        if stop is not None and at >= stop:
            break
    if count:
        yield pl.concat(held)


def texts(frame: Any, name: str) -> list[str]:
    """Return the cells of a column as text, "" where one is missing; 7.0 is "7"."""
    return _as_text(frame, name).to_list()  # type: ignore[no-any-return]


def coded(frames: Iterable[Any], name: str) -> tuple[Array, Array]:
    """Return the place of every row among the texts of a column (n,), and these texts.

    Texts stand in the order in which they come first; a missing cell is "". Only texts that
    differ are held.

    Parameters
    ----------
    frames : iterable of polars.DataFrame
        The rows, in order.
    name : str
        The column.
    """
    import polars as pl

    place, parts = dict[str, int](), [np.empty(0, np.int32)]
    for frame in frames:
        cells = _as_text(frame, name)
        there = cells.unique(maintain_order=True).to_list()
        for text in there:
            place.setdefault(text, len(place))
        own = [place[text] for text in there]
        parts.append(cells.replace_strict(there, own, return_dtype=pl.Int32).to_numpy())
    return np.concatenate(parts), np.asarray(list(place), np.str_)


def _as_text(frame: Any, name: str) -> Any:
    import polars as pl

    cells = frame[name]
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        if (cells == cells.round(0)).all() and cells.abs().max() is not None:
            whole = cells.cast(pl.Int64, strict=False)
            cells = whole if whole.null_count() == cells.null_count() else cells
    return cells.cast(pl.String).fill_null("")
