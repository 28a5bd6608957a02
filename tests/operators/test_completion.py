"""Completion: conditional means and covariances against dense Gaussian formulas."""

import numpy as np
import pytest
import scipy.sparse

from mercer.operators import Centring, Completion
from mercer.operators.completion._completion_model import empty_rows, tiles_of


def model(p=6, k=2, factor=None, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0]
    values = noise + np.arange(k, 0, -1.0)
    return Completion(Centring(np.full(p, 2.0), np.zeros(p), 0, factor), axes, values, noise)


def covariance(completion):
    C = completion.loadings @ completion.loadings.T
    return C + completion.noise * np.eye(len(C))


def conditional(completion, row):
    """Return the row with its missing cells at their conditional mean."""
    factor = completion.centring.factor
    factor = np.ones_like(row) if factor is None else factor
    C, y = covariance(completion), (row - completion.mean) * factor
    o, u = ~np.isnan(row), np.isnan(row)
    out = row.copy()
    if u.any():
        found = C[np.ix_(u, o)] @ np.linalg.solve(C[np.ix_(o, o)], y[o])
        out[u] = completion.mean[u] + found / factor[u]
    return out


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
    expected = np.array([conditional(completion, row) for row in X])
    found = completion.filled(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(found[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_array_equal(found[7], completion.mean)


def test_the_rows_given_are_never_written():
    X = rows_with_gaps()
    X.flags.writeable = False
    assert np.isnan(X).any()
    model().filled(X)
    whole = np.ones((3, 6))
    assert model().filled(whole) is whole


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
    X = np.asfortranarray(np.tile(rows_with_gaps(), (400, 1)))
    assert len(tiles_of(X)) > 1
    found = model().filled(X)
    np.testing.assert_allclose(found, np.tile(model().filled(rows_with_gaps()), (400, 1)))


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
