import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp

from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, FeatureMap, Flag, Function, Linear, Precomputed, as_kernel
from mercer.testing import check_kernel


def basis(rows):
    rows = np.asarray(rows)
    return np.concatenate([rows, rows**2, np.sin(rows)], axis=1)


def taxi(x, y):
    return float(np.minimum(x, y).sum())


def gram(x, y):
    return x @ y.T


def test_feature_maps(rng):
    X = rng.standard_normal((30, 2))
    k = FeatureMap(basis)
    assert k.flag is Flag.PD
    np.testing.assert_allclose(k(X, X[:5]), basis(X) @ basis(X[:5]).T)
    check_kernel(k, X)
    check_kernel(FeatureMap(sparse.csr_array), X)
    assert k.features(2) is k
    assert k.count(2) is None
    assert FeatureMap(basis, width=6).count(2) == 6
    assert repr(k) == "FeatureMap(phi=basis)"


def test_functions_of_blocks(xp, rng):
    X = rng.standard_normal((40, 2))
    k = Function(gram)
    assert k.flag is Flag.UNKNOWN
    np.testing.assert_allclose(xp.numpy(k(xp.asarray(X))), X @ X.T)
    np.testing.assert_allclose(xp.numpy(k.diag(xp.asarray(X))), np.sum(X**2, axis=1))
    check_kernel(k, X)
    check_kernel(2.0 * k + Linear(), X)
    assert repr(k) == "Function(gram)"


def test_functions_of_rows(rng):
    X = rng.random((20, 3))
    k = Function.pairwise(taxi)
    truth = np.minimum(X[:, None], X[None]).sum(axis=2)
    np.testing.assert_allclose(k(X), truth)
    np.testing.assert_allclose(k.diag(X), X.sum(axis=1))
    check_kernel(k, X)
    assert k == Function.pairwise(taxi)
    assert repr(k) == "Function.pairwise(taxi)"


def test_a_row_function_in_the_place_of_a_block_function(rng):
    X = rng.random((5, 3))
    with pytest.raises(InputError, match=r"Function\.pairwise"):
        Function(taxi)(X)


def test_kernels_of_gaussian_processes_are_functions(rng):
    X = rng.standard_normal((20, 2))
    np.testing.assert_allclose(as_kernel(gp.RBF(1.5))(X), RBF(1.5)(X), rtol=1e-12)


def test_precomputed_matrices(xp, rng):
    X = rng.standard_normal((10, 2))
    K = X @ X.T
    k = Precomputed()
    assert k.flag is Flag.UNKNOWN
    assert k.resolved
    np.testing.assert_array_equal(xp.numpy(k(xp.asarray(K))), K)
    np.testing.assert_array_equal(xp.numpy(k.block(xp.asarray(K[:3]), xp.asarray(K))), K[:3])
    np.testing.assert_array_equal(xp.numpy(k.diag(xp.asarray(K))), np.diagonal(K))
    np.testing.assert_allclose(xp.numpy((2.0 * k + 1.0)(xp.asarray(K))), 2 * K + 1)
    assert k(K.tolist()).tolist() == K.tolist()


def test_wrong_matrices(rng):
    K = rng.standard_normal((4, 4))
    with pytest.raises(InputError, match=r"shape \(3, 4\)"):
        Precomputed()(K[:3])
    with pytest.raises(InputError, match="column for every training row"):
        Precomputed()(K[:, :3], K)
    with pytest.raises(NotSupportedError, match="does not hold"):
        Precomputed().diag(K[:3])


def test_functions_only():
    for make in (FeatureMap, Function, Function.pairwise):
        with pytest.raises(InputError, match="must be a function"):
            make(np.ones((3, 3)))
