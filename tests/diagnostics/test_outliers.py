import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from mercer.diagnostics import (
    farthest_level,
    fitted_limits,
    outliers,
    outline,
    q_limit,
    q_limit_new,
    t2_limit,
    t2_limit_new,
)
from mercer.errors import InputError


def plane(n=100, p=6, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 2)) * [5, 2]
    axes = np.linalg.qr(rng.standard_normal((p, 2)))[0]
    return scores @ axes.T + 0.05 * rng.standard_normal((n, p)), axes


def test_rows_far_along_and_across_are_flagged():
    X, axes = plane()
    X[17] = 8 * 2 * axes[:, 1]
    found = outliers(X, 2)
    assert found.flagged[0] == 17
    assert found.t2[17] > 3 * found.fitted.t2
    assert found.t2[17] > found.new_at(0.95).t2  # it does not widen the limit of new rows
    X, axes = plane()
    away = np.linalg.svd(axes.T)[2][-1]
    X[33] += 3 * away  # near the centre of the plane, where its T² says nothing
    X[33] -= axes @ (axes.T @ X[33])
    found = outliers(X, 2)
    assert found.flagged[0] == 33
    assert found.q[33] > 100 * np.median(found.q)
    assert found.t2[33] < found.fitted.t2
    assert found.q[33] > found.new_at(0.95).q
    X, axes = plane()
    X[17] = 16 * axes[:, 1]
    text = str(outliers(X, 2))
    assert "row 17: T²" in text
    assert "Beta law" in text


@pytest.mark.parametrize("shape", [(40, 6), (15, 30)])
def test_numbers_are_those_of_the_definition(shape):
    X = np.random.default_rng(1).standard_normal(shape) + 3
    found = outliers(X, 3)
    Y = X - X.mean(axis=0)
    u, _, vt = np.linalg.svd(Y, full_matrices=False)
    assert_allclose(found.t2, (shape[0] - 1) * np.sum(u[:, :3] ** 2, axis=1), rtol=1e-9)
    assert_allclose(found.q, np.sum((Y - Y @ vt[:3].T @ vt[:3]) ** 2, axis=1), rtol=1e-9)


def test_each_limit_says_where_it_is_from():
    rng = np.random.default_rng(0)
    found = outliers(rng.standard_normal((100, 5)), 2)
    assert (found.new.t2_from, found.new.q_from) == ("rows left out", "rows left out")
    full = outliers(rng.standard_normal((40, 5)), 5, level=0.95)
    assert full.fitted.q == full.new.q == full.farthest.q == 0
    assert not np.any(full.q)
    assert not np.isfinite(outliers(rng.standard_normal((4, 5)), 2).new.t2)


def named(n, p, k, tables, change=lambda X: X):
    """Return the share of tables in which a row is named, and in which row 0 is."""
    found = np.zeros(2)
    for seed in range(tables):
        X = change(np.random.default_rng([seed, n, p]).standard_normal((n, p)))
        rows = outliers(X, k).flagged
        found += (rows.size > 0) / tables, np.isin(0, rows) / tables
    return found


@pytest.mark.parametrize(("n", "p", "k"), [(40, 6, 2), (100, 6, 1), (60, 100, 2)])
def test_of_a_clean_table_no_row_is_named(n, p, k):
    assert named(n, p, k, 60)[0] <= 0.11  # 6 of 60: 4 % and two and a half standard errors


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p"), [(40, 4), (40, 80), (100, 20), (100, 200), (400, 10)])
@pytest.mark.parametrize("k", [1, 3])
def test_of_1000_clean_tables_no_row_is_named(n, p, k):
    assert named(n, p, k, 1000)[0] <= 0.06


def far(X):
    X[0] = 8.0
    return X


def along(X):
    X[0, 0] = 8.0
    return X


@pytest.mark.parametrize(("n", "p", "k"), [(40, 6, 2), (100, 6, 1), (200, 20, 3)])
def test_a_row_at_8_deviations_is_named(n, p, k):
    for change in (far, along):
        assert named(n, p, k, 20, change)[1] >= 0.95


def test_clean_and_constant_rows():
    assert outliers(np.ones((5, 2)), 1).flagged.size == 0
    table = np.random.default_rng(4).normal(size=(200, 7)) * 1e6
    assert fitted_limits(table, 3) == outliers(table, 3).fitted
    assert fitted_limits(table, 3, level=farthest_level(200)) == outliers(table, 3).farthest
    small, large = outliers(table / 2**10, 3), outliers(table * 2**10, 3)
    assert_allclose(large.new.q, 2.0**40 * small.new.q)


@pytest.mark.parametrize(
    ("X", "k"),
    [(np.ones(3), 1), (np.ones((4, 2)), 3), (np.ones((3, 5)), 2), (np.eye(4) * np.nan, 1)],
)
def test_impossible_tables_are_refused(X, k):
    with pytest.raises(InputError, match="outliers need"):
        outliers(X, k)


@pytest.mark.parametrize(("n", "k"), [(30, 1), (30, 5), (300, 20), (12, 10)])
def test_limits_are_quantiles_of_the_laws(n, k):
    beta = scipy.stats.beta(k / 2, (n - k - 1) / 2).ppf(0.95)
    assert_allclose(t2_limit(n, k), (n - 1) ** 2 / n * beta, rtol=1e-9)
    f = scipy.stats.f(k, n - k).ppf(0.99)
    assert_allclose(t2_limit_new(n, k, 0.99), k * (n * n - 1) / n / (n - k) * f, rtol=1e-9)


def test_q_at_its_ends():
    assert t2_limit(5, 4) == 16 / 5
    n, m = 40, 6
    law = scipy.stats.beta(m / 2, (n - 1 - m) / 2).ppf(0.95)
    assert_allclose(q_limit(np.full(m, 2.0), n), 2 * (n - 1) ** 2 / n * law, rtol=1e-9)
    assert q_limit(np.zeros(3), 20) == q_limit(np.zeros(0), 20) == 0.0
    # All n - 1 directions alike: every row has the same distance.
    assert_allclose(q_limit(np.ones(9), 10), 81 / 10)
    assert q_limit_new(0.0, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("n", "k", "level"), [(5, 0, 0.9), (5, 5, 0.9), (5, 2, 1.0), (5, 2, 0)]
)
def test_impossible_limits_are_refused(n, k, level):
    with pytest.raises(InputError, match="axes"):
        t2_limit(n, k, level)
    with pytest.raises(InputError, match="axes"):
        t2_limit_new(n, k, level)


def test_new_q_is_near_that_of_a_sum_of_squares():
    rest = np.array([2.0, 1.5, 1.0, 0.5, 0.2])
    sums = [float(np.sum(rest**i)) for i in (1, 2, 3)]
    draws = np.random.default_rng(0).standard_normal((200_000, 5)) ** 2 @ rest
    for level in (0.95, 0.99):
        assert_allclose(np.mean(draws > q_limit_new(*sums, level)), 1 - level, rtol=0.12)
    rest = np.concatenate([[1.0], np.full(2000, 0.02)])  # h is below zero
    sums = [float(np.sum(rest**i)) for i in (1, 2, 3)]
    assert 1 - 2 * sums[0] * sums[2] / 3 / sums[1] ** 2 < 0
    limit = q_limit_new(*sums, 0.95)
    assert sums[0] < limit < sums[0] + 5


def false_alarms(n, p, k, sizes, draws):
    over = np.zeros(2)
    for i in range(draws):
        rng = np.random.default_rng([n, p, k, i])
        X = rng.standard_normal((n, p)) * sizes
        u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        t2 = (n - 1) * np.sum(u[:, :k] ** 2, axis=1)
        q = np.sum((u[:, k:] * s[k:]) ** 2, axis=1)
        rest = s[k : n - 1] ** 2 / (n - 1)
        over += np.mean(t2 > t2_limit(n, k)), np.mean(q > q_limit(rest, n))
    return over / draws


CASES = [(n, p) for n in (30, 300) for p in (5, 20, 100)]


def sizes_of(kind, p):
    return {"alike": np.ones(p), "graded": 0.85 ** np.arange(p)}[kind]


@pytest.mark.parametrize("kind", ["alike", "graded"])
@pytest.mark.parametrize(("n", "p"), CASES)
def test_false_alarms_among_rows_of_the_fit(n, p, kind):
    found = false_alarms(n, p, 3, sizes_of(kind, p), 200 if n == 30 else 20)
    assert_allclose(found, 0.05, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "graded"])
@pytest.mark.parametrize(("n", "p"), CASES)
def test_false_alarms_among_rows_of_the_fit_in_2000_draws(n, p, kind):
    assert_allclose(false_alarms(n, p, 3, sizes_of(kind, p), 2000), 0.05, atol=0.005)


@pytest.mark.parametrize("radius", [1e-3, 1.0, 40.0])
def test_corners_have_one_distance_in_the_metric_of_the_cloud(rng, radius):
    points = rng.normal(size=(50, 2)) @ [[3.0, 1.0], [0.0, 0.2]]
    covariance, centre = np.cov(points.T), points.mean(axis=0)
    line = outline(centre, covariance, radius)
    assert line.shape == (65, 2)
    apart = line - centre
    squares = np.einsum("ij,jk,ik->i", apart, np.linalg.inv(covariance), apart)
    np.testing.assert_allclose(squares, radius**2, rtol=1e-9)
    np.testing.assert_allclose(line[0], line[-1], rtol=0, atol=1e-12 * radius)


def test_a_flat_cloud_has_a_line():
    line = outline(np.array([1.0, 2.0]), np.array([[4.0, 0.0], [0.0, -1e-18]]), 1.0)
    np.testing.assert_allclose(line[:, 1], 2.0)
    assert np.ptp(line[:, 0]) == pytest.approx(4.0)
