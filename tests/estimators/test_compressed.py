"""A projection on landmarks is as near to the exact one as its bound says."""

import numpy as np
import pytest
import scipy.sparse

from mercer.estimators.kernel._compressed import Compressed, by_blocks, compress
from mercer.estimators.kernel._kernel_projection import Projection
from mercer.kernels import (
    RBF,
    ArcCosine,
    Cosine,
    Laplacian,
    Linear,
    Log,
    Matern,
    NegativeDistance,
    Polynomial,
    RationalQuadratic,
)

KERNELS = [
    RBF(0.5),
    RBF(1.5),
    RBF(20.0),
    Laplacian(2.0),
    Matern(1.5),
    RationalQuadratic(1.5, 0.7),
    Polynomial(2, 0.25, 1.0),
    Cosine(),
    ArcCosine(1),
    Log(),
    NegativeDistance(),
    0.5 * RBF(1.0) + Linear() * RBF(2.0),
]


def rows(n=240, seed=0, p=3):
    rng = np.random.default_rng([seed, n])
    centres = 4 * rng.standard_normal((4, p))
    return centres[rng.integers(0, 4, n)] + rng.standard_normal((n, p))


def new_rows():
    """Rows among the others, between them, and far away."""
    rng = np.random.default_rng(5)
    far = [1e3 * rng.standard_normal((4, 3)), 1e6 * rng.standard_normal((3, 3))]
    return np.concatenate([rows()[:30] + 0.1, rows(100, 1), np.zeros((1, 3)), *far])


def exact(kernel, X, k=4, weights=None, dtype=np.float64):
    """Return B = D^½uΛ^-½, c₀ and the deviations of exact axes, by LAPACK in float64."""
    K = kernel.block(np.asarray(X, np.float64))
    w = np.ones(len(K)) if weights is None else weights
    share = w / w.sum()
    out = np.eye(len(K)) - np.outer(np.ones(len(K)), share)
    A = np.sqrt(w)[:, None] * (out @ K @ out.T) * np.sqrt(w)
    values, u = np.linalg.eigh((A + A.T) / 2)
    k = min(k, int(np.sum(values > 1e-10 * values[-1])))
    values, u = values[::-1][:k], u[:, ::-1][:, :k]
    dual = np.sqrt(w)[:, None] * u / np.sqrt(values)
    dual = dual.astype(dtype)
    scale = np.sqrt(values / (w.sum() - 1))
    return Projection(kernel, np.asarray(X, dtype), dual), share @ K @ dual, scale


def made(kernel, X, k=4, tol=np.inf, weights=None, dtype=np.float64, seed=0):
    projection, level, scale = exact(kernel, X, k, weights, dtype)
    return compress(kernel, projection, level, scale, tol, seed), projection, level, scale


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_error_is_above_its_bound(kernel, dtype, weighted):
    X, Y = rows(), new_rows()
    w = np.random.default_rng(1).integers(0, 4, len(X)).astype(float) if weighted else None
    found, projection, level, _ = made(kernel, X, weights=w, dtype=dtype)
    for Z in (X.astype(dtype), Y.astype(dtype)):
        wanted = projection.products(Z) - level
        coordinates, bound = found.bounded(Z)
        assert (bound >= 0).all()
        # both are rounded, relative to the largest coordinate
        rounding = (1e-11 if dtype == np.float64 else 3e-5) * np.abs(wanted).max(axis=0)
        assert (np.abs(coordinates - wanted) <= bound + rounding).all()
        assert (np.abs(found.project(Z) - wanted) <= bound + rounding).all()


def test_the_bound_is_not_idle():
    """Where landmarks miss much, error and bound are of one size; and neither is zero."""
    found, projection, level, scale = made(Laplacian(2.0), rows())
    wanted = projection.products(new_rows()) - level
    coordinates, bound = found.bounded(new_rows())
    error = np.abs(coordinates - wanted)
    assert error.max() > 1e-3 * scale.max()
    assert bound.max() < 20 * error.max()
    assert (found.missed > 1e-3).all()


@pytest.mark.parametrize("kernel", [RBF(1.5), NegativeDistance(), Matern(1.0)], ids=repr)
def test_landmarks_themselves_are_exact(kernel):
    found, projection, level, _ = made(kernel, rows())
    at = found.landmarks.rows
    coordinates, bound = found.bounded(at)
    wanted = projection.products(at) - level
    np.testing.assert_allclose(coordinates, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(bound, 0, rtol=0, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 3), (Polynomial(2, 0.25, 1.0), 10), (Cosine(), 3)], ids=repr
)
def test_few_landmarks_of_a_matrix_of_low_rank_are_exact(kernel, rank):
    found, projection, level, _ = made(kernel, rows(), k=2)
    assert found.landmarks.m == rank
    wanted = projection.products(new_rows()) - level
    np.testing.assert_allclose(
        found.project(new_rows()), wanted, rtol=0, atol=1e-11 * np.abs(wanted).max()
    )
    assert found.missed.max() < 1e-6


def test_duplicates_count_once():
    X = np.repeat(rows(20), 40, axis=0)
    found, projection, level, _ = made(RBF(1.5), X, k=3)
    assert found.landmarks.m <= 20
    wanted = projection.products(X) - level
    np.testing.assert_allclose(
        found.project(X), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max()
    )


def test_a_small_tolerance_takes_more_landmarks():
    X = rows(600)
    few, *_ = made(Matern(1.5), X, tol=0.5)
    more, *_ = made(Matern(1.5), X, tol=3e-3)
    _, _, _, scale = made(Matern(1.5), X)
    assert few.landmarks.m < more.landmarks.m <= len(X)
    _, bound = more.bounded(X)
    assert np.mean((bound <= 3e-3 * scale).all(axis=1)) >= 0.8


def test_an_axis_without_variance_is_zero():
    X = np.column_stack([rows()[:, :1], np.zeros(240)])
    projection, level, scale = exact(Linear(), X, 1)
    dual = np.column_stack([projection.dual, np.zeros(240)])
    wide = Projection(Linear(), X, dual)
    found = compress(Linear(), wide, np.append(level, 0.0), np.append(scale, 0.0), 0.1, 0)
    coordinates, bound = found.bounded(X)
    np.testing.assert_array_equal(coordinates[:, 1], 0)
    np.testing.assert_array_equal(bound[:, 1], 0)
    assert found.missed[1] == 0


@pytest.mark.parametrize("n", [2, 3])
def test_two_rows(n):
    X = rows()[:n]
    found, projection, level, _ = made(RBF(1.5), X, k=1)
    wanted = projection.products(X) - level
    coordinates, bound = found.bounded(X)
    assert (np.abs(coordinates - wanted) <= bound + 1e-12).all()


def test_sparse_rows():
    X = rows()
    X[np.abs(X) < 2] = 0
    dense, projection, level, scale = made(RBF(1.5), X)
    sparse = Projection(RBF(1.5), scipy.sparse.csr_array(X), projection.dual)
    found = compress(RBF(1.5), sparse, level, scale, np.inf, 0)
    np.testing.assert_allclose(
        found.project(scipy.sparse.csr_array(X)),
        dense.project(X),
        rtol=0,
        atol=1e-5 * scale.max(),
    )


def test_scale_and_offset_of_the_rows_do_not_matter():
    first, *_ = made(RBF(1.5), rows())
    small, *_ = made(RBF(1.5e-8), rows() * 1e-8)
    np.testing.assert_allclose(small.missed, first.missed, rtol=1e-3)
    np.testing.assert_allclose(
        small.project(rows() * 1e-8), first.project(rows()), rtol=0, atol=1e-8
    )
    far, *_ = made(RBF(1.5), rows() + 1e6)
    np.testing.assert_allclose(far.missed, first.missed, rtol=1e-2)
    np.testing.assert_allclose(
        far.project(rows() + 1e6), first.project(rows()), rtol=0, atol=1e-4
    )


def test_the_seed_is_all_that_is_random():
    one, *_ = made(Matern(1.5), rows(), seed=3)
    two, *_ = made(Matern(1.5), rows(), seed=3)
    other, *_ = made(Matern(1.5), rows(), seed=4)
    np.testing.assert_array_equal(one.project(rows()), two.project(rows()))
    assert not np.array_equal(one.landmarks.rows, other.landmarks.rows)
    assert isinstance(one, Compressed)


@pytest.mark.parametrize("n", [1, 4095, 4096, 4097, 9000])
def test_blocks_stand_in_their_order(n):
    seen = []

    def act(block):
        seen.append(len(block))
        return 2 * block

    X = np.arange(3.0 * n).reshape(n, 3)
    np.testing.assert_array_equal(by_blocks(X, act), 2 * X)
    assert sum(seen) == n
    assert max(seen) <= 4096
