import numpy as np
import pytest

from mercer.diagnostics import barycentres, read_levels, spread_of, v_tests


@pytest.fixture
def rows(rng):
    codes = rng.integers(-1, 3, 50)
    codes[codes == 2] = 1  # the level 2 has no rows
    return codes, rng.random(50) + 0.1, rng.normal(size=(50, 2)) + codes[:, None]


def test_barycentres_by_hand(rows):
    codes, weights, f = rows
    counts, means = barycentres(codes, 3, weights, f)
    for level in (0, 1):
        here = codes == level
        assert counts[level] == pytest.approx(weights[here].sum())
        np.testing.assert_allclose(
            means[level], np.average(f[here], axis=0, weights=weights[here])
        )
    assert counts[2] == 0
    assert np.isnan(means[2]).all()


def test_eta2_is_the_r_squared_of_a_regression_on_the_levels(rows):
    codes, weights, f = rows
    there = codes >= 0
    dummies = (codes[there, None] == [0, 1]).astype(float)
    root = np.sqrt(weights[there])[:, None]
    fitted = dummies @ np.linalg.lstsq(root * dummies, root * f[there], rcond=None)[0]
    middle = np.average(f[there], axis=0, weights=weights[there])
    part = weights[there] @ (fitted - middle) ** 2 / (weights[there] @ (f[there] - middle) ** 2)
    np.testing.assert_allclose(read_levels(codes, 3, weights, f)[2], part)
    given = spread_of(weights, f)  # of no use here: some rows have no level
    np.testing.assert_allclose(read_levels(codes, 3, weights, f, given)[2], part)


def test_eta2_of_nothing_and_of_a_flat_axis():
    codes = np.array([0, 1, 0])
    weights = np.ones(3)
    flat = np.full((3, 1), 7.0)
    assert read_levels(codes, 2, weights, flat)[2] == [0]
    assert np.isnan(read_levels(np.full(3, -1), 2, weights, flat)[2]).all()


def test_v_tests_are_standard_errors_without_replacement(rng):
    f = rng.normal(size=30)
    f -= f.mean()
    counts, total = np.array([8.0]), 30.0
    means = [f[rng.permutation(30)[:8]].mean() for _ in range(20000)]
    v = v_tests(np.array([[0.5]]), counts, total, np.array([f.var()]))
    assert v[0, 0] == pytest.approx(0.5 / np.std(means), rel=0.02)


def test_v_tests_of_all_rows_and_of_none_say_nothing():
    found = v_tests(np.array([[0.0], [np.nan]]), np.array([5.0, 0.0]), 5.0, np.ones(1))
    assert np.isnan(found).all()
