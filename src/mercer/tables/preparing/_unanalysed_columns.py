"""Columns that are not analysed, row by row beside those that are.

The column of groups: a word for every row; rows without one are set aside.

The column of weights.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import NA, KeptRows, other_columns
from mercer.tables._table_gaps import SettledGaps, numbered, said_out
from mercer.tables._table_reading import opened
from mercer.tables.looking._table_look import Look


def kept_frames(
    path: Any,
    names: Sequence[str],
    rows: int,
    reading: Mapping[str, Any],
    *,
    out: Sequence[int] | Array = (),
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

    held, count, at, out = list[Any](), 0, 0, np.asarray(out, np.int64)
    for frame in other_columns(path, names, rows=rows, reading=reading, as_written=True):
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


_ROWS = 1 << 14  # read in one go


def with_groups(seen: Look, found: SettledGaps) -> tuple[SettledGaps, Array, list[str]]:
    """Return what is left out, the groups of all rows as text (n,), and what is said.

    Parameters
    ----------
    seen : Look
        The table.
    found : SettledGaps
        What is left out for missing cells.
    """
    asked, (name,) = seen.asked, seen.named("target")
    frames = kept_frames(seen.path, (name,), _ROWS, asked.reading, stop=asked.rows)
    at, words = coded(frames, name)
    lacks = {*NA, *asked.reading.get("na", ())}
    absent = np.flatnonzero(np.isin(at, [i for i, word in enumerate(words) if word in lacks]))
    said = list[str]()
    if len(absent):
        said.append(said_out(absent, len(at), f"no group in {name!r}"))
    out = np.union1d(found.out, absent).astype(np.int64)
    counts = np.bincount(np.delete(at, out), minlength=len(words))
    there = np.flatnonzero(counts)
    if len(there) < 2:
        raise InputError(
            "two groups are needed at least (--target)",
            got=f"{seen.label}: {name!r} has {len(there)} in the rows that are left",
            fix="name another column, or see --missing",
        )
    shown = ", ".join(f"{words[i]} {counts[i]:,}" for i in there[np.argsort(words[there])][:8])
    more = f" and {len(there) - 8} more" if len(there) > 8 else ""
    said.append(f"{len(there)} groups in {name!r}: {shown}{more}")
    return dataclasses.replace(found, out=out), words[at], said


_WEIGHT_ROWS = 1 << 16  # read in one go


def weights_of(
    path: Any, name: str, reading: Mapping[str, Any], *, out: Array, stop: int | None
) -> tuple[Array, list[str]]:
    """Return repeat counts, float64 (n,), and what is said of rows that do not count.

    Parameters
    ----------
    path : path
        The file.
    name : str
        The column.
    reading : mapping
        Options of `mercer.scan`.
    out : array of int
        Rows to leave out, ascending.
    stop : int or None
        The number of the row at which to stop.
    """
    source = KeptRows(opened(path, (name,), reading), out, stop)
    parts, at = list[Array](), 0
    for block in source.blocks(_WEIGHT_ROWS):
        part = np.asarray(block.toarray() if source.nnz is not None else block, np.float64)
        bad = np.flatnonzero(~(np.isfinite(part[:, 0]) & (part[:, 0] >= 0)))
        if bad.size:
            raise _wrong(source.place(at + int(bad[0]), 0), float(part[bad[0], 0]))
        parts.append(part[:, 0].copy())
        at += len(part)
    weights = np.concatenate(parts) if parts else np.empty(0)
    zero = np.flatnonzero(weights == 0)
    if len(zero) == len(weights):
        raise InputError(
            "all rows weigh 0 (--weights)",
            got=f"{source.label}: column {name!r}, {len(weights):,} rows",
            fix="name a column of counts of which some are positive",
        )
    if zero.size == 0:
        return weights, []
    verb = "weighs 0 and does" if zero.size == 1 else "weigh 0 and do"
    shown = numbered(source.rows_there(zero))
    return weights, [f"{zero.size:,} of {len(weights):,} rows {verb} not count: {shown}"]


def _wrong(place: str, value: float) -> InputError:
    shown = "a missing cell" if np.isnan(value) else f"{value:g}"
    return InputError(
        "weights must be finite and not negative (--weights)",
        got=f"{shown} at {place}",
        fix="use 0 to leave a row out",
    )
