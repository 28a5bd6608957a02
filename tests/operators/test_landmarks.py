import pickle

import numpy as np
import pytest
import scipy.sparse

from mercer.kernels import RBF, Laplacian, Linear, NegativeDistance, Polynomial
from mercer.operators import Landmarks

KERNELS = [RBF(1.5), Laplacian(2.0), Polynomial(2, gamma=0.5, coef0=1.0), NegativeDistance()]


def table(n=60, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def plain(kernel, X, origin):
    """Return the kernel matrix in float64, from the origin where there is one."""
    X = np.asarray(X, np.float64)
    K = kernel.block(X)
    if origin is not None:
        to = kernel.block(X, np.asarray(origin, np.float64))
        K = K - to - to.T + kernel.block(np.asarray(origin, np.float64))
    return K


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("form", ["plain", "far", "float32", "sparse", "small", "large"])
def test_features_are_the_projection_on_the_span(kernel, form):
    """FFᵀ = K_XS K_SS⁻ K_SX, and r is the diagonal of what is left."""
    X = table()
    if form == "far":
        if isinstance(kernel, Polynomial):
            pytest.skip("a polynomial is not a function of differences")
        X += 1e6
    if form in ("small", "large") and not isinstance(kernel, NegativeDistance):
        X *= 1e-8 if form == "small" else 1e8
        kernel = kernel.with_params(
            **(
                {"gamma": 0.5 / X.std() ** 2}
                if isinstance(kernel, Polynomial)
                else {"lengthscale": 2 * X.std()}
            )
        )
    if form == "float32":
        X = X.astype(np.float32)
    rows = scipy.sparse.csr_array(X) if form == "sparse" else X
    if form == "sparse" and not kernel.takes_sparse:
        pytest.skip("needs all zeros")
    marks = Landmarks.of(kernel, rows[:25])
    f, r = marks.features(rows)
    assert f.dtype == r.dtype == np.float64
    K = plain(kernel, X, None if marks.origin is None else dense(marks.origin))
    S = K[:25]
    exact = S.T @ np.linalg.pinv(K[:25, :25], rcond=1e-11, hermitian=True) @ S
    size = np.abs(K).max()
    np.testing.assert_allclose(f @ f.T, exact, rtol=0, atol=3e-8 * size)
    np.testing.assert_allclose(r, np.maximum(np.diag(K - exact), 0), rtol=0, atol=3e-8 * size)
    assert np.all(r >= 0)


def dense(rows):
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_triangle_is_that_of_the_landmarks_in_their_order(kernel):
    marks = Landmarks.of(kernel, table(20))
    L = marks.triangle
    np.testing.assert_array_equal(L, np.tril(L))
    K = plain(kernel, marks.rows, marks.origin)
    np.testing.assert_allclose(L @ L.T, K, rtol=0, atol=1e-12 * np.abs(K).max())
    f, r = marks.features(marks.rows)
    np.testing.assert_allclose(f, L, rtol=0, atol=1e-9 * np.abs(L).max())
    np.testing.assert_allclose(r, 0, rtol=0, atol=1e-11 * np.abs(K).max())


def test_dependent_rows_are_dropped():
    X = table(6)
    assert Landmarks.of(RBF(1.0), np.repeat(X, 3, axis=0)).m == 6
    assert Landmarks.of(Linear(), X).m == 3
    assert Landmarks.of(Linear(), np.array([[1.0, 1e4], [1.0, -1e4], [1e-9, 0.0]])).m == 2
    assert Landmarks.of(NegativeDistance(), np.repeat(X, 2, axis=0)).m == 5  # o is one of them
    for kernel, left in ((Linear(), [25.0, 0]), (NegativeDistance(), [10.0, 0])):
        marks = Landmarks.of(kernel, np.zeros((3, 2)))  # which carry nothing
        assert marks.m == 0
        f, r = marks.features(np.array([[3.0, 4.0], [0.0, 0.0]]))
        assert f.shape == (2, 0)
        np.testing.assert_allclose(r, left)


def test_a_subset_is_the_first_pivots():
    X = table()
    marks = Landmarks.of(RBF(1.0), X[:20])
    few = marks.subset(7)
    f, r = marks.features(X)
    g, s = few.features(X)
    np.testing.assert_allclose(g, f[:, :7], rtol=0, atol=1e-12)
    assert few.m == 7
    assert np.all(s >= r - 1e-14)


def test_float32_is_asked_for_and_near_float64():
    X = table(9000).astype(np.float32)
    marks = Landmarks.of(RBF(2.0), X[:30])
    whole, seen = marks.features(X, np.float32), np.zeros(len(X), int)
    for part, g, s in marks.blocks(X, np.float32):
        np.testing.assert_array_equal(g, whole[0][part])
        np.testing.assert_array_equal(s, whole[1][part])
        seen[part] += 1
    assert np.all(seen == 1)
    X = X[:500]
    f, _r = marks.features(X)
    g, s = marks.features(X, np.float32)
    assert g.dtype == np.float32
    assert s.dtype == np.float64
    assert marks.subset(10).steady
    np.testing.assert_allclose(f @ f.T, g.astype(float) @ g.T.astype(float), rtol=0, atol=2e-3)
    wide, _ = marks.features(X.astype(np.float64), np.float32)  # tiles stay float64
    np.testing.assert_array_equal(wide, f.astype(np.float32))


def test_sameness_and_pickles():
    X = table()
    marks, other = Landmarks.of(RBF(1.0), X[:10]), Landmarks.of(RBF(1.0), X[:11])
    marks.features(X)
    again = pickle.loads(pickle.dumps(marks))
    assert marks.same(again)
    assert not marks.same(other)
    assert not marks.same(Landmarks.of(RBF(2.0), X[:10]))
    kept, before = X.copy(), marks.features(X)[0]
    X[:10] = 7.0  # the landmarks are a copy
    np.testing.assert_array_equal(again.features(kept)[0], marks.features(kept)[0])
    np.testing.assert_array_equal(marks.features(kept)[0], before)
    sparse = Landmarks.of(NegativeDistance(), scipy.sparse.csr_array(X[:10]))
    assert sparse.same(pickle.loads(pickle.dumps(sparse)))
    assert not sparse.same(marks)
