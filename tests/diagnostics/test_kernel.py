"""Effective rank and alignment are what their definitions say."""

import numpy as np
import pytest
import scipy.sparse

from mercer.diagnostics import effective_rank, linear_alignment
from mercer.kernels import RBF, Linear, Polynomial


def test_effective_rank_counts_equal_directions():
    assert effective_rank(6.0, 12.0) == 3.0
    assert effective_rank(0.0, 0.0) == 0.0


def test_alignment_is_the_cosine_of_centred_matrices():
    X = np.random.default_rng(0).normal(size=(80, 3)) + 5
    h = np.eye(80) - 1 / 80
    k, linear = h @ RBF(2.0)(X) @ h, h @ X @ X.T @ h
    cosine = np.sum(k * linear) / np.linalg.norm(k) / np.linalg.norm(linear)
    assert linear_alignment(RBF(2.0), X) == pytest.approx(cosine, abs=1e-10)


def test_a_long_lengthscale_sees_what_pca_sees():
    X = np.random.default_rng(0).normal(size=(60, 4))
    assert linear_alignment(RBF(100.0), X) > 0.999
    assert linear_alignment(Linear(), X) == pytest.approx(1.0)
    assert linear_alignment(RBF(0.1), X) < 0.5


def test_sparse_rows_and_many_rows():
    X = scipy.sparse.random_array(
        (5000, 6), density=0.4, random_state=np.random.default_rng(0)
    ).tocsr()
    dense = linear_alignment(Polynomial(2, 1.0), X.toarray())
    assert linear_alignment(Polynomial(2, 1.0), X) == pytest.approx(dense, abs=1e-8)


def test_rows_that_do_not_vary_have_none():
    assert linear_alignment(RBF(1.0), np.ones((5, 2))) is None
    assert linear_alignment(RBF(1.0), np.ones((5, 2)), np.arange(1.0, 6.0)) is None


def test_a_kernel_that_does_not_tell_rows_apart_has_none():
    X = np.arange(10.0).reshape(5, 2)
    assert linear_alignment(RBF(1e200), X) is None
    assert linear_alignment(RBF(1e200), X, np.arange(1.0, 6.0)) is None


def test_weights_are_repeats():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 3)) + 5, rng.integers(1, 6, 60)
    again = linear_alignment(RBF(2.0), np.repeat(X, w, axis=0))
    assert linear_alignment(RBF(2.0), X, w) == pytest.approx(again, abs=1e-12)


def test_a_heavy_row_is_what_the_others_are_centred_at():
    """In the limit K is centred at that row, whatever the ratio of the weights."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    k, about = RBF(2.0)(X), X - X[7]
    k, linear = k - k[:, [7]] - k[[7]] + k[7, 7], about @ about.T
    cosine = np.sum(k * linear) / np.linalg.norm(k) / np.linalg.norm(linear)
    for heavy in (1e9, 1e14, 1e30):
        w = np.ones(60)
        w[7] = heavy
        assert linear_alignment(RBF(2.0), X, w) == pytest.approx(cosine, abs=1e-6)
