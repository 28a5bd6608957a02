import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import FactorAnalysis

from mercer.selection._bicross import _inverted, partial_variances, unique_variances


def table(n=4000, p=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 2, p)
    signal = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * 2
    return signal + rng.standard_normal((n, p)) * noise, noise**2


def test_partial_variances_are_residuals_of_regressions():
    X, _ = table(60)
    X = X - X.mean(axis=0)
    for j, found in enumerate(partial_variances(X.T @ X)):
        others = np.delete(X, j, axis=1)
        rest = X[:, j] - others @ np.linalg.lstsq(others, X[:, j])[0]
        assert_allclose(found, rest @ rest, rtol=1e-4)


def test_constant_and_copied_columns_stay_finite():
    X, _ = table(60)
    X[:, 1], X[:, 2] = 0.0, X[:, 3]
    found = partial_variances(X.T @ X)
    assert np.all(np.isfinite(found))
    assert np.all(found > 0)
    assert found[1] == 1.0


def test_unique_variances_are_those_of_factor_analysis():
    X, truth = table()
    S = np.cov(X.T, bias=True)
    found = unique_variances(S, 2, partial_variances(S), 1e-6)
    other = FactorAnalysis(2, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(X)
    assert_allclose(found, other.noise_variance_, rtol=2e-3)
    assert_allclose(found, truth, rtol=0.15)


def test_no_factor_leaves_all():
    X, _ = table()
    S = np.cov(X.T)
    assert_allclose(unique_variances(S, 0, np.ones(8), 1e-3), np.diagonal(S))


@pytest.mark.parametrize("p", [1, 64, 65, 131, 500, 501])
def test_triangles_are_inverted_in_pieces(p):
    rng = np.random.default_rng(p)
    upper = np.triu(rng.standard_normal((p, p)) / np.sqrt(p)) + 2 * np.eye(p)
    expected = np.linalg.inv(upper)
    given = np.asfortranarray(upper)
    found = _inverted(given)
    assert found is given
    assert_allclose(found, expected, atol=1e-13)
