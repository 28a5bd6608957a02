import math

import array_api_compat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.arrays import (
    EPS,
    as_numpy,
    asarray_like,
    binary_exponent,
    eps_of,
    gaussian,
    is_numpy,
    namespace,
    wide_dtype,
)


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


def test_units_of_rounding():
    assert EPS == 2.0**-52
    assert eps_of(np.float64) == EPS
    assert eps_of(np.float32) == 2.0**-23
    assert eps_of(np.float16) == 2.0**-10
    assert eps_of("int64") == eps_of(np.bool_) == 0.0


def test_float64_is_spelt_as_the_library_does(xp):
    like = xp.asarray(np.zeros(1, np.float32))
    assert wide_dtype(like) == xp.asarray(np.zeros(1)).dtype


@given(st.floats(5e-324, 1.7e308))
def test_the_exponent_brackets_the_number(x):
    e = binary_exponent(x)
    assert 0.5 <= math.ldexp(x, -e) < 1


def test_powers_of_two_are_exact_and_zero_has_exponent_zero():
    assert [binary_exponent(math.ldexp(0.5, e)) for e in range(-1073, 1025, 97)] == [
        *range(-1073, 1025, 97)
    ]
    assert binary_exponent(0.0) == 0


def test_numbers_are_the_same_in_every_library(xp):
    like = xp.asarray(np.zeros((0, 0)))
    found = gaussian((50, 4), like, seed=7, stream=2)
    assert type(found) is type(like)
    beside = gaussian((3, 2), xp.asarray(np.zeros((0, 0), np.float32)), seed=0)
    assert as_numpy(beside).dtype == np.float64
    np.testing.assert_array_equal(as_numpy(found), gaussian((50, 4), np.zeros((0, 0)), 7, 2))


def test_streams_and_seeds_are_independent():
    like = np.zeros((0, 0))
    draws = [gaussian((4000, 1), like, s, t) for s in range(3) for t in range(3)]
    correlation = np.corrcoef(np.hstack(draws), rowvar=False) - np.eye(9)
    assert np.max(np.abs(correlation)) < 6 / np.sqrt(4000)
    assert abs(np.mean(draws)) < 6 / np.sqrt(36_000)
    assert abs(np.std(draws) - 1) < 6 / np.sqrt(72_000)
