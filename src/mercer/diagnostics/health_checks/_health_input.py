"""What health looks at: rows, coordinates and names, in units in which squares are safe."""

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError

AXES = 10  # leading axes that are looked at
ROWS = 5000  # rows of a table that are looked at
_ROUNDING = 4 * 2.0**-52  # spread, as a share of the size of a column, that is rounding


@final
@dataclasses.dataclass(frozen=True)
class HealthInput:
    """A fit as checks see it.

    Attributes
    ----------
    table : ndarray of shape (m, p)
        Columns of mean zero and sum of squares m; zeros where a column does not vary.
    sizes : ndarray of shape (p,)
        Standard deviations of the columns, in units of the largest; zero where constant.
    scores : ndarray of shape (n, k)
        Coordinates about their mean, in units of their root mean square; zeros for an axis
        without variance.
    variances : ndarray of shape (k,)
        Of the axes, in units of the first.
    following : float
        Of the axis after the last, in the same units; zero where it is not known.
    rows : float
        Rows behind the axes.
    columns, row_names : sequence of str
        Names.
    groups : ndarray of shape (m,) or None
        Number of the group of every row of the table.
    inseparable : tuple of tuple of int
        Axes that arithmetic could not tell apart.
    """

    table: Array
    sizes: Array
    scores: Array
    variances: Array
    following: float
    rows: float
    columns: Sequence[str]
    row_names: Any
    groups: Array | None
    inseparable: tuple[tuple[int, ...], ...]

    def row(self, i: int) -> str:
        """Return the name of a row."""
        return f"row {i}" if self.row_names is None else f"row {self.row_names[i]}"


def axis(j: int) -> str:
    """Return the name of an axis, counted from zero."""
    return f"PC{j + 1}"


def units(table: Array) -> tuple[Array, Array]:
    """Return columns of mean zero and mean square one, and their deviations (p,).

    Deviations are in units of a power of two near the largest cell, so that numbers of
    1e±300 have squares; a column whose spread is rounding gets zeros.
    """
    X = np.asarray(table, np.float64)
    if not X.size:
        return np.zeros(X.shape), np.zeros(X.shape[1])
    lowest, highest = np.min(X, axis=0), np.max(X, axis=0)
    size = np.maximum(np.abs(lowest), np.abs(highest))
    half = highest / 2 - lowest / 2  # the whole may overflow
    alive = half > _ROUNDING * size
    safe = np.where(alive, half, 1.0)
    middle = lowest / 2 + highest / 2
    X = np.where(alive, (X - middle) / safe, 0.0)  # within [-1, 1]
    X -= X.mean(axis=0)
    deviations = np.sqrt(np.mean(X * X, axis=0))
    X /= np.where(alive, deviations, 1.0)
    largest = float(np.max(half, initial=0.0, where=alive))
    sizes = deviations * (np.where(alive, half, 0.0) / (largest or 1.0))
    return X, sizes


def checked(values: Any, what: str) -> Array:
    """Return a table of finite numbers."""
    found = np.asarray(values, np.float64)
    bad = np.count_nonzero(~np.isfinite(found))
    if found.ndim != 2 or bad:
        raise InputError(
            f"health needs {what} of finite numbers, rows and columns",
            got=f"shape {found.shape}, {bad} cells not finite",
            fix="fill or drop missing cells first",
        )
    return found


def numbered(groups: Any, rows: int) -> Array | None:
    """Return groups as numbers 0, 1, …, or None where there are not two of them."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise InputError(
            "groups name the group of every row of the table",
            got=f"groups of shape {labels.shape}, {rows} rows",
            fix="pass one label for each row",
        )
    _, found = np.unique(labels.astype(str), return_inverse=True)
    return found if np.any(found) else None
