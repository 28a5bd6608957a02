"""What is given beside the rows: names and columns to colour by, checked once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.report._levels import Levels

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
