import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from mercer.diagnostics import q_limit, q_limit_new, t2_limit, t2_limit_new
from mercer.errors import InputError


@pytest.mark.parametrize(("n", "k"), [(30, 1), (30, 5), (300, 20), (12, 10)])
def test_limits_are_quantiles_of_the_laws(n, k):
    beta = scipy.stats.beta(k / 2, (n - k - 1) / 2).ppf(0.95)
    assert_allclose(t2_limit(n, k), (n - 1) ** 2 / n * beta, rtol=1e-9)
    f = scipy.stats.f(k, n - k).ppf(0.99)
    assert_allclose(t2_limit_new(n, k, 0.99), k * (n * n - 1) / n / (n - k) * f, rtol=1e-9)


def test_as_many_axes_as_rows_allow():
    assert t2_limit(5, 4) == 16 / 5


@pytest.mark.parametrize(
    ("n", "k", "level"), [(5, 0, 0.9), (5, 5, 0.9), (5, 2, 1.0), (5, 2, 0)]
)
def test_impossible_limits_are_refused(n, k, level):
    with pytest.raises(InputError, match="axes"):
        t2_limit(n, k, level)
    with pytest.raises(InputError, match="axes"):
        t2_limit_new(n, k, level)


def test_q_of_equal_variances_is_a_beta_law():
    n, m = 40, 6
    law = scipy.stats.beta(m / 2, (n - 1 - m) / 2).ppf(0.95)
    assert_allclose(q_limit(np.full(m, 2.0), n), 2 * (n - 1) ** 2 / n * law, rtol=1e-9)


def test_q_of_few_or_no_directions():
    assert q_limit(np.zeros(3), 20) == q_limit(np.zeros(0), 20) == 0.0
    # All n - 1 directions alike: every row has the same distance.
    assert_allclose(q_limit(np.ones(9), 10), 81 / 10)
    assert q_limit_new(0.0, 0.0, 0.0) == 0.0


def test_new_q_is_near_that_of_a_sum_of_squares():
    rest = np.array([2.0, 1.5, 1.0, 0.5, 0.2])
    sums = [float(np.sum(rest**i)) for i in (1, 2, 3)]
    draws = np.random.default_rng(0).standard_normal((200_000, 5)) ** 2 @ rest
    for level in (0.95, 0.99):
        assert_allclose(np.mean(draws > q_limit_new(*sums, level)), 1 - level, rtol=0.12)


def test_new_q_of_one_direction_far_above_many():
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
