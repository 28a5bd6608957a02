"""The columns of a table of categories as they are given: frames, arrays and lists."""

import dataclasses
from collections.abc import Sequence
from datetime import date, time
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, validate_data

from mercer.arrays import Array
from mercer.errors import REFUSALS, InputError, InputTypeError, MercerError
from mercer.estimators.walk._admission import (
    in_three_lines,
    refuse_parts,
    refuse_ragged,
    refuse_twins,
)
from mercer.sources import as_frame, dense_frame, is_table_like, other_object, text_of

_GAPS = ("NAType", "NaTType")  # of pandas: they compare with nothing
_READ_AS_TEXT = ("Interval", "Period", "Timedelta")  # of pandas: what pd.cut and calendars make


@dataclasses.dataclass(frozen=True, eq=False)
class CategoryColumn:
    """One variable, its cells numbered by the distinct values among them.

    Attributes
    ----------
    name : str
        Of the column; "x0", "x1", … where it has none.
    codes : int32 array of shape (n,)
        Which of `values` stands in each row; -1 where the cell is missing.
    values : array of shape (L,)
        Distinct values in rising order, or in the order of the declared levels: text
        (objects), bool, int64 or float64.
    unused : tuple of str
        Declared levels that stand in no row; they are in `values` no more.
    """

    name: str
    codes: Array
    values: Array
    unused: tuple[str, ...] = ()


def columns_of(data: object) -> tuple[list[CategoryColumn], tuple[str, ...] | None]:
    """Return the columns of a frame, an array or nested lists, and the names of the rows.

    Parameters
    ----------
    data : frame or array of shape (n, Q)
        A frame of pandas, polars or pyarrow, an array of text, numbers, bools or objects, or
        lists of rows. None, NaN, NA, NaT and masked cells are missing.
    """
    table = table_of(data)
    if isinstance(table, nw.DataFrame):
        names = enumerate(table.columns)
        found = [of_series(table.get_column(name), at) for at, name in names]
        return found, row_names(data)
    hidden = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
    columns = []
    for at in range(table.shape[1]):
        cells = table[:, at]
        if hidden is not None and hidden[:, at].any():
            cells = np.where(hidden[:, at], None, cells.astype(object))
        columns.append(column_of(cells, f"x{at}", at))
    return columns, None


def table_of(data: object) -> Any:
    """Return `data` as a narwhals frame or a array (n, Q); others are refused."""
    refuse_parts(data)
    if scipy.sparse.issparse(data):
        shape = tuple(getattr(data, "shape", ()))
        raise InputTypeError(
            "Sparse data was passed, but categories need every cell",
            got=f"{type(data).__name__} of shape {shape}",
            fix="pass a frame or an array of categories; an indicator table of counts is for"
            " CorrespondenceAnalysis",
        )
    refuse_twins(data)
    frame = as_frame(dense_frame(data))
    if isinstance(frame, nw.LazyFrame):
        raise InputError(
            "X must be a table in memory",
            got=f"a lazy frame ({type(data).__name__})",
            fix="call .collect() first",
        )
    if isinstance(frame, nw.DataFrame):
        if 0 in frame.shape:
            n, q = frame.shape
            what = "sample(s)" if n == 0 else "feature(s)"
            raise InputError(
                f"Found array with 0 {what} (shape=({n}, {q})) while a minimum of 1 is"
                " required.",
                got=f"a frame of shape {frame.shape}",
                fix="pass at least two rows and one column",
            )
        return frame
    if isinstance(data, str | bytes) or not is_table_like(data):
        raise other_object(data, "X must be a table of categories")
    try:
        # Lists become objects: NumPy would make text of [["a", 1]].
        given = _of_lists(data) if isinstance(data, list | tuple) else data
        return check_array(given, dtype=None, ensure_all_finite=False, input_name="X")
    except MercerError:
        raise
    except REFUSALS as error:
        raise in_three_lines(error, data) from None


def note_columns(estimator: BaseEstimator, data: object, *, reset: bool) -> None:
    """Let scikit-learn keep, or compare, the number and the names of the columns."""
    data = np.asarray(data, dtype=object) if isinstance(data, list | tuple) else data
    try:
        validate_data(estimator, data, reset=reset, skip_check_array=True)
    except MercerError:
        raise
    except REFUSALS as error:
        raise in_three_lines(error, data) from None


def of_categories(tags: Tags, *, gaps: bool) -> Tags:
    """Return scikit-learn's tags of a method that reads categories; `gaps` may be missing."""
    tags.input_tags.categorical = tags.input_tags.string = True
    tags.input_tags.sparse, tags.input_tags.allow_nan = False, gaps
    tags.transformer_tags.preserves_dtype = ["float64"]
    return tags


def _of_lists(data: Sequence[object]) -> Array:
    """Return rows of cells as an array of objects; rows of other lengths are named."""
    refuse_ragged(data)
    return np.array(data, dtype=object)


def row_names(data: object) -> tuple[str, ...] | None:
    """Return the labels of the rows of a pandas frame, None where they only count rows."""
    index = getattr(data, "index", None)
    kind = type(index).__name__
    if index is None or kind == "RangeIndex" or not hasattr(data, "iloc"):
        return None
    return tuple(text_of(label) for label in index)


def of_series(series: Any, at: int) -> CategoryColumn:
    """Return a column of a frame; declared levels keep their order."""
    name, kind = text_of(series.name), series.dtype
    if kind.is_numeric() and not series.is_null().any():
        return column_of(series.to_numpy(), name, at)
    declared = None
    if kind == nw.Enum:
        declared = list(kind.categories)
    elif kind == nw.Categorical and not series.implementation.is_polars():
        # A polars Categorical shares its levels with other columns: it declares none.
        declared = series.cat.get_categories().to_list()
    if declared is not None and series.implementation.is_pandas():
        return _of_numbered(series.to_native().cat.codes.to_numpy(), declared, name, at)
    if series.implementation.is_pandas():
        quick = _factorised(series.to_native(), name, at)
        if quick is not None:
            return quick
    return column_of(_objects(series.to_list()), name, at, declared)


def _factorised(native: Any, name: str, at: int) -> CategoryColumn | None:
    """Return a column that pandas numbers, or None where its cells must be looked at singly."""
    try:
        codes, distinct = native.factorize()
        levels = column_of(_objects(list(distinct)), name, at)
    except (TypeError, ValueError):  # said again with the row of the cell
        return None
    return CategoryColumn(name, np.append(levels.codes, np.int32(-1))[codes], levels.values)


def _of_numbered(codes: Array, declared: list[object], name: str, at: int) -> CategoryColumn:
    """Return a column whose frame has numbered its cells already."""
    levels = column_of(_objects(declared), name, at)
    there = np.bincount(codes + 1, minlength=len(declared) + 1)[1:] > 0
    unused = tuple(str(level) for level, used in zip(declared, there, strict=True) if not used)
    # Two declared levels may be one value here, as Decimal("0.5") and 0.5 are.
    kept = list(dict.fromkeys(levels.codes[there].tolist()))
    place = np.full(len(levels.values) + 1, -1, np.int32)
    place[kept] = np.arange(len(kept))
    new = np.append(place[levels.codes], np.int32(-1))
    return CategoryColumn(name, new[codes], levels.values[kept], unused)


def _objects(cells: list[object]) -> Array:
    """Return a list as an array of objects, whatever stands in it."""
    made = np.empty(len(cells), object)
    made[:] = cells
    return made


def column_of(
    cells: Array, name: str, at: int, declared: list[object] | None = None
) -> CategoryColumn:
    """Return the codes and distinct values of one column of cells (n,).

    Parameters
    ----------
    cells : array of shape (n,)
        Text, numbers, bools, dates (read as text) or objects; None, NaN, NA, NaT are missing.
    name, at
        The name and the number of the column, for messages.
    declared : list or None
        Levels in the order they should have.
    """
    kind = cells.dtype.kind
    if kind in "iub":
        codes, values = _of_whole(cells)
        return CategoryColumn(name, codes, values)
    if kind == "f":
        return CategoryColumn(name, *_of_floats(cells, name, at))
    if kind in "mM":
        cells = np.where(np.isnat(cells), None, cells.astype(str).astype(object))
    elif kind not in "OUT":
        raise _no_category(str(cells[0]), cells.dtype.name, 0, at, name)
    codes, values = _of_objects(cells.tolist(), name, at)
    return _ordered(CategoryColumn(name, codes, values), declared)


def _of_whole(cells: Array) -> tuple[Array, Array]:
    """Number whole numbers or bools; a narrow range is counted, not sorted."""
    n = len(cells)
    low, high = (int(cells.min()), int(cells.max())) if n else (0, 0)
    if high - low > max(1000, 4 * n) or not -(2**62) < low <= high < 2**62:
        values, codes = np.unique(cells, return_inverse=True)
        return codes.astype(np.int32), values
    shifted = cells.astype(np.int64) - low
    there = np.bincount(shifted, minlength=high - low + 1) > 0
    place = np.cumsum(there) - 1
    values = (np.flatnonzero(there) + low).astype(cells.dtype if cells.dtype == bool else int)
    return place[shifted].astype(np.int32), values


def _of_floats(cells: Array, name: str, at: int) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):  # of longer floats
        cells = cells.astype(np.float64)
    infinite = np.flatnonzero(np.isinf(cells))
    if infinite.size:
        row = int(infinite[0])
        raise InputError(
            "Input contains infinity: that is no category",
            got=f"{cells[row]} at row {row}, column {at} ({name!r})",
            fix="mark missing cells as NaN, or drop the column",
        )
    there = ~np.isnan(cells)
    values, inverse = np.unique(cells[there], return_inverse=True)
    codes = np.full(len(cells), -1, np.int32)
    codes[there] = inverse
    return codes, values


def _of_objects(cells: list[object], name: str, at: int) -> tuple[Array, Array]:
    """Number cells of any kind by a dictionary: one look at each."""
    seen: dict[object, int] = {}
    try:
        numbers = (seen.setdefault(cell, len(seen)) for cell in cells)
        first = np.fromiter(numbers, np.int64, len(cells))
    except TypeError:
        row, cell = next((i, c) for i, c in enumerate(cells) if c.__hash__ is None)
        raise _no_category(str(cell), type(cell).__name__, row, at, name) from None
    keys, places = [], []
    for key, place in seen.items():
        if not _is_gap(key):
            keys.append(_plain(key, cells, at, name))
            places.append(place)
    values = _sorted_values(keys, cells, at, name)
    rank = {value: i for i, value in enumerate(values.tolist())}
    number = np.full(len(seen) + 1, -1, np.int32)
    number[places] = [rank[key] for key in keys]
    return number[first], values


Cell = str | bool | int | float  # what a cell is read as


def _is_gap(key: object) -> bool:
    if key is None or type(key).__name__ in _GAPS:
        return True
    return isinstance(key, float | np.floating | np.datetime64) and bool(key != key)


def _plain(key: object, cells: list[object], at: int, name: str) -> Cell:
    """Return a cell as text, bool or number; others are refused with their place."""
    if isinstance(key, str | bool | int | float):
        if isinstance(key, float) and np.isinf(key):
            row = cells.index(key)
            raise _no_category(str(key), "infinity", row, at, name)
        return key if not isinstance(key, np.generic) else key.item()
    if isinstance(key, np.generic) and key.dtype.kind in "biufU":
        return _plain(key.item(), cells, at, name)
    if isinstance(key, date | time | np.datetime64):
        return str(key)
    if type(key).__name__ in _READ_AS_TEXT:
        return str(key)
    if isinstance(key, Real) or type(key).__name__ == "Decimal":
        return float(key)  # type: ignore[arg-type] # both are numbers
    raise _no_category(str(key), type(key).__name__, cells.index(key), at, name)


def _sorted_values(keys: list[Any], cells: list[object], at: int, name: str) -> Array:
    """Return the distinct values in rising order, in one type."""
    text = sum(isinstance(key, str) for key in keys)
    if text not in (0, len(keys)):
        odd = next(key for key in keys if isinstance(key, str) != isinstance(keys[0], str))
        one, other = keys[0], odd
        raise InputError(
            "a column of categories must hold text, or numbers, not both",
            got=f"{one!r} at row {_row_of(one, cells)} and {other!r} at row"
            f" {_row_of(other, cells)} of column {at} ({name!r})",
            fix="turn the whole column into text: str(cell) for every cell",
        )
    if text:
        return np.array(sorted(set(keys)), dtype=object)
    if keys and all(isinstance(key, bool) for key in keys):
        return np.array(sorted(set(keys)), dtype=bool)
    values = sorted(set(keys))
    made = _of_numbers(values)
    if made is None:
        largest = max(values, key=abs)
        raise InputError(
            "a number in a column of categories is too large to be told from its neighbours",
            got=f"{str(largest)[:40]} at row {_row_of(largest, cells)}, column {at} ({name!r})",
            fix="turn the whole column into text: str(cell) for every cell",
        )
    return made


def _of_numbers(values: list[Any]) -> Array | None:
    """Return numbers in the first type that holds them all, None where none does."""
    kinds: list[type[np.generic]] = [np.float64]
    if values and all(isinstance(v, int) or v.is_integer() for v in values):
        kinds = [np.int64, np.uint64, np.float64]
    for kind in kinds:
        try:
            made = np.array([kind(v) for v in values], dtype=kind)
        except OverflowError:
            continue
        if made.tolist() == values:
            return made
    return None


def _row_of(key: object, cells: list[object]) -> int:
    return next((i for i, c in enumerate(cells) if type(c) is type(key) and c == key), 0)


def _ordered(column: CategoryColumn, declared: list[object] | None) -> CategoryColumn:
    """Return a column whose values stand in the declared order, unused levels set aside."""
    if declared is None:
        return column
    levels = [str(c) if isinstance(c, date | time) else c for c in declared]
    place = {value: i for i, value in enumerate(column.values.tolist())}
    order = [place[level] for level in levels if level in place]
    if len(order) != len(column.values):  # a value outside the declared ones
        return column
    new = np.empty(len(order) + 1, np.int32)
    new[order] = np.arange(len(order))
    new[-1] = -1
    unused = tuple(str(level) for level in levels if level not in place)
    return CategoryColumn(column.name, new[column.codes], column.values[order], unused)


def _no_category(cell: str, kind: str, row: int, at: int, name: str) -> InputTypeError:
    return InputTypeError(
        "a cell must hold a category: text, a number or a bool",
        got=f"{kind} {cell[:40]!r} at row {row}, column {at} ({name!r})",
        fix="turn such cells into text, or mark them as missing with None",
    )
