import tracemalloc

import numpy as np
import pytest

from mercer.operators import Dense, Operator
from mercer.testing import check_operator, matrices


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (1, 1)])
def test_dense_is_its_matrix(xp, rng, shape):
    a = rng.standard_normal(shape)
    check_operator(Dense(xp.asarray(a)), a)


def test_dense_symmetric(xp):
    a = matrices.symmetric([3.0, 1.0, -2.0, 0.5])
    op = Dense(xp.asarray(a), symmetric=True)
    check_operator(op, a)
    assert op.symmetric
    assert op.trace == pytest.approx(2.5)
    assert op.frobenius == pytest.approx(np.linalg.norm(a))


def test_dense_does_not_copy():
    a = np.ones((3, 2))
    assert np.shares_memory(Dense(a).dense(), a)


def test_an_operator_needs_only_its_two_products(xp, rng):
    a = rng.standard_normal((6, 3))

    class Twice(Operator):
        def __init__(self):
            self.shape, self.held = (6, 3), xp.asarray(2 * a)
            self.like = self.held[:0, :0]

        def matmat(self, v):
            return self.held @ v

        def rmatmat(self, u):
            return self.held.T @ u

    check_operator(Twice(), 2 * a)
    assert Twice().trace is None
    assert Twice().product_error == 0.0


def test_an_operator_without_products_is_none():
    with pytest.raises(TypeError, match="abstract"):
        Operator()


def test_the_norm_takes_no_copy_of_the_matrix():
    a = np.random.default_rng(0).standard_normal((600, 600))
    op = Dense(a, symmetric=True)
    exact = np.sqrt(np.sum(a.astype(np.longdouble) ** 2))
    tracemalloc.start()
    try:
        assert op.frobenius == pytest.approx(float(exact), rel=1e-15)
        assert tracemalloc.get_traced_memory()[1] < a.nbytes / 4
    finally:
        tracemalloc.stop()
    for turned in (a.T, a[::2], np.asfortranarray(a)):
        assert Dense(turned).frobenius == pytest.approx(np.linalg.norm(turned), rel=1e-14)
