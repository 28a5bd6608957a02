"""The loops over rows with missing cells, run as they are written, against dense formulas."""

import numpy as np
import pytest

from mercer.operators.completion._compiled_expectation import complete_rows, look_at


def case(r, p=9, k=3, share=0.3, seed=0, *, alone=False):
    """Return rows with gaps and (mean, f, Wᵀ, sets, whole) with s² = 0.4."""
    rng = np.random.default_rng(seed)
    W, mean, factor = rng.standard_normal((p, k)), rng.standard_normal(p), rng.random(p) + 0.5
    X = rng.standard_normal((r, p)) + mean
    X[rng.random((r, p)) < share] = np.nan
    one, other = np.triu_indices(k)
    pairs = np.zeros((p, len(one) + 2))  # two columns more than are used
    pairs[:, : len(one)] = W[:, one] * W[:, other]
    whole = pairs.sum(axis=0)
    whole[: len(one)][one == other] += 0.4
    width = 1 if alone else 4
    sets = np.zeros((2**width * -(-p // width), pairs.shape[1]))
    for row, total in enumerate(sets):
        first, bits = row >> width, row % 2**width
        for c in range(width):
            if bits >> c & 1 and width * first + c < p:
                total += pairs[width * first + c]
    return X, (mean, factor, np.ascontiguousarray(W.T), sets, whole)


def completed(X, model, back=False):
    """Return what the loop writes."""
    out = np.full_like(X, 7.0)
    complete_rows(X, *model, back, out)
    return out


def expected(X, mean, factor, across):
    """Return y (r, p), a row at a time."""
    W = across.T
    Y = (X - mean) * factor
    for y in Y:
        o = ~np.isnan(y)
        inner = 0.4 * np.eye(W.shape[1]) + W[o].T @ W[o]
        y[~o] = (W @ np.linalg.solve(inner, W[o].T @ y[o]))[~o]
    return Y


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.95, 1.0])
@pytest.mark.parametrize(("r", "k"), [(1, 3), (31, 1), (32, 2), (33, 4), (70, 5), (9, 8)])
@pytest.mark.parametrize("p", [9, 12])
def test_rows_are_what_is_expected_of_them(r, k, p, share, alone):
    X, model = case(r, p, k, share=share, alone=alone)
    Y = expected(X, *model[:3])
    np.testing.assert_allclose(completed(X, model), Y, rtol=0, atol=1e-12)
    out = completed(X, model, back=True)
    np.testing.assert_allclose(out, model[0] + Y / model[1], rtol=0, atol=1e-12)
    seen = ~np.isnan(X)
    assert out[seen].tobytes() == X[seen].tobytes()
    assert complete_rows(X, *model, True, out) == 0  # none is infinite


def test_an_infinite_cell_does_not_reach_other_rows():
    X, model = case(5)
    X[2, 0], X[2, 1] = np.inf, np.nan
    clean = np.delete(X, 2, axis=0)
    out = np.empty_like(X)
    with np.errstate(invalid="ignore"):
        assert complete_rows(X, *model, True, out) == 1
    assert out[2, 0] == np.inf
    assert out[2, 1] == model[0][1]  # nothing is known of it: the mean
    Y = expected(clean, *model[:3])
    np.testing.assert_allclose(
        np.delete(out, 2, axis=0), model[0] + Y / model[1], rtol=0, atol=1e-12
    )


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
