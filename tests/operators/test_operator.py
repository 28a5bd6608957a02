"""Operators: matrices known by their products."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from mercer.operators import (
    CentredRows,
    CentredSparse,
    Centring,
    Dense,
    DenseRows,
    Moments,
    Operator,
    SparseRows,
    centred,
    rows_of,
)
from mercer.sources import scan
from mercer.testing import check_operator, matrices


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (1, 1)])
def test_dense_is_its_matrix(xp, rng, shape):
    a = rng.standard_normal(shape)
    check_operator(Dense(xp.asarray(a)), a)
    assert np.shares_memory(Dense(a).dense(), a)
    a = matrices.symmetric([3.0, 1.0, -2.0, 0.5])
    op = Dense(xp.asarray(a), symmetric=True)
    check_operator(op, a)
    assert op.symmetric
    assert op.trace == pytest.approx(2.5)
    assert op.frobenius == pytest.approx(np.linalg.norm(a))


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


@pytest.mark.parametrize(
    ("make", "rows_kind", "centred_kind"),
    [(np.asarray, DenseRows, CentredRows), (scipy.sparse.csr_array, SparseRows, CentredSparse)],
)
def test_dense_and_sparse_find_their_classes(rng, make, rows_kind, centred_kind):
    rows = rows_of(scan(make(rng.standard_normal((6, 3)))))
    assert isinstance(rows, rows_kind)
    op = centred(rows, Centring(rows.origin, rows.moments().offset, rows.exponent))
    assert isinstance(op, centred_kind)
    np.testing.assert_allclose(op.dense().sum(axis=0), 0, rtol=0, atol=1e-14)


def test_variances_come_from_either_form_of_the_scatter(xp):
    whole = np.array([[4.0, 1.0], [1.0, -1e-30]])
    for scatter in (whole, np.diagonal(whole)):
        moments = Moments(5.0, xp.asarray(np.zeros(2)), xp.asarray(scatter), 4.0, 0.0)
        np.testing.assert_array_equal(xp.numpy(moments.variances), [1.0, 0.0])


@pytest.mark.parametrize("exponent", [0, 3, -7, 900, -900])
def test_the_mean_is_origin_plus_offset(xp, exponent):
    origin = np.array([1.0, -2.0]) * 2.0**exponent
    centring = Centring(xp.asarray(origin), xp.asarray(np.array([0.5, 0.25])), exponent)
    truth = np.array([1.5, -1.75]) * 2.0**exponent
    np.testing.assert_array_equal(xp.numpy(centring.mean), truth)
    narrow = Centring(xp.asarray(np.array([1e6], np.float32)), xp.asarray(np.array([1e-4])))
    assert xp.numpy(narrow.mean).dtype == np.float64
    assert xp.numpy(narrow.mean)[0] == 1e6 + 1e-4
