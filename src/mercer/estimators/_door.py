"""The door: what may come in, and where exactly something may not."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.errors import InputError
from mercer.sources import Source, scan

_FEWEST = 2  # rows without which there is no variance


def admit(estimator: BaseEstimator, data: Any, *, reset: bool) -> Source:
    """Return the source of `data` after scikit-learn's checks and ours.

    Frames keep their names; integers and booleans stay as they are and are widened block
    by block; sparse matrices become CSR. Cells are not looked at here: NaN and infinity are
    found by the sums of the first pass, and named then.
    """
    _refuse_masks(data)
    _refuse_odd_columns(data)
    _refuse_text(data)
    checked = validate_data(
        estimator,
        data,
        reset=reset,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype=_numeric_dtype(data),
        ensure_all_finite=False,
        ensure_min_samples=1,
        ensure_min_features=1,
    )
    if reset and checked.shape[0] < _FEWEST:
        raise InputError(
            "one row has no variance",
            got=f"n_samples = 1, X of shape {tuple(checked.shape)}",
            fix="pass at least two rows",
        )
    return scan(checked)


def refuse_bad_cells(source: Source, names: Any = None) -> None:
    """Raise the error that names the first NaN or infinity of `source`, if there is one."""
    found = source.first_bad_cell()
    if found is None:
        return
    row, column, value = found
    name = "" if names is None else f" ({names[column]!r})"
    shown = "NaN" if np.isnan(value) else "infinity" if value > 0 else "-infinity"
    missing = "NaN" if np.isnan(value) else "inf"
    raise InputError(
        f"X contains {missing}; every cell must be a finite number",
        got=f"{shown} at row {row}, column {column}{name}",
        fix="drop or impute such rows or columns first",
    )


def _numeric_dtype(data: Any) -> Any:
    """Return the type to convert to: none for plain numbers, float64 for what is not."""
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and (
        dtype.kind in "iub" or dtype in (np.float32, np.float64)
    ):
        return None if dtype.isnative else dtype.newbyteorder("=")
    if scipy.sparse.issparse(data):
        return np.float64
    return [np.float64, np.float32]


def _refuse_masks(data: Any) -> None:
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        row, column = (int(i) for i in np.argwhere(np.ma.getmaskarray(data))[0][:2])
        raise InputError(
            "masked cells have no value",
            got=f"{int(np.ma.getmaskarray(data).sum())} masked cells, the first at row {row},"
            f" column {column}",
            fix="fill or drop them: X.filled(...) or np.ma.compress_rows(X)",
        )


def _refuse_odd_columns(data: Any) -> None:
    """Name the columns of a frame that are not numbers, and names that stand twice."""
    _refuse_twins(data)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    schema = frame.schema
    odd = [
        name for name, kind in schema.items() if not (kind.is_numeric() or kind == nw.Boolean)
    ]
    odd = [name for name in odd if not _numbers_in_objects(frame, name)]
    if odd:
        kinds = ", ".join(f"{name!r} ({schema[name]})" for name in odd[:5])
        more = "" if len(odd) <= 5 else f" and {len(odd) - 5} more"
        raise InputError(
            "every column must hold numbers",
            got=f"{len(odd)} of {len(schema)} columns do not: {kinds}{more}",
            fix="drop these columns or encode them as numbers",
        )


def _refuse_twins(data: Any) -> None:
    columns = getattr(data, "columns", None)
    if columns is None or not hasattr(data, "dtypes"):
        return
    names = list(columns)
    twins = sorted({str(name) for name in names if names.count(name) > 1})[:5]
    if twins:
        raise InputError(
            "column names must be unique",
            got=f"more than one column is called {', '.join(map(repr, twins))}",
            fix="rename or drop the repeated columns",
        )


def _numbers_in_objects(frame: Any, name: str) -> bool:
    if frame.schema[name] != nw.Object:
        return False
    return not any(isinstance(cell, str) for cell in frame[name].to_numpy())


def _refuse_text(data: Any) -> None:
    """Name the first text cell of an array of objects or strings; numbers as text are text."""
    dtype = getattr(data, "dtype", None)
    if not isinstance(data, np.ndarray) or dtype is None or dtype.kind not in "OUS":
        return
    for row, cells in enumerate(np.atleast_2d(data)):
        for column, cell in enumerate(np.atleast_1d(cells)):
            if isinstance(cell, str | bytes):
                raise InputError(
                    "every cell must be a number",
                    got=f"text {cell!r} at row {row}, column {column}",
                    fix="convert text to numbers first, or drop the column",
                )
