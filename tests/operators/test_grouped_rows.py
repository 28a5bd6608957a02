import numpy as np
import pytest
import scipy.sparse

from mercer.operators import GroupedRows
from mercer.sources import scan


def exact(X, codes, weights):
    """Scatter within groups and group means, in extended precision."""
    X, w = X.astype(np.longdouble), weights.astype(np.longdouble)
    scatter, means = np.zeros((X.shape[1],) * 2, np.longdouble), []
    for g in range(codes.max() + 1):
        at = codes == g
        shift = X[at] - X[at][0]
        mean = (w[at] @ shift) / w[at].sum()
        gone = shift - mean
        scatter += (w[at, None] * gone).T @ gone
        means.append(X[at][0] + mean)
    return scatter.astype(float), np.array(means)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("apart", [1.0, 1e6])
def test_sums_of_groups_far_from_each_other(weighted, dtype, apart):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 5000)
    X = (rng.normal(size=(5000, 4)) + apart * np.array([[0], [1], [40]])[codes]).astype(dtype)
    weights = rng.integers(0, 3, 5000).astype(float) if weighted else np.ones(5000)
    rows = GroupedRows(scan(X), codes, 3, weights if weighted else None)
    found = rows.moments()
    scatter, means = exact(X, codes, weights)
    size = np.sqrt(np.outer(np.diagonal(scatter), np.diagonal(scatter)))
    assert np.abs(found.scatter - scatter).max() < 1e-12 * size.max()
    assert np.all(np.abs(found.scatter - scatter) <= found.rounding * size.max() * 2)
    here = np.asarray(rows.origin, float) + found.means
    reach = np.ptp(means.astype(float), axis=0).max()
    np.testing.assert_allclose(here, means.astype(float), rtol=0, atol=1e-14 * (reach + 1))
    placed = rows.placed(found.offsets)
    np.testing.assert_allclose(placed, means.astype(float), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(rows.moments(whole=False).scatter, np.diagonal(scatter))
    r = rows.triangle(found.offsets, np.ones(4))
    np.testing.assert_allclose(r.T @ r, scatter, rtol=0, atol=1e-10 * size.max())
    whole = np.empty((5000, 4))
    rows.write(whole, found.offsets, np.full(4, 2.0))
    np.testing.assert_allclose(whole.T @ whole, 4 * scatter, rtol=0, atol=1e-10 * size.max())


def test_shares_and_members():
    rng = np.random.default_rng(1)
    codes = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 5 * codes[:, None]
    shares = np.array([0.25, 0.0])
    rows = GroupedRows(scan(X), codes, 2)
    found = rows.moments(shares=shares)
    one = X[codes == 0] - X[codes == 0].mean(axis=0)
    np.testing.assert_allclose(found.scatter, 0.25 * one.T @ one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.moments().means, found.means)
    members = rows.members(np.flatnonzero(codes == 1), 1) - found.offsets[1]
    np.testing.assert_allclose(
        members, X[codes == 1] - X[codes == 1].mean(axis=0), rtol=0, atol=1e-14
    )
    r = rows.triangle(found.offsets, np.ones(3), shares)
    np.testing.assert_allclose(r.T @ r, found.scatter, rtol=0, atol=1e-12)


def test_sparse_rows_give_the_same_sums():
    rng = np.random.default_rng(2)
    X = scipy.sparse.random_array((60, 8), density=0.3, format="csr", random_state=rng)
    codes = np.arange(60) % 3
    sparse = GroupedRows(scan(X), codes, 3)
    dense = GroupedRows(scan(X.toarray()), codes, 3)
    np.testing.assert_allclose(
        sparse.moments().scatter, dense.moments().scatter, rtol=0, atol=1e-12
    )
    numbers = np.flatnonzero(codes == 2)
    here = np.asarray(sparse.origin) + sparse.members(numbers, 2)
    np.testing.assert_allclose(here, X.toarray()[numbers], rtol=0, atol=1e-15)


def test_a_column_constant_in_each_group_is_exactly_that():
    codes = np.arange(1000) % 2
    X = np.c_[np.where(codes, 0.1, 1e9 / 3), np.arange(1000.0)]
    found = GroupedRows(scan(X), codes, 2).moments()
    assert found.raw[0] == 0
    assert found.scatter[0, 0] == 0
