"""Kernel discriminant analysis: the linear one in the coordinates of kernel PCA."""

import numpy as np
import pytest
import scipy.sparse
from discriminant_data import classes
from sklearn.datasets import load_iris, make_moons
from tests.claims import agree, refuses, warned

import mercer
from mercer import KernelDiscriminantAnalysis, LinearDiscriminantAnalysis
from mercer.errors import AccuracyWarning
from mercer.kernels import RBF, FeatureMap, Linear, ngrams

IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3])
def test_the_linear_kernel_is_linear_discriminant_analysis(shrinkage):
    X, y = IRIS
    plain = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    found = KernelDiscriminantAnalysis(kernel=Linear(), shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    agree(np.abs(found.transform(X + 1)), np.abs(plain.transform(X + 1)), 1e-8)
    agree(found.predict_proba(X), plain.predict_proba(X), 1e-9)


def test_features_that_are_written_down():
    """φ(x) = (x, x²) by hand, and the same by its kernel."""
    X, y = classes(80, 2, 3, 1)

    def phi(rows):
        return np.c_[rows, rows**2]

    plain = LinearDiscriminantAnalysis(shrinkage=0.1).fit(phi(X), y)
    kernel = FeatureMap(phi)
    found = KernelDiscriminantAnalysis(kernel=kernel, shrinkage=0.1).fit(X, y)
    agree(found.predict_proba(X), plain.predict_proba(phi(X)), 1e-8)


def test_the_textbook_eigenproblem():
    """Dual form: α of (K(I - L)K/(n - G) + μK)α = σ⁻²·K(L - 11ᵀ/n)Kα/(G - 1), K centred."""
    X, y = make_moons(40, noise=0.1, random_state=0)
    model = KernelDiscriminantAnalysis(kernel=RBF(lengthscale=0.7), shrinkage=0.2).fit(X, y)
    K = RBF(lengthscale=0.7).block(X, X)
    H = np.eye(40) - 1 / 40
    K = H @ K @ H
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-11 * values.max()
    Z = vectors[:, keep] * np.sqrt(values[keep])
    assert keep.sum() == pytest.approx(model.n_axes_, abs=3)
    L = (y[:, None] == y[None, :]) / 20
    within = Z.T @ (np.eye(40) - L) @ Z / 38
    within = 0.8 * within + 0.2 * np.trace(within) / keep.sum() * np.eye(keep.sum())
    wanted = np.linalg.eigvals(np.linalg.solve(within, Z.T @ L @ Z)).real.max()
    assert model.eigenvalues_[0] == pytest.approx(wanted, rel=2e-2)


def test_moons_that_no_line_parts():
    X, y = make_moons(300, noise=0.15, random_state=0)
    new, truth = make_moons(500, noise=0.15, random_state=1)
    assert LinearDiscriminantAnalysis().fit(X, y).score(new, truth) < 0.9
    found = KernelDiscriminantAnalysis().fit(X, y)
    assert found.score(new, truth) > 0.97
    marks = KernelDiscriminantAnalysis(landmarks=60).fit(X, y)
    assert marks.n_axes_ <= 60
    assert marks.score(new, truth) > 0.96
    with pytest.warns(AccuracyWarning, match="hold little"):
        few = KernelDiscriminantAnalysis(landmarks=2, kernel=RBF(lengthscale=0.2)).fit(X, y)
    assert few.captured_share_[0] < 0.5
    assert "fitted" in found._repr_html_()


def test_many_rows_are_seen_from_landmarks():
    X, y = make_moons(2500, noise=0.1, random_state=0)
    model = KernelDiscriminantAnalysis().fit(X, y)
    assert model.plan_.chosen.name == "landmarks"
    assert model.captured_share_[0] > 0.999
    assert model.score(X, y) > 0.99


def test_training_rows_and_new_rows_go_the_same_way():
    X, y = IRIS
    model = KernelDiscriminantAnalysis(1).fit(X, y)
    Z = model.transform(X)
    agree(model.transform(X[:7]), Z[:7], 1e-9)
    assert Z.shape == (150, 1)
    agree(Z[y == 1].mean(axis=0), model.centres_[1], 1e-9)
    assert model.classes_at(model.centres_).tolist() == [0, 1, 2]
    assert model.plan_.chosen.name == "lapack"
    assert model.certificate_.met
    assert mercer.plan(KernelDiscriminantAnalysis(), X).chosen.name == "lapack"


def test_texts_and_sparse_rows():
    texts = ["abab", "abba", "baba", "abaa", "xyxy", "yxyx", "xyyx", "xxyx"]
    y = list("aaaabbbb")
    model = KernelDiscriminantAnalysis(kernel=FeatureMap(ngrams(2, 64)), shrinkage=0.1).fit(
        texts, y
    )
    assert model.predict(["bbab", "yyxx"]).tolist() == ["a", "b"]
    X, y = IRIS
    dense = KernelDiscriminantAnalysis(kernel=RBF(lengthscale=1.0)).fit(X, y)
    sparse = KernelDiscriminantAnalysis(kernel=RBF(lengthscale=1.0))
    sparse.fit(scipy.sparse.csr_array(X), y)
    agree(sparse.predict_proba(X), dense.predict_proba(X), 1e-6)


def test_permutation_and_confusion_look_through_the_kernel():
    X, y = make_moons(80, noise=0.1, random_state=0)
    rings = X - X.mean(axis=0)
    inside = (np.linalg.norm(rings, axis=1) < np.median(np.linalg.norm(rings, axis=1))).astype(
        int
    )
    model = KernelDiscriminantAnalysis()
    assert model.permutation(X, inside, 99).p_value == 0.01
    assert model.confusion(X, y, folds=4).accuracy > 0.95
    found = model.fit(X, y).ellipses(X, y)
    agree(found.centres, model.centres_, 1e-9)


def test_a_kernel_that_is_given():
    X, y = IRIS
    K = RBF(lengthscale=1.0).block(X, X)
    given = KernelDiscriminantAnalysis(kernel="precomputed")
    plain = KernelDiscriminantAnalysis(kernel=RBF(lengthscale=1.0))
    a, b = given.confusion(K, y, folds=4), plain.confusion(X, y, folds=4)
    np.testing.assert_array_equal(a.counts, b.counts)
    agree(given.fit(K, y).predict_proba(K), plain.fit(X, y).predict_proba(X), 1e-5)


def test_negative_eigenvalues_and_what_cannot_be_fitted():
    X, y = make_moons(80, noise=0.1, random_state=0)
    refuses("negative eigenvalues", KernelDiscriminantAnalysis(kernel="sigmoid").fit, X, y)
    clipped = KernelDiscriminantAnalysis(kernel="sigmoid", indefinite="clip")
    warned("left out", clipped.fit, X, y)
    assert clipped.score(X, y) > 0.8
    X, y = IRIS
    refuses("n_classes - 1", KernelDiscriminantAnalysis(3).fit, X, y)
    refuses("two classes", KernelDiscriminantAnalysis().fit, X, np.zeros(150))
    model = KernelDiscriminantAnalysis().fit(X, y)
    assert "_kernel_model" not in vars(model)
