import numpy as np
import pytest
from sklearn.decomposition._factor_analysis import _ortho_rotation

from mercer.diagnostics import orthomax, promax


def simple(seed=0, p=12, k=3):
    rng = np.random.default_rng(seed)
    L = np.zeros((p, k))
    L[np.arange(p), np.arange(p) % k] = rng.uniform(0.5, 1, p) * rng.choice([-1, 1], p)
    return L + 0.02 * rng.standard_normal((p, k))


def turned(L, seed=1):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((L.shape[1], L.shape[1])))
    return L @ q


def criterion(L, gamma):
    return np.sum(L**4) - gamma / len(L) * np.sum(np.sum(L**2, axis=0) ** 2)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
@pytest.mark.parametrize("seed", range(3))
def test_without_normalising_it_is_scikit_learns(method, seed):
    A = turned(simple(seed), seed)
    found = orthomax(A, gamma=float(method == "varimax"), normalise=False)
    other = _ortho_rotation(A, method=method, tol=1e-12, max_iter=5000).T
    gamma = float(method == "varimax")
    assert found.converged
    assert criterion(found.loadings, gamma) >= criterion(other, gamma) * (1 - 1e-9)
    match = np.abs(found.loadings.T @ other)
    np.testing.assert_allclose(match.max(axis=1), np.sum(found.loadings**2, axis=0), rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_simple_structure_is_found_again_and_nothing_is_lost(gamma):
    L = simple()
    found = orthomax(turned(L), gamma=gamma)
    order = np.argsort(-np.sum(L**2, axis=0))
    np.testing.assert_allclose(np.abs(found.loadings), np.abs(L[:, order]), atol=0.05)
    np.testing.assert_allclose(found.matrix.T @ found.matrix, np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.loadings, turned(L) @ found.matrix)
    assert np.sum(found.loadings**2) == pytest.approx(np.sum(L**2))
    assert np.all(np.diff(np.sum(found.loadings**2, axis=0)) <= 0)
    assert np.all(found.loadings[np.argmax(np.abs(found.loadings), axis=0), range(3)] > 0)


def test_scale_and_zero_rows_do_not_matter():
    A = np.vstack([turned(simple()), np.zeros((1, 3))])
    plain, large = orthomax(A), orthomax(A * 1e150)
    np.testing.assert_allclose(plain.loadings, large.loadings / 1e150, rtol=0, atol=1e-12)
    assert np.all(plain.loadings[-1] == 0)


def test_promax_makes_correlated_factors_of_variance_one():
    rng = np.random.default_rng(3)
    phi = np.array([[1.0, 0.5], [0.5, 1.0]])
    L = np.zeros((10, 2))
    L[:5, 0], L[5:, 1] = rng.uniform(0.6, 0.9, 5), rng.uniform(0.6, 0.9, 5)
    values, vectors = np.linalg.eigh(L @ phi @ L.T)
    A = vectors[:, -2:] * np.sqrt(values[-2:])
    found = promax(A)
    np.testing.assert_allclose(np.diagonal(found.correlations), 1.0)
    assert found.correlations[0, 1] == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(
        np.abs(np.sort(found.loadings, axis=1)[:, 0]), 0, rtol=0, atol=0.08
    )
    again = found.loadings @ found.correlations @ found.loadings.T
    np.testing.assert_allclose(again, A @ A.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_axes_stand_still_and_the_start_is_no_matter(rng, gamma, k):
    """At the top of the criterion L'(L³ - γ/p·L·diag(L'L)) is symmetric."""
    L = np.kron(np.eye(k), np.ones((4, 1))) + 0.15 * rng.standard_normal((4 * k, k))
    found = orthomax(L, gamma=gamma, normalise=False)
    turned = found.loadings
    pull = turned.T @ (turned**3 - gamma / len(L) * turned * np.sum(turned**2, axis=0))
    np.testing.assert_allclose(pull, pull.T, rtol=0, atol=1e-8 * np.abs(pull).max())
    assert found.converged
    other = orthomax(
        L @ np.linalg.qr(rng.standard_normal((k, k)))[0], gamma=gamma, normalise=False
    )
    np.testing.assert_allclose(other.loadings, turned, rtol=0, atol=1e-8)
