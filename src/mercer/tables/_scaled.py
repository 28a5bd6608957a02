"""Rows whose columns are divided by their standard deviation, for methods that do not."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import show_bytes
from mercer.errors import BudgetError
from mercer.sources import BlockSource
from mercer.tables._reading import allowed_bytes, as_frame, held_rows
from mercer.tables._recipe import Recipe
from mercer.tables._scales import deviations_of

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
