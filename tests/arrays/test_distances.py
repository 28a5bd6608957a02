import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer.arrays.programs._distances import distances, make_cloud, squared_distances
from mercer.errors import InputError


def exact(x, y, weights=None):
    """Squared distances from the stored numbers, in extended precision."""
    d = x[:, None, :].astype(np.longdouble) - y[None, :, :].astype(np.longdouble)
    d = d if weights is None else d * np.asarray(weights)
    return (d**2).sum(axis=2)


def measured(x, y=None, weights=None, scale=1.0, factor=1.0, like=None, space=True):
    """Squared distances and distances of one tile, on the library that `like` gives."""
    put = like.asarray if like else np.asarray
    back = like.numpy if like else np.asarray
    a = make_cloud(put(x), None, weights, None)
    b = a if y is None else make_cloud(put(y), None, weights, a)
    rows, cols = slice(0, len(x)), slice(0, len(x if y is None else y))
    shape = (rows.stop, cols.stop)
    on_numpy = space and (like is None or like.name in ("numpy", "read-only"))
    out = np.empty(shape, x.dtype) if on_numpy else None
    squared = squared_distances(a, b, rows, cols, scale, factor=factor, out=out)
    squared = np.array(back(squared))
    out = np.empty(shape, x.dtype) if on_numpy else None
    return squared, np.array(back(distances(a, b, rows, cols, scale, out=out)))


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5)])
def test_distances_of_plain_rows(xp, rng, weights):
    x, y = rng.standard_normal((20, 3)), rng.standard_normal((7, 3))
    truth = exact(x, y, weights)
    squared, plain = measured(x, y, weights, 2.0, -0.5, like=xp)
    np.testing.assert_allclose(squared, -2 * truth.astype(float), rtol=0, atol=1e-12)
    np.testing.assert_allclose(plain, 2 * np.sqrt(truth).astype(float), rtol=2e-12)


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
    a = make_cloud(xp.asarray(x), None, None, None)
    on_numpy = xp.name in ("numpy", "read-only")
    out = np.empty((8, 10)) if on_numpy else None
    part = xp.numpy(distances(a, a, slice(4, 12), slice(0, 10), 1.0, out=out))
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


def test_near_duplicates_keep_their_distance(xp, rng):
    x = rng.standard_normal((30, 5))
    x[15:] = x[:15] * (1 + 1e-9)
    x[3] = x[2]
    truth = exact(x, x)
    _, plain = measured(x, like=xp)
    np.testing.assert_allclose(plain, np.sqrt(truth).astype(float), rtol=1e-11)
    assert plain[3, 2] == plain[2, 3] == 0


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
        a = make_cloud(kind(x), None, None, None)
        out = np.empty((30, 30))
        whole = slice(0, 30)
        found = distances(a, a, whole, whole, 1.0, out=out)
        np.testing.assert_allclose(found, np.sqrt(truth), rtol=1e-11)
        b = make_cloud(kind(x), None, None, a)
        found = squared_distances(a, b, whole, whole, 3.0, factor=1.0, out=out)
        np.testing.assert_allclose(found, 9 * truth, rtol=0, atol=1e-11)
    dense = make_cloud(x, None, None, None)
    new = make_cloud(sparse.csr_array(x), None, None, dense)
    found = distances(new, dense, whole, whole, 1.0, out=out)
    np.testing.assert_allclose(found, np.sqrt(truth), rtol=1e-11)
    new = make_cloud(x, None, None, a)
    found = distances(new, a, whole, whole, 1.0, out=out)
    np.testing.assert_allclose(found, np.sqrt(truth), rtol=1e-11)


def test_what_has_no_finite_distance_is_refused():
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            make_cloud(np.array([[1.0], [bad]]), None, None, None)
    a = make_cloud(np.array([[0.0], [1e200]]), None, None, None)
    whole = slice(0, 2)
    with pytest.raises(InputError, match=r"squared distances .* past the largest"):
        squared_distances(a, a, whole, whole, 1.0, factor=1.0, out=None)
    with pytest.raises(InputError, match="past the largest"):
        distances(a, a, whole, whole, 1e200, out=None)
