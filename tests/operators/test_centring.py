import numpy as np
import pytest

from mercer.operators import Centring, Moments


def test_variances_come_from_either_form_of_the_scatter(xp):
    whole = np.array([[4.0, 1.0], [1.0, -1e-30]])
    for scatter in (whole, np.diagonal(whole)):
        moments = Moments(5.0, xp.asarray(np.zeros(2)), xp.asarray(scatter), 4.0, 0.0)
        np.testing.assert_array_equal(xp.numpy(moments.variances), [1.0, 0.0])


@pytest.mark.parametrize("exponent", [0, 3, -7, 900, -900])
def test_the_mean_is_origin_plus_offset(xp, exponent):
    origin = np.array([1.0, -2.0]) * 2.0**exponent
    centring = Centring(xp.asarray(origin), xp.asarray(np.array([0.5, 0.25])), exponent)
    truth = np.array([1.5, -1.75]) * 2.0**exponent
    np.testing.assert_array_equal(xp.numpy(centring.mean), truth)


def test_the_mean_is_float64_beside_float32(xp):
    origin = np.array([1e6], np.float32)
    centring = Centring(xp.asarray(origin), xp.asarray(np.array([1e-4])))
    assert xp.numpy(centring.mean).dtype == np.float64
    assert xp.numpy(centring.mean)[0] == 1e6 + 1e-4
