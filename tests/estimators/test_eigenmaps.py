"""Laplacian eigenmaps and diffusion maps by their identities, and against scikit-learn."""

import numpy as np
import pytest
from discriminant_data import sine as angle
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import SpectralEmbedding, trustworthiness
from tests.claims import agree, hushed, refuses

import mercer
from mercer.errors import DataWarning, InputError
from mercer.estimators.manifold.diffusion_maps import powers


def roll(n, seed=0):
    return make_swiss_roll(n, random_state=seed)[0]


@pytest.mark.parametrize("n", [300, pytest.param(1500, marks=pytest.mark.slow)])
def test_it_spans_what_scikit_learn_finds(n):
    x = roll(n)
    ours = mercer.LaplacianEigenmaps(
        4, neighbours=9, symmetric="mean", self_loops=False, tol=1e-9
    ).fit(x)
    theirs = SpectralEmbedding(
        4, affinity="nearest_neighbors", n_neighbors=10, eigen_solver="arpack", random_state=0
    ).fit(x)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-6
    scale = np.abs(theirs.embedding_).max()
    agree(np.abs(ours.embedding_) / scale, np.abs(theirs.embedding_) / scale, 1e-6)


def test_all_pairs_are_scikit_learns_rbf():
    x = roll(200) / 10
    ours = mercer.LaplacianEigenmaps(
        3, neighbours=None, weights="heat", scale=0.5, self_loops=False
    ).fit(x)
    theirs = SpectralEmbedding(3, affinity="rbf", gamma=2.0, random_state=0).fit(x)
    assert angle(ours.embedding_, theirs.embedding_) < 1e-6


@pytest.mark.parametrize("options", [{}, {"weights": "heat"}, {"symmetric": "mutual"}])
def test_the_equations_that_define_it(options):
    x = np.random.default_rng(0).random((400, 2))
    model = mercer.LaplacianEigenmaps(3, neighbours=12, **options).fit(x)
    w, d, f = model.graph_.weights, model.graph_.degrees, model.embedding_
    laplacian = d[:, None] * f - w @ f
    agree(laplacian, model.laplacian_eigenvalues_ * d[:, None] * f, 1e-9)
    agree(f.T @ (d[:, None] * f), np.eye(3), 1e-9)
    agree(d @ f, 0, 1e-10)
    np.testing.assert_allclose(model.eigenvalues_, 1 - model.laplacian_eigenvalues_)
    coo = w.tocoo()
    stretch = 0.5 * np.sum(coo.data[:, None] * (f[coo.row] - f[coo.col]) ** 2, axis=0)
    np.testing.assert_allclose(stretch, model.laplacian_eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("weights", ["heat", "self-tuning"])
@pytest.mark.parametrize("loops", [True, False])
def test_rows_of_the_fit_come_back_where_all_pairs_are_joined(weights, loops):
    x = roll(250)
    model = mercer.LaplacianEigenmaps(3, neighbours=None, weights=weights, self_loops=loops)
    z = model.fit(x).embedding_
    assert np.abs(model.transform(x) - z).max() <= 1e-8 * np.abs(z).max()
    assert model.extension_error_ < 1e-8


def test_neighbours_come_back_to_the_accuracy_of_the_pairs_and_ties_are_measured():
    x = roll(800)
    assert mercer.LaplacianEigenmaps(3, tol=1e-9).fit(x).extension_error_ < 1e-8
    model = mercer.LaplacianEigenmaps(3).fit(np.round(x))  # many equal distances
    z = model.embedding_
    error = np.linalg.norm(model.transform(np.round(x)) - z) / np.linalg.norm(z)
    assert 1e-6 < error < 0.2
    assert model.extension_error_ == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize(
    "options", [{"neighbours": None, "weights": "heat"}, {"neighbours": 10}], ids=str
)
def test_it_is_weighted_kernel_pca_on_its_kernel(options):
    x = roll(220)
    model = mercer.LaplacianEigenmaps(3, tol=1e-10, **options).fit(x)
    k = model.kernel_ if options["neighbours"] is None else model.kernel_.toarray()
    weights = model.graph_.degrees * len(x) / model.graph_.degrees.sum()
    same = mercer.KernelPCA(3, kernel="precomputed", indefinite="clip")
    # A graph of neighbours is no positive kernel.
    hushed(same.fit, k, sample_weight=weights, kind=DataWarning)
    a, b = same.transform(k), model.embedding_
    a, b = a / np.linalg.norm(a, axis=0), b / np.linalg.norm(b, axis=0)
    agree(a * np.sign(np.sum(a * b, axis=0)), b, 1e-8)


def test_new_rows_and_far_rows_land_with_their_neighbours():
    x = roll(1200)
    known, new = x[::2], x[1::2]
    apart = mercer.LaplacianEigenmaps(2).fit(known).transform(new)
    joint = mercer.LaplacianEigenmaps(2).fit(x).embedding_[1::2]
    assert trustworthiness(new, apart) >= trustworthiness(new, joint) - 0.02
    x = np.round(roll(300), 3)
    near, far = (mercer.LaplacianEigenmaps(2).fit(x + c).embedding_ for c in (0.0, 1e8))
    agree(far, near, 1e-12)


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
    agree(p @ psi, psi * model.eigenvalues_, 1e-11)
    agree(psi.T @ (rest[:, None] * psi), np.eye(4), 1e-10)
    agree(rest @ psi, 0, 1e-11)


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
    agree(a, model.embedding_, 1e-8)
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


def test_a_given_kernel_and_steps_that_are_not_whole():
    x = cloud()
    d = np.linalg.norm(x[:, None] - x, axis=2)
    k = np.exp(-(d**2) / 2)
    given = mercer.DiffusionMaps(2, metric="precomputed").fit(k)
    made = mercer.DiffusionMaps(2, scale=1.0).fit(x)
    agree(given.embedding_, made.embedding_, 1e-9)
    agree(given.transform(k[:5]), made.embedding_[:5], 1e-9)
    assert given.scale_ is None
    np.testing.assert_allclose(powers(np.array([0.25]), 0.5), [0.5])
    np.testing.assert_allclose(powers(np.array([-0.5]), 2.0), [0.25])
    refuses("axis 2", powers, np.array([0.5, -0.1]), 0.5)
    with pytest.raises(InputError, match="whole steps"):
        _ = mercer.DiffusionMaps(1, t=0.3).fit(cloud()).kernel_
