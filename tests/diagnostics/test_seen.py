import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.diagnostics.health_checks._health_input import checked, numbered, units
from mercer.errors import InputError


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150, 1e300, 5e-300])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_units_are_free_of_scale_and_offset(scale, offset):
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 10, 0.1]
    plain, sizes = units(X)
    moved, others = units((X + offset) * scale)
    assert_allclose(moved, plain, atol=1e-8)
    assert_allclose(others / others.max(), sizes / sizes.max(), rtol=1e-8)
    assert_allclose(np.mean(moved**2, axis=0), 1)
    assert_allclose(sizes / sizes[0], X.std(axis=0) / X.std(axis=0)[0])


def test_columns_that_do_not_vary_are_zero():
    X = np.full((9, 4), 3.0)
    X[:, 1] = 1e8 + np.arange(9) % 2 * 1e-8  # the spacing of floats: rounding
    X[:, 2] = 1e8 + np.arange(9) % 2 * 1e-3
    X[0, 3] += 1e-12
    table, sizes = units(X)
    assert_array_equal(sizes > 0, [False, False, True, True])
    assert not table[:, :2].any()


def test_largest_numbers_do_not_overflow():
    top = np.finfo(np.float64).max
    table, sizes = units(np.array([[top, -top], [-top, top], [top, top]]))
    assert np.isfinite(table).all()
    assert np.isfinite(sizes).all()


def test_odd_tables_are_refused():
    for bad in (np.array([[1.0, np.nan]]), np.array([[np.inf]]), np.ones(3)):
        with pytest.raises(InputError, match="finite numbers"):
            checked(bad, "a table")


def test_groups_become_numbers():
    assert numbered(None, 3) is None
    assert numbered(["a", "a", "a"], 3) is None  # one group is none
    assert_array_equal(numbered(["b", "a", "b"], 3), [1, 0, 1])
    assert_array_equal(numbered(np.array([7, 7, 2]), 3), [1, 1, 0])
    with pytest.raises(InputError, match="one label"):
        numbered(["a"], 3)
