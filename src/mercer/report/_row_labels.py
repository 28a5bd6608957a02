"""What is given beside the rows: names and columns to colour by, checked once.

Levels: a column of text as small numbers, and names of a few rows of many.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError


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


MISSING = "(missing)"


def row_names_of(given: Any, rows: int) -> Sequence[Any] | None:
    """Return the names of the rows, or None; as many as there are rows.

    Parameters
    ----------
    given : sequence or None
        As they came.
    rows : int
        Rows of the page.
    """
    if given is None or callable(given):  # then the rows that stand out are named later
        return None
    _same_number("row_names has one name for every row", given, rows)
    return [None if _is_missing(name) else str(name) for name in given]


def colours_of(given: Mapping[str, Any] | None, rows: int) -> dict[str, Any]:
    """Return the columns to colour by: numbers as they are, all else as text.

    A cell without a value is NaN among numbers and "(missing)" among text.

    Parameters
    ----------
    given : mapping of str to `rows` values, or None
        As they came.
    rows : int
        Rows of the page.
    """
    made = dict[str, Any]()
    for name, values in (given or {}).items():
        title = str(name) or "(unnamed)"
        what = f"the column {title!r} to colour by has one value for every row"
        _same_number(what, values, rows)
        made[title] = _column(values)
    return made


def _column(values: Any) -> Any:
    """Return numbers (n,) of float, int or unsigned type, or text (n,)."""
    if isinstance(values, Levels):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufU":
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind in "Mm":
        return np.where(np.isnat(values), MISSING, values.astype(str))
    cells = list(values)
    there = [cell for cell in cells if not _is_missing(cell)]
    if there and all(_is_number(cell) for cell in there):
        return np.array([np.nan if _is_missing(cell) else float(cell) for cell in cells])
    return np.array([MISSING if _is_missing(cell) else str(cell) for cell in cells])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    """Tell whether a cell has no value: None, NaN, or a missing date."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # a missing value of pandas will not be compared
        return True


def _same_number(what: str, given: Any, rows: int) -> None:
    shape = given.shape if hasattr(given, "shape") else (len(given),)
    if tuple(shape) != (rows,):
        many = f"{shape[0]:,} for {rows:,} rows" if len(shape) == 1 else f"shape {shape}"
        raise InputError(
            what,
            got=many,
            fix="pass them in the order of the rows",
        )
