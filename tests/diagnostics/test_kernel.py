"""Effective rank and alignment are what their definitions say."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from mercer.diagnostics import (
    contributions,
    correlations,
    cos2,
    effective_rank,
    linear_alignment,
    loadings,
    neighbour_ranks,
    q,
    q_contributions,
    t2,
    t2_contributions,
)
from mercer.errors import InputError
from mercer.kernels import RBF, Linear, Polynomial


def test_alignment_is_the_cosine_of_centred_matrices():
    assert effective_rank(6.0, 12.0) == 3.0
    assert effective_rank(0.0, 0.0) == 0.0
    X = np.random.default_rng(0).normal(size=(80, 3)) + 5
    h = np.eye(80) - 1 / 80
    k, linear = h @ RBF(2.0)(X) @ h, h @ X @ X.T @ h
    cosine = np.sum(k * linear) / np.linalg.norm(k) / np.linalg.norm(linear)
    assert linear_alignment(RBF(2.0), X) == pytest.approx(cosine, abs=1e-10)
    X = np.random.default_rng(0).normal(size=(60, 4))
    assert linear_alignment(RBF(100.0), X) > 0.999
    assert linear_alignment(Linear(), X) == pytest.approx(1.0)
    assert linear_alignment(RBF(0.1), X) < 0.5


def test_sparse_rows_and_weights_are_dense_repeated_rows():
    X = scipy.sparse.random_array(
        (5000, 6), density=0.4, random_state=np.random.default_rng(0)
    ).tocsr()
    dense = linear_alignment(Polynomial(2, 1.0), X.toarray())
    assert linear_alignment(Polynomial(2, 1.0), X) == pytest.approx(dense, abs=1e-8)
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 3)) + 5, rng.integers(1, 6, 60)
    again = linear_alignment(RBF(2.0), np.repeat(X, w, axis=0))
    assert linear_alignment(RBF(2.0), X, w) == pytest.approx(again, abs=1e-12)


def test_what_has_no_alignment():
    assert linear_alignment(RBF(1.0), np.ones((5, 2))) is None
    assert linear_alignment(RBF(1.0), np.ones((5, 2)), np.arange(1.0, 6.0)) is None
    X = np.arange(10.0).reshape(5, 2)
    assert linear_alignment(RBF(1e200), X) is None
    assert linear_alignment(RBF(1e200), X, np.arange(1.0, 6.0)) is None


def test_a_heavy_row_is_what_the_others_are_centred_at():
    """In the limit K is centred at that row, whatever the ratio of the weights."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    k, about = RBF(2.0)(X), X - X[7]
    k, linear = k - k[:, [7]] - k[[7]] + k[7, 7], about @ about.T
    cosine = np.sum(k * linear) / np.linalg.norm(k) / np.linalg.norm(linear)
    for heavy in (1e9, 1e14, 1e30):
        w = np.ones(60)
        w[7] = heavy
        assert linear_alignment(RBF(2.0), X, w) == pytest.approx(cosine, abs=1e-6)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 5, 30])
def test_trustworthiness_is_scikit_learns_and_continuity_its_mirror(k):
    X, Z = RNG.normal(size=(90, 6)), RNG.normal(size=(90, 2))
    Z[:, 0] += X[:, 0]
    trust, continuity = neighbour_ranks(X, Z, [k])
    assert trust[0] == pytest.approx(trustworthiness(X, Z, n_neighbors=k), abs=1e-12)
    assert continuity[0] == pytest.approx(trustworthiness(Z, X, n_neighbors=k), abs=1e-12)


@pytest.mark.parametrize("change", [lambda x: x, lambda x: 1e6 * x - 3e8])
def test_a_faithful_map_keeps_all(change):
    X = RNG.normal(size=(60, 3))
    trust, continuity = neighbour_ranks(
        X, change(X) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0], [5, 20]
    )
    np.testing.assert_allclose([trust, continuity], 1.0, rtol=0, atol=1e-4)


@pytest.mark.parametrize("neighbours", [[], [0], [30]])
def test_numbers_that_mean_nothing_are_refused(neighbours):
    X = RNG.normal(size=(60, 3))
    with pytest.raises(InputError, match="half of the rows"):
        neighbour_ranks(X, X, neighbours)


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 5))
    model = PCA(3).fit(X)
    return X - model.mean_, model.transform(X), model.components_, model.explained_variance_


def test_distances_and_contributions_by_definition(fit):
    _, scores, _, variances = fit
    inverse = np.linalg.inv(np.cov(scores.T))
    expected = np.einsum("ij,jk,ik->i", scores, inverse, scores)
    assert_allclose(t2(scores, variances), expected)
    table, scores, axes, variances = fit
    assert_allclose(t2_contributions(table, axes, variances).sum(axis=1), t2(scores, variances))
    assert_allclose(q_contributions(table, axes).sum(axis=1), q(table, axes))
    assert_allclose(q(table, axes), np.sum(table**2, 1) - np.sum(scores**2, 1))
    table, scores, _, _ = fit
    assert_allclose(contributions(scores).sum(axis=0), 1)
    full = PCA(5).fit_transform(table)
    assert_allclose(cos2(full, np.sum(table**2, axis=1)).sum(axis=1), 1)


def test_loadings_and_axes_without_variance(fit):
    table, scores, axes, variances = fit
    white = scores / np.sqrt(variances)
    both = np.cov(table.T, white.T)[:5, 5:]
    assert_allclose(loadings(axes, variances), both, atol=1e-12)
    expected = np.corrcoef(table.T, scores.T)[:5, 5:]
    assert_allclose(
        correlations(axes, variances, table.var(axis=0, ddof=1)), expected, atol=1e-12
    )
    zeros = np.zeros((4, 2))
    assert not np.any(t2(zeros, np.array([1.0, 0.0])))
    assert not np.any(contributions(zeros))
    assert not np.any(cos2(zeros, np.zeros(4)))
    assert not np.any(correlations(np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 0.0])))
