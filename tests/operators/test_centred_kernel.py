"""What a stored kernel matrix and one of tiles have in common: centring, sums, the walk."""

import numpy as np
import pytest

from mercer.arrays import EPS, prepare
from mercer.kernels import RBF, Function, Laplacian, Linear, NegativeDistance
from mercer.operators import AsymmetryError, kernel_matrix, kernel_tiles, take_out
from mercer.operators.kernel_matrices._centred_kernel import TileWalk, side_dtype


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
@pytest.mark.parametrize("n", [2, 33, 800])
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
def test_a_far_off_table_keeps_its_digits(made):
    """Distances do not change when all rows move; nor do the sums."""
    near, far = made(RBF(1.0), rows(50)), made(RBF(1.0), rows(50) + 1e6)
    assert far.trace == pytest.approx(near.trace, rel=1e-8)
    assert far.frobenius == pytest.approx(near.frobenius, rel=1e-6)


@both
def test_the_error_of_an_entry_grows_with_the_matrix(made):
    op = made(RBF(1.0), rows(80))
    assert op.entry_error == pytest.approx(2 * 80 * EPS * op.sums.largest)
    assert not op.consumed


@both
def test_float32_entries_are_summed_in_float64(made):
    op = made(RBF(1.0), rows(900, np.float32))
    assert op.dtype == np.float32
    k, A = plain(RBF(1.0), rows(900, np.float32))
    assert op.sums.squares == pytest.approx(np.sum(k**2), rel=1e-6)
    assert np.linalg.norm(A) <= op.frobenius
    assert op.lost_squares > 0
    assert op.times(np.ones((900, 1))).dtype == np.float64


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


@both
def test_weights_do_not_make_a_symmetric_function_asymmetric(made):
    kernel = Function(lambda x, y: x @ y.T)
    w = np.random.default_rng(0).uniform(0.1, 100, 1100)
    op = made(kernel, rows(1100), w)
    assert op.trace == pytest.approx(np.trace(plain(kernel, rows(1100), w)[1]), rel=1e-10)


@both
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_entries_that_are_not_finite_are_told(made, value):
    op = made(Function(lambda x, y: np.full((len(x), len(y)), value)), rows(20))
    assert not np.isfinite(op.sums.squares)


@pytest.mark.parametrize("n", [1, 2, 706, 707, 708, 1500])
def test_a_walk_makes_each_tile_once(n):
    program = Linear().program()
    walk = TileWalk(program, prepare(program, rows(n)), None)
    seen = np.zeros((n, n), int)

    def visit(_lane, i, j, t):
        assert t.shape == (i.stop - i.start, j.stop - j.start)
        assert i.start <= j.start
        seen[i, j] += 1
        if i != j:
            seen[j, i] += 1

    walk.run(visit)
    np.testing.assert_array_equal(seen, 1)


def test_a_failing_visit_ends_the_walk():
    program = Linear().program()
    walk = TileWalk(program, prepare(program, rows(2500)), None)

    def visit(_lane, _i, _j, _t):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        walk.run(visit)


def test_the_precision_of_a_side():
    program = RBF(1.0).program()
    assert side_dtype(prepare(program, rows(5))) == np.float64
    assert side_dtype(prepare(program, rows(5, np.float32))) == np.float32


def test_a_direction_is_taken_out_in_place():
    rng = np.random.default_rng(0)
    r = rng.random(1301)
    r /= np.linalg.norm(r)
    v = rng.standard_normal((1301, 3))
    expected = v - np.outer(r, r @ v)
    assert take_out(v, r) is v
    np.testing.assert_allclose(v, expected, rtol=0, atol=1e-14)
    assert np.abs(r @ v).max() < 1e-13
