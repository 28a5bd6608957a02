import numpy as np
import pytest

from mercer.arrays import prepare
from mercer.kernels import RBF, Laplacian, Linear
from mercer.operators import given_kernel_matrix, kernel_matrix
from mercer.testing import check_operator

SIZES = [2, 3, 511, 512, 513, 1100]


def rows(n, dtype=np.float64):
    return np.random.default_rng(n).standard_normal((n, 4)).astype(dtype)


def made(kernel, X, weights=None, dtype=np.float64):
    program = kernel.program()
    return kernel_matrix(program, prepare(program, X), weights, dtype)


def plain(kernel, X, weights=None):
    """Return D^½(I - 1πᵀ)K(I - π1ᵀ)D^½ by plain algebra."""
    K = kernel.block(np.asarray(X, np.float64))
    w = np.ones(len(K)) if weights is None else weights
    out = np.eye(len(K)) - np.outer(np.ones(len(K)), w / w.sum())
    return np.sqrt(w)[:, None] * (out @ K @ out.T) * np.sqrt(w)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_centred_matrix(n, weighted):
    X, w = rows(n), np.random.default_rng(1).uniform(0.2, 3, n) if weighted else None
    op, A = made(RBF(1.5), X, w), plain(RBF(1.5), X, w)
    v = np.random.default_rng(2).standard_normal((n, 3))
    np.testing.assert_allclose(op.matmat(v), A @ v, rtol=0, atol=1e-11 * np.abs(A).sum())
    np.testing.assert_allclose(op.rmatmat(v), A @ v, rtol=0, atol=1e-11 * np.abs(A).sum())
    assert op.trace == pytest.approx(np.trace(A), rel=1e-9)
    exact = np.linalg.norm(A)
    assert exact <= op.frobenius * (1 + 1e-12)
    assert op.frobenius == pytest.approx(exact, rel=1e-3)
    np.testing.assert_allclose(op.dense(), A, rtol=0, atol=1e-12 * np.abs(A).max() * n)


@pytest.mark.parametrize("n", [3, 512, 700])
def test_each_tile_is_written_twice(n):
    """Only tiles I ≤ J are made: K is symmetric all the same, and equal to the kernel."""
    X = rows(n)
    for kernel in (RBF(1.0), Laplacian(1.0), Linear()):
        op = made(kernel, X)
        np.testing.assert_allclose(op.k, op.k.T, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(op.k, kernel.block(X), rtol=1e-12, atol=1e-13)
        assert op.sums.largest == pytest.approx(np.abs(op.k).max(), rel=1e-15)
        assert op.sums.squares == pytest.approx(np.sum(op.k**2), rel=1e-12)
        np.testing.assert_allclose(op.sums.along, op.k @ op.direction, rtol=0, atol=1e-12 * n)


def test_it_is_an_operator():
    check_operator(made(RBF(1.0), rows(40)))
    check_operator(made(RBF(1.0), rows(40), np.linspace(0.5, 2, 40)))


def test_float32_halves_the_memory_and_sums_in_float64():
    X = rows(700, np.float32)
    op = made(RBF(1.5), X, dtype=np.float32)
    assert op.k.dtype == np.float32
    A = plain(RBF(1.5), X)
    assert op.trace == pytest.approx(np.trace(A), rel=1e-6)
    assert np.linalg.norm(A) <= op.frobenius
    v = np.linalg.qr(np.random.default_rng(0).standard_normal((700, 3)))[0]
    assert op.matmat(v).dtype == np.float64
    np.testing.assert_allclose(op.matmat(v), A @ v, rtol=0, atol=1e-5 * np.linalg.norm(A, 2))


def test_the_rows_are_not_touched():
    X = rows(300)
    before = X.copy()
    made(RBF(1.0), X).dense()
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("n", SIZES)
def test_a_matrix_that_is_there_is_taken_without_a_copy(n):
    X = rows(n)
    kept = made(RBF(1.5), X)
    given = given_kernel_matrix(kept.k)
    assert given.k is kept.k
    np.testing.assert_allclose(given.sums.along, kept.sums.along, rtol=1e-12)
    for name in ("squares", "trace", "largest"):
        assert getattr(given.sums, name) == pytest.approx(getattr(kept.sums, name), rel=1e-12)
    check_operator(given, plain(RBF(1.5), X), rtol=1e-10)
