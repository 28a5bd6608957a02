"""Explicit features: PCA of φ(X) is kernel PCA, to all digits and for any number of rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import mercer.estimators.kernel._kernel_primal as module
from mercer import PCA, KernelPCA
from mercer.errors import DataWarning, InputError
from mercer.estimators.kernel._kernel_primal import Widened, features_of, primal
from mercer.estimators.kernel._kernel_task import Task
from mercer.kernels import FeatureMap, Linear, Polynomial


def task(X, wanted=3, kernel=None, **others):
    given = {
        "kernel": kernel or Polynomial(2, 0.5, 1.0),
        "rows": X,
        "weights": None,
        "wanted": wanted,
        "indefinite": "raise",
        "tol": 1e-6,
        "memory": 4 * 10**9,
        "time": None,
        "seed": 0,
    }
    return Task(**(given | others))


def rows(n, p=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng([n, seed])
    return (rng.standard_normal((n, p)) * np.linspace(2, 0.5, p)).astype(dtype)


def truth(kernel, X, weights=None):
    """Return the eigenvalues of the centred kernel matrix, descending."""
    K = kernel.block(np.asarray(X, np.float64))
    w = np.ones(len(K)) if weights is None else weights
    out = np.eye(len(K)) - np.outer(np.ones(len(K)), w / w.sum())
    A = np.sqrt(w)[:, None] * (out @ K @ out.T) * np.sqrt(w)
    return np.linalg.eigvalsh((A + A.T) / 2)[::-1]


KERNELS = [Polynomial(2, 0.5, 1.0), Polynomial(3, 0.2, 0.0), Linear(), 2 * Linear()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n", [4, 200])
def test_pairs_are_those_of_the_matrix(kernel, weighted, n):
    X = rows(n)
    w = np.random.default_rng(1).integers(0, 4, n).astype(float) if weighted else None
    if w is not None:
        w[:3] = 1
    spectrum, found = primal(task(X, 2, kernel, weights=w))
    values = truth(kernel, X, w)
    np.testing.assert_allclose(spectrum.values, values[:2], rtol=1e-9)
    np.testing.assert_allclose(spectrum.right.T @ spectrum.right, np.eye(2), rtol=0, atol=1e-9)
    root = np.ones(n) if w is None else np.sqrt(w)
    np.testing.assert_allclose(root @ spectrum.right, 0, rtol=0, atol=1e-9)
    assert found.trace == pytest.approx(values.sum(), rel=1e-9)
    wanted = values.sum() ** 2 / np.sum(values**2)
    assert found.effective_rank == pytest.approx(wanted, rel=1e-6)
    assert found.total == (n if w is None else w.sum())
    counted = root > 0  # the others have none
    assert np.isnan(found.coordinates[~counted]).all()
    weighted_squares = (root[counted] ** 2) @ found.coordinates[counted] ** 2
    np.testing.assert_allclose(weighted_squares, values[:2], rtol=1e-9)
    certificate = spectrum.certificate
    assert (certificate.lower <= values[:2] * (1 + 1e-12)).all()
    assert (certificate.upper >= values[:2] * (1 - 1e-12)).all()


def test_more_axes_than_features_are_named_zeros():
    X = rows(50, 2)
    spectrum, found = primal(task(X, 5, Linear()))
    assert len(spectrum.values) == 5
    np.testing.assert_array_equal(spectrum.values[2:], 0)
    assert found.coordinates.shape == (50, 5)
    np.testing.assert_array_equal(found.coordinates[:, 2:], 0)


def test_a_share_takes_as_many_axes_as_reach_it():
    X, kernel = rows(300), Polynomial(2, 0.5, 1.0)
    values = truth(kernel, X)
    for wanted in (0.3, 0.9, 0.999):
        spectrum, found = primal(task(X, wanted, kernel))
        k = 1 + int(np.argmax(np.cumsum(values) >= wanted * values.sum()))
        assert len(spectrum.values) == k == found.coordinates.shape[1]


def test_it_is_pca_of_the_features():
    X = rows(120, 4)

    def phi(x):
        return np.concatenate([np.sin(x), x**2], axis=1)

    model, plain = KernelPCA(3, kernel=FeatureMap(phi)).fit(X), PCA(3).fit(phi(X))
    np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(plain.transform(phi(X))), rtol=0, atol=1e-10
    )


def test_signs_follow_the_samples():
    """The sample with the largest coordinate has a positive one, weighted rows too."""
    for w in (None, np.r_[np.zeros(20), np.ones(80)]):
        _, found = primal(task(rows(100), 3, weights=w))
        z = found.coordinates if w is None else found.coordinates[w > 0]
        assert (z[np.argmax(np.abs(z), axis=0), range(3)] > 0).all()


def test_features_of_float32_rows_are_made_in_float64():
    X = rows(80, dtype=np.float32)
    phi = features_of(task(X))
    assert isinstance(phi, Widened)
    assert phi(X).dtype == np.float64
    assert not isinstance(features_of(task(X, kernel=Linear())), Widened)  # as they are
    assert not isinstance(features_of(task(X.astype(np.float64))), Widened)
    spectrum, _ = primal(task(X, tol=1e-9))
    np.testing.assert_allclose(
        spectrum.values, truth(Polynomial(2, 0.5, 1.0), X)[:3], rtol=1e-9
    )


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.5, 1.0)], ids=repr)
def test_sparse_rows(kernel):
    X = rows(150, 4)
    X[np.abs(X) < 0.7] = 0
    dense, _ = primal(task(X, 3, kernel))
    sparse, _ = primal(task(scipy.sparse.csr_array(X), 3, kernel))
    np.testing.assert_allclose(sparse.values, dense.values, rtol=1e-9)


def test_features_made_block_by_block_are_the_same(monkeypatch):
    """Where φ(X) takes too much memory it is made again for each block."""
    made = []
    whole = module.MappedSource
    monkeypatch.setattr(module, "MappedSource", lambda *a: made.append(a) or whole(*a))
    X = rows(3000, 5)
    plain, _ = primal(task(X))
    assert not made
    blocks, _ = primal(task(X, memory=16 * 3000 * 20))
    assert made
    np.testing.assert_allclose(blocks.values, plain.values, rtol=1e-10)


def test_features_that_are_not_finite_are_the_kernels_fault():
    with pytest.raises(InputError, match="kernel gives values that are not finite") as error:
        primal(task(rows(60) * 1e200))
    assert str(error.value).count("\n") == 2


def test_what_the_inner_model_misses_is_said_once():
    """Its own warnings would name a class that the user never made."""
    X = rows(400, 3)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        KernelPCA(2, kernel=Polynomial(2), tol=1e-300).fit(X)
    assert [w.category.__name__ for w in seen] == ["AccuracyWarning"]


def test_far_off_rows_keep_their_digits():
    X = rows(100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = KernelPCA(2, kernel="linear").fit(X + 1e6)
    np.testing.assert_allclose(model.eigenvalues_, truth(Linear(), X)[:2], rtol=1e-8)
