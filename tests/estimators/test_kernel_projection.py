"""A projection by tiles is the product with the whole kernel matrix."""

import numpy as np
import pytest
import scipy.sparse

import mercer.estimators.kernel._kernel_projection as module
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.kernels import RBF, FeatureMap, Function, Laplacian, Linear

KERNELS = {
    "rbf": RBF(2.0),
    "sum": RBF([1.0, 2.0, 3.0]) + 0.5 * Linear(),
    "l1": Laplacian(3.0),
    "function": Function(lambda x, y: np.asarray(x) @ np.asarray(y).T),
    "features": FeatureMap(lambda x: np.asarray(x) ** 2),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("rows", [1, 37])
def test_products_equal_those_of_the_matrix(monkeypatch, name, rows):
    monkeypatch.setattr(module, "_TILE", 16)
    monkeypatch.setattr(module, "_WIDE", 24)
    rng = np.random.default_rng(0)
    X, new, dual = (
        rng.normal(size=(50, 3)),
        rng.normal(size=(rows, 3)),
        rng.normal(size=(50, 4)),
    )
    found = Projection(KERNELS[name], X, dual).products(new)
    np.testing.assert_allclose(found, KERNELS[name](new, X) @ dual, rtol=0, atol=1e-11)


def test_threads_and_tiles_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    X, dual = rng.normal(size=(700, 5)), rng.normal(size=(700, 2))
    whole = Projection(RBF(1.0), X, dual).products(X)
    monkeypatch.setattr(module, "_TILE", 64)
    np.testing.assert_allclose(
        Projection(RBF(1.0), X, dual).products(X), whole, rtol=0, atol=1e-11
    )


def test_float32_and_sparse_rows():
    rng = np.random.default_rng(2)
    X, dual = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))
    truth = Projection(RBF(1.5), X, dual).products(X)
    narrow = Projection(RBF(1.5), X.astype(np.float32), dual.astype(np.float32))
    found = narrow.products(X.astype(np.float32))
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-4)
    sparse = Projection(RBF(1.5), scipy.sparse.csr_array(X), dual)
    np.testing.assert_allclose(
        sparse.products(scipy.sparse.csr_array(X)), truth, rtol=0, atol=1e-11
    )
