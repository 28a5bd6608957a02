"""Columns that took no part in a fit, seen on its axes."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._categories import coded
from mercer.estimators._mixed_reading import v_tests
from mercer.estimators._mixed_table import Mixed, refuse_cells


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Supplement:
    """Where supplementary columns stand.

    Attributes
    ----------
    names : tuple of str
        The given columns.
    squared_correlations : array of shape (columns, k)
        r² of numbers and η² of categories with every axis.
    numbers : tuple of str
        The columns of numbers.
    correlations : array of shape (numbers, k)
        With every axis.
    levels : tuple of str
        The levels, "variable=level".
    level_means : array of shape (levels, k)
        Mean coordinates of the rows that have each level.
    v_tests : array of shape (levels, k)
        How far those are from 0 in standard deviations.
    """

    names: tuple[str, ...]
    squared_correlations: Array
    numbers: tuple[str, ...]
    correlations: Array
    levels: tuple[str, ...]
    level_means: Array
    v_tests: Array


def supplement(table: Mixed, coordinates: Array, masses: Array, total: float) -> Supplement:
    """Return a table of other columns on axes whose rows have `coordinates` (n, k).

    Parameters
    ----------
    table : Mixed
        Rows of the fit, in their order; missing cells are left out of their column.
    coordinates : array of shape (n, k)
        Principal coordinates of the rows.
    masses : array of shape (n,)
        Of the rows; they sum to one.
    total : float
        Sum of the weights.
    """
    if table.shape[0] != len(coordinates):
        raise InputError(
            "supplementary columns need one cell for every row of the fit",
            got=f"{table.shape[0]} rows, {len(coordinates)} at fit",
            fix="pass the rows of the fit, in their order",
        )
    refuse_cells(table, gaps=True)
    k = coordinates.shape[1]
    squared = np.zeros((table.shape[1], k))
    places = table.number_places
    correlations = np.zeros((len(places), k))
    for j, place in enumerate(places):
        correlations[j] = _correlation(table.numbers[:, j], coordinates, masses)
        squared[place] = correlations[j] ** 2
    labels, means, tests = list[str](), [np.empty((0, k))], [np.empty((0, k))]
    for place, column in zip(table.category_places, table.columns, strict=True):
        levels = coded([column], missing="passive", quiet=True)
        there = column.codes >= 0
        mean, share, eta2, spread = _means(levels.codes[:, 0], coordinates, masses)
        squared[place] = eta2
        labels += levels.labels
        means.append(mean)
        counted = total * float(masses[there].sum())
        tests.append(v_tests(mean, share, spread, counted))
    return Supplement(
        table.names,
        squared,
        tuple(table.names[place] for place in places),
        correlations,
        tuple(labels),
        np.concatenate(means),
        np.concatenate(tests),
    )


def _correlation(cells: Array, coordinates: Array, masses: Array) -> Array:
    """Return the correlations (k,) of one column with the coordinates of rows that have it."""
    x = np.asarray(cells, np.float64)
    there = ~np.isnan(x) & (masses > 0)
    if not there.any():
        return np.zeros(coordinates.shape[1])
    x, f, r = x[there], coordinates[there], masses[there] / masses[there].sum()
    x = x / (np.abs(x).max() or 1.0)
    x = x - x[0]  # first to a value of the column, so that a constant one becomes zero
    x, f = x - r @ x, f - r @ f
    size = np.sqrt((r @ x**2) * (r @ f**2))
    return np.where(size > 0, (r * x) @ f / np.where(size > 0, size, 1.0), 0.0)


def _means(
    codes: Array, coordinates: Array, masses: Array
) -> tuple[Array, Array, Array, Array]:
    """Return means (L, k) and shares (L,) of levels, η² (k,), and the variances (k,)."""
    there = codes >= 0
    count = int(codes.max(initial=-1)) + 1
    r = np.where(there, masses, 0.0)
    r = r / (r.sum() or 1.0)
    share = np.bincount(codes[there], r[there], count)
    centre = r @ coordinates
    sums = np.zeros((count, coordinates.shape[1]))
    np.add.at(sums, codes[there], (r[:, None] * coordinates)[there])
    means = sums / np.where(share > 0, share, 1.0)[:, None]
    variance = r @ (coordinates - centre) ** 2
    between = share @ (means - centre) ** 2
    eta2 = np.where(variance > 0, between / np.where(variance > 0, variance, 1.0), 0.0)
    return means, share, eta2, variance
