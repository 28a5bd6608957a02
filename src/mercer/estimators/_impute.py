"""Tables of numbers and categories with their missing cells filled."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._held import held_rows
from mercer.estimators._mixed_axes import MixedAxes, fuzzy
from mercer.estimators._mixed_table import (
    Mixed,
    mixed,
    refuse_cells,
    refuse_empty,
    refuse_empty_columns,
)
from mercer.sources import as_frame

_METHODS = ("famd", "mca")


def impute(
    X: Any,
    n_components: int = 2,
    method: str = "famd",
    *,
    categorical: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Return X with its missing cells filled, numbers and categories alike.

    Regularised iterative FAMD or MCA [Audigier2016]_: axes of the completed table tell what
    each missing cell is expected to be, given the others of its row, until nothing moves. A
    category is filled as shares of its levels on the way, and with the likeliest in the end.
    The cells are best guesses: analyses of the completed table take them for measured.

    Parameters
    ----------
    X : frame or array of shape (n_samples, n_features)
        None, NaN and null are missing. It is read, never written to.
    n_components : int
        Axes that tell what is missing: few for noisy tables. At most one less than can vary.
    method : "famd" or "mca"
        Read numbers as numbers; or every column as a category.
    categorical : sequence of names or positions, or None
        With "famd", columns of numbers that are codes of categories.
    sample_weight : array of shape (n_samples,) or None
        Repeat counts of the rows.

    Returns
    -------
    frame or array of shape (n_samples, n_features)
        Of the kind that came in; X itself where nothing is missing. In a frame only columns
        with missing cells are replaced, and whole numbers among them become floats. Lists
        become arrays.

    Examples
    --------
    >>> import pandas as pd, mercer
    >>> X = pd.DataFrame({"x": [1, 2, 3, 8, 9, None], "group": ["a", "a", None, "b", "b", "b"]})
    >>> print(mercer.impute(X, 1)["group"].tolist())
    ['a', 'a', 'a', 'b', 'b', 'b']
    """
    from mercer.estimators.famd import FAMD

    if method not in _METHODS:
        raise InputError(
            'method must be "famd" or "mca"',
            got=f"method={method!r}",
            fix='pass "famd" for numbers and categories, "mca" for categories only',
        )
    given = held_rows(X)
    if method == "mca":
        categorical = range(mixed(given).shape[1])
    table = mixed(given, categorical)
    refuse_cells(table, gaps=True)
    holes = table.gaps()
    if not holes.any():
        return X
    refuse_empty(table, holes)
    refuse_empty_columns(table, holes)
    model = FAMD(n_components, categorical=categorical, missing="fill")
    return model.fit(X, sample_weight=sample_weight).impute(X)


def completed(given: Any, table: Mixed, axes: MixedAxes, unseen: str) -> Any:
    """Return `given` with the cells that are missing in `table` filled.

    Parameters
    ----------
    given : frame or array of shape (n, columns)
        As the user has it.
    table : Mixed
        The same rows, read.
    axes : MixedAxes
        A model with a filling.
    unseen : str
        What to do with values that were not there at fit.
    """
    holes = table.gaps()
    rows = np.flatnonzero(holes.any(axis=1))
    if rows.size == 0:
        return given
    assert axes.filling is not None
    expected = fuzzy(axes.filling, axes.frame, axes.observed(table, unseen)[rows], holes[rows])
    cells = {}
    frame, places = axes.frame, np.flatnonzero(~axes.frame.kinds)
    for column, values in expected.items():
        if frame.kinds[column]:
            variable = frame.variables[int(np.count_nonzero(frame.kinds[:column]))]
            cells[column] = variable.values[np.argmax(values, axis=1)]
        else:
            at = np.searchsorted(places, column)
            cells[column] = frame.back(values, np.full(len(values), at))
    return _written(given, holes, cells)


def _written(given: Any, holes: Array, cells: dict[int, Array]) -> Any:
    """Return a copy of `given` with `cells` in its holes."""
    frame = as_frame(given)
    if isinstance(frame, nw.DataFrame):
        fresh = [
            _column(frame.get_column(frame.columns[at]), np.flatnonzero(holes[:, at]), values)
            for at, values in cells.items()
        ]
        return frame.with_columns(*fresh).to_native()
    rows = np.array(given, dtype=object) if isinstance(given, list | tuple) else given
    out = np.array(np.ma.getdata(rows))
    for at, values in cells.items():
        out[holes[:, at], at] = values
    return out


def _column(series: Any, rows: Array, values: Array) -> Any:
    """Return a column of a frame with `values` at `rows`; its type stays where it can."""
    kind = series.dtype
    if kind.is_integer() and values.dtype.kind == "f":
        series, kind = series.cast(nw.Float64), nw.Float64()
    if series.implementation.is_pandas_like():
        native = series.to_native().copy()
        declared = kind == nw.Categorical or kind == nw.Enum
        known = native.cat.categories if declared else native.dropna().unique()
        native.iloc[rows] = _as_given(values, known)
        return nw.from_native(native, series_only=True)
    cells = series.to_list()
    for row, value in zip(rows, _as_given(values, series.drop_nulls()), strict=True):
        cells[row] = value
    made = nw.new_series(series.name, cells, kind, backend=series.implementation)
    if series.implementation.is_pyarrow():  # text may be long, and codes of any width
        native = made.to_native().cast(series.to_native().type)
        made = nw.from_native(native, series_only=True).alias(series.name)
    return made


def _as_given(values: Array, known: Any) -> list[Any]:
    """Return levels as the cells they were read from: text may stand for a date."""
    if values.dtype.kind != "O" or not len(known) or isinstance(known[0], str):
        return list(values.tolist())
    back = {str(cell): cell for cell in known}
    return [back.get(value, value) for value in values.tolist()]
