import numpy as np
import pytest

from mercer.operators import RowsAboutOrigin, spatial_median
from mercer.sources import ArrayBlocks, in_memory


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


def test_few_walks_where_plain_steps_creep():
    X = np.random.default_rng(0).normal(size=(500, 3)) * [100, 1, 1]
    _, found = median_of(X)
    assert found.met
    assert found.walks <= 25


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


def test_counts_are_rows_that_stand_so_often():
    rng = np.random.default_rng(5)
    X, counts = rng.normal(size=(50, 4)), rng.integers(0, 4, 50)
    once, _ = median_of(X, counts)
    often, _ = median_of(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(once, often, rtol=0, atol=1e-9)


def test_the_median_moves_with_the_rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3)) * [4, 2, 1]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    m = median_of(X)[0]
    np.testing.assert_allclose(median_of(X @ turn + 7)[0], m @ turn + 7, rtol=0, atol=1e-8)
    np.testing.assert_allclose(median_of(X * 1e-150)[0] * 1e150, m, rtol=0, atol=1e-8)
    np.testing.assert_allclose(median_of(X + 1e8)[0] - 1e8, m, rtol=0, atol=1e-6)


def test_forty_per_cent_of_far_rows_move_it_little():
    X = np.random.default_rng(7).normal(size=(100, 3))
    X[:40] += 1e9
    assert np.linalg.norm(median_of(X)[0]) < 4


def test_a_file_is_walked_as_often_as_is_said():
    X = np.random.default_rng(8).normal(size=(90, 3))
    source = ArrayBlocks(in_memory(X))
    rows = RowsAboutOrigin.of(source, None, 500.0)
    before = source.walks
    found = spatial_median(rows, np.ones(90))
    assert source.walks - before == found.walks
    np.testing.assert_allclose(found.centring.mean, median_of(X)[0], rtol=0, atol=1e-12)
