"""Packed factors of many matrices: against LAPACK, one matrix at a time."""

import numpy as np
import pytest

from mercer.operators.completion._small_systems import (
    factored,
    inverted,
    log_determinants,
    order_of,
    solved,
)


def packed(matrices):
    """Return matrices (r, k, k) packed by columns of their lower triangle."""
    one, other = np.triu_indices(matrices.shape[1])
    return matrices[:, other, one].T.copy()


@pytest.fixture(params=[1, 2, 5, 24, 25, 30])
def matrices(request):
    rng = np.random.default_rng(request.param)
    roots = rng.standard_normal((40, request.param, request.param))
    return roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(request.param)


def test_solves_every_matrix(matrices):
    k = matrices.shape[1]
    right = np.random.default_rng(0).standard_normal((k, 40))
    found = solved(factored(packed(matrices)), right)
    expected = np.linalg.solve(matrices, right.T[:, :, None])[:, :, 0].T
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_inverts_the_factors(matrices):
    found = inverted(factored(packed(matrices))).transpose(2, 0, 1)
    expected = np.linalg.inv(np.linalg.cholesky(matrices))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_determinants(matrices):
    found = log_determinants(factored(packed(matrices)))
    np.testing.assert_allclose(found, np.linalg.slogdet(matrices)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 100])
def test_order_from_the_number_of_entries(k):
    assert order_of(np.empty((k * (k + 1) // 2, 1))) == k
