import numpy as np
import pytest
from scipy import stats

from mercer.diagnostics import (
    correlation_ratios,
    correlations_tested,
    false_shares,
    group_tests,
    p_of,
    shares_tests,
)

RNG = np.random.default_rng(0)


def test_v_is_the_normal_number_of_a_random_sample():
    x = RNG.normal(size=200)
    at = np.repeat([0, 1], [50, 150])
    v = group_tests(x[:, None], at, 2)[:, 0]
    spread = np.sqrt(np.var(x) / 50 * 150 / 199)
    assert v[0] == pytest.approx((x[:50].mean() - x.mean()) / spread)
    drawn = [np.mean(RNG.permutation(x)[:50]) for _ in range(4000)]
    assert np.std(drawn) == pytest.approx(spread, rel=0.05)


def test_two_groups_are_opposite_and_shifts_do_not_matter():
    x, at = RNG.normal(size=(90, 3)), RNG.integers(0, 2, 90)
    v = group_tests(x, at, 2)
    np.testing.assert_allclose(v[0], -v[1])
    np.testing.assert_allclose(group_tests(x * 1e3 + 1e8, at, 2), v, rtol=1e-4)


def test_gaps_constants_and_groups_of_all_are_harmless():
    x = np.c_[np.full(6, np.nan), np.ones(6), [1, 2, 3, np.nan, 5, 6]]
    assert np.all(np.isfinite(group_tests(x, np.zeros(6, int), 1)))
    v = group_tests(x, np.array([0, 0, 0, 1, 1, -1]), 2)
    assert np.all(v[:, :2] == 0)
    assert v[1, 2] > 0


@pytest.mark.parametrize("n", [12, 300, 20_000])
def test_shares_follow_the_hypergeometric_law(n):
    levels, at = RNG.integers(0, 3, n), RNG.integers(0, 2, n)
    at[levels == 2] = 1
    v, p = shares_tests(levels, at, 3, 2)
    for g in range(2):
        for j in range(3):
            x = np.sum((levels == j) & (at == g))
            law = stats.hypergeom(n, np.sum(levels == j), np.sum(at == g))
            above = x > law.mean()
            tail = law.sf(x - 1) if above else law.cdf(x)
            assert p[g, j] == pytest.approx(min(2 * tail, 1), rel=1e-6, abs=1e-290)
            assert (v[g, j] > 0) == above or abs(v[g, j]) < 1e-9
    assert np.all(np.isfinite(v))


def test_correlation_ratios_are_those_of_an_analysis_of_variance():
    x, at = RNG.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    x[:, 0] += at
    share, p = correlation_ratios(x, at, 3)
    for j in range(2):
        wanted = stats.f_oneway(*(x[at == g, j] for g in range(3)))
        assert p[j] == pytest.approx(wanted.pvalue, rel=1e-8)
    assert share[0] > share[1]
    assert correlation_ratios(np.ones((3, 1)), np.arange(3), 3)[1][0] == 1.0


def test_correlations_are_pearsons_gaps_left_out():
    x, z = RNG.normal(size=(40, 2)), RNG.normal(size=(40, 2))
    x[:, 1] += z[:, 0]
    x[3, 1] = np.nan
    r, p = correlations_tested(x, z)
    for a in range(2):
        wanted = stats.pearsonr(np.delete(x[:, 1], 3), np.delete(z[:, a], 3))
        assert r[1, a] == pytest.approx(wanted.statistic)
        assert p[1, a] == pytest.approx(wanted.pvalue, rel=1e-6)
    assert correlations_tested(np.ones((5, 1)), z[:5])[1].tolist() == [[1.0, 1.0]]


def test_false_shares_are_benjamini_and_hochbergs():
    p = RNG.uniform(size=30) ** 3
    np.testing.assert_allclose(false_shares(p), stats.false_discovery_control(p))
    np.testing.assert_allclose(p_of(np.array([0.0, 1.96])), [1.0, 0.05], rtol=0, atol=1e-4)


@pytest.mark.parametrize("value", [0.1, 0.3, 1.7])
def test_a_constant_column_tells_nothing(rng, value):
    for n in (7, 10, 50, 121):
        flat, z = np.full((n, 1), value), rng.standard_normal((n, 2))
        assert not np.any(group_tests(flat, np.arange(n) % 2, 2))
        r, p = correlations_tested(flat, z)
        assert not np.any(r)
        assert np.all(p == 1)
