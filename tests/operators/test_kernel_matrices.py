"""Kernel matrices, stored, of tiles, and given: centring, sums, the walk."""

import numpy as np
import pytest

from mercer.arrays import EPS, prepare
from mercer.kernels import RBF, Function, Laplacian, Linear, NegativeDistance, Precomputed
from mercer.operators import (
    AsymmetryError,
    given_kernel_matrix,
    kernel_matrix,
    kernel_tiles,
    take_out,
)
from mercer.testing import check_operator


def rows(n, dtype=np.float64):
    return np.random.default_rng(n).standard_normal((n, 3)).astype(dtype)


def stored(kernel, X, weights=None):
    program = kernel.program()
    return kernel_matrix(program, prepare(program, X), weights, X.dtype)


def tiled(kernel, X, weights=None):
    program = kernel.program()
    return kernel_tiles(program, prepare(program, X), weights, np.zeros((len(X), 1)))[0]


def plain(kernel, X, weights=None):
    """Return D^½KD^½, and P·that·P with P = I - rrᵀ."""
    K = kernel.block(np.asarray(X, np.float64))
    w = np.ones(len(K)) if weights is None else weights
    k, r = np.sqrt(w)[:, None] * K * np.sqrt(w), np.sqrt(w / w.sum())
    P = np.eye(len(K)) - np.outer(r, r)
    return k, P @ k @ P


both = pytest.mark.parametrize("made", [stored, tiled], ids=["stored", "tiles"])
KERNELS = [RBF(1.0), Laplacian(1.0), Linear(), NegativeDistance()]


@both
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n", [2, 3, 33, 511, 512, 513, 1100])
def test_sums_are_those_of_the_whole_matrix(made, kernel, weighted, n):
    X = rows(n)
    w = np.random.default_rng(1).integers(0, 3, n) + (n < 5) * 1.0 if weighted else None
    op, (k, A) = made(kernel, X, w), plain(kernel, X, w)
    size = np.abs(k).max()
    assert op.sums.squares == pytest.approx(np.sum(k**2), rel=1e-12)
    assert op.sums.trace == pytest.approx(np.trace(k), rel=1e-12, abs=1e-12 * size)
    assert op.sums.largest == pytest.approx(size, rel=1e-12)
    np.testing.assert_allclose(op.sums.along, k @ op.direction, rtol=0, atol=1e-13 * n * size)
    assert op.trace == pytest.approx(np.trace(A), rel=1e-11, abs=1e-12 * n * size)
    assert np.linalg.norm(A) <= op.frobenius * (1 + 1e-12)
    assert op.centred_squares == pytest.approx(
        np.sum(A**2), rel=1e-9, abs=float(op.lost_squares)
    )
    v = np.random.default_rng(2).standard_normal((n, 2))
    np.testing.assert_allclose(op.times(v), k @ v, rtol=0, atol=1e-13 * n * size)
    np.testing.assert_allclose(op.matmat(v), A @ v, rtol=0, atol=1e-13 * n * size)
    np.testing.assert_array_equal(op.rmatmat(v), op.matmat(v))
    assert 2 * n * EPS * op.sums.largest <= op.entry_error <= 1e-10 * n * op.sums.largest
    assert not op.consumed
    if made is stored:
        np.testing.assert_allclose(op.dense(), A, rtol=0, atol=1e-12 * n * size)


@both
def test_the_constant_direction_is_gone(made):
    for weights in (None, np.linspace(0.5, 3, 60), np.arange(60.0)):
        op = made(RBF(1.0), rows(60), weights)
        r = op.direction[:, None]
        assert np.linalg.norm(r) == pytest.approx(1, rel=1e-14)
        np.testing.assert_allclose(op.matmat(r), 0, rtol=0, atol=1e-12)
        v = op.matmat(np.random.default_rng(0).standard_normal((60, 4)))
        np.testing.assert_allclose(op.direction @ v, 0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(op.project(op.project(v)), op.project(v), rtol=0, atol=1e-12)


@both
def test_counts_are_repetitions(made):
    """The eigenvalues are those of the matrix in which row i stands w_i times."""
    X, w = rows(40), np.random.default_rng(0).integers(0, 4, 40)
    op = made(RBF(1.0), X, w.astype(float))
    found = np.linalg.eigvalsh(op.matmat(np.eye(40)))[::-1]
    wanted = np.linalg.eigvalsh(plain(RBF(1.0), np.repeat(X, w, axis=0))[1])[::-1]
    np.testing.assert_allclose(found[:20], wanted[:20], rtol=1e-9)


@both
def test_float32_entries_are_summed_in_float64(made):
    op = made(RBF(1.0), rows(900, np.float32))
    assert op.dtype == np.float32
    k, A = plain(RBF(1.0), rows(900, np.float32))
    assert op.sums.squares == pytest.approx(np.sum(k**2), rel=1e-6)
    assert np.linalg.norm(A) <= op.frobenius
    assert op.lost_squares > 0
    v = np.linalg.qr(np.random.default_rng(0).standard_normal((900, 3)))[0]
    assert op.times(v).dtype == op.matmat(v).dtype == np.float64
    assert np.linalg.norm(op.matmat(v) - A @ v) <= 1e-6 * np.linalg.norm(k) * np.sqrt(3)
    assert made is tiled or op.k.dtype == np.float32


@both
@pytest.mark.parametrize("n", [20, 600, 1100])
def test_an_asymmetric_function_is_refused(made, n):
    odd = Function(lambda x, y: x[:, :1] - 2 * y[:, :1].T)
    with pytest.raises(AsymmetryError, match="reaches"):
        made(odd, rows(n))


@both
def test_asymmetry_between_tiles_is_seen(made):
    """Only tiles on one side of the diagonal are made; the others must be looked at too."""

    def far_off(x, y):
        first, second = x[:, :1], y[:, :1].T
        return np.exp(-np.abs(first - second)) + 5.0 * (first - second > 600)

    X = np.column_stack([np.arange(1300.0), np.ones(1300)])
    for kernel in (Function(far_off), 2 * Function(far_off) + 1e-6 * Linear()):
        with pytest.raises(AsymmetryError):
            made(kernel, X)
    kernel = Function(lambda x, y: x @ y.T)  # which weights do not make asymmetric
    w = np.random.default_rng(0).uniform(0.1, 100, 1100)
    op = made(kernel, rows(1100), w)
    assert op.trace == pytest.approx(np.trace(plain(kernel, rows(1100), w)[1]), rel=1e-10)


@both
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_entries_that_are_not_finite_are_told(made, value):
    op = made(Function(lambda x, y: np.full((len(x), len(y)), value)), rows(20))
    assert not np.isfinite(op.sums.squares)


def test_a_direction_is_taken_out_in_place():
    rng = np.random.default_rng(0)
    r = rng.random(1301)
    r /= np.linalg.norm(r)
    v = rng.standard_normal((1301, 3))
    expected = v - np.outer(r, r @ v)
    assert take_out(v, r) is v
    np.testing.assert_allclose(v, expected, rtol=0, atol=1e-14)
    assert np.abs(r @ v).max() < 1e-13


SIZES = [2, 3, 511, 512, 513, 1100]


@pytest.mark.parametrize("n", [3, 512, 700])
def test_each_tile_is_written_twice(n):
    """Only tiles I ≤ J are made: K is symmetric all the same, and equal to the kernel."""
    X = rows(n)
    before = X.copy()
    for kernel in (RBF(1.0), Laplacian(1.0), Linear()):
        op = stored(kernel, X)
        np.testing.assert_allclose(op.k, op.k.T, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(op.k, kernel.block(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(X, before)


@both
def test_it_is_an_operator(made):
    for weights in (None, np.linspace(0.5, 2, 40)):
        op = made(RBF(1.0), rows(40), weights)
        check_operator(op, plain(RBF(1.0), rows(40), weights)[1], rtol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_a_matrix_that_is_there_is_taken_without_a_copy(n):
    X = rows(n)
    kept = stored(RBF(1.5), X)
    given = given_kernel_matrix(kept.k)
    assert given.k is kept.k
    np.testing.assert_allclose(given.sums.along, kept.sums.along, rtol=1e-12)
    for name in ("squares", "trace", "largest"):
        assert getattr(given.sums, name) == pytest.approx(getattr(kept.sums, name), rel=1e-12)
    check_operator(given, plain(RBF(1.5), X)[1], rtol=1e-10)
    _, _, v, image = stored_and_tiled(Precomputed(), kept.k)  # read by tiles too
    np.testing.assert_allclose(image, kept.matmat(v), rtol=0, atol=1e-10)


TILED = [
    RBF(1.0),
    Laplacian(2.0),
    Linear(),
    NegativeDistance(),
    RBF(1.0) + 2 * Linear(),
]


def stored_and_tiled(kernel, X, weights=None, b=4):
    program, v = kernel.program(), np.random.default_rng(1).standard_normal((len(X), b))
    stored = kernel_matrix(program, prepare(program, X), weights)
    v = stored.project(v)
    op, image = kernel_tiles(program, prepare(program, X), weights, v)
    return stored, op, v, image


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 707, 708, 1500])
@pytest.mark.parametrize("kernel", TILED, ids=repr)
def test_tiles_give_what_the_stored_matrix_gives(kernel, n, weighted):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    weights = rng.integers(0, 4, n) + (0.0 if n > 2 else 1.0) if weighted else None
    stored, op, v, image = stored_and_tiled(kernel, X, weights)
    size = 1e-13 * n * stored.sums.largest
    np.testing.assert_array_equal(op.matmat(v), op.matmat(v))
    np.testing.assert_allclose(image, stored.matmat(v), rtol=0, atol=size)
    np.testing.assert_allclose(op.matmat(v), stored.matmat(v), rtol=0, atol=size)
    np.testing.assert_allclose(op.sums.along, stored.sums.along, rtol=0, atol=size)
    assert op.trace == pytest.approx(stored.trace, rel=1e-12)
    assert op.frobenius == pytest.approx(stored.frobenius, rel=1e-9)
    picked = np.arange(0, n, 7)
    part = slice(n // 3, n)
    np.testing.assert_allclose(
        op.rows_at(picked)(part),
        stored.rows_at(picked)(part),
        rtol=0,
        atol=1e-13 * stored.sums.largest,
    )
