"""The Gram matrix of sparse columns is XᵀWX, whatever is multiplied as dense."""

import numpy as np
import pytest
import scipy.sparse

import mercer.operators._sparse_gram as sparse_gram_module
from mercer.operators._sparse_gram import (
    Split,
    column_shares,
    gram_bytes,
    gram_flops,
    sparse_gram,
)
from mercer.sources import DenseSource, SparseSource


def counts(n=900, p=70, seed=0, dtype=np.float64):
    """Return counts with a few full columns and many thin ones, one of them empty."""
    rng = np.random.default_rng(seed)
    rates = 3.0 / np.arange(1, p + 1) ** 1.2
    table = rng.poisson(rates, (n, p)).astype(dtype)
    table[:, -1] = 0
    return scipy.sparse.csr_array(table)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_equals_the_dense_product(monkeypatch, dtype, weighted, share):
    X = counts(dtype=dtype)
    p = X.shape[1]
    order = np.random.default_rng(1).permutation(p)
    split = Split(order, int(share * p), 1e9)
    monkeypatch.setattr(Split, "of", lambda *_: split)
    monkeypatch.setattr(sparse_gram_module, "_HELD", 300)  # many small products of pairs
    root = np.random.default_rng(2).random(X.shape[0]) if weighted else None
    dense = X.toarray().astype(np.float64) * (1.0 if root is None else root[:, None])
    gram, tiles = sparse_gram(X, root)
    np.testing.assert_allclose(gram, dense.T @ dense, rtol=1e-13, atol=1e-13)
    assert tiles.n == X.shape[0]


def test_the_data_is_not_touched():
    X = counts()
    before = X.copy()
    sparse_gram(X, np.full(X.shape[0], 2.0))
    assert (before != X).nnz == 0
    assert X.has_sorted_indices


def test_full_columns_are_dense_and_thin_ones_are_not():
    shares = np.array([0.001] * 500 + [0.9] * 20 + [0.001] * 500)
    split = Split.of(shares, 10_000)
    assert 16 <= split.heavy <= 40
    assert set(split.order[:20]) == set(range(500, 520))
    assert Split.of(np.full(200, 1.0), 1000).heavy == 200
    assert Split.of(np.full(2000, 1e-5), 1000).heavy == 0


def test_the_split_is_the_cheapest():
    shares = column_shares(counts())
    best = Split.of(shares, 900)
    assert best.flops <= 900 * (70**2 + 2 * 70)  # all of them dense


def test_a_sample_tells_the_shares():
    X = counts(n=20_000)
    exact = np.diff(X.tocsc().indptr) / X.shape[0]
    np.testing.assert_allclose(column_shares(X), exact, atol=0.05)


def test_costs_are_known_before():
    assert gram_flops(DenseSource(np.ones((5, 3)))) is None
    assert gram_flops(SparseSource(counts())) > 0
    assert gram_bytes(10**6, 500, 2) < gram_bytes(10**7, 500, 2)
