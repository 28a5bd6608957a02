"""Levels: a column of text as small numbers, and names of a few rows of many."""

import dataclasses
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from mercer.arrays import Array


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Levels:
    """A column of n texts, as their places among the different ones.

    Attributes
    ----------
    at : int array of shape (n,)
        Place of each row in `levels`.
    levels : array of str
        The texts, all different.
    """

    at: Array
    levels: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,)."""
        return tuple(self.at.shape)

    @property
    def dtype(self) -> Any:
        """That of the texts."""
        return self.levels.dtype

    def __len__(self) -> int:
        """Return n."""
        return len(self.at)

    def __getitem__(self, rows: Any) -> "Levels":
        """Return some of the rows."""
        return Levels(self.at[rows], self.levels)


def levels_of(values: Any) -> tuple[Array, Array, Array]:
    """Return the texts of a column in order, the place of each row among them, and counts.

    Parameters
    ----------
    values : Levels or array of n str
        The column; levels that no row has are left out.
    """
    if not isinstance(values, Levels):
        return np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    counts = np.bincount(values.at, minlength=len(values.levels))
    there = np.flatnonzero(counts)
    there = there[np.argsort(values.levels[there], kind="stable")]
    place = np.zeros(len(values.levels), np.int64)
    place[there] = np.arange(len(there))
    return values.levels[there], place[values.at], counts[there]


@final
class SomeNames:
    """Names of some of n rows; the others have none.

    Parameters
    ----------
    names : mapping of int to str
        Names by number of the row.
    rows : int
        Rows of the table, n.
    """

    def __init__(self, names: Mapping[int, str], rows: int) -> None:
        self._names = names
        self._rows = rows

    def __len__(self) -> int:
        """Return n."""
        return self._rows

    def __getitem__(self, row: int) -> str | None:
        """Return the name of a row, or None."""
        return self._names.get(int(row))
