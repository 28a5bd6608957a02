"""The Gram matrix of sparse columns is XᵀWX, whatever is multiplied as dense."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer.operators.sparse._dense_columns as split_module
import mercer.operators.sparse._sparse_gram as sparse_gram_module
from mercer.operators.sparse._dense_columns import Split
from mercer.operators.sparse._sparse_gram import (
    add_cell_pairs,
    add_columns,
    sparse_gram,
)


def counts(n=900, p=70, seed=0, dtype=np.float64):
    """Return counts with a few full columns and many thin ones, one of them empty."""
    rng = np.random.default_rng(seed)
    rates = 3.0 / np.arange(1, p + 1) ** 1.2
    table = rng.poisson(rates, (n, p)).astype(dtype)
    table[:, -1] = 0
    return scipy.sparse.csr_array(table)


def forced(monkeypatch, p, share, exact_rows=0):
    """Let a share of the columns, in no order, be the heavy ones."""
    order = np.random.default_rng(1).permutation(p)
    split = Split(order, int(share * p), 1e9, 10.0, exact_rows)
    monkeypatch.setattr(Split, "of", lambda *_: split)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_equals_the_dense_product(monkeypatch, dtype, weighted, share, threads):
    X = counts(dtype=dtype)
    X.data[X.indptr[100] : X.indptr[400]] = 0
    X.eliminate_zeros()  # rows without cells
    before = X.copy()
    forced(monkeypatch, X.shape[1], share, 0 if weighted else 200)
    monkeypatch.setattr(split_module, "_HELD", (300, 300))  # many small products of pairs
    monkeypatch.setattr(sparse_gram_module, "thread_count", lambda: threads)
    monkeypatch.setattr(sparse_gram_module, "_STRIP", 16)
    monkeypatch.setattr(sparse_gram_module, "_STRIP_BYTES", 64)
    monkeypatch.setattr(sparse_gram_module, "_MOST_ENTRIES", 30 if threads == 1 else 20_000_000)
    root = np.random.default_rng(2).random(X.shape[0]) if weighted else None
    dense = X.toarray().astype(np.float64) * (1.0 if root is None else root[:, None])
    gram, tiles = sparse_gram(X, root)
    np.testing.assert_allclose(gram, dense.T @ dense, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(gram, gram.T)
    assert tiles.n == X.shape[0]
    np.testing.assert_array_equal(sparse_gram(X, root)[0], gram)  # to the last bit
    assert (before != X).nnz == 0
    assert not sparse_gram(scipy.sparse.csr_array((6, X.shape[1])), None)[0].any()


def kinds_used(monkeypatch):
    """Return the list that the precision of every product is put into."""
    seen = []
    plain = sparse_gram_module._Heavy._inner

    def inner(self, full):
        seen.append(np.dtype(self.dtype).name)
        return plain(self, full)

    monkeypatch.setattr(sparse_gram_module._Heavy, "_inner", inner)
    return seen


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_whole_numbers_are_multiplied_exactly_in_float32(monkeypatch, dtype):
    X = counts(dtype=dtype)
    forced(monkeypatch, X.shape[1], 0.5, 100)
    seen = kinds_used(monkeypatch)
    gram, _ = sparse_gram(X, None)
    exact = X.toarray().astype(np.int64)
    np.testing.assert_array_equal(gram, exact.T @ exact)
    assert set(seen) == {"float32"}


@pytest.mark.parametrize("column", ["heavy", "light"])
@pytest.mark.parametrize("cell", [0.1, 4097.0, 2.0**23 + 1, 2.0**40 + 1])
def test_what_float32_cannot_hold_is_float64(monkeypatch, column, cell):
    X = counts().tolil()
    order = np.random.default_rng(1).permutation(X.shape[1])
    # The sample promised whole numbers; one row far down breaks the promise.
    X[650, order[0 if column == "heavy" else -1]] = cell
    X = scipy.sparse.csr_array(X)
    forced(monkeypatch, X.shape[1], 0.5, 100)
    monkeypatch.setattr(sparse_gram_module, "thread_count", lambda: 1)
    seen = kinds_used(monkeypatch)
    gram, _ = sparse_gram(X, None)
    exact = X.toarray().astype(np.longdouble)
    np.testing.assert_allclose(gram, (exact.T @ exact).astype(float), rtol=1e-15)
    assert seen[0] == "float32"
    assert seen[-1] == "float64"
    X = scipy.sparse.csr_array(np.full((100, 3), 1001.0))  # 100·1001² is 6 times 2^24
    forced(monkeypatch, 3, 1.0, 100)
    np.testing.assert_array_equal(sparse_gram(X, None)[0], np.full((3, 3), 100 * 1001.0**2))


def test_a_compiled_loop_gives_the_same(monkeypatch):
    pytest.importorskip("numba")
    X = counts()
    split = Split.of(split_module.SparseSample.of(X), X.shape[0])
    plain, _ = sparse_gram(X, None)
    fast = dataclasses.replace(split, compiled=True)
    monkeypatch.setattr(Split, "of", lambda *_: fast)
    monkeypatch.setattr(sparse_gram_module, "_walk", None)  # it is not called
    gram, tiles = sparse_gram(X, None)
    np.testing.assert_array_equal(gram, plain)  # whole numbers
    assert tiles.n == X.shape[0]


# The loops over stored cells, as Python runs them: machine code is held to the same.
def rows(n, p, share, seed):
    """Return a table, its cells as the loops take them, and weights."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, p)) < share, rng.standard_normal((n, p)), 0.0)
    csr = scipy.sparse.csr_array(table)
    ends, columns = csr.indptr.astype(np.uint32), csr.indices.astype(np.uint32)
    return table, (ends, columns, csr.data), rng.random(n)


@given(
    n=st.integers(1, 8),
    p=st.integers(1, 9),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    width=st.integers(1, 9),
    skipped=st.integers(0, 2),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_strips_of_pairs_make_up_the_upper_triangle(n, p, share, width, skipped, seed):
    table, cells, weights = rows(n, p, share, seed)
    ends = cells[0]
    total, at = np.zeros((p, p)), ends[:-1].astype(np.uint64)
    lows = range(width * skipped, p, width)  # strips before belong to another lane
    for low in lows:
        add_cell_pairs(*cells, weights, np.uint64(low), np.uint64(low + width), at, total)
    expected = np.triu((table * weights[:, None]).T @ table)
    expected[: min(p, width * skipped)] = 0.0
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-14)
    if len(lows):
        np.testing.assert_array_equal(at, ends[1:])


def test_sums_of_columns():
    table, cells, weights = rows(20, 6, 0.5, 0)
    sums = np.ones((3, 6))
    add_columns(*cells, weights, sums)
    expected = [weights @ (table != 0), weights @ table, weights @ table**2]
    np.testing.assert_allclose(sums - 1, expected, rtol=1e-12, atol=1e-14)
