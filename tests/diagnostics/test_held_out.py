import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.diagnostics import (
    HeldOut,
    barycentres,
    can_tell,
    fewest_rows,
    held_out,
    outliers,
    read_levels,
    spread_of,
    v_tests,
)
from mercer.errors import InputError


def by_svd(inside, outside, k):
    mean = inside.mean(axis=0)
    _, s, vt = np.linalg.svd(inside - mean, full_matrices=False)
    z = (outside - mean) @ vt[:k].T
    rest = outside - mean - z @ vt[:k]
    return z[0] ** 2, s[:k] ** 2 / (len(inside) - 1), np.sum(rest**2)


@pytest.mark.parametrize("shape", [(20, 4), (12, 40)])
def test_each_row_is_judged_without_itself(shape):
    X = np.random.default_rng(0).standard_normal(shape) + 5
    n, found = shape[0], held_out(X, 2, folds=100)
    assert found.t2.shape == found.q.shape == (1, n)
    squares, variances, rest = zip(
        *(by_svd(np.delete(X, i, 0), X[i : i + 1], 2) for i in range(n)), strict=True
    )
    whole = by_svd(X, X[:1], 2)[1]
    nearer = (1 + 1 / n) / (1 + 1 / (n - 1))
    shares = np.array(squares) / variances * np.mean(variances, axis=0) / whole
    assert_allclose(found.t2[0], nearer * shares.sum(axis=1), rtol=1e-8)
    assert_allclose(found.q[0], nearer * np.array(rest), rtol=1e-8)


def test_constant_columns_and_ranks():
    X = np.zeros((25, 3))
    X[:, 0] = np.arange(25)
    found = held_out(X, 2)
    assert np.all(np.isfinite(found.t2))
    assert_allclose(found.q, 0, atol=1e-20)
    values = np.arange(1.0, 100.0)[::-1][None]
    assert HeldOut(values, values).limits(0.95) == (95.0, 95.0)
    # Rank 29.45 of 30: a tail like e^-x leaves 5 % above in the mean.
    tail = np.sort(np.random.default_rng(0).exponential(size=(20_000, 30)))
    limits = [HeldOut(row[None], row[None]).limits(0.95)[0] for row in tail[:4000]]
    assert_allclose(np.mean(np.exp(-np.array(limits))), 0.05, atol=0.002)


def test_limits_are_given_where_rows_can_tell_and_not_below():
    assert (fewest_rows(0.95), fewest_rows(0.99)) == (19, 99)
    assert can_tell(99, 0.99)
    X = np.random.default_rng(3).standard_normal((98, 4))
    assert held_out(X, 2).limits(0.99) == (np.inf, np.inf)
    found = outliers(X, 2)
    assert found.new.t2 == np.inf
    assert found.new.q_from == "not given: 98 rows, 99 % takes 99"
    assert "of a new row not given: 98 rows" in str(found)
    assert np.isfinite(found.new_at(0.95).t2)


@pytest.mark.parametrize(("shape", "k"), [((6, 3), 4), ((4, 9), 3), ((6, 3), 0)])
def test_too_many_axes_are_refused(shape, k):
    with pytest.raises(InputError, match="too few rows"):
        held_out(np.ones(shape), k)


def drawn(law, rng, n, p):
    if law == "normal":
        return rng.standard_normal((n, p))
    return rng.standard_t(5, (n, p)) if law == "t5" else rng.exponential(size=(n, p))


def within(law, n, p, k, level, tables, strong):
    """Return the shares of new rows within the limits of T² and Q, over tables."""
    found = np.zeros(2)
    for seed in range(tables):
        rng = np.random.default_rng([seed, n, p])
        sizes = np.where(np.arange(p) < k, 5.0 if strong else 1.0, 1.0)
        X, new = drawn(law, rng, n, p) * sizes, drawn(law, rng, 300, p) * sizes
        _, s, vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        z = (new - X.mean(axis=0)) @ vt[:k].T
        t2 = z**2 @ ((n - 1) / s[:k] ** 2)
        q = np.sum((new - X.mean(axis=0)) ** 2, axis=1) - np.sum(z**2, axis=1)
        limits = held_out(X, k, seed=seed).limits(level)
        found += np.mean(t2 <= limits[0]) / tables, np.mean(q <= limits[1]) / tables
    return found


@pytest.mark.parametrize("law", ["normal", "t5", "exponential"])
@pytest.mark.parametrize(("p", "k", "strong"), [(6, 2, True), (20, 1, False), (80, 2, False)])
def test_new_rows_within_the_limits(law, p, k, strong):
    assert_allclose(within(law, 40, p, k, 0.95, 30, strong), 0.95, atol=0.035)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "t5", "exponential"])
@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize(("p", "k"), [(6, 2), (50, 1), (50, 5), (200, 2)])
@pytest.mark.parametrize(("level", "atol"), [(0.95, 0.015), (0.99, 0.007)])
def test_new_rows_within_the_limits_of_100_rows(law, strong, p, k, level, atol):
    assert_allclose(within(law, 100, p, k, level, 200, strong), level, atol=atol)


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


def test_v_tests_are_standard_errors_without_replacement(rng):
    f = rng.normal(size=30)
    f -= f.mean()
    counts, total = np.array([8.0]), 30.0
    means = [f[rng.permutation(30)[:8]].mean() for _ in range(20000)]
    v = v_tests(np.array([[0.5]]), counts, total, np.array([f.var()]))
    assert v[0, 0] == pytest.approx(0.5 / np.std(means), rel=0.02)
    found = v_tests(np.array([[0.0], [np.nan]]), np.array([5.0, 0.0]), 5.0, np.ones(1))
    assert np.isnan(found).all()
    codes = np.array([0, 1, 0])
    weights = np.ones(3)
    flat = np.full((3, 1), 7.0)
    assert read_levels(codes, 2, weights, flat)[2] == [0]
    assert np.isnan(read_levels(np.full(3, -1), 2, weights, flat)[2]).all()
