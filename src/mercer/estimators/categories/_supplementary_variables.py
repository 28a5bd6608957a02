"""Variables that make no axis, placed among the rows of a fit."""

import dataclasses

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import read_levels, v_tests
from mercer.errors import InputError
from mercer.estimators.categories._category_cells import CategoryColumn, columns_of, table_of
from mercer.estimators.categories._category_codes import Variable
from mercer.operators import exact_means


@dataclasses.dataclass(frozen=True, eq=False)
class SupplementaryVariables:
    """Where variables that make no axis lie.

    Attributes
    ----------
    numbers : list of str
        Names of the columns of numbers.
    correlations : array of shape (numbers, k)
        Their correlations with the axes; NaN where a column does not vary.
    variables : list of str
        Names of the columns of categories.
    eta2 : array of shape (variables, k)
        Their squared correlation ratios with the axes.
    levels : list of str
        Names "variable=level".
    counts : array of shape (levels,)
        Rows of each level, weights counted.
    coordinates : array of shape (levels, k)
        Principal coordinates, on the scale of `column_coordinates_`.
    cos2 : array of shape (levels, k)
        Share of the squared distance of a level that an axis shows.
    v_tests : array of shape (levels, k)
        Standard errors between a level and the mean row; beyond ±1.96 not by chance.
    """

    numbers: list[str]
    correlations: Array
    variables: list[str]
    eta2: Array
    levels: list[str]
    counts: Array
    coordinates: Array
    cos2: Array
    v_tests: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """The rows of a fit: coordinates f (n, k), masses, and the scales of the axes.

    Attributes
    ----------
    rows, masses : arrays of shape (n, k) and (n,)
        Coordinates of the indicator, and masses that sum to one.
    total : float
        n, weights counted.
    values : array of shape (k,)
        Eigenvalues λ that turn barycentres into standard coordinates.
    eigenvalues : array of shape (k,)
        Inertias that turn standard into principal coordinates.
    """

    rows: Array
    masses: Array
    total: float
    values: Array
    eigenvalues: Array


def supplementary_variables(data: object, placed: Placed) -> SupplementaryVariables:
    """Return where the columns of `data` (n, ·) lie: numbers and categories.

    Parameters
    ----------
    data : frame or array with the rows of the fit, in their order
        Columns of numbers are read as numbers; text, bools and categories as categories.
        Missing cells are left out, column by column.
    placed : Placed
        The rows.
    """
    numbers, columns = _kinds(data)
    rows = len(columns[0].codes) if columns else len(numbers[0][1])
    if rows != len(placed.rows):
        raise InputError(
            "supplementary variables need the rows of the fit",
            got=f"{rows} rows, {len(placed.rows)} at fit",
            fix="pass the columns of the same rows, in the same order",
        )
    correlations = [_correlation(cells, placed) for _, cells in numbers]
    levels = [_levels(column, placed) for column in columns]
    k = placed.rows.shape[1]
    return SupplementaryVariables(
        numbers=[name for name, _ in numbers],
        correlations=np.reshape(correlations, (len(numbers), k)),
        variables=[column.name for column in columns],
        eta2=np.reshape([found[0] for found in levels], (len(levels), k)),
        levels=[label for c in columns for label in Variable(c.name, c.values).labels],
        counts=np.concatenate([found[1] for found in levels] or [np.zeros(0)]),
        coordinates=np.concatenate([found[2] for found in levels] or [np.zeros((0, k))]),
        cos2=np.concatenate([found[3] for found in levels] or [np.zeros((0, k))]),
        v_tests=np.concatenate([found[4] for found in levels] or [np.zeros((0, k))]),
    )


def _kinds(data: object) -> tuple[list[tuple[str, Array]], list[CategoryColumn]]:
    """Return the columns of numbers as float64 with NaN for gaps, and the others."""
    table = table_of(data)
    columns, _ = columns_of(data)
    frame = isinstance(table, nw.DataFrame)
    kinds = list(table.schema.values()) if frame else []
    numbers, others = [], []
    for at, column in enumerate(columns):
        kind = kinds[at] if frame else None
        named = kind is not None and not kind.is_numeric()  # numbers among declared levels
        if column.values.dtype.kind in "iuf" and not named:
            cells = np.append(column.values.astype(np.float64), np.nan)[column.codes]
            numbers.append((column.name, cells))
        else:
            others.append(column)
    return numbers, others


def _correlation(cells: Array, placed: Placed) -> Array:
    """Return the weighted correlation (k,) of a column with every axis."""
    there = ~np.isnan(cells)
    w, x, f = placed.masses[there], cells[there], placed.rows[there]
    whole = float(np.sum(w))
    if whole == 0:
        return np.full(placed.rows.shape[1], np.nan)
    w, heavy = w / whole, w > 0
    x = x - exact_means(x[heavy], w @ x)
    f = f - exact_means(f[heavy], w @ f)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (w * x) @ f / np.sqrt((w @ x**2) * (w @ f**2))
    return np.where(np.isfinite(found), np.clip(found, -1, 1), np.nan)


def _levels(column: CategoryColumn, placed: Placed) -> tuple[Array, Array, Array, Array, Array]:
    """Return η² (k,), counts (L,), coordinates, cos² and v-tests (L, k) of a variable."""
    size = len(column.values)
    shares, means, eta2 = read_levels(column.codes, size, placed.masses, placed.rows)
    middle = placed.masses @ placed.rows
    variance = placed.masses @ (placed.rows - middle) ** 2
    counts = shares * placed.total
    with np.errstate(invalid="ignore", divide="ignore"):
        standard = (means - middle) / placed.values
        cos2 = standard**2 * placed.values / (1 / shares - 1)[:, None]
    cos2 = np.where(np.isfinite(cos2), np.minimum(cos2, 1.0), 0.0)
    coordinates = np.where(placed.values > 0, standard, 0.0) * np.sqrt(placed.eigenvalues)
    tests = v_tests(means, counts, placed.total, variance, middle)
    return eta2, counts, coordinates, cos2, tests
