import numpy as np
import pytest
import scipy.sparse

from mercer.arrays import thread_count
from mercer.operators import CentredSparse, Centring, SparseRows, Transposed
from mercer.sources import scan
from mercer.testing import check_operator


def make(data, weights=None, factor=None):
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
def test_it_is_the_centred_matrix(rng, shape, weighted, scaled):
    data = counts(rng, shape)
    weights = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    factor = rng.uniform(0.5, 2, shape[1]) if scaled else None
    op, exact = make(data, weights, factor)
    assert isinstance(op.T, Transposed)
    assert op.T.T is op
    check_operator(op, exact)
    check_operator(op.T, exact.T)


def test_float32_data_is_multiplied_as_float64(rng):
    data = counts(rng, (80, 10)).astype(np.float32) * np.float32(0.1)
    op, exact = make(data)
    check_operator(op, exact)
    assert op.product_error == 0.0
    scores = op.scores(np.eye(10)[:, :2])
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, exact[:, :2], rtol=0, atol=1e-6)


def test_full_columns_far_from_zero(rng):
    data = counts(rng, (100, 8))
    data[:, 2] = 1e8 + rng.standard_normal(100)
    data[:, 5] = -1e6 + rng.standard_normal(100)
    op, exact = make(data, rng.integers(1, 3, 100).astype(float))
    check_operator(op, exact)
    check_operator(op.T, exact.T)


def test_many_blocks_and_lanes(rng):
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


def test_the_input_is_left_alone_and_shared(rng):
    csr = scipy.sparse.csr_array(counts(rng, (50, 6)))
    before = csr.copy()
    rows = SparseRows(scan(csr))
    op = CentredSparse(rows, Centring(rows.origin, rows.moments().offset))
    check_operator(op)
    assert np.shares_memory(rows.csr.data, csr.data)
    assert (csr != before).nnz == 0
