"""Completion: conditional means and covariances against dense Gaussian formulas."""

import numpy as np
import pytest
import scipy.sparse

from mercer.operators import (
    Centring,
    CompletedBlocks,
    Completion,
    CompletionSums,
    drawn,
    empty_rows,
    projected,
)
from mercer.sources import ArrayBlocks, in_memory


def model(p=6, k=2, *, noise=0.3, exponent=0, factor=None, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0]
    values = noise + np.arange(k, 0, -1.0)
    origin = np.ldexp(np.full(p, 2.0), exponent)
    return Completion(Centring(origin, np.zeros(p), exponent, factor), axes, values, noise)


def covariance(completion):
    """Return C of the rows as they are given."""
    C = completion.loadings @ completion.loadings.T
    C = C + completion.noise * np.eye(len(C))
    f = 1.0 if completion.centring.factor is None else completion.centring.factor
    return C / np.outer(f, f) * 4.0**completion.centring.exponent


def conditional(completion, row):
    """Return mean and covariance of the missing cells from the dense covariance matrix."""
    C, u, o = covariance(completion), np.isnan(row), ~np.isnan(row)
    gain = C[np.ix_(u, o)] @ np.linalg.inv(C[np.ix_(o, o)])
    mean = completion.mean[u] + gain @ (row - completion.mean)[o]
    return mean, C[np.ix_(u, u)] - gain @ C[np.ix_(o, u)]


def rows_with_gaps(n=50, p=6, share=0.4, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2
    X[rng.random((n, p)) < share] = np.nan
    X[7], X[8] = np.nan, 1.5  # nothing observed, and nothing missing
    return X


@pytest.mark.parametrize("factor", [None, np.array([1.0, 2, 0.5, 1, 3, 1])], ids=["1", "f"])
@pytest.mark.parametrize("share", [0.02, 0.4, 0.9])
def test_fills_the_conditional_mean(factor, share):
    completion, X = model(factor=factor), rows_with_gaps(share=share)
    check_filled(completion, X)
    whole = np.ones((3, 6))
    assert completion.filled(whole) is whole


@pytest.mark.parametrize("k", [1, 5, 24, 25, 30])
def test_fills_with_any_number_of_axes(k):
    check_filled(model(p=40, k=k), rows_with_gaps(p=40))


def check_filled(completion, X):
    X.flags.writeable = False
    found = completion.filled(X)
    for row, full in zip(X, found, strict=True):
        mean = conditional(completion, row)[0]
        np.testing.assert_allclose(full[np.isnan(row)], mean, rtol=0, atol=1e-12)
    assert np.array_equal(found[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_array_equal(found[7], completion.mean)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("whole", [False, True])
def test_an_infinite_cell_is_told(form, whole):
    X = np.ones((60, 6)) if whole else rows_with_gaps(60)
    told = []
    model().filled(form(X), lambda: told.append(True))
    assert not told
    X[33, 2] = -np.inf
    model().filled(form(X), lambda: told.append(True))
    assert told == [True]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_type_and_bits(dtype):
    X = rows_with_gaps().astype(dtype)
    found = model().filled(X)
    assert found.dtype == dtype
    seen = ~np.isnan(X)
    assert found[seen].tobytes() == X[seen].tobytes()
    np.testing.assert_allclose(found, model().filled(X.astype(float)), rtol=1e-6)


def test_columns_in_the_other_order_and_many_tiles():
    X = np.asfortranarray(np.tile(rows_with_gaps(), (4000, 1)))
    found = model().filled(X)
    np.testing.assert_allclose(found, np.tile(model().filled(rows_with_gaps()), (4000, 1)))
    few, many = (CompletionSums(model()).add(Y) for Y in (rows_with_gaps(), X))
    np.testing.assert_allclose(many.second, 4000 * few.second, rtol=1e-10)


def test_sparse_rows_are_filled_where_stored_cells_are_missing():
    X = rows_with_gaps()
    X[np.abs(X - 2) < 0.3] = 0.0  # zeros are values
    sparse = scipy.sparse.csr_array(X)
    found = model().filled(sparse)
    assert scipy.sparse.issparse(found)
    assert found.nnz == sparse.nnz
    np.testing.assert_allclose(found.toarray(), model().filled(X), rtol=0, atol=1e-12)
    assert np.isnan(sparse.data).any()  # the one that was given is as it was


def test_coordinates_and_their_covariance():
    completion, X = model(), rows_with_gaps()
    W, C = completion.loadings, covariance(completion)
    spread = np.sqrt(completion.values - completion.noise)
    scores, posterior = completion.scores(X), completion.posterior(X)
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        part = np.linalg.solve(C[np.ix_(o, o)], W[o])
        np.testing.assert_allclose(
            scores[i], spread * (part.T @ (row - completion.mean)[o]), rtol=0, atol=1e-12
        )
        inner = np.eye(2) - W[o].T @ part
        np.testing.assert_allclose(
            posterior[i], spread[:, None] * inner * spread, rtol=0, atol=1e-12
        )


def test_no_axes_means_column_means():
    p = 4
    plain = Completion(
        Centring(np.arange(4.0), np.zeros(p)), np.zeros((p, 0)), np.zeros(0), 1.0
    )
    X = np.array([[np.nan, 5, np.nan, 5], [1, 2, 3, 4]])
    np.testing.assert_array_equal(plain.filled(X), [[0, 5, 2, 5], [1, 2, 3, 4]])
    assert plain.scores(X).shape == (2, 0)
    assert plain.posterior(X).shape == (2, 0, 0)


def test_no_noise_and_fewer_cells_than_axes():
    completion = model(k=3, noise=0.0)
    X = np.full((2, 6), np.nan)
    X[0, 1], X[1, :5] = 3.0, 1.0
    found = completion.filled(X)
    assert np.isfinite(found).all()
    assert found[0, 1] == 3.0


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_rows_with_nothing(form):
    X = rows_with_gaps()
    X[20] = 0.0
    X[21, :3], X[21, 3:] = np.nan, 0.0
    expected = np.flatnonzero(np.isnan(X).all(axis=1))
    np.testing.assert_array_equal(empty_rows(form(X)), expected)


# CompletionSums: what a pass adds up, against plain loops.
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


# CompletedBlocks: a source of completed rows, block by block.
@pytest.mark.parametrize("length", [1, 7, 50])
def test_hands_out_completed_rows(length):
    X = rows_with_gaps()
    source = CompletedBlocks(ArrayBlocks(in_memory(X), list("abcdef")), model(), watch=True)
    found = np.concatenate(list(source.blocks(length)))
    np.testing.assert_allclose(found, model().filled(X), rtol=0, atol=1e-13)
    assert source.empty == [7]
    assert source.first_bad_cell() is None
    assert source.place(3, 1) == "row 3, column 1 ('b')"
    later = np.concatenate(list(source.blocks(length, 5)))
    np.testing.assert_allclose(later, found[5:], rtol=0, atol=1e-13)
    assert source.fingerprint() == ArrayBlocks(in_memory(X)).fingerprint()
    assert source.nbytes == ArrayBlocks(in_memory(X)).nbytes


MODELS = {
    "plain": {},
    "unit": {"exponent": 40},
    "scaled": {"factor": np.array([0.5, 2.0, 1.0, 3.0, 0.1, 1.0])},
    "means": {"k": 0},
}
GAPS = [[0], [1, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("gaps", GAPS, ids=len)
def test_draws_have_the_conditional_mean_and_covariance(kind, gaps):
    completion = model(**MODELS[kind])
    unit = 2.0**completion.centring.exponent
    row = completion.mean + unit * np.linspace(-1, 1, 6)
    row[gaps] = np.nan
    mean, covariance = conditional(completion, row)
    rows = np.tile(row, (40_000, 1))
    found = drawn(completion, rows, np.random.default_rng(1))
    seen = ~np.isnan(row)
    np.testing.assert_array_equal(found[:, seen], rows[:, seen])
    cells = found[:, gaps]
    spread = np.sqrt(np.diagonal(covariance))
    error = (cells.mean(axis=0) - mean) / spread
    assert np.max(np.abs(error)) < 4 / np.sqrt(40_000)
    shown = np.cov(cells.T).reshape(len(gaps), len(gaps)) / np.outer(spread, spread)
    # Standard error of a covariance of 40,000 draws: at most √2/200.
    assert np.max(np.abs(shown - covariance / np.outer(spread, spread))) < 0.03


@pytest.mark.parametrize("kind", MODELS)
def test_variances_are_those_of_the_dense_covariance(kind):
    completion = model(**MODELS[kind])
    unit = 2.0**completion.centring.exponent
    rng = np.random.default_rng(2)
    axes = rng.standard_normal((6, 3))
    rows = completion.mean + unit * rng.standard_normal((50, 6))
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    rows[1] = completion.mean
    scores, variances = projected(completion, rows, axes)
    f = np.ones(6) if completion.centring.factor is None else completion.centring.factor
    for row, score, variance in zip(rows, scores, variances, strict=True):
        m = np.isnan(row)
        full, expected = row.copy(), np.zeros(3)
        if m.any():
            full[m], covariance = conditional(completion, row)
            a = (axes * f[:, None] / unit)[m]
            expected = np.einsum("jq,jl,lq->q", a, covariance, a)
        np.testing.assert_allclose(variance, expected, rtol=1e-9)
        analysed = (full - completion.mean) / unit * f
        np.testing.assert_allclose(score, analysed @ axes, rtol=1e-8, atol=1e-10)
    assert not variances[1].any()


def test_draws_keep_the_type_and_the_pattern():
    completion = model()
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((30, 6)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    before = rows.copy()
    found = drawn(completion, rows, np.random.default_rng(4))
    np.testing.assert_array_equal(rows, before)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    thin = np.where(rng.random(rows.shape) < 0.5, 0, rows)
    sparse = scipy.sparse.csr_matrix(thin)
    dense = drawn(completion, thin, np.random.default_rng(5))
    same = drawn(completion, sparse, np.random.default_rng(5))
    np.testing.assert_array_equal(same.toarray(), dense)
    assert np.isnan(sparse.data).any()
    whole = np.arange(12).reshape(2, 6)
    assert drawn(completion, whole, rng) is whole
