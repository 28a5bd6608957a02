import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from mercer.diagnostics._held_out import LeftOutLaw, _freedom, left_out_law, turned


def test_limits_are_quantiles_of_f():
    law = LeftOutLaw(3.0, 3.0, 7.0, 4.0, 30)
    t2, q = law.limits(0.95)
    assert_allclose(t2, 3 * scipy.stats.f(3, 34).ppf(0.95))
    assert_allclose(q, 7 * scipy.stats.f(4, 60).ppf(0.95))


@pytest.mark.parametrize("shape", [(40, 6), (20, 50)])
def test_both_gram_matrices_give_the_same_law(shape):
    """Columns of zeros change nothing but the matrix that is solved."""
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 1, shape[1])
    X -= X.mean(axis=0)
    rotated = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((shape[1],) * 2))[0]
    wide = np.c_[X, np.zeros((shape[0], 100))]
    plain, other = left_out_law(X, 2, 0), left_out_law(wide, 2, 0)
    assert_allclose(other.t2_mean, plain.t2_mean, rtol=1e-8)
    assert_allclose(other.q_mean, plain.q_mean, rtol=1e-8)
    assert_allclose(left_out_law(rotated, 2, 0).limits(0.9), plain.limits(0.9), rtol=1e-8)


def test_real_axes_have_the_law_of_hotelling():
    n, means = 60, []
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((n, 6)) * [90, 50, 30, 0.1, 0.1, 0.1]
        law = left_out_law(X - X.mean(axis=0), 3, seed)
        means.append(law.t2_mean)
        assert_allclose(law.t2_freedom, 3, atol=0.1)
        assert_allclose(law.q_freedom, 3, rtol=0.5)
    assert_allclose(np.mean(means), 3 * (1 + 1 / n), rtol=0.05)


def test_noise_has_less_variance_along_its_axes_than_it_seems():
    ratios = []
    for seed in range(15):
        X = np.random.default_rng(seed).standard_normal((30, 100))
        X -= X.mean(axis=0)
        top = np.linalg.svd(X, compute_uv=False)[0] ** 2 / 29
        ratios.append(left_out_law(X, 1, seed).t2_mean * top)  # of variance one, not of top
        assert top > 5
    assert_allclose(np.mean(ratios), 1, rtol=0.2)


def test_freedom_is_that_of_the_true_variances():
    X = np.random.default_rng(0).standard_normal((40, 60))
    rest = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:39] ** 2 / 39
    assert_allclose(_freedom(rest, 39, 60), 60, rtol=0.15)
    assert _freedom(np.zeros(3), 10, 5) == 5.0


@pytest.mark.parametrize("n", [50, 500])
def test_how_far_another_sample_turns_an_axis(n):
    sizes = np.array([9.0, 1.0, 1.0, 1.0])
    turns = []
    for seed in range(200):
        X = np.random.default_rng(seed).standard_normal((n, 4)) * np.sqrt(sizes)
        axis = np.linalg.svd(X - X.mean(axis=0))[2][0]
        turns.append(1 - axis[0] ** 2)
    assert_allclose(turned(sizes, 1, 10**9) * 10**9 / n, np.mean(turns), rtol=0.25)


def test_axes_without_a_gap_are_turned_at_will():
    assert turned(np.array([2.0, 2.0, 1.0]), 1, 100) == np.inf
    assert turned(np.array([2.0, 0.0]), 1, 100) == 0.0
    assert turned(np.array([2.0, 1.0]), 2, 100) == 0.0
