"""What kernel PCA must equal: PCA, PCA of features, and itself along every path."""

import numpy as np
import pytest
from kernel_fits import (
    MATRIX,
    PLAIN,
    allowance,
    apart,
    blobs,
    centred,
    eigenvalues,
    fit,
    fit_transform,
    matrix,
)

from mercer import PCA, KernelPCA
from mercer.kernels import FeatureMap, Polynomial

CLOSE = 1e-10


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("shape", [(80, 6), (40, 90), (900, 6)])
def test_linear_is_pca(shape, k):
    X = blobs(*shape) + 3.0
    ours, other = KernelPCA(k, kernel="linear").fit(X), PCA(k).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, other.explained_variance_, rtol=CLOSE)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, other.explained_variance_ratio_, rtol=CLOSE
    )
    np.testing.assert_allclose(ours.eigenvalues_, other.singular_values_**2, rtol=CLOSE)
    assert apart(ours.transform(X), other.transform(X)) <= CLOSE
    back = other.inverse_transform(other.transform(X))
    found = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(found, back, rtol=0, atol=CLOSE * np.abs(X).max())
    X = (X + 1e3).astype(np.float32)
    ours, same, wide = KernelPCA(k, kernel="linear").fit(X), PCA(k).fit(X), PCA(k).fit(1.0 * X)
    np.testing.assert_allclose(ours.explained_variance_, same.explained_variance_, rtol=CLOSE)
    assert ours.transform(X).dtype == np.float32
    assert apart(ours.transform(X), wide.transform(X)) <= 2e-6


def phi(X):
    return np.column_stack([X, X[:, :1] * X[:, 1:2], np.sin(X), X**2])


@pytest.mark.parametrize("n", [30, 300])
def test_a_feature_map_is_pca_of_the_features(n):
    X, new = blobs(n, 4, 1) / 4, blobs(20, 4, 2) / 4
    ours, other = KernelPCA(4, kernel=FeatureMap(phi)).fit(X), PCA(4).fit(phi(X))
    np.testing.assert_allclose(ours.explained_variance_, other.explained_variance_, rtol=CLOSE)
    both = np.concatenate([X, new])
    assert apart(ours.transform(both), other.transform(phi(both))) <= CLOSE
    assert apart(ours.transform(X), ours.fit_transform(X)) <= CLOSE


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_features_are_the_matrix(path, degree):
    X, new = blobs(60, 4) / 4, blobs(25, 4, 3) / 4
    kernel = Polynomial(degree, 0.5, 1.0)
    primal = fit("primal", X, 5, kernel=kernel)
    dual = fit(path, X, 5, kernel=kernel, tol=1e-12)
    assert primal.plan_.chosen.name == "primal"
    assert dual.plan_.chosen.name == path
    wanted = eigenvalues((0.5 * X @ X.T + 1) ** degree)[:5]
    for found in (primal, dual):
        np.testing.assert_allclose(found.eigenvalues_, wanted, rtol=CLOSE)
    np.testing.assert_allclose(
        primal.explained_variance_ratio_, dual.explained_variance_ratio_, rtol=CLOSE
    )
    both = np.concatenate([X, new])
    assert apart(primal.transform(both), dual.transform(both)) <= allowance(dual, close=1e-9)


def paths_of(name):
    return [*MATRIX, "primal"] if name == "polynomial" else MATRIX


EVERY = [(path, name) for name in PLAIN for path in paths_of(name)]


@pytest.mark.parametrize(("path", "name"), EVERY)
def test_training_rows_are_projected_to_their_coordinates(path, name):
    X = blobs(90, 4) / 2
    model, Z = fit_transform(path, X, 4, kernel=PLAIN[name][0])
    again = model.transform(X)
    assert Z.shape == (90, 4)
    A = centred(matrix(name, X))
    left = np.diagonal(A) - np.sum(Z**2, axis=1)  # the axes leave the other eigenvalues
    assert left.min() >= -1e-9 * np.trace(A) or name not in ("rbf", "distance")
    assert left.sum() == pytest.approx(np.trace(A) - model.eigenvalues_.sum(), rel=1e-6)
    np.testing.assert_allclose(again, Z, rtol=0, atol=CLOSE * np.abs(Z).max())
    np.testing.assert_allclose(Z.sum(axis=0), 0, rtol=0, atol=1e-9 * np.abs(Z).sum())
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), rtol=0,
                               atol=1e-5 * model.eigenvalues_[0])  # fmt: skip


@pytest.mark.parametrize(("path", "name"), EVERY)
def test_numbers_are_those_of_the_plain_formula(path, name):
    """λ, ratios, coordinates of old and new rows, from K by cdist and LAPACK."""
    X, new = blobs(90, 4) / 2, blobs(30, 4, 5) / 2
    K = matrix(name, X)
    values, u = np.linalg.eigh(centred(K))
    values, u = values[::-1], u[:, ::-1]
    k = 1 + int(np.argmax(values[:5] / values[1:6]))  # cut at the widest gap
    model = fit(path, X, k, kernel=PLAIN[name][0], tol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, values[:k], rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_, values[:k] / 89, rtol=1e-9)
    ratios = values[:k] / values.sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, ratios, rtol=1e-9)
    B = u[:, :k] / np.sqrt(values[:k])
    c = B.T @ K.mean(axis=1)
    both = np.concatenate([X, new])
    wanted = matrix(name, both, X) @ B - c
    assert apart(model.transform(both), wanted) <= allowance(model)
    if path != "primal":
        assert apart(model.dual_, B) <= 10 * allowance(model)


def test_all_axes_keep_all_distances():
    X = blobs(40, 3)
    model, Z = fit_transform("lapack", X, None, kernel=PLAIN["rbf"][0])
    assert Z.shape == (40, 40)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-12)
    K = matrix("rbf", X)
    distances = 2 - 2 * K
    found = np.sum((Z[:, None] - Z[None]) ** 2, axis=2)
    np.testing.assert_allclose(found, distances, rtol=0, atol=1e-9)
