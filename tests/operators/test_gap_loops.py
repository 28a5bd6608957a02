"""The loops over rows with missing cells, run as they are written, against dense formulas."""

import numpy as np
import pytest

from mercer.operators import _gap_loops
from mercer.operators._gap_loops import complete_rows, look_at


def case(r, p=9, k=3, share=0.3, seed=0):
    """Return rows with gaps and (mean, f, W, pairs, whole) with s² = 0.4."""
    rng = np.random.default_rng(seed)
    W, mean, factor = rng.standard_normal((p, k)), rng.standard_normal(p), rng.random(p) + 0.5
    X = rng.standard_normal((r, p)) + mean
    X[rng.random((r, p)) < share] = np.nan
    one, other = np.triu_indices(k)
    pairs = np.zeros((p + 1, len(one) + 2))  # two columns more than are used
    pairs[:p, : len(one)] = W[:, one] * W[:, other]
    whole = pairs.sum(axis=0)
    whole[: len(one)][one == other] += 0.4
    return X, (mean, factor, W, pairs, whole)


def expected(X, mean, factor, W):
    """Return y (r, p), a row at a time."""
    Y = (X - mean) * factor
    for y in Y:
        o = ~np.isnan(y)
        inner = 0.4 * np.eye(W.shape[1]) + W[o].T @ W[o]
        y[~o] = (W @ np.linalg.solve(inner, W[o].T @ y[o]))[~o]
    return Y


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95, 1.0])
@pytest.mark.parametrize("r", [1, 31, 32, 33, 70])
def test_rows_are_what_is_expected_of_them(r, share):
    X, model = case(r, share=share)
    Y = expected(X, *model[:3])
    out = np.full_like(X, 7.0)
    complete_rows(X, *model, False, out)
    np.testing.assert_allclose(out, Y, atol=1e-12)
    complete_rows(X, *model, True, out)
    np.testing.assert_allclose(out, model[0] + Y / model[1], atol=1e-12)
    seen = ~np.isnan(X)
    assert out[seen].tobytes() == X[seen].tobytes()


@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_any_number_of_axes(k):
    X, model = case(40, p=12, k=k)
    out = np.empty_like(X)
    complete_rows(X, *model, False, out)
    np.testing.assert_allclose(out, expected(X, *model[:3]), atol=1e-12)


def test_an_infinite_cell_does_not_reach_other_rows():
    X, model = case(5)
    X[2, 0], X[2, 1] = np.inf, np.nan
    clean = np.delete(X, 2, axis=0)
    out = np.empty_like(X)
    with np.errstate(invalid="ignore"):
        complete_rows(X, *model, True, out)
    assert out[2, 0] == np.inf
    assert out[2, 1] == model[0][1]  # nothing is known of it: the mean
    Y = expected(clean, *model[:3])
    np.testing.assert_allclose(np.delete(out, 2, axis=0), model[0] + Y / model[1], atol=1e-12)


def test_a_look_counts_and_ranges():
    X, _ = case(50, share=0.4)
    X[3], X[:, 4] = np.nan, np.nan
    counts, empty = np.ones(9, np.int64), np.zeros(50, np.int64)
    low, high = np.full(9, np.inf), np.full(9, -np.inf)
    found = look_at(X, counts, low, high, empty)
    np.testing.assert_array_equal(counts, 1 + np.isnan(X).sum(axis=0))
    np.testing.assert_array_equal(empty[:found], np.flatnonzero(np.isnan(X).all(axis=1)))
    rest = np.delete(np.arange(9), 4)
    np.testing.assert_array_equal(low[rest], np.nanmin(X[:, rest], axis=0))
    np.testing.assert_array_equal(high[rest], np.nanmax(X[:, rest], axis=0))
    assert (low[4], high[4]) == (np.inf, -np.inf)


def test_groups_of_any_length(monkeypatch):
    X, model = case(37)
    whole, parts = np.empty_like(X), np.empty_like(X)
    complete_rows(X, *model, False, whole)
    monkeypatch.setattr(_gap_loops, "_GROUP", 5)
    complete_rows(X, *model, False, parts)
    np.testing.assert_array_equal(parts, whole)
