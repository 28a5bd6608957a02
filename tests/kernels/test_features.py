import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from mercer.errors import InputError
from mercer.kernels import RBF, Constant, FeatureMap, Linear, Polynomial


def squared(rows):
    return np.asarray(rows) ** 2


FINITE = [
    Linear(),
    2.5 * Linear(),
    Linear() + 3.0,
    Constant(0.0),
    Polynomial(2, 0.5, 1.0),
    Polynomial(3, 1.0, 0.0),
    Polynomial(1, 2.0, 0.5),
    Polynomial(5, 0.1, 2.0),
    (Linear() + 0.5 * Polynomial(2, 1.0, 1.0)).on([0, 2]),
    FeatureMap(squared),
    FeatureMap(squared).on([1]) + Linear(),
    FeatureMap(sparse.csr_array) + Linear(),
    Linear() ** 1,
]


@pytest.mark.parametrize("kernel", FINITE, ids=str)
def test_features_are_the_kernel(kernel, rng):
    X = rng.standard_normal((12, 3))
    features = kernel.features(3)
    phi = features.phi(X)
    assert features.count(3) in (None, phi.shape[1])
    phi = phi.toarray() if sparse.issparse(phi) else phi
    np.testing.assert_allclose(phi @ phi.T, kernel(X), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kernel", FINITE[:9], ids=str)
def test_features_on_every_library(xp, kernel, rng):
    X = rng.standard_normal((6, 3)).astype(np.float32)
    phi = xp.numpy(kernel.features(3).phi(xp.asarray(X)))
    assert phi.dtype == np.float32
    truth = kernel(X.astype(np.float64))
    np.testing.assert_allclose(phi @ phi.T, truth, rtol=1e-4, atol=1e-4)


def test_sparse_rows(rng):
    X = sparse.csr_array(rng.standard_normal((5, 3)))
    for kernel in (Linear(), Linear() + 1.0, Polynomial(2, 1.0, 1.0)):
        phi = kernel.features(3).phi(X)
        phi = phi.toarray() if sparse.issparse(phi) else phi
        np.testing.assert_allclose(phi @ phi.T, kernel(X.toarray()), rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.0),
        Linear() + RBF(1.0),
        Linear() * Linear(),
        -1.0 * Linear(),
        Constant(-1.0),
        Polynomial(2, 1.0, -1.0),
        Polynomial(2.5, 1.0, 1.0),
        Polynomial(2, -1.0, 0.0),
        Linear() ** 2,
    ],
    ids=str,
)
def test_others_have_none(kernel):
    assert kernel.features(3) is None


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_monomials_are_counted(p, degree):
    for coef0 in (0.0, 1.0):
        powers = itertools.product(range(degree + 1), repeat=p)
        wanted = [q for q in powers if (sum(q) == degree if coef0 == 0 else sum(q) <= degree)]
        features = Polynomial(degree, 1.0, coef0).features(p)
        assert features.count(p) == len(wanted)
        assert features.phi(np.ones((2, p))).shape == (2, len(wanted))


def test_the_limit_on_features():
    p = next(p for p in itertools.count(1) if Polynomial(2, 1.0, 1.0).features(p) is None)
    assert math.comb(p + 1, 2) <= 8192 < math.comb(p + 2, 2)
    assert Polynomial(32, 1.0, 1.0).features(1) is not None
    assert Polynomial(33, 1.0, 1.0).features(1) is None
    with pytest.raises(InputError, match="numbers for parameters"):
        Polynomial(2).features(3)
