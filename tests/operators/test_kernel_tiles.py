"""Products with tiles that are made again are those of the stored matrix."""

import numpy as np
import pytest

from mercer.arrays import anonymous_bytes, prepare
from mercer.kernels import RBF, Laplacian, Linear, NegativeDistance, Precomputed
from mercer.operators import kernel_matrix, kernel_tiles
from mercer.testing import check_operator

KERNELS = [RBF(1.0), Laplacian(2.0), Linear(), NegativeDistance(), RBF(1.0) + 2 * Linear()]


def both(kernel, X, weights=None, b=4):
    program, v = kernel.program(), np.random.default_rng(1).standard_normal((len(X), b))
    stored = kernel_matrix(program, prepare(program, X), weights)
    v = stored.project(v)
    op, image = kernel_tiles(program, prepare(program, X), weights, v)
    return stored, op, v, image


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 707, 708, 1500])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_tiles_give_what_the_stored_matrix_gives(kernel, n, weighted):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    weights = rng.integers(0, 4, n) + (0.0 if n > 2 else 1.0) if weighted else None
    stored, op, v, image = both(kernel, X, weights)
    size = 1e-13 * n * stored.sums.largest
    np.testing.assert_allclose(image, stored.matmat(v), rtol=0, atol=size)
    np.testing.assert_allclose(op.matmat(v), stored.matmat(v), rtol=0, atol=size)
    np.testing.assert_allclose(op.sums.along, stored.sums.along, rtol=0, atol=size)
    assert op.trace == pytest.approx(stored.trace, rel=1e-12)
    assert op.frobenius == pytest.approx(stored.frobenius, rel=1e-9)
    picked = np.arange(0, n, 7)
    part = slice(n // 3, n)
    np.testing.assert_allclose(
        op.rows_at(picked).entries(part),
        stored.rows_at(picked).entries(part),
        rtol=0,
        atol=1e-13 * stored.sums.largest,
    )


def test_it_is_an_operator():
    program = RBF(1.0).program()
    X = np.random.default_rng(0).standard_normal((60, 3))
    op, _ = kernel_tiles(program, prepare(program, X), None, np.zeros((60, 1)))
    check_operator(op)


def test_two_calls_are_the_same_to_the_bit():
    X = np.random.default_rng(0).standard_normal((3000, 3))
    _, op, v, _ = both(RBF(1.0), X)
    np.testing.assert_array_equal(op.matmat(v), op.matmat(v))


def test_a_given_matrix_is_read_by_tiles_too():
    K = RBF(1.0).block(np.random.default_rng(0).standard_normal((900, 3)))
    stored, _op, v, image = both(Precomputed(), K)
    np.testing.assert_allclose(image, stored.matmat(v), rtol=0, atol=1e-10)


def test_float32_tiles_add_up_in_float64():
    X = np.random.default_rng(0).standard_normal((2500, 3))
    stored, _, v, image = both(RBF(1.0), X)
    program = RBF(1.0).program()
    narrow, found = kernel_tiles(program, prepare(program, X.astype(np.float32)), None, v)
    assert narrow.dtype == np.float32
    assert found.dtype == np.float64
    assert np.linalg.norm(found - image) <= 1e-6 * np.linalg.norm(stored.k) * np.linalg.norm(v)


def test_memory_stays_far_below_the_matrix():
    n = 12_000
    X = np.random.default_rng(0).standard_normal((n, 2)).astype(np.float32)
    program = RBF(1.0).program()
    before = anonymous_bytes()
    if before == 0:
        pytest.skip("the system does not tell the memory of a process")
    op, _ = kernel_tiles(program, prepare(program, X), None, np.zeros((n, 2)))
    op.times(np.zeros((n, 2)))
    assert anonymous_bytes() - before < 0.15 * 4 * n * n
