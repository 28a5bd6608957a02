"""Tables of categories, alone or beside numbers, as a frame in memory."""

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import KeptRows, other_columns, schema_of
from mercer.tables._recipe import NUMBERS, Recipe
from mercer.tables._table_gaps import (
    Gaps,
    lacking_columns,
    left_out,
    listed,
    refuse_missing,
    said_lacking,
    settled,
)
from mercer.tables._table_reading import held_rows, opened, refuse_large
from mercer.tables.looking._column_roles import is_category
from mercer.tables.looking._table_look import Look
from mercer.tables.looking._table_request import groups_of
from mercer.tables.preparing._prepared_rows import Prepared, made_of, weighed

_ROWS = 1 << 14  # read in one go
_WAYS = {"categories": ("passive", "fill", "level"), "mixed": ("fill",)}
_CELL = 48.0  # bytes of a category while it is read and coded


def prepared_framed(
    seen: Look, fills: bool | Collection[str], memory: float | None
) -> Prepared:
    """Return a frame of numbers (float64) and categories (text or whole numbers).

    Parameters
    ----------
    seen : Look
        What `look` found.
    fills, memory
        See `prepared`.
    """
    asked, recipe = seen.asked, _recipe(seen)
    if fills is True:
        fills = _WAYS[asked.table]
    _refuse_large(seen.rows, recipe, memory, seen.label)
    frame = framed(seen.path, recipe, asked.rows, seen.label)
    gaps, lacks = _gaps(frame), list[str]()
    lacking = lacking_columns(asked.missing, gaps, fills)
    if len(lacking):
        lacks = [said_lacking(lacking, gaps, recipe.columns)]
        recipe = _narrowed(recipe, {recipe.columns[i] for i in lacking})
        frame = frame.select(recipe.names)
        gaps = _gaps(frame)
    found = settled(asked.missing, gaps, recipe.columns, seen.label, fills)
    if len(found.without):
        gone = {recipe.columns[i] for i in found.without}
        recipe = _narrowed(recipe, gone)
        frame = frame.select(recipe.names)
    weights, light = weighed(seen, found.out)
    return made_of(
        frame[np.delete(np.arange(gaps.rows), found.out)] if len(found.out) else frame,
        recipe,
        gaps,
        found.out,
        (*lacks, *found.said, *light),
        missing=found.missing,
        path=seen.path,
        weights=weights,
        sup=seen.named("sup"),
        color=seen.named("color"),
        stop=asked.rows,
        groups=groups_of(asked, recipe.names, seen.label),
    )


def framed_again(
    path: Any, recipe: Recipe, missing: str, rows: int | None, memory: float | None
) -> Prepared:
    """Return the rows of another file as such a frame, by the recipe.

    Parameters
    ----------
    path : path
        The file; it has the columns of the recipe.
    recipe : Recipe
        How the rows of the fit were made.
    missing : str
        What the model does about missing cells; "raise" where it refuses them.
    rows : int or None
        Read only so many rows.
    memory : float or None
        Bytes that may be taken.
    """
    label = Path(path).name
    kinds = {name: held.kind for name, held in schema_of(path, **recipe.reading).items()}
    _refuse_kinds(recipe, kinds, label)
    frame = framed(path, recipe, rows, label)
    _refuse_large(frame.height, recipe, memory, label)
    gaps = _gaps(frame)
    if gaps.total and missing == "raise":
        first = f"; the first in row {int(gaps.some[0]) + 1:,} (counted from 1)"
        raise refuse_missing(gaps, recipe.columns, label, first)
    out, said = left_out(gaps, label, missing)
    kept = frame[np.delete(np.arange(gaps.rows), out)] if len(out) else frame
    return made_of(
        kept, recipe, gaps, out, said, kinds=kinds, missing=missing, path=path, stop=rows
    )


def framed(path: Any, recipe: Recipe, stop: int | None, label: str) -> Any:
    """Return the columns of a recipe as a polars frame, in its order.

    Numbers are float64, NaN where one is missing. Categories are text, or whole numbers where
    the file has numbers; null where one is missing.

    Parameters
    ----------
    path : path
        The file.
    recipe : Recipe
        The columns.
    stop : int or None
        The number of the row at which to stop.
    label : str
        What messages call the file.
    """
    import polars as pl

    texts = [name for name, how in recipe.categories.items() if how == "text"]
    numbers = [name for name in recipe.columns if name not in texts]
    parts = list[Any]()
    if numbers:
        cells = held_rows(KeptRows(opened(path, numbers, recipe.reading), (), stop), np.inf)
        assert cells is not None  # a file of text and numbers is not sparse
        parts.append(pl.DataFrame(np.asarray(cells, np.float64), schema=numbers, orient="row"))
    if texts:
        frames = other_columns(path, texts, rows=_ROWS, reading=recipe.reading)
        whole = pl.concat([frame.select(pl.all().cast(pl.String)) for frame in frames])
        parts.append(whole if stop is None else whole.head(stop))
    frame = pl.concat(parts, how="horizontal")
    whole_names = [name for name, how in recipe.categories.items() if how == "whole"]
    for name in whole_names:
        _refuse_decimals(frame[name], name, label)
    codes = [pl.col(name).fill_nan(None).cast(pl.Int64) for name in whole_names]
    return frame.with_columns(codes).select(recipe.names)


def _recipe(seen: Look) -> Recipe:
    """Return which columns are numbers and which are categories, in the order of the file."""
    active = [column for column in seen.columns if column.role == "active"]
    dates = [column.name for column in active if column.kind == "date"]
    if dates:
        raise InputError(
            "dates are neither counted in days nor categories here (--dates number)",
            got=f"{seen.label}: {listed([repr(name) for name in dates])}",
            fix="leave --dates out, or write the days as numbers",
        )
    schema = schema_of(seen.path, **seen.asked.reading)
    categories = {
        column.name: "whole" if schema[column.name].kind in ("number", "integer") else "text"
        for column in active
        if is_category(column.name, column.kind, seen.asked)
    }
    names = tuple(column.name for column in active)
    return Recipe(
        columns=names,
        names=names,
        id=next(iter(seen.named("id")), None),
        reading=dict(seen.asked.reading),
        table=seen.asked.table,
        categories=categories,
    )


def _narrowed(recipe: Recipe, gone: set[str]) -> Recipe:
    names = tuple(name for name in recipe.names if name not in gone)
    kept = {name: how for name, how in recipe.categories.items() if name not in gone}
    return dataclasses.replace(recipe, columns=names, names=names, categories=kept)


def _gaps(frame: Any) -> Gaps:
    gone = np.column_stack([_missing(series) for series in frame.iter_columns()])
    per_row = gone.sum(axis=1)
    empty = np.flatnonzero(per_row == gone.shape[1])
    some = np.flatnonzero((per_row > 0) & (per_row < gone.shape[1]))
    counts = gone.sum(axis=0) - len(empty)
    sparse = np.flatnonzero((2 * per_row > gone.shape[1]) & (per_row < gone.shape[1]))
    nothing = np.empty(0, np.int64)
    return Gaps(len(gone), counts, empty, some, nothing, sparse=sparse)


def _missing(series: Any) -> Array:
    found = series.is_null() if not series.dtype.is_float() else series.fill_nan(None).is_null()
    return np.asarray(found.to_numpy(), bool)


def _refuse_decimals(cells: Any, name: str, label: str) -> None:
    values = cells.to_numpy()
    odd = np.flatnonzero(np.isfinite(values) & (values != np.floor(values)))
    if len(odd):
        raise InputError(
            "a category that is written as a number is a whole number",
            got=f"{label}: {values[odd[0]]:g} in {name!r}, row {odd[0] + 1:,} (counted from 1)",
            fix=f"leave it out: --drop {name}; numbers and categories take --method famd",
        )


def _refuse_kinds(recipe: Recipe, kinds: Mapping[str, str], label: str) -> None:
    """Refuse a column of another file that holds text where the fit had numbers."""
    texts = {name for name, how in recipe.categories.items() if how == "text"}
    odd = [n for n in recipe.columns if n not in texts and kinds[n] not in (*NUMBERS, "empty")]
    if odd:
        raise InputError(
            "a column of the model held numbers, and holds something else here",
            got=f"{label}: {odd[0]!r} holds {kinds[odd[0]]}",
            fix="write it as in the table of the fit",
        )


def _refuse_large(rows: int, recipe: Recipe, memory: float | None, label: str) -> None:
    n, p = rows, len(recipe.columns)
    what = "the method needs all rows in memory; nothing was fitted"
    fix = "allow more with --memory, or read fewer rows: --rows"
    refuse_large(_CELL * n * p, memory, what, f"{label}: {n:,} x {p:,}", fix)
