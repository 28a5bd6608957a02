"""Matrices between things: distances as they are, correlations as distances."""

from typing import Any

import numpy as np

from mercer.tables._recipe import Recipe

SQUARE = ("distances", "correlations")


def as_distances(rows: Any, recipe: Recipe) -> Any:
    """Return correlations r as distances √(2 - 2r), of standardised columns; else the rows.

    Parameters
    ----------
    rows : polars.DataFrame or BlockSource
        The matrix.
    recipe : Recipe
        Its `table` says what it holds.
    """
    if recipe.table != "correlations":
        return rows
    import polars as pl

    cells = rows.to_numpy()
    between = np.sqrt(np.maximum(2.0 - 2.0 * cells, 0.0))
    return pl.DataFrame(between, schema=list(recipe.names), orient="row")
