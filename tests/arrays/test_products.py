"""A product by row blocks is the product."""

import numpy as np
import pytest

from mercer.arrays import symmetric_times


@pytest.mark.parametrize("n", [1, 5, 900])
def test_a_symmetric_matrix_by_its_rows(n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n))
    a, v = a + a.T, rng.standard_normal((n, 20))
    np.testing.assert_allclose(symmetric_times(a, v), a @ v, rtol=0, atol=1e-10)
    narrow = symmetric_times(a.astype(np.float32), v)
    assert narrow.dtype == np.float64
    np.testing.assert_allclose(narrow, a @ v, rtol=0, atol=1e-3)
