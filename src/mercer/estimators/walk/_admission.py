"""The door: what may come in, and where exactly something may not.

Rows that are in memory, for methods that read no files.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from mercer.arrays import Array, as_csr, as_objects
from mercer.errors import (
    REFUSALS,
    DataWarning,
    InputError,
    InputTypeError,
    MercerError,
    first_line,
    in_short,
    warn,
)
from mercer.estimators.walk._parameters import Kind, Names
from mercer.sources import (
    BlockSource,
    Source,
    SpreadSource,
    bad_cell_error,
    counted_error,
    csr_of,
    dense_frame,
    in_memory,
    is_scannable,
    is_table_like,
    other_object,
    plain_form,
    scan,
    text_of,
)

_NO_ROWS = (str, bytes, dict, set, frozenset)
_NO_NUMBERS = (str, bytes, dict, set, date, np.datetime64)
_PLAIN = "fd?bBhHiIlLqQ"  # types of numbers that are taken as they are
_FEWEST = 2  # rows without which there is no variance
_REMEDIES = (  # a word of scikit-learn's refusal, and what to do about it
    ("Complex", "analyse real and imaginary parts as columns of their own"),
    (
        "1D array",
        "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row",
    ),
    ("0D array", "Reshape your data: pass a table of rows and columns"),
    ("scalar", "Reshape your data: pass a table of rows and columns"),
    ("dim", "Reshape your data: pass a table of rows and columns"),
    ("string names", "rename the columns: X.columns = X.columns.astype(str)"),
    ("feature name", "pass the columns that were there at fit, in the same order"),
    ("features, but", "pass the columns that were there at fit"),
    ("feature(s)", "pass at least one column"),
    ("sample(s)", "pass at least two rows"),
    ("inhomogeneous", "give every row the same number of cells"),
    ("sequence", "give every row the same number of cells"),
    ("sparse", "pass a SciPy sparse matrix in a numeric type"),
)


def admit(estimator: BaseEstimator, data: object, *, reset: bool) -> Source:
    """Return the source of `data` after scikit-learn's checks and ours.

    Frames keep their names; integers and booleans stay as they are and are widened block
    by block; sparse matrices become CSR. Cells are not looked at here: NaN and infinity are
    found by the sums of the first pass, and named then.
    """
    if _is_plain(estimator, data, reset):
        return in_memory(data)
    cells: Any = data
    if type(data) is not np.ndarray or data.dtype.kind not in "fiub":  # rows come one by one
        data, cells = _looked_at(estimator, data)
    try:
        if scipy.sparse.issparse(data):
            data = cells = as_csr(data)  # before SciPy follows an index anywhere
        with config_context(array_api_dispatch=False), np.errstate(over="ignore"):
            checked = _validated(estimator, data, cells, reset=reset)
    except MercerError:
        raise
    except REFUSALS as error:
        raise in_three_lines(error, data) from None
    if reset and checked.shape[0] < getattr(estimator, "_fewest", _FEWEST):
        raise one_row(f"n_samples = 1, X of shape {tuple(checked.shape)}")
    return in_memory(checked)


def _is_plain(estimator: BaseEstimator, data: Any, reset: bool) -> bool:
    """Tell whether scikit-learn's checks would find nothing in `data`, and leave it as it is.

    A table of native numbers as NumPy holds it, of the columns that were there at fit. Most
    small fits are of these, and the checks would cost more than the arithmetic.
    """
    if type(data) is not np.ndarray or data.ndim != 2 or data.dtype.char not in _PLAIN:
        return False
    (n, p), held = data.shape, vars(estimator)
    if not data.dtype.isnative or p < 1:
        return False
    if not reset:  # names that are missing now are warned of
        same = held.get("n_features_in_", p) == p
        return same and n >= 1 and held.get("feature_names_in_") is None
    if n < max(1, getattr(estimator, "_fewest", _FEWEST)):
        return False
    estimator.n_features_in_ = p
    held.pop("feature_names_in_", None)
    return True


def admit_objects(data: Any, *, fewest: int = 1) -> Array:
    """Return things of any kind, one for each row, as an array (n,) of objects."""
    refuse_parts(data)
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        data = native.to_list()
    data = data.to_pylist() if hasattr(data, "to_pylist") else data
    several = hasattr(data, "__len__") and getattr(data, "shape", (0,)) != ()
    if isinstance(data, _NO_ROWS) or not several or hasattr(data, "columns"):
        raise InputTypeError(
            "X must be a sequence of things, one for each row",
            got=_described(data),
            fix="pass a list, an array of one dimension or a series",
        )
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "OUS":
        data = data[:, 0] if data.shape[1] == 1 else data
    things = as_objects(data)
    if not len(things):
        raise InputError(
            "Found array with 0 sample(s) while a minimum of 1 is required.",
            got=_described(data),
            fix="pass at least two rows",
        )
    if len(things) < fewest:
        raise one_row(f"n_samples = {len(things)}: {_described(data)}")
    return things


def one_row(got: str) -> InputError:
    """Return why one row is too few."""
    return InputError("one row has no variance", got=got, fix="pass at least two rows")


def _looked_at(estimator: BaseEstimator, data: Any) -> tuple[Any, Any]:
    """Return rows that are no plain array, for their names, and their cells to be checked.

    Sparse columns of a frame give CSR cells, or dense ones where empty is not zero in all
    columns, or where the estimator takes no sparse rows.
    """
    data = plain_form(data)
    refuse_twins(data)
    if getattr(estimator, "missing", "raise") != "raise":
        data = _gaps_as_nan(data)
    _refuse_kinds(data)
    cells = dense_frame(data)
    if cells is not data:
        sparse = csr_of(data) if get_tags(estimator).input_tags.sparse else None
        cells = cells if sparse is None else sparse
    if _one_dtype(cells) is None:
        _refuse_odd_columns(cells)
        _refuse_cells(cells)
    return data, cells


def _validated(estimator: BaseEstimator, data: Any, cells: Any, *, reset: bool) -> Any:
    """Return the cells after scikit-learn's checks of names, shape and types."""
    wanted: dict[str, Any] = {
        "accept_sparse": "csr",
        "accept_large_sparse": True,
        "dtype": _numeric_dtype(cells),
        "ensure_all_finite": False,
    }
    one = _one_dtype(cells) is not None
    if cells is data and not one:
        return validate_data(estimator, data, reset=reset, **wanted)
    # The columns of such a frame need not be looked at one by one.
    validate_data(estimator, data, reset=reset, skip_check_array=True)
    rows = cells.to_numpy() if one else cells
    return check_array(rows, estimator=estimator, input_name="X", **wanted)


NAMED = 5  # rows or columns that are named
AT_THE_MEAN = "their coordinates are zero, the mean"


def say_empty(count: int, listed: str, what: str) -> None:
    """Say that so many rows have nothing observed, and which."""
    warn(
        f"rows with nothing observed; {what}",
        got=f"{count:,} such rows: {listed}",
        fix="drop these rows",
        category=DataWarning,
    )


def listed(some: Sequence[str], count: int) -> str:
    """Return what the first of `count` things are called, and how many more there are."""
    left = count - len(some)
    return ", ".join(some) + (f" and {left:,} more" if left else "")


def refuse_few_rows(estimator: BaseEstimator, source: SpreadSource) -> None:
    """Refuse rows in parts of which there are none, or one; a pass may have counted them."""
    if source.shape[0] < getattr(estimator, "_fewest", _FEWEST):
        raise one_row(f"n_samples = {source.shape[0]}: {source.label}")


def admit_source(
    estimator: BaseEstimator, source: BlockSource | SpreadSource, *, reset: bool
) -> Source:
    """Return `source` after the checks of its columns; its rows are looked at when read."""
    p, names = source.shape[1], source.names
    if reset:
        if p == 0:
            raise InputError(
                "Found array with 0 feature(s) while a minimum of 1 is required.",
                got=f"{source.label} without columns",
                fix="pass at least one column",
            )
        if isinstance(source, SpreadSource) and source.counted:
            refuse_few_rows(estimator, source)
        estimator.n_features_in_ = p
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        return source
    expected = getattr(estimator, "feature_names_in_", None)
    if p != estimator.n_features_in_:
        raise InputError(
            f"X has {p} features, but {type(estimator).__name__} is expecting"
            f" {estimator.n_features_in_} features as input",
            got=source.label,
            fix="pass the columns that were there at fit: columns=[...]",
        )
    if names is not None and expected is not None and list(names) != list(expected):
        at = next(i for i, (a, b) in enumerate(zip(names, expected, strict=True)) if a != b)
        raise InputError(
            "The feature names should match those that were passed during fit.",
            got=f"{source.label}: column {at} is {names[at]!r} where {expected[at]!r} was",
            fix="pass the columns that were there at fit, in the same order: columns=[...]",
        )
    return source


def admit_coordinates(data: object, width: int) -> Array:
    """Return coordinates (n, width) as a float array, or say what is wrong with them."""
    data = plain_form(data)
    refuse_twins(data)
    _refuse_kinds(data)
    data = dense_frame(data)
    if width:  # a model may have no axis
        _refuse_odd_columns(data)
    _refuse_cells(data)
    try:
        with config_context(array_api_dispatch=False):
            checked = check_array(
                data,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_features=min(width, 1),
                input_name="X",
            )
    except REFUSALS as error:
        raise in_three_lines(error, data) from None
    if checked.shape[1] != width:
        raise InputError(
            f"coordinates must have {width} columns",
            got=f"X of shape {checked.shape}",
            fix="pass what transform returned",
        )
    if width:
        refuse_bad_cells(scan(checked))
    return checked


def refuse_bad_cells(source: Source, names: Names = None) -> None:
    """Raise the error that names the first NaN or infinity of `source`, if there is one.

    Missing cells are counted, by column, where the rows can be read once more.
    """
    found = source.first_bad_cell()
    if found is None:
        return
    row, column, value = found
    name = "" if names is None else f" ({str(names[column])!r})"
    place = f"row {row}, column {column}{name}"
    if isinstance(source, BlockSource):
        place = source.place(row, column)
    error = bad_cell_error(place, value)
    counted = counted_error(source, place, names, error.fix) if np.isnan(value) else None
    raise counted or error


def in_three_lines(error: Exception, data: object) -> InputError:
    """Return scikit-learn's or NumPy's refusal in our form, its first line kept."""
    text = str(error).strip()
    first = first_line(error)
    if "should match those that were passed" in text:
        first = text  # scikit-learn lists the names there, a line each
    elif "only supported if all input features have string names" in text:
        first = "Feature names are only supported if all columns have string names"
    names = getattr(data, "columns", ())
    kinds = sorted({type(name).__name__ for name in names}) if "string names" in first else []
    got = _described(data) + (f", names of types {' and '.join(kinds)}" if kinds else "")
    fix = next((fix for word, fix in _REMEDIES if word in text), "pass a table of numbers")
    kind = InputTypeError if isinstance(error, TypeError) else InputError
    return kind(first, got=got, fix=fix)


def _described(data: object) -> str:
    shape, dtype = getattr(data, "shape", None), getattr(data, "dtype", None)
    text = type(data).__name__
    text += f" of shape {tuple(shape)}" if isinstance(shape, tuple) else ""
    text += f", {dtype}" if isinstance(dtype, np.dtype) else ""
    if isinstance(data, str):
        text += f" {data[:40]!r}"
    elif isinstance(data, list | tuple | dict | set):
        text += f" of length {len(data)}"
    return text


def _numeric_dtype(data: object) -> Kind | type | list[type] | None:
    """Return the type to convert to: none for plain numbers, float64 for what is not."""
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and (
        dtype.kind in "iub" or dtype in (np.float32, np.float64)
    ):
        return None if dtype.isnative else dtype.newbyteorder("=")
    if scipy.sparse.issparse(data):
        return np.float64
    if _one_dtype(data) is not None:
        return None
    return [np.float64, np.float32]


def _one_dtype(data: Any) -> Kind | None:
    """Return the NumPy type of numbers that all columns of a pandas frame have, or None."""
    if not hasattr(data, "columns") or not hasattr(data, "to_numpy"):
        return None
    kinds = set(getattr(data, "dtypes", ()))
    one = kinds.pop() if len(kinds) == 1 and len(data) else None
    if not isinstance(one, np.dtype) or not one.isnative:
        return None
    return one if one.kind in "iub" or one in (np.float32, np.float64) else None


def _gaps_as_nan(data: Any) -> Any:
    """Return masked cells, and pandas' NA among objects, as NaN; other data as they are."""
    if isinstance(data, np.ma.MaskedArray):
        wide = data.dtype if data.dtype.kind == "f" else np.float64
        return np.ma.filled(data.astype(wide), np.nan)
    if hasattr(data, "notna") and hasattr(data, "columns") and object in list(data.dtypes):
        return data.where(data.notna(), np.nan)
    return data


def refuse_parts(data: object) -> None:
    """Refuse what Dask would compute whole if it were taken for an array."""
    graph = getattr(data, "__dask_graph__", None)
    here = graph is None or graph() is None  # as in xarray, for rows in memory
    if here and not isinstance(data, SpreadSource):
        return
    kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
    inner = ", such as X.data" if kind == "xarray DataArray" else ""
    raise InputTypeError(
        "this method needs rows in memory",
        got=data.label if isinstance(data, SpreadSource) else f"{kind}, not computed yet",
        fix="call X.compute() where the rows fit memory; mercer.PCA takes Dask collections"
        + inner,
    )


def _refuse_kinds(data: Any) -> None:
    """Refuse masked cells, dates, files, and frames that are not tables in memory."""
    refuse_parts(data)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        first = ", ".join(str(int(i)) for i in np.argwhere(np.ma.getmaskarray(data))[0])
        raise InputError(
            "masked cells have no value",
            got=f"{int(np.ma.getmaskarray(data).sum())} masked cells, the first at ({first})",
            fix="fill or drop them: X.filled(...) or np.ma.compress_rows(X)",
        )
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mMV":
        raise InputError(
            "every cell must be a number",
            got=_described(data),
            fix="turn dates into numbers with a unit you choose, and records into columns",
        )
    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame | nw.Series):
        lazy = isinstance(native, nw.LazyFrame)
        raise InputError(
            "X must be a table in memory"
            if lazy
            else "Expected 2D array, got 1D array instead",
            got=f"a {'lazy frame' if lazy else 'series'} ({type(data).__name__})",
            fix="call .collect() first" if lazy else "Reshape your data: use .to_frame()",
        )
    text = isinstance(data, str | bytes)
    if text or not (isinstance(native, nw.DataFrame) or is_table_like(data)):
        raise other_object(data)


def _refuse_odd_columns(data: Any) -> None:
    """Name the columns of a frame that are not numbers."""
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    schema = frame.schema
    if not schema or frame.shape[0] == 0:
        raise InputError(
            "Found array with 0 feature(s) or 0 sample(s) while a minimum of 1 is required.",
            got=f"a frame of shape {frame.shape}",
            fix="pass at least two rows and one column",
        )
    odd = [
        name for name, kind in schema.items() if not (kind.is_numeric() or kind == nw.Boolean)
    ]
    odd = [name for name in odd if not _holds_numbers(frame, name)]
    if odd:
        kinds = in_short([f"{str(name)!r} ({schema[name]})" for name in odd])
        raise InputError(
            "every column must hold numbers",
            got=f"{len(odd)} of {len(schema)} columns do not: {kinds}",
            fix="drop these columns or encode them as numbers",
        )


def refuse_twins(data: object) -> None:
    """Name the columns of a frame whose names stand twice."""
    if hasattr(data, "collect"):  # lazy: refused in a moment, and its names cost work
        return
    names = getattr(data, "column_names", None)
    names = getattr(data, "columns", None) if names is None else names
    if names is None or not (hasattr(data, "dtypes") or hasattr(data, "column_names")):
        return
    try:
        twins = [str(name) for name, times in Counter(names).items() if times > 1][:5]
    except (TypeError, ValueError):  # columns that are not names, such as arrays
        return
    if twins:
        raise InputError(
            "column names must be unique",
            got=f"more than one column is called {', '.join(map(repr, twins))}",
            fix="rename or drop the repeated columns",
        )


def _holds_numbers(frame: nw.DataFrame[Array], name: str) -> bool:
    """Tell whether a column of objects or of pandas' categories is all numbers."""
    if frame.schema[name] == nw.Categorical:
        levels = getattr(getattr(frame[name].to_native(), "cat", None), "categories", None)
        return getattr(getattr(levels, "dtype", None), "kind", "") in ("i", "u", "f", "b")
    if frame.schema[name] != nw.Object:
        return False
    return not any(isinstance(cell, _NO_NUMBERS) for cell in frame[name].to_numpy())


def refuse_ragged(rows: Any) -> None:
    """Name the first of nested lists that has not as many cells as the first one."""
    lengths = [len(row) if _is_line(row) else None for row in rows]
    odd = next((at for at, found in enumerate(lengths) if found != lengths[0]), None)
    if odd is None:
        return
    cells = ["one cell" if n in (None, 1) else f"{n} cells" for n in (lengths[odd], lengths[0])]
    raise InputError(
        "every row must have the same number of cells",
        got=f"row {odd} has {cells[0]}, row 0 has {cells[1]}",
        fix="fill in what is missing, float('nan') or None where it is not known",
    )


def _is_line(row: Any) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)


def _refuse_cells(data: Any) -> None:
    """Name the first cell of objects, strings or nested lists that cannot be a number."""
    if isinstance(data, list | tuple):
        rows: Array = data
    elif isinstance(data, np.ndarray) and data.dtype.kind in "OUS" and data.ndim == 2:
        rows = data
    else:
        return
    for number, row in enumerate(rows):
        if isinstance(row, np.ndarray) and row.dtype.kind not in "OUS":
            continue
        cells = row if isinstance(row, list | tuple | np.ndarray) else [row]
        for column, cell in enumerate(cells):
            if isinstance(cell, str | bytes):
                raise InputError(
                    "every cell must be a number",
                    got=f"text {str(cell)!r} at row {number}, column {column}",
                    fix="convert text to numbers first, or drop the column",
                )
            if isinstance(cell, _NO_NUMBERS):
                kind = type(cell).__name__
                raise InputTypeError(
                    f"float() argument must be a string or a real number, not {kind!r}",
                    got=f"{kind} at row {number}, column {column}",
                    fix="keep one number in every cell",
                )
    if isinstance(data, list | tuple):
        refuse_ragged(data)


def held_rows(data: Any) -> Any:
    """Return rows in memory in a plain form; files, streams and sources of them are refused.

    Lazy frames pass: the door refuses them, and says how they are collected.
    """
    array = data.array if isinstance(data, Source) else None
    if array is not None:
        return array
    data = data if type(data) is np.ndarray else plain_form(data)
    plain = isinstance(data, np.ndarray) or hasattr(data, "collect")
    if plain or not is_scannable(data):
        return data
    refuse_parts(data)
    name = getattr(data, "label", None)
    shown = f"{name}" if isinstance(name, str) else f"{str(data)[:300]!r}"
    raise InputTypeError(
        "this method needs rows in memory",
        got=f"{type(data).__name__} {shown}",
        fix="load the file first, with np.load or polars.read_csv; mercer.PCA reads files",
    )


def text_names(data: Any) -> Any:
    """Return a pandas frame whose columns are called by numbers or intervals by text.

    scikit-learn keeps names only where all of them are text, and would take such columns by
    their places. Names that pandas gives by itself (0, 1, 2, …) are no names, and neither
    are those of several levels, as in scikit-learn.
    """
    if not hasattr(data, "set_axis") or not hasattr(data, "columns"):
        return data
    labels = data.columns
    some = any(isinstance(label, str) for label in labels)
    if some or not len(labels) or only_counts(labels) or isinstance(labels[0], tuple):
        return data
    return data.set_axis([text_of(label) for label in labels], axis=1)


def only_counts(index: object) -> bool:
    """Tell whether an index is 0, 1, 2, …, as pandas makes it by itself."""
    plain = type(index).__name__ == "RangeIndex"
    return plain and getattr(index, "start", 0) == 0 and getattr(index, "step", 1) == 1
