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
