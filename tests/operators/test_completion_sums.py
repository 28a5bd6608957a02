"""CompletionSums: what a pass adds up, against plain loops."""

import numpy as np
import pytest
from tests.operators.test_completion import covariance, model, rows_with_gaps

from mercer.operators import CompletionSums


def expected_sums(completion, X, weights):
    """Return Σwŷ, Σwŷŷᵀ, the expected scatter and the log-likelihood, row by row."""
    C, p = covariance(completion), X.shape[1]
    first, second, spread, likelihood = np.zeros(p), np.zeros((p, p)), np.zeros((p, p)), 0.0
    for row, w in zip(completion.filled(X), weights, strict=True):
        first += w * (row - completion.mean)
        second += w * np.outer(row - completion.mean, row - completion.mean)
    for row, w in zip(X, weights, strict=True):
        o, u = ~np.isnan(row), np.isnan(row)
        part = np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, u)])
        spread[np.ix_(u, u)] += w * (C[np.ix_(u, u)] - C[np.ix_(u, o)] @ part)
        gap = (row - completion.mean)[o]
        size = gap @ np.linalg.solve(C[np.ix_(o, o)], gap)
        volume = np.linalg.slogdet(C[np.ix_(o, o)])[1]
        likelihood -= 0.5 * w * (o.sum() * np.log(2 * np.pi) + volume + size)
    return first, second, second + spread, likelihood


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("share", [0.02, 0.4])
def test_sums_of_completed_rows_and_the_expected_ones(weighted, share):
    completion, X = model(), rows_with_gaps(share=share)
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, len(X)).astype(float) if weighted else None
    counts = np.ones(len(X)) if w is None else w
    first, second, expected, likelihood = expected_sums(completion, X, counts)
    basis = rng.standard_normal((6, 4))
    plain = CompletionSums(completion).add(X, w)
    np.testing.assert_allclose(plain.first, first, rtol=0, atol=1e-10)
    np.testing.assert_allclose(plain.second, second, rtol=0, atol=1e-10)
    thin = CompletionSums(completion, basis).add(X, w)
    np.testing.assert_allclose(thin.second, second @ basis, rtol=0, atol=1e-10)
    np.testing.assert_allclose(thin.squares, np.diagonal(second), rtol=0, atol=1e-10)
    whole = CompletionSums(completion, expected=True).add(X, w)
    np.testing.assert_allclose(whole.second, expected, rtol=0, atol=1e-10)
    assert whole.likelihood == pytest.approx(likelihood, rel=1e-12)
    thin = CompletionSums(completion, basis, expected=True).add(X, w)
    np.testing.assert_allclose(thin.second, expected @ basis, rtol=0, atol=1e-10)
    np.testing.assert_allclose(thin.squares, np.diagonal(expected), rtol=0, atol=1e-10)
    assert whole.total == counts.sum()


@pytest.mark.parametrize("expected", [False, True], ids=["rows", "expected"])
def test_rows_of_weight_zero_add_nothing_however_large(expected):
    completion, X = model(), rows_with_gaps()
    basis, w = np.random.default_rng(0).standard_normal((6, 4)), np.ones(len(X))
    large, w[::3] = X.copy(), 0.0
    large[::3] = np.where(np.isnan(X[::3]), np.nan, 1.7e308)
    for q in (None, basis):
        bare = CompletionSums(completion, q, expected=expected).add(X[w > 0])
        found = CompletionSums(completion, q, expected=expected).add(large, w)
        np.testing.assert_allclose(found.first, bare.first, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.second, bare.second, rtol=1e-12, atol=1e-12)
        assert found.likelihood == pytest.approx(bare.likelihood, rel=1e-12)
        assert (found.rows, found.total) == (len(X), bare.total)
        none = CompletionSums(completion, q, expected=expected).add(large, 0 * w)
        assert not none.second.any()


def test_parts_merge_and_come_back_from_a_checkpoint():
    completion, X = model(), rows_with_gaps()
    whole = CompletionSums(completion).add(X)
    one, two = CompletionSums(completion).add(X[:20]), CompletionSums(completion).add(X[20:])
    merged = one.merge(two)
    np.testing.assert_allclose(merged.second, whole.second, rtol=0, atol=1e-12)
    assert merged.rows == 50
    again = CompletionSums(completion)
    assert again.restore(whole.keep())
    again.add(X[:5])  # what was kept must not change with it
    assert whole.rows == 50
    five = CompletionSums(completion).add(X[:5])
    np.testing.assert_allclose(again.first - whole.first, five.first, rtol=0, atol=1e-12)


def test_lanes_give_the_same_sums():
    completion, X = model(), np.tile(rows_with_gaps(), (4000, 1))
    few = CompletionSums(completion).add(rows_with_gaps())
    many = CompletionSums(completion).add(X)
    np.testing.assert_allclose(many.second, 4000 * few.second, rtol=1e-10)
