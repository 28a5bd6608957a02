"""Further axes: orthonormal, those of the spectrum, the model's own untouched."""

import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer.report.facts._linear_summary import row_weights, widened

RNG = np.random.default_rng(18)
X = RNG.normal(size=(90, 7)) * [9, 8, 5, 4, 3, 2, 1] + 100


def pairs(rows):
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    return values[::-1], vectors[:, ::-1].T


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("standardize", [False, True])
def test_all_axes_are_those_of_the_covariance(k, standardize):
    wide = widened(mercer.PCA(k, standardize=standardize).fit(X), X)
    values, axes = pairs(X / X.std(axis=0, ddof=1) if standardize else X)
    assert np.allclose(wide.explained_variance_, values)
    assert np.allclose(np.abs(np.sum(wide.components_ * axes, axis=1)), 1)
    assert np.allclose(wide.components_ @ wide.components_.T, np.eye(7))
    assert np.sum(wide.explained_variance_ratio_) == pytest.approx(1)
    assert np.all((wide.lower <= values * (1 + 1e-12)) & (values <= wide.upper * (1 + 1e-12)))


def test_outlying_rows_of_a_robust_fit_have_no_weight():
    rows = X.copy()
    rows[3] += 1e4
    model = mercer.RobustPCA(2).fit(rows)
    weights = row_weights(model, None)
    assert weights[3] == 0
    assert weights.sum() == 90 - len(model.outliers_)
    assert widened(model, rows, weights).explained_variance_.max() < 200
    given = np.full(90, 2)
    assert row_weights(model, given).sum() == 2 * (90 - len(model.outliers_))
    assert given.sum() == 180
    assert row_weights(mercer.PCA(1).fit(X), None) is None


def test_sparse_rows_and_thirty_axes_at_most():
    rows = scipy.sparse.random_array((200, 60), density=0.2, random_state=RNG, format="csr")
    wide = widened(mercer.PCA(2).fit(rows), rows)
    values, _ = pairs(rows.toarray())
    assert len(wide.components_) == 30
    assert np.allclose(wide.explained_variance_, values[:30])
