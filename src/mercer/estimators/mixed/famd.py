"""Factor analysis of mixed data: numbers and categories on the same axes.

`impute` fills the missing cells of a table by them.
"""

import dataclasses
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.mixed._mixed_axes import Filling, MixedAxes, fuzzy
from mercer.estimators.mixed._mixed_estimator import MixedEstimator
from mercer.estimators.mixed._mixed_filling import filled, filling_rank, noise, operated
from mercer.estimators.mixed._mixed_fit import Built, fitted_state, masses_of
from mercer.estimators.mixed._mixed_frame import framed, table_of_cells
from mercer.estimators.mixed._mixed_table import Mixed, mixed, refuse_cells
from mercer.estimators.walk._admission import held_rows
from mercer.estimators.walk._operated_estimator import Operated
from mercer.solvers import Spectrum
from mercer.sources import by_place, dense_frame, renamed

_METHODS = ("famd", "mca")


def _fills(model: "FAMD") -> bool:
    return bool(model.missing == "fill")


class FAMD(MixedEstimator):
    r"""Principal axes of numbers and categories together [Pages2004]_.

    Numbers are standardised with the 1/n standard deviation. A category is a column for each
    level, (indicator - share)/√share. Every number then has inertia 1 and every category as
    many as it has levels, less one; a category whose levels split the rows as a number does
    weighs the same as the number. With numbers only this is PCA of the correlations; with
    categories only it is multiple correspondence analysis, its eigenvalues times the number of
    variables.

    Parameters
    ----------
    n_components : int or None
        Axes to keep; a table that has fewer keeps all. None keeps all there are.
    categorical : sequence of names or positions, or None
        Columns of numbers that are codes of categories. Text, declared categories and bools
        are categories anyhow.
    missing : "raise" or "fill"
        Name the missing cells; or fill them as the other cells of their row lead to expect
        (regularised iterative FAMD with `n_components` axes).
    unseen : "raise" or "passive"
        What `transform` does with a category that was not there at fit: name it; or place it
        at the centre of its variable.
    tol, memory, time, device, random_state
        As for `PCA`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Inertia along each axis: variance of the coordinates, dividing by n.
    explained_variance_ratio_ : ndarray of shape (k,)
        Divided by the total inertia.
    total_inertia_ : float
        Numbers that vary, plus levels less variables.
    row_coordinates_ : ndarray of shape (n, k)
        Principal coordinates, the same as `transform` of the training rows.
    row_masses_, row_inertias_ : ndarray of shape (n,)
        Shares of the weights; mass times squared distance from the centre.
    column_names_ : list of str
        The numbers, then "variable=level".
    column_masses_ : ndarray of shape (J,)
        1 for numbers, the share of rows for levels.
    column_standard_ : ndarray of shape (J, k)
        What `transform` adds up: times the standardised number, or once for a level.
    column_coordinates_ : ndarray of shape (J, k)
        Principal coordinates: correlations for numbers; for levels as MCA has them.
    squared_correlations_ : ndarray of shape (variables, k)
        r² of numbers, η² of categories ("square loadings"). Others call these coordinates;
        they carry no sign and are none.
    correlations_ : ndarray of shape (numbers, k)
        With the axes.
    level_means_, v_tests_ : ndarray of shape (levels, k)
        Mean coordinates of the rows of a level; how far they are from 0 in deviations.
    row_contributions_, column_contributions_, variable_contributions_ : ndarrays
        Shares in each axis; they sum to one.
    row_cos2_, column_cos2_ : ndarrays
        Shares of squared distance or inertia along each axis.
    variables_, categories_, mean_, scale_
        Names of the columns; levels of the categories; of the numbers.
    missing_counts_, n_missing_, n_iter_
        Filled cells per column and in all; steps that filling took.
    n_components_, n_samples_, plan_, certificate_
        As for `PCA`.

    Notes
    -----
    Cost: one table is made of the given columns, p + J float64 numbers a row, or 12 bytes for
    each of p + Q cells where levels are many; then as `PCA`. Filling solves it once a step.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import FAMD
    >>> colours = ["red", "white", "red", "red"]
    >>> wine = pd.DataFrame({"price": [9, 12, 30, 35], "colour": colours})
    >>> model = FAMD(2).fit(wine)
    >>> model.eigenvalues_.round(3)
    array([1.49, 0.51])
    >>> model.transform(wine).shape
    (4, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **MixedEstimator._parameter_constraints,
        "missing": [StrOptions({"raise", "fill"})],
    }

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        categorical: Any = None,
        missing: str = "raise",
        unseen: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        super().__init__(tol, memory, time, device, random_state)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.missing == "fill" and self.n_components is None:
            raise NotSupportedError(
                "filling needs a number of axes",
                got='n_components=None with missing="fill"',
                fix="pass a small whole number, such as n_components=2",
            )

    def _operator(self, source: Mixed, weights: Array | None) -> Operated:
        masses, total = masses_of(weights, source.shape[0])
        frame = framed(source, masses)
        table = table_of_cells(frame, source, frame.codes(source))
        holes = source.gaps() if self.missing == "fill" else None
        if holes is None or not holes.any():
            asked = operated(table, frame, masses, np.ones(frame.width))
            left, steps = None, 0
        else:
            rank = int(self.n_components or 0)
            done = filled(table, frame, holes, masses, total, rank, self._pairs_of)
            asked, frame = done.operated, done.frame
            left, steps = done.filling.noise, done.steps
        ones = np.ones(frame.width)
        built = Built(frame, masses, total, asked.found, ones, left, steps)
        return dataclasses.replace(asked, found=built)

    @available_if(_fills)  # type: ignore[untyped-decorator]
    def impute(self, X: Any) -> Any:
        """Return X with its missing cells filled as the model expects them, given the others.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_features)
            Rows, of the fit or new. They are read, never written to.

        Returns
        -------
        frame or array of shape (n_samples, n_features)
            Of the kind that came in; see `mercer.impute`.
        """
        check_is_fitted(self)
        return completed(X, self._admit(X, reset=False), self._axes, self.unseen)

    def _scale(self, spectrum: Spectrum, found: Operated, source: Any) -> dict[str, object]:
        built: Built = found.found
        counts = np.zeros(source.shape[1], np.int64)
        if self.missing == "fill":
            counts = np.count_nonzero(source.gaps(), axis=0)
        return {
            **fitted_state(spectrum, found.trace, built, source, self._filling),
            "missing_counts_": counts,
            "n_missing_": int(counts.sum()),
            "n_iter_": built.steps,
        }

    def _filling(
        self, values: Array, axes: Array, built: Built, trace: float
    ) -> Filling | None:
        """Return what this model expects of missing cells: its own axes, and their noise."""
        if self.missing != "fill":
            return None
        n, p = built.total, built.frame.rank
        q = filling_rank(len(values), n, p)
        left = noise(values[:q], trace, q, n, p) if built.noise is None else built.noise
        return Filling(axes[:, :q], values[:q], left, built.frame.owner)


def impute(
    X: object,
    n_components: int = 2,
    method: str = "famd",
    *,
    categorical: Any = None,
    sample_weight: Array | None = None,
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
    if not table.gaps().any():
        return X
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
    frame = by_place(dense_frame(given))
    if isinstance(frame, nw.DataFrame):
        fresh = [
            _column(frame.get_column(frame.columns[at]), np.flatnonzero(holes[:, at]), values)
            for at, values in cells.items()
        ]
        return renamed(frame.with_columns(*fresh), given)
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
