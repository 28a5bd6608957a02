"""What a walk finds of numbers: NumPy's own answers, however the rows are cut."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.tables.looking import _column_numbers as _numbers
from mercer.tables.looking._column_numbers import Numbers, count_distinct


def walked(X, cuts=(), kept=(), compared=None):
    compared = np.arange(X.shape[1]) if compared is None else np.asarray(compared)
    numbers = Numbers(X.shape[1], kept, compared)
    for part in np.split(X, cuts) if isinstance(X, np.ndarray) else [X]:
        numbers.add(part)
    return numbers


def gappy(rng, n=400, p=7):
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p) + 1e6
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = np.nan
    X[3, 4], X[9, 4] = np.inf, -np.inf
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, np.rint(X[:, 5]))
    return X


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(1, 399), max_size=4).map(sorted))
def test_counts_means_and_ranges_are_those_of_numpy(seed, cuts):
    X = gappy(np.random.default_rng(seed))
    found = walked(X, cuts)
    finite = np.where(np.isfinite(X), X, np.nan)
    used = [0, 1, 3, 4, 5, 6]
    assert found.rows == 400
    assert np.array_equal(found.counts, np.isfinite(X).sum(axis=0))
    assert found.infinite.tolist() == [0, 0, 0, 0, 2, 0, 0]
    assert np.allclose(found.mean[used], np.nanmean(finite[:, used], axis=0), rtol=1e-14)
    deviations = np.nanstd(finite[:, used], axis=0, ddof=1)
    assert np.allclose(found.deviations[used], deviations, rtol=1e-9)
    assert np.array_equal(found.low[used], np.nanmin(finite[:, used], axis=0))
    assert np.array_equal(found.high[used], np.nanmax(finite[:, used], axis=0))
    assert found.low[2] > found.high[2]
    assert found.whole.tolist() == [False, False, True, False, False, True, False]


def test_nothing_cancels_far_from_zero(rng):
    noise = rng.standard_normal(5000)
    X = np.column_stack([noise + 1e12, noise * 1e-3 + 1e8, noise + 2.0**52])
    exact = np.array([np.std(X[:, j] - X[0, j], ddof=1) for j in range(3)])
    assert np.allclose(walked(X, (7, 1000)).deviations, exact, rtol=1e-9)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 2000, reason="no longer numbers")
@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e170, 1e300])
def test_numbers_whose_squares_do_not_fit(rng, size):
    plain = rng.standard_normal((500, 2))
    plain[::9, 1] = np.nan
    expected = walked(plain).deviations * size
    assert np.allclose(walked(plain * size, (99,)).deviations, expected, rtol=1e-12, atol=0)


def test_a_constant_column_has_no_deviation_at_all():
    X = np.full((10_001, 2), 0.1)
    X[::3, 1] = np.nan
    assert walked(X, (5, 7000)).deviations.tolist() == [0.0, 0.0]


def test_rows_of_a_csr_array_count_zeros(rng):
    dense = rng.standard_normal((300, 6)) * (rng.random((300, 6)) < 0.3) + 0.0
    dense[:, 3] = 0
    dense[:, 4] = np.arange(300) + 1
    dense[5, 0] = np.nan
    one, other = walked(dense), Numbers(6, [], np.arange(0))
    for part in np.split(dense, (100, 101)):
        other.add(scipy.sparse.csr_array(part))
    for name in ("counts", "infinite", "low", "high", "whole"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.allclose(one.mean, other.mean, rtol=1e-13)
    assert np.allclose(one.deviations, other.deviations, rtol=1e-12)


def test_columns_that_count_the_rows():
    n = 20_000
    steps = np.arange(n)
    X = np.column_stack([steps, steps + 1, steps + 2, steps % 9_999, 2 * steps, steps * 1.0])
    X[-1, 5] = 0
    assert walked(X, (10_000,)).counting == {0: 0.0, 1: 1.0}


def test_different_values_are_counted_where_they_are_kept():
    X = np.column_stack([np.arange(10.0), np.arange(10.0) // 2, np.arange(10) / 2])
    X[4, 0] = np.nan
    found = walked(X, (3,), kept=[0, 1, 2])
    assert [found.distinct(j) for j in range(3)] == [9, 5, None]
    assert walked(X, (3,)).distinct(1) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.bool_])
def test_equal_rows(rng, dtype):
    X = rng.integers(0, 2 if dtype is np.bool_ else 4, (3000, 5)).astype(dtype)
    expected = len(X) - len(np.unique(X, axis=0))
    assert walked(X, (1, 777)).repeated() == expected
    assert expected > 0


def test_equal_rows_with_gaps_and_signs_of_zero():
    X = np.array([[0.0, np.nan], [-0.0, np.nan], [np.nan, 0.0], [1.0, 2.0], [2.0, 1.0]])
    assert walked(X).repeated() == 1


def test_rows_that_differ_in_one_cell_are_not_equal(rng):
    X = np.tile(rng.integers(0, 3, 40).astype(float), (20_000, 1))
    X[:, 17] = np.arange(20_000) * 2.0**20
    assert walked(X).repeated() == 0
    assert walked(X, compared=np.delete(np.arange(40), 17)).repeated() == 19_999


def test_rows_without_a_number(rng):
    X = rng.standard_normal((50, 3))
    X[[3, 40]] = np.nan
    X[7, 1:] = np.nan
    assert walked(X, (10,)).blank == 2
    assert walked(X, (10,), compared=[1, 2]).blank == 3


def test_very_long_tables_keep_no_rows(monkeypatch):
    monkeypatch.setattr(_numbers, "_MOST_MARKS", 100)
    X = np.zeros((70_000, 2))
    found = walked(X, (50_000,), kept=[1])
    assert found.repeated() == 0
    assert found.distinct(1) is None
    assert found.counts.tolist() == [70_000, 70_000]


def test_counting_different_values():
    assert count_distinct(np.array([])) == 0
    assert count_distinct(np.array([3.0, 1, 3, 2])) == 3
