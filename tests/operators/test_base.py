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
