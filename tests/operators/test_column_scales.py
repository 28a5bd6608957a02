import numpy as np
import pytest
from scipy import stats

from mercer.operators import RowsAboutOrigin, column_scales
from mercer.operators.robust._column_scales import column_medians
from mercer.sources import ArrayBlocks, in_memory


def placed(X):
    return RowsAboutOrigin(in_memory(np.asarray(X, float)), np.zeros(np.shape(X)[1]))


@pytest.mark.parametrize("n", [2, 5, 64, 301])
def test_medians_are_exact(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4)) * [1, 1e-200, 1e90, 3]
    X[:, 3] = np.round(X[:, 3])
    counts = rng.integers(0, 4, n) + (np.arange(n) == 1)
    often = np.repeat(X, counts, axis=0)
    m = np.array([0.5, 0.0, -1e90, 1.0])
    for unit in (1.0, 0.1, 1 / 3):  # fractions are counts in another unit
        found = column_medians(placed(X), counts * unit)
        np.testing.assert_array_equal(found, np.median(often, axis=0))
        found = column_medians(placed(X), counts * unit, about=m)
        np.testing.assert_array_equal(found, np.median(np.abs(often - m), axis=0))


def test_a_mirrored_table_has_the_same_scales():
    X = np.random.default_rng(4).normal(size=(40, 5)) * [1, 10, 1e-3, 1e5, 1] + 3
    rows, mirrored = (RowsAboutOrigin.of(in_memory(x), None, 0.0) for x in (X, -X))
    counts = np.ones(40)
    np.testing.assert_array_equal(column_scales(rows, counts), column_scales(mirrored, counts))
    expected = stats.median_abs_deviation(X, axis=0, scale="normal")
    np.testing.assert_allclose(column_scales(rows, counts), expected, rtol=1e-12)


def test_scales_are_median_deviations():
    X = np.random.default_rng(0).normal(size=(501, 3)) * [1e-3, 1, 1e5] + 1e3
    expected = stats.median_abs_deviation(X, axis=0, scale="normal")
    rows = RowsAboutOrigin.of(in_memory(X), None, 0.0)
    np.testing.assert_allclose(column_scales(rows, np.ones(501)), expected, rtol=1e-9)


def test_columns_that_are_mostly_equal():
    rng = np.random.default_rng(1)
    X = np.zeros((400, 3))
    X[:100, 0] = rng.normal(size=100) * 7
    X[:100, 1] = 1  # an indicator
    found = column_scales(placed(X), np.ones(400))
    some = np.median(np.abs(X[:100, 0]))
    np.testing.assert_allclose(found, [1.4826022 * some / 2, 1.4826022 / 2, 0], rtol=1e-6)


def test_forty_per_cent_of_far_cells_do_not_matter():
    X = np.random.default_rng(2).normal(size=(1000, 2))
    X[:400] = [1e300, -1e300]
    assert np.all(column_scales(placed(X), np.ones(1000)) < 4)


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
