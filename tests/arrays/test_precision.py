import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.arrays import EPS, binary_exponent, eps_of, wide_dtype


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


@pytest.mark.parametrize("e", range(-1073, 1025, 97))
def test_powers_of_two_are_exact(e):
    assert binary_exponent(math.ldexp(0.5, e)) == e


def test_zero_has_exponent_zero():
    assert binary_exponent(0.0) == 0
