"""Columns that stand beside the coordinates: the names of the rows, and colours."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import Array

ROW = "row"  # the name of the column of row numbers, where the rows have no names


class Beside:
    """Columns of a file that go with its rows, handed out in pieces of any length.

    Parameters
    ----------
    frames : iterator of polars.DataFrame or None
        The columns, in the order of the rows; None numbers the rows.
    kept : array of int or None
        Which rows of the file are used; None for all.
    """

    def __init__(self, frames: Iterator[Any] | None, kept: Array | None = None) -> None:
        self._frames, self._kept = frames, kept
        self._held: Any = None
        self._at = 0

    def take(self, count: int) -> Any:
        """Return the columns of the next `count` rows as a polars frame."""
        import polars as pl

        start, self._at = self._at, self._at + count
        if self._frames is None:
            rows = np.arange(start, start + count)
            return pl.DataFrame({ROW: rows if self._kept is None else self._kept[rows]})
        parts = [] if self._held is None else [self._held]
        while sum(map(len, parts)) < count:
            parts.append(next(self._frames))
        whole = pl.concat(parts) if len(parts) > 1 else parts[0]
        self._held = whole[count:]
        return whole[:count]
