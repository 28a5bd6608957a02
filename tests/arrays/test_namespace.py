import array_api_compat
import numpy as np
import pytest

from mercer.arrays import as_numpy, asarray_like, is_numpy, namespace


def test_numbers_survive_the_way_in_and_out(xp, rng):
    values = rng.standard_normal((4, 3))
    np.testing.assert_array_equal(as_numpy(xp.asarray(values)), values)


def test_numpy_is_known_and_not_copied(xp):
    array = xp.asarray(np.ones(3))
    assert is_numpy(array) is (xp.name in ("numpy", "read-only"))
    if is_numpy(array):
        assert np.shares_memory(as_numpy(array), array)


def test_arrays_are_made_beside_others(xp):
    like = xp.asarray(np.zeros(2, np.float32))
    made = asarray_like(np.array([1.5, 2.5]), like)
    assert type(made) is type(like)
    assert made.dtype == like.dtype
    wide = asarray_like(np.array([1.5]), like, namespace(like).float64)
    assert as_numpy(wide).dtype == np.float64
    assert array_api_compat.device(made) == array_api_compat.device(like)


def test_libraries_are_not_mixed(xp):
    if xp.name in ("numpy", "read-only"):
        return
    with pytest.raises(TypeError):
        namespace(xp.asarray(np.ones(2)), np.ones(2))
