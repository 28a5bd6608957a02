"""Whether columns share a scale, or must be divided by their standard deviation.

Rows whose columns are divided by their standard deviation, for methods that do not.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array, show_bytes
from mercer.errors import BudgetError
from mercer.sources import BlockSource
from mercer.tables._recipe import Recipe
from mercer.tables._table_reading import allowed_bytes, as_frame, held_rows

_RATIO = 10.0  # of the largest standard deviation to the smallest that still shares a scale
_ROUNDING = 1 + 1e-9  # so that a ratio of ten is ten however it was added up
_CHUNK = 1 << 25  # bytes looked at in one go


def standardized(
    asked: str,
    names: Sequence[str],
    deviations: Sequence[float | None],
    made: bool,
    unit: str,
) -> tuple[bool, str]:
    """Return whether columns are standardised, and a line that says so ("" where told).

    auto does unless the columns say that they share a unit; dates and categories beside
    numbers share none.

    Parameters
    ----------
    asked : {"auto", "yes", "no"}
        The user's word.
    names : sequence of str
        Columns of numbers.
    deviations : sequence of float or None
        Their standard deviations; None where nobody knows.
    made : bool
        Whether there are columns that were made of dates or categories.
    unit : str
        What says that they share a unit, see `shared_unit`; "" where nothing does.
    """
    if asked != "auto":
        return asked == "yes", ""
    keep = "(--standardize no to keep units)"
    if made:
        return True, f"dates and categories have no common unit: standardised {keep}"
    known = [
        (float(sd), name)
        for sd, name in zip(deviations, names, strict=True)
        if sd is not None and np.isfinite(sd) and sd > 0
    ]
    if not known:
        return False, "columns do not vary: only centred"
    (small, low), (large, high) = min(known), max(known)
    if unit:
        return False, (
            f"columns share a unit, {unit} (sd {short(small)} to {short(large)}): only centred"
            " (--standardize yes to divide by sd)"
        )
    if len(known) == 1:
        return False, f"one column (sd {short(small)}): only centred"
    return True, (
        f"nothing says that columns share a unit (sd of {low} {short(small)}, of {high}"
        f" {short(large)}): standardised {keep}"
    )


def alike(deviations: Sequence[float | None]) -> str:
    """Tell of columns whose standard deviations lie within a factor of ten; "" where not."""
    known = [sd for sd in deviations if sd is not None and np.isfinite(sd) and sd > 0]
    within = bool(known) and max(known) <= _RATIO * min(known) * _ROUNDING
    return "rows of one table, sd within a factor of ten" if within else ""


def deviations_of(rows: Array, weights: Array | None = None) -> list[float | None]:
    """Return the standard deviations √(Σw(x - x̄)²/(Σw - 1)) of the cells there, per column.

    None where fewer than two count.

    Parameters
    ----------
    rows : array (n, p)
        The table; missing cells are NaN.
    weights : array (n,) or None
        Repeat counts; rows of weight 0 do not count. None for one each.
    """
    n, p = rows.shape
    step, found = max(1, _CHUNK // (8 * max(1, n))), list[float | None]()
    w = np.ones((n, 1)) if weights is None else np.asarray(weights, np.float64)[:, None]
    for at in range(0, p, step):
        part = np.asarray(rows[:, at : at + step], np.float64)
        there = ~np.isnan(part) & (w > 0)
        counts = np.sum(np.broadcast_to(w, part.shape), axis=0, where=there)
        # Scaled first: squares of large cells would overflow.
        size = np.max(np.abs(part), axis=0, where=there, initial=0.0)
        part = np.where(there, part, 0.0) / np.where(size > 0, size, 1.0)
        mean = np.sum(w * part, axis=0, where=there) / np.where(counts > 0, counts, 1.0)
        squares = np.sum(w * (part - mean) ** 2, axis=0, where=there)
        sds = np.sqrt(squares / np.where(counts > 1, counts - 1, 1.0)) * size
        # What rounding leaves of a constant column is no spread.
        sds = np.where(sds <= 1e-14 * size * np.sqrt(np.maximum(counts, 1)), 0.0, sds)
        found += [float(sd) if c > 1 else None for sd, c in zip(sds, counts, strict=True)]
    return found


def deviations_walked(blocks: Iterable[Array], weights: Array) -> list[float | None]:
    """Return what `deviations_of` returns, of rows that come block by block.

    Parameters
    ----------
    blocks : iterable of arrays (r, p)
        The rows in order.
    weights : array (n,)
        Repeat counts; rows of weight 0 do not count.
    """
    at, total, mean, squares, size = 0, np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1)
    for block in blocks:
        part = np.asarray(block, np.float64)
        w = np.asarray(weights[at : at + len(part)], np.float64)[:, None]
        at += len(part)
        there = ~np.isnan(part) & (w > 0)
        part = np.where(there, part, 0.0)
        counts = np.sum(np.broadcast_to(w, part.shape), axis=0, where=there)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not known
            middle = np.sum(w * part, axis=0) / np.where(counts > 0, counts, 1.0)
            inner = np.sum(w * (part - middle) ** 2, axis=0, where=there)
            both = np.where(total + counts > 0, total + counts, 1.0)
            squares = squares + inner + (middle - mean) ** 2 * total * counts / both
            mean = mean + (middle - mean) * counts / both
        total = total + counts
        size = np.maximum(size, np.max(np.abs(part), axis=0, initial=0.0))
    sds = np.sqrt(squares / np.where(total > 1, total - 1, 1.0))
    sds = np.where(sds <= 1e-14 * size * np.sqrt(np.maximum(total, 1)), 0.0, sds)
    return [float(sd) if c > 1 else None for sd, c in zip(sds, total, strict=True)]


def short(number: float) -> str:
    """Return a number with three digits, for people.

    Examples
    --------
    >>> short(801.9545), short(1.97479), short(14054.6)
    ('802', '1.97', '14,055')
    """
    if 1000 <= abs(number) < 1e7:
        return f"{number:,.0f}"
    return f"{number:.3g}"


_COPIES = 4  # of the rows: as read, divided, as a frame, in the fit


def scaled(rows: Any, recipe: Recipe, memory: float | None) -> tuple[Any, Recipe]:
    """Return rows divided by the standard deviations of their columns, and the recipe.

    A column that does not vary stays as it is.

    Parameters
    ----------
    rows : polars.DataFrame or BlockSource
        As they are.
    recipe : Recipe
        How they were made.
    memory : float or None
        Bytes that may be taken.
    """
    rows = in_memory(rows, recipe, memory)
    found = deviations_of(rows.to_numpy())
    sds = [sd if sd is not None and np.isfinite(sd) and sd > 0 else 1.0 for sd in found]
    recipe = dataclasses.replace(recipe, scales=dict(zip(recipe.names, sds, strict=True)))
    return divided(rows, recipe, memory), recipe


def divided(rows: Any, recipe: Recipe, memory: float | None) -> Any:
    """Return rows divided as the recipe says; as they are where it says nothing."""
    if not recipe.scales:
        return rows
    import polars as pl

    rows = in_memory(rows, recipe, memory)
    return rows.with_columns(pl.col(name) / sd for name, sd in recipe.scales.items())


def in_memory(rows: Any, recipe: Recipe, memory: float | None) -> Any:
    """Return rows as a polars frame; refused where they take too much.

    Parameters
    ----------
    rows : polars.DataFrame or BlockSource
        The rows.
    recipe : Recipe
        How they are called.
    memory : float or None
        Bytes that may be taken.
    """
    if not isinstance(rows, BlockSource):
        return rows
    allowed = allowed_bytes(memory)
    held = None if rows.nnz is not None else held_rows(rows, allowed / _COPIES)
    if held is None:
        n, p = rows.shape
        raise BudgetError(
            "the method needs all rows in memory; nothing was fitted",
            got=f"{rows.label}: {n:,} x {p:,} take {show_bytes(_COPIES * 8.0 * n * p)},"
            f" {show_bytes(allowed)} allowed",
            fix="allow more with --memory, or read fewer rows: --rows",
        )
    return as_frame(np.asarray(held, np.float64), recipe.names)
