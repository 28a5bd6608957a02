import numpy as np
import pytest
from discriminant_data import classes

from mercer.estimators.groups._canonical_axes import Target, constant_within, whitened
from mercer.operators import GroupedRows
from mercer.sources import scan


def pooled(X, y, shares=(1, 1, 1)):
    w = sum(
        s * np.cov(X[y == g].T) * (np.sum(y == g) - 1)
        for g, s in zip(range(3), shares, strict=True)
    )
    return w / (len(y) - 3)


def white_of(X, y, path, target=None):
    rows = GroupedRows(scan(X), y, 3)
    moments = rows.moments(whole=path == "gram")
    return whitened(rows, moments, path, target, constant_within(rows, moments))


@pytest.mark.parametrize("path", ["gram", "svd"])
@pytest.mark.parametrize("shape", [(90, 5), (20, 18)], ids=str)
def test_the_covariance_becomes_the_identity(path, shape):
    X, y = classes(*shape, 3, 1)
    if path == "gram" and shape[1] > 17:
        return
    found, w = white_of(X, y, path), pooled(X, y)
    r = min(shape[1], shape[0] - 3)
    assert (found.rank, found.possible) == (r, r)
    np.testing.assert_allclose(found.basis.T @ w @ found.basis, np.eye(r), rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        found.image, w @ found.basis, rtol=0, atol=1e-8 * np.abs(w).max()
    )
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


@pytest.mark.parametrize("path", ["gram", "svd"])
@pytest.mark.parametrize("p", [4, 60])
def test_shrunk_covariances(path, p):
    X, y = classes(30, p, 3, 2)
    if path == "gram" and p > 30:
        return
    diagonal = np.linspace(0.5, 2, p)
    target = Target(np.full(3, 0.3), diagonal)
    found = white_of(X, y, path, target)
    w = pooled(X, y, (0.3, 0.3, 0.3)) + np.diag(diagonal)
    np.testing.assert_allclose(
        found.basis.T @ w @ found.basis, np.eye(found.rank), rtol=0, atol=1e-10
    )
    apart = np.stack([X[y == g].mean(axis=0) for g in range(3)]) - X.mean(axis=0)
    exact = apart @ np.linalg.solve(w, apart.T)
    np.testing.assert_allclose(
        (apart @ found.basis) @ (apart @ found.basis).T, exact, rtol=1e-8
    )
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


def test_classes_may_count_differently():
    X, y = classes(60, 3, 3, 4)
    shares = np.array([1.0, 0.0, 0.5])
    found = white_of(X, y, "svd", Target(shares, np.ones(3)))
    w = pooled(X, y, shares) + np.eye(3)
    np.testing.assert_allclose(found.basis.T @ w @ found.basis, np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


def test_the_error_bound_holds():
    """(1 - η)W ≤ exact W ≤ (1 + η)W, the exact one summed in extended precision."""
    X, y = classes(200, 4, 3, 5)
    X = X + np.array([1e7, 0, 0, 0])
    wide = X.astype(np.longdouble)
    w = np.zeros((4, 4), np.longdouble)
    for g in range(3):
        rows = wide[y == g] - wide[y == g][0]
        gone = rows - rows.mean(axis=0)
        w += gone.T @ gone
    w = (w / 197).astype(float)
    for path in ("gram", "svd"):
        found = white_of(X, y, path)
        off = np.abs(np.linalg.eigvalsh(found.basis.T @ w @ found.basis) - 1).max()
        assert off <= found.error + 1e-14
        assert found.error < 1e-10
