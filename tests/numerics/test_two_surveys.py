"""Rows of two surveys that share few columns: slow steps, many wrong places to end."""

import numpy as np
import pytest

from mercer import PCA

K = 3


def two_surveys(n, shared, seed, p=30):
    """Return incomplete rows, half of them without the first columns, half without the last."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, K)) * [2, 1.5, 1] @ rng.standard_normal((K, p))
    whole = signal + 0.5 * rng.standard_normal((n, p))
    X, few = whole.copy(), (p - shared) // 2
    X[: n // 2, :few] = np.nan
    X[n // 2 :, p - few :] = np.nan
    return X, whole


@pytest.mark.parametrize("unit", [2.0**-10, 0.25, 1.0, 1024.0])
def test_the_likeliest_model_does_not_depend_on_the_unit(unit):
    X, whole = two_surveys(4000, 6, 1)
    found = PCA(K, missing="ppca").fit(X * unit)
    np.testing.assert_allclose(
        found.explained_variance_ / unit**2, PCA(K).fit(whole).explained_variance_, rtol=0.01
    )


@pytest.mark.parametrize(("n", "shared", "seed"), [(4000, 10, 4), (4000, 6, 0), (400, 10, 5)])
def test_steps_are_not_hurried_to_another_end(n, shared, seed):
    X, whole = two_surveys(n, shared, seed)
    model = PCA(K, missing="em").fit(X)
    gaps = np.isnan(X)
    error = (model.completion_.filled(X) - whole)[gaps]
    assert np.sqrt(np.mean(error**2)) < 0.6  # the noise is 0.5


@pytest.mark.parametrize(("share", "missing"), [(0.2, "ppca"), (0.6, "em")])
def test_what_is_left_is_a_tenth_of_the_sampling_error(share, missing):
    n, p = 40_000, 30
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, K)) * [2, 1.5, 1] @ rng.standard_normal((K, p))
    X += 0.5 * rng.standard_normal((n, p))
    X[:, :-1][rng.random((n, p - 1)) < share] = np.nan
    some = PCA(K, missing=missing).fit(X).completion_
    exact = PCA(K, missing=missing, tol=1e-8).fit(X).completion_
    left, _, right = np.linalg.svd(some.loadings.T @ exact.loadings)
    apart = some.loadings @ (left @ right) - exact.loadings
    total = np.sum(exact.loadings**2) + p * exact.noise
    assert np.sqrt(np.sum(apart**2) / total) < 0.1 / np.sqrt(n)
