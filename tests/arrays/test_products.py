"""A product by row blocks is the product, with the same bits on any number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mercer.arrays import as_numpy, rows_times, symmetric_times


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(700, 900), (1, 3), (17, 200_000)])
def test_equals_the_plain_product(shape, order):
    rng = np.random.default_rng(0)
    a = np.asarray(rng.standard_normal(shape), order=order)
    v = rng.standard_normal((24, shape[1])).T
    np.testing.assert_allclose(rows_times(a, v), a @ v, rtol=1e-12, atol=1e-10)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    a, v = rng.standard_normal((900, 900)), rng.standard_normal((900, 20))
    with threadpool_limits(1):
        one = rows_times(a, v)
    np.testing.assert_array_equal(rows_times(a, v), one)


def test_any_library(xp):
    a, v = np.arange(12.0).reshape(3, 4), np.ones((4, 2))
    found = rows_times(xp.asarray(a), xp.asarray(v))
    np.testing.assert_array_equal(as_numpy(found), a @ v)


@pytest.mark.parametrize("n", [1, 5, 900])
def test_a_symmetric_matrix_by_its_rows(n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n))
    a, v = a + a.T, rng.standard_normal((n, 20))
    np.testing.assert_allclose(symmetric_times(a, v), a @ v, atol=1e-10)
    narrow = symmetric_times(a.astype(np.float32), v)
    assert narrow.dtype == np.float64
    np.testing.assert_allclose(narrow, a @ v, atol=1e-3)
