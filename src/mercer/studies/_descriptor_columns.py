"""Columns beside the rows, as numbers or as levels, from whatever holds them."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import REFUSALS, InputError, first_line
from mercer.sources import as_frame, dense_frame, text_of

_MOST_LEVELS = 200  # a text column with more names rows rather than groups them


@final
@dataclasses.dataclass(frozen=True)
class DescriptorColumns:
    """Columns of a table.

    Attributes
    ----------
    numbers : dict of str to ndarray of shape (n,)
        Float64, NaN where missing.
    levels : dict of str to (ndarray of shape (n,), list of str)
        Place of every row among the levels, -1 where missing, and the levels.
    skipped : tuple of str
        Columns of text with too many levels to be groups.
    """

    numbers: dict[str, Array]
    levels: dict[str, tuple[Array, list[str]]]
    skipped: tuple[str, ...] = ()


def columns_of(given: Any, n: int | None, names: Any = None) -> DescriptorColumns:
    """Return the columns of a frame, an array (n, q), or a mapping of names to columns.

    Parameters
    ----------
    given : frame, array, mapping or None
        Where they are.
    n : int or None
        Rows that each must have; None takes those of the first.
    names : sequence of str or None
        Of the columns of an array.
    """
    numbers, levels, skipped = dict[str, Array](), dict[str, tuple[Array, list[str]]](), []
    for name, cells in _named(given, names):
        if n is not None and len(cells) != n:
            raise InputError(
                "every column must have one cell per row",
                got=f"{len(cells)} cells in {name!r}, {n} rows",
                fix="pass columns of the same rows, in the same order",
            )
        column = _numbers(cells)
        if column is not None:
            numbers[name] = column
            continue
        at, kinds = coded(cells)
        if len(kinds) > min(_MOST_LEVELS, max(2, len(cells) // 2)):
            skipped.append(name)
        else:
            levels[name] = at, kinds
    return DescriptorColumns(numbers, levels, tuple(skipped))


def _named(given: Any, names: Any) -> list[tuple[str, Any]]:
    """Return names and cells of every column."""
    if given is None:
        return []
    if isinstance(given, Mapping) and not hasattr(given, "shape"):
        return [(str(name), _line_of(name, cells)) for name, cells in given.items()]
    _refuse_twins(given)
    frame = as_frame(dense_frame(given))
    if isinstance(frame, nw.DataFrame):
        columns = [(name, frame.get_column(name)) for name in frame.columns]
        return [(text_of(name), column.to_numpy()) for name, column in columns]
    try:
        table = np.asarray(given)
        said = f" of shape {table.shape}"
    except REFUSALS as error:
        table, said = np.empty(0), f": {first_line(error)}"
    if table.ndim != 2:
        raise InputError(
            "columns come as a frame, a table or a mapping of names to columns",
            got=f"{type(given).__name__}{said}",
            fix='pass {"name": column, ...}',
        )
    called = [f"column {j}" for j in range(table.shape[1])] if names is None else names
    if len(called) != table.shape[1]:
        raise InputError(
            "every column needs a name",
            got=f"{len(called)} names, {table.shape[1]} columns",
            fix="pass as many names as there are columns, or none",
        )
    return [(str(name), column) for name, column in zip(called, table.T, strict=True)]


def _line_of(name: Any, cells: Any) -> Array:
    """Return a column of a mapping as an array (n,)."""
    found = np.asarray(cells)
    if found.ndim != 1:
        raise InputError(
            "a column is one cell for every row",
            got=f"{name!r} of shape {found.shape}",
            fix="pass columns by names of their own",
        )
    return found


def _refuse_twins(given: Any) -> None:
    """Name the columns of a frame whose names stand twice."""
    names = list(getattr(given, "columns", ())) if hasattr(given, "dtypes") else []
    twins = [str(name) for name, times in Counter(names).items() if times > 1]
    if twins:
        raise InputError(
            "column names must be unique",
            got=f"more than one column is called {twins[0]!r}",
            fix="rename or drop the repeated columns",
        )


def together(own: DescriptorColumns, beside: DescriptorColumns) -> DescriptorColumns:
    """Return both, columns beside the rows marked where a column of the rows is called so."""
    taken = {*own.numbers, *own.levels}
    called = {name: f"{name} (sup)" if name in taken else name for name in _all(beside)}
    return DescriptorColumns(
        own.numbers | {called[name]: cells for name, cells in beside.numbers.items()},
        own.levels | {called[name]: found for name, found in beside.levels.items()},
        own.skipped + beside.skipped,
    )


def _all(columns: DescriptorColumns) -> list[str]:
    return [*columns.numbers, *columns.levels]


def _numbers(cells: Any) -> Array | None:
    """Return a column as float64, or None where it holds text."""
    if cells.dtype.kind in "fiu":
        return np.asarray(cells, np.float64)
    if cells.dtype.kind != "O":
        return None
    try:
        return np.array([np.nan if _missing(cell) else float(_number(cell)) for cell in cells])
    except (TypeError, ValueError):
        return None


def _number(cell: Any) -> Any:
    """Return a cell that is a number; text that looks like one is text."""
    if isinstance(cell, str | bytes | bool):
        raise TypeError
    return cell


def coded(cells: Any) -> tuple[Array, list[str]]:
    """Return the place of every cell among its levels, -1 where missing, and the levels.

    Parameters
    ----------
    cells : sequence of length n
        Labels.
    """
    try:
        each = np.ravel(cells).tolist() if isinstance(cells, np.ndarray) else list(cells)
        texts = ["" if _missing(cell) else str(cell) for cell in each]
    except REFUSALS as error:
        raise InputError(
            "labels are a sequence, one for every row",
            got=f"{type(cells).__name__}: {first_line(error)}",
            fix="pass a list of labels, or a column of a frame",
        ) from None
    known = dict(zip(texts, each, strict=True))
    known.pop("", None)
    try:
        kinds = sorted(known, key=known.__getitem__)  # 2 before 10
    except (TypeError, ValueError):
        kinds = sorted(known)
    place = {kind: i for i, kind in enumerate(kinds)} | {"": -1}
    return np.array([place[text] for text in texts], np.int64), kinds


def _missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # NA compares with nothing
        return True
    return bool(cell != cell)
