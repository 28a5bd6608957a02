import numpy as np
import pandas as pd
import polars as pl
import pytest
from written_mca import tables

import mercer
from mercer.errors import InputError
from mercer.estimators.categories._supplementary_variables import (
    Placed,
    supplementary_variables,
)

MCA = mercer.MultipleCorrespondenceAnalysis


@pytest.fixture(name="X")
def _table(rng):
    return tables(rng)


@pytest.mark.parametrize(
    "options", [{}, {"table": "burt"}, {"correction": "benzecri"}, {"correction": "greenacre"}]
)
def test_an_active_variable_lies_where_its_levels_lie(X, options):
    found = MCA(2, **options).fit(X)
    beside = found.supplementary(pd.DataFrame({"x1": X[:, 1], "x2": X[:, 2]}))
    mine = [found.column_names_.index(name) for name in beside.levels]
    np.testing.assert_allclose(
        beside.coordinates, found.column_coordinates_[mine], rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(beside.v_tests, found.v_tests_[mine], rtol=0, atol=1e-8)
    np.testing.assert_allclose(beside.eta2, found.eta2_[[1, 2]], rtol=0, atol=1e-10)
    if not options:
        np.testing.assert_allclose(beside.cos2, found.column_cos2_[mine], rtol=0, atol=1e-9)
    assert beside.counts.sum() == pytest.approx(2 * len(X))


def test_numbers_get_weighted_correlations(rng, X):
    w = rng.integers(1, 4, len(X))
    found = MCA(2).fit(X, sample_weight=w)
    numbers = rng.normal(size=(len(X), 2)) + found.row_coordinates_[:, :1]
    beside = found.supplementary(numbers)
    assert beside.numbers == ["x0", "x1"]
    assert beside.levels == []
    many = np.repeat(numbers, w, axis=0)
    rows = np.repeat(found.row_coordinates_, w, axis=0)
    wanted = np.corrcoef(many.T, rows.T)[:2, 2:]
    np.testing.assert_allclose(beside.correlations, wanted, rtol=0, atol=1e-12)


def test_missing_cells_are_left_out_column_by_column(rng, X):
    found = MCA(2).fit(X)
    numbers = rng.normal(size=len(X))
    numbers[::3] = np.nan
    text = X[:, 0].copy()
    text[::4] = None
    beside = found.supplementary(pl.DataFrame({"a": numbers, "b": list(text)}))
    there = ~np.isnan(numbers)
    wanted = np.corrcoef(numbers[there], found.row_coordinates_[there].T)[0, 1:]
    np.testing.assert_allclose(beside.correlations[0], wanted, rtol=0, atol=1e-12)
    assert beside.counts.sum() == pytest.approx(np.sum(np.arange(len(X)) % 4 != 0))


def test_kinds_of_columns(X):
    found = MCA(2).fit(X)
    n = len(X)
    frame = pd.DataFrame(
        {
            "whole": np.arange(n),
            "flag": np.arange(n) % 2 == 0,
            "declared": pd.Categorical(np.arange(n) % 3),
            "flat": np.ones(n),
        }
    )
    beside = found.supplementary(frame)
    assert beside.numbers == ["whole", "flat"]
    assert beside.variables == ["flag", "declared"]
    assert beside.levels == ["flag=False", "flag=True"] + [f"declared={i}" for i in range(3)]
    assert np.isnan(beside.correlations[1]).all()


def test_other_rows_are_refused(X):
    with pytest.raises(InputError, match="5 rows, 120 at fit"):
        MCA(2).fit(X).supplementary(X[:5])


def test_a_map_without_axes_has_places_for_nothing(rng):
    placed = Placed(np.zeros((6, 0)), np.full(6, 1 / 6), 6.0, np.zeros(0), np.zeros(0))
    given = pd.DataFrame({"x": rng.standard_normal(6), "g": list("ababab")})
    found = supplementary_variables(given, placed)
    assert found.correlations.shape == found.eta2.shape == (1, 0)
    assert found.coordinates.shape == (2, 0)


def test_unsigned_numbers_are_numbers(rng):
    rows = rng.standard_normal((40, 1))
    placed = Placed(rows, np.full(40, 1 / 40), 40.0, np.ones(1), np.ones(1))
    wide = rng.integers(0, 2**40, 40)
    for kind in (np.uint64, np.int64, np.float64):
        found = supplementary_variables(pd.DataFrame({"x": wide.astype(kind)}), placed)
        assert found.numbers == ["x"]
        expected = np.corrcoef(wide, rows[:, 0])[0, 1]
        np.testing.assert_allclose(found.correlations, [[expected]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("value", [0.1, 0.3, 1.7, 1e8 / 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_column_has_no_correlation(rng, X, value, weighted):
    w = rng.integers(0, 3, len(X)) / 7 if weighted else None
    found = MCA(2).fit(X, sample_weight=w)
    column = np.full(len(X), value)
    if weighted:
        column[w == 0] = 5.0  # rows that do not count
    assert np.isnan(found.supplementary(pd.DataFrame({"x": column})).correlations).all()
