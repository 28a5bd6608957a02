import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.operators import Centring, DenseRows
from mercer.sources import scan
from mercer.testing import matrices


def centred(data, weights=None):
    """Return total, mean and centred rows of float data in extended precision."""
    x = np.asarray(data).astype(np.longdouble)
    w = np.ones(len(x)) if weights is None else np.asarray(weights)
    w = w.astype(np.longdouble)
    y = x - x[0]  # exact; a mean of size 1e8 would be rounded at 1e-11
    offset = (w[:, None] * y).sum(axis=0) / w.sum()
    return w.sum(), x[0] + offset, y - offset


def truth(data, weights=None):
    """Return total, mean and scatter of float data in extended precision."""
    total, mean, y = centred(data, weights)
    w = np.ones(len(y)) if weights is None else np.asarray(weights)
    return total, mean, (w.astype(np.longdouble)[:, None] * y).T @ y


def centring_of(rows, moments, factor=None):
    return Centring(rows.origin, moments.offset, rows.exponent, factor)


def spectral(matrix):
    return float(np.linalg.norm(np.asarray(matrix, np.float64), 2))


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e5, 1e8])
@pytest.mark.parametrize("shape", [(50, 4), (5, 30), (3000, 7)])
def test_sums_far_from_the_origin_keep_their_digits(xp, rng, offset, shape):
    data = rng.standard_normal(shape) + offset * np.linspace(0.5, 1, shape[1])
    rows = DenseRows(scan(xp.asarray(data)))
    total, mean, scatter = truth(data)
    size = spectral(scatter)
    for found in (rows.moments(), rows.scatter()):
        assert found.total == total
        matrix = xp.numpy(found.scatter)
        exact = scatter if matrix.ndim == 2 else np.diagonal(scatter)
        error = np.max(np.abs(matrix - exact))
        assert error <= found.error <= 1e-11 * size
        centre = xp.numpy(centring_of(rows, found).mean)
        np.testing.assert_allclose(centre, mean.astype(float), rtol=4e-16, atol=1e-15)


@given(
    st.integers(2, 400),
    st.integers(1, 24),
    st.floats(0, 3),
    st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_the_error_claimed_bounds_the_error_made(n, p, grade, seed):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n, p)) * 10 ** -(grade * np.arange(p) / p)
    data = (data + 100 * rng.standard_normal(p)).astype(np.float32)
    _, _, scatter = truth(data)
    for products in (None, np.float64):
        found = DenseRows(scan(data), products=products).scatter()
        assert spectral(found.scatter - scatter) <= found.error


# Equal terms are rounded the same way each time: their error grows faster than a random walk.
SHAPES_OF_DATA = {
    "two values": lambda rng, shape: np.where(rng.random(shape) < 0.4, 0.1, 0.7),
    "counts": lambda rng, shape: 0.1 * rng.poisson(3, shape),
    "one-sided": lambda rng, shape: rng.exponential(size=shape),
    "sorted": lambda rng, shape: np.sort(rng.standard_normal(shape), axis=0),
    "outliers": lambda rng, shape: (
        rng.standard_normal(shape) + 1e6 * (rng.random(shape) < 1 / shape[0])
    ),
    "heavy tails": lambda rng, shape: rng.standard_cauchy(shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", SHAPES_OF_DATA)
def test_the_error_claimed_is_a_bound_for_every_shape_of_data(kind, dtype):
    for seed, n in enumerate([100, 700, 2000, 4000, 3999, 3000, 3500, 9000]):
        rng = np.random.default_rng(seed)
        data = SHAPES_OF_DATA[kind](rng, (n, 3)).astype(dtype)
        _, _, scatter = truth(data)
        rows = DenseRows(scan(data))
        found = rows.scatter()
        assert spectral(found.scatter - scatter) <= found.error
        found = rows.moments()
        assert np.max(np.abs(found.scatter - np.diagonal(scatter))) <= found.error


@pytest.mark.parametrize("products", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(30_000, 40), (800, 500)])  # many blocks, columns sampled
def test_the_error_claimed_bounds_the_error_made_on_large_tables(rng, products, shape):
    data = (rng.standard_normal(shape) * np.linspace(1, 3, shape[1]) + 5).astype(np.float32)
    found = DenseRows(scan(data), products=products).scatter()
    y = data.astype(np.float64) - data.mean(axis=0, dtype=np.float64)
    wrong = spectral(found.scatter - y.T @ y)
    assert wrong <= found.error
    again = DenseRows(scan(data), products=products).scatter()
    np.testing.assert_array_equal(again.scatter, found.scatter)
    assert found.error <= (1e-4 if products is np.float32 else 1e-11) * spectral(y) ** 2


def test_constant_columns_become_exactly_zero(xp):
    data = np.arange(24.0).reshape(8, 3)
    data[:, 1] = 0.1
    data[:, 2] = 1e8 + 1 / 3
    for dtype in (np.float64, np.float32):
        rows = DenseRows(scan(xp.asarray(data.astype(dtype))))
        block = xp.numpy(rows.block(slice(0, 8), None))
        np.testing.assert_array_equal(block[:, 1:], 0)
        scatter = xp.numpy(rows.scatter().scatter)
        np.testing.assert_array_equal(scatter[1:, :], 0)
        np.testing.assert_array_equal(xp.numpy(rows.moments().variances)[1:], 0)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repeated_rows(xp, seed):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((40, 5)) + 1e4
    counts = rng.integers(0, 4, 40)
    repeated = np.repeat(data, counts, axis=0)
    weighted = DenseRows(scan(xp.asarray(data)), counts.astype(float))
    plain = DenseRows(scan(xp.asarray(repeated)))
    assert weighted.total == plain.total == counts.sum()
    _, mean, scatter = truth(repeated)
    for rows in (weighted, plain):
        for found in (rows.scatter(), rows.moments()):
            matrix = xp.numpy(found.scatter)
            exact = scatter if matrix.ndim == 2 else np.diagonal(scatter)
            np.testing.assert_allclose(matrix, exact.astype(float), rtol=0, atol=1e-9)
            centre = xp.numpy(centring_of(rows, found).mean)
            np.testing.assert_allclose(centre, mean.astype(float), rtol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_outer_is_the_gram_matrix_of_the_samples(xp, rng, offset, weighted):
    data = rng.standard_normal((12, 50)) + offset
    weights = rng.integers(1, 4, 12).astype(float) if weighted else None
    rows = DenseRows(scan(xp.asarray(data)), weights)
    gram, found, factor = rows.outer(lambda _variances, _offsets: None)
    w = np.ones(12) if weights is None else weights
    total, _, y = centred(data, w)
    y = np.sqrt(w.astype(np.longdouble))[:, None] * y
    assert factor is None
    assert found.total == total
    exact = y @ y.T
    assert spectral(xp.numpy(gram) - exact) <= found.error <= 1e-12 * spectral(exact)
    np.testing.assert_allclose(
        xp.numpy(found.scatter), np.sum(y**2, axis=0).astype(float), rtol=1e-12
    )


def test_outer_hands_out_variances_and_offsets_column_by_column(rng):
    data = rng.standard_normal((6, 5000)) + 3
    rows = DenseRows(scan(data))
    gram, found, factor = rows.outer(lambda variances, _offsets: variances**-0.5)
    z = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    np.testing.assert_allclose(gram, z @ z.T, rtol=0, atol=1e-9)
    np.testing.assert_allclose(factor, 1 / data.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.variances, data.var(axis=0, ddof=1), rtol=1e-12)
    seen = []
    _, found, _ = rows.outer(lambda variances, offsets: seen.append((variances, offsets)))
    assert len(seen) > 1
    np.testing.assert_array_equal(np.concatenate([v for v, _ in seen]), found.variances)
    np.testing.assert_allclose(np.concatenate([o for _, o in seen]), found.offset, rtol=1e-14)


def test_outer_error_of_float32_products_is_a_bound(rng):
    data = (rng.standard_normal((60, 900)) + 10).astype(np.float32)
    gram, found, _ = DenseRows(scan(data)).outer(lambda _variances, _offsets: None)
    y = centred(data)[2].astype(np.float64)
    assert spectral(gram - y @ y.T) <= found.error <= 1e-4 * spectral(y) ** 2


@pytest.mark.parametrize("k", [-1000, -500, -300, 0, 100, 300, 500, 1000])
def test_units_keep_squares_in_range(xp, rng, k):
    base = rng.standard_normal((30, 3))
    narrow = base.astype(np.float32)
    if abs(k) <= 100:
        rows = DenseRows(scan(xp.asarray(np.ldexp(narrow, k))))
        found = np.ldexp(xp.numpy(rows.scatter().scatter), 2 * (rows.exponent - k))
        truth_ = truth(narrow)[2].astype(float)
        np.testing.assert_allclose(found, truth_, rtol=0, atol=1e-4)
    data = np.ldexp(base, k)
    rows = DenseRows(scan(xp.asarray(data)))
    found = rows.scatter()
    _, _, scatter = truth(base)
    unit = 2 * (k - rows.exponent)
    np.testing.assert_allclose(
        np.ldexp(xp.numpy(found.scatter), -unit), scatter.astype(float), rtol=1e-12, atol=1e-13
    )
    assert np.isfinite(found.error)


@pytest.mark.parametrize("shape", [(60, 5), (2000, 5), (9, 9)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_triangle_has_the_scatter(xp, rng, shape, weighted):
    data = rng.standard_normal(shape) + 1e6
    weights = rng.integers(0, 3, shape[0]).astype(float) if weighted else None
    rows = DenseRows(scan(xp.asarray(data)), weights)
    factor = np.linspace(1, 2, shape[1])
    r = rows.triangle(centring_of(rows, rows.moments(), xp.asarray(factor)))
    r = xp.numpy(r)
    assert r.shape == (min(shape), shape[1])
    _, _, scatter = truth(data, weights)
    exact = (scatter * np.outer(factor, factor)).astype(float)
    np.testing.assert_allclose(r.T @ r, exact, rtol=0, atol=1e-9 * spectral(exact))


def test_the_triangle_keeps_small_singular_values():
    data, _ = matrices.dyadic_rows(2.0 ** -np.arange(0, 40, 10.0), (1024, 4), centred=True)
    rows = DenseRows(scan(data))
    r = rows.triangle(centring_of(rows, rows.moments()))
    s = np.linalg.svd(r, compute_uv=False)
    np.testing.assert_allclose(s, 2.0 ** -np.arange(0, 40, 10.0), rtol=1e-5)


def test_the_data_is_not_written_to_and_may_lie_in_any_order_and_type(rng):
    data = rng.standard_normal((100, 4)) + 5
    held = data.copy()
    rows = DenseRows(scan(data), rng.uniform(0.5, 2, 100))
    rows.scatter()
    rows.moments()
    rows.outer(lambda variances, _offsets: variances)
    rows.triangle(centring_of(rows, rows.moments()))
    np.testing.assert_array_equal(data, held)
    wanted = np.cov(data.T) * 99
    for same in (np.asfortranarray(data), np.repeat(data, 2, axis=1)[:, ::2]):
        found = DenseRows(scan(same)).scatter().scatter
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)
    for dtype in (np.int8, np.uint64, np.bool_):  # widened block by block
        whole = (data * 10 % (2 if dtype == np.bool_ else 100)).astype(dtype)
        found = DenseRows(scan(whole)).scatter().scatter
        np.testing.assert_allclose(found, truth(whole)[2].astype(float), rtol=0, atol=1e-9)


def test_an_origin_settled_before_is_kept(xp, rng):
    data = rng.standard_normal((10, 3))
    rows = DenseRows(scan(xp.asarray(data)), exponent=0, origin=np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(xp.numpy(rows.origin), [1, 2, 3])
    np.testing.assert_array_equal(xp.numpy(rows.block(slice(0, 10), None)), data - [1, 2, 3])
