import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer.arrays import Measure, prepare, tile
from mercer.errors import InputError


def exact(x, y, weights=None):
    """Squared distances from the stored numbers, in extended precision."""
    d = x[:, None, :].astype(np.longdouble) - y[None, :, :].astype(np.longdouble)
    d = d if weights is None else d * np.asarray(weights)
    return (d**2).sum(axis=2)


def shown(program, x, y=None, like=None):
    """Return a tile of all pairs, on the library that `like` gives."""
    put = like.asarray if like else lambda rows: rows
    a = prepare(program, put(x))
    b = a if y is None else prepare(program, put(y), other=a)
    every = slice(0, x.shape[0]), slice(0, (x if y is None else y).shape[0])
    return np.array((like.numpy if like else np.asarray)(tile(program, a, b, *every)))


def measured(x, y=None, scale=1.0, factor=1.0, like=None):
    """Squared distances times a factor, and distances."""
    squared, plain = (Measure(kind, scale=scale) for kind in ("sqdist", "dist"))
    return shown(factor * squared, x, y, like), shown(plain, x, y, like)


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5)])
def test_distances_of_plain_rows(xp, rng, weights):
    x, y = rng.standard_normal((20, 3)), rng.standard_normal((7, 3))
    truth = 4 * exact(x, y, weights)
    scale = 2.0 if weights is None else tuple(2 * w for w in weights)
    squared, plain = measured(x, y, scale, -0.5, like=xp)
    np.testing.assert_allclose(squared, -0.5 * truth.astype(float), rtol=0, atol=1e-12)
    np.testing.assert_allclose(plain, np.sqrt(truth).astype(float), rtol=2e-12)


@pytest.mark.parametrize("shift", [0.0, 2.0**30, -(2.0**40)])
def test_a_shift_changes_nothing(xp, rng, shift):
    x = shift + np.round(rng.standard_normal((30, 4)) * 2**8) / 2**8  # the shift is exact
    squared, plain = measured(x, like=xp)
    still, far = measured(x - shift, like=xp)
    np.testing.assert_allclose(squared, still, rtol=0, atol=1e-12)
    np.testing.assert_allclose(plain, far, rtol=2e-12)


def test_a_row_has_no_distance_to_itself(xp, rng):
    x = 1e3 + rng.standard_normal((15, 3))
    for found in measured(x, like=xp):
        np.testing.assert_array_equal(np.diagonal(found), 0)
    side = prepare(Measure("dist"), xp.asarray(x))
    part = xp.numpy(tile(Measure("dist"), side, side, slice(4, 12), slice(0, 10)))
    np.testing.assert_allclose(part, cdist(x[4:12], x[:10]), rtol=1e-11)
    assert [part[i - 4, i] for i in range(4, 10)] == [0.0] * 6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_tight_clusters_far_apart(xp, rng, dtype):
    far = 1e9 if dtype is np.float64 else 1e4
    x = np.concatenate([rng.standard_normal((20, 3)) + far, rng.standard_normal((20, 3)) - far])
    x = x.astype(dtype)
    truth = exact(x, x)
    squared, plain = measured(x, like=xp)
    rounding = 1e-11 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(squared, truth.astype(float), rtol=rounding)
    np.testing.assert_allclose(plain, np.sqrt(truth).astype(float), rtol=rounding)


def test_one_huge_outlier(xp, rng):
    x = rng.standard_normal((40, 3))
    x[7] = 1e12
    truth = exact(x, x).astype(float)
    squared, plain = measured(x, like=xp)
    np.testing.assert_allclose(squared, truth, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(plain, np.sqrt(truth), rtol=1e-11)


@given(st.integers(-900, 900), st.integers(0, 2**16))
def test_no_scale_overflows(exponent, seed):
    x = np.random.default_rng(seed).standard_normal((6, 3))
    unit = 2.0**exponent
    squared, plain = measured(x * unit, scale=1 / unit)
    truth = exact(x, x).astype(float)
    np.testing.assert_allclose(squared, truth, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(plain, np.sqrt(truth), rtol=1e-11)


@given(st.integers(0, 2**16), st.integers(1, 6), st.floats(0, 12))
def test_any_rows_against_differences(seed, p, spread):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((12, p)) * 10 ** rng.uniform(-spread, spread, (12, 1))
    y = np.concatenate([x[:4] * (1 + 1e-7), rng.standard_normal((3, p))])
    truth = exact(x, y)
    squared, plain = measured(x, y)
    np.testing.assert_allclose(plain, np.sqrt(truth).astype(float), rtol=3e-12)
    wrong = np.abs(squared - truth)
    assert np.all(wrong <= np.maximum(1e-11 * truth, 2e-12))


def test_float32_rows(rng):
    x = (50 + rng.standard_normal((40, 8))).astype(np.float32)
    squared, plain = measured(x)
    assert squared.dtype == plain.dtype == np.float32
    truth = exact(x, x)
    np.testing.assert_allclose(squared, truth.astype(float), rtol=0, atol=2e-5)
    np.testing.assert_allclose(plain, np.sqrt(truth).astype(float), rtol=2e-5)


def test_new_rows_far_beyond_the_frame(rng):
    x = rng.standard_normal((5, 2))
    y = np.full((1, 2), 1e200)
    _, plain = measured(x, y)
    assert np.all(plain > 1e199)
    assert not np.isnan(measured(x, y, factor=-0.5)[0]).any()


def test_sparse_rows(rng):
    x = rng.standard_normal((30, 20)) * (rng.random((30, 20)) < 0.2)
    x[5] = x[4]
    truth = exact(x, x).astype(float)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        squared, plain = measured(kind(x), kind(x), 3.0)
        np.testing.assert_allclose(squared, 9 * truth, rtol=0, atol=1e-11)
        np.testing.assert_allclose(plain, 3 * np.sqrt(truth), rtol=1e-11)
    for one, other in ((x, sparse.csr_array(x)), (sparse.csr_array(x), x)):
        found = shown(Measure("dist"), one, other)
        np.testing.assert_allclose(found, np.sqrt(truth), rtol=1e-11)


def test_what_has_no_finite_distance_is_refused():
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            measured(np.array([[1.0], [bad]]))
    far = np.array([[0.0], [1e200]])
    with pytest.raises(InputError, match=r"squared distances .* past the largest"):
        shown(Measure("sqdist"), far)
    with pytest.raises(InputError, match="past the largest"):
        shown(Measure("dist", scale=1e200), far)


def directions(theta):
    return np.stack([np.cos(theta), np.sin(theta)], axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_angles_of_any_size(xp, rng, dtype):
    theta = rng.uniform(-math.pi, math.pi, 40)
    truth = np.abs(theta[:, None] - theta[None, :])
    truth = np.minimum(truth, 2 * math.pi - truth)
    found = shown(Measure("angle"), directions(theta).astype(dtype), like=xp)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, truth, atol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("small", [0.0, 1e-15, 1e-9, 1e-5, 0.1])
def test_small_and_flat_angles_keep_their_digits(xp, rng, small):
    theta = np.array([0.3, 0.3 + small])
    x, y = directions(theta[:1]), directions(theta[1:])
    near, flat = (shown(Measure("angle"), x, end, xp)[0, 0] for end in (y, -y))
    real = theta[1] - theta[0]
    assert near == pytest.approx(real, abs=2e-16, rel=1e-12)
    assert flat == pytest.approx(math.pi - real, abs=1e-15)
    x = rng.standard_normal((10, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for sign, angle in ((-1, math.pi), (1, 0)):
        found = shown(Measure("angle"), x, sign * x, xp)
        np.testing.assert_array_equal(np.diagonal(found), angle)


def test_large_counts_do_not_overflow_and_empty_columns_do_not_divide(xp):
    x, y = np.array([[1e300, 0.0]]), np.array([[0.0, 1e300]])
    assert shown(Measure("chi2"), x, y, xp)[0, 0] == 2e300
    assert shown(Measure("chi2sum"), x, like=xp)[0, 0] == 1e300
    for kind in ("dot", "l1", "hamming", "chi2", "chi2sum", "minsum"):
        np.testing.assert_array_equal(shown(Measure(kind), np.zeros((2, 3)), like=xp), 0)


def test_columns_are_chosen_and_scaled(xp, rng):
    x, y = rng.random((6, 4)), rng.random((5, 4))
    for kind in ("dot", "sqdist", "dist", "l1", "hamming", "chi2", "chi2sum", "minsum"):
        for chosen, scale in ((None, 3.0), ((3, 1), (2.0, 0.5))):
            part = [rows[:, slice(None) if chosen is None else chosen] for rows in (x, y)]
            truth = shown(Measure(kind), *(rows * scale for rows in part))
            found = shown(Measure(kind, columns=chosen, scale=scale), x, y, xp)
            np.testing.assert_allclose(found, truth, rtol=0, atol=1e-14)
    measure = Measure("dot", columns=(0, 2), scale=(1.0, 2.0))
    found = shown(measure, sparse.csr_array(x), sparse.csr_array(y))
    np.testing.assert_allclose(found, shown(measure, x, y), rtol=1e-14)
