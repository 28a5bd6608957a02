"""Compiled sums over stored cells equal the dense ones, whatever the lanes."""

import numpy as np
import pytest
import scipy.sparse

import mercer.operators.sparse._sparse_gram as compiled_gram_module
from mercer.arrays import Lanes
from mercer.operators.sparse._csr_blocks import sparse_tiles
from mercer.operators.sparse._sparse_gram import compiled_gram, compiled_sums

pytest.importorskip("numba")


def counts(dtype=np.float64, index=np.int32, n=700, p=90):
    """Return counts with some full columns and many thin ones, one of them empty."""
    rng = np.random.default_rng(0)
    table = rng.poisson(2.0 / np.arange(1, p + 1) ** 0.8, (n, p))
    table[:, -1] = 0
    table[5] = 0
    csr = scipy.sparse.csr_array(table.astype(dtype))
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    return csr


def small_pieces(monkeypatch, threads):
    monkeypatch.setattr(compiled_gram_module, "thread_count", lambda: threads)
    monkeypatch.setattr(compiled_gram_module, "_COMPILED_STRIP_BYTES", 1.0)
    monkeypatch.setattr(compiled_gram_module, "_NARROWEST", 7)
    monkeypatch.setattr(compiled_gram_module, "_CHUNK", 900)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_dense_product(monkeypatch, dtype, index, weighted):
    X = counts(dtype, index)
    X.data += dtype(1 / 3) if dtype in (np.float32, np.float64) else dtype(0)
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    root = np.random.default_rng(1).random(X.shape[0]) if weighted else None
    dense = X.toarray().astype(np.float64) * (1.0 if root is None else root[:, None])
    found = []
    for threads in (1, 2, 5):  # on which no bit depends
        small_pieces(monkeypatch, threads)
        found.append(compiled_gram(X, root))
        np.testing.assert_array_equal(found[0], found[-1])
    gram = found[0]
    np.testing.assert_allclose(gram, dense.T @ dense, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(gram, gram.T)
    for array, kept in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, 1), (4, 6)])
def test_next_to_nothing(shape):
    X = scipy.sparse.csr_array(np.ones(shape))
    np.testing.assert_array_equal(compiled_gram(X, None), np.full((shape[1],) * 2, shape[0]))
    empty = scipy.sparse.csr_array(shape)
    assert not compiled_gram(empty, None).any()


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_columns(lanes, weighted):
    X = counts(n=5000)
    weights = np.random.default_rng(1).random(X.shape[0]) if weighted else None
    w = np.ones(X.shape[0]) if weights is None else weights
    dense = X.toarray()
    found = compiled_sums(X, weights, sparse_tiles(X), Lanes(lanes))
    expected = [w @ (dense != 0), w @ dense, w @ dense**2]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_no_number_stays_where_it_was():
    X = counts()
    X.data[10] = np.nan
    row = int(np.searchsorted(X.indptr, 10, side="right")) - 1
    bad = X.toarray()[row] != 0
    gram = compiled_gram(X, None)
    assert not np.isnan(gram[~bad][:, ~bad]).any()
    assert np.isnan(np.diagonal(gram)[X.indices[10]])
