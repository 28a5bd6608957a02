"""The columns of an analysis, side by side: numbers as they are, and those made of others."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.sources import BlockSource, KeptRows, Widened
from mercer.tables._made import MadeColumns
from mercer.tables._reading import as_frame, held_rows, opened
from mercer.tables._recipe import Recipe


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Wide:
    """The rows of a file as a recipe makes them.

    Attributes
    ----------
    recipe : Recipe
        What was made.
    whole : BlockSource
        All rows of the file.
    made : MadeColumns or None
        Those columns that are made of dates and categories.
    held : array of shape (n, p) or None
        The rows, where they are few enough to be held.
    source : BlockSource
        The rows that are read: those before `stop`.
    stop : int or None
        Where reading stops.
    """

    recipe: Recipe
    whole: BlockSource
    made: MadeColumns | None
    held: Array | None
    source: BlockSource
    stop: int | None

    def without(self, out: Array) -> Any:
        """Return what can be fitted: the rows but for those left out."""
        if self.held is not None:
            rows = np.delete(self.held, out, axis=0) if len(out) else self.held
            return as_frame(rows, self.recipe.names)
        if len(out) == 0:
            return self.source
        return KeptRows(self.whole, out, self.stop, rows=self._known)

    @property
    def _known(self) -> int | None:
        """Rows of the file, as far as they are read, where they were counted."""
        return self.source.shape[0] if self.source.counted else None


def wide(
    path: Any,
    recipe: Recipe,
    *,
    stop: int | None,
    rows: int | None,
    memory: float | None = None,
) -> Wide:
    """Return the rows of a file as the recipe makes them; held where they are few.

    Parameters
    ----------
    path : path
        The file.
    recipe : Recipe
        Which columns, and what is made of them.
    stop : int or None
        Read only so many rows.
    rows : int or None
        How many rows are read, where somebody has counted them.
    memory : float or None
        Bytes that may be taken; None for 80 % of what is free.
    """
    numbers = opened(path, recipe.numbers, recipe.reading) if recipe.numbers else None
    made = None
    if recipe.dates or recipe.levels:
        made = MadeColumns(path, recipe, rows if stop is None else None, numbers)
    parts = [part for part in (numbers, made) if part is not None]
    whole = parts[0] if len(parts) == 1 else Widened(parts)
    uncounted = rows is not None and not whole.counted
    cut = stop is not None and not (whole.counted and whole.shape[0] <= stop)
    source = KeptRows(whole, (), stop, rows=rows) if cut or uncounted else whole
    return Wide(recipe, whole, made, held_rows(source, memory=memory), source, stop)
