import numpy as np
import pytest
import scipy.sparse

import mercer.operators.rows._sparse_rows as sparse_rows_module
from mercer.operators import Centring, SparseRows
from mercer.sources import scan


def random_sparse(rng, shape=(200, 12), density=0.2, dtype=np.float64):
    data = rng.integers(1, 50, shape) * (rng.random(shape) < density)
    return data.astype(dtype)


def truth(data, weights=None):
    x = data.astype(np.longdouble)
    w = (np.ones(len(x)) if weights is None else weights).astype(np.longdouble)[:, None]
    y = x - x[0]
    y = y - (w * y).sum(axis=0) / w.sum()
    return y, (w * y).T @ y


def mean_of(rows):
    moments = rows.moments()
    return Centring(rows.origin, moments.offset, rows.exponent).mean


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_stored_cells(rng, dtype, weighted):
    data = random_sparse(rng, dtype=dtype)
    weights = rng.integers(0, 4, len(data)).astype(float) if weighted else None
    rows = SparseRows(scan(scipy.sparse.csr_array(data)), weights)
    _, scatter = truth(data, weights)
    size = float(np.linalg.norm(scatter.astype(float), 2))
    for found in (rows.moments(), rows.scatter()):
        exact = scatter if found.scatter.ndim == 2 else np.diagonal(scatter)
        assert np.max(np.abs(found.scatter - exact)) <= max(found.error, 1e-13 * size)
        assert found.error <= 1e-10 * size
    mean = np.average(data.astype(float), axis=0, weights=weights)
    np.testing.assert_allclose(mean_of(rows), mean, rtol=1e-13)


@pytest.mark.parametrize("offset", [1e3, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_full_columns_are_shifted_and_keep_their_digits(rng, offset, weighted):
    data = random_sparse(rng)
    data[:, 3] = offset + rng.standard_normal(len(data))
    data[:, 7] = -2 * offset + rng.standard_normal(len(data))
    weights = rng.integers(1, 4, len(data)).astype(float) if weighted else None
    csr = scipy.sparse.csr_array(data)
    rows = SparseRows(scan(csr), weights)
    assert set(np.flatnonzero(rows.origin)) == {3, 7}
    _, scatter = truth(data, weights)
    np.testing.assert_allclose(
        rows.scatter().scatter, scatter.astype(float), rtol=1e-11, atol=1e-9
    )
    np.testing.assert_allclose(
        rows.moments().scatter, np.diagonal(scatter).astype(float), rtol=1e-11
    )
    assert rows.csr.nnz <= 2 * csr.nnz


def test_absent_cells_of_a_shifted_column_are_filled_in(rng):
    data = random_sparse(rng, (400, 5))
    data[:, 2] = 1e6 + rng.standard_normal(400)
    data[7, 2] = 0.0  # absent; mean/std is 20, so the column is shifted
    rows = SparseRows(scan(scipy.sparse.csr_array(data)))
    assert np.flatnonzero(rows.origin).tolist() == [2]
    block = rows.block(slice(0, 400), None)
    np.testing.assert_array_equal(block, data - rows.origin)
    weighted = SparseRows(scan(scipy.sparse.csr_array(data)), np.full(400, 4.0))
    buffer = np.empty((16, 5))
    block = weighted.block(slice(5, 15), buffer)
    assert np.shares_memory(block, buffer)
    np.testing.assert_array_equal(block, 2 * (data - rows.origin)[5:15])
    origin = np.array([0.0, 100.0, 0.0, 0.0, -3.0])  # settled before
    rows = SparseRows(scan(scipy.sparse.csr_array(data)), exponent=0, origin=origin)
    np.testing.assert_array_equal(rows.block(slice(0, 400), None), data - origin)
    rows = SparseRows(scan(scipy.sparse.csr_array(data)))
    _, scatter = truth(data)
    np.testing.assert_allclose(
        rows.scatter().scatter, scatter.astype(float), rtol=1e-11, atol=1e-6
    )


def test_columns_near_zero_or_half_empty_stay_as_they_are(rng):
    data = random_sparse(rng)
    data[:, 0] = 5 + rng.standard_normal(len(data))  # full, mean/std = 5
    data[: len(data) // 3, 1] = 1e6  # far, a third full
    rows = SparseRows(scan(scipy.sparse.csr_array(data)))
    assert not rows.origin.any()
    assert rows.csr.nnz == np.count_nonzero(data)


def test_repeated_cells_are_summed_and_the_input_left_alone():
    row, column, value = [0, 0, 1, 2], [1, 1, 0, 2], [1.0, 2.0, 4.0, 5.0]
    csr = scipy.sparse.csr_array((value, (row, column)), shape=(4, 3))
    raw = scipy.sparse.csr_array(
        (np.array(value), np.array([1, 1, 0, 2]), np.array([0, 2, 3, 4, 4])), shape=(4, 3)
    )
    assert not raw.has_canonical_format
    rows = SparseRows(scan(raw))
    np.testing.assert_allclose(
        rows.scatter().scatter, np.cov(csr.toarray().T) * 3, rtol=0, atol=1e-14
    )
    assert raw.nnz == 4
    np.testing.assert_array_equal(raw.data, value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_outer_is_the_gram_matrix_of_the_samples(rng, weighted, scaled, offset):
    data = random_sparse(rng, (15, 60))
    if offset:
        data[:, ::7] = offset + rng.standard_normal((15, 9))
    weights = rng.integers(1, 4, 15).astype(float) if weighted else None
    rows = SparseRows(scan(scipy.sparse.csr_array(data)), weights)
    used = []

    def factor_of(variances, _offsets):
        factor = 1 / np.sqrt(np.where(variances > 0, variances, 1)) if scaled else None
        used.append(factor)
        return factor

    gram, found, factor = rows.outer(factor_of)
    y, _ = truth(data, weights)
    w = np.ones(15) if weights is None else weights
    y = np.sqrt(w.astype(np.longdouble))[:, None] * y
    if scaled:
        np.testing.assert_array_equal(factor, np.concatenate(used))
        y = y * factor
    exact = y @ y.T
    wrong = np.linalg.norm((gram - exact).astype(float), 2)
    assert wrong <= found.error
    assert found.error <= 1e-9 * np.linalg.norm(exact.astype(float), 2)


@pytest.mark.parametrize("k", [-500, -300, 300, 500])
def test_units(rng, k):
    data = random_sparse(rng, (60, 4), 0.5)
    data[:, 0] = 1e4 + rng.standard_normal(60)
    rows = SparseRows(scan(scipy.sparse.csr_array(np.ldexp(data, k))))
    _, scatter = truth(data)
    found = np.ldexp(rows.scatter().scatter, -2 * (k - rows.exponent))
    np.testing.assert_allclose(found, scatter.astype(float), rtol=1e-11, atol=1e-8)
    np.testing.assert_allclose(np.ldexp(mean_of(rows), -k), data.mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_many_cells_are_the_same_with_and_without_numba(monkeypatch, rng, weighted):
    pytest.importorskip("numba")
    csr = scipy.sparse.csr_array(random_sparse(rng))
    weights = rng.random(csr.shape[0]) if weighted else None
    plain = sparse_rows_module._column_sums(csr, weights)
    monkeypatch.setattr(sparse_rows_module, "is_worth_loading", lambda *_: True)
    monkeypatch.setattr(sparse_rows_module, "row_view", None)  # it is not called
    found = sparse_rows_module._column_sums(csr, weights)
    np.testing.assert_allclose(found, plain, rtol=1e-13)


@pytest.mark.parametrize("far", [1e50, 1e145, 1e200, 1e308])
def test_a_far_row_of_weight_zero_does_not_settle_the_unit(rng, far):
    data = random_sparse(rng)
    weights = np.ones(len(data))
    weights[4] = 0.0
    near = SparseRows(scan(scipy.sparse.csr_array(data)), weights).scatter()
    data[4] = far
    csr = scipy.sparse.csr_array(data)
    rows = SparseRows(scan(csr), weights)
    assert rows.exponent == 0
    np.testing.assert_array_equal(rows.scatter().scatter, near.scatter)
    assert csr.data.max() == far  # the caller's cells stay
    rows.outer(lambda variances, _offsets: variances)
    np.testing.assert_array_equal(csr.toarray(), data)
    data[4, 2] = np.nan  # no number is no number, whatever it weighs
    assert not SparseRows(scan(scipy.sparse.csr_array(data)), weights).moments().in_range
