import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer.diagnostics import (
    contributions,
    correlations,
    cos2,
    loadings,
    q,
    q_contributions,
    t2,
    t2_contributions,
)


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 5))
    model = PCA(3).fit(X)
    return X - model.mean_, model.transform(X), model.components_, model.explained_variance_


def test_t2_is_a_mahalanobis_distance_in_the_plane(fit):
    _, scores, _, variances = fit
    inverse = np.linalg.inv(np.cov(scores.T))
    expected = np.einsum("ij,jk,ik->i", scores, inverse, scores)
    assert_allclose(t2(scores, variances), expected)


def test_contributions_of_columns_add_up(fit):
    table, scores, axes, variances = fit
    assert_allclose(t2_contributions(table, axes, variances).sum(axis=1), t2(scores, variances))
    assert_allclose(q_contributions(table, axes).sum(axis=1), q(table, axes))
    assert_allclose(q(table, axes), np.sum(table**2, 1) - np.sum(scores**2, 1))


def test_rows_add_up_to_one_per_axis_and_axes_to_one_per_row(fit):
    table, scores, _, _ = fit
    assert_allclose(contributions(scores).sum(axis=0), 1)
    full = PCA(5).fit_transform(table)
    assert_allclose(cos2(full, np.sum(table**2, axis=1)).sum(axis=1), 1)


def test_loadings_and_correlations_are_those_of_the_columns(fit):
    table, scores, axes, variances = fit
    white = scores / np.sqrt(variances)
    both = np.cov(table.T, white.T)[:5, 5:]
    assert_allclose(loadings(axes, variances), both, atol=1e-12)
    expected = np.corrcoef(table.T, scores.T)[:5, 5:]
    assert_allclose(
        correlations(axes, variances, table.var(axis=0, ddof=1)), expected, atol=1e-12
    )


def test_axes_and_columns_without_variance_give_zeros():
    zeros = np.zeros((4, 2))
    assert not np.any(t2(zeros, np.array([1.0, 0.0])))
    assert not np.any(contributions(zeros))
    assert not np.any(cos2(zeros, np.zeros(4)))
    assert not np.any(correlations(np.eye(2), np.array([1.0, 0.0]), np.array([0.0, 0.0])))
