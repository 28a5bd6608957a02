"""Kernel PCA on landmarks: certified for all rows, whichever landmarks there are."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning
from mercer.estimators.kernel._kernel_landmarks import (
    LandmarkChoice,
    LandmarkModel,
    as_dual,
    described,
)
from mercer.estimators.kernel._kernel_task import Task
from mercer.kernels import (
    RBF,
    Cosine,
    Laplacian,
    Linear,
    Log,
    Matern,
    NegativeDistance,
    Polynomial,
)
from mercer.operators import Landmarks

KERNELS = [
    RBF(1.5),
    Laplacian(2.0),
    Matern(1.5),
    Linear(),
    Polynomial(2, 0.25, 1.0),
    Cosine(),
    Log(),
    NegativeDistance(),
    RBF(2.0) + 0.5 * Linear(),
]
SAMPLERS = ["pivoted", "uniform", "kmeans++"]


def rows(n=160, seed=0, dtype=np.float64):
    rng = np.random.default_rng([seed, n])
    centres = 4 * rng.standard_normal((4, 3))
    return (centres[rng.integers(0, 4, n)] + rng.standard_normal((n, 3))).astype(dtype)


def counts(n=160):
    return np.random.default_rng(7).integers(0, 4, n).astype(float)


def fitted(X, k=3, weights=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        return KernelPCA(k, **parameters).fit(X, sample_weight=weights)


def centred(kernel, X, weights=None):
    K = kernel.block(np.asarray(X, np.float64))
    w = np.ones(len(K)) if weights is None else weights
    out = np.eye(len(K)) - np.outer(np.ones(len(K)), w / w.sum())
    A = np.sqrt(w)[:, None] * (out @ K @ out.T) * np.sqrt(w)
    return (A + A.T) / 2


def on_span(kernel, X, S, o, weights=None):
    """Return PKP, centred: what kernel PCA on the span of landmarks S is, by plain algebra."""

    def k(a, b):
        if o is None:
            return kernel.block(a, b)
        return kernel.block(a, b) - kernel.block(a, o) - kernel.block(o, b) + kernel.block(o, o)

    values, u = np.linalg.eigh(k(S, S))
    good = values > 1e-12 * values[-1]
    f = k(X, S) @ (u[:, good] / np.sqrt(values[good]))
    w = np.ones(len(X)) if weights is None else weights
    f = f - (w @ f) / w.sum()
    return np.linalg.svd(np.sqrt(w)[:, None] * f, compute_uv=False) ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_intervals_hold_the_eigenvalues(kernel, sampler, weighted):
    X, w = rows(), counts() if weighted else None
    values = np.linalg.eigvalsh(centred(kernel, X, w))[::-1]
    S = fitted(X, 2, w, kernel=kernel, landmarks=sampler).landmarks_  # one way to draw them
    for landmarks in (12, S[:25]):
        model = fitted(X, 2, w, kernel=kernel, landmarks=landmarks)
        certificate = model.certificate_
        slack = 1e-12 * values[0]
        assert (certificate.lower <= values[:2] + slack).all()
        assert (certificate.upper >= values[:2] - slack).all()
        assert model.plan_.chosen.name == "landmarks"
        assert model.residual_trace_ >= 0
        inner = on_span(kernel, X, model.landmarks_, model._landmark_model.landmarks.origin, w)
        np.testing.assert_allclose(model.eigenvalues_, inner[:2], rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_all_rows_as_landmarks_are_exact(kernel):
    X = rows(120)
    model, exact = fitted(X, kernel=kernel, landmarks=120), fitted(X, kernel=kernel)
    k = int(np.sum(exact.eigenvalues_ > 1e-9 * exact.eigenvalues_[0]))
    np.testing.assert_allclose(model.eigenvalues_[:k], exact.eigenvalues_[:k], rtol=1e-7)
    Y = rows(40, 3)
    np.testing.assert_allclose(
        np.abs(model.transform(Y)[:, :k]), np.abs(exact.transform(Y)[:, :k]), rtol=0, atol=1e-5
    )
    assert model.residual_trace_ <= 1e-9 * exact.eigenvalues_.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_along_each_axis_is_exact(weighted):
    X, w = rows(), counts() if weighted else None
    model = fitted(X, 3, w, kernel=RBF(1.0), landmarks=15)
    Z = model.transform(X)
    c = np.ones(160) if w is None else w
    about = Z - (c @ Z) / c.sum()
    np.testing.assert_allclose(
        (about.T * c) @ about, np.diag(model.eigenvalues_), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose((c @ Z) / c.sum(), 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, model.eigenvalues_ / (c.sum() - 1))
    np.testing.assert_allclose(
        model.explained_variance_ratio_,
        model.eigenvalues_ / (np.sum(model._landmark_model.values) + model.residual_trace_),
    )


def test_weights_are_repetitions():
    X, w = rows(), counts()
    model = fitted(X, 3, w, kernel=RBF(1.5), landmarks=X[:40])
    repeated = fitted(np.repeat(X, w.astype(int), axis=0), 3, kernel=RBF(1.5), landmarks=X[:40])
    np.testing.assert_allclose(model.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(X), repeated.transform(X), rtol=0, atol=1e-8)
    assert model.residual_trace_ == pytest.approx(repeated.residual_trace_, rel=1e-6)


def test_float32_is_seen_in_float64():
    X = rows(dtype=np.float32)
    model = fitted(X, kernel=RBF(1.5), landmarks=60)
    assert model.transform(X).dtype == np.float32
    values = np.linalg.eigvalsh(centred(RBF(1.5), X))[::-1][:3]
    assert (model.certificate_.lower <= values).all()
    assert (model.certificate_.upper >= values).all()
    wide = fitted(X.astype(np.float64), kernel=RBF(1.5), landmarks=60)
    np.testing.assert_allclose(model.eigenvalues_, wide.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(scale):
    plain = fitted(rows(), kernel=RBF(1.5), landmarks=40)
    other = fitted(rows() * scale, kernel=RBF(1.5 * scale), landmarks=40)
    np.testing.assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    far = fitted(rows() + 1e6, kernel=RBF(1.5), landmarks=40)
    np.testing.assert_allclose(far.eigenvalues_, plain.eigenvalues_, rtol=1e-6)


def test_sparse_rows_and_frames():
    X = rows()
    X[np.abs(X) < 2] = 0
    plain = fitted(X, kernel=RBF(2.0), landmarks=50)
    sparse = fitted(scipy.sparse.csr_array(X), kernel=RBF(2.0), landmarks=50)
    np.testing.assert_allclose(sparse.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(
        sparse.transform(scipy.sparse.csr_array(X)), plain.transform(X), rtol=0, atol=1e-7
    )
    frame = pd.DataFrame(X, columns=list("abc"))
    named = fitted(frame, kernel=RBF(2.0), landmarks=frame[:50])
    np.testing.assert_allclose(
        named.eigenvalues_, fitted(X, kernel=RBF(2.0), landmarks=X[:50]).eigenvalues_
    )
    assert list(named.feature_names_in_) == list("abc")


def test_given_landmarks_are_standardised_with_the_rows():
    X = rows() * [1, 100, 1e-3] + [0, 1e4, 5]
    model = fitted(X, kernel=RBF(1.0), standardize=True, landmarks=X[:60])
    Y = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    plain = fitted(Y, kernel=RBF(1.0), landmarks=Y[:60])
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-8)


def test_choices():
    assert LandmarkChoice.of(None) == LandmarkChoice()
    assert LandmarkChoice.of(20) == LandmarkChoice(count=20)
    assert LandmarkChoice.of(np.int32(20)) == LandmarkChoice(count=20)
    assert LandmarkChoice.of("kmeans++") == LandmarkChoice(sampler="kmeans++")
    given = LandmarkChoice.of(np.ones((5, 2)))
    assert (given.count, given.rows.shape) == (5, (5, 2))
    assert LandmarkChoice(count=20).number(10, 2) == 10
    assert given.number(3, 2) == 5
    assert LandmarkChoice().number(100, 2) == 100  # of few rows all
    assert LandmarkChoice().number(5000, 2) == 300
    assert LandmarkChoice().number(5000, 100) == 1000
    assert LandmarkChoice().number(5000, 4500) == 4500


@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance(), Log()], ids=repr)
def test_coefficients_on_rows_give_the_same_coordinates(kernel):
    """wᵀf(x) = Bᵀk(rows, x) - c, with the origin of a cpd kernel among the rows."""
    X = rows()
    marks = Landmarks.of(kernel, X[:25])
    w = np.random.default_rng(0).standard_normal((marks.m, 2))
    S, dual, constant = as_dual(marks, w)
    f, _ = marks.features(X)
    found = kernel.block(X, S) @ dual - constant
    np.testing.assert_allclose(found, f @ w, rtol=0, atol=1e-8 * np.abs(f @ w).max())
    assert len(S) == marks.m + (marks.origin is not None)


def task(X, **others):
    made = Task(RBF(1.5), X, None, 3, "raise", 0.05, 10**9, None, 0, LandmarkChoice(count=60))
    return dataclasses.replace(made, **others)


@pytest.mark.parametrize("weighted", [False, True])
def test_axes_of_landmarks_are_nearly_those_of_the_matrix(weighted):
    X, w = rows(), counts() if weighted else None
    model = LandmarkModel.of(task(X, weights=w))
    u = model.axes_of(X, w, 3)
    values, vectors = np.linalg.eigh(centred(RBF(1.5), X, w))
    cosines = np.linalg.svd(vectors[:, -3:].T @ u, compute_uv=False)
    assert cosines.min() > 0.999
    np.testing.assert_allclose(u.T @ u, np.eye(3), rtol=0, atol=1e-8)
    root = np.ones(160) if w is None else np.sqrt(w)
    np.testing.assert_allclose(root @ u, 0, rtol=0, atol=1e-8)
    assert model.total == (160 if w is None else w.sum())
    assert model.trace == pytest.approx(root @ root)
    assert model.values[0] == pytest.approx(values[-1], rel=0.03)


def test_what_is_described_adds_up():
    model = LandmarkModel.of(task(rows()))
    spectrum, found = described(model, 3, 0.05)
    assert found.trace == pytest.approx(np.sum(model.values) + model.residual)
    assert spectrum.total == pytest.approx(found.trace)
    assert len(spectrum.values) == len(spectrum.certificate.lower) == 3
    assert 1 <= found.effective_rank <= 160
    assert model.count_for(1e-9) == 1
    assert model.count_for(1.0) == len(model.values) or model.residual == 0


def test_the_largest_landmark_is_positive():
    model = fitted(rows(), kernel=RBF(1.5), landmarks=40)
    z = model.transform(model.landmarks_)
    assert (z[np.argmax(np.abs(z), axis=0), range(3)] > 0).all()


def test_few_landmarks_are_not_blamed_on_the_lengthscale():
    """What they leave counts as noise in the effective rank, which is no fault of the data."""
    X = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        for landmarks in (3, 10):
            KernelPCA(2, kernel=RBF(2.0), landmarks=landmarks, tol=1e9).fit(X)
    with pytest.warns(DataWarning, match="lengthscale is too short"):
        KernelPCA(2, kernel=RBF(1e-3), landmarks=160, tol=1e9).fit(X)
