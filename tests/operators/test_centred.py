"""Centred tables in memory, dense and sparse, are linear maps."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer.arrays import thread_count
from mercer.operators import (
    CentredColumns,
    CentredRows,
    CentredSparse,
    Centring,
    DenseRows,
    SparseRows,
    Transposed,
)
from mercer.sources import scan
from mercer.testing import check_operator, matrices


def make(data, weights=None, factor=None, *, hold=np.asarray, products=None):
    """Return the operator, and the matrix it should be in extended precision."""
    rows = DenseRows(scan(hold(data)), weights, products)
    moments = rows.moments()
    held = None if factor is None else hold(factor)
    op = CentredRows(rows, Centring(rows.origin, moments.offset, rows.exponent, held))
    x = data.astype(np.longdouble)
    w = (np.ones(len(x)) if weights is None else weights).astype(np.longdouble)[:, None]
    y = x - x[0]
    y = np.sqrt(w) * (y - (w * y).sum(axis=0) / w.sum())
    y = np.ldexp(y, -rows.exponent)
    return op, (y if factor is None else y * factor)


SHAPES = [(40, 7), (7, 40), (2, 3), (30, 1)]
EXTRAS = [(False, False), (True, False), (False, True), (True, True)]


def case(rng, shape, weighted, scaled, offset=0.0):
    data = rng.standard_normal(shape) + offset
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    factor = rng.uniform(0.5, 2, shape[1]) if scaled else None
    return data, weights, factor


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("weighted", "scaled"), EXTRAS)
def test_rows_and_columns_are_the_centred_matrix(xp, rng, shape, weighted, scaled):
    data, weights, factor = case(rng, shape, weighted, scaled)
    op, exact = make(data, weights, factor, hold=xp.asarray)
    assert isinstance(op, CentredRows)
    assert isinstance(op.T, CentredColumns)
    assert isinstance(op.T.T, CentredRows)
    check_operator(op, exact.astype(float))
    check_operator(op.T, exact.T.astype(float))
    assert op.product_error == op.T.product_error == 0.0
    op, exact = make(np.ldexp(data, 900), weights, factor, hold=xp.asarray)
    assert op.centring.exponent != 0  # a unit is taken out
    check_operator(op, exact.astype(float))


@pytest.mark.parametrize(("weighted", "scaled"), EXTRAS)
def test_float32_products(xp, rng, weighted, scaled):
    data, weights, factor = case(rng, (50, 9), weighted, scaled, 1.0)
    op, exact = make(data.astype(np.float32), weights, factor, hold=xp.asarray)
    check_operator(op, exact.astype(float), rtol=1e-5)
    check_operator(op.T, exact.T.astype(float), rtol=1e-5)
    v = xp.asarray(rng.standard_normal((9, 2)))
    scores, wanted = xp.numpy(op.scores(v)), exact.astype(float) @ xp.numpy(v)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("shape", [(300, 5), (5, 300)])
def test_far_from_the_origin_nothing_is_lost(xp, rng, offset, shape):
    data, weights, factor = case(rng, shape, True, True, offset)
    op, exact = make(data, weights, factor, hold=xp.asarray)
    check_operator(op, exact.astype(float), rtol=1e-13)
    check_operator(op.T, exact.T.astype(float), rtol=1e-13)


def test_many_blocks_and_lanes(rng):
    data = rng.standard_normal((9000, 120)) + 3
    weights = rng.integers(1, 4, 9000).astype(float)
    op, exact = make(data, weights)
    assert len(op.rows.tiles(4e6)) > 2
    assert op.rows.lanes(4.0 * data.size * 20, 1, 9).count == min(thread_count(), 9)
    a = exact.astype(float)
    q = rng.standard_normal((120, 20))
    np.testing.assert_allclose(op.gram_matmat(q), a.T @ (a @ q), rtol=1e-10, atol=1e-7)
    np.testing.assert_allclose(op.matmat(q), a @ q, rtol=0, atol=1e-11)
    u = rng.standard_normal((9000, 20))
    np.testing.assert_allclose(op.rmatmat(u), a.T @ u, rtol=0, atol=1e-10)
    np.testing.assert_allclose(op.T.gram_matmat(u), a @ (a.T @ u), rtol=1e-10, atol=1e-8)
    np.testing.assert_array_equal(op.gram_matmat(q), op.gram_matmat(q))
    np.testing.assert_array_equal(op.T.gram_matmat(u), op.T.gram_matmat(u))


def ratio_of(op, exact, q):
    """Return the largest error of a pass over ‖A‖_F·‖Aq‖, and what the operator claims."""
    found = op.gram_matmat(q)
    along = exact @ q
    wrong = np.sqrt(np.sum((found - exact.T @ along) ** 2, axis=0))
    size = np.sqrt(np.sum(exact**2)) * np.sqrt(np.sum(along**2, axis=0))
    return float(np.max(wrong / size)), op.product_error


@given(
    st.integers(3, 500),
    st.integers(2, 40),
    st.floats(0, 4),
    st.sampled_from(["plain", "turned", "scaled"]),
    st.integers(0, 10**6),
)
@example(178, 3, 3.0, "plain", 178)
@settings(max_examples=80)
def test_the_product_error_is_a_bound(n, p, grade, kind, seed):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n, p)) * 10 ** -(grade * np.arange(p) / p)
    data = data @ matrices.rotation(p, seed) if kind == "turned" else data
    data = (data + 3).astype(np.float32)
    weights = rng.integers(1, 9, n).astype(float) if kind == "scaled" else np.ones(n)
    factor = 10 ** rng.uniform(-2, 2, p) if kind == "scaled" else np.ones(p)
    for turned, weak in ((False, False), (True, False), (False, True)):
        op, _ = make(data, weights, factor)
        # About the mean that the operator has: this is about products alone.
        exact = (data.astype(float) - op.centring.origin - op.centring.offset) * factor
        exact *= np.sqrt(weights)[:, None]
        op, exact = (op.T, exact.T) if turned else (op, exact)
        q = np.linalg.qr(rng.standard_normal((exact.shape[1], 5)))[0][:, : min(exact.shape)]
        if weak and n >= max(20, 4 * p):
            q = np.linalg.eigh(exact.T @ exact)[1]
        made, claimed = ratio_of(op, exact, q)
        assert made <= claimed


@pytest.mark.parametrize("turned", [False, True])
def test_the_product_error_is_a_bound_over_many_blocks(rng, turned):
    shape = (200, 7000) if turned else (7000, 200)
    data = (rng.standard_normal(shape) + 1).astype(np.float32)
    op, _ = make(data)
    op = op.T if turned else op
    exact = op.dense()
    q = np.linalg.qr(rng.standard_normal((200, 6)))[0]
    made, claimed = ratio_of(op, exact, q)
    assert made <= claimed < 1e-5


def make_sparse(data, weights=None, factor=None):
    rows = SparseRows(scan(scipy.sparse.csr_array(data)), weights)
    centring = Centring(rows.origin, rows.moments().offset, rows.exponent, factor)
    x = data.astype(np.longdouble)
    w = (np.ones(len(x)) if weights is None else weights).astype(np.longdouble)[:, None]
    y = x - x[0]
    y = np.sqrt(w) * (y - (w * y).sum(axis=0) / w.sum())
    return CentredSparse(rows, centring), (y if factor is None else y * factor).astype(float)


def counts(rng, shape, density=0.3):
    return rng.poisson(3, shape) * (rng.random(shape) < density) * 1.0


@pytest.mark.parametrize("shape", [(60, 9), (9, 60), (2, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_it_is_the_centred_matrix(rng, shape, weighted, scaled, far):
    data = counts(rng, shape)
    if far:  # full columns far from zero
        data[:, 1] = 1e8 + rng.standard_normal(shape[0])
        data[:, 2] = -1e6 + rng.standard_normal(shape[0])
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    factor = rng.uniform(0.5, 2, shape[1]) if scaled else None
    op, exact = make_sparse(data, weights, factor)
    assert isinstance(op.T, Transposed)
    assert op.T.T is op
    check_operator(op, exact)
    check_operator(op.T, exact.T)


def test_float32_data_is_multiplied_as_float64(rng):
    data = counts(rng, (80, 10)).astype(np.float32) * np.float32(0.1)
    op, exact = make_sparse(data)
    check_operator(op, exact)
    assert op.product_error == 0.0
    scores = op.scores(np.eye(10)[:, :2])
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, exact[:, :2], rtol=0, atol=1e-6)


def test_many_sparse_blocks_and_lanes(rng):
    csr = scipy.sparse.random_array((30_000, 100), density=0.1, random_state=rng, format="csr")
    rows = SparseRows(scan(csr))
    op = CentredSparse(rows, Centring(rows.origin, rows.moments().offset))
    assert len(op.tiles) > 2
    assert op._lanes(50).count == min(thread_count(), len(op.tiles))
    a = csr.toarray() - csr.mean(axis=0)
    q = rng.standard_normal((100, 50))
    np.testing.assert_allclose(op.gram_matmat(q), a.T @ (a @ q), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(op.gram_matmat(q), op.gram_matmat(q))
    u = rng.standard_normal((30_000, 50))
    np.testing.assert_allclose(op.rmatmat(u), a.T @ u, rtol=0, atol=1e-11)
    np.testing.assert_allclose(op.matmat(q), a @ q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("public", [False, True])
def test_products_on_any_scipy(rng, monkeypatch, public, index):
    if public:  # as on a SciPy without the functions that add in place
        for name in ("csr_matvecs", "csc_matvecs"):
            monkeypatch.setattr(f"mercer.operators.sparse._csr_blocks.{name}", None)
    csr = scipy.sparse.csr_array(counts(rng, (60, 9)))
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    rows = SparseRows(scan(csr))
    op = CentredSparse(rows, Centring(rows.origin, rows.moments().offset))
    before = csr.toarray()
    check_operator(op, before - before.mean(axis=0))
    assert np.shares_memory(rows.csr.data, csr.data)
    np.testing.assert_array_equal(csr.toarray(), before)
