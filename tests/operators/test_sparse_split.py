"""The split of sparse columns follows their fullness, and its cost is known before."""

import numpy as np
import pytest
import scipy.sparse

import mercer.operators.sparse._dense_columns as split_module
from mercer.operators import gram_bytes, gram_flops
from mercer.operators.sparse._dense_columns import (
    SparseSample,
    Split,
    is_worth_loading,
)
from mercer.sources import DenseSource, SparseSource


def counts(n=900, p=70):
    """Return counts with a few full columns and many thin ones."""
    rng = np.random.default_rng(0)
    rates = 3.0 / np.arange(1, p + 1) ** 1.2
    return scipy.sparse.csr_array(rng.poisson(rates, (n, p)).astype(float))


def sample(shares, square=1e9, whole=False):
    return SparseSample(np.asarray(shares), square, whole)


def test_full_columns_are_dense_and_thin_ones_are_not():
    shares = np.array([0.001] * 500 + [0.9] * 20 + [0.001] * 500)
    split = Split.of(sample(shares), 10_000)
    assert 16 <= split.heavy <= 40
    assert set(split.order[:20]) == set(range(500, 520))
    assert split.light == pytest.approx(shares[split.order[split.heavy :]].sum())
    assert Split.of(sample(np.full(200, 1.0)), 1000).heavy == 200
    assert Split.of(sample(np.full(2000, 1e-5)), 1000).heavy == 0


def test_a_sample_tells_the_shares():
    X = counts(n=20_000)
    found = SparseSample.of(X)
    exact = np.diff(X.tocsc().indptr) / X.shape[0]
    np.testing.assert_allclose(found.shares, exact, atol=0.05)
    squares = (X.toarray() ** 2).mean(axis=0)
    assert found.square == pytest.approx(squares.max(), rel=0.1)
    assert found.whole


def test_whole_numbers_of_few_digits_are_multiplied_in_float32():
    shares = np.full(100, 0.5)
    assert Split.of(sample(shares, 10.0, True), 9000).exact_rows == 4000
    assert Split.of(sample(shares, 4e3, True), 9000).exact_rows == 2097  # half of 2^24
    assert Split.of(sample(shares, 1e6, True), 9000).exact_rows == 0
    assert Split.of(sample(shares, 10.0, False), 9000).exact_rows == 0
    assert Split.of(sample(shares, 10.0, True), 9000, weighted=True).exact_rows == 0
    narrow = Split.of(sample(shares, 10.0, True), 9000).flops
    assert narrow < Split.of(sample(shares), 9000).flops


def test_blocks_are_shared_evenly():
    split = Split.of(sample(np.full(100, 1.0)), 100_001)
    for lanes in (1, 2, 3, 16):
        rows = split.block_rows(100_001, 10**7, lanes)
        assert rows <= 4000
        assert -(-100_001 // rows) % lanes == 0
    assert split.block_rows(3, 10, 4) == 1


def test_lanes_keep_their_own_sums_only_where_these_are_small():
    order = np.arange(20_000)
    assert Split(order, 400, 1e12).lanes(8) == 8
    assert Split(order, 2000, 1e12).lanes(8) == 1
    assert Split(order, 400, 1e6).lanes(8) == 1


def test_many_pairs_of_thin_columns_are_worth_a_compiled_loop(monkeypatch):
    monkeypatch.setattr(split_module, "can_compile", lambda: True)
    thin = sample(np.full(2000, 0.05))
    split = Split.of(thin, 100_000)
    assert split.compiled
    assert not Split.of(thin, 1000).compiled  # loading it would take longer
    assert not Split.of(sample(np.full(200, 1.0)), 100_000).compiled  # BLAS is quicker
    monkeypatch.setattr(split_module, "can_compile", lambda: False)
    plain = Split.of(thin, 100_000)
    assert not plain.compiled
    assert split.flops < plain.flops


def test_few_pairs_do_not_even_import_numba(monkeypatch):
    def ask():
        raise AssertionError

    monkeypatch.setattr(split_module, "can_compile", ask)
    assert not is_worth_loading(1e6, 10_000)
    assert not is_worth_loading(0, 0)
    with pytest.raises(AssertionError):
        is_worth_loading(1e7, 10_000)


def test_costs_are_known_before():
    assert gram_flops(DenseSource(np.ones((5, 3)))) is None
    for cell in (3.0, 1e300, np.inf, np.nan):  # any cell may be met
        X = counts()
        X.data[3] = cell
        assert gram_flops(SparseSource(X)) > 0
    assert gram_bytes(10**6, 500, 2) < gram_bytes(10**7, 500, 2)
    assert gram_bytes(10**7, 500, 2) < gram_bytes(10**7, 1000, 2)
