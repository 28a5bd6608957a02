"""Survey: counts, ranges and the sample, however the rows are cut."""

import numpy as np
import pytest
import scipy.sparse

from mercer.operators import Survey


def surveyed(X, length, most=10, weights=None):
    survey = Survey(X.shape[1], most)
    for start in range(0, X.shape[0], length):
        part = slice(start, start + length)
        survey.add(X[part], None if weights is None else weights[part])
    return survey


@pytest.fixture
def gaps():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((97, 5)) + 3
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 0.1)  # a constant that sums round
    X[11], X[96] = np.nan, np.nan
    return X


@pytest.mark.parametrize("length", [1, 8, 97])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_counts_whatever_the_blocks(gaps, length, form):
    found = surveyed(form(gaps), length)
    np.testing.assert_array_equal(found.counts, np.isnan(gaps).sum(axis=0))
    assert found.empty == np.flatnonzero(np.isnan(gaps).all(axis=1)).tolist()
    origin, unit = found.origin(np.float64)
    np.testing.assert_allclose(origin, np.nanmean(gaps[::16], axis=0), rtol=1e-12)
    assert origin[3] == 0.1
    assert found.constant.tolist() == [False, False, False, True, False]
    assert unit == 0
    at, rows = found.sample
    np.testing.assert_array_equal(at, np.arange(0, 97, 16))
    np.testing.assert_array_equal(rows, gaps[::16])


def test_weights_are_those_of_observed_cells(gaps):
    w = np.arange(97.0)
    found = surveyed(gaps, 10, weights=w)
    np.testing.assert_allclose(found.weighed, w @ ~np.isnan(gaps))


@pytest.mark.parametrize("length", [1, 8, 150])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_rows_of_weight_zero_may_hold_anything(gaps, length, form):
    rng = np.random.default_rng(1)
    held = np.sort(rng.permutation(150)[:97])
    X, w = rng.choice([1e-300, 5.0, 1e36, 1e300, np.nan], (150, 5)), np.zeros(150)
    X[held], w[held] = gaps, rng.integers(1, 4, 97)
    found, bare = surveyed(form(X), length, weights=w), surveyed(gaps, 97)
    assert found.finite
    np.testing.assert_array_equal(found.constant, bare.constant)
    np.testing.assert_array_equal(found.sample[0], held[bare.sample[0]])
    np.testing.assert_array_equal(found.sample[1], bare.sample[1])
    np.testing.assert_array_equal(found.origin(np.float64)[0], bare.origin(np.float64)[0])
    assert found.origin(np.float64)[1] == 0
    np.testing.assert_array_equal(found.counts, np.isnan(X).sum(axis=0))
    again = Survey(5, 10)
    again.restore(surveyed(X[:80], length, weights=w[:80]).keep())
    again.add(X[80:], w[80:])
    np.testing.assert_array_equal(again.sample[0], found.sample[0])
    X[np.flatnonzero(w == 0)[-1], 2] = np.inf  # but no number is no number
    assert not surveyed(form(X), length, weights=w).finite


@pytest.mark.parametrize("where", [0, 50, 96])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_seen_anywhere(gaps, where, value):
    assert surveyed(gaps, 97).finite
    gaps[where, 2] = value
    assert not surveyed(gaps, 97).finite


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_the_unit_brings_extremes_near_one(gaps, scale):
    _, unit = surveyed(gaps * scale, 97).origin(np.float64)
    assert abs(np.log2(scale) - unit) < 6


def test_one_huge_value_late_in_the_rows_sets_the_unit(gaps):
    gaps[95, 1] = 1e250
    _, unit = surveyed(gaps, 97).origin(np.float64)
    assert unit > 800


def test_sums_that_overflow_still_have_a_middle():
    X = np.full((40, 2), 1.7e308)
    X[::2, 1] = np.nan
    origin, _ = surveyed(X, 40).origin(np.float64)
    np.testing.assert_array_equal(origin, [1.7e308, 1.7e308])


def test_comes_back_from_a_checkpoint(gaps):
    half, whole = surveyed(gaps[:48], 16), surveyed(gaps, 16)
    again = Survey(5, 10)
    assert again.restore(half.keep())
    for start in range(48, 97, 16):
        again.add(gaps[start : start + 16])
    for name, value in whole.keep().items():
        np.testing.assert_array_equal(again.keep()[name], value)


def test_rows_that_last_are_not_copied(gaps):
    for lasting in (False, True):
        survey = Survey(gaps.shape[1], 10, lasting=lasting)
        survey.add(gaps)
        at, rows = survey.sample
        np.testing.assert_array_equal(rows, gaps[at])
        assert np.shares_memory(rows, gaps) == lasting


def test_integers_have_no_missing_cells():
    found = surveyed(np.arange(12).reshape(6, 2), 4)
    assert found.counts.tolist() == [0, 0]
    assert found.origin(np.int64)[0].tolist() == [5.0, 6.0]
