import numpy as np
import pytest

from mercer import PCA
from mercer.kernels import Polynomial
from mercer.sources import MappedSource


def phi(X):
    with np.errstate(over="ignore"):
        return np.column_stack([X, X**2])


def made(n=3000, dtype=np.float64):
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(dtype)
    return X, MappedSource(phi, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shape_and_type(dtype):
    X, source = made(100, dtype)
    assert source.shape == (100, 6)
    assert source.dtype == dtype
    assert source.nbytes == phi(X).nbytes
    assert source.nnz is None


def test_blocks_are_those_of_the_whole():
    X, source = made()
    whole = phi(X)
    for rows in (slice(0, 5), slice(1000, 1003), slice(2990, 3100), np.array([5, 2, 9])):
        np.testing.assert_array_equal(source.array[rows, slice(None)], whole[rows])
    np.testing.assert_array_equal(source.array[slice(0, 4), slice(1, 3)], whole[:4, 1:3])


def test_sample():
    X, source = made()
    few = source.sample(50)
    assert 25 <= len(few) <= 50
    assert {tuple(row) for row in few} <= {tuple(row) for row in phi(X)}
    among = np.array([3, 5, 8])
    np.testing.assert_array_equal(source.sample(10, among), phi(X)[among])


@pytest.mark.parametrize("row", [0, 1023, 1024, 2999])
def test_the_first_bad_cell(row):
    X, source = made()
    assert source.first_bad_cell() is None
    X[row, 1] = np.nan
    found = source.first_bad_cell()
    assert found[:2] == (row, 1)
    assert np.isnan(found[2])
    X[row, 1] = 1e200  # its square is not finite
    assert source.first_bad_cell() == (row, 4, np.inf)


def test_pca_of_it_is_pca_of_the_features():
    """φ(X) is made block by block, and the axes are those of the whole table."""
    X, _ = made()
    features = Polynomial(2, 0.5, 1.0).features(3)
    source = MappedSource(features.phi, X)
    lazy = PCA(4)
    vars(lazy).update(lazy._fitted(source, None))
    whole = PCA(4).fit(features.phi(X))
    np.testing.assert_allclose(lazy.explained_variance_, whole.explained_variance_, rtol=1e-12)
    overlap = np.abs(np.sum(lazy.components_ * whole.components_, axis=1))
    np.testing.assert_allclose(overlap, 1, rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(lazy._project(source)),
        np.abs(whole.transform(features.phi(X))),
        rtol=0,
        atol=1e-10,
    )


def test_whole_features_are_never_held():
    asked = []

    def watched(X):
        asked.append(len(X))
        return phi(X)

    X, _ = made(20_000)
    source = MappedSource(watched, X)
    lazy = PCA(2)
    vars(lazy).update(lazy._fitted(source, None))
    assert max(asked) < 20_000
