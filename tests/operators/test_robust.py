"""Places and scales that far rows do not move."""

import numpy as np
import pytest
import scipy.sparse
from scipy import stats

from mercer import PCA
from mercer.errors import InputError
from mercer.operators import (
    Centring,
    RowsAboutOrigin,
    SpatialSigns,
    column_scales,
    spatial_median,
)
from mercer.sources import ArrayBlocks, in_memory


def placed(X):
    return RowsAboutOrigin(in_memory(np.asarray(X, float)), np.zeros(np.shape(X)[1]))


@pytest.mark.parametrize("n", [2, 5, 64, 301])
def test_scales_are_median_deviations_whatever_the_counts(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4)) * [1, 1e-200, 1e90, 3]
    X[:, 3] = np.round(X[:, 3])
    counts = rng.integers(0, 4, n) + (np.arange(n) == 1)
    often = np.repeat(X, counts, axis=0)
    expected = stats.median_abs_deviation(often, axis=0, scale="normal")
    some = expected > 0  # half of the cells and more may be equal
    for unit in (1.0, 0.1, 1 / 3):  # fractions are counts in another unit
        found = column_scales(placed(X), counts * unit)
        np.testing.assert_allclose(found[some], expected[some], rtol=1e-14)


def test_a_mirrored_table_has_the_same_scales():
    X = np.random.default_rng(4).normal(size=(40, 5)) * [1, 10, 1e-3, 1e5, 1] + 3
    rows, mirrored = (RowsAboutOrigin.of(in_memory(x), None, 0.0) for x in (X, -X))
    counts = np.ones(40)
    np.testing.assert_array_equal(column_scales(rows, counts), column_scales(mirrored, counts))
    expected = stats.median_abs_deviation(X, axis=0, scale="normal")
    np.testing.assert_allclose(column_scales(rows, counts), expected, rtol=1e-12)
    X[:16] = [1e300, -1e300, 1e300, 1e300, 0]  # forty per cent of far cells
    assert np.all(column_scales(placed(X), counts) < 4 * expected)


def test_columns_that_are_mostly_equal():
    rng = np.random.default_rng(1)
    X = np.zeros((400, 3))
    X[:100, 0] = rng.normal(size=100) * 7
    X[:100, 1] = 1  # an indicator
    found = column_scales(placed(X), np.ones(400))
    some = np.median(np.abs(X[:100, 0]))
    np.testing.assert_allclose(found, [1.4826022 * some / 2, 1.4826022 / 2, 0], rtol=1e-6)


def test_walks_are_as_many_as_is_said():
    X = np.random.default_rng(3).normal(size=(91, 3))
    source = ArrayBlocks(in_memory(X))
    rows = RowsAboutOrigin(source, np.zeros(3), 0, 500.0)
    found = column_scales(rows, np.ones(91))
    assert source.walks == 16
    np.testing.assert_array_equal(found, column_scales(placed(X), np.ones(91)))
    X[:60, 1] = 0
    source = ArrayBlocks(in_memory(X))
    column_scales(RowsAboutOrigin(source, np.zeros(3), 0, 500.0), np.ones(91))
    assert source.walks == 26  # 31 cells of that column differ, 90 of the others
    source = ArrayBlocks(in_memory(X[:90]))
    column_scales(RowsAboutOrigin(source, np.zeros(3), 0, 500.0), np.ones(90))
    assert source.walks == 28  # the next value is looked for three times


def about_origin(X, counts=None, block_bytes=1e6, blocks=False):
    source = in_memory(X)
    return RowsAboutOrigin.of(ArrayBlocks(source) if blocks else source, counts, block_bytes)


def whole(rows):
    out = np.full(rows.shape, np.nan)
    for part, y in rows.blocks():
        assert y.dtype == np.float64
        out[part] = y
    return out


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, np.float32, np.int64, scipy.sparse.csr_array]
)
def test_rows_about_the_origin(form, blocks):
    X = np.round(np.random.default_rng(0).normal(size=(50, 4)) * 9 + 40)
    rows = about_origin(form(X), block_bytes=300, blocks=blocks)
    np.testing.assert_array_equal(whole(rows) + rows.origin, X)
    np.testing.assert_allclose(rows.origin, np.median(X, axis=0), rtol=0, atol=1e-4)
    counts = np.r_[np.zeros(30), np.ones(20)]  # rows that count nothing do not place it
    middle = about_origin(form(X), counts, blocks=blocks).origin
    np.testing.assert_allclose(middle, np.median(X[30:], axis=0), rtol=0, atol=1e-4)
    with pytest.raises(InputError, match=r"3 weights, 50 rows"):
        about_origin(X, np.ones(3), blocks=True)
    for unit in (2.0**-500, 2.0**500):  # squares stay in range
        scaled = about_origin(X * unit)
        y = whole(scaled)
        assert 1e-3 < np.median(np.abs(y)) < 1e3
        back = (np.ldexp(y, scaled.exponent) + scaled.origin) / unit
        np.testing.assert_allclose(back, X)


def test_long_tables_come_in_tiles_and_are_not_written_to():
    X = np.random.default_rng(0).normal(size=(9001, 40))
    kept = X.copy()
    rows = about_origin(X)
    parts = []
    for part, y in rows.blocks():
        parts.append(part)
        y[:] = 0
    assert len(parts) > 1
    assert parts[0].start == 0
    assert parts[-1].stop == 9001
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("far", [1e6, 1e200, 1e308])
def test_a_far_row_costs_the_others_no_digits(far):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[7] = [far, -far, far]
    y = whole(about_origin(X))
    near = np.arange(40) != 7
    np.testing.assert_allclose((y - y[0])[near], (X - X[0])[near], atol=2e-15)
    assert np.isfinite(np.sum(y**2))
    assert np.all(np.abs(y[7]) >= min(far, 1e100) * 0.99)


def test_distances_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) + 7
    rows = about_origin(X, block_bytes=500, blocks=True)
    factor = rng.uniform(0.5, 2, 5)
    centring = Centring(rows.origin, rng.normal(size=5), 0, factor)
    V = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    middle, deviation = np.array([0.3, -0.2]), np.array([2.0, 0.5])
    d = (X - centring.mean) * factor
    score, orthogonal = rows.distances(centring, V, deviation, middle)
    np.testing.assert_allclose(
        score, np.linalg.norm((d @ V - middle) / deviation, axis=1), rtol=1e-12
    )
    np.testing.assert_allclose(orthogonal, np.linalg.norm(d - d @ V @ V.T, axis=1), rtol=1e-12)
    np.testing.assert_allclose(rows.coordinates(centring, V), d @ V, rtol=0, atol=1e-12)


def test_a_row_close_to_the_axes_has_all_its_digits():
    X = np.array([[1e6, 0.0], [-1e6, 0.0], [3e6, 1e-6], [0.0, 0.0]])
    rows = about_origin(X)
    centring = Centring(np.zeros(2), np.zeros(2))
    rows = RowsAboutOrigin(rows.source, np.zeros(2))
    _, orthogonal = rows.distances(centring, np.eye(2)[:, :1], np.ones(1))
    np.testing.assert_allclose(orthogonal, [0, 0, 1e-6, 0], rtol=1e-12)  # squares lose it


def test_rounding_covers_what_storage_rounds():
    rng = np.random.default_rng(2)
    line = rng.normal(size=(200, 1)) * [1.0, 2.0, -1.0]
    for offset, dtype in [(0, float), (1e8, float), (1e4, np.float32)]:
        X = (line + offset).astype(dtype)
        rows = about_origin(X)
        centring = Centring(rows.origin, -rows.origin + offset)
        axis = np.array([[1.0], [2.0], [-1.0]]) / np.sqrt(6)
        _, orthogonal = rows.distances(centring, axis, np.ones(1))
        assert np.max(orthogonal) <= rows.rounding(centring, 3.0)
        assert rows.rounding(centring, 3.0) < 1e-2


def median_of(X, counts=None, **options):
    counts = np.ones(len(X)) if counts is None else np.asarray(counts, float)
    found = spatial_median(RowsAboutOrigin.of(in_memory(X), counts, 1e6), counts, **options)
    return found.centring.mean, found


def naive(X, counts, steps=20_000):
    """Plain Weiszfeld: no row stands at its median."""
    m = np.average(X, axis=0, weights=counts)
    for _ in range(steps):
        w = counts / np.linalg.norm(X - m, axis=1)
        m = w @ X / w.sum()
    return m


@pytest.mark.parametrize(("n", "p"), [(40, 2), (100, 5), (12, 30)])
def test_the_median_of_a_long_plain_iteration(n, p):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) * np.geomspace(5, 0.5, p)
    counts = rng.integers(1, 4, n).astype(float)
    m, found = median_of(X, counts)
    np.testing.assert_allclose(m, naive(X, counts, 3000), rtol=0, atol=1e-8)
    assert found.met
    assert found.pull <= 1e-10
    assert found.walks <= 30
    often, _ = median_of(np.repeat(X, counts.astype(int), axis=0))
    np.testing.assert_allclose(m, often, rtol=0, atol=1e-9)
    source = ArrayBlocks(in_memory(X))
    rows = RowsAboutOrigin.of(source, counts, 500.0)
    before = source.walks
    again = spatial_median(rows, counts)
    assert source.walks - before == again.walks
    np.testing.assert_allclose(again.centring.mean, m, rtol=0, atol=1e-12)


def test_three_points_have_the_median_of_fermat():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    np.testing.assert_allclose(median_of(X)[0], X.mean(axis=0), rtol=0, atol=1e-9)
    wide = np.array([[0.0, 0.0], [10.0, 1.0], [-10.0, 1.0]])  # an angle above 120 degrees
    m, found = median_of(wide)
    np.testing.assert_array_equal(m, [0, 0])
    assert found.on_rows == 1
    assert found.met


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_median_on_a_row_is_hit_exactly(shift):
    rng = np.random.default_rng(3)
    X = np.r_[np.tile([1.0, 2.0, 3.0], (30, 1)), rng.normal(size=(40, 3))] + shift
    u = X[30:] - X[0]
    pull = np.linalg.norm((u / np.linalg.norm(u, axis=1)[:, None]).sum(axis=0))
    m, found = median_of(X)
    if pull <= 30:
        np.testing.assert_array_equal(m, X[0])
        assert found.on_rows == 30
    else:
        assert found.on_rows == 0
    assert found.met
    more, found = median_of(X, np.r_[np.full(30, 2.0), np.ones(40)])
    np.testing.assert_array_equal(more, X[0])
    assert found.on_rows == 60


@pytest.mark.parametrize("n", [11, 12, 301])
def test_rows_on_a_line(n):
    t = np.sort(np.random.default_rng(n).normal(size=n))
    X = t[:, None] * [3.0, 4.0] + [1.0, -1.0]
    m, _ = median_of(X)
    along = (m - [1.0, -1.0]) @ [3.0, 4.0] / 25
    assert t[(n - 1) // 2] - 1e-9 <= along <= t[n // 2] + 1e-9


def test_the_median_moves_with_the_rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3)) * [4, 2, 1]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    m = median_of(X)[0]
    np.testing.assert_allclose(median_of(X @ turn + 7)[0], m @ turn + 7, rtol=0, atol=1e-8)
    np.testing.assert_allclose(median_of(X * 1e-150)[0] * 1e150, m, rtol=0, atol=1e-8)
    np.testing.assert_allclose(median_of(X + 1e8)[0] - 1e8, m, rtol=0, atol=1e-6)
    _, found = median_of(np.random.default_rng(0).normal(size=(500, 3)) * [100, 1, 1])
    assert found.met
    assert found.walks <= 25  # where plain steps creep
    X[:32] += 1e9
    assert np.linalg.norm(median_of(X)[0]) < 10


def made(X, mirrored=False, factor=None):
    rows = RowsAboutOrigin.of(in_memory(X), None, 0.0)
    median = spatial_median(rows, np.ones(len(X)), factor)
    return SpatialSigns(rows, median.centring, mirrored=mirrored), median


def explicit(X, m):
    d = X - m
    r = np.linalg.norm(d, axis=1)
    return np.divide(d, r[:, None], out=np.zeros_like(d), where=r[:, None] > 0)


def test_signs_are_rows_of_length_one_with_mean_zero():
    X = np.random.default_rng(0).normal(size=(300, 4)) * [9, 3, 1, 1]
    signs, median = made(X)
    (u,) = list(signs.blocks(300))
    np.testing.assert_allclose(u, explicit(X, median.centring.mean), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1)
    assert np.linalg.norm(u.mean(axis=0)) <= 1e-10  # the equation of the spatial median


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
@pytest.mark.parametrize("mirrored", [False, True])
def test_blocks_of_any_length_from_any_row(rows, mirrored):
    X = np.random.default_rng(2).normal(size=(9000, 60))  # a long table, read from the middle
    if rows == 1000:
        long, _ = made(X, mirrored)
        every = np.concatenate(list(long.blocks(5000)))
        later = np.concatenate(list(long.blocks(5000, 7000)))
        np.testing.assert_array_equal(later, every[7000:])
    X = np.random.default_rng(1).normal(size=(130, 3))
    signs, _ = made(X, mirrored)
    all_rows = np.concatenate(list(signs.blocks(500)))
    assert all_rows.shape == signs.shape
    assert signs.nbytes == (1 + mirrored) * 130 * 3 * 8
    assert signs.fingerprint() == f"signs ({130 * (1 + mirrored)}, 3)"
    again = np.concatenate(list(signs.blocks(rows, 2 * rows)) or [all_rows[:0]])
    np.testing.assert_array_equal(again, all_rows[2 * rows :])


def test_the_covariance_of_signs_is_their_second_moment():
    X = np.random.default_rng(3).normal(size=(200, 5)) * [5, 4, 3, 1, 1]
    signs, median = made(X)
    fitted = PCA(5)._fitted(signs, None)
    u = explicit(X, median.centring.mean)
    values, vectors = np.linalg.eigh(u.T @ u)
    np.testing.assert_allclose(fitted["singular_values_"] ** 2, values[::-1], rtol=1e-10)
    overlap = np.abs(np.sum(fitted["components_"].T * vectors[:, ::-1], axis=0))
    np.testing.assert_allclose(overlap, 1, rtol=0, atol=1e-9)


def test_mirror_images_where_the_median_stands_on_rows():
    rng = np.random.default_rng(4)
    X = np.r_[np.zeros((70, 3)), np.abs(rng.normal(size=(40, 3))) * [9, 1, 1]]
    signs, median = made(X, mirrored=True)
    assert median.on_rows == 70
    u = explicit(X, np.zeros(3))
    assert np.linalg.norm(u.mean(axis=0)) > 0.2  # a mean that centring would take out
    (both,) = list(signs.blocks(1000))
    np.testing.assert_allclose(both.T @ both, 2 * u.T @ u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(both.mean(axis=0), 0, rtol=0, atol=1e-15)
    fitted = PCA(1)._fitted(signs, None)
    top = np.linalg.eigh(u.T @ u)[1][:, -1]
    assert abs(fitted["components_"][0] @ top) > 1 - 1e-12
