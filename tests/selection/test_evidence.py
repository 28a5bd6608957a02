import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer.selection import Variances, aic, bic, log_likelihoods, minka, ppca_parameters


def evidence(values, k, n):
    """Minka's equation (77), written out term by term."""
    p = len(values)
    m = p * k - k * (k + 1) / 2
    prior = -k * math.log(2)
    for i in range(1, k + 1):
        half = (p - i + 1) / 2
        prior += math.lgamma(half) - half * math.log(math.pi)
    noise = sum(values[k:]) / (p - k)
    hat = list(values[:k]) + [noise] * (p - k)
    curvature = 0.0
    for i in range(k):
        for j in range(i + 1, p):
            curvature += math.log(values[i] - values[j]) + math.log(n)
            curvature += math.log(1 / hat[j] - 1 / hat[i])
    return (
        prior
        - n / 2 * sum(math.log(v) for v in values[:k])
        - n * (p - k) / 2 * math.log(noise)
        + (m + k) / 2 * math.log(2 * math.pi)
        - curvature / 2
        - k / 2 * math.log(n)
    )


def spectra():
    rng = np.random.default_rng(0)
    for p in (2, 3, 5, 12, 40):
        for true in {1, p // 2, p - 1} - {0}:
            for n in (p + 1, 10 * p, 1000 * p):
                signal = np.zeros(p)
                signal[:true] = rng.exponential(5, true)
                x = rng.standard_normal((n, p)) * np.sqrt(1 + signal)
                yield n, np.linalg.eigvalsh(np.cov(x.T))[::-1]


SPECTRA = list(spectra())


@pytest.mark.parametrize("case", range(len(SPECTRA)))
def test_it_is_the_formula(case):
    n, values = SPECTRA[case]
    scores = [evidence(values, k, n) for k in range(1, len(values))]
    assert minka(values, n) == 1 + int(np.argmax(scores))


@pytest.mark.parametrize("true", [1, 3, 8])
def test_it_finds_the_dimension_it_was_given(true):
    rng = np.random.default_rng(true)
    x = rng.standard_normal((2000, true)) @ rng.standard_normal((true, 12)) * 3
    x += 0.1 * rng.standard_normal((2000, 12))
    assert minka(np.linalg.eigvalsh(np.cov(x.T))[::-1], 2000) == true


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
def test_scale_does_not_matter(scale):
    n, values = SPECTRA[20]
    assert minka(values * scale, n) == minka(values, n)


def test_zero_and_equal_eigenvalues_and_wide_tables(rng):
    values = np.array([5.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    assert minka(values, 100) == 3
    assert minka(values[:1], 100) == 0  # nothing to choose from
    assert minka(np.array([5.0, 3.0, 1.0, 1e-18, 1e-19, -1e-18]), 100) == 3
    assert 1 <= minka(np.ones(6), 100) <= 5
    assert 1 <= minka(np.array([3.0, 3.0, 1.0, 1.0]), 50) <= 3
    axes = np.linalg.qr(rng.standard_normal((200, 3)))[0]
    X = rng.standard_normal((40, 200)) + rng.standard_normal((40, 3)) * [40, 30, 20] @ axes.T
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 39
    known = Variances.of(values[:39], rows=40, columns=200, total=values.sum())
    assert bic(known) == aic(known) == 3


def table(n=200, p=12, true=3, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, true)) @ rng.standard_normal((true, p)) * 2
    return signal + rng.standard_normal((n, p))


def known(X):
    n, p = X.shape
    return Variances.of(np.linalg.eigvalsh(np.cov(X.T))[::-1], rows=n, columns=p)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_likelihood_is_that_of_the_normal_density(k):
    X = table()
    n = len(X)
    # scikit-learn's model holds λ with n - 1; that of largest likelihood has n.
    model = PCA(k).fit(X * np.sqrt((n - 1) / n))
    from scipy.stats import multivariate_normal

    law = multivariate_normal(X.mean(axis=0), model.get_covariance())
    assert_allclose(log_likelihoods(known(X))[k], law.logpdf(X).sum(), rtol=1e-10)


def test_white_noise_model_is_k_zero():
    X = table(true=1)
    n, p = X.shape
    v = np.sum((X - X.mean(axis=0)) ** 2) / n / p
    expected = -n * p / 2 * (np.log(2 * np.pi * v) + 1)
    assert_allclose(log_likelihoods(known(X))[0], expected, rtol=1e-12)
    p = 6
    assert ppca_parameters(p, np.array([p - 1]))[0] == p * (p + 1) / 2 + p


@pytest.mark.parametrize("true", [0, 1, 3])
def test_bic_finds_the_true_number(true):
    assert bic(known(table(true=true) if true else table() * 0 + noise())) == true


def noise():
    return np.random.default_rng(5).standard_normal((200, 12))


def test_truncated_wide_and_degenerate_spectra():
    whole = known(table())
    for r in (1, 2, 3, 5):
        part = Variances(whole.values[:r], whole.total, whole.rows, whole.columns)
        assert bic(part) == (3 if r > 3 else None)
        assert aic(part) in (None, aic(whole))
    wide = known(table(n=10, p=30))
    assert 0 <= bic(wide) <= 9
    assert bic(Variances.of([0.0, 0.0], rows=9, columns=2)) == 0
    assert bic(Variances.of([2.0, 0.0], rows=9, columns=2)) in (0, 1)
    assert aic(Variances.of([2.0], rows=9, columns=1)) == 0


@pytest.mark.parametrize("shape", [(20, 60), (50, 50), (100, 99), (10, 1000)])
@pytest.mark.parametrize("rule", [aic, bic])
def test_wide_noise_has_no_axis(shape, rule):
    """The likelihood has no upper bound there; the end of the curve is no answer."""
    n, p = shape
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal(shape)
        values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (n - 1)
        all_of_them = Variances.of(
            values[: min(n - 1, p)], rows=n, columns=p, total=values.sum()
        )
        assert rule(all_of_them) == 0
