"""Diffusion maps by their identities: walks, resting weights, kernel PCA."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.estimators.manifold.diffusion_maps import powers


def cloud(n=120, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3)) * [3, 1, 0.3]


def walk(x, sigma, alpha):
    d = np.linalg.norm(x[:, None] - x, axis=2)
    k = np.exp(-(d**2) / (2 * sigma**2))
    q = k.sum(axis=1)
    k = k / np.outer(q**alpha, q**alpha)
    return k / k.sum(axis=1, keepdims=True), k.sum(axis=1) / k.sum()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("t", [1, 3])
def test_it_is_the_walk_of_its_definition(alpha, t):
    x = cloud()
    model = mercer.DiffusionMaps(4, alpha=alpha, t=t, scale=1.2).fit(x)
    p, rest = walk(x, 1.2, alpha)
    np.testing.assert_allclose(model.stationary_, rest, rtol=1e-10)
    psi = model.embedding_ / model.eigenvalues_**t
    np.testing.assert_allclose(p @ psi, psi * model.eigenvalues_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(psi.T @ (rest[:, None] * psi), np.eye(4), rtol=0, atol=1e-10)
    np.testing.assert_allclose(rest @ psi, 0, rtol=0, atol=1e-11)


def test_distances_are_those_of_the_walks():
    x = cloud(40)
    model = mercer.DiffusionMaps(39, alpha=0.5, t=2, scale=0.8).fit(x)
    p, rest = walk(x, 0.8, 0.5)
    walked = np.linalg.matrix_power(p, 2)
    apart = (((walked[3] - walked[17]) ** 2) / rest).sum()
    found = np.sum((model.embedding_[3] - model.embedding_[17]) ** 2)
    assert found == pytest.approx(apart, rel=1e-8)


@pytest.mark.parametrize("t", [1, 2])
def test_it_is_kernel_pca_with_resting_weights(t):
    model = mercer.DiffusionMaps(3, t=t, scale=1.0).fit(cloud())
    k, weights = model.kernel_, model.stationary_ * 120
    same = mercer.KernelPCA(3, kernel="precomputed").fit(k, sample_weight=weights)
    a = same.transform(k)
    a = a * np.sign(np.sum(a * model.embedding_, axis=0))
    np.testing.assert_allclose(a, model.embedding_, rtol=0, atol=1e-8)
    plain = mercer.KernelPCA(3, kernel="precomputed").fit(k).transform(k)
    assert np.abs(np.abs(plain) - np.abs(model.embedding_)).max() > 1e-3


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3, "t": 2}, {"neighbours": 15}], ids=str)
def test_rows_of_the_fit_come_back(options):
    x = cloud()
    model = mercer.DiffusionMaps(3, **options).fit(x)
    z = model.embedding_
    assert np.abs(model.transform(x) - z).max() <= 1e-8 * np.abs(z).max()


def test_density_is_taken_out():
    """Rows crowd at one end of a line: with α = 1 the map is the cosine of the length."""
    u = np.concatenate([np.linspace(0, 0.5, 500), np.linspace(0.5, 1, 60)])
    found = {}
    for alpha in (0.0, 1.0):
        model = mercer.DiffusionMaps(1, alpha=alpha, scale=0.02).fit(u[:, None])
        found[alpha] = abs(np.corrcoef(model.embedding_[:, 0], np.cos(np.pi * u))[0, 1])
    assert found[1.0] > 0.995
    assert found[0.0] < 0.95


def test_a_given_kernel():
    x = cloud()
    d = np.linalg.norm(x[:, None] - x, axis=2)
    k = np.exp(-(d**2) / 2)
    given = mercer.DiffusionMaps(2, metric="precomputed").fit(k)
    made = mercer.DiffusionMaps(2, scale=1.0).fit(x)
    np.testing.assert_allclose(given.embedding_, made.embedding_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(given.transform(k[:5]), made.embedding_[:5], rtol=0, atol=1e-9)
    assert given.scale_ is None


def test_steps_that_are_not_whole():
    np.testing.assert_allclose(powers(np.array([0.25]), 0.5), [0.5])
    np.testing.assert_allclose(powers(np.array([-0.5]), 2.0), [0.25])
    with pytest.raises(InputError, match="axis 2"):
        powers(np.array([0.5, -0.1]), 0.5)
    with pytest.raises(InputError, match="whole steps"):
        _ = mercer.DiffusionMaps(1, t=0.3).fit(cloud()).kernel_
