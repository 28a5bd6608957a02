"""A table of numbers and categories as it is given, each column read as what it is."""

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, in_short
from mercer.estimators.categories._category_cells import (
    CategoryColumn,
    column_of,
    of_series,
    row_names,
    table_of,
)
from mercer.sources import bad_cell_error, text_of

_NAMED = 5  # columns that a message names


@dataclasses.dataclass(frozen=True, eq=False)
class Mixed:
    """Numbers and categories of the same n rows; the source of FAMD and MFA.

    Attributes
    ----------
    numbers : array of shape (n, p)
        The columns of numbers, NaN where a cell is missing; the given array itself where all
        of its columns are numbers.
    columns : tuple of CategoryColumn
        The Q columns of categories.
    kinds : bool array of shape (p + Q,)
        Which of the given columns are categories.
    names : tuple of str
        Of the given columns; "x0", "x1", … where they have none.
    rows : tuple of str or None
        The names of the rows.
    """

    numbers: Array
    columns: tuple[CategoryColumn, ...]
    kinds: Array
    names: tuple[str, ...]
    rows: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and given columns (n, p + Q)."""
        return int(self.numbers.shape[0]), len(self.kinds)

    @property
    def number_places(self) -> Array:
        """Which of the given columns are numbers (p,)."""
        return np.flatnonzero(~self.kinds)

    @property
    def category_places(self) -> Array:
        """Which of the given columns are categories (Q,)."""
        return np.flatnonzero(self.kinds)

    def gaps(self) -> Array:
        """Return which cells (n, p + Q) are missing, in the order of the given columns."""
        found = np.zeros(self.shape, bool)
        if self.numbers.dtype.kind == "f":
            for at, place in enumerate(self.number_places):
                found[:, place] = np.isnan(self.numbers[:, at])
        for place, column in zip(self.category_places, self.columns, strict=True):
            found[:, place] = column.codes < 0
        return found

    def place(self, row: int, column: int) -> str:
        """Return where a cell stands, in words."""
        return f"row {row}, column {column} ({self.names[column]!r})"


def mixed(data: Any, categorical: object = None, kinds: Array | None = None) -> Mixed:
    """Return a table column by column.

    Numbers are columns of a numeric type, and objects that are all numbers. Text, declared
    categories and bools are categories, and so is what `categorical` names. Dates are refused.

    Parameters
    ----------
    data : frame or array of shape (n, p + Q)
        A frame of pandas, polars or pyarrow, an array, or lists of rows.
    categorical : sequence of names or positions, or None
        Columns of numbers that are codes of categories.
    kinds : bool array of shape (p + Q,) or None
        What the columns were at fit; None finds out.
    """
    table = table_of(data)
    frame = isinstance(table, nw.DataFrame)
    names = tuple(map(text_of, table.columns)) if frame else None
    width = len(names) if names is not None else int(table.shape[1])
    names = names or tuple(f"x{at}" for at in range(width))
    forced = positions(categorical, names, "categorical")
    masked = isinstance(data, np.ma.MaskedArray) and bool(np.ma.is_masked(data))
    plain = not frame and table.dtype.kind in "iuf" and not masked
    if plain and not forced and (kinds is None or not kinds.any()):
        with np.errstate(over="ignore"):  # longer floats may be infinite here
            held = table.astype(np.float64) if table.dtype.itemsize > 8 else table
        return Mixed(held, (), np.zeros(width, bool), names)
    hidden = np.ma.getmaskarray(data) if masked else None
    numbers: list[Array] = []
    columns: list[CategoryColumn] = []
    found = np.zeros(width, bool)
    for at, name in enumerate(names):
        cells = table.get_column(table.columns[at]) if frame else table[:, at]
        if hidden is not None and hidden[:, at].any():
            cells = np.where(hidden[:, at], None, cells.astype(object))
        as_number = None if at in forced else _as_numbers(cells, kinds is not None)
        wanted = as_number is None if kinds is None else bool(kinds[at])
        found[at] = wanted
        if wanted:
            _refuse_dates(cells, name, at)
            columns.append(of_series(cells, at) if frame else column_of(cells, name, at))
        elif as_number is None:
            raise _no_number(cells, name, at)
        else:
            numbers.append(as_number)
    n = len(columns[0].codes) if columns else len(numbers[0])
    held = np.stack(numbers, axis=1) if numbers else np.empty((n, 0))
    return Mixed(held, tuple(columns), found, names, row_names(data) if frame else None)


def _as_numbers(cells: Any, known: bool) -> Array | None:
    """Return a column of numbers as float64, NaN for missing cells; None where it is none.

    Objects that are all missing are numbers only where that is `known`.
    """
    if isinstance(cells, nw.Series):
        if cells.dtype.is_numeric():
            return np.asarray(cells.cast(nw.Float64).to_numpy(), np.float64)
        if known and cells.is_null().all():
            return np.full(len(cells), np.nan)
        if cells.dtype not in (nw.Object, nw.Unknown):
            return None
        cells = np.array([*cells.to_list(), None], object)[:-1]
    if cells.dtype.kind in "iuf":
        with np.errstate(over="ignore"):
            return np.asarray(cells, np.float64)
    if cells.dtype.kind != "O":
        return None
    found = np.empty(len(cells))
    some = known
    for row, cell in enumerate(cells):
        if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
            found[row] = np.nan
        elif isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_):
            found[row], some = float(cell), True
        else:
            return None
    return found if some else None


def positions(wanted: Any, names: Sequence[str], what: str) -> set[int]:
    """Return the positions of columns that are given by name or by position."""
    if wanted is None:
        return set()
    if isinstance(wanted, str | bytes) or not np.iterable(wanted):
        wanted = [wanted]
    known = {name: at for at, name in enumerate(names)}
    found = set()
    for one in wanted:
        whole = isinstance(one, Integral) and not isinstance(one, bool)
        called = text_of(one)
        at = int(one) if whole and called not in known else known.get(called, -1)
        if not 0 <= at < len(names):
            raise InputError(
                f"`{what}` names a column that X does not have",
                got=f"{one!r}; X has {in_short([repr(name) for name in names])}",
                fix="give names of columns, or their positions from 0",
            )
        found.add(at)
    return found


def refuse_cells(table: Mixed, *, gaps: bool) -> None:
    """Name the first infinite cell, and the missing ones unless `gaps` are allowed."""
    numbers = table.numbers
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(numbers, dtype=np.float64) if numbers.dtype.kind == "f" else 0.0
    if not np.isfinite(total):
        infinite = np.argwhere(np.isinf(numbers))
        if len(infinite):
            row, at = (int(i) for i in infinite[0])
            place = table.place(row, int(table.number_places[at]))
            raise bad_cell_error(place, float(numbers[row, at]))
    whole = np.isfinite(total) and all(column.codes.min() >= 0 for column in table.columns)
    if gaps or whole:
        return
    holes = table.gaps()
    counts = np.count_nonzero(holes, axis=0)
    if not counts.any():
        return
    row, column = (int(i) for i in np.argwhere(holes)[0])
    most = [int(j) for j in np.flatnonzero(counts)]
    shown = ", ".join(f"{table.names[j]!r} {counts[j]:,}" for j in most[:_NAMED])
    more = "" if len(most) <= _NAMED else f" and {len(most) - _NAMED} more columns"
    raise InputError(
        f"X contains NaN; {int(counts.sum()):,} of {holes.size:,} cells are missing, in"
        f" {len(most):,} of {holes.shape[1]:,} columns",
        got=f"{shown}{more}; the first is at {table.place(row, column)}",
        fix='fill them with mercer.impute(X), take FAMD(missing="fill"), or drop such rows',
    )


def refuse_empty(table: Mixed, holes: Array) -> None:
    """Refuse rows in which nothing is observed, by number."""
    empty = np.flatnonzero(holes.all(axis=1))
    if empty.size:
        raise InputError(
            "rows with nothing observed cannot be filled",
            got=f"row {in_short(empty, 10)} of {table.shape[0]}",
            fix="drop such rows first",
        )


def refuse_empty_columns(table: Mixed, holes: Array) -> None:
    """Refuse columns in which nothing is observed, by name."""
    empty = [table.names[at] for at in np.flatnonzero(holes.all(axis=0))]
    if empty:
        raise InputError(
            "columns with nothing observed cannot be filled",
            got=in_short([repr(name) for name in empty]),
            fix="drop such columns first",
        )


def _refuse_dates(cells: Any, name: str, at: int) -> None:
    if isinstance(cells, nw.Series):
        dates = cells.dtype.is_temporal()
    else:
        dates = cells.dtype.kind in "mM"
    if dates:
        raise InputError(
            "a column must hold numbers or categories",
            got=f"dates or times in column {at} ({name!r})",
            fix="turn dates into numbers with a unit you choose, or into text, such as months",
        )


def _no_number(cells: Any, name: str, at: int) -> InputError:
    values = cells.to_list() if isinstance(cells, nw.Series) else cells.tolist()
    odd = [
        (row, cell)
        for row, cell in enumerate(values)
        if cell is not None and (isinstance(cell, bool) or not isinstance(cell, Real))
    ]
    row, cell = odd[0] if odd else (0, None)
    return InputError(
        "a column of numbers at fit holds something else now",
        got=f"{type(cell).__name__} {str(cell)[:40]!r} at row {row}, column {at} ({name!r})",
        fix="pass numbers there, as at fit",
    )
